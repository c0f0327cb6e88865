//! The replay of a battle, with its setup and its story.

use core::ops::{Deref, DerefMut};

use testudo_lockstep::replay::{Replay, ReplayViewer};

use crate::app::Terms;
use crate::app::error::MatchError;
use crate::app::playback::budget::Budget;
use crate::app::playback::curve::Curve;
use crate::app::playback::story::{self, Departure, Milestone, Story};
use testudo_battle::{Game, Order};

/// A replayed battle.
pub(crate) struct Course {
    viewer: ReplayViewer<Game>,
    terms: Terms,
    story: Story,
    curve: Curve,
    /// Where a page is that plays links.
    page: Option<String>,
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
        // A recording may begin in the middle of a match.
        let viewer = ReplayViewer::new(replay, Game::new(terms.setup)?);
        let curve = Curve::new(viewer.replay().turns(), viewer.simulation());
        Ok(Self { viewer, terms, story, curve, page: None })
    }

    /// Its link leads to a page at this address.
    pub(crate) fn by_page(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// Where a page is that plays links.
    pub(crate) fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    /// The setup of the match.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The players who left and came back, the keeps that fell, and the winner.
    pub(crate) fn milestones(&self) -> Vec<Milestone> {
        let mut all: Vec<Milestone> = self.story.departures().iter().map(Departure::milestone).collect();
        for (turn, army) in self.curve.fallen() {
            // Of two players the winner's milestone says it.
            let decides = self.decided().is_some_and(|(decided, _)| decided <= turn + 1);
            let text = if decides { String::new() } else { format!("player {} loses the keep", army + 1) };
            all.push(Milestone { turn: *turn, player: Some(*army), text });
        }
        all.extend(self.decided().map(|(turn, result)| {
            let player = u8::try_from(result).ok();
            let text = match player.map(|winner| (winner, self.game().teams().of(winner))) {
                Some((winner, 0)) => format!("player {} has won", winner + 1),
                Some((_, team)) => format!("team {team} has won"),
                None => "nobody has won".into(),
            };
            Milestone { turn, player, text }
        }));
        all
    }

    /// The armies as far as the comparison has come.
    pub(crate) fn curve(&self) -> &Curve {
        &self.curve
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
            let turn = self.turns_checked();
            self.check(1);
            if self.turns_checked() > turn {
                self.curve.note(turn + 1, self.viewer.compared());
            }
        }
    }
}
