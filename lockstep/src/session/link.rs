//! One remote: handshake, what it has, when it was heard, when it is sent to next.

use crate::packet::Bye;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Shortest time between two packets to one peer when fresh entries of others arrive in small lots.
pub(crate) const GAP_MIN: Duration = Duration::from_millis(10);

/// Most packets to one peer at one time, when what it lacks does not fit one packet.
const PACKETS_AT_ONCE_MAX: u8 = 4;

/// Times that a last word is sent: it is not confirmed.
const BYE_COPIES: u8 = 3;

/// Where the handshake stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkPhase {
    /// We ask, nobody has answered yet.
    Dialing,
    /// Both sides know each other.
    Connected,
    /// Nothing is sent or expected any more.
    Closed,
}

/// Lobby state of one remote.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LobbyView {
    /// The remote may start.
    pub(crate) ready: bool,
    /// Smallest round trip seen.
    pub(crate) round_trip_min: Option<Duration>,
    /// The remote's latest time stamp and when it arrived.
    pub(crate) heard: Option<(u32, Instant)>,
}

/// How many of a player's entries came when it had everybody else's of the same turn: a fading average.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LookedFirst(u32);

impl LookedFirst {
    /// The share of an entry in the average is one part in so many.
    const FADING: u32 = 64;

    /// Notes an entry.
    pub(crate) fn note(&mut self, looked: bool) {
        self.0 = self.0 - self.0 / Self::FADING + u32::from(looked) * (1 << 20) / Self::FADING;
    }

    pub(crate) fn permille(self) -> u16 {
        ((u64::from(self.0) * 1_000) >> 20) as u16
    }
}

/// One remote.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) peer: PeerId,
    pub(crate) phase: LinkPhase,
    /// The number in the hello that made this link.
    pub(crate) nonce: u64,
    /// The key of the link's packets.
    pub(crate) key: u64,
    /// Dialing: what the remote wants to hear again; 0 before it has asked.
    pub(crate) cookie: u64,
    /// Known when connected.
    pub(crate) identity: Option<Identity>,
    pub(crate) lobby: LobbyView,
    /// For each stream the first entry that the remote lacks.
    pub(crate) acked: [u32; PLAYERS_MAX as usize],
    /// Our entries below this number are everywhere behind this link.
    pub(crate) confirmed: u32,
    /// The remote's position in its own stream.
    pub(crate) base: u32,
    /// The remote has said that it has everything.
    pub(crate) finished: bool,
    pub(crate) last_heard: Instant,
    last_sent: Option<Instant>,
    /// Something new for the remote: send at the next chance, not at the next tick.
    fresh: bool,
    /// The own entry of a new turn: send at once.
    urgent: bool,
    packets_at_once_left: u8,
    /// Where the next packet at the same time goes on in each stream, when not everything fits one.
    cursor: [u32; PLAYERS_MAX as usize],
    /// Up to where others' entries have been sent once.
    pub(crate) carried: [u32; PLAYERS_MAX as usize],
    /// When everything that is not confirmed was sent last.
    pub(crate) repeated_at: Instant,
    /// A welcome is owed.
    pub(crate) owes_welcome: bool,
    /// The last word, and how many copies are still to be sent.
    last_word: Option<(Bye, u8)>,
    /// For each stream the first entry that is here and not there, and since when.
    pub(crate) lacks: [Option<(u32, Instant)>; PLAYERS_MAX as usize],
    /// Mesh: until when this peer sends another player's stream to the remote.
    pub(crate) helps_until: [Instant; PLAYERS_MAX as usize],
    pub(crate) looked_first: LookedFirst,
    /// Mesh: what the remote says in [`crate::packet::TurnsPacket::frozen`].
    pub(crate) frozen: u16,
    /// Mesh: what the remote says in [`crate::packet::TurnsPacket::votes`].
    pub(crate) votes: u16,
}

impl Link {
    pub(crate) fn new(
        peer: PeerId,
        phase: LinkPhase,
        identity: Option<Identity>,
        first: u32,
        now: Instant,
    ) -> Self {
        Self {
            peer,
            phase,
            nonce: 0,
            key: 0,
            cookie: 0,
            identity,
            lobby: LobbyView::default(),
            acked: [first; PLAYERS_MAX as usize],
            confirmed: first,
            base: first,
            finished: false,
            last_heard: now,
            last_sent: None,
            fresh: false,
            urgent: false,
            packets_at_once_left: 0,
            cursor: [0; PLAYERS_MAX as usize],
            carried: [0; PLAYERS_MAX as usize],
            repeated_at: Instant::ZERO,
            owes_welcome: false,
            last_word: None,
            lacks: [None; PLAYERS_MAX as usize],
            helps_until: [Instant::ZERO; PLAYERS_MAX as usize],
            looked_first: LookedFirst::default(),
            frozen: 0,
            votes: 0,
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.phase == LinkPhase::Connected
    }

    pub(crate) fn is_player(&self) -> bool {
        matches!(self.identity, Some(Identity::Player(_)))
    }

    /// Entries of others have arrived that this remote lacks.
    pub(crate) fn mark_fresh(&mut self) {
        self.fresh = true;
    }

    /// The own entry has closed.
    pub(crate) fn mark_urgent(&mut self) {
        self.urgent = true;
    }

    /// Says goodbye with this link's next packets.
    pub(crate) fn owe_bye(&mut self, bye: Bye) {
        self.last_word = Some((bye, BYE_COPIES));
    }

    /// Says goodbye once more, if that is not to be done anyway.
    pub(crate) fn repeat_bye(&mut self, bye: Bye) {
        self.last_word.get_or_insert((bye, 1));
    }

    /// Whether the last word is still to be said.
    pub(crate) fn owes_bye(&self) -> bool {
        self.last_word.is_some()
    }

    /// One copy of the last word.
    pub(crate) fn take_bye(&mut self) -> Option<Bye> {
        let (bye, copies) = self.last_word?;
        self.last_word = if copies > 1 { Some((bye, copies - 1)) } else { None };
        Some(bye)
    }

    /// When the next packet is due, if packets go out every `tick`.
    pub(crate) fn due_at(&self, tick: Duration) -> Option<Instant> {
        if self.owes_bye() {
            return Some(Instant::ZERO);
        }
        if self.phase == LinkPhase::Closed {
            return None;
        }
        let Some(last) = self.last_sent else { return Some(Instant::ZERO) };
        if self.urgent || self.packets_at_once_left > 0 || self.owes_welcome {
            return Some(last);
        }
        Some(last + if self.fresh { tick.min(GAP_MIN) } else { tick })
    }

    /// Whether the next packet goes on where the one before, at the same time, had no more room.
    pub(crate) fn continues(&self) -> bool {
        self.packets_at_once_left > 0
    }

    /// The first entry of a stream that the next packet carries.
    pub(crate) fn first_to_send(&self, player: PlayerId) -> u32 {
        let acked = self.acked[player.index()];
        if self.packets_at_once_left > 0 { self.cursor[player.index()].max(acked) } else { acked }
    }

    /// Notes up to where a packet carries a stream.
    pub(crate) fn note_carried(&mut self, player: PlayerId, next: u32) {
        self.cursor[player.index()] = next;
    }

    /// Notes that a packet goes out; `more` tells that not everything fitted.
    pub(crate) fn note_sent(&mut self, now: Instant, more: bool) {
        let continues = self.packets_at_once_left > 0;
        self.packets_at_once_left = match (more, continues) {
            (false, _) => 0,
            (true, true) => self.packets_at_once_left - 1,
            (true, false) => PACKETS_AT_ONCE_MAX - 1,
        };
        self.last_sent = Some(now);
        self.fresh = false;
        self.urgent = false;
    }
}
