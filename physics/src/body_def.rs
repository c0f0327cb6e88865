//! Body definitions.
use crate::body_id::BodyId;
use crate::filter::Filter;
use crate::material::Material;
use crate::num::Fx;
use crate::shape::Shape;
use crate::vec2::Vec2;
/// Kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BodyKind {
    Static,
    Kinematic,
    Dynamic,
}
/// Def.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct BodyDef {
    pub kind: BodyKind,
    pub shape: Shape,
    pub position: Vec2,
    pub velocity: Vec2,
    pub mass: Fx,
    pub material: Material,
    pub filter: Filter,
    pub sensor: bool,
    pub lock_x: bool,
    pub lock_y: bool,
    pub enabled: bool,
    pub user: u64,
    pub max_speed: Option<Fx>,
}
#[allow(missing_docs)]
impl BodyDef {
    #[must_use]
    pub fn new(kind: BodyKind, shape: Shape) -> Self {
        Self {
            kind,
            shape,
            position: Vec2::ZERO,
            velocity: Vec2::ZERO,
            mass: Fx::ONE,
            material: Material::default(),
            filter: Filter::default(),
            sensor: false,
            lock_x: false,
            lock_y: false,
            enabled: true,
            user: 0,
            max_speed: None,
        }
    }
    #[must_use]
    pub fn fixed(shape: Shape) -> Self {
        Self::new(BodyKind::Static, shape)
    }
    #[must_use]
    pub fn kinematic(shape: Shape) -> Self {
        Self::new(BodyKind::Kinematic, shape)
    }
    #[must_use]
    pub fn dynamic(shape: Shape) -> Self {
        Self::new(BodyKind::Dynamic, shape)
    }
    #[must_use]
    pub fn position(self, position: Vec2) -> Self {
        Self { position, ..self }
    }
    #[must_use]
    pub fn velocity(self, velocity: Vec2) -> Self {
        Self { velocity, ..self }
    }
    #[must_use]
    pub fn restitution(mut self, v: Fx) -> Self {
        self.material.restitution = v;
        self
    }
    #[must_use]
    pub fn friction(mut self, v: Fx) -> Self {
        self.material.friction = v;
        self
    }
    #[must_use]
    pub fn ground_friction(mut self, v: Fx) -> Self {
        self.material.ground_friction = v;
        self
    }
    #[must_use]
    pub fn damping(mut self, v: Fx) -> Self {
        self.material.damping = v;
        self
    }
    #[must_use]
    pub fn mass(self, mass: Fx) -> Self {
        Self { mass, ..self }
    }
    #[must_use]
    pub fn max_speed(self, v: Fx) -> Self {
        Self { max_speed: Some(v), ..self }
    }
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }
    #[must_use]
    pub fn sensor(self, sensor: bool) -> Self {
        Self { sensor, ..self }
    }
    #[must_use]
    pub fn user(self, user: u64) -> Self {
        Self { user, ..self }
    }
    #[must_use]
    pub fn enabled(self, enabled: bool) -> Self {
        Self { enabled, ..self }
    }
    #[must_use]
    pub fn lock_axes(self, lock_x: bool, lock_y: bool) -> Self {
        Self { lock_x, lock_y, ..self }
    }
    pub fn validate(&self) -> Result<(), BodyError> {
        Ok(())
    }
}
/// Error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BodyError {
    Stale(BodyId),
    OutOfRange { field: &'static str },
}
