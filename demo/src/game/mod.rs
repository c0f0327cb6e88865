//! The battle: a deterministic simulation in integers. It draws nothing, reads no clock and knows no network.
//!
//! Armies of discs march, push and fight on a field with rocks and boulders. Who falls is replaced by a reinforcement from the
//! army's keep. Everything that happens follows from the [`Setup`] and the players' [`Order`]s.

mod army;
mod checksum;
mod combat;
mod command;
mod dice;
mod fault;
mod field;
mod grid;
mod look;
mod march;
mod order;
mod point;
mod rate;
mod setup;
mod unit;

#[cfg(test)]
mod tests;

use testudo_lockstep::{PlayerId, Simulation, Turn};
use testudo_physics::{Aabb, BodyDef, Shape, World, WorldDef};

use army::Army;
pub(crate) use dice::Dice;
pub(crate) use fault::{BodyField, BodyState, FaultError};
use field::{BOULDER_RADIUS, Field, KEEP_HALF};
use grid::Grid;
pub(crate) use look::{Scenery, UnitLook};
pub(crate) use order::{Area, Command, Order, Place, RANGES_MAX, Ranges, Selection};
pub(crate) use point::{Point, UNIT};
use rate::Rate;
pub(crate) use setup::{ARMIES_MAX, Setup, SetupError, UNITS_MAX};
pub(crate) use unit::guards;
use unit::{Kind, Task, Unit};

/// Control groups that every army has from the start.
pub(crate) const LEFT_WING: u8 = 1;
/// The other half of the guards.
pub(crate) const RIGHT_WING: u8 = 2;
/// All archers.
pub(crate) const ARCHERS: u8 = 3;

/// Weight and grip of boulders: heavy enough to need several units.
const BOULDER_MASS: i32 = 6 * UNIT;
const BOULDER_FRICTION: i32 = 4 * UNIT;

/// User value of bodies that are no units.
const NO_UNIT: u64 = u64::MAX;

/// A match in progress.
#[derive(Clone)]
pub(crate) struct Game {
    setup: Setup,
    field: Field,
    world: World,
    /// Frames simulated so far.
    frame: u64,
    dice: Dice,
    armies: Vec<Army>,
    /// Unit `index` of army `n` is number `n * setup.units + index`, alive or not.
    units: Vec<Unit>,
    /// Hash of the state after the last frame, the checksum of the frame before included: it covers every frame so far.
    checksum: u64,
    scratch: Scratch,
}

/// Buffers of one frame.
// not state: written anew before they are read in every frame
#[derive(Clone)]
struct Scratch {
    /// By unit number; only those of living units mean something.
    places: Vec<Point>,
    grid: Grid,
    dead: Vec<u32>,
    chosen: Vec<u32>,
    bytes: Vec<u8>,
}

impl Game {
    /// A match before its first frame.
    ///
    /// # Errors
    /// A setting out of range.
    pub(crate) fn new(setup: Setup) -> Result<Self, SetupError> {
        setup.check()?;
        let field = Field::new(&setup);
        let corner = Point { x: field.half, y: field.half };
        let bounds = Aabb { min: Point { x: -corner.x, y: -corner.y }.to_vec2(), max: corner.to_vec2() };
        let count = u32::from(setup.players) * setup.units;
        let mut game = Self {
            world: World::new(WorldDef::new().bounds(bounds).seed(setup.seed))?,
            frame: 0,
            dice: Dice::new(setup.seed),
            armies: vec![Army::default(); usize::from(setup.players)],
            units: (0..count).map(|number| recruit(&setup, &field, number)).collect(),
            checksum: 0,
            scratch: Scratch {
                places: vec![Point::ZERO; count as usize],
                grid: Grid::new(field.half),
                dead: Vec::new(),
                chosen: Vec::new(),
                bytes: Vec::new(),
            },
            setup,
            field,
        };
        game.furnish()?;
        for number in 0..count {
            game.enlist(number)?;
        }
        game.checksum = game.hash_state();
        Ok(game)
    }

    /// Boulders, rocks and keeps.
    fn furnish(&mut self) -> Result<(), SetupError> {
        let raw = march::raw;
        for boulder in &self.field.boulders {
            let body = BodyDef::dynamic(Shape::Circle { radius: raw(BOULDER_RADIUS) })
                .position(boulder.to_vec2())
                .mass(raw(BOULDER_MASS))
                .ground_friction(raw(BOULDER_FRICTION));
            self.world.create_body(&body.user(NO_UNIT))?;
        }
        let keep = Point { x: KEEP_HALF, y: KEEP_HALF };
        let keeps = self.field.bases.iter().map(|base| (base.keep, keep));
        for (centre, half) in self.field.rocks.iter().map(|rock| (rock.centre, rock.half)).chain(keeps) {
            let body = BodyDef::fixed(Shape::Rect { half_extents: half.to_vec2() });
            self.world.create_body(&body.position(centre.to_vec2()).user(NO_UNIT))?;
        }
        Ok(())
    }

    /// What the match started from.
    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The bodies, their contacts and the events of the last frame.
    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// Enemies that an army has beaten, and units that it has lost.
    pub(crate) fn score(&self, army: u8) -> (u32, u32) {
        self.armies.get(usize::from(army)).map_or((0, 0), |army| (army.kills, army.losses))
    }

    /// Where an army formed up at first, and where its reinforcements arrive.
    pub(crate) fn base(&self, army: u8) -> Option<Point> {
        self.field.bases.get(usize::from(army)).map(|base| base.centre)
    }

    /// Half of the side of the formation that a full army stands in, raw.
    pub(crate) fn formation_half(&self) -> i32 {
        self.field.files as i32 * field::SPACING / 2
    }

    /// Living units of an army and the middle of their places; none if nobody lives.
    pub(crate) fn middle(&self, army: u8) -> Option<(u32, Point)> {
        let first = (u32::from(army) * self.setup.units) as usize;
        let units = self.units.get(first..first + self.setup.units as usize)?;
        let (mut count, mut x, mut y) = (0_u32, 0_i64, 0_i64);
        for place in units.iter().filter_map(|unit| self.world.body(unit.body?)).map(|body| body.position()) {
            count += 1;
            x += place.x.to_bits();
            y += place.y.to_bits();
        }
        let mean = |sum: i64| (sum / i64::from(count)) as i32;
        (count > 0).then(|| (count, Point { x: mean(x), y: mean(y) }))
    }

    /// Where a living unit is now.
    fn place_of(&self, unit: u32) -> Option<Point> {
        let body = self.world.body(self.units.get(unit as usize)?.body?)?;
        Some(Point::from_vec2(body.position()))
    }
}

impl Simulation for Game {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        self.obey(player.0, order);
    }

    fn step(&mut self, frames_per_second: u32) {
        self.survey();
        self.look_around();
        self.fight(frames_per_second);
        self.bury();
        self.march(frames_per_second);
        self.reinforce(frames_per_second);
        let stepped = self.world.step(frames_per_second);
        debug_assert!(stepped.is_ok(), "{stepped:?}");
        self.frame += 1;
        self.checksum = self.hash_state();
    }

    /// Covers every frame so far, so a turn's checksum covers all its frames, and a difference never heals.
    fn checksum(&self) -> u64 {
        self.checksum
    }

    /// The army stays and holds its ground.
    fn player_gone(&mut self, player: PlayerId, _: Turn) {
        if let Some(army) = self.armies.get_mut(player.index()) {
            army.is_gone = true;
            self.obey(player.0, &Order { units: Selection::All, command: Command::Stop });
        }
    }
}

/// A unit that is not in the world yet.
fn recruit(setup: &Setup, field: &Field, number: u32) -> Unit {
    let index = number % setup.units;
    let kind = Kind::of(index, setup.units);
    let group = match kind {
        Kind::Archer => ARCHERS,
        Kind::Guard if index % field.files < field.files.div_ceil(2) => LEFT_WING,
        Kind::Guard => RIGHT_WING,
    };
    Unit {
        army: (number / setup.units) as u8,
        kind,
        groups: 1 << group,
        body: None,
        hit_points: 0,
        blows: Rate::default(),
        task: Task::Hold,
        target: None,
    }
}
