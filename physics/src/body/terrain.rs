//! Static terrain as the world stores it: segments of chains and convex polygons.
//!
//! Each segment and each polygon is a *piece*, and each piece is the shape of its own static body. So it has a handle, a filter, a material
//! and a user value, lies in the trees of bodies at rest, is named in events, and is found by queries. The body stores the box around its
//! piece, which is all that the broad phase needs, and the tag of terrain. Narrow phase, continuous collision and queries see the tag and look
//! the piece up here. A world without terrain pays for none of this.
//!
//! The segments of a chain know their neighbours, so that seams are no obstacle; see [`crate::collide::terrain`].

use alloc::vec::Vec;

use crate::body::record::{Body, ShapeTag, flag, vec2};
use crate::body::shape::Shape;
use crate::body::slot::Slot;
use crate::math::axes::{both, each_axis};
use crate::math::boxes::RawBox;
use crate::math::copy::clone_in_place;
use crate::math::num::{EXTENT_MAX, EXTENT_MIN, Fx};
use crate::math::vec2::Vec2;

/// Most corners of a piece.
pub(crate) const CORNERS_MAX: usize = 8;

/// Smallest half extent of the box around a piece, raw units: that of bodies.
const HALF_MIN: i32 = EXTENT_MIN.to_bits() as i32;

/// A segment of a chain or a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Slot of its body.
    pub(crate) slot: Slot,
    corners: [[i32; 2]; CORNERS_MAX],
    /// Number of corners in use.
    count: u8,
    /// Its radius, raw units; 0 for segments.
    pub(crate) radius: i32,
    /// For segments: whether only the right side is solid.
    pub(crate) one_sided: bool,
    /// For segments: the slots of the previous and the next one, or [`Slot::NONE`].
    pub(crate) links: [Slot; 2],
}

impl Piece {
    /// A piece with at most [`CORNERS_MAX`] corners, raw units, without neighbours and without a body yet.
    pub(crate) fn new(corners: &[[i32; 2]], radius: i32, one_sided: bool) -> Self {
        let mut all = [[0; 2]; CORNERS_MAX];
        all[..corners.len()].copy_from_slice(corners);
        Self {
            slot: Slot::NONE,
            corners: all,
            count: corners.len() as u8,
            radius,
            one_sided,
            links: [Slot::NONE; 2],
        }
    }

    /// Corners, raw units: start and end of a segment, or the corners of a polygon, counter-clockwise.
    pub(crate) fn corners(&self) -> &[[i32; 2]] {
        &self.corners[..usize::from(self.count)]
    }

    pub(crate) fn is_segment(&self) -> bool {
        self.count == 2
    }

    /// The vector from start to end of a segment; the first edge of a polygon.
    pub(crate) fn edge(&self) -> [i64; 2] {
        each_axis(|axis| i64::from(self.corners[1][axis]) - i64::from(self.corners[0][axis]))
    }

    /// Whether a point lies to the right of a segment's line.
    pub(crate) fn is_in_front(&self, point: [i32; 2]) -> bool {
        self.side(point) > 0
    }

    /// Whether a point lies to the left of a segment's line by more than two raw units: those by which a point that was found on the line may be off.
    pub(crate) fn is_behind(&self, point: [i32; 2]) -> bool {
        let [x, y] = both(self.edge(), i128::from);
        self.side(point) < -2 * (x.abs() + y.abs())
    }

    /// How far to the right of a segment's line a point lies, times the segment's length.
    fn side(&self, point: [i32; 2]) -> i128 {
        let [x, y] = both(self.edge(), i128::from);
        let [px, py] = each_axis(|axis| i128::from(point[axis]) - i128::from(self.corners[0][axis]));
        px * y - py * x
    }

    /// Centre and half extents of the box around it.
    fn frame(&self) -> ([i32; 2], [i64; 2]) {
        let (low, high) = self.corners().iter().fold(([i32::MAX; 2], [i32::MIN; 2]), |(low, high), c| {
            (each_axis(|axis| low[axis].min(c[axis])), each_axis(|axis| high[axis].max(c[axis])))
        });
        let centre = each_axis(|axis| i32::midpoint(low[axis], high[axis]));
        let half = each_axis(|axis| {
            let (below, above) = (centre[axis].abs_diff(low[axis]), high[axis].abs_diff(centre[axis]));
            (i64::from(below.max(above)) + i64::from(self.radius)).max(i64::from(HALF_MIN))
        });
        (centre, half)
    }

    /// Whether the box around it is larger than a body may be.
    pub(crate) fn is_too_large(&self) -> bool {
        self.frame().1.iter().any(|&half| half > EXTENT_MAX.to_bits())
    }

    /// Centre of its body.
    pub(crate) fn centre(&self) -> Vec2 {
        vec2(self.frame().0)
    }

    /// The box around it as a shape of bodies.
    pub(crate) fn box_shape(&self) -> Shape {
        let [x, y] = both(self.frame().1, Fx::from_bits);
        Shape::rect(x, y)
    }

    /// Makes its body terrain, with the box around the piece.
    pub(crate) fn mark(&self, body: &mut Body) {
        body.set_shape(&self.box_shape());
        body.set_tag(ShapeTag::Terrain);
    }

    /// Whether a body is exactly what [`Self::mark`] makes of a static body for this piece.
    pub(crate) fn is_shape_of(&self, body: &Body) -> bool {
        let mut marked = *body;
        self.mark(&mut marked);
        let movable = body.has(flag::DYNAMIC | flag::KINEMATIC | flag::SENSOR);
        body.position == self.frame().0 && marked == *body && !movable
    }

    /// The exact box around it.
    pub(crate) fn bounds(&self) -> RawBox {
        let corners = self.corners().iter().map(|&c| RawBox { min: c, max: c });
        corners.fold(RawBox::EMPTY, |all, c| all.union(&c)).grown(self.radius)
    }
}

/// The place of a slot without terrain.
const NO_PIECE: u32 = u32::MAX;

/// The pieces of a world.
#[derive(Debug, Default)]
pub(crate) struct Terrain {
    /// In arbitrary order.
    pieces: Vec<Piece>,
    /// By slot: index of its piece, or [`NO_PIECE`]. Ends with the last piece.
    places: Vec<u32>,
}

clone_in_place!(Terrain: pieces, places);

impl Terrain {
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(crate) fn len(&self) -> u32 {
        self.pieces.len() as u32
    }

    /// The piece of a body.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&Piece> {
        self.pieces.get(*self.places.get(slot.at())? as usize)
    }

    /// The pieces in ascending order of their bodies' slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.places.iter().filter_map(|&place| self.pieces.get(place as usize))
    }

    /// Adds a piece. Its slot must have none yet.
    pub(crate) fn insert(&mut self, piece: Piece) {
        let slot = piece.slot.at();
        self.places.resize(self.places.len().max(slot + 1), NO_PIECE);
        self.places[slot] = self.pieces.len() as u32;
        self.pieces.push(piece);
    }

    /// Removes the piece of a body, if it has one. The chain then ends at its neighbours.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let Some(&Piece { links, .. }) = self.get(slot) else { return };
        for (side, link) in links.into_iter().enumerate() {
            if let Some(neighbour) = self.get_mut(link) {
                neighbour.links[1 - side] = Slot::NONE;
            }
        }
        let place = core::mem::replace(&mut self.places[slot.at()], NO_PIECE) as usize;
        self.pieces.swap_remove(place);
        if let Some(moved) = self.pieces.get(place) {
            self.places[moved.slot.at()] = place as u32;
        }
    }

    /// The far end of the previous (0) or next (1) segment.
    pub(crate) fn ghost(&self, piece: &Piece, side: usize) -> Option<[i32; 2]> {
        self.get(piece.links[side]).map(|neighbour| neighbour.corners[side])
    }

    fn get_mut(&mut self, slot: Slot) -> Option<&mut Piece> {
        self.pieces.get_mut(*self.places.get(slot.at())? as usize)
    }
}

/// The outline of a body that is terrain, see [`BodyRef::terrain`](crate::BodyRef::terrain).
#[derive(Clone, Copy, Debug)]
pub struct TerrainRef<'a>(pub(crate) &'a Piece);

impl<'a> TerrainRef<'a> {
    /// Its points in the world, units: start and end of a segment, or the corners of a polygon, counter-clockwise.
    #[must_use]
    pub fn points(self) -> impl ExactSizeIterator<Item = Vec2> + 'a {
        self.0.corners().iter().map(|&corner| vec2(corner))
    }

    /// Radius of a polygon's rounded corners, units: its surface lies this far outside of the points. 0 for segments.
    #[must_use]
    pub fn radius(&self) -> Fx {
        Fx::from_bits(self.0.radius.into())
    }

    /// Whether it is a segment of a chain.
    #[must_use]
    pub fn is_segment(&self) -> bool {
        self.0.is_segment()
    }

    /// Whether only the right side of a segment is solid.
    #[must_use]
    pub fn is_one_sided(&self) -> bool {
        self.0.one_sided
    }
}
