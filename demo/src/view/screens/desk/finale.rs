//! The end of a battle: its card, its replay, and its link.

use std::path::PathBuf;

use macroquad::math::Rect;
use testudo_lockstep::replay::Replay;

use crate::app::playback::Course;
use crate::app::{NetworkMatch, Terms, open_replay, share};
use crate::view::hud::result::Next;
use crate::view::screens::desk::Desk;
use crate::view::screens::viewing;

/// Away from a battle.
pub(super) enum Want {
    Replay,
    Cubes,
    LookBack,
    Online(Box<NetworkMatch>),
}

/// What is left of a battle that is over.
pub(super) struct Finale {
    /// The replay, if there is one.
    played: Option<(Replay, Terms)>,
    /// None: too long, or the copies differed.
    link: Option<String>,
}

impl Desk {
    /// Ends the recording.
    fn finale(&mut self) -> Finale {
        let kept = self.skirmish.take_replay();
        let played = kept.and_then(|kept| kept.open().map_err(|error| self.refuse(&error)).ok());
        let link = played.as_ref().filter(|_| self.agrees());
        let link = link.and_then(|(replay, _)| share::link(replay, self.page.as_deref()));
        Finale { played, link }
    }

    pub(super) fn draw_result(&mut self, around: Rect) {
        let finale = match self.finale.take() {
            Some(finale) => finale,
            None => self.finale(),
        };
        let choices = [
            Some(Next::Rematch),
            Some(Next::NewSeed),
            finale.played.as_ref().map(|_| Next::Replay),
            finale.link.as_ref().map(|_| Next::Share),
        ];
        let link = finale.link.as_deref();
        let next = self.board.draw_result(&mut self.stage, &self.skirmish, around, &choices, link);
        if let (Some(link), Some(Next::Share)) = (link, next) {
            self.stage.log.note("link", link.to_owned());
        }
        self.finale = Some(finale);
        match next {
            Some(Next::Rematch) => self.restart(None),
            Some(Next::NewSeed) => {
                self.spec.terms.setup.seed = self.spec.terms.setup.seed.wrapping_add(1);
                self.restart(None);
            }
            Some(Next::Replay) => self.wants = Some(Want::Replay),
            Some(Next::Share | Next::Leave | Next::Stay) | None => {}
        }
    }

    /// The replay of this match, or before its end the newest one, if the person wants to see it. One that cannot be read is refused, and the match
    /// goes on.
    pub(super) fn wanted_replay(&mut self) -> Option<Course> {
        self.wants.take_if(|wants| matches!(wants, Want::Replay))?;
        let played = match self.finale.take() {
            Some(finale) => Ok(finale.played?),
            None => open_replay(&self.newest_replay()?),
        };
        let course = played.and_then(|(replay, terms)| Course::new(replay, terms));
        course.map_err(|error| self.refuse(&error)).ok()
    }

    /// The replay of the running battle. Says so if it has none.
    pub(super) fn so_far(&mut self) -> Option<Course> {
        let course = match self.skirmish.replay_so_far() {
            Some(kept) => viewing::course(kept).map_err(|error| error.to_string()),
            None => Err("This battle is not recorded: there is nothing to look back at.".to_owned()),
        };
        course.map_err(|why| self.refuse(&why)).ok()
    }

    /// The newest file among the replays of this window.
    pub(super) fn newest_replay(&self) -> Option<PathBuf> {
        self.spec.replay.newest(self.skirmish.copy(0).replay_file())
    }
}
