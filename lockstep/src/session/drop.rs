//! Drops players who do not answer: in a star the middle decides, in a mesh all survivors agree first.

use crate::pace::pacing::Pace;
use crate::packet::Bye;
use crate::session::event::{Event, Failure};
use crate::session::link::{Link, LinkPhase};
use crate::session::{AnySession, SessionPhase, players_in};
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Extra, Extras, Payload};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Duration;

impl AnySession {
    pub(super) fn silence_timeout(&mut self) {
        let timeout = self.setup.config.silence_timeout;
        let may_drop = self.setup.may_drop();
        for index in 0..self.links.len() {
            let link = &self.links[index];
            if self.is_awaited(link) && self.now.since(link.last_heard) >= timeout {
                let link = &mut self.links[index];
                let peer = link.peer;
                match link.identity {
                    Some(Identity::Spectator) => {
                        link.phase = LinkPhase::Closed;
                        self.emit(Event::SpectatorGone(peer));
                    }
                    Some(Identity::Player(player)) if may_drop => {
                        if self.streams[player.index()].end().is_some() {
                            link.phase = LinkPhase::Closed;
                        } else if !self.setup.is_mesh() {
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

    /// Whether the remote must give signs of life. Who has finished need not, except the middle of a star as long as this peer still lacks
    /// something: it cannot come from anybody else.
    pub(super) fn is_awaited(&self, link: &Link) -> bool {
        let serves_us =
            !self.setup.is_mesh() && !self.setup.accepts() && link.identity == Some(self.setup.coordinator());
        link.is_connected() && (!link.finished || (serves_us && !self.has_everything()))
    }

    /// Drops the players for whom the game has waited too long.
    pub(super) fn drop_silent(&mut self) {
        if !self.setup.may_drop() {
            return;
        }
        let follows_turns = self.phase == SessionPhase::Running && !self.setup.is_relay();
        let missing = self.blocking();
        let position = self.slowest_next();
        if !follows_turns && (missing == 0 || position != self.waiting.position) {
            self.waiting.since = None;
        }
        self.waiting.position = position;
        if missing == 0 {
            self.take_back(self.talking());
            return;
        }
        self.waiting.since.get_or_insert(self.now);
        let waited = self.waited();
        if self.gives_up_agreeing(waited) {
            return;
        }
        // All survivors must give up the same players, so they follow the lowest one.
        let told = self.given_up_by_leader() & self.believed(missing, waited);
        if told & !self.mesh.frozen != 0 {
            self.freeze(told);
            return;
        }
        let over = match missing & self.overdrawn() {
            0 if waited < self.setup.config.drop_after.unwrap_or_default() => return,
            0 => missing,
            overdrawn => overdrawn,
        };
        if self.setup.is_mesh() {
            self.freeze(self.given_up_first(over));
        } else {
            self.end_streams(self.silent_first(over));
        }
    }

    /// Star: whom to drop first if these players are missing. A player who can be heard may itself be waiting for a silent one and goes on
    /// when that one is gone: with the article's gate a player waits for the confirmations of all others.
    fn silent_first(&self, missing: u16) -> u16 {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        let silent =
            self.live() & !self.heard_within(drop_after - Duration::from_micros(drop_after.as_micros() / 4));
        if self.setup.config.pace != Pace::Article {
            return if silent & missing == 0 { missing } else { silent & missing };
        }
        let suspects = if silent == 0 { self.withholding() } else { silent };
        if suspects == 0 { missing } else { suspects }
    }

    /// Star: players who have not confirmed the others' entries below the slowest player's next one, bit n for player n. If that player does
    /// not move, these entries have been here for as long.
    fn withholding(&self) -> u16 {
        let position = self.slowest_next();
        let lacks = |player: PlayerId, link: &Link| {
            let others = (0_u8..).map(PlayerId).zip(&self.streams).zip(link.acked);
            let mut others = others.filter(|((other, stream), _)| *other != player && stream.end().is_none());
            others.any(|(_, ack)| ack < position)
        };
        self.links.values().filter(|link| link.is_connected() && self.plays(link)).fold(0, |mask, link| {
            match link.identity {
                Some(Identity::Player(player)) if lacks(player, link) => mask | (1 << player.0),
                _ => mask,
            }
        })
    }

    /// Drops a player at once, for any reason that the application has. Everybody goes on without the player from the same turn on, as
    /// after a silence. Only the middle of a star can do this. Returns whether it was done.
    pub fn kick(&mut self, player: PlayerId) -> bool {
        let others = self.live() & !self.setup.player().map_or(0, |own| 1 << own.0);
        let can = self.setup.forwards() && self.phase == SessionPhase::Running;
        if !can || player.0 >= self.setup.config.players || others & (1 << player.0) == 0 {
            return false;
        }
        self.end_streams(1 << player.0);
        true
    }

    /// Next entry of the slowest stream that has not ended.
    pub(super) fn slowest_next(&self) -> u32 {
        let live = self.streams.iter().filter(|stream| stream.end().is_none());
        live.map(crate::session::stream::Stream::next).min().unwrap_or(u32::MAX)
    }

    /// Players whose next entry blocks the match, bit n for player n.
    pub(super) fn blocking(&self) -> u16 {
        let own = self.setup.player();
        let live = || {
            let others = (0_u8..).zip(&self.streams).filter(|(player, _)| own != Some(PlayerId(*player)));
            others.filter(|(_, stream)| stream.end().is_none())
        };
        let needed = match (self.phase, self.setup.is_relay()) {
            // No player is more than the turns ahead in front of the slowest one, and all players who wait for the slowest one are exactly
            // that far ahead.
            (SessionPhase::Running, true) => {
                let slowest = self.slowest_next();
                // The first entries of a returning player lie ahead, and no peer has reached them.
                let fastest = live().filter(|(_, stream)| !stream.is_pending());
                let fastest = fastest.map(|(_, stream)| stream.next()).max().unwrap_or(0);
                // After the last turn no player gets further ahead.
                let ends = self.final_next().is_some_and(|next| fastest >= next && slowest < next);
                let stands = ends || fastest.saturating_sub(slowest) >= self.setup.config.turns_ahead.max(1);
                if stands { slowest.saturating_add(1) } else { 0 }
            }
            (SessionPhase::Running, false) if self.waiting.since.is_some() => {
                self.gate.turn.saturating_add(1)
            }
            (SessionPhase::Ending, _) => self.final_next().unwrap_or(0),
            _ => 0,
        };
        let waits = self.phase == SessionPhase::Running && self.waiting.since.is_some() && !self.gate.in_turn;
        let unconfirming = if waits { self.unconfirming() } else { 0 };
        live()
            .filter(|(player, stream)| stream.next() < needed || unconfirming & (1 << player) != 0)
            .fold(0, |mask, (player, _)| mask | (1 << player))
    }

    /// Players whose streams have not ended, bit n for player n.
    pub(super) fn live(&self) -> u16 {
        let live = (0..self.setup.config.players)
            .filter(|&player| self.streams[usize::from(player)].end().is_none());
        live.fold(0, |mask, player| mask | (1 << player))
    }

    /// Ends streams after the entries that are here, for all peers that get the streams from here.
    pub(super) fn end_streams(&mut self, players: u16) {
        self.charge_dropped(players & self.live());
        for player in players_in(players) {
            let stream = &mut self.streams[player.index()];
            if stream.end().is_some() {
                continue;
            }
            let payload = if self.setup.config.input_mode {
                codec::zeros(self.setup.action_bits)
            } else {
                Payload::none()
            };
            let extras: Extras = [Extra::End(EndReason::Dropped)].into_iter().collect();
            tracing::warn!(player = player.0, turn = stream.next(), "dropped");
            stream.push(Entry { payload, extras });
            stream.source = None;
            self.stats.drops += 1;
            self.close_link_of(player);
        }
        for link in self.links.values_mut() {
            link.mark_urgent();
        }
        if self.setup.is_relay() {
            self.forward_whole_turns();
        }
        self.waiting.missing = players;
        let waited = self.waited();
        self.pace.meter.turn_begins(waited, self.now);
        self.waiting.end(self.now);
        self.settle_checksums();
    }

    /// The player has been dropped; tells the player so.
    pub(super) fn close_link_of(&mut self, player: PlayerId) {
        for link in self.links.values_mut().filter(|link| link.identity == Some(Identity::Player(player))) {
            link.phase = LinkPhase::Closed;
            link.owe_bye(Bye::Dropped);
        }
    }

    /// A peer says that it has dropped the local player. In a star only the middle can do that. In a mesh a single peer cannot end
    /// anybody's match, only its own link.
    pub(super) fn dropped_by(&mut self, index: usize) {
        let link = &mut self.links[index];
        let counts = match link.identity {
            Some(identity) if self.setup.is_mesh() => {
                matches!(identity, Identity::Player(_))
            }
            Some(identity) => identity == self.setup.coordinator(),
            None => false,
        };
        if !counts {
            self.stats.packets_unexpected += 1;
            return;
        }
        self.links[index].phase = LinkPhase::Closed;
        let others = |link: &&Link| self.plays(link) && !link.finished;
        let all = self.links.values().filter(others).count();
        let closed =
            self.links.values().filter(others).filter(|link| link.phase == LinkPhase::Closed).count();
        if !self.setup.is_mesh() || closed * 2 > all {
            self.fail(Failure::Dropped);
        }
    }

    /// A player's bye packet came before the end of the match.
    pub(super) fn player_left(&mut self, index: usize) {
        let (peer, identity) = (self.links[index].peer, self.links[index].identity);
        match identity {
            // Without the middle of the star no peer can reach another one.
            _ if !self.setup.accepts() => self.fail(Failure::PeerLeft(peer)),
            Some(Identity::Player(player)) if self.streams[player.index()].end().is_some() => {
                self.links[index].phase = LinkPhase::Closed;
            }
            // The process is gone: do not wait for its entries. (In a mesh others may still have some of them.)
            Some(Identity::Player(player)) if self.setup.may_drop() => {
                if !self.setup.is_mesh() {
                    self.end_streams(1 << player.0);
                }
            }
            _ => self.fail(Failure::PeerLeft(peer)),
        }
    }

    /// A player cannot fall this far behind by a network fault, because the others wait for it. So it withholds confirmations on purpose.
    pub(super) fn lose_straggler(&mut self, index: usize) {
        let link = &mut self.links[index];
        let peer = link.peer;
        link.phase = LinkPhase::Closed;
        link.owe_bye(Bye::Dropped);
        let identity = link.identity;
        let serves_us = !self.setup.is_mesh() && identity == Some(self.setup.coordinator());
        match identity {
            _ if serves_us => self.fail(Failure::ConnectionLost(peer)),
            Some(Identity::Player(player)) if self.streams[player.index()].end().is_none() => {
                if !self.setup.may_drop() {
                    self.fail(Failure::ConnectionLost(peer));
                } else if !self.setup.is_mesh() {
                    self.end_streams(1 << player.0);
                }
            }
            _ => self.emit(Event::SpectatorGone(peer)),
        }
    }
}
