//! Drops players who do not answer: in a star the middle decides, in a mesh all survivors agree first.

use crate::pace::pacing::Pace;
use crate::packet::{Bye, TurnsPacket};
use crate::session::clock::CLOCK_JUMP;
use crate::session::ending::Step;
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::link::{Link, LinkPhase};
use crate::session::mesh;
use crate::session::mesh::Next;
use crate::session::{AnySession, SessionPhase, players_in};
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Extra, Extras, Payload};
use crate::value::ids::Identity;
use crate::value::time::Duration;

impl AnySession {
    pub(super) fn silence_timeout(&mut self) {
        let timeout = self.common.setup.config.waits.silence_timeout;
        let may_drop = self.common.setup.may_drop();
        for index in 0..self.common.links.len() {
            let link = &self.common.links[index];
            if self.common.is_awaited(link) && self.common.now.since(link.last_heard) >= timeout {
                let link = &mut self.common.links[index];
                let peer = link.peer;
                match link.identity {
                    Some(Identity::Watcher) => {
                        link.phase = LinkPhase::Closed;
                        self.common.emit(Event::WatcherGone(peer));
                    }
                    Some(Identity::Player(player)) if may_drop => {
                        if self.common.streams[player.index()].end().is_some() {
                            link.phase = LinkPhase::Closed;
                        } else if !self.common.setup.is_mesh() {
                            self.end_streams(1 << player.0);
                        }
                    }
                    _ => {
                        link.phase = LinkPhase::Closed;
                        self.fail(Failure::ConnectionLost(peer));
                    }
                }
            }
        }
    }

    /// Drops the players for whom the game has waited too long.
    pub(super) fn drop_silent(&mut self) {
        let position = self.common.streams.slowest_next();
        let advances = position != self.waiting.position;
        // Guests drop nobody, and count down to when the middle does.
        self.waiting.note_position(position, self.common.now);
        if !self.common.setup.may_drop() {
            return;
        }
        let follows_turns = self.common.phase == SessionPhase::Running && !self.common.setup.is_relay();
        let missing = self.waiting.blocking(&self.common);
        if !follows_turns && (missing == 0 || advances) {
            self.waiting.since = None;
        }
        if missing == 0 {
            self.mesh.take_back(&self.common, self.ballots.own, self.common.talking());
            return;
        }
        self.waiting.since.get_or_insert(self.common.now);
        let waited = self.waiting.waited(&self.common);
        if self.common.setup.is_mesh() && mesh::agrees_never(self.common.config(), waited) {
            self.fail_alone();
            return;
        }
        // All survivors must give up the same players, so they follow the lowest one.
        let told =
            self.mesh.given_up_by_leader(&self.common) & self.mesh.believed(&self.common, missing, waited);
        if told & !self.mesh.frozen != 0 {
            self.freeze(told);
            return;
        }
        let over = match missing & self.lateness.overdrawn(&self.common) {
            0 if waited < self.common.setup.config.waits.drop_after.unwrap_or_default() => return,
            0 => missing,
            overdrawn => overdrawn,
        };
        if self.common.setup.is_mesh()
            && self.common.phase == SessionPhase::Ending
            && self.have_finished(over)
        {
            // Their last checksums never come, and all turns have run here.
            self.take_step(Step::Finish);
        } else if self.common.setup.is_mesh() {
            self.freeze(self.mesh.given_up_first(&self.common, over));
        } else {
            self.end_streams(self.silent_first(over));
        }
    }

    /// Whether all of these players have gone in good order after the last turn.
    fn have_finished(&self, players: u16) -> bool {
        let has_finished = |player| self.common.links.of(player).is_some_and(|link| link.progress.finished);
        players_in(players).all(has_finished)
    }

    /// Star: whom to drop first if these players are missing. A player who can be heard may itself be waiting for a silent one and goes on
    /// when that one is gone: with the article's gate a player waits for the confirmations of all others.
    fn silent_first(&self, missing: u16) -> u16 {
        let drop_after = self.common.setup.config.waits.drop_after.unwrap_or_default();
        let silent = self.common.streams.live()
            & !self.common.heard_within(drop_after - Duration::from_micros(drop_after.as_micros() / 4));
        if self.common.setup.config.tempo.pace != Pace::Article {
            return if silent & missing == 0 { missing } else { silent & missing };
        }
        let suspects = if silent == 0 { self.common.withholding() } else { silent };
        if suspects == 0 { missing } else { suspects }
    }

    /// Ends streams after the entries that are here, for all peers that get the streams from here.
    pub(super) fn end_streams(&mut self, players: u16) {
        self.charge_dropped(players & self.common.streams.live());
        for player in players_in(players) {
            let stream = &mut self.common.streams[player.index()];
            if stream.end().is_some() {
                continue;
            }
            let payload = if self.common.setup.config.input_mode {
                codec::zeros(self.common.setup.action_bits)
            } else {
                Payload::none()
            };
            let extras: Extras = [Extra::End(EndReason::Dropped)].into_iter().collect();
            tracing::warn!(player = player.0, turn = stream.next(), "dropped");
            stream.push(Entry { payload, extras });
            stream.source = None;
            self.common.stats.drops += 1;
            self.common.links.close_link_of(player);
        }
        self.common.links.mark_urgent();
        if self.common.setup.is_relay() {
            self.forward_whole_turns();
        }
        self.end_wait_for(players);
        self.settle_checksums();
    }

    /// These players have been dropped: the wait so far was for them. If the turn lacks others, too, their time begins now.
    pub(super) fn end_wait_for(&mut self, players: u16) {
        self.waiting.missing = players;
        let waited = self.waiting.waited(&self.common);
        self.pace.meter.turn_begins(waited, self.common.now);
        self.waiting.end(self.common.now);
    }

    /// A peer says that it has dropped the local player. In a star only the middle can do that. In a mesh a single peer cannot end
    /// anybody's match, only its own link.
    pub(super) fn dropped_by(&mut self, index: usize) {
        let link = &mut self.common.links[index];
        let counts = match link.identity {
            Some(identity) if self.common.setup.is_mesh() => {
                matches!(identity, Identity::Player(_))
            }
            Some(identity) => identity == self.common.setup.coordinator(),
            None => false,
        };
        if !counts {
            self.common.stats.packets_unexpected += 1;
            return;
        }
        self.common.links[index].phase = LinkPhase::Closed;
        let others = |link: &&Link| self.common.plays(link) && !link.progress.finished;
        let all = self.common.links.values().filter(others).count();
        let closed =
            self.common.links.values().filter(others).filter(|link| link.phase == LinkPhase::Closed).count();
        if !self.common.setup.is_mesh() || closed * 2 > all {
            self.fail(Failure::Dropped);
        }
    }

    /// A player's bye packet came before the end of the match.
    pub(super) fn player_left(&mut self, index: usize) {
        let (peer, identity) = (self.common.links[index].peer, self.common.links[index].identity);
        match identity {
            // Without the middle of the star no peer can reach another one.
            _ if !self.common.setup.accepts() => self.fail(Failure::PeerLeft(peer)),
            Some(Identity::Player(player)) if self.common.streams[player.index()].end().is_some() => {
                self.common.links[index].phase = LinkPhase::Closed;
            }
            // The process is gone: do not wait for its entries. (In a mesh others may still have some of them.)
            Some(Identity::Player(player)) if self.common.setup.may_drop() => {
                if !self.common.setup.is_mesh() {
                    self.end_streams(1 << player.0);
                }
            }
            _ => self.fail(Failure::PeerLeft(peer)),
        }
    }

    /// A player cannot fall this far behind by a network fault, because the others wait for it. So it withholds confirmations on purpose.
    pub(super) fn lose_straggler(&mut self, index: usize) {
        if self.common.links[index].arrival.is_some() {
            self.common.end_arrival(index);
            return;
        }
        let link = &mut self.common.links[index];
        let peer = link.peer;
        link.phase = LinkPhase::Closed;
        link.outflow.owe_bye(Bye::Dropped);
        let identity = link.identity;
        let serves_us = !self.common.setup.is_mesh() && identity == Some(self.common.setup.coordinator());
        match identity {
            _ if serves_us => self.fail(Failure::ConnectionLost(peer)),
            Some(Identity::Player(player)) if self.common.streams[player.index()].end().is_none() => {
                if !self.common.setup.may_drop() {
                    self.fail(Failure::ConnectionLost(peer));
                } else if !self.common.setup.is_mesh() {
                    self.end_streams(1 << player.0);
                }
            }
            _ => self.common.emit(Event::WatcherGone(peer)),
        }
    }

    /// Bytes of the entries that this peer keeps, at most.
    #[cfg(feature = "codes")]
    pub(crate) fn entry_bytes(&self) -> u64 {
        self.common.streams.iter().map(crate::session::stream::Stream::bytes).sum()
    }

    /// The match is over here, and nobody is to be sent any entry.
    #[cfg(feature = "codes")]
    pub(crate) fn forget_entries(&mut self) {
        debug_assert!(self.common.is_over());
        self.common.streams.iter_mut().for_each(crate::session::stream::Stream::forget_all);
    }

    /// A process with many sessions lacks the memory for entries that somebody has not confirmed: whoever is furthest behind is lost. Returns whether there
    /// was somebody.
    #[cfg(feature = "codes")]
    pub(crate) fn lose_furthest_behind(&mut self) -> bool {
        let behind = |link: &Link| {
            let lacks = self.common.streams.iter().zip(link.progress.acked);
            lacks.map(|(stream, acked)| u64::from(stream.next().saturating_sub(acked))).sum::<u64>()
        };
        let here = self.common.links.values().enumerate().filter(|(_, link)| link.is_connected());
        let furthest = here.map(|(index, link)| (behind(link), index)).max();
        let Some((_, index)) = furthest.filter(|(behind, _)| *behind > 0 && !self.common.is_over()) else {
            return false;
        };
        self.lose_straggler(index);
        self.common.forget_confirmed();
        true
    }

    /// The middle of a star drops the players that are voted out.
    pub(super) fn obey_votes(&mut self) {
        if !self.common.setup.forwards() || self.common.phase != SessionPhase::Running {
            return;
        }
        let own = self.common.own();
        for player in players_in(self.common.streams.live() & !own) {
            if self.ballots.is_voted_out(self.common.streams.live(), player) {
                tracing::info!(player = player.0, "voted out");
                self.end_streams(1 << player.0);
            }
        }
    }

    /// Adds the time since the last call to the debts of the players for whom the match waits.
    pub(super) fn note_lateness(&mut self) {
        let span = self.lateness.pass(self.common.now);
        // A peer that catches up runs each turn as soon as it is there, and therefore waits for everybody all the time.
        if span > CLOCK_JUMP || self.common.phase != SessionPhase::Running || self.is_catching_up() {
            return;
        }
        let waited = self.waiting.waited(&self.common);
        let is_known = waited > Duration::ZERO && self.waiting.hears_middle(&self.common);
        let late = if is_known { self.waiting.late(&self.common) } else { 0 };
        self.lateness.note(&mut self.common, span, waited, late);
    }

    /// These players are dropped. The others have waited for them: now, and in former turns if they were late again and again.
    fn charge_dropped(&mut self, players: u16) {
        let waited = self.waiting.waited(&self.common);
        let late = if waited > Duration::ZERO { self.waiting.late(&self.common) } else { 0 };
        for player in players_in(players) {
            let now = if late & (1 << player.0) != 0 { waited } else { Duration::ZERO };
            let owed = now.max(self.lateness.of(player));
            self.lateness.costs.charge_dropped(&self.common, player, owed);
        }
    }

    /// Mesh: gives these players up, and drops those on whom all survivors agree.
    fn freeze(&mut self, missing: u16) {
        let waited = self.waiting.waited(&self.common);
        match self.mesh.freeze(&self.common, self.ballots.own, missing, waited) {
            Next::Wait => {}
            Next::Drop(players) => self.end_streams(players),
            Next::Alone => self.fail_alone(),
        }
    }

    /// Mesh: a player who has resigned and cannot be heard is not asked whom to drop. It may have entries that most players have gone on without; then it
    /// watches another match, and fails like a player who was dropped.
    pub(super) fn note_other_match(&mut self, index: usize, turns: &TurnsPacket) {
        let Some(Identity::Player(sender)) = self.common.links[index].identity else { return };
        if !self.common.setup.is_mesh() || !self.common.player_ended() {
            return;
        }
        let is_another = mesh::plays_another(&self.common, sender, turns);
        self.common.links[index].mesh.plays_another |= is_another;
        let says = |link: &&Link| self.common.plays(link) && link.mesh.plays_another;
        let said = self.common.links.values().filter(says).count() as u32;
        if is_another && said * 2 > self.common.streams.live().count_ones() {
            self.fail(Failure::Dropped);
        }
    }

    fn fail_alone(&mut self) {
        let lost = self.common.links.values().find(|link| !link.progress.finished).map(|link| link.peer);
        self.fail(Failure::ConnectionLost(lost.unwrap_or_default()));
    }

    /// Mesh: gives up the players whom a majority of the active players votes out.
    pub(super) fn count_votes(&mut self) {
        let setup = &self.common.setup;
        let counts = setup.is_mesh() && setup.may_drop() && self.common.phase == SessionPhase::Running;
        if counts && self.mesh.voted_out(&self.common, self.ballots.own) != 0 {
            self.freeze(self.mesh.frozen & self.common.streams.live());
        }
    }

    /// Forgets entries that have run and that every link has confirmed. A peer whose confirmations fall too far behind is lost.
    pub(super) fn forget_old(&mut self) {
        self.common.note_marks();
        for index in 0..self.common.links.len() {
            if self.common.is_straggler(&self.common.links[index]) {
                self.lose_straggler(index);
            }
        }
        self.common.forget_confirmed();
    }
}
