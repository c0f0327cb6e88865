//! The end of a seat: what was played, and how the match can go on.

use std::path::PathBuf;

use testudo_lockstep::SessionPhase;

use crate::app::error::{Fate, MatchError};
use crate::app::online::seat::Seat;
use crate::app::terms::Terms;
use crate::app::watch::outcome::{ClientOutcome, End, Outcome};

impl Seat {
    /// The file from which the match can go on: the last save, unless the others play on.
    pub(crate) fn resumable(&self) -> Option<&PathBuf> {
        self.saving.file().filter(|_| self.fate() != Fate::GoesOn)
    }

    /// What has become of a match that was left before its end.
    fn fate(&self) -> Fate {
        let refused = self.refused.as_ref().map(|(_, fate)| *fate);
        refused.or_else(|| Some(self.wire.error()?.fate())).unwrap_or_default()
    }

    /// The outcome up to the end or the time of leaving; none if the match had not begun.
    ///
    /// # Errors
    /// The match has ended before its time, and nothing was played.
    pub(crate) fn end(mut self) -> Result<Option<Outcome>, MatchError> {
        // The last word, so that the others need not wait for it.
        self.pump()?;
        self.finish_recording();
        let replay = self.driver.simulation().replay_file().map(ToOwned::to_owned);
        let unkept = self.driver.simulation().unkept().map(ToString::to_string);
        let (failure, is_settled) = (self.failure(), self.is_settled());
        let session = self.driver.session();
        let is_finished = session.phase() == SessionPhase::Finished;
        if is_finished {
            self.saving.remove();
        }
        let (turns, checksum) = self.counted();
        // The turns before a save were not played here.
        if turns == 0 || !self.span.has_begun() {
            return failure.map_or(Ok(None), Err);
        }
        let (length, bytes) = self.span.length_and_bytes(self.clock.now(), session.stats().bytes_sent);
        let timed = u32::try_from(session.stats().turns_begun).unwrap_or(turns).clamp(1, turns);
        let copy = self.driver.simulation();
        let own = ClientOutcome::of(copy, session, bytes);
        let clients = [(copy, ClientOutcome { checksum, forwards: self.is_host(), ..own })];
        let mut outcome = Outcome::new(Terms { turns, ..self.terms }, &clients, length);
        outcome.player = self.session().player().map(|player| player.0);
        outcome.timed.turns = timed;
        outcome.frames = Some(self.frame());
        outcome.players_lost = Some(self.attendance.lost_and_back());
        outcome.end = End { is_finished, early: failure.map(|error| error.to_string()), is_settled };
        self.say_how_to_resume(&mut outcome);
        (outcome.replay, outcome.unkept) = (replay, unkept);
        outcome.divergent_turn = self.divergent_turn();
        outcome.doubts = Some(self.doubts());
        Ok(Some(outcome))
    }

    /// The turns of the outcome, and the checksum after them: all that were played here. If the others dropped this player, those that were compared.
    fn counted(&self) -> (u32, u64) {
        match self.compared() {
            (turns @ 1.., Some(checksum)) if self.is_dropped() => (turns, checksum),
            _ => (self.session().next_turn().0, self.copy().game().checksum()),
        }
    }

    /// Names the save, unless the match goes on without this player.
    fn say_how_to_resume(&self, outcome: &mut Outcome) {
        let Some(file) = self.resumable() else { return };
        match (self.fate(), &mut outcome.end.early) {
            (Fate::MayBeOver, Some(why)) => {
                let how = format!("it can go on: testudo host --resume {}", file.display());
                why.push_str(&format!("; if it was not played to its end, {how}"));
            }
            _ => outcome.save = Some(file.clone()),
        }
    }

    pub(super) fn note_end(&mut self) {
        let session = self.driver.session();
        if matches!(session.phase(), SessionPhase::Ending | SessionPhase::Finished) {
            // A frame is simulated when its time begins.
            let end = self.clock.now() + session.config().frame_length();
            self.span.end(end, session.stats().bytes_sent);
        }
    }
}
