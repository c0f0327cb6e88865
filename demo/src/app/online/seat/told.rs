//! What the session reports, and what becomes of it.

use testudo_lockstep::{Event, Identity, PlayerId, SessionPhase, Turn};

use crate::app::online::agreement::Agreement;
use crate::app::online::news::News;
use crate::app::online::remark::Remark;
use crate::app::online::saves::Save;
use crate::app::online::seat::Seat;

impl Seat {
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.driver.session_mut().poll_event() {
            self.take_event(event);
        }
    }

    /// The way into the match and out of it; everything else is somebody's doing.
    fn take_event(&mut self, event: Event) {
        match event {
            Event::Started => {
                self.span.begin(self.clock.now());
                self.news.push_back(News::Started);
            }
            Event::Connected { identity, .. } => self.came(identity),
            Event::Profile { player } => self.note_profile(player),
            Event::StateProgress { received, total } => {
                let percent = u64::from(received) * 100 / u64::from(total.max(1));
                self.news.push_back(News::State { percent: percent as u8 });
            }
            // The save of a resumed match: the match has not begun.
            Event::Joined { .. } if self.driver.session().phase() == SessionPhase::Lobby => {}
            Event::Joined { turn } => {
                self.span.begin(self.clock.now());
                let session = self.driver.session();
                self.attendance.note_here(|player| session.is_here(player));
                self.news.push_back(News::CameIn { turn: turn.0 });
            }
            Event::CaughtUp { turn } => self.news.push_back(News::CaughtUp { turn: turn.0 }),
            Event::PlayerReturned { player, .. } => {
                self.attendance.note_back(player);
                self.note_connected(player, true);
                self.news.push_back(News::Back(player));
            }
            Event::PlayerGone { player, reason, .. } => {
                self.attendance.note_gone(player);
                self.note_connected(player, false);
                let is_taken_over = self.driver.session().config().is_played_on(reason);
                self.news.push_back(News::Gone { player, reason, is_taken_over });
            }
            Event::WatcherGone(_) => self.news.push_back(News::WatcherGone),
            Event::Roster(roster) => self.news.push_back(News::Fingerprint(roster.fingerprint())),
            Event::Contradiction(found) => self.news.push_back(News::Liars(found.suspects.clone())),
            Event::Saved { turn } => self.keep_save(turn),
            doing => self.take_doing(doing),
        }
    }

    /// What somebody does to the match, or does not do.
    fn take_doing(&mut self, event: Event) {
        match event {
            Event::Desync(desync) => self.note_difference(desync),
            Event::Outlier(outlier) => self.note_outlier(&outlier),
            Event::ChecksumMissing { player, turn } => self.note_silent(player, turn),
            Event::StatementMissing { player, turn } => self.note_unsigned(player, turn),
            Event::MatchResult(result) if result.agreed => {}
            Event::MatchResult(_) => self.remark(Remark::ResultsDiffer),
            Event::WaitingFor { turn, players, .. } => self.note_wait(turn, players),
            Event::CutOff { turn } => self.note_wait(turn, Vec::new()),
            Event::WaitingOver { .. } => self.evidence.wait = None,
            Event::OftenLate { player, drop_in, .. } => self.remark(Remark::OftenLate { player, drop_in }),
            Event::Paused { player, paused, .. } => {
                self.remark(Remark::Paused { player: self.attendance.who(player), paused });
            }
            Event::Speed { player, percent, .. } => {
                self.remark(Remark::Speed { player: self.attendance.who(player), percent });
            }
            Event::ShownAnother { player, turn, since } => {
                let since = since.map(|since| since.0);
                self.remark(Remark::ShownAnother { player, turn: turn.0, since });
            }
            Event::TooFarAhead { player, .. } => self.remark(Remark::TooFarAhead { player }),
            Event::Vote { voter, player, out, .. } => self.remark(Remark::Vote { voter, player, out }),
            Event::Cancelled { actions: orders } => self.remark(Remark::Cancelled { orders }),
            Event::StateRefused { turn } => self.remark(Remark::StateRefused { turn: turn.0 }),
            Event::WrongState { turn, suspects } => {
                self.remark(Remark::WrongState { turn: turn.0, suspects });
            }
            Event::JoinFailed(_) => self.remark(Remark::JoinFailed),
            Event::Lost { events } => self.remark(Remark::Lost { events }),
            // The phase of the session says these two, the battle the next two; the rest is of no use to a person.
            Event::Finished
            | Event::Failed(_)
            | Event::TeamOut { .. }
            | Event::TakenOver { .. }
            | Event::Refused { .. }
            | Event::SavePoint { .. }
            | Event::Plan { .. } => {}
            unknown => tracing::debug!(?unknown, "an event that this program does not know"),
        }
    }

    fn came(&mut self, identity: Identity) {
        match identity {
            Identity::Player(player) => {
                self.note_connected(player, true);
                self.news.push_back(News::Joined(player));
            }
            Identity::Watcher => self.news.push_back(News::Watcher),
            Identity::Relay => {}
        }
    }

    /// Without a seal, places are offered to whoever asks.
    fn note_connected(&mut self, player: PlayerId, is_connected: bool) {
        self.wire.offers().into_iter().for_each(|offers| offers.set_connected(player, is_connected));
    }

    /// A save is complete: it replaces the one before.
    fn keep_save(&mut self, turn: Turn) {
        let Some(saved) = self.driver.session_mut().take_saved() else { return };
        let Some(state) = self.driver.simulation().state_before(turn.0) else { return };
        // Whoever resumes it plays on as the same player.
        let agreement = Agreement { host: self.player(), ..self.agreement };
        let save = Save { agreement, state: state.to_vec(), saved };
        let trouble = self.saving.keep(&save, self.driver.simulation().replay_file());
        self.news.extend(trouble.map(News::DiskTrouble));
    }
}
