//! What changes in every frame for each unit: small, because all of it is read in each frame.

use testudo_physics::{BodyId, Fx, Vec2, World};

use crate::steer::Sight;
use crate::steer::raw::{Raw, at_most, cross, dot, vec2};

/// What others see of a unit, and what it does until it thinks again. Raw units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walker {
    /// Its position, velocity and number are no state: they are read from the world in every step.
    pub(crate) sight: Sight,
    pub(crate) body: BodyId,
    /// The velocity that it takes, as fast as it can.
    pub(crate) takes: [i32; 2],
    /// Greatest change of its velocity in a second.
    pub(crate) acceleration: i32,
    /// Its body is gone, or it was removed. It stays among the others until there are many like it, because all that come after it would have to move up.
    // not state: one that is gone is not saved
    pub(crate) is_gone: bool,
    /// Its body is disabled: it is in nobody's way, and waits until it is enabled.
    // not state: read from the world in every step
    pub(crate) is_away: bool,
    /// How long it has not come nearer to its place, ms: all units are read in each frame, and there is no need for more of them.
    // not state: the mover's own time, as it was when the unit thought last
    pub(crate) stalled_ms: u16,
    /// When it thinks next, and when it thought last, by the [clock](crate::crowd::Clock).
    pub(crate) thinks: u32,
    pub(crate) thought: u32,
}

impl Walker {
    pub(crate) fn new(body: BodyId, radius: Fx, acceleration: Fx, now: u32) -> Self {
        Self {
            sight: Sight { radius: radius.to_bits() as i32, ..Sight::default() },
            body,
            takes: [0; 2],
            acceleration: acceleration.to_bits() as i32,
            is_gone: false,
            is_away: false,
            stalled_ms: 0,
            thinks: now,
            thought: now,
        }
    }

    /// It goes with a group from now on, and thinks in the frame that comes next, as all who get the same order: if some of them set out later, those behind
    /// run into them. Until then the others know that it will go, and do not take it for one that stands.
    pub(crate) fn set_out(&mut self, group: u32, now: u32) {
        let sight = &mut self.sight;
        (sight.is_going, sight.group, sight.left, sight.wish) = (true, group, i64::MAX, [0; 2]);
        (self.thinks, self.thought) = (now, now);
    }

    /// Whether it thinks in a frame that ends then: if it waited longer, it would think too late. (A time in the past counts, too.)
    pub(crate) fn thinks_before(&self, end: u32) -> bool {
        (1..u32::MAX / 2).contains(&end.wrapping_sub(self.thinks))
    }

    pub(crate) fn place(&self) -> Vec2 {
        self.sight.place()
    }

    /// Whether it has less than half of the speed that it would like, in the direction in which it would like to go.
    pub(crate) fn is_held_up(&self) -> bool {
        let [velocity, wish] = [self.sight.velocity, self.sight.wish].map(|part| part.map(i64::from));
        dot(velocity, wish) * 2 < dot(wish, wish)
    }

    /// Whether the velocity that it takes leads to a place so far away, or past it by no more than `slack`; raw units.
    pub(crate) fn heads_for(&self, away: Raw, slack: i64) -> bool {
        let takes = self.takes.map(i64::from);
        // The greater component is less than the speed.
        dot(takes, away) >= 0 && cross(takes, away).abs() <= slack * takes[0].abs().max(takes[1].abs())
    }

    /// Tells the body its velocity.
    #[inline(always)]
    pub(crate) fn drive(&self, world: &mut World, rate: u32) {
        let next = self.next_velocity(rate);
        if next != self.sight.velocity {
            // The body exists: `look` has removed the others.
            let _ = world.set_velocity(self.body, vec2(next.map(i64::from)));
        }
    }

    /// The velocity after this frame.
    fn next_velocity(&self, rate: u32) -> [i32; 2] {
        if self.takes == self.sight.velocity {
            return self.sight.velocity;
        }
        let change = [0, 1].map(|axis| i64::from(self.takes[axis]) - i64::from(self.sight.velocity[axis]));
        let most = i64::from(self.acceleration.unsigned_abs() / rate);
        let change = at_most(change, most);
        // Two speeds within the limit have a mean within it.
        [0, 1].map(|axis| self.sight.velocity[axis] + change[axis] as i32)
    }
}
