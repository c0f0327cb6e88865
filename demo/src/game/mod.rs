//! The battle: armies of units that march, push and fight. Integers only; the same orders give the same bits everywhere.
//!
//! One frame is a list of phases ([`Battle::step`]): look for enemies, decide where to go, fight, let the physics move
//! everybody, bury the dead and send reinforcements. Views read `&Battle`; only orders change it.

mod checksum;
mod combat;
mod field;
mod grid;
mod order;
mod unit;

use testudo_lockstep::{PlayerId, Simulation};
use testudo_physics::{BodyId, World, WorldError};

pub use field::Field;
pub use order::{Order, Selection};
pub use unit::Unit;

use grid::Grid;

/// Control groups that every army is divided into at the start.
pub const GROUPS: u8 = 4;

/// How a battle begins. Everything in it must be equal on all peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Armies, 1..=16.
    pub players: u8,
    /// Units of each army, 1..=100,000.
    pub units: u32,
    /// Seed of the field and of all chance in the battle.
    pub seed: u64,
}

/// What an army has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Army {
    /// Enemy units destroyed.
    pub kills: u64,
    /// Own units lost.
    pub losses: u64,
    /// Whether its player has left; its units then hold their ground.
    pub gone: bool,
}

/// The whole state of a battle.
#[derive(Clone, Debug)]
pub struct Battle {
    setup: Setup,
    field: Field,
    world: World,
    /// All units, army by army; a unit keeps its number for the whole battle, dead or alive.
    units: Vec<Unit>,
    armies: Vec<Army>,
    frame: u32,
    // Scratch, not state.
    grid: Grid,
    hits: Vec<combat::Hit>,
}

impl Battle {
    /// Lays out the field and the armies.
    ///
    /// # Errors
    /// Only when the physics refuses its settings, which no setup in range brings about.
    pub fn new(setup: Setup) -> Result<Self, WorldError> {
        let field = Field::new(setup);
        let mut world = field.world(setup.seed)?;
        field.build_obstacles(&mut world);
        let mut units = Vec::with_capacity(usize::from(setup.players) * setup.units as usize);
        for player in 0..setup.players {
            for number in 0..setup.units {
                let mut unit = Unit::new(player, group_of(number, setup.units));
                let id = units.len() as u32;
                unit.body = unit::spawn(&mut world, id, player, field.place(player, number));
                units.push(unit);
            }
        }
        let armies = vec![Army::default(); usize::from(setup.players)];
        let (grid, hits) = (Grid::default(), Vec::new());
        Ok(Self { setup, field, world, units, armies, frame: 0, grid, hits })
    }

    /// How the battle began.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// The field's measures and the armies' bases.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// The physical world, to read.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The physical world, to change it: fault injection only.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// All units by number; army `p` has `p * units .. (p + 1) * units`.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The armies by player.
    pub fn armies(&self) -> &[Army] {
        &self.armies
    }

    /// Frames so far.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// The unit that a body belongs to, or `None` for buildings.
    pub fn unit_of_body(&self, id: BodyId) -> Option<u32> {
        let user = self.world.body(id)?.user();
        user.checked_sub(1).map(|unit| unit as u32)
    }

    /// Numbers of a player's units.
    fn own_units(&self, player: u8) -> std::ops::Range<usize> {
        let count = self.setup.units as usize;
        usize::from(player) * count..(usize::from(player) + 1) * count
    }
}

/// The control group that a unit starts in: quarters of the army.
fn group_of(number: u32, units: u32) -> u8 {
    (u64::from(number) * u64::from(GROUPS) / u64::from(units)) as u8
}

impl Simulation for Battle {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        if player.0 < self.setup.players {
            self.carry_out(player.0, order);
        }
    }

    fn step(&mut self, frames_per_second: u32) {
        self.look_for_enemies();
        self.march();
        self.fight(frames_per_second);
        // The rate is one of the session's settings, which were validated in the same range.
        let stepped = self.world.step(frames_per_second);
        debug_assert!(stepped.is_ok());
        self.bury_and_reinforce(frames_per_second);
        self.frame = self.frame.wrapping_add(1);
    }

    fn checksum(&self) -> u64 {
        checksum::of(self)
    }

    fn player_gone(&mut self, player: PlayerId, _turn: testudo_lockstep::Turn) {
        if let Some(army) = self.armies.get_mut(usize::from(player.0)) {
            army.gone = true;
        }
    }
}
