//! Messages of the application between members, in the lobby and in the match: chat, marks on the map, questions after a desync. They are
//! never part of the simulation.

use core::fmt;

use crate::packet::{self, Address, Frame, MESSAGE_BYTES_MAX, Messages};
use crate::session::AnySession;
use crate::session::event::Event;
use crate::session::link::Link;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId, PlayerSet};
use crate::value::time::{Duration, Instant};

/// Greatest number of messages that wait for the application, and of their bytes.
const INBOX_MAX: usize = 256;
const INBOX_BYTES_MAX: usize = 128 << 10;

/// Longest round trip that repetitions wait for, because a peer may claim any.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(1);

/// A message of another member. [`crate::AnySession::poll_message`] returns them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Message {
    /// Who says it. In a star the middle vouches for it.
    pub from: Identity,
    /// The link over which it came. The middle of a star answers a watcher with [`To::Link`].
    pub link: PeerId,
    /// At most 1,024 bytes.
    pub bytes: Vec<u8>,
}

/// Who is to hear a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum To {
    /// All other members who are here. Watchers who get everything later ([`crate::SessionConfig::watch_delay()`]) are left out. While nobody else is here the
    /// message is accepted and reaches nobody, without an event: [`crate::AnySession::is_here`] tells.
    Everybody,
    /// One player.
    Player(PlayerId),
    /// The middle of the star: the host, or whoever runs the relay.
    ///
    /// A room of a relay (`service::relay`) takes any 17 bytes of the first player for a [`Removal`](crate::service::removal::Removal), and nothing else.
    /// So a game says nothing of its own to such a relay.
    Middle,
    /// The other end of one of this peer's links.
    Link(PeerId),
}

/// Why a message or a profile was not accepted. It goes nowhere then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MessageError {
    /// It is too long.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The greatest length.
        max: usize,
    },
    /// This peer has sent 16 KiB at once, or 4 KiB per second for long; a message costs 64 bytes besides its own.
    TooOften,
    /// 128 messages or 64 KiB wait until the other side acknowledges them.
    Full,
    /// There is no such member, or it is not connected to the middle of the star.
    Nobody,
    /// The profile of another player: only the player [`crate::SessionConfig::host_player()`] sets those, and nobody does in a mesh.
    OfAnother,
    /// Profiles are set before the match begins.
    Begun,
    /// The session is over.
    Over,
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, max } => write!(f, "{bytes} bytes are too long, {max} are possible"),
            Self::TooOften => write!(f, "too many messages in a short time"),
            Self::Full => write!(f, "too many messages wait to be acknowledged"),
            Self::Nobody => write!(f, "the receiver is not here"),
            Self::OfAnother => {
                write!(f, "only the host player sets the profiles of others, and nobody does in a mesh")
            }
            Self::Begun => write!(f, "the match has begun"),
            Self::Over => write!(f, "the session is over"),
        }
    }
}

impl std::error::Error for MessageError {}

impl AnySession {
    /// Sends bytes to other members: reliably, in order, beside the match. A message that was accepted arrives once, unless a link breaks or
    /// a receiver takes nothing for long: then [`Event::Undelivered`] names the players whom it did not reach, while this session is not over. A guest whose
    /// program has never taken a message keeps 256 of them, or 128 KiB, and drops what comes then
    /// ([`Stats::messages_refused`](crate::Stats::messages_refused)).
    ///
    /// # Errors
    /// The message was not accepted and goes nowhere.
    pub fn send_message(&mut self, to: To, bytes: &[u8]) -> Result<(), MessageError> {
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(MessageError::TooLong { bytes: bytes.len(), max: MESSAGE_BYTES_MAX });
        }
        if self.common.is_over() {
            return Err(MessageError::Over);
        }
        let (links, address) = self.receivers_of(to)?;
        let frame =
            |address| Frame::Message { from: self.common.setup.identity, to: address, bytes: bytes.to_vec() };
        let frame = frame(address);
        if !self.members.budget.take(&frame, self.common.now) {
            return Err(MessageError::TooOften);
        }
        let mut full = 0;
        for &index in &links {
            if !self.push_frame(index, frame.clone()) {
                full |= self.player_bit(index);
                if links.len() == 1 {
                    return Err(MessageError::Full);
                }
            }
        }
        self.note_undelivered(full);
        Ok(())
    }

    /// Takes the oldest message of another member.
    pub fn poll_message(&mut self) -> Option<Message> {
        self.members.takes_messages = true;
        let message = self.members.inbox.pop_front()?;
        self.members.inbox_bytes -= message.bytes.len();
        Some(message)
    }

    /// The links over which a message of this peer leaves, and its address.
    fn receivers_of(&self, to: To) -> Result<(Vec<usize>, Address), MessageError> {
        let middle =
            (!self.common.setup.accepts()).then(|| self.link_to(self.common.setup.coordinator())).flatten();
        let found = match to {
            To::Everybody if self.common.setup.accepts() => (self.hearing(None), Address::Everybody),
            To::Everybody => (middle.into_iter().collect(), Address::Everybody),
            To::Player(player) if self.common.setup.player() == Some(player) => {
                (Vec::new(), Address::Receiver)
            }
            To::Player(player) if self.common.setup.accepts() => {
                (self.link_to(Identity::Player(player)).into_iter().collect(), Address::Player(player))
            }
            To::Player(player) => {
                let is_here = self.is_here(player);
                (middle.into_iter().filter(|_| is_here).collect(), Address::Player(player))
            }
            To::Middle => (middle.into_iter().collect(), Address::Receiver),
            To::Link(peer) => (self.connected_link(peer).into_iter().collect(), Address::Receiver),
        };
        // Nobody else may be here yet: then everybody has heard it.
        let is_sound = !found.0.is_empty() || (to == To::Everybody && self.common.setup.accepts());
        if is_sound { Ok(found) } else { Err(MessageError::Nobody) }
    }

    /// Links that hear what is said to everybody, but for one.
    fn hearing(&self, but: Option<usize>) -> Vec<usize> {
        let hears = |index: &usize| {
            let link = &self.common.links[*index];
            link.is_connected() && Some(*index) != but && !self.common.is_delayed(link)
        };
        (0..self.common.links.len()).filter(hears).collect()
    }

    fn link_to(&self, identity: Identity) -> Option<usize> {
        self.common.links.values().position(|link| link.is_connected() && link.identity == Some(identity))
    }

    /// The player at the other end of a link as a set.
    fn player_bit(&self, index: usize) -> u16 {
        match self.common.links[index].identity {
            Some(Identity::Player(player)) => 1 << player.0,
            _ => 0,
        }
    }

    fn note_undelivered(&mut self, players: u16) {
        if players != 0 {
            self.common.emit(Event::Undelivered { players: PlayerSet::from_bits(players) });
        }
    }

    /// Whether the other end of a link is the middle of the star, and this is not.
    pub(super) fn is_from_middle(&self, index: usize) -> bool {
        let setup = &self.common.setup;
        !setup.accepts() && self.common.links[index].identity == Some(setup.coordinator())
    }

    // ---- packets in

    /// Returns whether the packet was expected. Nobody becomes audible by it: it is no sign of life.
    pub(super) fn take_messages(
        &mut self,
        connected: Option<usize>,
        reader: crate::BitReader<'_>,
    ) -> Result<bool, crate::DecodeError> {
        let Some(index) = connected.filter(|_| !self.common.is_over()) else { return Ok(false) };
        let messages = Messages::decode(reader)?;
        let now = self.common.now;
        let is_limited = self.common.links[index].identity != Some(self.common.setup.coordinator())
            || self.common.setup.is_mesh();
        for frame in self.channel(index).receive(messages, now) {
            let may = !is_limited || self.channel(index).budget.take(&frame, now);
            if !may || !self.take_frame(index, frame) {
                // The rest comes again.
                break;
            }
            self.channel(index).take();
        }
        Ok(true)
    }

    /// Returns false if there is no room for the frame now.
    fn take_frame(&mut self, index: usize, frame: Frame) -> bool {
        match frame {
            Frame::Profile { player, bytes } => {
                if !self.take_profile(index, player, &bytes) {
                    self.common.stats.messages_refused += 1;
                }
            }
            Frame::Undelivered { players } => {
                // Only the middle of a star passes messages on.
                if self.is_from_middle(index) {
                    self.note_undelivered(players);
                } else {
                    self.common.stats.messages_refused += 1;
                }
            }
            Frame::Message { from, to, bytes } => return self.take_message(index, from, to, bytes),
        }
        true
    }

    fn take_message(&mut self, index: usize, from: Identity, to: Address, bytes: Vec<u8>) -> bool {
        let Link { peer, identity, .. } = self.common.links[index];
        // Nobody speaks for another, except for the middle of a star.
        if identity != Some(from) && !self.is_from_middle(index) {
            self.common.stats.messages_refused += 1;
            return true;
        }
        let message = Message { from, link: peer, bytes };
        if !self.common.setup.forwards() {
            return self.keep_message(message) || self.drops_message();
        }
        let undelivered = self.pass_on(index, to, message);
        if undelivered != 0 {
            let _ = self.push_frame(index, Frame::Undelivered { players: undelivered });
        }
        true
    }

    /// The middle of a star: brings a message to whoever is to hear it. Returns the players whom it does not reach, bit n for player n.
    fn pass_on(&mut self, index: usize, to: Address, message: Message) -> u16 {
        let own = self.common.own();
        let frame = |to| Frame::Message { from: message.from, to, bytes: message.bytes.clone() };
        match to {
            Address::Player(player) if self.common.setup.player() != Some(player) => {
                match self.link_to(Identity::Player(player)) {
                    Some(other) if self.push_frame(other, frame(to)) => 0,
                    _ => 1_u16 << (player.0 % PLAYERS_MAX),
                }
            }
            Address::Receiver | Address::Player(_) => {
                if self.keep_message(message) {
                    0
                } else {
                    own
                }
            }
            Address::Everybody => {
                let mut full = 0;
                for other in self.hearing(Some(index)) {
                    if !self.push_frame(other, frame(to)) {
                        full |= self.player_bit(other);
                    }
                }
                if !self.common.setup.is_relay() && !self.keep_message(message) {
                    full |= own;
                }
                full
            }
        }
    }

    /// Returns false if there is no room for the message.
    fn keep_message(&mut self, message: Message) -> bool {
        let bytes = self.members.inbox_bytes + message.bytes.len();
        if self.members.inbox.len() >= INBOX_MAX || bytes > INBOX_BYTES_MAX {
            return false;
        }
        self.members.inbox_bytes = bytes;
        self.members.inbox.push_back(message);
        true
    }

    /// What stands behind a message that is not taken waits with it: profiles, too. A game without messages takes none ever, and is to know the profiles.
    fn drops_message(&mut self) -> bool {
        let drops = !self.members.takes_messages;
        self.common.stats.messages_refused += u64::from(drops);
        drops
    }

    // ---- messages that are lost

    /// The authors of messages over links that have broken are told. Such a message may have arrived, without an acknowledgement.
    pub(super) fn report_lost(&mut self) {
        self.give_up_broken();
        let mut own = 0;
        for (remote, frame) in core::mem::take(&mut self.members.lost) {
            let Frame::Message { from, to, .. } = frame else { continue };
            let players = self.unreached(remote, to);
            if from == self.common.setup.identity {
                own |= players;
            } else if players != 0
                && let Some(author) = self.link_to(from).filter(|_| matches!(from, Identity::Player(_)))
            {
                let _ = self.push_frame(author, Frame::Undelivered { players });
            }
        }
        self.note_undelivered(own);
    }

    fn give_up_broken(&mut self) {
        let Self { common, members, .. } = self;
        for (peer, channel) in members.channels.iter_mut().filter(|(_, channel)| channel.has_messages()) {
            let is_whole = |link: &Link| link.is_connected() && link.handshake.nonce == channel.nonce;
            if !common.links.get(peer).is_some_and(is_whole) {
                members.lost.extend(channel.begin_again(channel.nonce));
            }
        }
    }

    /// Whom a message did not reach because this link broke, bit n for player n.
    fn unreached(&self, remote: Option<Identity>, to: Address) -> u16 {
        let setup = &self.common.setup;
        match to {
            Address::Player(player) => 1 << (player.0 % PLAYERS_MAX),
            // The middle of the star would have passed it on.
            Address::Everybody if !setup.accepts() => {
                (0..setup.config.players).fold(0, |all, player| all | 1 << player) & !self.common.own()
            }
            _ => match remote {
                Some(Identity::Player(player)) => 1 << player.0,
                _ => 0,
            },
        }
    }

    // ---- packets out

    /// Time to a remote and back, as far as it is known.
    fn round_trip_to(&self, link: &Link) -> Duration {
        let measured = link.lobby.round_trip_min.unwrap_or_default().max(self.pace.meter.network());
        measured.min(ROUND_TRIP_MAX)
    }

    /// The link whose messages are due first, and the time.
    fn next_messages(&self) -> Option<(usize, Instant)> {
        let due = |(peer, channel): (&PeerId, &super::channel::Channel)| {
            let index = self.connected_link(*peer)?;
            let link = &self.common.links[index];
            let is_same = link.handshake.nonce == channel.nonce;
            Some((index, channel.due_at(self.round_trip_to(link)).filter(|_| is_same)?))
        };
        self.members.channels.iter().filter_map(due).min_by_key(|due| due.1)
    }

    /// When a packet of messages is due.
    pub(super) fn messages_due_at(&self) -> Option<Instant> {
        if self.common.is_over() { None } else { self.next_messages().map(|(_, at)| at) }
    }

    /// Writes the next packet of messages, if one is due.
    pub(super) fn messages_packet(&mut self, out: &mut Vec<u8>) -> Option<PeerId> {
        let (index, _) =
            self.next_messages().filter(|due| due.1 <= self.common.now && !self.common.is_over())?;
        let round_trip = self.round_trip_to(&self.common.links[index]);
        let now = self.common.now;
        self.channel(index).packet(round_trip, now).encode(&mut self.buffers.writer);
        let link = &self.common.links[index];
        packet::seal(&self.buffers.writer, link.handshake.key, out);
        Some(link.peer)
    }
}
