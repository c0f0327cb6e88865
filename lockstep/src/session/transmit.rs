//! Packets that go out.

use crate::packet::{
    self, BODY_BITS_MAX, Bye, ENTRIES_MAX, Hello, PROTOCOL_VERSION, Refuse, Segment, Welcome,
};
use crate::session::link::{Link, LinkPhase};
use crate::session::{Session, SessionPhase};
use crate::value::action::Action;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Time for which a peer of a mesh lacks another player's entries before those who have them send them too.
const HELP_AFTER: Duration = Duration::from_millis(400);

/// Bits of a turns packet before its segments, at their largest: kind, base, acknowledgements, counts.
const HEAD_BITS_MAX: u32 = 4 + 49 + 5 + PLAYERS_MAX as u32 * 27 + 65 + 17 + 9;

impl<A: Action> Session<A> {
    /// When the next packet to a link is due.
    pub(super) fn link_due_at(&self, link: &Link) -> Option<Instant> {
        if self.is_over() && !link.owes_bye() { None } else { link.due_at(self.tick()) }
    }

    pub(super) fn next_packet(&mut self, out: &mut Vec<u8>) -> Option<PeerId> {
        if let Some((peer, refusal)) = self.lobby.refusals.pop_front() {
            Refuse { refusal }.encode(&mut self.buffers.writer);
            packet::seal(&self.buffers.writer, self.setup.config.session_id, out);
            return Some(peer);
        }
        let is_due = |link: &Link| self.link_due_at(link).is_some_and(|at| at <= self.now);
        let index = self.links.values().position(is_due)?;
        let mut more = false;
        match self.phase {
            _ if self.links[index].owes_bye() => {
                self.links[index].take_bye().unwrap_or(Bye::Left).encode(&mut self.buffers.writer);
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => return None,
            _ if self.links[index].phase == LinkPhase::Dialing => {
                let (config_hash, identity) = (self.setup.config_hash, self.setup.identity);
                Hello { version: PROTOCOL_VERSION, config_hash, identity }.encode(&mut self.buffers.writer);
            }
            _ if self.links[index].owes_welcome => {
                self.links[index].owes_welcome = false;
                Welcome { identity: self.setup.identity }.encode(&mut self.buffers.writer);
            }
            SessionPhase::Lobby => self.lobby_packet(&self.links[index]).encode(&mut self.buffers.writer),
            SessionPhase::Running | SessionPhase::Ending => more = self.write_turns(index),
        }
        let link = &mut self.links[index];
        link.note_sent(self.now, more);
        packet::seal(&self.buffers.writer, self.setup.config.session_id, out);
        Some(link.peer)
    }

    /// Writes acknowledgements and what the link lacks; tells whether something did not fit.
    fn write_turns(&mut self, index: usize) -> bool {
        let mut turns = core::mem::take(&mut self.buffers.turns);
        turns.clear();
        turns.base = match self.setup.player() {
            Some(player) => self.streams[player.index()].next(),
            None => self.gate.turn.saturating_add(self.setup.config.turns_ahead),
        };
        turns.acks.extend(self.streams.iter().map(crate::session::stream::Stream::next));
        if let Some(Identity::Player(player)) = self.links[index].identity {
            turns.unconfirmed = self.unconfirmed(player);
        }
        turns.frozen = self.mesh.frozen;
        let mut bits_left = BODY_BITS_MAX - HEAD_BITS_MAX;
        let mut more = false;
        for player in (0..self.setup.config.players).map(PlayerId) {
            if !self.sends_stream(&self.links[index], player) && !self.helps_out(index, player) {
                continue;
            }
            let stream = &self.streams[player.index()];
            let first = self.links[index].first_to_send(player).max(stream.oldest());
            let room = ENTRIES_MAX - turns.entries.len() as u32;
            let lacking = (first..stream.next()).map_while(|number| stream.get(number)).take(room as usize);
            let plan = packet::segment_cost(lacking, self.setup.format, bits_left);
            if plan.count > 0 {
                let at = turns.entries.len() as u32;
                let numbers = first..first + plan.count;
                turns.entries.extend(numbers.filter_map(|number| stream.get(number).cloned()));
                turns.segments.push(Segment { player, first, entries: at..at + plan.count });
                bits_left -= plan.bits;
            }
            more |= first + plan.count < stream.next();
            self.links[index].note_carried(player, first + plan.count);
        }
        turns.encode(self.setup.format, &mut self.buffers.writer);
        self.buffers.turns = turns;
        more
    }

    /// Whether this peer sends a player's stream over a link.
    fn sends_stream(&self, link: &Link, player: PlayerId) -> bool {
        if link.identity == Some(Identity::Player(player)) {
            return false;
        }
        if self.setup.identity == Identity::Player(player) {
            return true;
        }
        self.setup.forwards() && self.streams[player.index()].source != Some(link.peer)
    }

    /// Mesh: whether a peer has lacked a player's entries for so long that its own link to the player must be broken.
    fn helps_out(&mut self, index: usize, player: PlayerId) -> bool {
        if !self.setup.is_mesh() {
            return false;
        }
        let (now, here) = (self.now, self.streams[player.index()].next());
        let link = &mut self.links[index];
        if link.acked[player.index()] >= here {
            link.lacks_since[player.index()] = None;
            return false;
        }
        let since = *link.lacks_since[player.index()].get_or_insert(now);
        // What a frozen player's own link cannot deliver any more comes from whoever has it, and so does the end.
        let helps = self.mesh.frozen & (1 << player.0) != 0 || now.since(since) >= HELP_AFTER;
        helps && link.identity != Some(Identity::Player(player))
    }
}
