//! Units: what they are told, and how they come to the field.

use testudo_physics::{BodyDef, BodyId, Filter, Fx, Shape, Vec2, World};

/// Radius of a unit, units of length.
pub const RADIUS: Fx = Fx::from_bits(1 << 15);
/// Marching speed, raw units per second: 3 units/s.
pub const SPEED: i64 = 3 << 16;
/// Hit points of a fresh unit.
pub const HIT_POINTS: i32 = 100;
/// Damage per second that a unit deals to the enemy it fights.
pub const DAMAGE_PER_SECOND: u32 = 24;
/// Ground friction of a unit that nobody drives, units/s^2: it stops within a fraction of a second.
const GROUND_FRICTION: Fx = Fx::const_from_int(12);

/// What a unit was told to do. Places are whole units of length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Stand, and fight what comes close.
    #[default]
    Hold,
    /// Go there and look neither left nor right.
    Move {
        /// Where to.
        to: [i16; 2],
        /// Close enough: distance at which the unit has arrived.
        within: u16,
    },
    /// Go there and fight what comes into sight on the way.
    AttackMove {
        /// Where to.
        to: [i16; 2],
        /// Close enough.
        within: u16,
    },
}

/// One unit, alive or waiting to return as a reinforcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Player it belongs to.
    pub player: u8,
    /// Control group.
    pub group: u8,
    /// What it was told.
    pub task: Task,
    /// Its body, while it lives.
    pub body: Option<BodyId>,
    /// Hit points left; at 0 it dies at the end of the frame.
    pub hit_points: i32,
    /// Number of the enemy it fights, if any.
    pub target: Option<u32>,
    /// Frames until it returns, while it is dead.
    pub returns_in: u32,
    /// Damage carried over: remainder of damage per second / frames per second, below the frames per second.
    pub damage_rest: u32,
}

impl Unit {
    /// A fresh unit without a body.
    pub fn new(player: u8, group: u8) -> Self {
        Self {
            player,
            group,
            task: Task::Hold,
            body: None,
            hit_points: HIT_POINTS,
            target: None,
            returns_in: 0,
            damage_rest: 0,
        }
    }
}

/// Puts a unit's body on the field. The user value is the unit's number plus one; buildings have 0.
pub fn spawn(world: &mut World, unit: u32, player: u8, place: Vec2) -> Option<BodyId> {
    let def = BodyDef::dynamic(Shape::Circle { radius: RADIUS })
        .position(place)
        .ground_friction(GROUND_FRICTION)
        .user(u64::from(unit) + 1)
        .filter(Filter::default());
    let body = world.create_body(&def);
    debug_assert!(body.is_ok(), "player {player}'s unit {unit} at {place:?}: {body:?}");
    body.ok()
}
