//! Incoming packets. Nothing changes before the whole packet is validated.

use crate::packet::{
    self, Bye, Challenge, Hello, Kind, Lobby, PROTOCOL_VERSION, Refusal, Refuse, Transfer, TurnsPacket,
    Welcome, Whole,
};
use crate::session::config::Topology;
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::link::LinkPhase;
use crate::session::lobby::Reply;
use crate::session::{AnySession, SessionPhase};
use crate::value::bits::{BitReader, DecodeError};
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Payload};
use crate::value::ids::PlayerId;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId};

fn drops(entry: &Entry) -> bool {
    entry.end() == Some(EndReason::Dropped)
}

impl AnySession {
    /// Returns whether the packet was expected.
    pub(super) fn take_packet(&mut self, from: PeerId, bytes: &[u8]) -> Result<bool, DecodeError> {
        let claimed = Kind::peek(bytes);
        if claimed == Some(Kind::Hello) {
            return self.take_hello(from, bytes);
        }
        // A packet from a stranger is not read any further.
        let Some(index) = self.common.links.index_of(from) else { return Ok(false) };
        let link = &self.common.links[index];
        let is_connected = link.is_connected();
        let key = match claimed {
            Some(Kind::Challenge | Kind::Refuse) => link.handshake.nonce,
            _ => link.handshake.key,
        };
        let (kind, reader) = packet::open(bytes, key)?;
        match kind {
            Kind::Hello => return Ok(false),
            Kind::Welcome => self.handle_welcome(index, Welcome::decode(reader)?),
            Kind::Challenge => return Ok(self.handle_challenge(index, Challenge::decode(reader)?)),
            Kind::Refuse => return Ok(self.handle_refuse(index, Refuse::decode(reader)?)),
            Kind::Lobby => {
                let lobby = Lobby::decode(reader)?;
                if !is_connected {
                    return Ok(false);
                }
                self.common.links[index].last_heard = self.common.now;
                self.handle_lobby(index, &lobby);
            }
            Kind::Turns => {
                self.tell_again(index);
                return if is_connected { self.take_turns(index, reader) } else { Ok(false) };
            }
            Kind::Bye => {
                let bye = Bye::decode(reader)?;
                if !is_connected {
                    return Ok(false);
                }
                self.common.links[index].last_heard = self.common.now;
                self.handle_bye(index, bye);
            }
            Kind::Transfer => {
                if !is_connected || self.common.is_over() {
                    return Ok(false);
                }
                let transfer = Transfer::decode(reader)?;
                self.common.links[index].last_heard = self.common.now;
                return Ok(self.take_transfer(index, transfer));
            }
            Kind::Messages => return self.take_messages(Some(index).filter(|_| is_connected), reader),
        }
        Ok(true)
    }

    fn handle_challenge(&mut self, index: usize, challenge: Challenge) -> bool {
        let link = &mut self.common.links[index];
        let is_dialing = link.phase == LinkPhase::Dialing;
        if is_dialing && link.handshake.cookie != challenge.cookie {
            link.handshake.cookie = challenge.cookie;
            link.outflow.mark_urgent();
        }
        is_dialing
    }

    fn handle_refuse(&mut self, index: usize, refuse: Refuse) -> bool {
        let is_dialing = self.common.links[index].phase == LinkPhase::Dialing;
        let counts = is_dialing && self.common.phase == SessionPhase::Lobby;
        if counts {
            self.fail(Failure::Refused(refuse.refusal));
        }
        counts
    }

    /// A peer that still sends turns has not received this peer's last word.
    fn tell_again(&mut self, index: usize) {
        let link = &mut self.common.links[index];
        if matches!(self.common.phase, SessionPhase::Left | SessionPhase::Failed(_)) {
            link.outflow.repeat_bye(Bye::Left);
        } else if link.phase == LinkPhase::Closed {
            // A dropped player who does not know it.
            link.outflow.owe_bye(Bye::Dropped);
        } else if self.common.phase == SessionPhase::Finished {
            link.outflow.repeat_bye(Bye::Finished);
        }
    }

    /// Handles a hello from anybody. Until the sender has shown that it receives answers, the answer is shorter and nothing is stored.
    fn take_hello(&mut self, from: PeerId, bytes: &[u8]) -> Result<bool, DecodeError> {
        let (session_id, is_open) = (self.common.setup.config.session_id, self.is_open());
        // Versions before 4 tagged it with the session id.
        let (_, reader) =
            packet::open(bytes, 0).or_else(|error| packet::open(bytes, session_id).map_err(|_| error))?;
        let (version, nonce) = Hello::peek(reader.clone())?;
        if version != PROTOCOL_VERSION {
            let key = if version < 4 { session_id } else { nonce };
            if is_open {
                let refusal = Refusal::Version { expected: PROTOCOL_VERSION };
                self.reply(from, key, Reply::Refuse(refusal));
                self.common.emit(Event::Refused { peer: from, refusal });
            }
            return Ok(is_open);
        }
        let hello = Hello::decode(reader)?;
        Ok(is_open && self.handle_hello(from, hello))
    }

    fn take_turns(&mut self, link: usize, reader: BitReader<'_>) -> Result<bool, DecodeError> {
        // More is not read: it would take this peer's time.
        let streams_max = match self.common.links[link].identity {
            Some(identity) if self.common.setup.may_forward(identity) => PLAYERS_MAX,
            Some(Identity::Player(_)) => 1,
            _ => 0,
        };
        let mut turns = core::mem::take(&mut self.buffers.turns);
        let decoded = turns.decode_from(reader, self.common.setup.format, streams_max);
        let result = match decoded {
            Err(error) => Err(error),
            Ok(()) => Ok(self.handle_turns(link, &turns)),
        };
        self.buffers.turns = turns;
        result
    }

    /// Returns whether the packet was expected.
    fn handle_turns(&mut self, index: usize, turns: &TurnsPacket) -> bool {
        let Some(identity) = self.common.links[index].identity else { return false };
        if turns.acks.len() != self.common.streams.len() || !self.entries_are_valid(index, identity, turns) {
            self.common.stats.entries_invalid += 1;
            return false;
        }
        if self.common.phase == SessionPhase::Lobby {
            // A peer that joins a running match starts with its state.
            if identity != self.common.setup.coordinator() || self.is_joining() {
                return false;
            }
            // The packets that announced the start were lost.
            self.start();
            if self.common.is_over() {
                return false;
            }
        }
        self.common.links[index].last_heard = self.common.now;
        if self.common.setup.is_relay() {
            self.common.note_alone(self.pace.planner.turn());
        }
        if !self.common.links[index].has_state(&turns.acks, &self.common.streams, self.common.now) {
            return true;
        }
        // What the sender had of the others before it sent the new entries of this packet.
        let had_before = self.common.had_of_others(index);
        self.take_acks(index, turns);
        self.take_horizon(index, turns);
        if !self.common.is_over() {
            for segment in &turns.segments {
                self.take_segment(index, turns, segment, had_before);
            }
            self.note_other_match(index, turns);
        }
        if !self.common.is_over() {
            self.settle_checksums();
        }
        // After the entries that it covers.
        self.with_signing(|signing, parts| signing.take(parts, index, turns));
        self.forget_old();
        self.check_finished();
        true
    }

    /// Whether the sender may speak for these players, and everything new decodes.
    fn entries_are_valid(&mut self, index: usize, from: Identity, turns: &TurnsPacket) -> bool {
        let actions_max = if self.common.setup.config.input_mode {
            1
        } else {
            self.common.setup.config.limits.actions_per_turn_max
        };
        for segment in &turns.segments {
            let from_author = from == Identity::Player(segment.player);
            let Some(stream) = self.common.streams.get(segment.player.index()) else { return false };
            if !from_author && !self.common.setup.may_forward(from) {
                return false;
            }
            // No player drops itself.
            let beyond = |number: &u32| *number >= stream.next();
            let mut fresh = turns.entries_of(segment).iter().zip(segment.first..);
            if from_author && fresh.any(|(entry, number)| beyond(&number) && drops(entry)) {
                return false;
            }
            if !self.returns_are_valid(from, turns, segment) || !self.end_is_signed(index, segment, turns) {
                return false;
            }
            let stream = &self.common.streams[segment.player.index()];
            let mut sound = None;
            for (entry, number) in turns.entries_of(segment).iter().zip(segment.first..) {
                let known = number < stream.next();
                if known || entry.payload.is_none() {
                    continue;
                }
                if entry.end().is_some() && !self.common.setup.config.input_mode {
                    return false;
                }
                // To repeat an entry costs its sender a bit: the same actions are read once.
                if sound == Some(&entry.payload) {
                    continue;
                }
                // A relay does not know the game, so it cannot refuse actions that do not decode: see `push_entry`.
                let is_read = from != Identity::Relay;
                if is_read
                    && self.common.setup.codec.refuses(&entry.payload, actions_max, &mut self.buffers.recoded)
                {
                    return false;
                }
                sound = Some(&entry.payload);
            }
        }
        true
    }

    /// In a signed match only the player itself ends its stream, unless it is dropped.
    fn end_is_signed(&mut self, index: usize, segment: &packet::Segment, turns: &TurnsPacket) -> bool {
        let stream = &self.common.streams[segment.player.index()];
        let next = stream.next();
        // Nothing is taken of it, so no signature is checked for it, and none is kept.
        let is_return = segment.first >= next
            && turns.entries_of(segment).first().is_some_and(|entry| entry.returns().is_some());
        if !is_return && (segment.first > next || stream.end().is_some()) {
            return true;
        }
        let mut fresh = turns.entries_of(segment).iter().zip(segment.first..);
        fresh.all(|(entry, number)| match entry.end() {
            None | Some(EndReason::Dropped) => true,
            Some(_) if number < next => true,
            Some(reason) => self.signing.as_mut().is_none_or(|signing| {
                signing.ends_itself(
                    &mut self.common,
                    index,
                    (segment.player, number, reason),
                    &turns.signed.ends,
                )
            }),
        })
    }

    /// Only the middle of a star brings a player back. The player's stream must have ended, and the first entries must be empty.
    fn returns_are_valid(&self, from: Identity, turns: &TurnsPacket, segment: &packet::Segment) -> bool {
        let stream = &self.common.streams[segment.player.index()];
        let entries = turns.entries_of(segment).iter().zip(segment.first..);
        let mut returns =
            entries.filter(|(entry, number)| *number >= stream.next() && entry.returns().is_some());
        returns.all(|(entry, number)| {
            let from_middle = !self.common.setup.is_mesh()
                && from == self.common.setup.coordinator()
                && from != Identity::Player(segment.player);
            let is_idle = match self.common.setup.config.input_mode {
                true => entry.payload == codec::zeros(self.common.setup.action_bits),
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
        let window = self.common.setup.config.limits.window;
        let own = self.common.streams.author().map(PlayerId::index);
        let watches = self.common.setup.identity == Identity::Watcher;
        let link = &mut self.common.links[index];
        for (player, (&ack, stream)) in turns.acks.iter().zip(&self.common.streams).enumerate() {
            // Others' streams may be longer there than here, but no peer has more of our own stream than we have made.
            let most = if own == Some(player) { stream.next() } else { stream.next().saturating_add(window) };
            // The middle is as far ahead of a watcher as its delay is long.
            let ack = if watches { ack.min(most) } else { ack };
            if ack > most {
                self.common.stats.entries_unexpected += 1;
            } else if ack > link.progress.acked[player] {
                link.progress.acked[player] = ack;
            }
        }
        if let Some(own) = own {
            link.progress.confirmed =
                link.progress.confirmed.max(link.progress.acked[own].saturating_sub(turns.unconfirmed));
        }
        // A packet from before the last one tells what the sender thought then.
        if turns.base >= link.progress.base && self.common.setup.is_mesh() {
            (link.mesh.frozen, link.mesh.votes) = (turns.frozen, turns.votes);
        }
        link.progress.base = link.progress.base.max(turns.base);
        let confirmed = self.common.confirmed();
        let waited = self.waiting.waited(&self.common);
        self.pace.meter.confirmed(confirmed, waited, self.common.now);
    }

    fn take_segment(
        &mut self,
        index: usize,
        turns: &TurnsPacket,
        segment: &packet::Segment,
        had_before: u32,
    ) {
        let (player, entries) = (segment.player, turns.entries_of(segment));
        if !self.may_give(index, player, entries) {
            return;
        }
        // Before anything of the segment is taken; with its first entry the player may be back.
        let first_refused = self.common.first_refused(player);
        let is_own = self.common.streams.author() == Some(player);
        self.transfers.joiner.compare_end(&self.common.streams[player.index()], segment.first, entries);
        if !is_own {
            self.take_return(index, segment, entries);
        }
        let stream = &self.common.streams[player.index()];
        let (first, next, had_ended) = (segment.first, stream.next(), stream.end().is_some());
        // In a mesh nobody is dropped whom this peer has not given up. What else the packet says may be why it should.
        let agreed = !self.common.setup.is_mesh() || self.mesh.frozen & (1 << player.0) != 0;
        if first > next || is_own {
            self.common.stats.entries_unexpected += entries.len() as u64;
            tracing::debug!(player = player.0, first, next, "unexpected entries");
            return;
        }
        for (entry, number) in entries.iter().zip(first..) {
            let stream = &self.common.streams[player.index()];
            if number < stream.next() {
                self.common.stats.entries_repeated += 1;
            } else if stream.end().is_some() {
                self.common.stats.entries_late += 1;
            } else if !agreed && drops(entry) {
                self.common.stats.entries_unexpected += 1;
                break;
            } else if number >= first_refused {
                self.common.stats.entries_unexpected += 1;
                self.note_too_far(index, player, number);
            } else {
                self.take_entry(index, player, number, entry, had_before);
            }
        }
        if self.common.streams[player.index()].next() > next {
            self.note_taken(index, player, had_ended);
        }
    }

    /// Mesh: whether a player's entries are taken over this link.
    fn may_give(&mut self, index: usize, player: PlayerId, entries: &[Entry]) -> bool {
        let from = self.common.links[index].identity;
        if self.mesh.frozen & (1 << player.0) != 0 && !self.mesh.may_pass_on(&self.common, from) {
            return false;
        }
        let may_give = !self.common.setup.is_mesh()
            || from == Some(Identity::Player(player))
            || self.mesh.takes_from_others(&self.common, player);
        if !may_give {
            self.common.stats.entries_repeated += entries.len() as u64;
        }
        may_give
    }

    /// The middle of a star brings a player back with the first of these entries.
    fn take_return(&mut self, index: usize, segment: &packet::Segment, entries: &[Entry]) {
        let (player, position) = (segment.player, self.common.gate.turn);
        let window = position.saturating_add(self.common.config().limits.window);
        if let Some(connection) = entries.first().and_then(Entry::returns)
            && (position..window).contains(&segment.first)
            && self.common.streams[player.index()].end().is_some_and(|(last, _)| last < segment.first)
        {
            self.go_on_stream(player, segment.first, connection);
            self.note_return(index, player, segment.first, connection);
        }
    }

    /// Takes a new entry.
    fn take_entry(&mut self, index: usize, player: PlayerId, number: u32, entry: &Entry, had_before: u32) {
        if let Some(turn) = number.checked_sub(self.common.config().turns_ahead + 1) {
            if let Some(value) = entry.checksum() {
                self.compared.checksums.note(turn, player, value);
            }
            if let Some(value) = entry.result() {
                self.results.note(turn, player, value);
            }
        }
        let link = &mut self.common.links[index];
        if link.identity == Some(Identity::Player(player)) {
            link.looked_first.note(had_before > number);
        }
        if let Some(votes) = entry.votes() {
            self.ballots.cast(player, votes);
        }
        self.pace.alignment.note_arrival(number, self.common.now);
        self.push_entry(player, entry.clone());
    }

    /// New entries of a player have come over this link.
    fn note_taken(&mut self, index: usize, player: PlayerId, had_ended: bool) {
        let link = &self.common.links[index];
        self.common.streams[player.index()].source = Some(link.peer);
        if let Some(signing) = &mut self.signing {
            let newest = self.common.streams[player.index()].next().checked_sub(1);
            signing.note_passed(player, link.identity, newest);
        }
        let end = self.common.streams[player.index()].end();
        self.mark_fresh(player, index);
        if matches!(end, Some((_, EndReason::Dropped))) && !had_ended {
            self.common.links.close_link_of(player);
            // In a star only the middle drops players. Here this peer would drop all players that the dropped one has held up.
            if self.common.setup.is_mesh() {
                self.end_wait_for(1 << player.0);
            }
        }
    }

    /// Appends a new entry. Actions that a relay has passed on and that do not decode are "no action", on every peer alike.
    fn push_entry(&mut self, player: PlayerId, mut entry: Entry) {
        let config = &self.common.setup.config;
        let actions_max = if config.input_mode { 1 } else { config.limits.actions_per_turn_max };
        let is_unread = config.topology == Topology::Relay && !self.common.setup.is_relay();
        if is_unread
            && !entry.payload.is_none()
            && self.common.setup.codec.refuses(&entry.payload, actions_max, &mut self.buffers.recoded)
        {
            let is_fixed = config.input_mode;
            entry.payload =
                if is_fixed { codec::zeros(self.common.setup.action_bits) } else { Payload::none() };
            self.common.stats.entries_invalid += 1;
        }
        self.common.streams[player.index()].push(entry);
        self.common.stats.entries_received += 1;
    }

    /// Entries of a player have arrived over a link; other links may lack them.
    fn mark_fresh(&mut self, player: PlayerId, from: usize) {
        if !self.common.setup.forwards() {
            return;
        }
        if self.common.setup.is_relay() {
            self.forward_whole_turns();
            return;
        }
        for (index, link) in self.common.links.values_mut().enumerate() {
            if index != from && link.identity != Some(Identity::Player(player)) {
                link.outflow.mark_fresh();
            }
        }
    }

    /// A relay sends at once what makes a turn complete, because nobody can run a turn before. Other entries go with the next packet. That is
    /// one packet per peer and turn, and no entry that somebody waits for waits here.
    pub(super) fn forward_whole_turns(&mut self) {
        let complete = self.common.streams.slowest_next();
        if complete != self.common.gate.complete {
            self.follow_plan(complete);
            self.common.stats.turns_forwarded +=
                u64::from(complete.saturating_sub(self.common.gate.complete));
            self.common.gate.complete = complete;
            self.common.links.mark_urgent();
        }
    }

    /// A player has sent entries over its own link that nobody honest can have made yet. They were refused, which harms only their author.
    fn note_too_far(&mut self, index: usize, player: PlayerId, number: u32) {
        let is_author = self.common.links[index].identity == Some(Identity::Player(player));
        let knows = self.common.setup.forwards()
            || self.common.streams.author().is_some_and(|own| self.common.streams.live() & (1 << own.0) != 0);
        if is_author && knows && !core::mem::replace(&mut self.common.links[index].told_too_far, true) {
            tracing::warn!(player = player.0, number, "entries that are too far ahead");
            self.common.emit(Event::TooFarAhead { player });
        }
    }

    /// Notes what the middle of the star gives.
    fn take_horizon(&mut self, index: usize, turns: &TurnsPacket) {
        if self.common.setup.is_mesh()
            || self.common.links[index].identity != Some(self.common.setup.coordinator())
        {
            return;
        }
        // The greatest one, also if an older packet arrives later.
        self.common.gate.horizon = self.common.gate.horizon.max(turns.horizon);
    }
}
