//! The replay of a battle, with its setup and its story.

use core::ops::{Deref, DerefMut};

use testudo_lockstep::replay::{Replay, ReplayViewer};

use crate::app::Terms;
use crate::app::error::MatchError;
use crate::app::playback::budget::Budget;
use crate::app::playback::story::{self, Story};
use crate::game::{Game, Order};

/// A replayed battle.
pub(crate) struct Course {
    viewer: ReplayViewer<Game>,
    terms: Terms,
    story: Story,
}

impl Deref for Course {
    type Target = ReplayViewer<Game>;

    fn deref(&self) -> &Self::Target {
        &self.viewer
    }
}

impl DerefMut for Course {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.viewer
    }
}

impl Course {
    /// A replay before its first frame.
    ///
    /// # Errors
    /// Settings out of range.
    pub(crate) fn new(replay: Replay, terms: Terms) -> Result<Self, MatchError> {
        let story = Story::of(&replay);
        Ok(Self { viewer: ReplayViewer::new(replay, Game::new(terms.setup)?), terms, story })
    }

    /// The setup of the match.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    pub(crate) fn story(&self) -> &Story {
        &self.story
    }

    /// The orders of a turn, with their players.
    pub(crate) fn orders(&self, turn: u32) -> impl Iterator<Item = (u8, Order)> + '_ {
        story::orders(self.replay(), turn)
    }

    /// The match at the present frame.
    pub(crate) fn game(&self) -> &Game {
        self.simulation()
    }

    /// Checksum of the match at the present frame.
    pub(crate) fn checksum(&self) -> u64 {
        self.game().checksum()
    }

    /// Simulates towards the target frame, as long as the budget lasts.
    pub(crate) fn spend(&mut self, budget: &mut Budget) {
        while self.is_seeking() && budget.take() {
            self.run(1);
        }
    }

    /// Continues the comparison, as long as the budget lasts.
    pub(crate) fn spend_on_check(&mut self, budget: &mut Budget) {
        while !self.is_checked() && budget.take() {
            self.check(1);
        }
    }
}
