//! The battle: a deterministic simulation in integers. It does not draw, reads no clock and does not know the network.
//!
//! Armies of discs march, push and fight on a field with rocks, walls and boulders. Recruits from the army's keep and barracks replace
//! fallen units, as long as these buildings stand and the reserve lasts. An army whose last keep falls is defeated, and so is an
//! army without units and recruits; the last army or team wins. Everything follows from the [`Setup`] and the players' [`Order`]s.

#![deny(unsafe_code, clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]

mod aid;
mod army;
pub mod bots;
mod building;
mod checksum;
mod combat;
mod command;
mod dice;
mod fault;
mod field;
mod grid;
mod kind;
mod look;
mod map;
mod march;
mod order;
mod point;
mod prediction;
mod recruit;
mod rock;
mod selection;
mod setup;
mod teams;
mod terrain;
mod unit;

#[cfg(test)]
mod tests;

use testudo_lockstep::state::{self, Kept};
use testudo_lockstep::{PlayerId, Simulation, Turn};
use testudo_movement::Crowd;
use testudo_physics::{Aabb, Rate, World, WorldDef};

use army::Army;
pub use army::MatchResult;
use building::Building;
pub use dice::Dice;
pub use fault::{BodyField, FaultError};
use field::Field;
use grid::Grid;
use kind::Kind;
pub use kind::Stats;
pub use look::{BuildingLook, Leg, Scenery, UnitLook};
pub use map::{MAP_BYTES_MAX, MAP_NAMES, Map, MapError};
pub use order::{Command, Order};
pub use point::{Point, UNIT, squared};
pub use selection::{Area, GROUPS, OrderPoint, RANGES_MAX, Ranges, SCATTERED, Selection, UnitRange};
pub use setup::{ARMIES_MAX, Setup, SetupError, UNITS_MAX};
pub use teams::{TEAMS_MAX, Teams};
use terrain::Terrain;
use unit::Unit;
pub use unit::{Foe, Stance};

/// Control groups that every army has from the start.
pub const LEFT_WING: u8 = 1;
/// The other half of the guards.
pub const RIGHT_WING: u8 = 2;
/// All archers.
pub const ARCHERS: u8 = 3;

/// Recruits that an army can train during a match, per unit that it starts with.
const RESERVE_PER_UNIT: u32 = 4;

/// The world's margin, raw: less than the gaps in a formation, and more than a unit walks in a frame of 1/20 s, so that no pair of walking
/// units has to be tested along its path.
const MARGIN: i32 = UNIT * 23 / 100;

/// User value of bodies that are not units.
const NO_UNIT: u64 = u64::MAX;

/// A match in progress.
pub struct Game {
    setup: Setup,
    field: Field,
    world: World,
    /// Frames simulated so far.
    frame: u64,
    dice: Dice,
    /// Turns frames into milliseconds.
    clock: Rate,
    /// Since the match began, ms.
    now_ms: u64,
    armies: Vec<Army>,
    teams: Teams,
    /// Buildings of all armies in ascending order, three each. Fallen ones keep their numbers.
    buildings: Vec<Building>,
    /// Where units go, and how they give way to each other. Its ground is that on which they walk.
    crowd: Crowd,
    /// Unit `index` of army `n` is number `n * setup.units + index`, alive or not.
    units: Kept<Unit>,
    /// By unit number: for how long it has run, ms. Here, because it changes in most frames, and the rest of a unit seldom does.
    running_ms: Vec<u16>,
    /// Checksum before the last frame, with what was ordered in between; 0 before the first. So a state is saved between a frame and the next actions.
    before: u64,
    // not state: hash of all of the above, so it covers every frame so far
    checksum: u64,
    // not state: orders or players have changed something since, and no frame has followed, as in a pause
    is_checksum_old: bool,
    // not state: a prediction has no checksums
    is_predicted: bool,
    // not state: orders of an army whose player has left and is replaced by a bot
    stand_in: Option<StandIn>,
    scratch: Scratch,
}

/// The order that a bot gives in a player's place. It must depend on these arguments alone.
pub(crate) type StandIn = fn(&Game, PlayerId, Turn) -> Option<Order>;

/// Buffers of one frame.
// not state: overwritten in every frame before they are read
#[derive(Clone)]
struct Scratch {
    /// By unit number; only those of living units are valid.
    places: Vec<Point>,
    grid: Grid,
    /// By building: an enemy who fights it.
    assailants: Vec<Option<u32>>,
    fallen: Vec<Foe>,
    chosen: Vec<u32>,
    arrived: Vec<u32>,
    /// What the crowd's checksum is computed from.
    hashed: Vec<u8>,
}

impl Game {
    /// [`Simulation::checksum`] without a mutable reference.
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// A match before its first frame.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(setup: Setup) -> Result<Self, SetupError> {
        setup.check()?;
        let field = Field::new(&setup);
        let corner = field.half;
        let bounds = Aabb { min: Point { x: -corner.x, y: -corner.y }.to_vec2(), max: corner.to_vec2() };
        let count = u32::from(setup.players) * setup.units;
        let mut game = Self {
            world: World::new(WorldDef::new().bounds(bounds).margin(march::raw(MARGIN)).seed(setup.seed))?,
            frame: 0,
            dice: Dice::new(setup.seed),
            clock: Rate::new(1_000),
            now_ms: 0,
            armies: field
                .bases
                .iter()
                .map(|base| Army::new(base.centre, setup.units * RESERVE_PER_UNIT))
                .collect(),
            teams: Teams::default(),
            buildings: recruit::buildings(&setup, &field),
            crowd: Crowd::new(&terrain::crowd_def(&field))?,
            units: (0..count)
                .map(|number| {
                    let kind = Kind::of(number % setup.units, setup.units);
                    recruit::dismissed((number / setup.units) as u8, kind)
                })
                .collect::<Vec<_>>()
                .into(),
            running_ms: vec![0; count as usize],
            before: 0,
            checksum: 0,
            is_checksum_old: false,
            is_predicted: false,
            stand_in: None,
            scratch: Scratch {
                places: vec![Point::ZERO; count as usize],
                grid: Grid::new(field.half),
                assailants: vec![None; 3 * usize::from(setup.players)],
                fallen: Vec::new(),
                chosen: Vec::new(),
                arrived: Vec::new(),
                hashed: Vec::new(),
            },
            setup,
            field,
        };
        game.furnish()?;
        game.crowd.survey(&game.world);
        terrain::plant(&mut game.crowd, &game.world, &game.field)?;
        game.enlist_all()?;
        game.checksum = game.hash_state();
        Ok(game)
    }

    /// The setup that the match started from.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// This bot plays for players who have left. In a replay there is none, as its orders are recorded.
    pub fn stand_in(self, bot: StandIn) -> Self {
        Self { stand_in: Some(bot), ..self }
    }

    /// The bodies, their contacts and the events of the last frame.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Where units can walk.
    fn terrain(&self) -> Terrain<'_> {
        Terrain(self.crowd.ground())
    }

    /// Position of a living unit.
    fn place_of(&self, unit: u32) -> Option<Point> {
        let body = self.world.body(self.units.get(unit as usize)?.body?)?;
        Some(Point::from_vec2(body.position()))
    }
}

impl Simulation for Game {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        self.obey(player.0, order);
        self.is_checksum_old = true;
    }

    fn step(&mut self, frames_per_second: u32) {
        if !self.is_predicted {
            // Of the state as it is now: whether somebody asked for it since the last order must not decide.
            self.before = Simulation::checksum(self);
        }
        let elapsed_ms = self.clock.take(frames_per_second) as u16;
        self.now_ms = self.now_ms.saturating_add(elapsed_ms.into());
        self.survey(elapsed_ms);
        self.look_around(elapsed_ms);
        self.fight();
        self.bury();
        self.march(frames_per_second);
        self.train(frames_per_second);
        let stepped = self.world.step(frames_per_second);
        debug_assert!(stepped.is_ok(), "{stepped:?}");
        // Only a damaged state comes near its end.
        self.frame = self.frame.wrapping_add(1);
        if !self.is_predicted {
            self.checksum = self.hash_state();
            self.is_checksum_old = false;
        }
    }

    /// Covers every frame so far, so a turn's checksum covers all of its frames, and a difference never heals. Computed after each frame, after
    /// each walk that writes, and for a turn without frames; never read from a state.
    fn checksum(&mut self) -> u64 {
        if core::mem::take(&mut self.is_checksum_old) {
            self.checksum = self.hash_state();
        }
        self.checksum
    }

    fn result(&self) -> Option<u32> {
        MatchResult::of(&self.armies, &self.teams).map(MatchResult::code)
    }

    /// The army goes on: a bot's orders arrive as its orders from now on.
    fn player_taken_over(&mut self, _: PlayerId, _: Turn) {}

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        if let Some(order) = self.stand_in.and_then(|bot| bot(self, player, turn)) {
            self.apply(player, &order);
        }
    }

    /// The army has its orders from its player again.
    fn player_returned(&mut self, player: PlayerId, _: Turn) {
        if let Some(army) = self.armies.get_mut(player.index()) {
            army.is_gone = false;
        }
        self.is_checksum_old = true;
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        state::save(self, out);
        true
    }

    /// The setup has to be that of the match: peers compare it before they play.
    fn load_state(&mut self, bytes: &[u8]) -> bool {
        state::load(self, bytes).is_ok()
    }

    /// The army stays and holds its position.
    fn player_gone(&mut self, player: PlayerId, _: Turn) {
        if let Some(army) = self.armies.get_mut(player.index()) {
            army.is_gone = true;
            self.obey(player.0, &Order::new(Selection::All, Command::Stop));
        }
        self.is_checksum_old = true;
    }
}
