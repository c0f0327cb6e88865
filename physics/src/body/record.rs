//! Bodies as the world stores them.

use crate::body::def::{BodyDef, BodyKind};
use crate::body::filter::Filter;
use crate::body::shape::Shape;
use crate::body::slot::{BySlot, Slot};
use crate::body::working_index::ByWorkingIndex;
use crate::math::axes::both;
use crate::math::boxes::RawBox;
use crate::math::num::Fx;
use crate::math::plain::plain_data;
use crate::math::vec2::Vec2;

/// A raw fixed-point value (16 fraction bits). It must have been validated to fit 32 bits.
pub(crate) fn raw(value: Fx) -> i32 {
    value.to_bits() as i32
}

/// The public number for a raw value.
#[inline]
pub(crate) fn fx(raw: i32) -> Fx {
    Fx::from_bits(i64::from(raw))
}

/// Both components as raw values.
pub(crate) fn raw2(v: Vec2) -> [i32; 2] {
    [raw(v.x), raw(v.y)]
}

/// The public vector for two raw values.
#[inline]
pub(crate) fn vec2(v: [i32; 2]) -> Vec2 {
    Vec2::new(fx(v[0]), fx(v[1]))
}

/// The low and the high half.
pub(crate) fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Geometry and mass of a body in the working order of a step: what the narrow phase reads, 32 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Shell {
    pub(crate) position: [i32; 2],
    /// Half extents of the core box; zero for a circle.
    pub(crate) half: [i32; 2],
    /// Rounding radius; zero for a rectangle, [`TERRAIN`] for terrain.
    pub(crate) radius: i32,
    /// Raw mass; 0 means that the solver cannot move it.
    pub(crate) mass: u32,
    /// Raw coefficient of restitution.
    pub(crate) restitution: i32,
    pub(crate) slot: Slot,
}

plain_data!(Shell: position, half, radius, mass, restitution, slot);

/// The radius of a [`Shell`] that stands for terrain: the narrow phase looks its outline up. A shell has no room for the [`ShapeTag`], and no
/// shape has a radius below zero. The core box is larger by as much, so the bounding box is that of the body.
const TERRAIN: i32 = -1;

impl ByWorkingIndex for Shell {}

impl Shell {
    /// A lane without a body.
    pub(crate) const HOLE: Self =
        Self { position: [0; 2], half: [0; 2], radius: 0, mass: 0, restitution: 0, slot: Slot::NONE };

    /// Whether it stands for terrain.
    #[inline(always)]
    pub(crate) fn is_terrain(&self) -> bool {
        self.radius == TERRAIN
    }

    /// The growth of the shape's box: `most`, which is half of the world's margin, or for movable bodies a quarter of the smaller extent if
    /// that is less. So a small body searches no further than a large one, relative to its size.
    #[inline(always)]
    pub(crate) fn growth(&self, most: i32) -> i32 {
        let quarter = (self.half[0].min(self.half[1]) + self.radius) >> 2;
        if self.mass == 0 { most } else { most.min(quarter) }
    }

    /// How far from a wall the contact of a movable body with it is found: both boxes are [grown](Self::growth).
    #[inline(always)]
    pub(crate) fn reach(&self, most: i32) -> i32 {
        self.growth(most) + most
    }

    /// The smallest box around the shape.
    pub(crate) fn bounds(&self) -> RawBox {
        let h = [self.half[0] + self.radius, self.half[1] + self.radius];
        RawBox {
            min: [self.position[0] - h[0], self.position[1] - h[1]],
            max: [self.position[0] + h[0], self.position[1] + h[1]],
        }
    }
}

/// What a body's half extents and radius describe. It takes three bits of the [flags](flag).
///
/// A further shape takes the next number: there are five. Whatever is a box, a circle or a box with round corners has room in `half` and
/// `radius`, and the narrow phase computes with all of them already. What needs more lies in a table by slot, as terrain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ShapeTag {
    /// A box of these half extents.
    Rect = 0,
    /// A circle of this radius.
    Circle = 1,
    /// The box around a piece of [terrain](crate::body::terrain), which has the outline. Its body has these half extents and no radius.
    Terrain = 2,
}

impl ShapeTag {
    const SHIFT: u32 = 10;
    const MASK: u32 = 0b111 << Self::SHIFT;

    /// Its bits in the flags.
    pub(crate) const fn bits(self) -> u32 {
        (self as u32) << Self::SHIFT
    }

    /// Whether flags have this tag.
    #[inline(always)]
    pub(crate) const fn is_in(self, flags: u32) -> bool {
        flags & Self::MASK == self.bits()
    }

    /// The tag in flags; `None` if no shape has it.
    pub(crate) const fn of(flags: u32) -> Option<Self> {
        match (flags & Self::MASK) >> Self::SHIFT {
            0 => Some(Self::Rect),
            1 => Some(Self::Circle),
            2 => Some(Self::Terrain),
            _ => None,
        }
    }
}

/// Boolean properties of a body, one bit each; between them its [`ShapeTag`].
///
/// The lower half is the state. The upper half [follows](super::Body::follow) from other fields, so that a step need not read those. Where a
/// snapshot's word has a bit for such a field, it is the same bit (`field.rs`).
pub(crate) mod flag {
    use super::ShapeTag;

    /// Body can be moved by contacts.
    pub(crate) const DYNAMIC: u32 = 1 << 0;
    /// Body moves by its own velocity only.
    pub(crate) const KINEMATIC: u32 = 1 << 1;
    /// Body reports overlaps and takes no part in contacts.
    pub(crate) const SENSOR: u32 = 1 << 2;
    /// Body takes no part in steps and queries.
    pub(crate) const DISABLED: u32 = 1 << 3;
    /// Contacts do not move the body along x.
    pub(crate) const LOCK_X: u32 = 1 << 4;
    /// Contacts do not move the body along y.
    pub(crate) const LOCK_Y: u32 = 1 << 5;
    /// Body takes part in the step as a moving body.
    pub(crate) const AWAKE: u32 = 1 << 6;
    /// Body was created after the last step: it has no cached contacts.
    pub(crate) const FRESH: u32 = 1 << 7;
    /// Slot holds a body.
    pub(crate) const ALIVE: u32 = 1 << 8;
    /// A force waits for the next step.
    pub(crate) const FORCED: u32 = 1 << 9;
    /// What is state: these, and the tag. Bits 13 to 15 are free, for flags or for rows of a snapshot.
    pub(crate) const STATE: u32 = ShapeTag::MASK | ((1 << 10) - 1);

    /// Filter is not the default one.
    pub(crate) const FILTERED: u32 = 1 << 24;
    /// Contact friction is not zero.
    pub(crate) const ROUGH: u32 = 1 << 27;
    /// Damping is not zero.
    pub(crate) const DAMPED: u32 = 1 << 28;
    /// Body has a speed limit of its own.
    pub(crate) const LIMITED: u32 = 1 << 29;
    /// A field of [`super::Extra`] has an unusual value. A snapshot's word has one bit for each of them instead, and bit 31 is one of those.
    pub(crate) const EXTRA: u32 = 1 << 31;
    /// Properties that the contact phase must check, apart from geometry.
    pub(crate) const SPECIAL: u32 = SENSOR | LOCK_X | LOCK_Y | ROUGH | FILTERED;
    /// Flags that follow from fields with a bit in a snapshot's word.
    pub(crate) const FOLLOWING: u32 = FILTERED | ROUGH | DAMPED | LIMITED;
}

/// What a step reads and writes of every moving body: one cache line without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Body {
    pub(crate) position: [i32; 2],
    pub(crate) velocity: [i32; 2],
    pub(crate) half: [i32; 2],
    pub(crate) radius: i32,
    pub(crate) mass: u32,
    pub(crate) restitution: i32,
    pub(crate) flags: u32,
    /// Remainder of position += velocity / fps, in 1/fps of a raw unit; below fps.
    pub(crate) position_remainder: [u16; 2],
    /// Remainder of velocity += acceleration / fps, likewise.
    pub(crate) acceleration_remainder: [u16; 2],
    /// Remainder of ground friction / fps, likewise.
    pub(crate) friction_remainder: u16,
    /// Milliseconds for which the body and what it touches have been still; at the world's limit it may fall asleep.
    pub(crate) still_ms: u16,
    /// Raw ground friction, units/s^2.
    pub(crate) ground_friction: i32,
    /// Collision layers and mask, see [`Body::filter`].
    pub(crate) filter: [u32; 2],
}

plain_data!(Body: position, velocity, half, radius, mass, restitution, flags, position_remainder, acceleration_remainder, friction_remainder, still_ms, ground_friction, filter);

/// A vacant slot: zeros, and the default filter.
impl Default for Body {
    fn default() -> Self {
        let filter = Filter::default();
        Self { filter: [filter.layers, filter.mask], ..bytemuck::Zeroable::zeroed() }
    }
}

/// Rare choices, one bit each in [`Extra::choices`].
pub(crate) mod choice {
    /// Body does not fall asleep by itself, nor does what it touches.
    pub(crate) const NEVER_SLEEPS: i16 = 1 << 0;
    /// Body has an anchor.
    pub(crate) const ANCHORED: i16 = 1 << 1;
    /// All defined bits.
    pub(crate) const ALL: i16 = NEVER_SLEEPS | ANCHORED;
}

/// Fields that few bodies use, or that steps do not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Extra {
    /// The user's value, the low half first.
    pub(crate) user: [u32; 2],
    /// Acceleration of the next step by `apply_force`, raw units/s^2; cleared by the step.
    pub(crate) acceleration: [i32; 2],
    /// Raw coefficient of contact friction.
    pub(crate) friction: i32,
    /// Raw damping, 1/s.
    pub(crate) damping: i32,
    /// Raw speed limit; `i32::MAX` = only the world's.
    pub(crate) max_speed: i32,
    /// Bits of [`choice`].
    pub(crate) choices: i16,
    /// Rank in contacts: fits 8 bits.
    pub(crate) dominance: i16,
    /// Where a body was that moves to and fro, see [`crate::world::linger`]; 0 without an anchor.
    pub(crate) anchor: [i16; 2],
}

plain_data!(Extra: user, acceleration, friction, damping, max_speed, choices, dominance, anchor);

impl BySlot for Body {}

impl Body {
    /// The stored form of a validated definition; its velocity is clamped to `max_speed` per axis. Flags are to [follow](Self::follow) yet.
    pub(crate) fn new(def: &BodyDef, max_speed: i32) -> Self {
        let kind = match def.kind {
            BodyKind::Static => 0,
            BodyKind::Kinematic => flag::KINEMATIC,
            BodyKind::Dynamic => flag::DYNAMIC,
        };
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        let mut body = Self {
            position: raw2(def.position),
            velocity: if kind == 0 {
                [0; 2]
            } else {
                both(raw2(def.velocity), |v| v.clamp(-max_speed, max_speed))
            },
            mass: if kind == flag::DYNAMIC { def.mass.to_bits() as u32 } else { 0 },
            restitution: raw(def.material.restitution),
            flags: flag::ALIVE
                | flag::FRESH
                | kind
                | bit(def.sensor, flag::SENSOR)
                | bit(!def.enabled, flag::DISABLED)
                | bit(def.lock_x, flag::LOCK_X)
                | bit(def.lock_y, flag::LOCK_Y),
            ground_friction: raw(def.material.ground_friction),
            filter: [def.filter.layers, def.filter.mask],
            ..Self::default()
        };
        body.set_shape(&def.shape);
        body
    }

    /// Stores a validated shape.
    pub(crate) fn set_shape(&mut self, shape: &Shape) {
        let tag;
        (self.half, self.radius, tag) = match *shape {
            Shape::Circle { radius } => ([0; 2], raw(radius), ShapeTag::Circle),
            Shape::Rect { half_extents } => (raw2(half_extents), 0, ShapeTag::Rect),
        };
        self.set_tag(tag);
    }

    /// Sets the flags that follow from other fields. Call it after a change of one of those.
    pub(crate) fn follow(&mut self, extra: &Extra) {
        self.set(flag::FILTERED, self.filter() != Filter::default());
        self.set(flag::ROUGH, extra.friction != 0);
        self.set(flag::DAMPED, extra.damping != 0);
        self.set(flag::LIMITED, extra.max_speed != i32::MAX);
        self.set(flag::EXTRA, *extra != Extra::USUAL);
    }

    /// Says what its half extents and its radius describe.
    pub(crate) fn set_tag(&mut self, tag: ShapeTag) {
        self.flags = self.flags & !ShapeTag::MASK | tag.bits();
    }

    #[inline(always)]
    pub(crate) fn is(&self, tag: ShapeTag) -> bool {
        tag.is_in(self.flags)
    }

    /// Collision layers and mask.
    pub(crate) fn filter(&self) -> Filter {
        Filter::new(self.filter[0], self.filter[1])
    }

    pub(crate) fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    pub(crate) fn set(&mut self, flags: u32, on: bool) {
        if on { self.flags |= flags } else { self.flags &= !flags }
    }

    #[inline(always)]
    pub(crate) fn shell(&self, slot: Slot) -> Shell {
        let shell = self.plain_shell(slot);
        if self.is_terrain() {
            return Shell { half: both(self.half, |half| half - TERRAIN), radius: TERRAIN, ..shell };
        }
        shell
    }

    /// The shell of a body that is no terrain.
    #[inline(always)]
    pub(crate) fn plain_shell(&self, slot: Slot) -> Shell {
        Shell {
            position: self.position,
            half: self.half,
            radius: self.radius,
            mass: self.mass,
            restitution: self.restitution,
            slot,
        }
    }

    /// Half extents of the bounding box.
    #[inline(always)]
    pub(crate) fn extents(&self) -> [i32; 2] {
        [self.half[0] + self.radius, self.half[1] + self.radius]
    }

    pub(crate) fn bounds(&self) -> RawBox {
        self.plain_shell(Slot::NONE).bounds()
    }

    /// The bounding box with the body's own [growth](Shell::growth).
    pub(crate) fn grown_bounds(&self, most: i32) -> RawBox {
        let shell = self.plain_shell(Slot::NONE);
        shell.bounds().grown(shell.growth(most))
    }

    /// Centre and larger half extent, for the order along the curve.
    #[inline(always)]
    pub(crate) fn centre_and_extent(&self) -> ([i32; 2], i32) {
        let [x, y] = self.extents();
        (self.position, x.max(y))
    }

    /// Whether it is terrain: see [`crate::body::terrain`].
    #[inline(always)]
    pub(crate) fn is_terrain(&self) -> bool {
        self.is(ShapeTag::Terrain)
    }

    /// Whether the two may touch at all: their filters accept each other, and at least one of them is not a sensor.
    pub(crate) fn interacts_with(&self, other: &Self) -> bool {
        self.filter().accepts(&other.filter()) && (self.flags & other.flags & flag::SENSOR) == 0
    }
}

impl BySlot for Extra {}

impl Extra {
    /// The usual values. They take no space in a snapshot and no time in a checksum.
    pub(crate) const USUAL: Self = Self {
        user: [0; 2],
        acceleration: [0; 2],
        friction: 0,
        damping: 0,
        max_speed: i32::MAX,
        choices: 0,
        dominance: 0,
        anchor: [0; 2],
    };

    pub(crate) fn new(def: &BodyDef) -> Self {
        Self {
            user: halves(def.user),
            acceleration: [0; 2],
            friction: raw(def.material.friction),
            damping: raw(def.material.damping),
            max_speed: def.max_speed.map_or(i32::MAX, raw),
            choices: if def.can_sleep { 0 } else { choice::NEVER_SLEEPS },
            dominance: def.dominance.into(),
            anchor: [0; 2],
        }
    }

    /// Forgets the anchor.
    pub(crate) fn raise_anchor(&mut self) {
        self.choices &= !choice::ANCHORED;
        self.anchor = [0; 2];
    }

    /// The user's value.
    pub(crate) fn user(&self) -> u64 {
        u64::from(self.user[0]) | u64::from(self.user[1]) << 32
    }
}
