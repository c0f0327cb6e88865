//! How a unit gives way to its neighbours: pure functions of what everybody knows at the start of a frame.

use testudo_physics::{Fx, Vec2};

use crate::steer::near::{Going, Neighbour};

/// Closing speed that is allowed per distance between two surfaces, 1/s.
const CLOSING: i64 = 4;

/// Units mind each other at this part of their own radius between the surfaces, and at the way of half a second.
const MARGIN: i64 = 4;

/// A unit that meets others keeps to its right for this long, ms; those beside and behind it so much shorter.
const RIGHT_MS: u32 = 1_500;
const RIGHT_LESS_MS: u32 = 100;

/// What becomes of a wish among neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The velocity to take, units per second.
    pub velocity: Vec2,
    /// How long the unit keeps to its right from now on, ms.
    pub right_ms: u32,
}

/// One neighbour's part in a unit's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    /// From the unit to the neighbour, length 1.
    normal: Vec2,
    /// Greatest speed along it, units per second.
    most: Fx,
}

/// The velocity of a unit that would like to go with `wish`, units per second.
///
/// Each neighbour bounds the speed towards it (a velocity obstacle cut down to a half plane, after van den Berg et al., "Reciprocal n-Body
/// Collision Avoidance", 2011; the bounds are applied one after the other instead of solving their linear program):
/// - one that stands is passed on the side to which the wish already leans;
/// - one with the same goal and a shorter path goes first: who is behind does not press;
/// - one with another goal that comes towards it makes the unit keep to its right, and with it those of its group around it. So groups
///   that meet become lanes.
///
/// `pushes`: whether the unit lost its patience and presses those that stand and those with the same goal.
#[must_use]
pub fn give_way(unit: &Neighbour, me: &Going, neighbours: &[Neighbour], pushes: bool) -> Step {
    let speed = me.wish.length();
    if speed == Fx::ZERO {
        return Step { velocity: Vec2::ZERO, right_ms: 0 };
    }
    let ahead = Vec2::new(me.wish.x / speed, me.wish.y / speed);
    let (mut aside, mut right_ms) = (Fx::ZERO, me.right_ms);
    let mut bounds = [Bound { normal: Vec2::ZERO, most: Fx::ZERO }; BOUNDS_MAX];
    let mut count = 0;
    for other in neighbours {
        let between = other.position - unit.position;
        let distance = between.length();
        let gap = distance - unit.radius - other.radius;
        if gap > unit.radius / MARGIN + speed / 2 || distance == Fx::ZERO {
            continue;
        }
        let normal = Vec2::new(between.x / distance, between.y / distance);
        let facing = ahead.dot(normal);
        let near = gap.max(Fx::ZERO) * CLOSING;
        let most = match other.going {
            None if facing > Fx::ZERO && !pushes => {
                // Around it: the nearer it is to the middle of the way, the more.
                let lean = if ahead.cross(normal) > Fx::ZERO { -facing } else { facing };
                aside += lean * speed / 2;
                near
            }
            None => continue,
            Some(there) if there.group == me.group => {
                right_ms = right_ms.max(there.right_ms.saturating_sub(RIGHT_LESS_MS));
                let is_first = there.left < me.left;
                if !is_first || pushes || gap > unit.radius / MARGIN {
                    continue;
                }
                near + other.velocity.dot(normal).max(Fx::ZERO)
            }
            Some(there) => {
                if ahead.dot(there.wish) < Fx::ZERO && facing > Fx::ZERO {
                    right_ms = RIGHT_MS;
                }
                continue;
            }
        };
        if count < BOUNDS_MAX {
            bounds[count] = Bound { normal, most };
            count += 1;
        }
    }
    let left = ahead.perpendicular();
    aside -= speed * i64::from(right_ms) / i64::from(RIGHT_MS);
    let aside = aside.clamp(-speed, speed);
    let mut velocity = (me.wish + Vec2::new(left.x * aside, left.y * aside)).clamp_length(speed);
    for _ in 0..2 {
        for bound in &bounds[..count] {
            let over = velocity.dot(bound.normal) - bound.most;
            if over > Fx::ZERO {
                velocity -= Vec2::new(bound.normal.x * over, bound.normal.y * over);
            }
        }
    }
    Step { velocity, right_ms }
}

/// Greatest number of neighbours that bound a unit: more than fit around one of equal size.
const BOUNDS_MAX: usize = 16;
