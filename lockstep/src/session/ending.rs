//! The end of the match, the end of this peer's part in it, and the actions that are cancelled because of it.

use crate::packet::Bye;
use crate::session::event::{Event, Failure};
use crate::session::link::{Link, LinkPhase};
use crate::session::{AnySession, SessionPhase};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::{Duration, Instant};

/// Since when the end waits for the others without any progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    pub(super) since: Option<Instant>,
    /// Number of entries here, over all players.
    entries: u64,
}

impl AnySession {
    /// Ends the match with the turn that has begun (or with the next one to begin). All peers must call this in the same turn; it is meant
    /// for a simulation that finds that the game is decided.
    pub fn end_match(&mut self) {
        let turn = if self.gate.in_turn { self.gate.turn - 1 } else { self.gate.turn };
        if self.phase == SessionPhase::Running && self.gate.last_turn.is_none_or(|last| last > turn) {
            self.gate.last_turn = Some(turn);
            self.compared.checksums.set_last_turn(turn);
        }
    }

    /// Number of entries after the last one of a finished stream.
    pub(super) fn final_next(&self) -> Option<u32> {
        self.gate.last_turn.map(|last| last.saturating_add(self.setup.config.turns_ahead).saturating_add(2))
    }

    pub(super) fn handle_bye(&mut self, index: usize, bye: Bye) {
        let from_coordinator = self.links[index].identity == Some(self.setup.coordinator());
        let link = &mut self.links[index];
        let (peer, is_spectator) = (link.peer, link.identity == Some(Identity::Spectator));
        match bye {
            Bye::Finished => {
                link.finished = true;
                // Missing entries cannot come from anybody else.
                if from_coordinator && !self.setup.accepts() && !self.has_everything() {
                    self.fail(Failure::ConnectionLost(peer));
                }
                self.check_finished();
            }
            Bye::Left | Bye::Dropped if link.finished => {}
            Bye::Left if is_spectator => {
                link.phase = LinkPhase::Closed;
                self.emit(Event::SpectatorGone(peer));
            }
            // The place becomes free.
            Bye::Left if self.phase == SessionPhase::Lobby && self.setup.accepts() && !from_coordinator => {
                self.links.shift_remove_index(index);
            }
            Bye::Left if self.is_joining() => self.fail(Failure::NoState),
            Bye::Left if self.phase == SessionPhase::Lobby => self.fail(Failure::NeverBegan(peer)),
            Bye::Left => self.player_left(index),
            Bye::Dropped => self.dropped_by(index),
        }
    }

    /// Checks whether the others have the local player's last entry, so that this peer may go. In a mesh they must also have what others gave
    /// and this peer has run: the author may be gone.
    pub(super) fn check_left(&mut self) {
        let (Some(player), Some(since)) = (self.setup.player(), self.local.leaving) else { return };
        if !self.player_ended() {
            return;
        }
        let own = self.streams[player.index()].next();
        let lacks_end = |link: &Link| link.acked[player.index()] < own;
        let lacks_turns = |link: &Link| {
            let ran = self.streams.iter().map(|stream| stream.next().min(self.gate.turn));
            self.setup.is_mesh() && link.acked.iter().zip(ran).any(|(&acked, ran)| acked < ran)
        };
        // A silence counts from the wish to leave on: the network may have been down before, and who lacks the last entry may come back.
        let config = &self.setup.config;
        let patience = config.drop_after.unwrap_or(config.silence_timeout).max(config.linger);
        let deadline = self.ending_deadline();
        let too_late = |link: &Link| {
            self.now.since(link.last_heard.max(since)) >= patience || self.now.since(since) >= deadline
        };
        // Who waits for a state confirms nothing.
        let counts = |link: &&Link| link.is_connected() && !link.finished && !link.lacks_state();
        let links = || self.links.values().filter(counts);
        if links().any(|link| (lacks_end(link) || lacks_turns(link)) && !too_late(link)) {
            return;
        }
        match links().find(|link| lacks_end(link)).map(|link| link.peer) {
            None => self.depart(),
            // Gone, but not in good order: nobody has confirmed the last entry.
            Some(peer) => self.fail(Failure::ConnectionLost(peer)),
        }
    }

    pub(super) fn depart(&mut self) {
        if self.is_over() {
            return;
        }
        self.phase = SessionPhase::Left;
        for link in self.links.values_mut() {
            link.owe_bye(Bye::Left);
        }
        self.report_cancelled();
    }

    /// Whether this peer has every entry of the match and has compared every checksum.
    pub(super) fn is_complete(&self) -> bool {
        (self.phase == SessionPhase::Ending || self.setup.is_relay()) && self.has_everything()
    }

    /// Whether every entry of the match that others make is here.
    pub(super) fn has_everything(&self) -> bool {
        let own = self.setup.player().filter(|_| self.phase == SessionPhase::Running).map(PlayerId::index);
        let Some(next) = self.final_next() else { return false };
        let mut others = self.streams.iter().enumerate().filter(|(player, _)| own != Some(*player));
        others.all(|(_, stream)| stream.end().is_some() || stream.next() >= next)
    }

    /// Whether the middle of the star lacks actions that have run here. While it does, it may have gone on without them.
    fn may_be_dropped_by(&self, link: &Link) -> bool {
        let Some(player) = self.setup.player().filter(|_| !self.setup.accepts()) else { return false };
        let stream = &self.streams[player.index()];
        let needed = stream.end().map_or(self.gate.turn, |(last, _)| self.gate.turn.min(last + 1));
        link.acked[player.index()] < needed
    }

    /// How long the end waits for a silent remote. A remote that has all turns lacks at most a last confirmation, and may have gone. A
    /// remote that lacks turns may be cut off and come back.
    pub(super) fn patience(&self, link: &Link) -> Duration {
        let Some(last) = self.gate.last_turn else { return self.setup.config.silence_timeout };
        let lacks = |(player, stream): (u8, &crate::session::stream::Stream)| {
            let serves = self.setup.accepts() || self.setup.player() == Some(PlayerId(player));
            let needed = stream.end().map_or(last, |(end, _)| end.min(last)).saturating_add(1);
            serves
                && link.identity != Some(Identity::Player(PlayerId(player)))
                && link.acked[usize::from(player)] < needed
        };
        if (0_u8..).zip(&self.streams).any(lacks) {
            self.setup.config.silence_timeout.max(self.setup.config.linger)
        } else {
            self.setup.config.linger
        }
    }

    /// How long the end waits for peers that can be heard but neither advance nor confirm.
    pub(super) fn ending_deadline(&self) -> Duration {
        let config = &self.setup.config;
        config.silence_timeout.max(config.drop_after.unwrap_or_default()).max(config.linger).times(2)
            + config.watch_delay
    }

    /// Whether every peer that counts has had all the time that the end allows.
    fn is_overdue(&mut self) -> bool {
        let some_finished = || self.links.values().any(|link| link.finished);
        let at_end = self.phase == SessionPhase::Ending
            || (self.setup.is_relay() && (self.has_everything() || some_finished()));
        // Entries after the last turn are no progress. A relay may not know the last turn; who has finished has it.
        let has = |link: &Link| link.finished.then(|| link.acked.iter().max().copied()).flatten();
        let last = self.final_next().or_else(|| self.links.values().filter_map(has).max());
        let last = last.unwrap_or(u32::MAX);
        let entries = self.streams.iter().map(|stream| u64::from(stream.next().min(last))).sum();
        if !at_end || self.ending.since.is_none() || entries != self.ending.entries {
            self.ending = Ending { since: at_end.then_some(self.now), entries };
        }
        self.ending.since.is_some_and(|since| self.now.since(since) >= self.ending_deadline())
    }

    /// Ends the session when everybody has everything, or when there is no peer left to wait for.
    pub(super) fn check_finished(&mut self) {
        if self.is_over() {
            return;
        }
        let overdue = self.is_overdue();
        let relay_done = self.setup.is_relay()
            && self.phase == SessionPhase::Running
            && (overdue
                || self
                    .links
                    .values()
                    .all(|link| !link.is_player() || link.finished || !link.is_connected()));
        if relay_done && !self.links.values().any(|link| link.finished) {
            let last = self.links.values().next().map_or_else(Default::default, |link| link.peer);
            self.fail(Failure::ConnectionLost(last));
            return;
        }
        if !relay_done && !self.is_complete() && !overdue {
            return;
        }
        if let Some(link) = self.links.values().find(|link| overdue && self.may_be_dropped_by(link)) {
            self.fail(Failure::ConnectionLost(link.peer));
            return;
        }
        let next = self.final_next().unwrap_or(0);
        let now = self.now;
        let confirmed = |link: &Link| {
            let silent = now.since(link.last_heard) >= self.patience(link);
            !link.is_connected()
                || link.finished
                || (silent && !self.may_be_dropped_by(link))
                || self.streams.iter().enumerate().all(|(index, stream)| {
                    link.acked[index] >= stream.end().map_or(next, |(last, _)| (last + 1).min(next))
                })
        };
        // When all players are done, entries that a relay lacks will never come. Otherwise it stays until the spectators have everything,
        // too.
        if overdue || (relay_done && !self.is_complete()) || self.links.values().all(confirmed) {
            self.phase = SessionPhase::Finished;
            for link in self.links.values_mut().filter(|link| link.phase != LinkPhase::Closed) {
                link.owe_bye(Bye::Finished);
            }
            self.report_cancelled();
            self.emit(Event::Finished);
        }
    }

    /// Reports accepted actions that may run nowhere: waiting actions, and those in entries that some peer has not confirmed.
    pub(super) fn report_cancelled(&mut self) {
        let mut actions = self.local.outbox.cancel();
        if let Some(player) = self.author() {
            let stream = &self.streams[player.index()];
            let acks =
                self.links.values().filter(|link| self.counts(link)).map(|link| link.acked[player.index()]);
            let safe = acks.min().unwrap_or(self.gate.turn);
            // Nothing runs after the last turn, whoever has it.
            let safe = safe.min(self.gate.last_turn.map_or(u32::MAX, |last| last.saturating_add(1)));
            let entries = (safe..stream.next()).filter_map(|number| stream.get(number));
            actions += entries.map(|entry| self.setup.codec.count(&entry.payload)).sum::<u32>();
        }
        if actions > 0 && !self.setup.config.input_mode {
            self.emit(Event::Cancelled { actions });
        }
    }
}
