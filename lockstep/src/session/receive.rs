//! Incoming packets. Nothing changes before the whole packet is validated.

use crate::packet::{
    self, Bye, Challenge, Hello, Lobby, PROTOCOL_VERSION, Packet, Refusal, Refuse, Transfer, TurnsPacket,
    Welcome,
};
use crate::session::config::Topology;
use crate::session::event::{Event, Failure};
use crate::session::link::{Link, LinkPhase};
use crate::session::lobby::Reply;
use crate::session::{AnySession, SessionPhase};
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Payload};
use crate::value::ids::{Identity, PeerId};

impl AnySession {
    /// Returns whether the packet was expected.
    pub(super) fn take_packet(&mut self, from: PeerId, bytes: &[u8]) -> Result<bool, crate::DecodeError> {
        let index = self.link_index(from);
        let kind = bytes.first().map_or(u8::MAX, |first| first & 15);
        if kind == Packet::HELLO {
            return self.take_hello(from, bytes);
        }
        // A packet from a stranger is not read any further.
        let Some(link) = index.map(|index| &self.links[index]) else { return Ok(false) };
        let is_answer = kind == Packet::CHALLENGE || kind == Packet::REFUSE;
        let (kind, reader) = packet::open(bytes, if is_answer { link.nonce } else { link.key })?;
        if let Some(index) = index
            && self.links[index].phase == LinkPhase::Closed
            && kind == Packet::TURNS
        {
            // A dropped player who does not know it: tell it again.
            self.links[index].owe_bye(Bye::Dropped);
            return Ok(false);
        }
        if let Some(index) = index
            && self.phase == SessionPhase::Finished
            && kind == Packet::TURNS
        {
            // A peer that goes on has not received the bye packet.
            self.links[index].repeat_bye(Bye::Finished);
        }
        let connected = index.filter(|&index| self.links[index].is_connected());
        match kind {
            Packet::WELCOME => {
                let welcome = Welcome::decode(reader)?;
                let Some(index) = index else { return Ok(false) };
                self.handle_welcome(index, welcome);
            }
            Packet::CHALLENGE => {
                let challenge = Challenge::decode(reader)?;
                let dialing = index.filter(|&index| self.links[index].phase == LinkPhase::Dialing);
                let Some(index) = dialing else { return Ok(false) };
                let link = &mut self.links[index];
                if link.cookie != challenge.cookie {
                    link.cookie = challenge.cookie;
                    link.mark_urgent();
                }
            }
            Packet::REFUSE => {
                let refuse = Refuse::decode(reader)?;
                let dialing = index.is_some_and(|index| self.links[index].phase == LinkPhase::Dialing);
                if !dialing || self.phase != SessionPhase::Lobby {
                    return Ok(false);
                }
                self.fail(Failure::Refused(refuse.refusal));
            }
            Packet::LOBBY => {
                let lobby = Lobby::decode(reader)?;
                let Some(index) = connected else { return Ok(false) };
                self.links[index].last_heard = self.now;
                self.handle_lobby(index, &lobby);
            }
            Packet::TURNS => return self.take_turns(connected, reader),
            Packet::TRANSFER => {
                let Some(index) = connected.filter(|_| !self.is_over()) else { return Ok(false) };
                let transfer = Transfer::decode(reader)?;
                self.links[index].last_heard = self.now;
                return Ok(self.take_transfer(index, transfer));
            }
            Packet::BYE => {
                let bye = Bye::decode(reader)?;
                let Some(index) = connected else { return Ok(false) };
                self.links[index].last_heard = self.now;
                self.handle_bye(index, bye);
            }
            unknown => return Err(crate::DecodeError::UnknownKind(unknown)),
        }
        Ok(true)
    }

    /// Handles a hello from anybody. Until the sender has shown that it receives answers, the answer is shorter and nothing is stored.
    fn take_hello(&mut self, from: PeerId, bytes: &[u8]) -> Result<bool, crate::DecodeError> {
        let (session_id, is_open) = (self.setup.config.session_id, self.is_open());
        // Versions before 4 tagged it with the session id.
        let (_, reader) =
            packet::open(bytes, 0).or_else(|error| packet::open(bytes, session_id).map_err(|_| error))?;
        let (version, nonce) = Hello::peek(reader.clone())?;
        if version != PROTOCOL_VERSION {
            let key = if version < 4 { session_id } else { nonce };
            if is_open {
                let refusal = Refusal::Version { expected: PROTOCOL_VERSION };
                self.reply(from, key, Reply::Refuse(refusal));
                self.emit(Event::Rejected { peer: from, refusal });
            }
            return Ok(is_open);
        }
        let hello = Hello::decode(reader)?;
        Ok(is_open && self.handle_hello(from, hello))
    }

    fn take_turns(
        &mut self,
        link: Option<usize>,
        reader: crate::BitReader<'_>,
    ) -> Result<bool, crate::DecodeError> {
        let Some(link) = link else { return Ok(false) };
        let mut turns = core::mem::take(&mut self.buffers.turns);
        let decoded = turns.decode_from(reader, self.setup.format);
        let result = match decoded {
            Err(error) => Err(error),
            Ok(()) => Ok(self.handle_turns(link, &turns)),
        };
        self.buffers.turns = turns;
        result
    }

    /// Returns whether the packet was expected.
    fn handle_turns(&mut self, index: usize, turns: &TurnsPacket) -> bool {
        let Some(identity) = self.links[index].identity else { return false };
        if turns.acks.len() != self.streams.len() || !self.entries_are_valid(identity, turns) {
            self.stats.entries_invalid += 1;
            return false;
        }
        if self.phase == SessionPhase::Lobby {
            // A peer that joins a running match starts with its state.
            if identity != self.setup.coordinator() || self.is_joining() {
                return false;
            }
            // The packets that announced the start were lost.
            self.start();
            if self.is_over() {
                return false;
            }
        }
        self.links[index].last_heard = self.now;
        if !self.guest_has_state(index, &turns.acks) {
            return true;
        }
        // What the sender had of the others before it sent the new entries of this packet.
        let had_before = self.had_of_others(index);
        self.take_acks(index, turns);
        self.take_horizon(index, turns);
        if !self.is_over() {
            for segment in &turns.segments {
                self.take_segment(index, turns, segment, had_before);
            }
            self.settle_checksums();
        }
        // After the entries that it covers.
        self.take_signed(index, turns);
        self.forget_old();
        self.check_finished();
        true
    }

    /// Whether the sender may speak for these players, and everything new decodes.
    fn entries_are_valid(&mut self, from: Identity, turns: &TurnsPacket) -> bool {
        let actions_max =
            if self.setup.config.input_mode { 1 } else { self.setup.config.actions_per_turn_max };
        for segment in &turns.segments {
            let from_author = from == Identity::Player(segment.player);
            let Some(stream) = self.streams.get(segment.player.index()) else { return false };
            if !from_author && !self.setup.may_forward(from) {
                return false;
            }
            // Nobody drops itself, and in a mesh nobody is dropped whom this peer has not given up.
            let agreed = !self.setup.is_mesh() || self.mesh.frozen & (1 << segment.player.0) != 0;
            let drops = |entry: &Entry| entry.end() == Some(EndReason::Dropped);
            let beyond = |number: &u32| *number >= stream.next();
            let mut fresh = turns.entries_of(segment).iter().zip(segment.first..);
            if (from_author || !agreed) && fresh.any(|(entry, number)| beyond(&number) && drops(entry)) {
                return false;
            }
            if !self.end_is_signed(segment, turns) {
                return false;
            }
            if !self.returns_are_valid(from, turns, segment) {
                return false;
            }
            let stream = &self.streams[segment.player.index()];
            for (entry, number) in turns.entries_of(segment).iter().zip(segment.first..) {
                let known = number < stream.next();
                if known || entry.payload.is_none() {
                    continue;
                }
                if entry.end().is_some() && !self.setup.config.input_mode {
                    return false;
                }
                // A relay does not know the game, so it cannot refuse actions that do not decode: see `push_entry`.
                let is_read = from != Identity::Relay;
                if is_read && self.setup.codec.refuses(&entry.payload, actions_max, &mut self.buffers.recoded)
                {
                    return false;
                }
            }
        }
        true
    }

    /// In a signed match only the player itself ends its stream, unless it is dropped.
    fn end_is_signed(&mut self, segment: &packet::Segment, turns: &TurnsPacket) -> bool {
        let next = self.streams[segment.player.index()].next();
        let mut fresh = turns.entries_of(segment).iter().zip(segment.first..);
        fresh.all(|(entry, number)| match entry.end() {
            None | Some(EndReason::Dropped) => true,
            Some(_) if number < next => true,
            Some(reason) => self.ends_itself(segment.player, number, reason, &turns.signed.ends),
        })
    }

    /// Only the middle of a star brings a player back. The player's stream must have ended, and the first entries must be empty.
    fn returns_are_valid(&self, from: Identity, turns: &TurnsPacket, segment: &packet::Segment) -> bool {
        let stream = &self.streams[segment.player.index()];
        let entries = turns.entries_of(segment).iter().zip(segment.first..);
        let mut returns =
            entries.filter(|(entry, number)| *number >= stream.next() && entry.returns().is_some());
        returns.all(|(entry, number)| {
            let from_middle = !self.setup.is_mesh()
                && from == self.setup.coordinator()
                && from != Identity::Player(segment.player);
            let is_idle = match self.setup.config.input_mode {
                true => entry.payload == codec::zeros(self.setup.action_bits),
                false => entry.payload.is_none(),
            };
            from_middle
                && is_idle
                && entry.end().is_none()
                && number == segment.first
                && stream.end().is_some()
        })
    }

    fn take_acks(&mut self, index: usize, turns: &TurnsPacket) {
        let window = self.setup.config.window;
        let own = self.author().map(crate::PlayerId::index);
        let link = &mut self.links[index];
        for (player, (&ack, stream)) in turns.acks.iter().zip(&self.streams).enumerate() {
            // Others' streams may be longer there than here, but no peer has more of our own stream than we have made.
            let most = if own == Some(player) { stream.next() } else { stream.next().saturating_add(window) };
            if ack > most {
                self.stats.entries_unexpected += 1;
            } else if ack > link.acked[player] {
                link.acked[player] = ack;
            }
        }
        if let Some(own) = own {
            link.confirmed = link.confirmed.max(link.acked[own].saturating_sub(turns.unconfirmed));
        }
        // A packet from before the last one tells what the sender thought then.
        if turns.base >= link.base && self.setup.is_mesh() {
            (link.frozen, link.votes) = (turns.frozen, turns.votes);
        }
        link.base = link.base.max(turns.base);
        let confirmed = self.confirmed();
        let waited = self.waited();
        self.pace.meter.confirmed(confirmed, waited, self.now);
    }

    /// The remote had the entries of all other players below this number when it last sent its acknowledgements.
    fn had_of_others(&self, index: usize) -> u32 {
        let link = &self.links[index];
        let author = match link.identity {
            Some(Identity::Player(player)) => player.index(),
            _ => return 0,
        };
        let live = self.streams.iter().enumerate().filter(|(_, stream)| stream.end().is_none());
        let others = live.filter(|(player, _)| *player != author).map(|(player, _)| link.acked[player]);
        others.min().unwrap_or(0)
    }

    fn take_segment(
        &mut self,
        index: usize,
        turns: &TurnsPacket,
        segment: &packet::Segment,
        had_before: u32,
    ) {
        let player = segment.player;
        let entries = turns.entries_of(segment);
        if self.mesh.frozen & (1 << player.0) != 0 && !self.may_pass_on(self.links[index].identity) {
            return;
        }
        let is_author = self.links[index].identity == Some(Identity::Player(player));
        if self.setup.is_mesh() && !is_author && !self.takes_from_others(player) {
            self.stats.entries_repeated += entries.len() as u64;
            return;
        }
        let position = self.gate.turn;
        let window = position.saturating_add(self.setup.config.window);
        let first_refused = self.first_refused(player);
        let is_own = self.author() == Some(player);
        let comes_back = entries.first().and_then(Entry::returns);
        if let Some(connection) = comes_back
            && (position..window).contains(&segment.first)
            && !is_own
            && self.streams[player.index()].end().is_some_and(|(last, _)| last < segment.first)
        {
            self.go_on_stream(player, segment.first, connection);
            self.note_return(index, player, connection);
        }
        let stream = &mut self.streams[player.index()];
        if segment.first > stream.next() || is_own {
            self.stats.entries_unexpected += entries.len() as u64;
            tracing::debug!(
                player = player.0,
                first = segment.first,
                next = stream.next(),
                "unexpected entries"
            );
            return;
        }
        let mut taken = false;
        let ended_before = stream.end().is_some();
        for (entry, number) in entries.iter().zip(segment.first..) {
            if number < self.streams[player.index()].next() {
                self.stats.entries_repeated += 1;
            } else if self.streams[player.index()].end().is_some() {
                self.stats.entries_late += 1;
            } else if number >= first_refused {
                self.stats.entries_unexpected += 1;
                self.note_too_far(index, player, number);
            } else {
                if let (Some(value), Some(turn)) =
                    (entry.checksum(), number.checked_sub(self.setup.config.turns_ahead + 1))
                {
                    self.compared.checksums.note(turn, player, value);
                }
                if let (Some(value), Some(turn)) =
                    (entry.result(), number.checked_sub(self.setup.config.turns_ahead + 1))
                {
                    self.results.note(turn, player, value);
                }
                if self.links[index].identity == Some(Identity::Player(player)) {
                    self.links[index].looked_first.note(had_before > number);
                }
                if let Some(votes) = entry.votes() {
                    self.ballots.cast(player, votes);
                }
                self.pace.alignment.note_arrival(number, self.now);
                self.push_entry(player, entry.clone());
                taken = true;
            }
        }
        if taken {
            let stream = &mut self.streams[player.index()];
            stream.source = Some(self.links[index].peer);
            if let Some(signing) = &mut self.signing {
                signing.note_passed(player, self.links[index].identity);
            }
            let end = self.streams[player.index()].end();
            let dropped = matches!(end, Some((_, EndReason::Dropped))) && !ended_before;
            self.mark_fresh(player, index);
            if dropped {
                self.close_link_of(player);
            }
        }
    }

    /// Appends a new entry. Actions that a relay has passed on and that do not decode are "no action", on every peer alike.
    fn push_entry(&mut self, player: crate::PlayerId, mut entry: Entry) {
        let config = &self.setup.config;
        let actions_max = if config.input_mode { 1 } else { config.actions_per_turn_max };
        let is_unread = config.topology == Topology::Relay && !self.setup.is_relay();
        if is_unread
            && !entry.payload.is_none()
            && self.setup.codec.refuses(&entry.payload, actions_max, &mut self.buffers.recoded)
        {
            let is_fixed = config.input_mode;
            entry.payload = if is_fixed { codec::zeros(self.setup.action_bits) } else { Payload::none() };
            self.stats.entries_invalid += 1;
        }
        self.streams[player.index()].push(entry);
        self.stats.entries_received += 1;
    }

    /// Entries of a player have arrived over a link; other links may lack them.
    fn mark_fresh(&mut self, player: crate::PlayerId, from: usize) {
        if !self.setup.forwards() {
            return;
        }
        if self.setup.is_relay() {
            self.forward_whole_turns();
            return;
        }
        for (index, link) in self.links.values_mut().enumerate() {
            if index != from && link.identity != Some(Identity::Player(player)) {
                link.mark_fresh();
            }
        }
    }

    /// A relay sends at once what makes a turn complete, because nobody can run a turn before. Other entries go with the next packet. That is
    /// one packet per peer and turn, and no entry that somebody waits for waits here.
    pub(super) fn forward_whole_turns(&mut self) {
        let complete = self.slowest_next();
        if complete != self.gate.complete {
            self.follow_plan(complete);
            self.stats.turns_forwarded += u64::from(complete.saturating_sub(self.gate.complete));
            self.gate.complete = complete;
            self.links.values_mut().for_each(Link::mark_urgent);
        }
    }
}
