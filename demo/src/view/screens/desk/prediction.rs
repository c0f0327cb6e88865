//! Own orders at once: the switch of each view.

use testudo_lockstep::Duration;

use crate::app::Skirmish;
use crate::view::battle::shown::Shown;
use crate::view::screens::desk::Desk;

/// The states that a client shows.
pub(super) fn shown_by(skirmish: &Skirmish, player: u8) -> Shown<'_> {
    Shown::new(skirmish.client(player).game(), skirmish.foresight(player), skirmish.alpha(player))
}

impl Desk {
    /// The players whose views predict.
    pub(super) fn predicting(&self) -> Vec<u8> {
        (0..2).filter(|player| self.skirmish.predicts(*player)).collect()
    }

    /// Shows a player's own orders at once, or when they run.
    pub(super) fn toggle_prediction(&mut self, player: u8) {
        let predicts = !self.skirmish.predicts(player);
        if !predicts {
            self.note_foreseen(player);
        }
        self.skirmish.set_prediction(player, predicts);
        self.stage.log.note("prediction", [i32::from(player), i32::from(predicts)].to_vec());
    }

    /// Looks at what the clients show now, `passed` seconds of the match later.
    pub(super) fn see(&mut self, passed: f32, real: f32) {
        self.skirmish.foresee(Duration::from_micros((passed * 1e6) as u64));
        for (player, side) in (0..).zip(&mut self.sides) {
            let shown = shown_by(&self.skirmish, player);
            side.effects.observe(shown, self.skirmish.frame(player), passed, real);
        }
    }

    /// Tells the log how a player's predictions came out.
    pub(super) fn note_foreseen(&mut self, player: u8) {
        let foresight = self.skirmish.foresight(player).filter(|foresight| foresight.is_wanted());
        foresight.into_iter().for_each(|foresight| self.stage.log.foreseen(player, foresight));
    }
}
