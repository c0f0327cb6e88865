//! A match with predictions beside it.

use crate::play::{Play as _, SEED};
use crate::toy::{Order, Toy, bot};
use testudo_lockstep::predict::{Correction, Followed, Predict, Predictor};
use testudo_lockstep::{PlayerId, Session, Turn, VirtualMatch};

impl Predict for Toy {
    fn guess(&self, player: PlayerId, turn: Turn) -> Option<Order> {
        // Half of them are what the player really ordered two turns before.
        let order = turn.0.checked_sub(2).and_then(|turn| bot(SEED, turn, player.0));
        let guess = if turn.0.is_multiple_of(2) { order } else { Some(Order::Shout(turn.0)) };
        guess.filter(|_| self.guesses)
    }
}

/// A match in which some peers predict.
pub(crate) struct Foreseen<S: Predict> {
    pub(crate) game: VirtualMatch<S>,
    pub(crate) predictors: Vec<Option<Predictor<S>>>,
    /// Frames per call.
    pub(crate) budget: u32,
}

impl<S: Predict + 'static> Foreseen<S> {
    pub(crate) fn new(game: VirtualMatch<S>, predicts: impl Fn(usize) -> bool) -> Self {
        let drivers = game.drivers().iter().enumerate();
        let predictors =
            drivers.map(|(n, driver)| predicts(n).then(|| Predictor::new(driver.simulation()))).collect();
        Self { game, predictors, budget: 64 }
    }

    /// Everything at one point of virtual time. `corrected` gets the peer, and the former and the new prediction of the same frame.
    pub(crate) fn step(
        &mut self,
        at_turn: &mut impl FnMut(usize, Turn, &S, &mut Session<S::Action>),
        mut corrected: impl FnMut(usize, &Correction<'_, S>),
    ) {
        self.game.step(at_turn);
        for peer in 0..self.predictors.len() {
            self.follow(peer, |correction| corrected(peer, correction));
        }
    }

    /// Plays to the end.
    pub(crate) fn run(&mut self, mut at_turn: impl FnMut(usize, Turn, &S, &mut Session<S::Action>)) {
        while !self.game.is_over() {
            self.step(&mut at_turn, |_, _| {});
        }
    }

    pub(crate) fn follow(&mut self, peer: usize, corrected: impl FnMut(&Correction<'_, S>)) -> Followed {
        let Some(predictor) = &mut self.predictors[peer] else { return Followed::default() };
        let (driver, now) = (&self.game.drivers()[peer], self.game.now());
        let followed = predictor.follow_with(driver, driver.simulation(), now, self.budget, corrected);
        assert!(followed.frames <= self.budget, "{followed:?} of {}", self.budget);
        followed
    }

    pub(crate) fn predicted(&self, peer: usize) -> &S {
        self.predictors[peer].as_ref().expect("it predicts").simulation()
    }

    pub(crate) fn confirmed(&self, peer: usize) -> &S {
        self.game.toy(peer)
    }

    /// A person's order, outside of the turns' starts.
    pub(crate) fn order(&mut self, peer: usize, order: &S::Action) -> bool {
        self.game.session_mut(peer).submit(order).is_ok()
    }
}
