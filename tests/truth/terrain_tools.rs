//! Geometry of terrain by brute force, in its own integers: the distance of two outlines, point by point and side by side.

use testudo_physics::{BodyRef, Shape, Vec2};

use crate::build::{ONE, raw};

/// An outline: corners in raw units, and a radius. One corner is a disc, two are a segment.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) corners: Vec<[i128; 2]>,
    pub(crate) radius: i128,
}

impl Outline {
    pub(crate) fn of(body: &BodyRef<'_>) -> Self {
        match body.terrain() {
            Some(terrain) => Self {
                corners: terrain.points().map(|p| raw(p).map(i128::from)).collect(),
                radius: terrain.radius().to_bits().into(),
            },
            None => Self::of_shape(body.shape(), body.position()),
        }
    }

    pub(crate) fn of_shape(shape: Shape, centre: Vec2) -> Self {
        let [x, y] = raw(centre).map(i128::from);
        match shape {
            Shape::Circle { radius } => Self { corners: vec![[x, y]], radius: radius.to_bits().into() },
            Shape::Rect { half_extents } => {
                let [w, h] = raw(half_extents).map(i128::from);
                let mut corners = vec![[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h]];
                // One without width is a segment.
                corners.dedup();
                corners.truncate(if w == 0 || h == 0 { 2 } else { 4 });
                Self { corners, radius: 0 }
            }
            _ => panic!("a shape that this test does not know: {shape:?}"),
        }
    }

    fn sides(&self) -> impl Iterator<Item = [[i128; 2]; 2]> + '_ {
        let count = self.corners.len();
        (0..count).map(move |i| [self.corners[i], self.corners[(i + 1) % count]])
    }

    /// Whether a point lies inside the polygon or on a side.
    pub(crate) fn holds(&self, p: [i128; 2]) -> bool {
        self.corners.len() > 2 && self.sides().all(|[a, b]| cross(minus(b, a), minus(p, a)) >= 0)
    }

    /// Distance of two outlines in 1/256 of a raw unit; 0 when their cores meet, negative when only the rims overlap.
    pub(crate) fn distance(&self, other: &Self) -> i128 {
        let rims = (self.radius + other.radius) << 8;
        let inside =
            self.corners.iter().any(|&p| other.holds(p)) || other.corners.iter().any(|&p| self.holds(p));
        let crossing = || self.sides().any(|s| other.sides().any(|t| cross_each_other(s, t)));
        if inside || crossing() {
            return -rims;
        }
        let from = |a: &Self, b: &Self| {
            a.corners
                .iter()
                .flat_map(|&p| b.sides().map(move |s| point_to_side(p, s)))
                .min()
                .expect("corners")
        };
        from(self, other).min(from(other, self)) - rims
    }
}

fn minus(a: [i128; 2], b: [i128; 2]) -> [i128; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: [i128; 2], b: [i128; 2]) -> i128 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: [i128; 2], b: [i128; 2]) -> i128 {
    a[0] * b[0] + a[1] * b[1]
}

/// In 1/256 of a raw unit.
fn point_to_side(p: [i128; 2], [a, b]: [[i128; 2]; 2]) -> i128 {
    let (edge, out) = (minus(b, a), minus(p, a));
    let along = dot(out, edge);
    if along > 0 && along < dot(edge, edge) {
        return ((cross(edge, out).abs() << 24) / (dot(edge, edge) << 32).isqrt()).max(0);
    }
    let near = [out, minus(p, b)].map(|v| dot(v, v)).into_iter().min().expect("two ends");
    (near << 16).isqrt()
}

fn cross_each_other([a, b]: [[i128; 2]; 2], [c, d]: [[i128; 2]; 2]) -> bool {
    let side = |a, b, p| cross(minus(b, a), minus(p, a)).signum();
    side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}

/// The distance of two bodies in raw units, rounded down.
pub(crate) fn apart(a: &BodyRef<'_>, b: &BodyRef<'_>) -> i64 {
    (Outline::of(a).distance(&Outline::of(b)) >> 8) as i64
}

/// A convex polygon: some corners of a circle's polygon, moved a little, or a rectangle. Some sides along an axis have a corner within.
pub(crate) fn polygon(chance: &mut crate::build::Chance, centre: [i64; 2], size: i64) -> Vec<Vec2> {
    // Directions around the circle; any subset in order is convex.
    const AROUND: [[i64; 2]; 16] = [
        [1000, 0],
        [924, 383],
        [707, 707],
        [383, 924],
        [0, 1000],
        [-383, 924],
        [-707, 707],
        [-924, 383],
        [-1000, 0],
        [-924, -383],
        [-707, -707],
        [-383, -924],
        [0, -1000],
        [383, -924],
        [707, -707],
        [924, -383],
    ];
    let rectangle = || (2..16).step_by(4).map(|at| AROUND[at]).collect();
    let mut corners: Vec<[i64; 2]> = if chance.below(4) == 0 { rectangle() } else { Vec::new() };
    while corners.len() < 3 {
        corners = AROUND.into_iter().filter(|_| chance.below(3) == 0).take(8).collect();
    }
    let [x, y] = [chance.between(size / 3, size), chance.between(size / 3, size)];
    let place = |d: [i64; 2]| crate::build::at(centre[0] + d[0] * x / 1000, centre[1] + d[1] * y / 1000);
    let mut room = 8 - corners.len();
    let mut outline = Vec::new();
    for (at, &corner) in corners.iter().enumerate() {
        let (from, to) = (place(corner), place(corners[(at + 1) % corners.len()]));
        outline.push(from);
        if (from.x == to.x || from.y == to.y) && room > 0 && chance.below(2) == 0 {
            outline.push(Vec2::new((from.x + to.x) / 2, (from.y + to.y) / 2));
            room -= 1;
        }
    }
    outline
}

/// Tolerance of rounded values, raw units.
pub(crate) const ROUNDING: i64 = ONE / 16_384;
