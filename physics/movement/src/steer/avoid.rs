//! How a unit gives way to its neighbours: pure functions of what everybody knows at the start of a frame.

use testudo_physics::math::isqrt_u64;
use testudo_physics::{SPEED_MAX, Vec2};

use crate::steer::near::{Going, Neighbour, Sight};
use crate::steer::party::Plain;
use crate::steer::raw::{ONE, Raw, at_most, cross, dot, length, minus, vec2};

/// The greatest speed of a body along an axis, raw units per second.
const SPEED_RAW: i64 = SPEED_MAX.to_bits();

/// Closing speed that is allowed per distance between two surfaces, 1/s.
const CLOSING: i64 = 4;

/// Units mind each other at this part of their own radius between the surfaces, and at the way of half a second.
const MARGIN: i64 = 4;

/// A unit that meets others keeps to its right for this long, ms; those beside and behind it so much shorter.
const RIGHT_MS: u16 = 1_500;
const RIGHT_LESS_MS: u16 = 100;

/// Greatest number of neighbours that bound a unit: more than fit around one of equal size.
const BOUNDS_MAX: usize = 16;

/// What becomes of a wish among neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The velocity to take, units per second.
    pub velocity: Vec2,
    /// How long the unit keeps to its right from now on, ms.
    pub right_ms: u32,
}

/// One neighbour's part in a unit's decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bound {
    unit: u32,
    /// From the unit to the neighbour, length 1 as raw units.
    normal: [i32; 2],
    /// Greatest speed along it, raw units per second.
    most: i32,
}

/// The velocity of a unit that would like to go with `wish`, units per second.
///
/// Each neighbour bounds the speed towards it (a velocity obstacle cut down to a half plane, after van den Berg et al., "Reciprocal n-Body
/// Collision Avoidance", 2011; the bounds are applied one after the other instead of solving their linear program):
/// - one that stands is passed on the side to which the wish already leans;
/// - one with the same goal and a shorter path goes first: the one behind does not press;
/// - one with another goal that comes towards it makes the unit keep to its right, and with it those of its group around it. So groups
///   that meet become lanes.
///
/// `pushes`: whether the unit lost its patience and presses those that stand and those with the same goal. Speeds above 1,024 units per second and radii above
/// 4,096 units count as those.
#[must_use]
pub fn give_way(unit: &Neighbour, me: &Going, neighbours: &[Neighbour], pushes: bool) -> Step {
    let me = Sight::of(&Neighbour { going: Some(*me), ..*unit }, unit.position, 0);
    let mut yielding = Yielding::new(&me, pushes);
    for (number, other) in (1..).zip(neighbours) {
        yielding.mind(&Sight::of(other, unit.position, number));
    }
    let (velocity, right_ms) = yielding.decide();
    Step { velocity: vec2(velocity), right_ms: right_ms.into() }
}

/// A unit that looks at its neighbours one by one. Their order matters only if more than [`BOUNDS_MAX`] bound it: the first of them count.
pub(crate) struct Yielding<'a> {
    me: &'a Sight,
    pushes: bool,
    wish: Raw,
    speed: i64,
    /// How much it goes to its left, raw units per second.
    aside: i64,
    right_ms: u16,
    bounds: [Bound; BOUNDS_MAX],
    count: u32,
    /// Whether one that stands is ahead, and whether one that goes elsewhere is.
    stands: bool,
    has_met: bool,
    /// Whether one beside it with the same goal goes first, and whether one comes after it.
    is_led: bool,
    is_followed: bool,
}

impl<'a> Yielding<'a> {
    #[inline(always)]
    pub(crate) fn new(me: &'a Sight, pushes: bool) -> Self {
        let wish = me.wish.map(i64::from);
        let (bounds, right_ms) = ([Bound::default(); BOUNDS_MAX], me.right_ms);
        Self {
            me,
            pushes,
            wish,
            speed: length(wish),
            aside: 0,
            right_ms,
            bounds,
            count: 0,
            stands: false,
            has_met: false,
            is_led: false,
            is_followed: false,
        }
    }

    /// How far a neighbour may be that matters, from centre to centre, raw units. Call it after a look at those that are close: who is held up by them gets no
    /// further in half a second than the speed takes it that it has.
    pub(crate) fn reach(&self, largest: i32) -> i32 {
        let speed = if self.is_bounded() {
            self.speed.min(length(self.me.velocity.map(i64::from)))
        } else {
            self.speed
        };
        self.close(largest).saturating_add(speed as i32 / 2)
    }

    /// The same for units in a plain square, see [`Party::is_plain`](super::Party::is_plain).
    pub(crate) fn close(&self, largest: i32) -> i32 {
        self.me.radius.saturating_add(largest).saturating_add(self.me.radius / MARGIN as i32)
    }

    /// What does not matter to it unless it is close.
    pub(crate) fn plain(&self) -> Plain {
        Plain { group: self.me.group, right_ms: self.right_ms.saturating_add(RIGHT_LESS_MS), stalled_ms: 0 }
    }

    /// Looks at a neighbour. (Most of them change little. What they change is computed without a branch.)
    #[inline(always)]
    pub(crate) fn mind(&mut self, other: &Sight) {
        let (me, radius) = (self.me, i64::from(self.me.radius));
        let between = [0, 1].map(|axis| i64::from(other.position[axis]) - i64::from(me.position[axis]));
        let (square, touch) = (dot(between, between), radius + i64::from(other.radius));
        let beside = touch + radius / MARGIN;
        let reach = beside + self.speed / 2;
        let matters = (square <= reach * reach) & (square != 0);
        let is_one_of_us = other.is_going & (other.group == me.group);
        let right_ms = if matters & is_one_of_us { other.right_ms } else { 0 };
        self.right_ms = self.right_ms.max(right_ms.saturating_sub(RIGHT_LESS_MS));
        let goes_along = is_one_of_us & (square <= beside * beside) & (square != 0);
        self.is_led |= goes_along & (other.left < me.left);
        self.is_followed |= goes_along & (other.left > me.left);
        let goes_first = (other.left < me.left) & !self.pushes & goes_along;
        let facing = dot(self.wish, between);
        if matters & if is_one_of_us { goes_first } else { facing > 0 } {
            if is_one_of_us {
                self.follow(other, between, square, touch);
            } else {
                self.avoid(other, between, (square, touch, facing));
            }
        }
    }

    /// Gives way to one that it faces.
    fn avoid(&mut self, other: &Sight, between: Raw, (square, touch, facing): (i64, i64, i64)) {
        if other.is_going {
            self.has_met = true;
            if dot(self.wish, other.wish.map(i64::from)) < 0 {
                self.right_ms = RIGHT_MS;
            }
            return;
        }
        self.stands = true;
        if !self.pushes {
            // Around it: the nearer it is to the middle of the way, the more.
            let distance = isqrt_u64(square as u64) as i64;
            let lean = facing / distance / 2;
            self.aside += if cross(self.wish, between) > 0 { -lean } else { lean };
            self.bound(other.unit, between, distance, (distance - touch).max(0) * CLOSING);
        }
    }

    /// Stays behind one that goes first.
    fn follow(&mut self, other: &Sight, between: Raw, square: i64, touch: i64) {
        let distance = isqrt_u64(square as u64) as i64;
        let along = dot(other.velocity.map(i64::from), between) / distance;
        let most = (distance - touch).max(0) * CLOSING + along.max(0);
        self.bound(other.unit, between, distance, most);
    }

    /// Notes a bound, if it can matter.
    fn bound(&mut self, unit: u32, between: Raw, distance: i64, most: i64) {
        if most < self.speed && self.count < BOUNDS_MAX as u32 {
            let normal = between.map(|part| (part * ONE / distance) as i32);
            self.bounds[self.count as usize] = Bound { unit, normal, most: most as i32 };
            self.count += 1;
        }
    }

    /// Whether it keeps to its right for as long as anybody does.
    #[inline(always)]
    pub(crate) fn keeps_right(&self) -> bool {
        self.right_ms == RIGHT_MS
    }

    /// It does not keep to its right for those that come towards it.
    pub(crate) fn keep_straight(&mut self) {
        self.right_ms = 0;
    }

    /// Whether nobody of those beside it with the same goal goes first, some of them come after it, nobody else is ahead, and it has met nobody.
    pub(crate) fn leads(&self) -> bool {
        self.is_followed & !self.is_led & !self.stands & !self.has_met & (self.right_ms == 0)
    }

    /// The speed that it would like, raw units per second.
    pub(crate) fn speed(&self) -> i64 {
        self.speed
    }

    /// Whether somebody is in the way.
    pub(crate) fn is_bounded(&self) -> bool {
        self.count > 0
    }

    /// Whether somebody is in the way, and all of those go where it goes.
    pub(crate) fn is_queued(&self) -> bool {
        self.is_bounded() && !self.stands
    }

    /// The velocity to take, raw units per second, and how long the unit keeps to its right.
    #[inline(always)]
    pub(crate) fn decide(&mut self) -> (Raw, u16) {
        let (wish, speed) = (self.wish, self.speed);
        if speed == 0 {
            return ([0; 2], 0);
        }
        if self.right_ms == 0 && self.aside == 0 && self.count == 0 {
            return (wish, 0);
        }
        let aside = self.aside - speed * i64::from(self.right_ms) / i64::from(RIGHT_MS);
        let aside = aside.clamp(-speed, speed);
        let mut velocity =
            at_most([wish[0] - wish[1] * aside / speed, wish[1] + wish[0] * aside / speed], speed);
        let bounds = &mut self.bounds[..self.count as usize];
        bounds.sort_unstable_by_key(|bound| bound.unit);
        for _ in 0..2 {
            for bound in &*bounds {
                let normal = bound.normal.map(i64::from);
                let over = dot(velocity, normal) / ONE - i64::from(bound.most);
                if over > 0 {
                    velocity = minus(velocity, normal.map(|part| part * over / ONE));
                }
            }
        }
        // The speed is that of a wish whose length may be rounded up: along an axis it can be beyond what a body may have.
        (velocity.map(|part| part.clamp(-SPEED_RAW, SPEED_RAW)), self.right_ms)
    }
}
