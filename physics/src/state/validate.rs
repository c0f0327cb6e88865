//! Invariants of the state: every sequence of calls keeps them. They are checked for bytes of unknown origin, and in tests.

use alloc::vec::Vec;

use crate::body::record::{Body, Extra, ShapeTag, choice, flag, raw};
use crate::body::slot::{Slot, SlotPair};
use crate::body::terrain_def::{check_convex, short_edge};
use crate::contact::ignored::IGNORED_PAIRS_MAX;
use crate::math::num::{
    EXTENT_MAX, EXTENT_MIN, FPS_MAX, FRICTION_MAX, MASS_MAX, MASS_MIN, POSITION_MAX, SPEED_MAX,
};
use crate::motion::rates::FRICTION_PORTION;
use crate::solve::solver::IMPULSE_MAX;
use crate::state::version::SnapshotError;
use crate::world::World;

/// The first limit or invariant that a world's state breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidState {
    /// What is wrong.
    pub what: &'static str,
}

impl core::fmt::Display for InvalidState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the state of the world is not consistent: {}", self.what)
    }
}

impl core::error::Error for InvalidState {}

impl World {
    /// Checks every invariant of the state. It reads everything and is meant for tests and tools.
    ///
    /// # Errors
    /// [`InvalidState`] names the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), InvalidState> {
        self.validate_bodies()?;
        self.validate_removed()?;
        self.validate_pairs()?;
        self.validate_terrain()?;
        self.validate_contacts()?;
        self.validate_resting()?;
        self.validate_listed_once()
    }

    fn validate_bodies(&self) -> Result<(), InvalidState> {
        ensure(self.order.is_consistent(), "slots and insertion order disagree")?;
        ensure(self.clock.fps <= FPS_MAX, "frames per second")?;
        ensure(u32::from(self.clock.remainder) < self.clock.fps.max(1), "a remainder not below the rate")?;
        for (slot, (body, extra)) in Slot::all(self.bodies.len()).zip(self.bodies.iter().zip(&self.extras)) {
            let alive = self.order.generation(slot).is_some();
            ensure(alive == body.has(flag::ALIVE), "a body in a vacant slot")?;
            if alive {
                validate_flags(body, extra)?;
                validate_ranges(body, extra)?;
                self.validate_motion(body, extra)?;
            }
        }
        Ok(())
    }

    /// Checks limits that depend on the settings and on the rate.
    fn validate_motion(&self, body: &Body, extra: &Extra) -> Result<(), InvalidState> {
        let max = self.settings.max_speed;
        ensure(body.velocity.iter().all(|v| (-max..=max).contains(v)), "a velocity out of range")?;
        let bounds = &self.settings.bounds;
        let inside = (0..2).all(|x| (bounds.min[x]..=bounds.max[x]).contains(&body.position[x]));
        ensure(inside || !body.has(flag::DYNAMIC | flag::KINEMATIC), "a body outside of the bounds")?;
        let fps = self.clock.fps.max(1);
        for &remainder in body.position_remainder.iter().chain(&body.acceleration_remainder) {
            ensure(u32::from(remainder) < fps, "a remainder not below the rate")?;
        }
        let saved = u32::from(body.friction_remainder) < u32::from(FRICTION_PORTION) * fps;
        ensure(saved, "a remainder of friction not below its portion")?;
        ensure(body.still_ms <= self.settings.sleep_ms.max(1), "a time of stillness")?;
        ensure(body.has(flag::FORCED) || extra.acceleration == [0; 2], "an acceleration without a force")
    }

    fn validate_pairs(&self) -> Result<(), InvalidState> {
        let pairs = self.ignored.as_slice();
        ensure(pairs.len() <= IGNORED_PAIRS_MAX as usize, "too many ignored pairs")?;
        ensure(self.ignored.is_sorted(), "ignored pairs out of order")?;
        let alive = |slot: Slot| self.order.generation(slot).is_some();
        ensure(
            pairs.iter().all(|&SlotPair(a, b)| alive(a) && alive(b)),
            "an ignored pair of a body that is gone",
        )
    }

    fn validate_terrain(&self) -> Result<(), InvalidState> {
        for piece in self.terrain.iter() {
            let alive = self.order.generation(piece.slot).is_some();
            ensure(alive, "terrain in a vacant slot")?;
            ensure(piece.is_shape_of(&self.bodies[piece.slot]), "a body that is not its terrain")?;
            let corners = piece.corners();
            check_points(corners, piece.radius).map_err(|_| InvalidState { what: "a corner of terrain" })?;
            ensure(!piece.is_too_large(), "terrain out of range")?;
            ensure(short_edge(corners, true).is_none(), "an edge of terrain")?;
            let shape = if piece.is_segment() {
                piece.radius == 0
            } else {
                check_convex(corners).is_ok() && !piece.one_sided && piece.links == [Slot::NONE; 2]
            };
            ensure(shape, "a shape of terrain")?;
            for (side, link) in piece.links.into_iter().enumerate().filter(|&(_, link)| link != Slot::NONE) {
                let joined = self.terrain.get(link).is_some_and(|other| {
                    other.is_segment()
                        && other.links[1 - side] == piece.slot
                        && other.corners()[1 - side] == corners[side]
                });
                ensure(joined, "a link of terrain")?;
            }
        }
        let marked = self.bodies.iter().filter(|body| body.has(flag::ALIVE) && body.is_terrain()).count();
        ensure(marked == self.terrain.len() as usize, "a body without its terrain")
    }

    fn validate_removed(&self) -> Result<(), InvalidState> {
        ensure(self.removed.is_sorted_by(|a, b| a.slot < b.slot), "removed bodies out of order")?;
        for removed in &self.removed {
            let body = self.bodies.get(removed.slot.at());
            let gone = body.is_some_and(|b| !b.has(flag::ALIVE) || b.has(flag::FRESH));
            ensure(gone, "a removed body that lives")?;
        }
        Ok(())
    }

    /// Whether a contact may name this slot: a body lives there, or did so after the last step.
    fn is_named(&self, slot: Slot) -> bool {
        self.bodies.get(slot.at()).is_some_and(|b| b.has(flag::ALIVE))
            || self.removed.binary_search_by_key(&slot, |r| r.slot).is_ok()
    }

    fn validate_contacts(&self) -> Result<(), InvalidState> {
        let cache = &self.contacts;
        let mut seen = alloc::vec![false; self.bodies.len()];
        let mut start = 0usize;
        for owner in &cache.owners {
            ensure(self.is_named(owner.slot) && owner.count > 0, "the owner of a contact")?;
            ensure(!core::mem::replace(&mut seen[owner.slot.at()], true), "an owner listed twice")?;
            let end = start.saturating_add(owner.count as usize);
            ensure(end <= cache.contacts.len(), "a count of contacts")?;
            for &other in &cache.contacts.others[start..end] {
                ensure(self.is_named(other) && other != owner.slot, "the other body of a contact")?;
            }
            for impulse in &cache.contacts.impulses[start..end] {
                ensure((0..=IMPULSE_MAX).contains(impulse), "an impulse out of range")?;
            }
            start = end;
        }
        let slides = &cache.contacts.slides;
        ensure(slides.is_empty() || slides.len() == cache.contacts.len(), "a count of friction impulses")?;
        ensure(slides.iter().all(|&slide| is_slide(slide)), "a friction impulse out of range")?;
        ensure(start == cache.contacts.len(), "a contact without an owner")
    }

    fn validate_resting(&self) -> Result<(), InvalidState> {
        let resting = &self.contacts.resting;
        ensure(
            resting.is_sorted_by(|a, b| (a.owner, a.other) < (b.owner, b.other)),
            "resting contacts out of order",
        )?;
        for contact in resting {
            let named = self.is_named(contact.owner) && self.is_named(contact.other);
            ensure(named && contact.owner != contact.other, "a resting contact")?;
            ensure((0..=IMPULSE_MAX).contains(&contact.impulse), "an impulse out of range")?;
            ensure(is_slide(contact.slide), "a friction impulse out of range")?;
        }
        let overlaps = &self.sensors.overlaps;
        ensure(overlaps.is_sorted_by(|a, b| a < b), "overlaps out of order")?;
        for &SlotPair(a, b) in overlaps {
            ensure(a < b && self.is_named(a) && self.is_named(b), "an overlap")?;
        }
        Ok(())
    }

    /// Each pair has one contact at most: of moving bodies or at rest, with either of the two as its owner.
    fn validate_listed_once(&self) -> Result<(), InvalidState> {
        let mut pairs: Vec<_> = self.contacts.iter().map(|c| SlotPair::of(c.owner, c.other)).collect();
        SlotPair::sort(&mut pairs);
        ensure(pairs.is_sorted_by(|a, b| a < b), "a contact listed twice")
    }
}

/// Refuses corners and radii that no definition of terrain can have.
pub(crate) fn check_points(corners: &[[i32; 2]], radius: i32) -> Result<(), SnapshotError> {
    let position = raw(POSITION_MAX);
    let near = corners.as_flattened().iter().all(|c| (-position..=position).contains(c));
    if near && (0..=raw(EXTENT_MAX)).contains(&radius) {
        Ok(())
    } else {
        Err(SnapshotError::Invalid { what: "a corner of terrain" })
    }
}

fn ensure(holds: bool, what: &'static str) -> Result<(), InvalidState> {
    if holds { Ok(()) } else { Err(InvalidState { what }) }
}

/// Refuses flags that contradict each other or the values that they describe.
fn validate_flags(body: &Body, extra: &Extra) -> Result<(), InvalidState> {
    let is = |f: u32| body.has(f);
    let movable = is(flag::DYNAMIC | flag::KINEMATIC);
    let mut followed = *body;
    followed.follow(extra);
    ensure(followed == *body, "a flag that does not follow from its field")?;
    ensure(!(is(flag::DYNAMIC) && is(flag::KINEMATIC)), "a body both dynamic and kinematic")?;
    ensure(!is(flag::AWAKE) || (movable && !is(flag::DISABLED)), "a body awake that cannot move")?;
    ensure(!is(flag::FORCED) || (is(flag::DYNAMIC) && is(flag::AWAKE)), "a force on a body that takes none")?;
    let moving = body.velocity != [0; 2];
    ensure(!moving || (movable && is(flag::AWAKE | flag::DISABLED)), "a velocity of a body at rest")?;
    ensure(extra.choices & !choice::ALL == 0, "an unknown choice of a body")?;
    ensure(extra.choices & choice::ANCHORED != 0 || extra.anchor == [0; 2], "an anchor that does not count")?;
    ensure(i8::try_from(extra.dominance).is_ok(), "a dominance out of range")?;
    let mass = i64::from(body.mass);
    let heavy = (MASS_MIN.to_bits()..=MASS_MAX.to_bits()).contains(&mass);
    ensure(if is(flag::DYNAMIC) { heavy } else { mass == 0 }, "a mass out of range")
}

fn validate_ranges(body: &Body, extra: &Extra) -> Result<(), InvalidState> {
    let position = raw(POSITION_MAX);
    ensure(body.position.iter().all(|p| (-position..=position).contains(p)), "a position out of range")?;
    let extents = raw(EXTENT_MIN)..=raw(EXTENT_MAX);
    let tag = ShapeTag::of(body.flags).ok_or(InvalidState { what: "an unknown shape of a body" })?;
    let shape = match tag {
        ShapeTag::Circle => extents.contains(&body.radius) && body.half == [0; 2],
        ShapeTag::Rect => body.half.iter().all(|h| extents.contains(h)) && body.radius == 0,
        // With its piece.
        ShapeTag::Terrain => true,
    };
    ensure(shape, "a shape out of range")?;
    let speed = raw(SPEED_MAX);
    ensure((0..=1 << 16).contains(&body.restitution), "a restitution out of range")?;
    ensure((0..=speed).contains(&body.ground_friction), "a ground friction out of range")?;
    ensure((0..=raw(FRICTION_MAX)).contains(&extra.friction), "a friction out of range")?;
    ensure((0..=speed).contains(&extra.damping), "a damping out of range")?;
    ensure(
        extra.max_speed == i32::MAX || (0..=speed).contains(&extra.max_speed),
        "a speed limit out of range",
    )
}

/// Whether a friction impulse can have this value.
fn is_slide(impulse: i32) -> bool {
    (-IMPULSE_MAX..=IMPULSE_MAX).contains(&impulse)
}
