//! A prediction that nobody sees: it must change nothing, and come true in the end.

use testudo_lockstep::predict::{PredictionStats, Predictor};
use testudo_lockstep::{Driver, Instant, SessionPhase, Simulation};

use testudo_battle::{Game, Order};

/// Predicts one peer's battle.
pub(crate) struct Seer {
    predictor: Predictor<Game>,
    was_wrong: bool,
}

impl Seer {
    /// It shows the confirmed battle until it is told to follow.
    pub(crate) fn new(game: &Game) -> Self {
        Self { predictor: Predictor::new(game), was_wrong: false }
    }

    /// At most so many frames ahead.
    pub(crate) fn depth_max(self, frames: u32) -> Self {
        Self { predictor: self.predictor.depth_max(frames), ..self }
    }

    /// For one picture at this time, in which so many frames may be simulated. `game` is the confirmed battle of the driver.
    pub(crate) fn follow<S: Simulation<Action = Order>>(
        &mut self,
        driver: &Driver<S>,
        game: &Game,
        now: Instant,
        frames: u32,
    ) {
        let followed = self.predictor.follow(driver, game, now, frames);
        let is_over = driver.session().phase() == SessionPhase::Finished;
        self.was_wrong |= is_over
            && followed.depth == 0
            && !followed.is_behind
            && self.predictor.simulation().world().checksum() != game.world().checksum();
    }

    /// Nothing was left to predict, and the predicted battle was another one than the confirmed battle.
    pub(crate) fn was_wrong(&self) -> bool {
        self.was_wrong
    }

    /// How often predictions were right.
    pub(crate) fn stats(&self) -> PredictionStats {
        self.predictor.stats()
    }
}
