//! Outgoing packets.

use crate::packet::{
    self, BODY_BITS_MAX, Bye, Challenge, END_BITS, ENTRIES_MAX, Refuse, Segment, SegmentPlan, Transfer,
    Welcome,
};
use crate::session::link::{Link, LinkPhase};
use crate::session::lobby::Reply;
use crate::session::{AnySession, SessionPhase};
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

/// Greatest size of a turns packet before its segments, bits: kind, base, acknowledgements, counts.
const HEAD_BITS_MAX: u32 = 4 + 49 + 5 + PLAYERS_MAX as u32 * 27 + 65 + 66 + 33 + 1 + 9;

impl AnySession {
    /// When the next packet to a link is due.
    pub(super) fn link_due_at(&self, link: &Link) -> Option<Instant> {
        if self.is_over() && !link.owes_bye() { None } else { link.due_at(self.tick()) }
    }

    pub(super) fn next_packet(&mut self, out: &mut Vec<u8>) -> Option<PeerId> {
        if let Some(answer) = self.lobby.answers.pop_front() {
            match answer.what {
                Reply::Refuse(refusal) => Refuse { refusal }.encode(&mut self.buffers.writer),
                Reply::Challenge(cookie) => Challenge { cookie }.encode(&mut self.buffers.writer),
            }
            packet::seal(&self.buffers.writer, answer.key, out);
            return Some(answer.to);
        }
        let is_due = |link: &Link| self.link_due_at(link).is_some_and(|at| at <= self.now);
        let Some(index) = self.links.values().position(is_due) else { return self.transfer_packet(out) };
        let owes_roster = self.owes_roster(index);
        let mut more = false;
        match self.phase {
            _ if self.links[index].owes_bye() => {
                self.links[index].take_bye().unwrap_or(Bye::Left).encode(&mut self.buffers.writer);
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => return None,
            _ if self.links[index].phase == LinkPhase::Dialing => {
                let (nonce, cookie) = (self.links[index].nonce, self.links[index].cookie);
                self.setup.hello(nonce, cookie).encode(&mut self.buffers.writer);
            }
            _ if self.links[index].owes_welcome => {
                self.links[index].owes_welcome = false;
                let connection = self.links[index].connection;
                Welcome { identity: self.setup.identity, connection }.encode(&mut self.buffers.writer);
            }
            SessionPhase::Lobby => self.lobby_packet(&self.links[index]).encode(&mut self.buffers.writer),
            SessionPhase::Running | SessionPhase::Ending if owes_roster => {
                self.lobby_packet(&self.links[index]).encode(&mut self.buffers.writer);
            }
            _ if self.links[index].lacks_state() => Transfer::Wait.encode(&mut self.buffers.writer),
            SessionPhase::Running | SessionPhase::Ending => more = self.write_turns(index),
        }
        let link = &mut self.links[index];
        // The receiver must be able to read a hello before it knows anything about the sender.
        let key = if link.phase == LinkPhase::Dialing && !link.owes_bye() { 0 } else { link.key };
        link.note_sent(self.now, more);
        packet::seal(&self.buffers.writer, key, out);
        Some(link.peer)
    }

    /// Writes acknowledgements and the entries that the link lacks. Returns whether something did not fit.
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
        turns.votes = if self.setup.is_mesh() { self.ballots.own } else { 0 };
        let mut bits_left = BODY_BITS_MAX - HEAD_BITS_MAX - self.write_signed(index, &mut turns);
        let repeats = self.repeats(index);
        let shown = self.shown_to(&self.links[index]);
        turns.horizon = self.horizon_of(index);
        let mut more = false;
        for player in (0..self.setup.config.players).map(PlayerId) {
            if !self.sends_stream(&self.links[index], player) && !self.helps_out(index, player) {
                continue;
            }
            let stream = &self.streams[player.index()];
            let mut first = self.links[index].first_to_send(player).max(stream.oldest());
            if !repeats && self.setup.identity != Identity::Player(player) {
                first = first.max(self.links[index].carried[player.index()]).min(stream.next());
            }
            let room = ENTRIES_MAX - turns.entries.len() as u32;
            let is_author = self.links[index].identity == Some(Identity::Player(player));
            let author_from = if is_author { self.links[index].author_from } else { u32::MAX };
            let run = stream.run_from(first);
            let (first, end) = (run.start, run.end.min(author_from).min(shown).max(run.start));
            let lacking = (first..end).map_while(|number| stream.get(number)).take(room as usize);
            let plan = packet::segment_cost(lacking, self.setup.format, bits_left);
            let last = (first + plan.count).saturating_sub(1);
            let reason = stream.get(last).filter(|_| plan.count > 0).and_then(|entry| entry.end());
            let plan = match reason.and_then(|reason| self.signed_end(player, last, reason)) {
                Some(_) if plan.bits + END_BITS > bits_left => SegmentPlan::default(),
                Some(end) => {
                    bits_left -= END_BITS;
                    turns.signed.ends.push(end);
                    plan
                }
                None => plan,
            };
            if plan.count > 0 {
                let at = turns.entries.len() as u32;
                let numbers = first..first + plan.count;
                turns.entries.extend(numbers.filter_map(|number| stream.get(number).cloned()));
                turns.segments.push(Segment { player, first, entries: at..at + plan.count });
                bits_left -= plan.bits;
            }
            more |= first + plan.count < end;
            self.links[index].note_carried(player, first + plan.count);
            if plan.count > 0 {
                self.links[index].carried[player.index()] = first + plan.count;
            }
        }
        turns.encode(self.setup.format, &mut self.buffers.writer);
        self.buffers.turns = turns;
        more
    }

    /// Whether this packet repeats other players' entries that the link has not confirmed. With many players these are most of what the
    /// middle of a star sends, and a lost packet is noticed only after a round trip, so repeating them every quarter of it is enough.
    fn repeats(&mut self, index: usize) -> bool {
        let gap = Duration::from_micros(self.pace.meter.network().as_micros() / 4).min(REPEAT_GAP_MAX);
        let link = &mut self.links[index];
        let is_crowd = self.setup.config.players >= CROWD && self.setup.forwards();
        let repeats = !is_crowd || self.now.since(link.repeated_at) >= gap || link.continues();
        if repeats && !link.continues() {
            link.repeated_at = self.now;
        }
        repeats
    }

    /// Whether this peer sends a player's stream over a link.
    fn sends_stream(&self, link: &Link, player: PlayerId) -> bool {
        if link.identity == Some(Identity::Player(player)) {
            return link.acked[player.index()] < link.author_from;
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
        // The first peer after the author helps first.
        let players = self.setup.config.players;
        let rank = self.setup.player().map_or(0, |own| u64::from((own.0 + players - player.0) % players));
        let rank = rank.saturating_sub(1);
        let link = &mut self.links[index];
        let lacked = link.acked[player.index()];
        if lacked >= here {
            link.lacks[player.index()] = None;
            return false;
        }
        let since = match link.lacks[player.index()] {
            Some((entry, since)) if entry == lacked => since,
            _ => link.lacks[player.index()].insert((lacked, now)).1,
        };
        // Entries that a frozen player's own link cannot deliver any more come from any peer that has them, and so does the end.
        let patience = HELP_AFTER + HELP_STAGGER.times(rank);
        if now.since(since) >= patience {
            link.helps_until[player.index()] = now + HELP_FOR;
        }
        let helps = self.mesh.frozen & (1 << player.0) != 0 || now < link.helps_until[player.index()];
        helps && link.identity != Some(Identity::Player(player))
    }
}
