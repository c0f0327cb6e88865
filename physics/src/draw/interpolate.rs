//! Positions between two steps, for drawing.
//!
//! A display shows more frames than the simulation has, for example 144 per second of a game that steps 20 times. Between two steps a body
//! is drawn between its previous and its present position. The interpolation uses integers, and the result is converted to float at the
//! end, once. The result is for drawing only and must never find its way back into the simulation.
#![expect(
    clippy::float_arithmetic,
    clippy::disallowed_types,
    reason = "results are drawn, not simulated; the only file of this crate that knows floats"
)]

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::flag;
use crate::body::view::BodyRef;
use crate::world::World;

/// A whole frame in units of `alpha`: 1 with 16 fraction bits.
const WHOLE: u32 = 1 << 16;

/// 2^-32: raw units (16 fraction bits) times `alpha` (16 more). A power of two, so the product is exact.
const UNIT: f32 = 1.0 / (1_u64 << 32) as f32;

impl BodyRef<'_> {
    /// Where to draw the body, units. `alpha` 0 is its position before the last step and 65,536 its present position; larger values count
    /// as 65,536. With time `t` left over after the last step, `alpha = t * 65,536 * frames per second`.
    ///
    /// The result is rounded once, to `f32`: the error is less than 1/1,024 unit anywhere in the world. Bodies that are static, asleep or
    /// disabled are not interpolated. Nothing is interpolated across [`World::set_position`] or a restored snapshot.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::default())?;
    /// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(20, -10));
    /// let id = world.create_body(&ball)?;
    /// world.step(10)?; // from (0, 0) to (2, -1)
    /// let ball = world.body(id).unwrap();
    /// assert_eq!(ball.interpolated_position(0), [0.0, 0.0]);
    /// assert_eq!(ball.interpolated_position(65_536 / 4), [0.5, -0.25]);
    /// assert_eq!(ball.interpolated_position(65_536), [2.0, -1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn interpolated_position(&self, alpha: u32) -> [f32; 2] {
        let end = self.body.position;
        let start = if self.body.has(flag::AWAKE) { self.previous } else { end };
        [between(start[0], end[0], alpha), between(start[1], end[1], alpha)]
    }

    /// [`interpolated_position`](Self::interpolated_position) as a vector of `glam`.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::default())?;
    /// let rock = BodyDef::static_body(Shape::circle(Fx::ONE)).position(Vec2::from_ints(3, 4));
    /// let id = world.create_body(&rock)?;
    /// assert_eq!(world.body(id).unwrap().interpolated_position_glam(0).length(), 5.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "glam")]
    #[must_use]
    pub fn interpolated_position_glam(&self, alpha: u32) -> glam::Vec2 {
        self.interpolated_position(alpha).into()
    }
}

impl World {
    /// [`BodyRef::interpolated_position`] of every body, oldest first. Replaces the content of `out`; allocates only if it has to grow.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::default())?;
    /// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(10, 0));
    /// let (a, b) = (world.create_body(&ball)?, world.create_body(&ball.position(Vec2::from_ints(0, 8)))?);
    /// world.step(10)?;
    /// let mut drawn = Vec::new();
    /// world.interpolated_positions(65_536 / 2, &mut drawn); // half of the frame is over
    /// assert_eq!(drawn, [(a, [0.5, 0.0]), (b, [0.5, 8.0])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn interpolated_positions(&self, alpha: u32, out: &mut Vec<(BodyId, [f32; 2])>) {
        out.clear();
        out.extend(self.bodies().map(|body| (body.id(), body.interpolated_position(alpha))));
    }
}

/// For drawing code; one rounding per component.
///
/// ```
/// use testudo_physics::{Fx, Vec2};
/// let v: glam::Vec2 = Vec2::new(Fx::lit("1.5"), Fx::lit("-0.25")).into();
/// assert_eq!(v, glam::vec2(1.5, -0.25));
/// ```
#[cfg(feature = "glam")]
impl From<crate::math::vec2::Vec2> for glam::Vec2 {
    fn from(v: crate::math::vec2::Vec2) -> Self {
        let component = |c: crate::math::num::Fx| c.to_bits() as f32 / WHOLE as f32;
        Self::new(component(v.x), component(v.y))
    }
}

/// The point `alpha / 65,536` of the distance between two raw values, units. Exact up to the conversion: positions have 31 bits, so their
/// difference times `alpha` has 48.
fn between(start: i32, end: i32, alpha: u32) -> f32 {
    let way = (i64::from(end) - i64::from(start)) * i64::from(alpha.min(WHOLE));
    (i64::from(start) * i64::from(WHOLE) + way) as f32 * UNIT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::num::POSITION_MAX;

    #[test]
    fn the_longest_way_is_rounded_once() {
        let far = POSITION_MAX.to_bits() as i32;
        for (start, end) in [(-far, far), (far, -far), (far, far), (-1, 1), (12_345_679, -987_654_321)] {
            for alpha in [0, 1, WHOLE / 3, WHOLE - 1, WHOLE] {
                // Less than 53 bits in all, so this is exact until the last conversion.
                let (start, end) = (f64::from(start), f64::from(end));
                let exact = start * f64::from(WHOLE) + (end - start) * f64::from(alpha);
                let expected = (exact / (1_u64 << 32) as f64) as f32;
                assert_eq!(between(start as i32, end as i32, alpha), expected, "{start} {end} {alpha}");
            }
        }
    }
}
