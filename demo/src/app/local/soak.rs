//! Plays many games at once, on all cores. The results do not depend on the number of cores.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use testudo_lockstep::replay::{Recorded, ReplayHeader};
use testudo_lockstep::testing::soak::{Finding, Plan, SoakGame, SoakReport, play, play_watched};
use testudo_lockstep::{Driver, Instant, PlayerId, Turn};

use crate::app::terms::Terms;
use crate::app::watch::game_copy::GameCopy;
use crate::app::watch::recording::header;
use crate::app::watch::seer::Seer;
use testudo_battle::bots;
use testudo_battle::{Dice, Game, MAP_NAMES, Map, Order, Setup, SetupError};
use testudo_render::clock::{Clock, ThreadClock};

/// Separates the random numbers of a battle's setup from the battle's own.
const SETUP: u64 = 0x736f_616b_206d_6170;

/// ... and from those that say which peers predict.
const SEERS: u64 = 0x736f_616b_2073_6565;

/// A battle of a plan.
pub(crate) struct Battle {
    terms: Terms,
    game: Game,
}

impl Battle {
    /// # Errors
    /// Settings out of range.
    pub(crate) fn new(plan: &Plan) -> Result<Self, SetupError> {
        let terms = terms(plan);
        Ok(Self { terms, game: Game::new(terms.setup)? })
    }
}

/// What is drawn of a battle besides the plan. Small games are cheap, and many of them find more than a few large ones. Three of four games of
/// two players are on a map.
fn terms(plan: &Plan) -> Terms {
    let (seed, players) = (plan.seed(), plan.players());
    let mut dice = Dice::new(seed ^ SETUP);
    let map = Map::numbered(dice.between(0, MAP_NAMES.len() as i32) as usize).filter(|_| players == 2);
    let units = dice.between(20, if players <= 3 { 30 } else { 20 }) as u32;
    Terms { setup: Setup { players, units, seed, map }, turns: plan.turns() }
}

impl SoakGame for Battle {
    type Game = GameCopy;

    fn start(&self) -> GameCopy {
        GameCopy::new(self.game.clone(), None, false)
    }

    fn order(&self, copy: &GameCopy, player: PlayerId, turn: Turn) -> Option<Order> {
        bots::order(copy.game(), player, turn)
    }

    /// Contacts that began.
    fn events(&self, copy: &GameCopy) -> u64 {
        copy.contacts_began
    }

    fn header(&self, _: &Plan) -> ReplayHeader {
        header(&self.terms)
    }
}

/// Predictions of one game: some peers predict, with whatever time they have. They must change nothing, and come true in the end.
struct Seers {
    dice: Dice,
    /// By node; none for a peer that does not predict.
    seers: BTreeMap<u32, Option<Seer>>,
}

impl Seers {
    fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed ^ SEERS), seers: BTreeMap::new() }
    }

    fn watch(&mut self, now: Instant, node: u32, driver: &Driver<Recorded<GameCopy>>) {
        let Self { dice, seers } = self;
        let game = driver.simulation().game().game();
        let draw = || (dice.between(0, 1) == 0).then(|| Seer::new(game));
        let Some(seer) = seers.entry(node).or_insert_with(draw) else { return };
        seer.follow(driver, game, now, self.dice.between(0, 12) as u32);
    }

    /// Peers whose prediction was not the truth when nothing was left to predict.
    fn wrong(&self) -> impl Iterator<Item = u32> {
        let was_wrong = |seer: &Option<Seer>| seer.as_ref().is_some_and(Seer::was_wrong);
        self.seers.iter().filter(move |(_, seer)| was_wrong(seer)).map(|(node, _)| *node)
    }
}

/// A game, and the processor time that it took.
#[derive(Clone, Debug)]
pub(crate) struct PlayedGame {
    pub(crate) report: SoakReport,
    pub(crate) processor_micros: u64,
}

/// All games of a soak, in order of their seeds.
#[derive(Clone, Debug)]
pub(crate) struct SoakOutcome {
    pub(crate) games: Vec<PlayedGame>,
    pub(crate) wall_micros: u64,
    pub(crate) threads: usize,
}

/// Plays a game in which some peers predict.
fn play_foreseen(plan: &Plan, battle: &Battle) -> SoakReport {
    let mut seers = Seers::new(plan.seed());
    let mut report = play_watched(plan, battle, |now, node, driver| seers.watch(now, node, driver));
    let wrong = seers.wrong().map(|node| format!("the prediction of peer {node} did not come true"));
    report.findings.extend(wrong.map(Finding::Unrecovered));
    report
}

/// Plays the games of the seeds `seed`, `seed + 1`, ..., if `predicts` with prediction at random peers. `progress` is called for each finished game, from any
/// thread.
///
/// # Errors
/// A plan out of range.
pub(crate) fn soak(
    games: u64,
    seed: u64,
    predicts: bool,
    progress: impl Fn(&SoakReport) + Sync,
) -> Result<SoakOutcome, SetupError> {
    let clock = Clock::start();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= games {
                return;
            }
            let clock = ThreadClock::start();
            let plan = Plan::of(seed.wrapping_add(number));
            let result = Battle::new(&plan).map(|battle| PlayedGame {
                report: if predicts { play_foreseen(&plan, &battle) } else { play(&plan, &battle) },
                processor_micros: clock.elapsed_micros(),
            });
            if let Ok(game) = &result {
                progress(&game.report);
            }
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(number, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let games = results.into_values().collect::<Result<Vec<_>, _>>()?;
    Ok(SoakOutcome { games, wall_micros: clock.elapsed().as_micros(), threads })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In 11 of 100 random matches, predictions never heard of the bots that play for absent players, and nothing corrected them.
    #[test]
    fn the_bots_of_absent_players_are_predicted() {
        for seed in [3_220_261_124_008, 3_220_261_124_092] {
            let plan = Plan::of(seed);
            let report = play_foreseen(&plan, &Battle::new(&plan).unwrap());
            assert_eq!(report.findings, [], "seed {seed}");
        }
    }

    #[test]
    fn battles_are_of_every_kind() {
        let battles: Vec<Setup> = (0..400).map(|seed| terms(&Plan::of(seed)).setup).collect();
        for setup in &battles {
            assert!(setup.check().is_ok() && setup.units >= 20, "{setup:?}");
        }
        for map in (0..=MAP_NAMES.len()).map(Map::numbered) {
            assert!(battles.iter().any(|setup| setup.players == 2 && setup.map == map), "{map:?}");
        }
    }
}
