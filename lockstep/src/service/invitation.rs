//! Matches without a seal, for tests and for networks in which everybody is trusted: before its session can start, a guest asks the host's
//! address for the settings of the match and for a free place.
//!
//! No answer is longer than its question, so nobody can use a host to amplify traffic.

use crate::packet::PROTOCOL_VERSION;
use crate::service::agreement::Agreement;
use crate::service::greeting::{Answer, Refused, Welcome};
use crate::session::AnySession;
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::{Duration, Instant};

/// Length of a question.
pub const QUESTION_BYTES: usize = 1_024;

const ASK: [u8; 8] = *b"testudo?";
const ANSWER: [u8; 8] = *b"testudo!";

/// Mark and nonce.
const HEAD_BYTES: usize = 16;

/// Time between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// Time for which a place is reserved for a guest that asked and has not connected.
const KEPT: Duration = Duration::from_secs(5);

/// A question to a host, repeated until it is answered.
#[derive(Clone, Debug)]
pub struct Asking {
    nonce: u64,
    watches: bool,
    asked: Option<Instant>,
}

impl Asking {
    /// Asks for a place to play, or to watch. `nonce` is random.
    #[must_use]
    pub fn new(nonce: u64, watches: bool) -> Self {
        Self { nonce, watches, asked: None }
    }

    /// The question, if it is time to send it to the host.
    pub fn question(&mut self, now: Instant) -> Option<Vec<u8>> {
        let is_due = self.asked.is_none_or(|asked| now.since(asked) >= ASK_AGAIN);
        is_due.then(|| {
            self.asked = Some(now);
            Question { nonce: self.nonce, version: PROTOCOL_VERSION, watches: self.watches }.to_bytes()
        })
    }

    /// Reads a packet of the host. None: it is no answer to this question.
    #[must_use]
    pub fn hear(&self, bytes: &[u8]) -> Option<Answer> {
        let (head, answer) = bytes.split_at_checked(HEAD_BYTES)?;
        let is_mine = head[..8] == ANSWER && head[8..] == self.nonce.to_le_bytes();
        is_mine.then(|| Answer::read(answer)).flatten()
    }
}

/// The places that a host has offered. Whoever asks gets one that nobody holds. The settings of its session are `agreement.config().session_id(..)`.
/// To one with [`Host::config`](crate::service::host::Host::config) only bound peers may come, and nobody is bound here: whoever asks is refused
/// ([`Refused::WrongSecret`]). The program tells it who is here: [`Offers::set_connected`].
#[derive(Clone, Debug)]
pub struct Offers {
    /// But for the place.
    welcome: Welcome,
    host: PlayerId,
    /// Of all players' places; the host's own is never offered.
    offers: Vec<Offer>,
    /// The session answers nobody who comes without a seal.
    is_closed: bool,
}

/// Who was offered one place, and whether somebody plays there.
#[derive(Clone, Debug, Default)]
struct Offer {
    /// The guest that was offered it last, and when.
    guest: Option<(u64, Instant)>,
    connected: bool,
}

/// What a guest asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Question {
    nonce: u64,
    version: u16,
    watches: bool,
}

impl Offers {
    /// The places of a host's session.
    #[must_use]
    pub fn new(session: &AnySession, agreement: Agreement) -> Self {
        let session_id = session.config().session_id;
        let offers = vec![Offer::default(); usize::from(agreement.players())];
        let host = session.player().unwrap_or_default();
        let welcome = Welcome { place: Identity::Watcher, is_relayed: false, session_id, agreement };
        let is_closed = session.config().own.bound_peers_only;
        if is_closed {
            tracing::error!("only bound peers may come to this session, and nobody is bound over plain UDP");
        }
        Self { welcome, host, offers, is_closed }
    }

    /// Notes that a player's session has connected ([`Event::Connected`](crate::Event::Connected)), or that the player is gone
    /// ([`Event::PlayerGone`](crate::Event::PlayerGone)).
    pub fn set_connected(&mut self, player: PlayerId, connected: bool) {
        if let Some(offer) = self.offers.get_mut(player.index()) {
            offer.connected = connected;
            offer.guest = offer.guest.filter(|_| connected);
        }
    }

    /// Answers a question; none if the bytes are not a question.
    pub fn answer(&mut self, bytes: &[u8], now: Instant) -> Option<Vec<u8>> {
        let question = Question::read(bytes)?;
        let answer = if question.version != PROTOCOL_VERSION {
            Answer::Refused(Refused::Version(PROTOCOL_VERSION))
        } else if self.is_closed {
            Answer::Refused(Refused::WrongSecret)
        } else if question.watches {
            self.come(Identity::Watcher)
        } else {
            match self.offer(question.nonce, now) {
                Some(player) => self.come(Identity::Player(player)),
                None => Answer::Refused(Refused::Full),
            }
        };
        Some([&ANSWER[..], &question.nonce.to_le_bytes(), &answer.to_bytes()].concat())
    }

    fn come(&self, place: Identity) -> Answer {
        Answer::Come(Welcome { place, ..self.welcome.clone() })
    }

    /// A guest that asks twice keeps its place. Free places come first. A place that was given away long ago, and whose player may have
    /// gone, is offered again: if the player is still there, the session refuses the guest.
    fn offer(&mut self, nonce: u64, now: Instant) -> Option<PlayerId> {
        let since = |offer: &Offer| offer.guest.map(|(_, at)| at);
        let same = self.offers.iter().position(|offer| offer.guest.is_some_and(|(who, _)| who == nonce));
        let stale = |offer: &Offer| since(offer).is_none_or(|at| now.since(at) >= KEPT);
        let oldest = || {
            let others = self.offers.iter().enumerate().filter(|(index, _)| *index != self.host.index());
            let stale = others.filter(|(_, offer)| stale(offer));
            stale.min_by_key(|(_, offer)| (offer.connected, since(offer))).map(|(index, _)| index)
        };
        let index = same.or_else(oldest)?;
        self.offers[index].guest = Some((nonce, now));
        u8::try_from(index).ok().map(PlayerId)
    }
}

impl Question {
    /// Mark, nonce, version, whether it is for watching, zeros.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = [&ASK[..], &self.nonce.to_le_bytes(), &self.version.to_le_bytes()].concat();
        bytes.push(u8::from(self.watches));
        bytes.resize(QUESTION_BYTES, 0);
        bytes
    }

    /// Of another version only mark, nonce and version are read, at any length.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (nonce, rest) = bytes.strip_prefix(&ASK)?.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (nonce, version) = (u64::from_le_bytes(*nonce), u16::from_le_bytes(*version));
        if version != PROTOCOL_VERSION {
            // As long as the shortest answer.
            return (bytes.len() >= HEAD_BYTES + 3).then_some(Self { nonce, version, watches: false });
        }
        let question = Self { nonce, version, watches: rest.first() == Some(&1) };
        (question.to_bytes() == bytes).then_some(question)
    }
}
