//! Pairs of bodies that do not collide.

use crate::body::def::BodyError;
use crate::body::id::BodyId;
use crate::body::slot::SlotPair;
use crate::contact::ignored::IGNORED_PAIRS_MAX;
use crate::world::World;

impl World {
    /// Sets whether two bodies pass through each other from the next step on, whatever their filters say: a rider and the horse, a shot and
    /// the unit that fired it. Neither contacts nor sensors notice the pair; an existing contact ends with an event. Queries are not
    /// affected. Both bodies and the bodies that touch them wake up. The exception ends when one of the two bodies is removed.
    ///
    /// For whole groups, [`Filter`](crate::Filter)s are cheaper: as long as there are exceptions, every contact looks them up.
    ///
    /// # Errors
    /// Stale handle, the same body twice, or more than [`IGNORED_PAIRS_MAX`] pairs.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let horse = world.create_body(&disc)?;
    /// let rider = world.create_body(&disc.position(Vec2::from_ints(1, 0)))?;
    /// world.set_pair_ignored(horse, rider, true)?;
    /// world.step(30)?;
    /// assert_eq!(world.contact_count(), 0);
    /// assert!(world.ignored_pairs().eq([(horse, rider)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_pair_ignored(&mut self, a: BodyId, b: BodyId, ignored: bool) -> Result<(), BodyError> {
        let (slot_a, slot_b) = (self.slot(a)?, self.slot(b)?);
        if a == b {
            return Err(BodyError::SameBody(a));
        }
        let known = self.ignored.contains(a.slot(), b.slot());
        if ignored && !known && self.ignored.as_slice().len() >= IGNORED_PAIRS_MAX as usize {
            return Err(BodyError::TooManyPairs { max: IGNORED_PAIRS_MAX });
        }
        if self.ignored.set(slot_a, slot_b, ignored) {
            self.changed(slot_a);
            self.changed(slot_b);
        }
        Ok(())
    }

    /// Whether two bodies were told to pass through each other. False when one of them is gone.
    #[must_use]
    pub fn is_pair_ignored(&self, a: BodyId, b: BodyId) -> bool {
        self.slot(a).is_ok() && self.slot(b).is_ok() && self.ignored.contains(a.slot(), b.slot())
    }

    /// All pairs that pass through each other, in ascending order of their slots, the lower slot of a pair first.
    pub fn ignored_pairs(&self) -> impl Iterator<Item = (BodyId, BodyId)> + '_ {
        self.ignored.as_slice().iter().map(|&SlotPair(a, b)| (self.body_id(a), self.body_id(b)))
    }
}
