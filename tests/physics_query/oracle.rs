//! The expected answers, from the bodies one by one. Decisions use exact integers, distances along rays use floats.

use testudo_physics::{Aabb, BodyRef, Fx, Shape, Vec2};

/// A body's shape in raw units (1/65,536): a core box grown by a radius.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    centre: [i128; 2],
    half: [i128; 2],
    radius: i128,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) origin: Vec2,
    pub(crate) end: Vec2,
}

fn raw(v: Vec2) -> [i128; 2] {
    [v.x.to_bits(), v.y.to_bits()].map(i128::from)
}

impl Outline {
    pub(crate) fn of(body: &BodyRef<'_>) -> Self {
        let centre = raw(body.position());
        match body.shape() {
            Shape::Circle { radius } => Self { centre, half: [0; 2], radius: radius.to_bits().into() },
            Shape::Rect { half_extents } => Self { centre, half: raw(half_extents), radius: 0 },
            shape => panic!("a shape that this test does not know: {shape:?}"),
        }
    }

    pub(crate) fn grown(self, by: Fx) -> Self {
        Self { radius: self.radius + i128::from(by.to_bits()), ..self }
    }

    /// Offset from the core to a point along each axis, 0 within the core's extent.
    fn outside(&self, point: [i128; 2]) -> [i128; 2] {
        [0, 1].map(|axis| ((point[axis] - self.centre[axis]).abs() - self.half[axis]).max(0))
    }

    fn core_distance_squared(&self, point: [i128; 2]) -> i128 {
        let [x, y] = self.outside(point);
        x * x + y * y
    }

    pub(crate) fn contains(&self, point: Vec2) -> bool {
        self.core_distance_squared(raw(point)) <= self.radius * self.radius
    }

    /// Rounded down; 0 inside.
    pub(crate) fn distance(&self, point: Vec2) -> Fx {
        let distance = self.core_distance_squared(raw(point)).isqrt() - self.radius;
        Fx::from_bits(distance.max(0) as i64)
    }

    pub(crate) fn box_overlaps(&self, area: Aabb) -> bool {
        let (min, max) = (raw(area.min), raw(area.max));
        (0..2).all(|axis| {
            let reach = self.half[axis] + self.radius;
            min[axis] <= max[axis]
                && min[axis] <= self.centre[axis] + reach
                && self.centre[axis] - reach <= max[axis]
        })
    }

    /// The area's point nearest to the core is within the radius.
    pub(crate) fn overlaps(&self, area: Aabb) -> bool {
        let (min, max) = (raw(area.min), raw(area.max));
        if min[0] > max[0] || min[1] > max[1] {
            return false;
        }
        let nearest = [0, 1].map(|axis| self.centre[axis].clamp(min[axis], max[axis]));
        self.core_distance_squared(nearest) <= self.radius * self.radius
    }

    /// Whether a ray meets the outline: it does when its end is inside, when it crosses a side of the core, or when a corner
    /// of the core or the line's foot there comes within the radius.
    pub(crate) fn meets(&self, ray: &Ray) -> bool {
        if self.contains(ray.origin) || self.contains(ray.end) {
            return true;
        }
        let (a, b) = (raw(ray.origin), raw(ray.end));
        if a == b {
            return false;
        }
        let corners = self.corners();
        (0..4).any(|i| {
            let (c, d) = (corners[i], corners[(i + 1) % 4]);
            segments_cross(a, b, c, d) || comes_near(a, b, c, self.radius) || self.sides_cross(a, b, c, d)
        })
    }

    fn corners(&self) -> [[i128; 2]; 4] {
        let [x, y] = self.centre;
        let [w, h] = self.half;
        [[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h]]
    }

    /// Whether the ray crosses the side that lies a radius outside of the core's side from `c` to `d` (counter-clockwise).
    fn sides_cross(&self, a: [i128; 2], b: [i128; 2], c: [i128; 2], d: [i128; 2]) -> bool {
        let out = [(d[1] - c[1]).signum() * self.radius, (c[0] - d[0]).signum() * self.radius];
        let moved = |p: [i128; 2]| [p[0] + out[0], p[1] + out[1]];
        segments_cross(a, b, moved(c), moved(d))
    }

    /// Where a ray that meets the outline enters it, raw units from its origin: bisection of the distance, which is convex
    /// along the ray, between the origin and the nearest point.
    pub(crate) fn entry(&self, ray: &Ray) -> f64 {
        if self.contains(ray.origin) {
            return 0.0;
        }
        let (a, b) = (raw(ray.origin), raw(ray.end));
        let relative = |axis: usize| (a[axis] - self.centre[axis]) as f64;
        let d = [0, 1].map(|axis| (b[axis] - a[axis]) as f64);
        let gap = |t: f64| {
            let [x, y] =
                [0, 1].map(|axis| ((relative(axis) + d[axis] * t).abs() - self.half[axis] as f64).max(0.0));
            x.hypot(y) - self.radius as f64
        };
        // The nearest point, by golden section without the gold: thirds.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..300 {
            let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            // On the flat bottom inside of a core both are equal: stay with the earlier part.
            if gap(left) <= gap(right) { high = right } else { low = left }
        }
        let (mut outside, mut inside) = (0.0, high);
        for _ in 0..100 {
            let middle = (outside + inside) / 2.0;
            if gap(middle) > 0.0 { outside = middle } else { inside = middle }
        }
        inside * d[0].hypot(d[1])
    }
}

fn cross(o: [i128; 2], a: [i128; 2], b: [i128; 2]) -> i128 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

/// Whether two closed segments have a point in common.
fn segments_cross(a: [i128; 2], b: [i128; 2], c: [i128; 2], d: [i128; 2]) -> bool {
    let boxes = (0..2).all(|axis| {
        a[axis].min(b[axis]) <= c[axis].max(d[axis]) && c[axis].min(d[axis]) <= a[axis].max(b[axis])
    });
    boxes
        && cross(a, b, c).signum() * cross(a, b, d).signum() <= 0
        && cross(c, d, a).signum() * cross(c, d, b).signum() <= 0
}

/// Whether the foot of a point on the segment lies on it and within `radius`.
fn comes_near(a: [i128; 2], b: [i128; 2], point: [i128; 2], radius: i128) -> bool {
    let d = [b[0] - a[0], b[1] - a[1]];
    let along = (point[0] - a[0]) * d[0] + (point[1] - a[1]) * d[1];
    let square = d[0] * d[0] + d[1] * d[1];
    let cross = cross(a, b, point);
    (0..=square).contains(&along)
        && cross.checked_mul(cross).is_some_and(|left| left <= radius * radius * square)
}
