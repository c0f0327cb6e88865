//! The turn gate: when a turn begins, what runs in it, what its end closes.

use smallvec::SmallVec;

use crate::action::Action;
use crate::checksum::fold_checksum;
use crate::codec;
use crate::entry::{Entry, Extra, Payload};
use crate::event::Event;
use crate::ids::{PlayerId, Turn};
use crate::session::{Session, State};
use crate::time::Instant;

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
        match self.state {
            State::Lobby => TurnStatus::Waiting,
            State::Running if self.in_turn || self.is_relay() => TurnStatus::Waiting,
            State::Running if self.streams.iter().all(|stream| stream.has(self.turn)) => {
                TurnStatus::Ready(Turn(self.turn))
            }
            State::Running => TurnStatus::Waiting,
            State::Ending | State::Finished | State::Failed(_) => TurnStatus::Over,
        }
    }

    /// Begins the next turn if it is ready: the local player's entry for the turn `turns_ahead` later closes now.
    /// Submit actions before this call to have them in that entry.
    #[must_use]
    pub fn begin_turn(&mut self, now: Instant) -> TurnStatus {
        self.now = self.now.max(now);
        let status = self.turn_status();
        if let TurnStatus::Ready(turn) = status {
            if self.waiting_reported {
                self.emit(Event::WaitingOver { turn });
            }
            self.waiting_since = None;
            self.waiting_reported = false;
            self.turn += 1;
            self.in_turn = true;
            self.stats.turns_begun += 1;
            self.close_entry(false);
            self.report_gone(turn);
        } else if self.state == State::Running && !self.in_turn && self.waiting_since.is_none() {
            self.waiting_since = Some(self.now);
        }
        status
    }

    /// The actions of the turn that has begun: players in order, each player's actions in the order in which they were given.
    pub fn turn_actions(&self) -> impl Iterator<Item = (PlayerId, A)> + '_ {
        let turn = self.turn.wrapping_sub(1);
        (0_u8..).zip(&self.streams).flat_map(move |(player, stream)| {
            let payload = stream.get(turn).filter(|entry| entry.end().is_none()).map(|entry| &entry.payload);
            payload.into_iter().flat_map(codec::actions::<A>).map(move |action| (PlayerId(player), action))
        })
    }

    /// Players who give no more actions from the turn that has begun on.
    pub fn turn_gone(&self) -> impl Iterator<Item = PlayerId> + '_ {
        let turn = self.turn.wrapping_sub(1);
        let gone = move |stream: &crate::stream::Stream| stream.end().is_some_and(|(last, _)| last == turn);
        (0_u8..).zip(&self.streams).filter(move |(_, s)| gone(s)).map(|(player, _)| PlayerId(player))
    }

    /// Ends the turn that has begun. `checksum` is the hash of the state after the turn's last frame.
    pub fn end_turn(&mut self, now: Instant, checksum: u64) {
        self.now = self.now.max(now);
        let Some(turn) = self.turn.checked_sub(1).filter(|_| self.in_turn) else { return };
        self.in_turn = false;
        self.ended_checksum = None;
        if self.checksums.covers(turn) {
            let folded = fold_checksum(checksum);
            self.ended_checksum = Some(folded);
            self.checksums.note_own(turn, folded, self.player());
            self.settle_checksums();
        }
        if self.last_turn == Some(turn) {
            self.state = State::Ending;
            self.close_entry(true);
            self.check_finished();
        }
        self.forget_old();
    }

    /// The match ends with the turn that has begun (or that begins next). All peers must say so in the same turn: it is
    /// meant for a simulation that finds that the game is decided.
    pub fn end_match(&mut self) {
        let turn = if self.in_turn { self.turn - 1 } else { self.turn };
        if self.state == State::Running && self.last_turn.is_none_or(|last| last > turn) {
            self.last_turn = Some(turn);
            self.checksums.set_last_turn(turn);
        }
    }

    /// Closes the local player's next entry. It carries the checksum of the turn that ended last.
    fn close_entry(&mut self, is_last: bool) {
        let Some(player) = self.player() else { return };
        let stream = &mut self.streams[player.index()];
        if stream.end().is_some() {
            return;
        }
        // The entry after the last turn runs nowhere: it only carries the last checksum.
        let payload = match (is_last, self.config.input_mode) {
            (true, false) => Payload::none(),
            _ => self.outbox.close(),
        };
        let extras: SmallVec<[Extra; 2]> =
            self.ended_checksum.take().map(Extra::Checksum).into_iter().collect();
        stream.push(Entry { payload, extras });
        for link in &mut self.links {
            link.mark_urgent();
        }
    }

    /// Number of entries after the last one of a finished stream.
    pub(super) fn final_next(&self) -> Option<u32> {
        self.last_turn.map(|last| last.saturating_add(self.config.turns_ahead).saturating_add(2))
    }

    fn report_gone(&mut self, turn: Turn) {
        for player in 0..self.config.players {
            if let Some((last, reason)) = self.streams[usize::from(player)].end()
                && last == turn.0
            {
                self.emit(Event::PlayerGone { player: PlayerId(player), reason, turn });
            }
        }
    }

    /// Compares the checksums of all turns that are complete.
    pub(super) fn settle_checksums(&mut self) {
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

    /// Forgets entries that have run and that every link has confirmed.
    pub(super) fn forget_old(&mut self) {
        let run = if self.is_relay() { u32::MAX } else { self.turn.saturating_sub(1) };
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let confirmed =
                self.links.iter().filter(|link| link.is_connected()).map(|link| link.acked[index]);
            let needed = confirmed.min().unwrap_or(u32::MAX).min(run);
            stream.forget_below(needed.min(stream.next()));
        }
    }
}
