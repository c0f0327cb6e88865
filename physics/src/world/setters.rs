//! Changing bodies between steps. Every call either takes effect in the next step or returns an error and changes nothing.

use crate::body::def::{BodyError, BodyKind, check, check_axes, check_mass, check_material, check_shape};
use crate::body::filter::Filter;
use crate::body::id::BodyId;
use crate::body::material::Material;
use crate::body::record::{Body, Extra, flag, halves, raw, raw2};
use crate::body::shape::Shape;
use crate::body::slot::Slot;
use crate::math::aabb::Aabb;
use crate::math::axes::{both, each_axis};
use crate::math::num::{FPS_MAX, Fx, POSITION_MAX, SPEED_MAX};
use crate::math::vec2::Vec2;
use crate::world::World;
use crate::world_def::{WorldError, check_bounds, check_gravity};

impl World {
    /// Sets the velocity, units per second, clamped to the world's greatest speed. A velocity other than zero wakes the body. Static bodies
    /// ignore it.
    ///
    /// # Errors
    /// Stale handle, or a component beyond +-1,024.
    #[inline]
    pub fn set_velocity(&mut self, id: BodyId, velocity: Vec2) -> Result<(), BodyError> {
        check_axes("velocity", velocity, SPEED_MAX)?;
        let slot = self.slot(id)?;
        self.put_velocity(slot, raw2(velocity));
        Ok(())
    }

    /// Sets the velocity that takes a kinematic body to `target` in one step of `1 / frames_per_second` seconds; it pushes what is in its
    /// path. If the world's greatest speed does not reach that far, it moves only a part of the distance. The velocity persists: call this before
    /// every step, and call it with the body's own position to stop it. Other bodies ignore it.
    ///
    /// # Errors
    /// Stale handle, a component of `target` beyond +-16,384, or frames per second outside of 1..=1,000.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let lift = world.create_body(&BodyDef::kinematic(Shape::rect(Fx::ONE, Fx::ONE)))?;
    /// for x in 1..10 {
    ///     world.move_kinematic(lift, Vec2::from_ints(x, 0), 30)?;
    ///     world.step(30)?;
    ///     assert_eq!(world.body(lift).unwrap().position(), Vec2::from_ints(x, 0));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn move_kinematic(
        &mut self,
        id: BodyId,
        target: Vec2,
        frames_per_second: u32,
    ) -> Result<(), BodyError> {
        check_axes("target", target, POSITION_MAX)?;
        let fps = Fx::from_num(frames_per_second);
        check("frames_per_second", fps, Fx::ONE, Fx::from_num(FPS_MAX))?;
        let slot = self.slot(id)?;
        let body = &self.bodies[slot];
        if body.has(flag::KINEMATIC) {
            let target = raw2(target);
            let velocity = each_axis(|x| {
                let way = i64::from(target[x]) - i64::from(body.position[x]);
                (way * i64::from(frames_per_second)).clamp(-SPEED_RAW, SPEED_RAW) as i32
            });
            self.put_velocity(slot, velocity);
        }
        Ok(())
    }

    /// Moves the body at once, without sweeping the space in between. Sleeping bodies at the old and the new position wake up. A body that
    /// can move is placed at the nearest point within the world's bounds.
    ///
    /// # Errors
    /// Stale handle, terrain, or a component beyond +-16,384.
    pub fn set_position(&mut self, id: BodyId, position: Vec2) -> Result<(), BodyError> {
        check_axes("position", position, POSITION_MAX)?;
        self.refuse_terrain(id)?;
        self.put_position(id.slot(), raw2(position));
        Ok(())
    }

    /// Moves a body at once, to the nearest point within the world's bounds if it can move.
    fn put_position(&mut self, slot: Slot, position: [i32; 2]) {
        let takes_part = !self.bodies[slot].has(flag::DISABLED);
        if takes_part {
            self.wake_neighbours(slot);
        }
        let body = &mut self.bodies[slot];
        body.position = position;
        body.position_remainder = [0; 2];
        self.hold_inside(slot);
        self.previous[slot.at()] = self.bodies[slot].position;
        if takes_part {
            self.moved_by_hand(slot);
            self.wake_neighbours(slot);
            self.wake(slot);
        }
    }

    /// Changes the velocity of a dynamic body by `impulse / mass`, at once. The result is clamped to the greatest speed.
    ///
    /// # Errors
    /// Stale handle, or a component beyond +-16,777,216 (units times mass per second).
    pub fn apply_impulse(&mut self, id: BodyId, impulse: Vec2) -> Result<(), BodyError> {
        check_axes("impulse", impulse, IMPULSE_MAX)?;
        let slot = self.slot(id)?;
        let body = &self.bodies[slot];
        if body.has(flag::DYNAMIC) && impulse != Vec2::ZERO {
            let change = raw_over_mass(impulse, body.mass);
            let velocity =
                each_axis(|x| (i64::from(body.velocity[x]) + change[x]).clamp(-SPEED_RAW, SPEED_RAW) as i32);
            self.put_velocity(slot, velocity);
        }
        Ok(())
    }

    /// Accelerates a dynamic body by `force / mass` during the next step; several forces add up. Disabled bodies ignore it. After each call the sum is at
    /// most 32,768 units/s^2 on each axis, and a step uses at most 16,384: for blows to light bodies use [`apply_impulse`](Self::apply_impulse).
    ///
    /// # Errors
    /// Stale handle, or a component beyond +-16,777,216 (units times mass per second squared).
    pub fn apply_force(&mut self, id: BodyId, force: Vec2) -> Result<(), BodyError> {
        check_axes("force", force, IMPULSE_MAX)?;
        let slot = self.slot(id)?;
        let body = &mut self.bodies[slot];
        if body.has(flag::DYNAMIC) && !body.has(flag::DISABLED) && force != Vec2::ZERO {
            let change = raw_over_mass(force, body.mass);
            let sum = &mut self.extras[slot].acceleration;
            *sum = each_axis(|x| {
                (i64::from(sum[x]) + change[x]).clamp(-i64::from(i32::MAX), i64::from(i32::MAX)) as i32
            });
            body.set(flag::FORCED, true);
            self.note_extra(slot);
            self.wake(id.slot());
        }
        Ok(())
    }

    /// Sets the user value.
    ///
    /// # Errors
    /// Stale handle.
    pub fn set_user(&mut self, id: BodyId, user: u64) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.change(slot, |_, extra| extra.user = halves(user));
        Ok(())
    }

    /// Sets layers and mask from the next step on; queries see them at once.
    ///
    /// # Errors
    /// Stale handle.
    pub fn set_filter(&mut self, id: BodyId, filter: Filter) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.change_contacts(slot, |body, _| body.filter = [filter.layers, filter.mask]);
        Ok(())
    }

    /// Turns a body into a sensor, which only reports overlaps, or back into a solid body.
    ///
    /// # Errors
    /// Stale handle, or terrain.
    pub fn set_sensor(&mut self, id: BodyId, sensor: bool) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.refuse_terrain(id)?;
        self.change_contacts(slot, |body, _| body.set(flag::SENSOR, sensor));
        Ok(())
    }

    /// Sets the mass of a dynamic body. Other bodies ignore it.
    ///
    /// # Errors
    /// Stale handle, or a mass outside of 1/256..=16,384.
    pub fn set_mass(&mut self, id: BodyId, mass: Fx) -> Result<(), BodyError> {
        check_mass(mass)?;
        let slot = self.slot(id)?;
        if self.bodies[slot].has(flag::DYNAMIC) {
            self.change_contacts(slot, |body, _| body.mass = mass.to_bits() as u32);
        }
        Ok(())
    }

    /// Sets the rank in contacts, see [`BodyDef::dominance`](crate::BodyDef::dominance). Bodies that are not dynamic store it, and it applies
    /// once they become dynamic.
    ///
    /// # Errors
    /// Stale handle.
    pub fn set_dominance(&mut self, id: BodyId, dominance: i8) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.change_contacts(slot, |_, extra| extra.dominance = dominance.into());
        Ok(())
    }

    /// Sets restitution, frictions and damping.
    ///
    /// # Errors
    /// Stale handle, or a value out of the range that [`Material`] documents.
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), BodyError> {
        check_material(material)?;
        let slot = self.slot(id)?;
        self.change_contacts(slot, |body, extra| {
            body.restitution = raw(material.restitution);
            body.ground_friction = raw(material.ground_friction);
            extra.friction = raw(material.friction);
            extra.damping = raw(material.damping);
        });
        Ok(())
    }

    /// Sets the damping alone, 1/s; see [`Material::damping`].
    ///
    /// # Errors
    /// Stale handle, or a value outside of 0..=1,024.
    pub fn set_damping(&mut self, id: BodyId, damping: Fx) -> Result<(), BodyError> {
        check("damping", damping, Fx::ZERO, SPEED_MAX)?;
        let slot = self.slot(id)?;
        self.change(slot, |_, extra| extra.damping = raw(damping));
        Ok(())
    }

    /// Sets the greatest speed after a step ([`BodyDef::max_speed`](crate::BodyDef::max_speed)), units per second; `None` leaves only the world's limit per
    /// axis.
    ///
    /// # Errors
    /// Stale handle, or a speed outside of 0..=1,024.
    pub fn set_max_speed(&mut self, id: BodyId, max_speed: Option<Fx>) -> Result<(), BodyError> {
        if let Some(speed) = max_speed {
            check("max_speed", speed, Fx::ZERO, SPEED_MAX)?;
        }
        let slot = self.slot(id)?;
        self.change(slot, |_, extra| extra.max_speed = max_speed.map_or(i32::MAX, raw));
        Ok(())
    }

    /// Sets the axes along which contacts do not move the body.
    ///
    /// # Errors
    /// Stale handle.
    pub fn set_locked_axes(&mut self, id: BodyId, lock_x: bool, lock_y: bool) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.change_contacts(slot, |body, _| {
            body.set(flag::LOCK_X, lock_x);
            body.set(flag::LOCK_Y, lock_y);
        });
        Ok(())
    }

    /// Changes the kind of the body. Its contacts end and begin again in the next step. Sleeping bodies that it touches wake up, also beneath a sensor.
    ///
    /// A body that becomes dynamic has mass 1 until [`World::set_mass`] changes it. A body that becomes static loses its velocity. A body
    /// that stops being dynamic loses its mass and the forces that wait for the next step. A body that becomes able to move is moved into
    /// the world's bounds at once.
    ///
    /// # Errors
    /// Stale handle, or terrain.
    pub fn set_kind(&mut self, id: BodyId, kind: BodyKind) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.refuse_terrain(id)?;
        if self.body_ref(id.slot()).kind() == kind {
            return Ok(());
        }
        let takes_part = !self.bodies[slot].has(flag::DISABLED);
        if takes_part {
            self.leave(id.slot());
        }
        self.note_removed(id);
        self.put_kind(slot, kind);
        self.hold_inside(slot);
        self.previous[slot.at()] = self.bodies[slot].position;
        self.note_extra(slot);
        if takes_part {
            self.enter(id.slot());
        }
        Ok(())
    }

    /// Changes the kind of a body that takes no part at the moment. The body then counts as new.
    fn put_kind(&mut self, slot: Slot, kind: BodyKind) {
        self.drop_forces(slot);
        let body = &mut self.bodies[slot];
        if !body.has(flag::FRESH) {
            body.set(flag::FRESH, true);
            self.activity.fresh.push(slot);
        }
        body.set(flag::DYNAMIC, kind == BodyKind::Dynamic);
        body.set(flag::KINEMATIC, kind == BodyKind::Kinematic);
        body.mass = if kind == BodyKind::Dynamic { Fx::ONE.to_bits() as u32 } else { 0 };
        (body.acceleration_remainder, body.friction_remainder, body.still_ms) = ([0; 2], 0, 0);
        if kind == BodyKind::Static {
            (body.velocity, body.position_remainder) = ([0; 2], [0; 2]);
        }
    }

    /// Forgets the forces that wait for the next step.
    pub(super) fn drop_forces(&mut self, slot: Slot) {
        self.change(slot, |body, extra| {
            body.set(flag::FORCED, false);
            extra.acceleration = [0; 2];
        });
    }

    /// Sets the acceleration of every dynamic body, units/s^2. Wakes all sleeping bodies, unless the value stays the same.
    ///
    /// # Errors
    /// A component beyond +-1,024.
    pub fn set_gravity(&mut self, gravity: Vec2) -> Result<(), WorldError> {
        check_gravity(gravity)?;
        if self.settings.gravity != raw2(gravity) {
            let was_soft = self.settings.is_soft();
            self.settings.gravity = raw2(gravity);
            if self.settings.is_soft() != was_soft {
                // Both kinds of solving mean different things by an impulse: a frame's, or a sub-step's of a spring.
                self.contacts.scale_impulses(0, 1);
            }
            for slot in Slot::all(self.bodies.len()) {
                if self.bodies[slot].has(flag::DYNAMIC) {
                    self.wake(slot);
                }
            }
        }
        Ok(())
    }

    /// Sets where the centres of bodies that can move are held, units. Bodies beyond the new bounds are placed at the nearest point inside, as by
    /// [`World::set_position`]. Wakes all sleeping bodies, unless the bounds stay the same.
    ///
    /// # Errors
    /// A coordinate beyond +-16,384, or a minimum above its maximum.
    ///
    /// ```
    /// use testudo_physics::{Aabb, BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE)).position(Vec2::from_ints(50, 0));
    /// let disc = world.create_body(&disc)?;
    /// world.set_bounds(Aabb { min: Vec2::from_ints(-20, -20), max: Vec2::from_ints(20, 20) })?;
    /// assert_eq!(world.body(disc).unwrap().position(), Vec2::from_ints(20, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_bounds(&mut self, bounds: Aabb) -> Result<(), WorldError> {
        let bounds = check_bounds(&bounds)?;
        if self.settings.bounds == bounds {
            return Ok(());
        }
        self.settings.bounds = bounds;
        for slot in Slot::all(self.bodies.len()) {
            let body = &self.bodies[slot];
            if !body.has(flag::DYNAMIC | flag::KINEMATIC) {
                continue;
            }
            let position = body.position;
            if (0..2).any(|axis| !(bounds.min[axis]..=bounds.max[axis]).contains(&position[axis])) {
                self.put_position(slot, position);
            }
            self.wake(slot);
        }
        Ok(())
    }

    /// Gives the body another shape with the same centre.
    ///
    /// # Errors
    /// Stale handle, terrain, or an extent outside of 1/1,024..=4,096.
    pub fn set_shape(&mut self, id: BodyId, shape: Shape) -> Result<(), BodyError> {
        check_shape(shape)?;
        self.refuse_terrain(id)?;
        let slot = self.slot(id)?;
        let mut body = self.bodies[slot];
        body.set_shape(&shape);
        if body == self.bodies[slot] {
            return Ok(());
        }
        let takes_part = !body.has(flag::DISABLED);
        if takes_part {
            self.wake_neighbours(slot);
        }
        self.bodies[slot] = body;
        if takes_part {
            self.moved_by_hand(slot);
            self.changed(slot);
        }
        Ok(())
    }

    /// Takes a body out of steps and queries, or puts it back. It keeps its velocity and its position in the order of creation. Waiting forces are
    /// dropped. Sleeping bodies that it touches wake up, also beneath a sensor (which wakes nobody when it is created).
    ///
    /// # Errors
    /// Stale handle.
    pub fn set_enabled(&mut self, id: BodyId, enabled: bool) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        if enabled == self.bodies[slot].has(flag::DISABLED) {
            if enabled {
                self.bodies[slot].set(flag::DISABLED, false);
                self.enter(id.slot());
                self.wake_neighbours(id.slot());
            } else {
                self.leave(id.slot());
                self.drop_forces(slot);
                self.bodies[slot].set(flag::DISABLED, true);
            }
        }
        Ok(())
    }

    /// Wakes a sleeping body and its island. A kinematic body without a velocity sleeps on.
    ///
    /// # Errors
    /// Stale handle.
    pub fn wake_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.slot(id)?;
        self.wake(id.slot());
        Ok(())
    }

    #[inline]
    fn put_velocity(&mut self, slot: Slot, velocity: [i32; 2]) {
        let max = self.settings.max_speed;
        let body = &mut self.bodies[slot];
        if body.has(flag::DYNAMIC | flag::KINEMATIC) {
            body.velocity = both(velocity, |v| v.clamp(-max, max));
            if body.velocity != [0, 0] {
                self.wake(slot);
            }
        }
    }

    /// Changes fields of a body and notes what it has now: otherwise steps and snapshots would leave unusual values out.
    fn change(&mut self, slot: Slot, change: impl FnOnce(&mut Body, &mut Extra)) {
        change(&mut self.bodies[slot], &mut self.extras[slot]);
        self.note_extra(slot);
    }

    /// [`Self::change`] for what affects contacts: if anything is another one now, the body and its neighbours wake.
    fn change_contacts(&mut self, slot: Slot, change: impl FnOnce(&mut Body, &mut Extra)) {
        let before = (self.bodies[slot], self.extras[slot]);
        self.change(slot, change);
        if before != (self.bodies[slot], self.extras[slot]) {
            self.changed(slot);
        }
    }

    /// Call this after a change that affects contacts: it wakes the body and its neighbours.
    pub(super) fn changed(&mut self, slot: Slot) {
        if !self.bodies[slot].has(flag::DISABLED) {
            self.touch(slot);
            self.wake_neighbours(slot);
            self.wake(slot);
        }
    }
}

/// Greatest impulse or force component.
const IMPULSE_MAX: Fx = Fx::const_from_int(1 << 24);

/// [`SPEED_MAX`] in raw units.
const SPEED_RAW: i64 = SPEED_MAX.to_bits();

/// Raw units of `v / mass`, rounded to nearest. `mass` is raw and not zero.
fn raw_over_mass(v: Vec2, mass: u32) -> [i64; 2] {
    let mass = i64::from(mass);
    both([v.x, v.y], |c| {
        let numerator = c.to_bits() << 16;
        let half = if numerator < 0 { -mass / 2 } else { mass / 2 };
        (numerator + half) / mass
    })
}
