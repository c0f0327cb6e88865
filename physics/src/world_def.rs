//! Settings of a world: the builder that users fill in, and the validated form that the step reads.

use crate::body::record::{fx, raw, raw2, vec2};
use crate::math::aabb::Aabb;
use crate::math::boxes::RawBox;
use crate::math::num::{Fx, POSITION_MAX, SPEED_MAX};
use crate::math::vec2::Vec2;
use crate::tree::curve::DEPTH_LIMIT;
use crate::tree::quadtree::SplitRule;

/// What happens to a body whose centre would leave the world's bounds. Positions never wrap around.
///
/// ```
/// use testudo_physics::{Aabb, BodyDef, EdgePolicy, Fx, Shape, Vec2, World, WorldDef};
/// let bounds = Aabb::from_center_half(Vec2::ZERO, Vec2::from_ints(5, 5));
/// let mut world = World::new(WorldDef::new().bounds(bounds).edge(EdgePolicy::Bounce))?;
/// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).restitution(Fx::lit("0.5"));
/// let ball = world.create_body(&ball.velocity(Vec2::from_ints(10, 0)))?;
/// for _ in 0..20 {
///     world.step(20)?;
/// }
/// assert_eq!(world.body(ball).unwrap().velocity(), Vec2::from_ints(-5, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EdgePolicy {
    /// The centre stops at the edge, and the velocity across it becomes zero.
    #[default]
    Stop,
    /// The centre stops at the edge, and the velocity across it is reversed and multiplied by the body's restitution.
    ///
    /// No bounce gives energy, under gravity and forces either: what is reversed is the speed with which the body comes to the edge, without what they add
    /// in the rest of the frame. With restitution 1 it rises as high as before. Where they pull it outward, it stops if it was not faster than
    /// [`WorldDef::restitution_threshold`] before this frame, as in contacts (with restitution 1, if it did not move outward). Gravity lets it fall asleep
    /// there. A force of each frame ([`World::apply_force`](crate::World::apply_force)) presses it against the edge just so, and keeps it awake.
    Bounce,
}

/// The widest registers that a world may use. The results have the same bits with all of them.
///
/// A machine without registers of the given width uses the next narrower ones.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Simd {
    /// What every machine of the target has: 128 bits where these belong to it (SSE2 on x86, NEON on 64-bit ARM), else one number at a time.
    Plain,
    /// At most 128 bits: SSE4.2 on x86, NEON on 64-bit ARM, simd128 in WebAssembly builds that enable it.
    Bits128,
    /// At most 256 bits: AVX2 on x86.
    Bits256,
    /// The widest registers of the machine, up to AVX-512 (x86 from Ice Lake and Zen 4 on).
    #[default]
    Widest,
}

/// Settings of a world, with defaults that suit a real-time strategy game seen from above (bodies about one unit large).
///
/// ```
/// use testudo_physics::{Fx, Vec2, World, WorldDef};
/// let world = World::new(WorldDef::new().gravity(Vec2::from_ints(0, -10)).iterations(10)).unwrap();
/// assert_eq!(world.body_count(), 0);
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct WorldDef {
    pub(crate) gravity: Vec2,
    pub(crate) bounds: Aabb,
    pub(crate) edge: EdgePolicy,
    pub(crate) iterations: u32,
    pub(crate) relax_iterations: u32,
    pub(crate) push_factor: Fx,
    pub(crate) margin: Fx,
    pub(crate) restitution_threshold: Fx,
    pub(crate) max_speed: Fx,
    pub(crate) sleep_speed: Fx,
    pub(crate) sleep_ms: u32,
    pub(crate) leaf_capacity: u32,
    pub(crate) depth_max: u32,
    pub(crate) seed: u64,
    pub(crate) simd: Simd,
}

impl Default for WorldDef {
    fn default() -> Self {
        Self::new()
    }
}

impl WorldDef {
    /// A definition with defaults. Each method documents its own.
    pub fn new() -> Self {
        let edge = POSITION_MAX;
        Self {
            gravity: Vec2::ZERO,
            bounds: Aabb { min: Vec2::new(-edge, -edge), max: Vec2::new(edge, edge) },
            edge: EdgePolicy::Stop,
            iterations: 7,
            relax_iterations: 1,
            push_factor: Fx::from_bits(13_107),
            margin: Fx::from_bits(13_107),
            restitution_threshold: Fx::ONE,
            max_speed: SPEED_MAX,
            sleep_speed: Fx::from_bits(1 << 12),
            sleep_ms: 500,
            leaf_capacity: 8,
            depth_max: DEPTH_LIMIT,
            seed: 0,
            simd: Simd::Widest,
        }
    }

    /// Acceleration of every dynamic body, units/s^2, each axis within +-1,024. Default 0 (a world seen from above).
    pub fn gravity(self, gravity: Vec2) -> Self {
        Self { gravity, ..self }
    }

    /// Bounds for the centres of bodies that can move, within +-16,384 units, which is the default. A body that is created or placed
    /// outside is moved to the nearest point inside. A body that moves against the edge follows [`EdgePolicy`]. Static bodies may stand
    /// anywhere.
    pub fn bounds(self, bounds: Aabb) -> Self {
        Self { bounds, ..self }
    }

    /// What happens at the bounds. Default [`EdgePolicy::Stop`].
    pub fn edge(self, edge: EdgePolicy) -> Self {
        Self { edge, ..self }
    }

    /// Solver passes per step, 1..=64. More passes make crowds and stacks firmer. Default 7.
    pub fn iterations(self, iterations: u32) -> Self {
        Self { iterations, ..self }
    }

    /// Passes that remove the separation speed after positions were advanced, 0..=16. Default 1.
    pub fn relax_iterations(self, relax_iterations: u32) -> Self {
        Self { relax_iterations, ..self }
    }

    /// Part of a shallow overlap that is separated per frame when there is no gravity, 0..=1. Default 0.2. Under gravity contacts are soft
    /// instead, and the passes are divided among sub-steps.
    pub fn push_factor(self, push_factor: Fx) -> Self {
        Self { push_factor, ..self }
    }

    /// Speculative margin: bodies within this distance are solved before they touch, 0..=16 units. Default 0.2.
    pub fn margin(self, margin: Fx) -> Self {
        Self { margin, ..self }
    }

    /// Closing speed up to which restitution is ignored, so that resting contacts do not rattle; units/s, 0..=1,024. Default 1. A pair with
    /// restitution 1 bounces at any speed, because it never comes to rest. It holds for [`EdgePolicy::Bounce`], too, where gravity or a force pulls a
    /// body outward.
    pub fn restitution_threshold(self, speed: Fx) -> Self {
        Self { restitution_threshold: speed, ..self }
    }

    /// Greatest speed per axis of any body, units/s, above 0 and at most 1,024, which is the default.
    pub fn max_speed(self, max_speed: Fx) -> Self {
        Self { max_speed, ..self }
    }

    /// A body that is not faster than this on either axis counts as still; units/s, 0..=1,024. Default 1/16.
    ///
    /// Its speed is its velocity, or half of the speed at which it really moved if that is more, so a body that contacts push apart is not
    /// still. A body that touches nothing counts as still only below 1/64 of this, and glides on otherwise. Under gravity, where bodies bear 8 times
    /// their mass, a body that shakes at up to 8 times this speed counts as still, too, while it stays within the distance that it would go at this
    /// speed in [`WorldDef::sleep_ms`].
    pub fn sleep_speed(self, speed: Fx) -> Self {
        Self { sleep_speed: speed, ..self }
    }

    /// How long a body and everything that it touches, directly or through others, must be still before they fall asleep together;
    /// milliseconds, 0..=60,000; 0 = they never do. Default 500. A kinematic body falls asleep in the first step that finds it
    /// without a velocity, whatever this is.
    pub fn sleep_ms(self, milliseconds: u32) -> Self {
        Self { sleep_ms: milliseconds, ..self }
    }

    /// A quadrant of the tree with more bodies than this splits, 1..=64. Default 8.
    pub fn quadtree_leaf_capacity(self, bodies: u32) -> Self {
        Self { leaf_capacity: bodies, ..self }
    }

    /// Levels of the tree below its root, 0..=15. Default 15. No quadrant is smaller than the average body.
    pub fn quadtree_depth_max(self, depth: u32) -> Self {
        Self { depth_max: depth, ..self }
    }

    /// Seed of the world's random generator, see [`crate::World::rng`]. Default 0.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The widest instructions that may be used if the machine has them. They do not affect the bits. Default [`Simd::Widest`].
    pub fn simd(self, simd: Simd) -> Self {
        Self { simd, ..self }
    }

    /// Checks every setting against its range. [`World::new`](crate::World::new) does the same.
    ///
    /// # Errors
    /// [`WorldError::OutOfRange`] with the first setting outside of its range.
    pub fn validate(&self) -> Result<(), WorldError> {
        self.settings().map(|_| ())
    }

    /// The settings in raw units, or the first one that is out of range.
    pub(crate) fn settings(&self) -> Result<Settings, WorldError> {
        let whole = |setting, value: u32, min: u32, max: u32| {
            check(setting, Fx::from_num(value), Fx::from_num(min), Fx::from_num(max))
        };
        check_gravity(self.gravity)?;
        let bounds = check_bounds(&self.bounds)?;
        whole("iterations", self.iterations, 1, 64)?;
        whole("relax_iterations", self.relax_iterations, 0, 16)?;
        check("push_factor", self.push_factor, Fx::ZERO, Fx::ONE)?;
        check("margin", self.margin, Fx::ZERO, Fx::const_from_int(16))?;
        check("restitution_threshold", self.restitution_threshold, Fx::ZERO, SPEED_MAX)?;
        check("max_speed", self.max_speed, Fx::DELTA, SPEED_MAX)?;
        check("sleep_speed", self.sleep_speed, Fx::ZERO, SPEED_MAX)?;
        whole("sleep_ms", self.sleep_ms, 0, 60_000)?;
        whole("quadtree_leaf_capacity", self.leaf_capacity, 1, 64)?;
        whole("quadtree_depth_max", self.depth_max, 0, DEPTH_LIMIT)?;
        Ok(Settings {
            gravity: raw2(self.gravity),
            bounds,
            edge: self.edge,
            iterations: self.iterations,
            relax_iterations: self.relax_iterations,
            push_factor: raw(self.push_factor),
            margin: raw(self.margin),
            restitution_threshold: raw(self.restitution_threshold),
            max_speed: raw(self.max_speed),
            sleep_speed: raw(self.sleep_speed),
            sleep_ms: self.sleep_ms as u16,
            split: SplitRule { leaf_capacity: self.leaf_capacity, depth_max: self.depth_max },
        })
    }
}

/// Why the settings of a [`WorldDef`] were refused.
///
/// ```
/// use testudo_physics::{World, WorldDef};
/// let refused = World::new(WorldDef::new().iterations(0)).unwrap_err();
/// assert_eq!(refused.to_string(), "world setting `iterations` must be 1..=64, not 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorldError {
    /// A setting is outside of its range.
    OutOfRange {
        /// Name of the builder method.
        setting: &'static str,
        /// The given value; for a vector or box, the coordinate that is out of range.
        value: Fx,
        /// Smallest value allowed.
        min: Fx,
        /// Greatest value allowed.
        max: Fx,
    },
}

impl core::fmt::Display for WorldError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self::OutOfRange { setting, value, min, max } = self;
        write!(f, "world setting `{setting}` must be {min}..={max}, not {value}")
    }
}

/// Checks both components against their range.
pub(crate) fn check_gravity(gravity: Vec2) -> Result<(), WorldError> {
    check("gravity", gravity.x, -SPEED_MAX, SPEED_MAX)?;
    check("gravity", gravity.y, -SPEED_MAX, SPEED_MAX)
}

/// The bounds in raw units.
pub(crate) fn check_bounds(bounds: &Aabb) -> Result<RawBox, WorldError> {
    let Aabb { min, max } = *bounds;
    for (low, high) in [(min.x, max.x), (min.y, max.y)] {
        check("bounds", low, -POSITION_MAX, POSITION_MAX)?;
        check("bounds", high, low, POSITION_MAX)?;
    }
    Ok(RawBox { min: raw2(min), max: raw2(max) })
}

/// Refuses a value outside of `min..=max`.
fn check(setting: &'static str, value: Fx, min: Fx, max: Fx) -> Result<(), WorldError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(WorldError::OutOfRange { setting, value, min, max })
    }
}

impl core::error::Error for WorldError {}

/// Validated settings in raw units; part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) gravity: [i32; 2],
    pub(crate) bounds: RawBox,
    pub(crate) edge: EdgePolicy,
    pub(crate) iterations: u32,
    pub(crate) relax_iterations: u32,
    pub(crate) push_factor: i32,
    pub(crate) margin: i32,
    pub(crate) restitution_threshold: i32,
    pub(crate) max_speed: i32,
    pub(crate) sleep_speed: i32,
    pub(crate) sleep_ms: u16,
    pub(crate) split: SplitRule,
}

impl Settings {
    /// The definition with these settings.
    pub(crate) fn def(&self, seed: u64, simd: Simd) -> WorldDef {
        let Self {
            gravity,
            bounds,
            edge,
            iterations,
            relax_iterations,
            push_factor,
            margin,
            restitution_threshold,
            max_speed,
            sleep_speed,
            sleep_ms,
            split: SplitRule { leaf_capacity, depth_max },
        } = *self;
        WorldDef {
            gravity: vec2(gravity),
            bounds: Aabb { min: vec2(bounds.min), max: vec2(bounds.max) },
            edge,
            iterations,
            relax_iterations,
            push_factor: fx(push_factor),
            margin: fx(margin),
            restitution_threshold: fx(restitution_threshold),
            max_speed: fx(max_speed),
            sleep_speed: fx(sleep_speed),
            sleep_ms: sleep_ms.into(),
            leaf_capacity,
            depth_max,
            seed,
            simd,
        }
    }

    /// What accelerates every dynamic body, raw units/s^2. The solver, sleep and rest ask this, and no setting by itself.
    #[inline(always)]
    pub(crate) fn pull(&self) -> [i32; 2] {
        self.gravity
    }

    /// Whether contacts are springs that are solved in sub-steps: under gravity, where they bear loads. Without gravity they are rigid.
    #[inline(always)]
    pub(crate) fn is_soft(&self) -> bool {
        self.pull() != [0; 2]
    }

    /// Growth of each box; two boxes overlap if the gap between the bodies is within the margin.
    pub(crate) fn box_margin(&self) -> i32 {
        (self.margin + 1) / 2
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back_from_text_with_their_bits() {
        let world = WorldDef::new().gravity(Vec2::new(Fx::DELTA, -Fx::DELTA)).iterations(9).seed(7);
        let text = serde_json::to_string(&world).unwrap();
        assert_eq!(serde_json::from_str::<WorldDef>(&text).unwrap(), world, "{text}");
        // Fields that a file leaves out have their defaults.
        assert_eq!(
            serde_json::from_str::<WorldDef>(r#"{"iterations": 9}"#).unwrap(),
            WorldDef::new().iterations(9)
        );
    }
}
