//! One remote peer: the handshake, what it has, when it was last heard, when the next packet is due.

use crate::packet::Bye;
use crate::session::carried::Carried;
use crate::session::guests::Guest;
use crate::session::sender::Sender;
use crate::signed::roster::Seat;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Shortest time between two packets to one peer when new entries of others arrive in small lots.
pub(crate) const GAP_MIN: Duration = Duration::from_millis(10);

/// Greatest number of packets to one peer at one time, if what it lacks does not fit into one.
const PACKETS_AT_ONCE_MAX: u8 = 4;

/// Number of copies of a bye packet, because nobody confirms it.
const BYE_COPIES: u8 = 3;

/// For each stream: the end of the stream at some time, until the remote has confirmed everything below it. It shows for how long a remote
/// has lacked an entry.
pub(crate) type Marks = [(u32, Instant); PLAYERS_MAX as usize];

/// State of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkPhase {
    /// We ask, and nobody has answered yet.
    Dialing,
    /// Both sides know each other.
    Connected,
    /// Nothing is sent or expected any more.
    Closed,
}

/// Lobby state of one remote.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LobbyView {
    /// The remote is ready to start.
    pub(crate) ready: bool,
    /// Smallest round trip seen.
    pub(crate) round_trip_min: Option<Duration>,
    /// The remote's latest time stamp and when it arrived.
    pub(crate) heard: Option<(u32, Instant)>,
    /// A player's seat.
    pub(crate) seat: Option<Seat>,
    /// The mark of the roster that the remote has.
    pub(crate) mark: Option<u64>,
}

/// The share of a player's entries that came when the player had everybody else's entries of the same turn: a fading average.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LookedFirst(u32);

impl LookedFirst {
    /// The weight of one entry in the average is one part in this many.
    const FADING: u32 = 64;

    /// Notes an entry.
    pub(crate) fn note(&mut self, looked: bool) {
        self.0 = self.0 - self.0 / Self::FADING + u32::from(looked) * (1 << 20) / Self::FADING;
    }

    pub(crate) fn permille(self) -> u16 {
        ((u64::from(self.0) * 1_000) >> 20) as u16
    }
}

/// One remote peer.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) peer: PeerId,
    pub(crate) phase: LinkPhase,
    /// The number in the hello that made this link.
    pub(crate) nonce: u64,
    /// The key of the link's packets.
    pub(crate) key: u64,
    /// Dialing: the cookie that the remote expects; 0 before it has sent one.
    pub(crate) cookie: u64,
    /// Known when connected.
    pub(crate) identity: Option<Identity>,
    /// Number of the connection at the player's seat: the remote's on the middle of a star, the local player's on the link to the middle.
    pub(crate) connection: u16,
    pub(crate) lobby: LobbyView,
    /// For each stream the first entry that the remote lacks.
    pub(crate) acked: [u32; PLAYERS_MAX as usize],
    /// Everybody behind this link has our entries below this number.
    pub(crate) confirmed: u32,
    /// The remote's position in its own stream.
    pub(crate) base: u32,
    /// The remote has said that it has everything.
    pub(crate) finished: bool,
    pub(crate) last_heard: Instant,
    last_sent: Option<Instant>,
    /// There is something new for the remote: send as soon as possible, not at the next tick.
    fresh: bool,
    /// Our own entry of a new turn has closed: send at once.
    urgent: bool,
    packets_at_once_left: u8,
    /// Where the next packet at the same time continues in each stream, if not everything fits into one.
    cursor: [u32; PLAYERS_MAX as usize],
    /// Others' entries below this have been sent at least once.
    pub(crate) carried: [u32; PLAYERS_MAX as usize],
    /// When everything unconfirmed was last sent.
    pub(crate) repeated_at: Instant,
    /// A welcome must be sent.
    pub(crate) owes_welcome: bool,
    /// The bye to send, and how many copies are left.
    last_word: Option<(Bye, u8)>,
    /// For each stream, the first entry that is here and that the remote lacks, and since when.
    pub(crate) lacks: [Option<(u32, Instant)>; PLAYERS_MAX as usize],
    /// Mesh: until when this peer sends another player's stream to the remote.
    pub(crate) helps_until: [Instant; PLAYERS_MAX as usize],
    pub(crate) looked_first: LookedFirst,
    pub(crate) marks: Marks,
    /// The application knows that the remote has sent entries that were too far ahead.
    pub(crate) told_too_far: bool,
    /// Mesh: the remote's [`crate::packet::TurnsPacket::frozen`].
    pub(crate) frozen: u16,
    /// Mesh: the remote's [`crate::packet::TurnsPacket::votes`].
    pub(crate) votes: u16,
    pub(crate) carried_statements: Carried,
    /// The remote joins a running match; on the middle of the star.
    pub(crate) guest: Option<Box<Guest>>,
    /// The remote gets a state from this peer.
    pub(crate) sender: Option<Box<Sender>>,
    /// Entries of the remote's own stream below this number were made here, and are sent to it.
    pub(crate) author_from: u32,
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
            connection: 0,
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
            marks: [(first, now); PLAYERS_MAX as usize],
            told_too_far: false,
            frozen: 0,
            votes: 0,
            carried_statements: Carried::default(),
            guest: None,
            sender: None,
            author_from: 0,
        }
    }

    /// The machine was suspended for this long: the time does not count.
    pub(crate) fn shift(&mut self, jump: Duration, now: Instant) {
        self.last_heard = (self.last_heard + jump).min(now);
        for (_, since) in &mut self.marks {
            *since = (*since + jump).min(now);
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

    /// Our own entry has closed.
    pub(crate) fn mark_urgent(&mut self) {
        self.urgent = true;
    }

    /// Sends a bye with this link's next packets.
    pub(crate) fn owe_bye(&mut self, bye: Bye) {
        self.last_word = Some((bye, BYE_COPIES));
    }

    /// Sends one more bye, unless one is due anyway.
    pub(crate) fn repeat_bye(&mut self, bye: Bye) {
        self.last_word.get_or_insert((bye, 1));
    }

    /// Whether a bye must still be sent.
    pub(crate) fn owes_bye(&self) -> bool {
        self.last_word.is_some()
    }

    /// One copy of the bye.
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

    /// Whether the next packet continues where the one before, at the same time, had no more room.
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

    /// Notes that a packet goes out; `more` means that not everything fitted.
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
