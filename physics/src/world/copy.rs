//! A world in the place of another one.

use crate::world::World;

/// A copy goes on like the world that it was made of: the same calls give the same bits, events and results of queries.
impl Clone for World {
    fn clone(&self) -> Self {
        let mut copy = Self::with_settings(self.settings, self.seed, self.stepper.path);
        copy.clone_from(self);
        copy
    }

    /// Makes this world a copy of another one, in the memory that it has: for rollback and prediction, which go back to a kept state many times
    /// per second.
    ///
    /// It costs much less than [`World::snapshot`] and [`World::restore`], because nothing is written as bytes and nothing derived is computed
    /// anew: 10,000 bodies in contact take about a tenth of a millisecond. It allocates only while the copy has less room than the source needs.
    /// What the world was before does not matter; it may come from another [`crate::WorldDef`].
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let ball = world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(1, 0)))?;
    /// let mut kept = world.clone();
    /// // The truth turns out to be another one: back, and once more.
    /// world.step(20)?;
    /// world.clone_from(&kept);
    /// world.set_velocity(ball, Vec2::from_ints(0, 5))?;
    /// world.step(20)?;
    /// kept.set_velocity(ball, Vec2::from_ints(0, 5))?;
    /// kept.step(20)?;
    /// assert_eq!(world.checksum(), kept.checksum());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn clone_from(&mut self, source: &Self) {
        let Self {
            settings,
            seed,
            clock,
            rng,
            order,
            bodies,
            extras,
            contacts,
            sensors,
            removed,
            ignored,
            terrain,
            ever,
            previous,
            activity,
            resting,
            stepper,
            events,
            scratch: _,
        } = source;
        (self.settings, self.seed, self.clock, self.ever) = (*settings, *seed, *clock, *ever);
        self.rng.clone_from(rng);
        self.order.clone_from(order);
        self.bodies.clone_from(bodies);
        self.extras.clone_from(extras);
        self.contacts.clone_from(contacts);
        self.sensors.clone_from(sensors);
        self.removed.clone_from(removed);
        self.ignored.clone_from(ignored);
        self.terrain.clone_from(terrain);
        self.previous.clone_from(previous);
        self.activity.clone_from(activity);
        self.resting.clone_from(resting);
        self.stepper.copy_lasting(stepper);
        self.events.clone_from(events);
    }
}
