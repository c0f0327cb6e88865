//! The turn gate: when a turn begins, what runs in it, what its end closes.

use crate::pace::pacing::Pace;
use crate::packet::Bye;
use crate::session::checksum::fold_checksum;
use crate::session::config::Topology;
use crate::session::event::{Event, Failure};
use crate::session::link::LinkPhase;
use crate::session::{Session, SessionPhase};
use crate::value::action::Action;
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Extra, Extras, Payload};
use crate::value::ids::{Identity, PlayerId, Turn};
use crate::value::time::Instant;

/// Whether the next turn can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnStatus {
    /// Every player's entry for this turn is here.
    Ready(Turn),
    /// Not started, an entry is missing, or the turn before has not ended.
    Waiting,
    /// There is no further turn.
    Over,
}

impl<A: Action> Session<A> {
    /// Whether the next turn can begin.
    pub fn turn_status(&self) -> TurnStatus {
        match self.phase {
            SessionPhase::Lobby => TurnStatus::Waiting,
            SessionPhase::Running if self.leaving && self.player_ended() => TurnStatus::Over,
            SessionPhase::Running if self.in_turn || self.is_relay() => TurnStatus::Waiting,
            SessionPhase::Running if self.waits_for() == 0 => TurnStatus::Ready(Turn(self.turn)),
            SessionPhase::Running => TurnStatus::Waiting,
            SessionPhase::Ending | SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {
                TurnStatus::Over
            }
        }
    }

    /// How many turns from the next one on have all entries here.
    pub fn turns_ready(&self) -> u32 {
        // The own entry closes when the turn that it needs begins.
        let own = self.player().map(PlayerId::index);
        let others = self.streams.iter().enumerate().filter(|(player, _)| own != Some(*player));
        let live = others.map(|(_, stream)| stream).filter(|stream| stream.end().is_none());
        let next =
            live.map(crate::session::stream::Stream::next).min().unwrap_or(self.turn.saturating_add(1));
        let end = self.last_turn.map_or(u32::MAX, |last| last.saturating_add(1));
        next.min(end).saturating_sub(self.turn).min(self.config.window)
    }

    /// Begins the next turn if it is ready: the local player's entry for the turn `turns_ahead` later closes now.
    /// Submit actions before this call to have them in that entry.
    #[must_use]
    pub fn begin_turn(&mut self, now: Instant) -> TurnStatus {
        self.pass_to(now);
        let status = self.turn_status();
        if let TurnStatus::Ready(turn) = status {
            if self.waiting_reported {
                self.emit(Event::WaitingOver { turn });
            }
            if self.config.aligns {
                self.alignment.turn_begins(turn.0, self.waiting_since.unwrap_or(self.now));
            }
            if let Some(since) = self.waiting_since.take() {
                self.delays.note(self.now.since(since));
            }
            self.waiting_reported = false;
            self.turn += 1;
            self.in_turn = true;
            self.stats.turns_begun += 1;
            self.close_entry(false);
            self.apply_extras(turn);
        } else if self.phase == SessionPhase::Running && status == TurnStatus::Waiting && !self.in_turn {
            self.waiting_since.get_or_insert(self.now);
            self.note_missing();
        }
        status
    }

    /// The actions of the turn that has begun: players in order, each player's actions in the order in which they were given.
    ///
    /// The driver goes through [`Session::turn_order`] instead, since it also calls [`crate::Simulation::play_for`].
    pub fn turn_actions(&self) -> impl Iterator<Item = (PlayerId, A)> + '_ {
        self.turn_order().flat_map(move |player| self.actions_of(player).map(move |action| (player, action)))
    }

    /// The order of players in the turn that has begun: by number, or rotated if the settings say so.
    pub fn turn_order(&self) -> impl Iterator<Item = PlayerId> + use<A> {
        let turn = self.turn.wrapping_sub(1);
        let players = self.config.players;
        let first = if self.config.rotate_players { (turn % u32::from(players)) as u8 } else { 0 };
        (0..players).map(move |place| PlayerId((first + place) % players))
    }

    /// A player's actions of the turn that has begun, in the order in which they were given. (None for a player that the match
    /// does not have.)
    pub fn actions_of(&self, player: PlayerId) -> impl Iterator<Item = A> + '_ {
        let entry = self.streams.get(player.index()).and_then(|stream| stream.get(self.turn.wrapping_sub(1)));
        let payload = entry.filter(|entry| entry.end().is_none()).map(|entry| &entry.payload);
        payload.into_iter().flat_map(codec::actions::<A>)
    }

    /// Players who give no more actions from the turn that has begun on, and why.
    pub fn turn_gone(&self) -> impl Iterator<Item = (PlayerId, EndReason)> + '_ {
        let turn = self.turn.wrapping_sub(1);
        let gone = move |(player, stream): (u8, &crate::session::stream::Stream)| {
            stream.end().filter(|(last, _)| *last == turn).map(|(_, reason)| (PlayerId(player), reason))
        };
        (0_u8..).zip(&self.streams).filter_map(gone)
    }

    /// Whether the game plays for this player in the turn that has begun.
    pub fn is_taken_over(&self, player: PlayerId) -> bool {
        let turn = self.turn.wrapping_sub(1);
        let end = self.streams.get(player.index()).and_then(crate::session::stream::Stream::end);
        end.is_some_and(|(last, reason)| last <= turn && self.config.is_played_on(reason))
    }

    /// A player gives no more actions from this turn on; if the player's team has nobody left, it is out.
    fn note_gone(&mut self, player: PlayerId, reason: EndReason, turn: Turn) {
        self.emit(Event::PlayerGone { player, reason, turn });
        if self.config.is_played_on(reason) {
            self.emit(Event::TakenOver { player, turn });
            return;
        }
        // In player order: of several who go at one turn the last takes the team with it.
        let is_out = |member: PlayerId| {
            self.streams[member.index()].end().is_some_and(|(last, reason)| {
                (last < turn.0 || (last == turn.0 && member <= player)) && !self.config.is_played_on(reason)
            })
        };
        let team = self.config.team_of(player);
        let mut players = (0..self.config.players).map(PlayerId);
        if players.all(|member| self.config.team_of(member) != team || is_out(member)) {
            self.emit(Event::TeamOut { team, turn });
        }
    }

    /// Ends the turn that has begun. `checksum` is the hash of the state after the turn's last frame.
    pub fn end_turn(&mut self, now: Instant, checksum: u64) {
        self.pass_to(now);
        let Some(turn) = self.turn.checked_sub(1).filter(|_| self.in_turn) else { return };
        self.in_turn = false;
        self.meter.turn_ended();
        self.ended_checksum = None;
        if self.checksums.covers(turn) {
            let folded = fold_checksum(checksum);
            self.ended_checksum = Some(folded);
            self.checksums.note_own(turn, folded, self.player());
            self.settle_checksums();
        }
        self.saving.checksum = checksum;
        if self.last_turn == Some(turn) {
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

    /// The match ends with the turn that has begun (or that begins next). All peers must say so in the same turn: it is
    /// meant for a simulation that finds that the game is decided.
    pub fn end_match(&mut self) {
        let turn = if self.in_turn { self.turn - 1 } else { self.turn };
        if self.phase == SessionPhase::Running && self.last_turn.is_none_or(|last| last > turn) {
            self.last_turn = Some(turn);
            self.checksums.set_last_turn(turn);
        }
    }

    /// Closes the local player's next entry. It carries the checksum of the turn that ended last.
    pub(super) fn close_entry(&mut self, is_last: bool) {
        let Some(player) = self.player() else { return };
        let stream = &mut self.streams[player.index()];
        if stream.end().is_some() {
            return;
        }
        // The entry after the last turn runs nowhere: it only carries the last checksum.
        let payload = match (is_last || self.resigning.is_some(), self.config.input_mode) {
            (true, false) => Payload::none(),
            _ => self.outbox.close(),
        };
        let mut extras: Extras = self.ended_checksum.take().map(Extra::Checksum).into_iter().collect();
        let slack = self.alignment.take_report(self.now);
        // With fixed turns the averages only tell whose machine delays the game.
        if (self.config.pace != Pace::Fixed || self.meter.is_too_slow(self.config.frames_per_second))
            && let Some((network_ms, runtime_ms)) = self.meter.take_report()
        {
            extras.push(Extra::Pace { network_ms, runtime_ms });
        }
        if let Some(reason) = self.resigning {
            extras.push(Extra::End(reason));
        }
        if let Some(paused) = self.pause_request.take() {
            extras.push(Extra::Pause(paused));
        }
        if let Some(percent) = self.speed_request.take() {
            extras.push(Extra::Speed(percent));
        }
        if core::mem::take(&mut self.saving.requested) {
            extras.push(Extra::Save);
        }
        if let Some(value) = self.results.take_request() {
            extras.push(Extra::Result(value));
        }
        extras.extend(slack.map(Extra::Slack));
        self.meter.entry_closed(stream.next(), self.now);
        stream.push(Entry { payload, extras });
        for link in &mut self.links {
            link.mark_urgent();
        }
    }

    /// Number of entries after the last one of a finished stream.
    pub(super) fn final_next(&self) -> Option<u32> {
        self.last_turn.map(|last| last.saturating_add(self.config.turns_ahead).saturating_add(2))
    }

    /// What rides along with the entries of the turn that begins takes effect, in player order.
    fn apply_extras(&mut self, turn: Turn) {
        let plan = self.planner.plan();
        self.begin_save(turn);
        for player in (0..self.config.players).map(PlayerId) {
            let Some(entry) = self.streams[player.index()].get(turn.0) else { continue };
            for extra in entry.extras.clone() {
                match extra {
                    Extra::Checksum(_) | Extra::Save | Extra::Result(_) => {}
                    Extra::Slack(slack) => {
                        // Its own it knows better.
                        if self.player() != Some(player) {
                            self.alignment.note(player, Some(slack));
                        }
                    }
                    Extra::Pace { network_ms, runtime_ms } => {
                        self.planner.note(player, network_ms, runtime_ms);
                    }
                    Extra::End(reason) => {
                        self.planner.forget(player);
                        self.alignment.note(player, None);
                        self.note_gone(player, reason, turn);
                    }
                    Extra::Speed(percent) => self.planner.set_speed(percent),
                    Extra::Pause(paused) => {
                        self.paused = paused;
                        self.emit(Event::Paused { turn, player, paused });
                    }
                }
            }
        }
        self.collect_save(turn);
        self.planner.begin_turn();
        let new_plan = self.planner.plan();
        if new_plan != plan {
            self.emit(Event::Plan { turn, plan: new_plan });
        }
        self.log_turn(turn);
    }

    /// The performance log: one line per turn, and who sets the pace.
    fn log_turn(&self, turn: Turn) {
        let plan = self.planner.plan();
        let (network_by, runtime_by) = self.planner.slowest();
        tracing::debug!(
            turn = turn.0,
            frames = plan.frames_per_turn,
            frames_per_second = plan.frames_per_second,
            pace_millihertz = plan.pace_millihertz,
            network_ms = self.planner.averages(network_by).0,
            network_by = network_by.0,
            runtime_ms = self.planner.averages(runtime_by).1,
            runtime_by = runtime_by.0,
            stalled_frames = self.stats.stalled_frames,
            "turn"
        );
    }

    /// Compares the checksums of all turns that are complete.
    pub(super) fn settle_checksums(&mut self) {
        self.settle_results();
        let ahead = self.config.turns_ahead;
        let simulates = !self.is_relay();
        loop {
            let streams = &self.streams;
            let expects = |player: PlayerId, turn: u32| {
                let stream = &streams[player.index()];
                stream.end().is_none() && stream.next() <= turn.saturating_add(ahead).saturating_add(1)
            };
            let Some((turn, mismatch)) = self.checksums.settle(simulates, expects) else { return };
            if let Some(mismatch) = mismatch
                && !self.desync_reported
            {
                tracing::error!(turn = turn.0, ?mismatch, "checksums differ");
                self.desync_reported = true;
                self.emit(Event::Desync(mismatch));
            }
        }
    }

    /// Forgets entries that have run and that every link has confirmed. A peer whose confirmations are further behind than the window
    /// is lost.
    pub(super) fn forget_old(&mut self) {
        for index in 0..self.links.len() {
            let link = &self.links[index];
            // A relay takes in no more than the window, so that is where it stands.
            let window = self.config.window - u32::from(self.is_relay());
            let behind = |(ack, stream): (&u32, &crate::session::stream::Stream)| {
                stream.next().saturating_sub(*ack) > window
            };
            if link.is_connected() && link.acked.iter().zip(&self.streams).any(behind) {
                self.lose_straggler(index);
            }
        }
        self.forget_confirmed();
    }

    /// Whoever plays cannot fall behind so far by an accident of the network: the others wait for it. It confirms nothing, on purpose.
    fn lose_straggler(&mut self, index: usize) {
        let link = &mut self.links[index];
        let peer = link.peer;
        link.phase = LinkPhase::Closed;
        link.owe_bye(Bye::Dropped);
        let identity = link.identity;
        let serves_us = self.config.topology != Topology::Mesh && identity == Some(self.coordinator());
        match identity {
            _ if serves_us => self.fail(Failure::ConnectionLost(peer)),
            Some(Identity::Player(player)) if self.streams[player.index()].end().is_none() => {
                if !self.may_drop() {
                    self.fail(Failure::ConnectionLost(peer));
                } else if self.config.topology != Topology::Mesh {
                    self.end_streams(1 << player.0);
                }
            }
            _ => self.emit(Event::SpectatorGone(peer)),
        }
    }

    fn forget_confirmed(&mut self) {
        let run = if self.is_relay() { u32::MAX } else { self.turn.saturating_sub(1) };
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let confirmed =
                self.links.iter().filter(|link| link.is_connected()).map(|link| link.acked[index]);
            let needed = confirmed.min().unwrap_or(u32::MAX).min(run);
            stream.forget_below(needed.min(stream.next()));
        }
    }
}
