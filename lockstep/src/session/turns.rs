//! The turn gate: when a turn begins, what runs in it, and what closes at its end.

use crate::session::checksum::{Checksums, fold_checksum};
use crate::session::event::Event;
use crate::session::{AnySession, SessionPhase};
use crate::value::entry::{EndReason, Extra, Payload};
use crate::value::ids::{PlayerId, Turn};
use crate::value::time::Instant;

/// Whether the next turn can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnStatus {
    /// Every player's entry for this turn is here.
    Ready(Turn),
    /// The match has not started, an entry is missing, the turn before has not ended, or the middle of the star has not been heard for long.
    Waiting,
    /// There are no more turns.
    Over,
}

/// The position of the match.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// Number of the next turn to begin.
    pub(super) turn: u32,
    /// The turn before `turn` has begun and has not ended.
    pub(super) in_turn: bool,
    pub(super) last_turn: Option<u32>,
    /// Folded checksum of the turn that ended last.
    pub(super) ended_checksum: Option<u32>,
    /// Number of frames simulated so far.
    pub(super) frames: u32,
    /// A relay: the entries below this number were complete when they were last forwarded.
    pub(super) complete: u32,
    /// Behind the middle of a star: the first turn that may not begin yet.
    pub(super) horizon: Option<u32>,
}

impl Gate {
    /// The turn that ended last.
    pub(super) fn ended_turn(&self) -> Option<u32> {
        self.turn.checked_sub(1 + u32::from(self.in_turn))
    }
}

/// The comparison of checksums.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(super) checksums: Checksums,
    pub(super) desync_reported: bool,
    /// Players who were reported to send no checksums.
    pub(super) silent: u16,
}

impl AnySession {
    /// Whether the next turn can begin.
    #[must_use]
    pub fn turn_status(&self) -> TurnStatus {
        match self.phase {
            SessionPhase::Lobby => TurnStatus::Waiting,
            SessionPhase::Running if self.is_joining() => TurnStatus::Waiting,
            SessionPhase::Running if self.local.leaving.is_some() && self.player_ended() => TurnStatus::Over,
            SessionPhase::Running if self.gate.in_turn || self.setup.is_relay() => TurnStatus::Waiting,
            SessionPhase::Running if self.waits_for() == 0 && self.is_within_horizon() => {
                TurnStatus::Ready(Turn(self.gate.turn))
            }
            SessionPhase::Running => TurnStatus::Waiting,
            SessionPhase::Ending | SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {
                TurnStatus::Over
            }
        }
    }

    /// Number of turns, from the next one on, whose entries are all here.
    pub fn turns_ready(&self) -> u32 {
        // Our own entry closes when the turn that needs it begins.
        let own = self.author().map(PlayerId::index);
        let others = self.streams.iter().enumerate().filter(|(player, _)| own != Some(*player));
        let live = others.map(|(_, stream)| stream).filter(|stream| stream.end().is_none());
        // If nobody else plays, there is no other measure.
        let horizon = self.horizon().unwrap_or(self.gate.turn.saturating_add(1));
        let next = live.map(crate::session::stream::Stream::next).min().unwrap_or(horizon);
        let end = self.gate.last_turn.map_or(u32::MAX, |last| last.saturating_add(1));
        next.min(end).saturating_sub(self.gate.turn).min(self.setup.config.window)
    }

    /// Begins the next turn if it is ready. The local player's entry for the turn `turns_ahead` later closes now; submit actions before
    /// this call to include them.
    #[must_use]
    pub fn begin_turn(&mut self, now: Instant) -> TurnStatus {
        self.pass_to(now);
        let status = self.turn_status();
        if let TurnStatus::Ready(turn) = status {
            if self.waiting.reported {
                self.emit(Event::WaitingOver { turn });
            }
            if self.setup.config.aligns {
                self.pace.alignment.turn_begins(turn.0, self.waiting.since.unwrap_or(self.now));
            }
            let waited = self.waited();
            self.pace.meter.turn_begins(waited, self.now);
            self.waiting.end(self.now);
            self.waiting.reported = false;
            self.gate.turn += 1;
            self.gate.in_turn = true;
            self.stats.turns_begun += 1;
            // The middle of the star makes the first entries after a return.
            let is_made = |player: PlayerId| {
                self.streams[player.index()].next() > turn.0.saturating_add(self.setup.config.turns_ahead)
            };
            let is_made = self.author().is_some_and(is_made);
            self.begin_state(turn);
            self.state_turn(turn);
            if !is_made {
                self.close_entry(false);
            }
            self.apply_extras(turn);
        } else if self.phase == SessionPhase::Running
            && status == TurnStatus::Waiting
            && !self.gate.in_turn
            && !self.is_joining()
        {
            self.waiting.since.get_or_insert(self.now);
            self.note_missing();
        }
        status
    }

    /// The order of players in the turn that has begun: by number, or rotated if the settings say so.
    pub fn turn_order(&self) -> impl Iterator<Item = PlayerId> + use<> {
        self.order_in(self.gate.turn.wrapping_sub(1))
    }

    /// The order of players in a turn.
    pub(crate) fn order_in(&self, turn: u32) -> impl Iterator<Item = PlayerId> + use<> {
        let players = self.setup.config.players;
        let first = if self.setup.config.rotate_players { (turn % u32::from(players)) as u8 } else { 0 };
        (0..players).map(move |place| PlayerId((first + place) % players))
    }

    /// A player's encoded actions in the turn that has begun.
    pub(super) fn payload_of(&self, player: PlayerId) -> Option<&Payload> {
        self.entry_actions(player, self.gate.turn.wrapping_sub(1))
    }

    /// Players who give no more actions from the turn that has begun on, with the reason.
    pub fn turn_gone(&self) -> impl Iterator<Item = (PlayerId, EndReason)> + '_ {
        let turn = self.gate.turn.wrapping_sub(1);
        let gone = move |(player, stream): (u8, &crate::session::stream::Stream)| {
            stream
                .end_in(turn)
                .filter(|(last, _)| *last == turn)
                .map(|(_, reason)| (PlayerId(player), reason))
        };
        (0_u8..).zip(&self.streams).filter_map(gone)
    }

    /// Players who are back from the turn that has begun on.
    pub fn turn_returned(&self) -> impl Iterator<Item = PlayerId> + '_ {
        let turn = self.gate.turn.wrapping_sub(1);
        let is_back = move |stream: &crate::session::stream::Stream| {
            stream.get(turn).is_some_and(|entry| entry.returns().is_some())
        };
        let streams = (0_u8..).map(PlayerId).zip(&self.streams);
        streams.filter(move |(_, stream)| is_back(stream)).map(|(player, _)| player)
    }

    /// Whether the game plays for this player in the turn that has begun.
    #[must_use]
    pub fn is_taken_over(&self, player: PlayerId) -> bool {
        let turn = self.gate.turn.wrapping_sub(1);
        let end = self.streams.get(player.index()).and_then(|stream| stream.end_in(turn));
        end.is_some_and(|(_, reason)| self.setup.config.is_played_on(reason))
    }

    /// A player gives no more actions from this turn on. If nobody is left in the player's team, the team is out.
    fn note_gone(&mut self, player: PlayerId, reason: EndReason, turn: Turn) {
        self.emit(Event::PlayerGone { player, reason, turn });
        if self.setup.config.is_played_on(reason) {
            self.emit(Event::TakenOver { player, turn });
            return;
        }
        // In player order: if several leave in the same turn, the last one takes the team out.
        let is_out = |member: PlayerId| {
            self.streams[member.index()].end_in(turn.0).is_some_and(|(last, reason)| {
                (last < turn.0 || (last == turn.0 && member <= player))
                    && !self.setup.config.is_played_on(reason)
            })
        };
        let team = self.setup.config.team_of(player);
        let mut players = (0..self.setup.config.players).map(PlayerId);
        if players.all(|member| self.setup.config.team_of(member) != team || is_out(member)) {
            self.emit(Event::TeamOut { team, turn });
        }
    }

    /// Ends the turn that has begun. `checksum` is the hash of the state after the turn's last frame.
    pub fn end_turn(&mut self, now: Instant, checksum: u64) {
        self.pass_to(now);
        let Some(turn) = self.gate.turn.checked_sub(1).filter(|_| self.gate.in_turn) else { return };
        self.gate.in_turn = false;
        if !self.controlled.paused {
            self.gate.frames = self.gate.frames.wrapping_add(self.pace.planner.plan().frames_per_turn);
        }
        self.pace.meter.turn_ended();
        self.gate.ended_checksum = None;
        if self.compared.checksums.covers(turn) {
            let folded = fold_checksum(checksum);
            self.gate.ended_checksum = Some(folded);
            self.compared.checksums.note_own(turn, folded, self.setup.player());
            if let Some(signing) = &mut self.signing {
                signing.checksum = folded;
            }
            self.settle_checksums();
        }
        self.saving.checksum = checksum;
        if self.gate.last_turn == Some(turn) {
            self.finish_save();
            self.phase = SessionPhase::Ending;
            self.close_entry(true);
        }
        self.settle_results();
        if self.phase == SessionPhase::Ending {
            self.check_finished();
        }
        self.forget_old();
    }

    /// Applies the extras of the entries of the turn that begins, in player order.
    fn apply_extras(&mut self, turn: Turn) {
        let plan = self.pace.planner.plan();
        self.begin_save(turn);
        self.end_long_pause(turn);
        for player in (0..self.setup.config.players).map(PlayerId) {
            let Some(entry) = self.streams[player.index()].get(turn.0) else { continue };
            for extra in entry.extras.clone() {
                if matches!(extra, Extra::Pause(_) | Extra::Speed(_))
                    && !self.take_control(turn.0, player, extra)
                {
                    continue;
                }
                self.pace.planner.take(player, &extra);
                match extra {
                    Extra::Checksum(_) | Extra::Save | Extra::Result(_) | Extra::Pace { .. } => {}
                    Extra::Votes(players) => self.note_votes(turn, player, players),
                    Extra::Return(_) => {
                        self.ballots.forget(player);
                        self.emit(Event::PlayerReturned { player, turn });
                    }
                    Extra::Slack(slack) => {
                        // This peer knows its own value better.
                        if self.setup.player() != Some(player) {
                            self.pace.alignment.note(player, Some(slack));
                        }
                    }
                    Extra::End(reason) => {
                        self.pace.alignment.note(player, None);
                        self.note_gone(player, reason, turn);
                    }
                    Extra::Speed(percent) => {
                        self.emit(Event::Speed { turn, player, percent });
                    }
                    Extra::Pause(paused) => self.emit(Event::Paused { turn, player, paused }),
                }
            }
        }
        self.collect_save(turn);
        self.pace.planner.begin_turn();
        let new_plan = self.pace.planner.plan();
        if new_plan != plan {
            self.emit(Event::Plan { turn, plan: new_plan });
        }
        self.log_turn(turn);
    }

    /// A relay begins no turns. It makes the plans of the turns that have become complete from the same entries as the players.
    pub(super) fn follow_plan(&mut self, complete: u32) {
        // If nobody plays, every turn is complete.
        let complete = complete.min(self.front());
        for turn in self.gate.complete..complete {
            self.pass_pause();
            for player in (0..self.setup.config.players).map(PlayerId) {
                let Some(entry) = self.streams[player.index()].get(turn) else { continue };
                for extra in entry.extras.clone() {
                    let controls = matches!(extra, Extra::Pause(_) | Extra::Speed(_));
                    if !controls || self.take_control(turn, player, extra) {
                        self.pace.planner.take(player, &extra);
                    }
                }
            }
            self.pace.planner.begin_turn();
        }
    }

    /// The performance log: one line per turn, with the players who set the pace.
    fn log_turn(&self, turn: Turn) {
        let plan = self.pace.planner.plan();
        let (network_by, runtime_by) = self.pace.planner.slowest();
        tracing::debug!(
            turn = turn.0,
            frames = plan.frames_per_turn,
            frames_per_second = plan.frames_per_second,
            pace_millihertz = plan.pace_millihertz,
            network_ms = self.pace.planner.averages(network_by).0,
            network_by = network_by.0,
            runtime_ms = self.pace.planner.averages(runtime_by).1,
            runtime_by = runtime_by.0,
            stalled_frames = self.stats.stalled_frames,
            "turn"
        );
    }

    /// Reports players who give actions but no checksums.
    fn report_silent(&mut self, turn: Turn, silent: u16) {
        let due = turn.0.saturating_add(self.setup.config.turns_ahead).saturating_add(1);
        for player in crate::session::players_in(silent & !self.compared.silent) {
            // Who had left, or was not back yet, has no entry for it.
            if self.streams[player.index()].is_own(due) {
                self.compared.silent |= 1 << player.0;
                self.emit(Event::ChecksumMissing { player, turn });
            }
        }
    }

    /// Compares the checksums of all turns that are complete.
    pub(super) fn settle_checksums(&mut self) {
        self.settle_results();
        let ahead = self.setup.config.turns_ahead;
        let simulates = !self.setup.is_relay();
        loop {
            let streams = &self.streams;
            let expects = |player: PlayerId, turn: u32| {
                let stream = &streams[player.index()];
                stream.end().is_none() && stream.next() <= turn.saturating_add(ahead).saturating_add(1)
            };
            let settled = self.compared.checksums.settle(simulates, expects);
            let Some((turn, desync, silent)) = settled else { return };
            self.report_silent(turn, silent);
            if desync.is_none() {
                self.state_is_confirmed_by(turn);
            }
            if let Some(mut desync) = desync
                && !self.compared.desync_reported
                && !self.state_is_contradicted_by(&desync)
            {
                desync.signed = self.setup.config.signed;
                tracing::error!(turn = turn.0, ?desync, "checksums differ");
                self.compared.desync_reported = true;
                self.emit(Event::Desync(desync));
            }
        }
    }
}
