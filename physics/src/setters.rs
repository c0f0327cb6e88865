//! Changing bodies between steps. Every call either takes effect in the next step or returns an error and changes nothing.

use crate::body::{flag, raw, raw2};
use crate::body_def::BodyError;
use crate::body_id::BodyId;
use crate::filter::Filter;
use crate::num::{Fx, POSITION_MAX, SPEED_MAX};
use crate::vec2::Vec2;
use crate::world::World;

fn check(field: &'static str, v: Vec2, max: Fx) -> Result<(), BodyError> {
    if v.x.abs() <= max && v.y.abs() <= max { Ok(()) } else { Err(BodyError::OutOfRange { field }) }
}

impl World {
    /// Sets the velocity, units per second. A velocity other than zero wakes the body. Static bodies keep still.
    ///
    /// # Errors
    /// Stale handle, or a component beyond +-1,024.
    pub fn set_velocity(&mut self, id: BodyId, velocity: Vec2) -> Result<(), BodyError> {
        check("velocity", velocity, SPEED_MAX)?;
        let slot = self.slot(id)?;
        let max = self.settings.max_speed;
        let body = &mut self.bodies[slot];
        if !body.has(flag::DYNAMIC | flag::KINEMATIC) {
            return Ok(());
        }
        body.velocity = raw2(velocity).map(|v| v.clamp(-max, max));
        if body.velocity != [0, 0] {
            self.wake(id.index());
        }
        Ok(())
    }
}
