//! The end of the match, the end of this peer's part in it, and the actions that are cancelled because of it.

use crate::packet::Bye;
use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::link::{Link, LinkPhase};
use crate::session::{AnySession, SessionPhase};
use crate::value::ids::{Identity, PeerId};
use crate::value::time::Instant;

/// Since when the end waits for the others without any progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    pub(super) since: Option<Instant>,
    /// Number of entries here, over all players.
    entries: u64,
}

/// What follows from a check of the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    GoOn,
    /// The local player has left in good order.
    Depart,
    Finish,
    /// The match goes on or ends elsewhere without this peer.
    Lose(PeerId),
}

impl Ending {
    /// Whether every peer that counts has had all the time that the end allows.
    fn is_overdue(&mut self, common: &Common, players_done: bool) -> bool {
        // A relay may not know the last turn. Then only players who are in the match can say that it is over: their own streams stand still, and
        // nobody gets further than a few entries beyond these. If the others go on all the same, whoever said so is dropped.
        let last = common.final_next();
        let says = |link: &Link| link.progress.finished && (last.is_some() || common.plays(link));
        let at_end = common.phase == SessionPhase::Ending
            || players_done
            || (common.setup.is_relay() && (common.has_everything() || common.links.values().any(says)));
        // Entries after the last turn are no progress.
        let last = last.unwrap_or(u32::MAX);
        let entries = common.streams.iter().map(|stream| u64::from(stream.next().min(last))).sum();
        if !at_end || self.since.is_none() || entries != self.entries {
            *self = Self { since: at_end.then_some(common.now), entries };
        }
        self.since.is_some_and(|since| common.now.since(since) >= common.ending_deadline())
    }

    /// The local player has wanted to leave since this time: whether the others have the local player's last entry, so that this peer may go. In a mesh they
    /// must also have what others gave and this peer has run: the author may be gone.
    pub(super) fn may_leave(common: &Common, since: Instant) -> Step {
        let Some(player) = common.setup.player().filter(|_| common.player_ended()) else { return Step::GoOn };
        let own = common.streams[player.index()].next();
        let lacks_end = |link: &Link| link.progress.acked[player.index()] < own;
        let lacks_turns = |link: &Link| {
            let ran = common.streams.iter().map(|stream| stream.next().min(common.gate.turn));
            common.setup.is_mesh() && link.progress.acked.iter().zip(ran).any(|(&acked, ran)| acked < ran)
        };
        // A silence counts from the wish to leave on: the network may have been down before, and a peer that lacks the last entry may come back.
        let config = &common.setup.config;
        let patience =
            config.waits.drop_after.unwrap_or(config.waits.silence_timeout).max(config.waits.linger);
        let deadline = config.ending_deadline();
        let too_late = |link: &Link| {
            common.now.since(link.last_heard.max(since)) >= patience || common.now.since(since) >= deadline
        };
        // A peer that waits for a state confirms nothing.
        let counts = |link: &&Link| link.is_connected() && !link.progress.finished && !link.lacks_state();
        let links = || common.links.values().filter(counts);
        if links().any(|link| (lacks_end(link) || lacks_turns(link)) && !too_late(link)) {
            return Step::GoOn;
        }
        match links().find(|link| lacks_end(link)).map(|link| link.peer) {
            None => Step::Depart,
            // Gone, but not in good order: nobody has confirmed the last entry.
            Some(peer) => Step::Lose(peer),
        }
    }

    /// Whether the session is over: everybody has everything, or there is no peer left to wait for.
    pub(super) fn may_finish(&mut self, common: &Common) -> Step {
        let is_done = |link: &Link| !link.is_player() || link.progress.finished || !link.is_connected();
        let is_running_relay = common.setup.is_relay() && common.phase == SessionPhase::Running;
        let players_done = is_running_relay && common.links.values().all(is_done);
        let overdue = self.is_overdue(common, players_done);
        let relay_done = players_done || (is_running_relay && overdue);
        if relay_done && !common.links.values().any(|link| link.progress.finished) {
            let last = common.links.values().next().map_or_else(Default::default, |link| link.peer);
            return Step::Lose(last);
        }
        if !relay_done && !common.is_complete() && !overdue {
            return Step::GoOn;
        }
        if let Some(link) = common.links.values().find(|link| overdue && common.may_be_dropped_by(link)) {
            return Step::Lose(link.peer);
        }
        // Of what is here, nobody needs anything after the last turn. A relay does not know the last turn of a match that the game itself ends.
        let next = common.final_next().unwrap_or(u32::MAX);
        let now = common.now;
        let confirmed = |link: &Link| {
            let silent = now.since(link.last_heard) >= common.patience(link);
            !link.is_connected()
                || link.progress.finished
                || (silent && !common.may_be_dropped_by(link))
                || common
                    .streams
                    .iter()
                    .zip(link.progress.acked)
                    .all(|(stream, acked)| acked >= stream.next().min(next))
        };
        // When all players are done, entries that a relay lacks will never come. It stays until the watchers have what is here, too.
        if overdue || common.links.values().all(confirmed) {
            return Step::Finish;
        }
        Step::GoOn
    }
}

impl AnySession {
    pub(super) fn handle_bye(&mut self, index: usize, bye: Bye) {
        let from_coordinator = self.common.links[index].identity == Some(self.common.setup.coordinator());
        let needs_others = self.needs_others();
        let link = &mut self.common.links[index];
        let (peer, is_watcher) = (link.peer, link.identity == Some(Identity::Watcher));
        match bye {
            Bye::Finished => {
                link.progress.finished = true;
                self.check_rest();
                self.check_finished();
            }
            Bye::Left | Bye::Dropped if link.progress.finished => {}
            Bye::Left | Bye::Dropped if !needs_others => {
                link.phase = LinkPhase::Closed;
                self.check_finished();
            }
            Bye::Left if is_watcher => {
                link.phase = LinkPhase::Closed;
                self.common.emit(Event::WatcherGone(peer));
                // The place becomes free: the start does not wait for a watcher that has gone.
                if self.common.phase == SessionPhase::Lobby {
                    self.common.links.shift_remove_index(index);
                }
            }
            // The place becomes free.
            Bye::Left
                if self.common.phase == SessionPhase::Lobby
                    && self.common.setup.accepts()
                    && !from_coordinator =>
            {
                self.common.links.shift_remove_index(index);
            }
            Bye::Left if self.is_joining() => self.fail(Failure::NoState),
            Bye::Left if self.common.phase == SessionPhase::Lobby => self.fail(Failure::NeverBegan(peer)),
            Bye::Left => self.player_left(index),
            Bye::Dropped => self.dropped_by(index),
        }
    }

    /// Once the middle has finished, missing entries cannot come from anybody else.
    pub(super) fn check_rest(&mut self) {
        let common = &self.common;
        let lacks_some = !common.setup.accepts() && !common.has_everything();
        let lost =
            common.finished_middle().filter(|_| lacks_some && (self.is_joining() || !common.runs_rest()));
        if let Some(peer) = lost.map(|link| link.peer) {
            self.fail(Failure::ConnectionLost(peer));
        }
    }

    /// Leaves once the others have the local player's last entry.
    pub(super) fn check_left(&mut self) {
        if let Some(since) = self.local.leaving {
            self.take_step(Ending::may_leave(&self.common, since));
        }
    }

    /// Ends the session when everybody has everything, or when there is no peer left to wait for.
    pub(super) fn check_finished(&mut self) {
        if !self.common.is_over() {
            let step = self.ending.may_finish(&self.common);
            self.take_step(step);
        }
    }

    pub(super) fn take_step(&mut self, step: Step) {
        match step {
            Step::GoOn => {}
            Step::Depart => self.depart(),
            Step::Lose(peer) => self.fail(Failure::ConnectionLost(peer)),
            Step::Finish => {
                self.common.phase = SessionPhase::Finished;
                let open = |link: &&mut Link| link.phase != LinkPhase::Closed;
                self.common
                    .links
                    .values_mut()
                    .filter(open)
                    .for_each(|link| link.outflow.owe_bye(Bye::Finished));
                self.report_cancelled();
                self.common.emit(Event::Finished);
            }
        }
    }

    pub(super) fn depart(&mut self) {
        if self.common.is_over() {
            return;
        }
        self.common.phase = SessionPhase::Left;
        self.common.links.owe_bye(Bye::Left);
        self.report_cancelled();
    }

    /// Reports accepted actions that may run nowhere: waiting actions, and those in entries that some peer has not confirmed.
    pub(super) fn report_cancelled(&mut self) {
        let mut actions = self.local.outbox.cancel();
        if let Some(player) = self.common.streams.author() {
            let stream = &self.common.streams[player.index()];
            let acks = self
                .common
                .links
                .values()
                // A peer that has finished has everything, and acknowledges nothing more.
                .filter(|link| self.common.counts(link) && !link.progress.finished)
                .map(|link| link.progress.acked[player.index()]);
            let safe = acks.min().unwrap_or(self.common.gate.turn);
            // Nothing runs after the last turn, whoever has it.
            let safe = safe.min(self.common.gate.last_turn.map_or(u32::MAX, |last| last.saturating_add(1)));
            let entries = (safe..stream.next()).filter_map(|number| stream.get(number));
            actions += entries.map(|entry| self.common.setup.codec.count(&entry.payload)).sum::<u32>();
        }
        self.tell_cancelled(actions);
    }

    /// An input that is held no longer is no loss.
    pub(super) fn tell_cancelled(&mut self, actions: u32) {
        if actions > 0 && !self.common.setup.config.input_mode {
            self.common.emit(Event::Cancelled { actions });
        }
    }
}
