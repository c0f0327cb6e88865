//! One remote peer: the handshake, what it has, when it was last heard, when the next packet is due.

use crate::session::carried::Carried;
use crate::session::outflow::Outflow;
use crate::session::streams::Streams;
use crate::session::transfer::arrival::{Arrival, ArrivalStage};
use crate::session::transfer::sender::Sender;
use crate::signed::roster::Seat;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

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

/// The keys and numbers on which both ends have agreed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    /// The number in the hello that made this link.
    pub(crate) nonce: u64,
    /// The key of the link's packets.
    pub(crate) key: u64,
    /// Dialing: the cookie that the remote expects; 0 before it has sent one.
    pub(crate) cookie: u64,
    /// Number of the connection at the player's place: the remote's on the middle of a star, the local player's on the link to the middle.
    pub(crate) connection: u16,
}

/// What the remote has of the match, as far as it has said so.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// For each stream the first entry that the remote lacks.
    pub(crate) acked: [u32; PLAYERS_MAX as usize],
    /// Everybody behind this link has our entries below this number.
    pub(crate) confirmed: u32,
    /// The remote's position in its own stream.
    pub(crate) base: u32,
    /// The remote has said that it has everything.
    pub(crate) finished: bool,
    /// Entries of the remote's own stream below this number were made here, and are sent to it.
    pub(crate) author_from: u32,
    /// For each stream: the end of the stream at some time, until the remote has confirmed everything below it. It shows for how long the
    /// remote has lacked an entry.
    pub(crate) marks: [(u32, Instant); PLAYERS_MAX as usize],
}

/// Mesh: what the remote has said of others, and what it gets of them from here.
#[derive(Clone, Debug)]
pub(crate) struct MeshView {
    /// The remote's [`crate::packet::TurnsPacket::frozen`].
    pub(crate) frozen: u16,
    /// The remote's [`crate::packet::TurnsPacket::votes`].
    pub(crate) votes: u16,
    /// For each stream, the first entry that is here and that the remote lacks, and since when.
    pub(crate) lacks: [Option<(u32, Instant)>; PLAYERS_MAX as usize],
    /// Until when this peer sends another player's stream to the remote.
    pub(crate) helps_until: [Instant; PLAYERS_MAX as usize],
    /// The remote has run turns without a player whose entries of these turns are here.
    pub(crate) plays_another: bool,
}

/// One remote peer.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) peer: PeerId,
    pub(crate) phase: LinkPhase,
    /// Known when connected.
    pub(crate) identity: Option<Identity>,
    pub(crate) handshake: Handshake,
    pub(crate) lobby: LobbyView,
    pub(crate) progress: Progress,
    pub(crate) last_heard: Instant,
    pub(crate) outflow: Outflow,
    pub(crate) mesh: MeshView,
    pub(crate) looked_first: LookedFirst,
    /// The application knows that the remote has sent entries that were too far ahead.
    pub(crate) told_too_far: bool,
    pub(crate) carried_statements: Carried,
    /// The remote joins a running match; on the middle of the star.
    pub(crate) arrival: Option<Box<Arrival>>,
    /// The remote gets a state from this peer.
    pub(crate) sender: Option<Box<Sender>>,
}

impl Link {
    /// A link that is not connected yet; `first` is the number of the first entry of all streams.
    pub(crate) fn new(peer: PeerId, handshake: Handshake, first: u32, now: Instant) -> Self {
        Self {
            peer,
            phase: LinkPhase::Dialing,
            identity: None,
            handshake,
            lobby: LobbyView::default(),
            progress: Progress {
                acked: [first; PLAYERS_MAX as usize],
                confirmed: first,
                base: first,
                finished: false,
                author_from: 0,
                marks: [(first, now); PLAYERS_MAX as usize],
            },
            last_heard: now,
            outflow: Outflow::default(),
            mesh: MeshView {
                frozen: 0,
                votes: 0,
                lacks: [None; PLAYERS_MAX as usize],
                helps_until: [Instant::ZERO; PLAYERS_MAX as usize],
                plays_another: false,
            },
            looked_first: LookedFirst::default(),
            told_too_far: false,
            carried_statements: Carried::default(),
            arrival: None,
            sender: None,
        }
    }

    /// The match begins with another entry than was thought.
    pub(crate) fn begin_at(&mut self, first: u32, now: Instant) {
        let progress = &mut self.progress;
        progress.acked = [first; PLAYERS_MAX as usize];
        (progress.confirmed, progress.base) = (first, first);
        progress.marks = [(first, now); PLAYERS_MAX as usize];
    }

    /// The machine was suspended for this long: the time does not count.
    pub(crate) fn shift(&mut self, jump: Duration, now: Instant) {
        self.last_heard = (self.last_heard + jump).min(now);
        for (_, since) in &mut self.progress.marks {
            *since = (*since + jump).min(now);
        }
    }

    /// Whether the remote cannot use entries yet.
    pub(crate) fn lacks_state(&self) -> bool {
        self.arrival.as_ref().is_some_and(|arrival| arrival.stage != ArrivalStage::CatchingUp)
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.phase == LinkPhase::Connected
    }

    pub(crate) fn is_player(&self) -> bool {
        matches!(self.identity, Some(Identity::Player(_)))
    }

    /// Whether the remote has the state of the match: it is a player, even one who only watches now, and has not just come itself.
    pub(crate) fn may_be_source(&self) -> bool {
        self.is_connected() && self.is_player() && self.arrival.is_none() && !self.progress.finished
    }

    /// Whether a remote that acknowledges these entries has its state; then it counts as a watcher that is behind.
    pub(crate) fn has_state(&mut self, acks: &[u32], streams: &Streams, now: Instant) -> bool {
        let Some(arrival) = &mut self.arrival else { return true };
        if arrival.take_acks(acks, streams, now) {
            tracing::debug!(peer = self.peer.0, "a joining peer has the state");
            self.sender = None;
            (self.outflow.carried, self.progress.author_from) = Default::default();
            // Of its own stream it lacks the entries that were made for it.
            if let Some(Identity::Player(player)) = self.identity {
                let stream = &streams[player.index()];
                self.progress.author_from = stream.end().map_or(0, |(last, _)| last.saturating_add(1));
            }
        }
        arrival.stage == ArrivalStage::CatchingUp
    }

    /// When the next packet is due, if packets go out every `tick`.
    pub(crate) fn due_at(&self, tick: Duration) -> Option<Instant> {
        self.outflow.due_at(tick, self.phase == LinkPhase::Closed)
    }

    /// The first entry of a stream that the next packet carries.
    pub(crate) fn first_to_send(&self, player: PlayerId) -> u32 {
        self.outflow.first_to_send(player, self.progress.acked[player.index()])
    }
}
