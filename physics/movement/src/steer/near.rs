//! What units know of each other.

use testudo_physics::{EXTENT_MAX, Fx, SPEED_MAX, Vec2};

use crate::steer::raw::{dot, length, raw, vec2};

/// Units that come nearer to each other by less than this part of a unit's speed go side by side.
const SIDE_BY_SIDE: i64 = 8;

/// What steering knows of one unit at the start of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Centre, units.
    pub position: Vec2,
    /// Velocity, units per second.
    pub velocity: Vec2,
    /// Radius, units.
    pub radius: Fx,
    /// Where it goes; `None` if it stands.
    pub going: Option<Going>,
}

/// Where a unit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Going {
    /// Units with the same number go to the same place, and the one that is nearer to it goes first.
    pub group: u32,
    /// Length of the path that is left, units.
    pub left: Fx,
    /// The velocity that it would like, units per second.
    pub wish: Vec2,
    /// How long it keeps to its right because others come towards it, ms.
    pub right_ms: u32,
}

/// The same in few bytes, in raw units: what a crowd keeps of each unit, sorted by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) position: [i32; 2],
    pub(crate) velocity: [i32; 2],
    /// The velocity that it would like if it were alone.
    pub(crate) wish: [i32; 2],
    /// Length of its path to the goal.
    pub(crate) left: i64,
    /// Those with the same goal.
    pub(crate) group: u32,
    pub(crate) radius: i32,
    /// Its number.
    pub(crate) unit: u32,
    pub(crate) right_ms: u16,
    /// Whether it goes somewhere; the four above matter only then.
    pub(crate) is_going: bool,
}

impl Sight {
    /// A neighbour at a position from `origin`; what is further away than anything that matters is only about right.
    pub(crate) fn of(neighbour: &Neighbour, origin: Vec2, unit: u32) -> Self {
        let away = |to: Fx, from: Fx| to.saturating_sub(from);
        let at = Vec2::new(away(neighbour.position.x, origin.x), away(neighbour.position.y, origin.y));
        let going =
            neighbour.going.unwrap_or(Going { group: 0, left: Fx::ZERO, wish: Vec2::ZERO, right_ms: 0 });
        Self {
            position: raw(at, 1 << 29).map(|part| part as i32),
            velocity: raw(neighbour.velocity, SPEED_MAX.to_bits()).map(|part| part as i32),
            wish: raw(going.wish, SPEED_MAX.to_bits()).map(|part| part as i32),
            left: going.left.to_bits(),
            group: going.group,
            radius: neighbour.radius.clamp(Fx::ZERO, EXTENT_MAX).to_bits() as i32,
            unit,
            right_ms: going.right_ms.min(u16::MAX.into()) as u16,
            is_going: neighbour.going.is_some(),
        }
    }

    /// Whether this unit may touch another one within so many ms, if it goes as it would like and the other one as it does. Not so if
    /// they stay apart on one axis, or come nearer to each other by less than an eighth of its speed, as marchers side by side do.
    pub(crate) fn may_meet(&self, other: &Self, within_ms: u32) -> bool {
        let touch = i64::from(self.radius) + i64::from(other.radius);
        let between = [0, 1].map(|axis| i64::from(other.position[axis]) - i64::from(self.position[axis]));
        let closing = [0, 1].map(|axis| i64::from(self.wish[axis]) - i64::from(other.velocity[axis]));
        let is_near = (0..2).all(|axis| {
            let closing = closing[axis] * between[axis].signum();
            (between[axis].abs() - touch) * 1_000 <= closing.max(0) * i64::from(within_ms)
        });
        is_near && {
            let wish = self.wish.map(i64::from);
            let (least, along) = (length(wish) / SIDE_BY_SIDE, dot(closing, between));
            along > 0 && along / length(between).max(1) >= least
        }
    }

    pub(crate) fn place(&self) -> Vec2 {
        vec2(self.position.map(i64::from))
    }
}
