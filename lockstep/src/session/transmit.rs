//! Outgoing packets.

use crate::packet::{
    self, BODY_BITS_MAX, Bye, Challenge, END_BITS, ENTRIES_MAX, Refuse, Segment, SegmentPlan, Transfer,
    TurnsPacket, Welcome, Whole,
};
use crate::session::link::{Link, LinkPhase};
use crate::session::lobby::Reply;
use crate::session::{AnySession, SessionPhase};
use crate::value::entry::Entry;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// If a peer of a mesh lacks another player's entries for this long, the peers that have them send them too.
const HELP_AFTER: Duration = Duration::from_millis(400);

/// Each further helper starts this much later than the one before, because the first is usually enough.
const HELP_STAGGER: Duration = Duration::from_millis(150);

/// A helper continues for this long before it checks again whether help is needed.
const HELP_FOR: Duration = Duration::from_secs(5);

/// From this many players on the middle of a star does not repeat others' entries in every packet.
const CROWD: u8 = 6;

/// Longest time between two repetitions.
const REPEAT_GAP_MAX: Duration = Duration::from_millis(150);

/// Usual greatest size of a turns packet before its segments, bits: kind, base, acknowledgements, counts. Only acknowledgements of streams that ended long
/// ago, between those of others, take more.
const HEAD_BITS_MAX: u32 = 4 + 49 + 5 + PLAYERS_MAX as u32 * 27 + 65 + 66 + 33 + 1 + 9;

/// What still fits into a turns packet, and what may be in it.
struct PacketRoom {
    bits: u32,
    /// Whether others' entries that were sent before are repeated.
    repeats: bool,
    /// Entries from this number on must not be shown to the remote yet.
    shown: u32,
}

impl AnySession {
    /// When the next packet to a link is due.
    pub(super) fn link_due_at(&self, link: &Link) -> Option<Instant> {
        if self.common.is_over() && !link.outflow.owes_bye() { None } else { link.due_at(self.tick()) }
    }

    pub(super) fn next_packet(&mut self, out: &mut Vec<u8>) -> Option<PeerId> {
        if let Some(reply) = self.lobby.replies.pop_front() {
            match reply.what {
                Reply::Refuse(refusal) => Refuse { refusal }.encode(&mut self.buffers.writer),
                Reply::Challenge(cookie) => Challenge { cookie }.encode(&mut self.buffers.writer),
            }
            packet::seal(&self.buffers.writer, reply.key, out);
            return Some(reply.to);
        }
        let is_due = |link: &Link| self.link_due_at(link).is_some_and(|at| at <= self.common.now);
        let Some(index) = self.common.links.values().position(is_due) else {
            if let Some(peer) = self.messages_packet(out) {
                return Some(peer);
            }
            let writer = &mut self.buffers.writer;
            return self.transfers.packet(&mut self.common, &self.delayed, writer, out);
        };
        let owes_roster =
            self.signing.as_ref().is_some_and(|signing| signing.owes_roster(&mut self.common, index));
        let owes_bye = self.common.links[index].outflow.owes_bye();
        let is_hello = !owes_bye && self.common.links[index].phase == LinkPhase::Dialing;
        let mut more = false;
        match self.common.phase {
            _ if owes_bye => {
                self.common.links[index]
                    .outflow
                    .take_bye()
                    .unwrap_or(Bye::Left)
                    .encode(&mut self.buffers.writer);
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => return None,
            _ if is_hello => {
                let (nonce, cookie) =
                    (self.common.links[index].handshake.nonce, self.common.links[index].handshake.cookie);
                self.common.setup.hello(nonce, cookie).encode(&mut self.buffers.writer);
            }
            _ if self.common.links[index].outflow.owes_welcome => {
                self.common.links[index].outflow.owes_welcome = false;
                let connection = self.common.links[index].handshake.connection;
                Welcome { identity: self.common.setup.identity, connection }.encode(&mut self.buffers.writer);
            }
            SessionPhase::Lobby => {
                self.lobby_packet(&self.common.links[index]).encode(&mut self.buffers.writer)
            }
            SessionPhase::Running | SessionPhase::Ending if owes_roster => {
                self.lobby_packet(&self.common.links[index]).encode(&mut self.buffers.writer);
            }
            _ if self.common.links[index].lacks_state() => Transfer::Wait.encode(&mut self.buffers.writer),
            SessionPhase::Running | SessionPhase::Ending => more = self.write_turns(index),
        }
        let link = &mut self.common.links[index];
        // The receiver must be able to read a hello before it knows anything about the sender.
        let key = if is_hello { 0 } else { link.handshake.key };
        link.outflow.note_sent(self.common.now, more);
        packet::seal(&self.buffers.writer, key, out);
        Some(link.peer)
    }

    /// Writes acknowledgements and the entries that the link lacks. Returns whether something did not fit.
    fn write_turns(&mut self, index: usize) -> bool {
        let mut turns = core::mem::take(&mut self.buffers.turns);
        turns.clear();
        turns.base = match self.common.setup.player() {
            Some(player) => self.common.streams[player.index()].next(),
            None => self.common.gate.turn.saturating_add(self.common.setup.config.turns_ahead),
        };
        turns.acks.extend(self.common.streams.iter().map(crate::session::stream::Stream::next));
        if let Some(Identity::Player(player)) = self.common.links[index].identity {
            turns.unconfirmed = self.common.unconfirmed(player);
        }
        turns.frozen = self.mesh.frozen;
        turns.votes = if self.common.setup.is_mesh() { self.ballots.own } else { 0 };
        turns.horizon = self.transfers.middle.horizon.of(&self.common, self.pace.planner.turn(), index);
        let round_trip = self.pace.meter.network();
        let mut more = self.signing.as_ref().is_some_and(|signing| {
            signing.write(&mut self.common, &self.delayed, index, round_trip, &mut turns)
        });
        let mut room = PacketRoom {
            bits: BODY_BITS_MAX
                - HEAD_BITS_MAX.max(turns.head_bits())
                - self.signing.as_ref().map_or(0, |_| turns.signed.bits()),
            repeats: self.repeats(index),
            shown: self.delayed.shown_to(&self.common, &self.common.links[index]),
        };
        for player in (0..self.common.config().players).map(PlayerId) {
            let link = &self.common.links[index];
            if self.common.sends_stream(link, player) || self.helps_out(index, player) {
                more |= self.write_stream(index, player, &mut turns, &mut room);
            }
        }
        turns.encode(self.common.setup.format, &mut self.buffers.writer);
        self.buffers.turns = turns;
        more
    }

    /// Writes the entries of one player that the link lacks. Returns whether some did not fit.
    fn write_stream(
        &mut self,
        index: usize,
        player: PlayerId,
        turns: &mut TurnsPacket,
        room: &mut PacketRoom,
    ) -> bool {
        let stream = &self.common.streams[player.index()];
        let link = &mut self.common.links[index];
        let mut first = link.first_to_send(player).max(stream.oldest());
        if !room.repeats && self.common.setup.identity != Identity::Player(player) {
            first = first.max(link.outflow.carried[player.index()]).min(stream.next());
        }
        let is_author = link.identity == Some(Identity::Player(player));
        let author_from = if is_author { link.progress.author_from } else { u32::MAX };
        let run = stream.run_from(first);
        // A return follows only an end that the remote has: it would take it for the return after an earlier end, and miss what was in between.
        let known = stream.run_from(link.progress.acked[player.index()]).end;
        let (first, end) = (run.start, run.end.min(known).min(author_from).min(room.shown).max(run.start));
        let most = ENTRIES_MAX as usize - turns.entries.len();
        let lacking = (first..end).map_while(|number| stream.get(number)).take(most);
        let mut plan = packet::segment_cost(lacking, self.common.setup.format, room.bits);
        let last = (first + plan.count).saturating_sub(1);
        let reason = stream.get(last).filter(|_| plan.count > 0).and_then(Entry::end);
        // The player's signature for the end of its stream travels with the end, or neither does.
        if let Some(signed) = reason.and_then(|reason| self.signing.as_ref()?.end_of(player, last, reason)) {
            if plan.bits + END_BITS > room.bits {
                plan = SegmentPlan::default();
            } else {
                room.bits -= END_BITS;
                turns.signed.ends.push(signed);
            }
        }
        let next = first + plan.count;
        link.outflow.note_carried(player, next);
        if plan.count > 0 {
            let at = turns.entries.len() as u32;
            turns.entries.extend((first..next).filter_map(|number| stream.get(number).cloned()));
            turns.segments.push(Segment { player, first, entries: at..at + plan.count });
            room.bits -= plan.bits;
            link.outflow.carried[player.index()] = next;
        }
        next < end
    }

    /// Whether this packet repeats other players' entries that the link has not confirmed. With many players these are most of what the
    /// middle of a star sends, and a lost packet is noticed only after a round trip, so repeating them every quarter of it is enough.
    fn repeats(&mut self, index: usize) -> bool {
        let gap = Duration::from_micros(self.pace.meter.network().as_micros() / 4).min(REPEAT_GAP_MAX);
        let link = &mut self.common.links[index];
        let is_crowd = self.common.setup.config.players >= CROWD && self.common.setup.forwards();
        let repeats =
            !is_crowd || self.common.now.since(link.outflow.repeated_at) >= gap || link.outflow.continues();
        if repeats && !link.outflow.continues() {
            link.outflow.repeated_at = self.common.now;
        }
        repeats
    }

    /// Mesh: whether a peer has lacked a player's entries for so long that its own link to the player must be broken.
    fn helps_out(&mut self, index: usize, player: PlayerId) -> bool {
        if !self.common.setup.is_mesh() {
            return false;
        }
        let (now, here) = (self.common.now, self.common.streams[player.index()].next());
        // The first peer after the author helps first.
        let players = self.common.setup.config.players;
        let rank =
            self.common.setup.player().map_or(0, |own| u64::from((own.0 + players - player.0) % players));
        let rank = rank.saturating_sub(1);
        let link = &mut self.common.links[index];
        let lacked = link.progress.acked[player.index()];
        if lacked >= here {
            link.mesh.lacks[player.index()] = None;
            return false;
        }
        let since = match link.mesh.lacks[player.index()] {
            Some((entry, since)) if entry == lacked => since,
            _ => link.mesh.lacks[player.index()].insert((lacked, now)).1,
        };
        // Entries that a frozen player's own link cannot deliver any more come from any peer that has them, and so does the end.
        let patience = HELP_AFTER + HELP_STAGGER.times(rank);
        if now.since(since) >= patience {
            link.mesh.helps_until[player.index()] = now + HELP_FOR;
        }
        let helps = self.mesh.frozen & (1 << player.0) != 0 || now < link.mesh.helps_until[player.index()];
        helps && link.identity != Some(Identity::Player(player))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Packet, PayloadFormat};
    use crate::session::config::SessionConfig;
    use crate::session::{Session, stream::Stream};
    use crate::value::action::AnyAction;
    use crate::value::bits::BitWriter;
    use crate::value::entry::{EndReason, Payload};

    /// Every second player left long ago: each acknowledgement is written as the difference to the one before. The packet was too long to be read, so it was
    /// sent again, and again.
    #[test]
    fn a_full_packet_late_in_a_match_fits() {
        const TURN: u32 = 3_000_000;
        const BITS: u32 = 12;
        let config = SessionConfig::input(16, 60).simulated();
        let mut session = Session::<AnyAction>::relay(config, BITS, Instant::ZERO).unwrap();
        session.connect(PeerId(0));
        session.common.links[0].identity = Some(Identity::Watcher);
        let stream = |player: u32| match player % 2 {
            0 => Stream::ended(100, EndReason::Left),
            // The receiver lacks entries of one of them.
            _ => (0..if player == 1 { 800 } else { 0 }).fold(Stream::new(TURN), |mut stream, entry| {
                let bytes = [entry as u8, entry as u8 & 15];
                stream.push(Entry { payload: Payload::new(&bytes, BITS), extras: Default::default() });
                stream
            }),
        };
        session.common.streams.replace((0..16).map(stream));
        session.common.gate.turn = TURN;
        let acks: Vec<u32> = session.common.streams.iter().map(Stream::oldest).collect();
        session.common.links[0].progress.acked.iter_mut().zip(acks).for_each(|(acked, ack)| *acked = ack);
        assert!(session.write_turns(0), "the packet is full");
        let mut bytes = Vec::new();
        packet::seal(&session.buffers.writer, 0, &mut bytes);
        let Packet::Turns(turns) = Packet::decode(&bytes, 0, PayloadFormat::Fixed(BITS)).unwrap() else {
            panic!()
        };
        assert!(turns.entries.len() > 400 && bytes.len() > 1_100, "{} {}", turns.entries.len(), bytes.len());
        let head = TurnsPacket { segments: Default::default(), entries: Vec::new(), ..*turns };
        let mut writer = BitWriter::new();
        head.encode(PayloadFormat::Fixed(BITS), &mut writer);
        let exact = writer.bytes().len() as u32 * 8;
        assert!(head.head_bits() >= exact.saturating_sub(7) && head.head_bits() < exact + 64);
    }
}
