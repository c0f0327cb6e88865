//! Definitions of terrain, and the reasons for which they may be refused.

use alloc::vec::Vec;

use crate::body::def::{BodyDef, BodyError, check, check_axes};
use crate::body::filter::Filter;
use crate::body::material::Material;
use crate::body::record::{raw, raw2};
use crate::body::shape::Shape;
use crate::body::slot::Slot;
use crate::body::terrain::{CORNERS_MAX, Piece};
use crate::math::axes::{both, each_axis};
use crate::math::num::{EXTENT_MAX, EXTENT_MIN, Fx, POSITION_MAX};
use crate::math::vec2::Vec2;

/// Most points of a chain.
pub const CHAIN_POINTS_MAX: u32 = 16_384;

/// Most points of a polygon.
pub const POLYGON_POINTS_MAX: u32 = CORNERS_MAX as u32;

/// Why terrain was refused. The world is unchanged.
///
/// ```
/// use testudo_physics::{ChainDef, PolygonDef, TerrainError, Vec2};
/// let point = ChainDef::new(&[Vec2::ZERO]).validate();
/// assert_eq!(point, Err(TerrainError::PointCount { given: 1, min: 2, max: 16_384 }));
/// let dart = [(0, 0), (4, 0), (1, 1), (0, 4)].map(|(x, y)| Vec2::from_ints(x, y));
/// assert_eq!(PolygonDef::new(&dart).validate(), Err(TerrainError::NotConvex { point: 2 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerrainError {
    /// Too few or too many points.
    PointCount {
        /// Number of points given.
        given: u32,
        /// Fewest allowed.
        min: u32,
        /// Most allowed.
        max: u32,
    },
    /// A point lies less than 1/1,024 unit from the previous one. In a closed outline the last point comes before the first.
    ShortEdge {
        /// Which point, counted from 0.
        point: u32,
    },
    /// The outline turns inward at this point, or goes around more than once.
    NotConvex {
        /// Which point, counted from 0.
        point: u32,
    },
    /// A segment or polygon is wider or higher than 8,192 units, its radius included.
    TooLarge {
        /// Index of its first point, from 0.
        point: u32,
    },
    /// A number is out of its range.
    Body(BodyError),
}

impl core::fmt::Display for TerrainError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::PointCount { given, min, max } => write!(f, "{min}..={max} points are needed, not {given}"),
            Self::ShortEdge { point } => write!(f, "point {point} lies on the one before it"),
            Self::NotConvex { point } => write!(f, "the outline is not convex at point {point}"),
            Self::TooLarge { point } => {
                write!(f, "the segment or polygon that begins at point {point} is larger than 8192 units")
            }
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TerrainError {}

impl From<BodyError> for TerrainError {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

/// The fields that chains and polygons have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Surface {
    points: Vec<Vec2>,
    material: Material,
    filter: Filter,
    user: u64,
    enabled: bool,
}

impl Surface {
    fn new(points: &[Vec2]) -> Self {
        let (material, filter) = (Material::default(), Filter::default());
        Self { points: points.to_vec(), material, filter, user: 0, enabled: true }
    }

    /// Range, number and distance of the points; an outline that `closes` has an edge from the last to the first one.
    fn check(&self, min: u32, max: u32, closes: bool) -> Result<(), TerrainError> {
        let given = u32::try_from(self.points.len()).unwrap_or(u32::MAX);
        if !(min..=max).contains(&given) {
            return Err(TerrainError::PointCount { given, min, max });
        }
        self.points.iter().try_for_each(|&point| check_axes("point", point, POSITION_MAX))?;
        let corners: Vec<_> = self.points.iter().map(|&point| raw2(point)).collect();
        if let Some(point) = short_edge(&corners, closes) {
            return Err(TerrainError::ShortEdge { point: point as u32 });
        }
        self.body(Shape::circle(Fx::ONE), Vec2::ZERO).validate().map_err(TerrainError::Body)
    }

    fn body(&self, shape: Shape, position: Vec2) -> BodyDef {
        BodyDef::static_body(shape)
            .position(position)
            .material(self.material)
            .filter(self.filter)
            .user(self.user)
            .enabled(self.enabled)
    }
}

/// Ends and starts of the edges between this many points, by index.
fn edges(points: usize, closes: bool) -> impl Iterator<Item = (usize, usize)> {
    let last = points.saturating_sub(1);
    (1..points).map(|to| (to, to - 1)).chain(closes.then_some((0, last)))
}

/// The first point that lies too close to the one before it.
pub(crate) fn short_edge(corners: &[[i32; 2]], closes: bool) -> Option<usize> {
    let short = |&(to, from): &(usize, usize)| {
        let [x, y] = each_axis(|axis| i128::from(corners[to][axis]) - i128::from(corners[from][axis]));
        x * x + y * y < i128::from(EXTENT_MIN.to_bits()).pow(2)
    };
    edges(corners.len(), closes).find(short).map(|(to, _)| to)
}

/// Methods that both definitions have.
macro_rules! surface_methods {
    () => {
        /// Restitution and contact friction; the other numbers of a material mean nothing here. Default all 0.
        pub fn material(mut self, material: Material) -> Self {
            self.surface.material = material;
            self
        }

        /// Coefficient of contact friction, 0..=4; see [`Material::friction`]. Default 0.
        pub fn friction(mut self, friction: Fx) -> Self {
            self.surface.material.friction = friction;
            self
        }

        /// Coefficient of restitution, 0..=1; see [`Material::restitution`]. Default 0.
        pub fn restitution(mut self, restitution: Fx) -> Self {
            self.surface.material.restitution = restitution;
            self
        }

        /// Layers and mask. Default layer 0, all layers in the mask.
        pub fn filter(mut self, filter: Filter) -> Self {
            self.surface.filter = filter;
            self
        }

        /// A value of the game's own, which events carry. Default 0.
        pub fn user(mut self, user: u64) -> Self {
            self.surface.user = user;
            self
        }

        /// Whether it takes part in steps and queries. Default true.
        pub fn enabled(mut self, enabled: bool) -> Self {
            self.surface.enabled = enabled;
            self
        }
    };
}

/// The definition of a chain of segments: ground, cliffs, river banks, the outline of a map.
///
/// The segments form one surface: a body that slides or rolls over their common points is neither stopped nor turned. Where the chain bends
/// outward, the body meets a corner. A segment has no thickness, but stops fast bodies too. Only a body that is pressed so hard that its
/// centre crosses the line ends up on the other side.
///
/// See [`World::create_chain`](crate::World::create_chain).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct ChainDef {
    surface: Surface,
    closed: bool,
    one_sided: bool,
}

impl ChainDef {
    /// A chain through these points, in units, each axis within +-16,384. It takes 2 to [`CHAIN_POINTS_MAX`] points; neighbours are at
    /// least 1/1,024 unit, and on each axis at most 8,192 units, apart.
    pub fn new(points: &[Vec2]) -> Self {
        Self { surface: Surface::new(points), closed: false, one_sided: false }
    }

    /// Whether a last segment leads back to the first point; this needs at least three points. Default false.
    pub fn closed(self, closed: bool) -> Self {
        Self { closed, ..self }
    }

    /// Whether only the right side, seen along the chain, is solid: a counter-clockwise outline keeps bodies out, and a clockwise one keeps
    /// them in. A body from the left passes. Once its centre has crossed the line, it cannot go back. Rays and sweeps from the left pass,
    /// too, unless their [`QueryFilter::both_sides`](crate::QueryFilter::both_sides) says otherwise. Default false.
    pub fn one_sided(self, one_sided: bool) -> Self {
        Self { one_sided, ..self }
    }

    surface_methods!();

    /// Checks everything. [`World::create_chain`](crate::World::create_chain) does the same.
    ///
    /// # Errors
    /// [`TerrainError`] names the first point or number that is wrong.
    pub fn validate(&self) -> Result<(), TerrainError> {
        self.surface.check(if self.closed { 3 } else { 2 }, CHAIN_POINTS_MAX, self.closed)?;
        self.pieces().try_for_each(|(from, piece)| check_size(&piece, from))
    }

    /// Index of the first point of each segment, and the segment, without links.
    fn pieces(&self) -> impl Iterator<Item = (usize, Piece)> + '_ {
        let points = &self.surface.points;
        edges(points.len(), self.closed).map(|(to, from)| {
            let corners = both([points[from], points[to]], raw2);
            (from, Piece::new(&corners, 0, self.one_sided))
        })
    }

    /// The bodies to create, with their pieces, in order. Links count these bodies from 0.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = (BodyDef, Piece)> + '_ {
        let count = (self.surface.points.len() - usize::from(!self.closed)) as u32;
        self.pieces().zip(0..).map(move |((_, mut piece), at)| {
            let (first, last) = (at == 0 && !self.closed, at + 1 == count && !self.closed);
            let links = [(first, at + count - 1), (last, at + 1)];
            piece.links = both(links, |(end, to)| if end { Slot::NONE } else { Slot(to % count) });
            (self.surface.body(piece.box_shape(), piece.centre()), piece)
        })
    }
}

/// The definition of a solid convex polygon: rocks, ramps, buildings that are not axis-aligned.
///
/// Adjacent polygons have seams. For ground that bodies slide over, use a [`ChainDef`].
///
/// See [`World::create_polygon`](crate::World::create_polygon).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct PolygonDef {
    surface: Surface,
    radius: Fx,
}

impl PolygonDef {
    /// A convex polygon with these corners, in units, each axis within +-16,384. It takes 3 to [`POLYGON_POINTS_MAX`] corners in either
    /// direction; neighbours are at least 1/1,024 unit apart, and the polygon is at most 8,192 units wide and high.
    pub fn new(points: &[Vec2]) -> Self {
        Self { surface: Surface::new(points), radius: Fx::ZERO }
    }

    /// How far the surface lies outside of the corners and edges, which rounds the corners; units, from 0 to less than 4,096: with its radius, too, the
    /// polygon is at most 8,192 units wide and high. Default 0.
    pub fn radius(self, radius: Fx) -> Self {
        Self { radius, ..self }
    }

    surface_methods!();

    /// Checks everything. [`World::create_polygon`](crate::World::create_polygon) does the same.
    ///
    /// # Errors
    /// [`TerrainError`] names the first point or number that is wrong.
    pub fn validate(&self) -> Result<(), TerrainError> {
        self.surface.check(3, POLYGON_POINTS_MAX, true)?;
        check("radius", self.radius, Fx::ZERO, EXTENT_MAX)?;
        let corners = self.corners();
        if let Err(at) = check_convex(&corners) {
            let last = corners.len() - 1;
            let point = if is_clockwise(&self.raw_points()) { last - at } else { at } as u32;
            return Err(TerrainError::NotConvex { point });
        }
        check_size(&self.piece(), 0)
    }

    fn raw_points(&self) -> Vec<[i32; 2]> {
        self.surface.points.iter().map(|&point| raw2(point)).collect()
    }

    /// Raw corners, counter-clockwise.
    fn corners(&self) -> Vec<[i32; 2]> {
        let mut corners = self.raw_points();
        if is_clockwise(&corners) {
            corners.reverse();
        }
        corners
    }

    fn piece(&self) -> Piece {
        Piece::new(&self.corners(), raw(self.radius), false)
    }

    /// The body to create, with its piece.
    pub(crate) fn body(&self) -> (BodyDef, Piece) {
        let piece = self.piece();
        (self.surface.body(piece.box_shape(), piece.centre()), piece)
    }
}

fn check_size(piece: &Piece, from: usize) -> Result<(), TerrainError> {
    if piece.is_too_large() { Err(TerrainError::TooLarge { point: from as u32 }) } else { Ok(()) }
}

/// Whether twice the signed area is negative.
fn is_clockwise(corners: &[[i32; 2]]) -> bool {
    let area: i128 = edges(corners.len(), true)
        .map(|(to, from)| {
            let ([a, b], [c, d]) = (both(corners[from], i128::from), both(corners[to], i128::from));
            a * d - b * c
        })
        .sum();
    area < 0
}

/// Checks that every corner lies to the left of every edge or on it, and not all of them on one edge. The error is the corner where this
/// fails.
pub(crate) fn check_convex(corners: &[[i32; 2]]) -> Result<(), usize> {
    let mut wide = false;
    for (to, from) in edges(corners.len(), true) {
        // A second time around leads through the same corners.
        if corners[..to].contains(&corners[to]) {
            return Err(to);
        }
        for (at, corner) in corners.iter().enumerate() {
            let from_here =
                |point: [i32; 2]| each_axis(|axis| i128::from(point[axis]) - i128::from(corners[from][axis]));
            let ([a, b], [c, d]) = (from_here(corners[to]), from_here(*corner));
            let left = a * d - b * c;
            if left < 0 {
                // The edge turned inward at its end, unless the corner is further away.
                return Err(if (at + 1) % corners.len() == from { from } else { to });
            }
            wide |= left > 0;
        }
    }
    if wide { Ok(()) } else { Err(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[(i32, i32)]) -> Vec<Vec2> {
        points.iter().map(|&(x, y)| Vec2::from_ints(x, y)).collect()
    }

    #[test]
    fn chains_are_refused_for_what_is_wrong() {
        let chain = |list: &[(i32, i32)]| ChainDef::new(&points(list));
        assert_eq!(chain(&[(0, 0), (1, 0)]).validate(), Ok(()));
        let few = TerrainError::PointCount { given: 2, min: 3, max: CHAIN_POINTS_MAX };
        assert_eq!(chain(&[(0, 0), (1, 0)]).closed(true).validate(), Err(few));
        let same = chain(&[(0, 0), (1, 0), (1, 0)]).validate();
        assert_eq!(same, Err(TerrainError::ShortEdge { point: 2 }));
        let back = chain(&[(0, 0), (1, 0), (0, 0)]).closed(true).validate();
        assert_eq!(back, Err(TerrainError::ShortEdge { point: 0 }));
        let long = chain(&[(0, 0), (1, 0), (8_194, 0)]).validate();
        assert_eq!(long, Err(TerrainError::TooLarge { point: 1 }));
        assert!(matches!(chain(&[(0, 0), (17_000, 0)]).validate(), Err(TerrainError::Body(_))));
        let rough = chain(&[(0, 0), (1, 0)]).friction(Fx::from_num(5)).validate();
        assert!(matches!(rough, Err(TerrainError::Body(BodyError::OutOfRange { field: "friction", .. }))));
        let many = ChainDef::new(&alloc::vec![Vec2::ZERO; CHAIN_POINTS_MAX as usize + 1]).validate();
        assert!(matches!(many, Err(TerrainError::PointCount { .. })));
    }

    #[test]
    fn polygons_are_convex_in_either_direction() {
        let polygon = |list: &[(i32, i32)]| PolygonDef::new(&points(list)).validate();
        let mut square = alloc::vec![(0, 0), (4, 0), (4, 4), (2, 4), (0, 4)];
        assert_eq!(polygon(&square), Ok(()), "a corner on a side");
        square.reverse();
        assert_eq!(polygon(&square), Ok(()), "clockwise");
        let dent = [(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)];
        assert_eq!(polygon(&dent), Err(TerrainError::NotConvex { point: 3 }));
        let star = [(0, 3), (2, -3), (-3, 1), (3, 1), (-2, -3)];
        assert!(matches!(polygon(&star), Err(TerrainError::NotConvex { .. })), "twice around");
        let again = [(0, 0), (4, 1), (3, 4), (0, 0), (4, 1), (3, 4)];
        assert_eq!(polygon(&again), Err(TerrainError::NotConvex { point: 3 }));
        let flat = [(0, 0), (2, 0), (4, 0)];
        assert!(matches!(polygon(&flat), Err(TerrainError::NotConvex { .. })), "without an inside");
        assert!(matches!(polygon(&[(0, 0); 9]), Err(TerrainError::PointCount { given: 9, min: 3, max: 8 })));
    }
}
