//! Unsealed matches: before its session can start, a guest asks the host's address for the settings of the match and for a free place.
//!
//! Both packets have the same length, so nobody can use a host to amplify traffic. Nothing is sealed: this is for tests, and for networks in
//! which everybody is trusted. All numbers are little-endian.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

use testudo_lockstep::{Duration, Identity, Instant, PACKET_BYTES_MAX, PROTOCOL_VERSION, PlayerId};

use crate::app::clock::Clock;
use crate::app::error::{ANSWER_WAIT, InvitationError, MatchError};
use crate::app::online::agreement::{AGREEMENT_BYTES, Agreement};
use crate::app::online::greeting::Welcome;
use crate::app::online::keys;
use crate::app::online::name::{NAME_BYTES_MAX, Name};

/// Length of question and answer.
pub(crate) const BYTES: usize = 64;

const ASK: [u8; 8] = *b"testudo?";
const ANSWER: [u8; 8] = *b"testudo!";

/// Time between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// Greatest number of packets that are read in one step.
const RECEIVE_MAX: u32 = 64;

/// Time for which a place is reserved for a guest that asked and has not connected.
const KEPT: Duration = Duration::from_secs(5);

/// A watcher's place; players have their number.
const WATCHER: u8 = 255;

/// A host's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Come(Welcome),
    /// Every place is taken.
    Full,
    /// The host speaks this protocol version.
    Version(u16),
}

/// What a guest asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Question {
    nonce: u64,
    version: u16,
    watches: bool,
    name: Name,
}

/// A question to a host, repeated until it is answered. Nothing here waits.
pub(crate) struct Asking {
    host: SocketAddr,
    socket: UdpSocket,
    question: Question,
    clock: Clock,
    asked: Option<Instant>,
}

impl Asking {
    /// # Errors
    /// No socket is available.
    pub(crate) fn begin(host: SocketAddr, watches: bool, name: Name) -> Result<Self, MatchError> {
        let failed = |error| MatchError::Invitation(InvitationError::Socket(error));
        let local: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(local).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let question = Question { nonce: keys::random_number()?, version: PROTOCOL_VERSION, watches, name };
        Ok(Self { host, socket, question, clock: Clock::start(), asked: None })
    }

    /// The host that is asked.
    pub(crate) fn host(&self) -> SocketAddr {
        self.host
    }

    /// The next datagram of the host, for who has a place and no session yet.
    pub(crate) fn poll_packet(&self) -> Option<Vec<u8>> {
        let mut buffer = [0; PACKET_BYTES_MAX];
        for _ in 0..RECEIVE_MAX {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) if from == self.host => return Some(buffer[..length].to_vec()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Ok(_) | Err(_) => {}
            }
        }
        None
    }

    /// Sends the host a datagram, which may be lost.
    pub(crate) fn send(&self, bytes: &[u8]) {
        let _ = self.socket.send_to(bytes, self.host);
    }

    /// Reads what has arrived, and asks again if it is time. None: there is no answer yet.
    ///
    /// # Errors
    /// The host has refused, or has not answered for long enough.
    pub(crate) fn step(&mut self) -> Result<Option<Welcome>, InvitationError> {
        let host = self.host;
        match self.answer() {
            Some(Answer::Come(welcome)) => return Ok(Some(welcome)),
            Some(Answer::Full) => return Err(InvitationError::Full { host }),
            Some(Answer::Version(theirs)) => return Err(InvitationError::Version { theirs }),
            None => {}
        }
        let now = self.clock.now();
        if self.clock.elapsed() >= ANSWER_WAIT {
            return Err(InvitationError::NoAnswer { host });
        }
        if self.asked.is_none_or(|asked| now.since(asked) >= ASK_AGAIN) {
            self.asked = Some(now);
            // The error "nobody listens there" comes at once and may be temporary.
            let _ = self.socket.send_to(&self.question.to_bytes(), host);
        }
        Ok(None)
    }

    /// The host's answer, if it has arrived.
    fn answer(&self) -> Option<Answer> {
        let mut buffer = [0; BYTES + 1];
        for _ in 0..RECEIVE_MAX {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) if from == self.host => {
                    let answer = read_answer(&buffer[..length], self.question.nonce);
                    if answer.is_some() {
                        return answer;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Ok(_) | Err(_) => {}
            }
        }
        None
    }
}

/// The places that the host has offered. Whoever asks gets one that nobody holds.
#[derive(Debug)]
pub(crate) struct Offers {
    agreement: Agreement,
    session_id: u64,
    /// Of all players; the host's own is never offered.
    places: Vec<Place>,
}

#[derive(Clone, Debug, Default)]
struct Place {
    /// The guest that was offered it last, and when.
    offered: Option<(u64, Instant)>,
    connected: bool,
    name: Name,
}

impl Offers {
    pub(crate) fn new(agreement: Agreement, session_id: u64) -> Self {
        let places = vec![Place::default(); usize::from(agreement.players)];
        Self { agreement, session_id, places }
    }

    /// Notes that a player's session has connected, or that the player is gone.
    pub(crate) fn set_connected(&mut self, player: PlayerId, connected: bool) {
        if let Some(place) = self.places.get_mut(player.index()) {
            place.connected = connected;
            place.offered = place.offered.filter(|_| connected);
        }
    }

    /// The name that a player came with.
    pub(crate) fn name(&self, player: PlayerId) -> Option<&Name> {
        Some(&self.places.get(player.index())?.name)
    }

    /// Answers a question; none if the bytes are not a question.
    pub(crate) fn answer(&mut self, bytes: &[u8], now: Instant) -> Option<[u8; BYTES]> {
        let question = Question::read(bytes)?;
        let nonce = question.nonce;
        let Self { agreement, session_id, .. } = *self;
        let come = |place| Answer::Come(Welcome { place, is_relayed: false, session_id, agreement });
        let answer = if question.version != PROTOCOL_VERSION {
            Answer::Version(PROTOCOL_VERSION)
        } else if question.watches {
            come(Identity::Watcher)
        } else {
            self.offer(question, now).map_or(Answer::Full, |player| come(Identity::Player(player)))
        };
        Some(answer_bytes(nonce, &answer))
    }

    /// A guest that asks twice keeps its place. Free places come first. A place that was given away long ago, and whose player may have
    /// gone, is offered again: if the player is still there, the session refuses the newcomer.
    fn offer(&mut self, question: Question, now: Instant) -> Option<PlayerId> {
        let since = |place: &Place| place.offered.map(|(_, at)| at);
        let is_same = |place: &Place| place.offered.is_some_and(|(who, _)| who == question.nonce);
        let same = self.places.iter().position(is_same);
        let stale = |place: &Place| since(place).is_none_or(|at| now.since(at) >= KEPT);
        let oldest = || {
            let others =
                self.places.iter().enumerate().filter(|(index, _)| *index != self.agreement.host.index());
            let stale = others.filter(|(_, place)| stale(place));
            stale.min_by_key(|(_, place)| (place.connected, since(place))).map(|(index, _)| index)
        };
        let index = same.or_else(oldest)?;
        let place = &mut self.places[index];
        place.offered = Some((question.nonce, now));
        place.name = question.name;
        u8::try_from(index).ok().map(PlayerId)
    }
}

impl Question {
    /// Mark, nonce, version, whether it is for watching, length of the name, the name, zeros.
    fn to_bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&ASK);
        bytes[8..16].copy_from_slice(&self.nonce.to_le_bytes());
        bytes[16..18].copy_from_slice(&self.version.to_le_bytes());
        bytes[18] = u8::from(self.watches);
        let name = self.name.as_str().as_bytes();
        bytes[19] = name.len() as u8;
        bytes[20..20 + name.len()].copy_from_slice(name);
        bytes
    }

    /// Of another version only mark, nonce and version are read.
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        (bytes[..8] == ASK).then_some(())?;
        let (nonce, version) = (u64::from_le_bytes(part(bytes, 8)), u16::from_le_bytes(part(bytes, 16)));
        if version != PROTOCOL_VERSION {
            return Some(Self { nonce, version, watches: false, name: Name::default() });
        }
        let length = usize::from(bytes[19]).min(NAME_BYTES_MAX);
        let name = Name::read(&bytes[20..20 + length])?;
        let question = Self { nonce, version, watches: bytes[18] == 1, name };
        (question.to_bytes() == *bytes).then_some(question)
    }
}

/// Mark, nonce, kind (0 come, 1 full, 2 version), place, then agreement and session id, or version.
fn answer_bytes(nonce: u64, answer: &Answer) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&ANSWER);
    bytes[8..16].copy_from_slice(&nonce.to_le_bytes());
    match answer {
        Answer::Full => bytes[16] = 1,
        Answer::Version(version) => {
            bytes[16] = 2;
            bytes[18..20].copy_from_slice(&version.to_le_bytes());
        }
        Answer::Come(welcome) => {
            bytes[17] = match welcome.place {
                Identity::Player(player) => player.0,
                Identity::Watcher | Identity::Relay => WATCHER,
            };
            bytes[18..18 + AGREEMENT_BYTES].copy_from_slice(&welcome.agreement.to_bytes());
            bytes[56..64].copy_from_slice(&welcome.session_id.to_le_bytes());
        }
    }
    bytes
}

/// The answer to the question with this number, with everything in range.
fn read_answer(bytes: &[u8], nonce: u64) -> Option<Answer> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    (bytes[..8] == ANSWER && u64::from_le_bytes(part(bytes, 8)) == nonce).then_some(())?;
    match bytes[16] {
        0 => {
            let agreement = Agreement::from_bytes(&part(bytes, 18))?;
            let place = match bytes[17] {
                WATCHER => Identity::Watcher,
                player if (1..agreement.players).contains(&player) => Identity::Player(PlayerId(player)),
                _ => return None,
            };
            let session_id = u64::from_le_bytes(part(bytes, 56));
            Some(Answer::Come(Welcome { place, is_relayed: false, session_id, agreement }))
        }
        1 => Some(Answer::Full),
        2 => Some(Answer::Version(u16::from_le_bytes(part(bytes, 18)))),
        _ => None,
    }
}

fn part<const N: usize>(bytes: &[u8; BYTES], at: usize) -> [u8; N] {
    core::array::from_fn(|index| bytes[at + index])
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::Pace;

    use super::*;

    fn agreement() -> Agreement {
        let (units, turns, seed) = (5_000, 100, 0x0102_0304_0506_0708);
        Agreement {
            players: 3,
            host: PlayerId(0),
            pace: Pace::Fixed,
            bots: true,
            any_speed: false,
            units,
            turns,
            seed,
            map: 0,
            content: 7,
            save: 0,
        }
    }

    fn question(nonce: u64) -> Question {
        Question { nonce, version: PROTOCOL_VERSION, watches: false, name: Name::cleaned("Ada") }
    }

    fn place(offers: &mut Offers, nonce: u64, ms: u64) -> Option<u8> {
        let answer = offers.answer(&question(nonce).to_bytes(), Instant::from_millis(ms))?;
        match read_answer(&answer, nonce)? {
            Answer::Come(Welcome { place: Identity::Player(player), .. }) => Some(player.0),
            Answer::Come(_) | Answer::Full | Answer::Version(_) => None,
        }
    }

    #[test]
    fn an_invitation_says_all_that_a_session_needs() {
        let mut offers = Offers::new(agreement(), 99);
        let answer = offers.answer(&question(7).to_bytes(), Instant::ZERO).unwrap();
        let place = Identity::Player(PlayerId(1));
        let welcome = Welcome { place, is_relayed: false, session_id: 99, agreement: agreement() };
        assert_eq!(read_answer(&answer, 7), Some(Answer::Come(welcome)));
        assert_eq!(read_answer(&answer, 8), None, "an answer to somebody else's question");
        assert_eq!(offers.name(PlayerId(1)), Some(&Name::cleaned("Ada")));
        let watches = Question { watches: true, ..question(8) };
        let answer = offers.answer(&watches.to_bytes(), Instant::ZERO).unwrap();
        let welcome = Welcome { place: Identity::Watcher, ..welcome };
        assert_eq!(read_answer(&answer, 8), Some(Answer::Come(welcome)));
    }

    #[test]
    fn places_are_kept_for_who_asked_and_free_again_when_nobody_comes() {
        let mut offers = Offers::new(agreement(), 99);
        assert_eq!(place(&mut offers, 7, 0), Some(1));
        assert_eq!(place(&mut offers, 8, 10), Some(2));
        assert_eq!(place(&mut offers, 7, 20), Some(1), "who asks twice keeps the place");
        assert_eq!(place(&mut offers, 9, 30), None, "full");
        offers.set_connected(PlayerId(1), true);
        assert_eq!(place(&mut offers, 9, 5_100), Some(2), "player 2 has never connected");
        let why = "the session knows whether player 1 is still there";
        assert_eq!(place(&mut offers, 10, 5_200), Some(1), "{why}");
        offers.set_connected(PlayerId(1), true);
        offers.set_connected(PlayerId(2), true);
        offers.set_connected(PlayerId(2), false);
        assert_eq!(place(&mut offers, 11, 5_300), Some(2), "player 2 is gone");
    }

    #[test]
    fn whatever_arrives_is_an_answer_or_nothing() {
        let mut offers = Offers::new(agreement(), 99);
        let good = offers.answer(&question(7).to_bytes(), Instant::ZERO).unwrap();
        for length in 0..BYTES {
            assert_eq!(read_answer(&good[..length], 7), None);
            assert_eq!(offers.answer(&question(7).to_bytes()[..length], Instant::ZERO), None);
        }
        for (at, value) in [(16, 3), (17, 0), (17, 3), (18, 0), (18, 17), (19, 12), (23, 1), (27, 255)] {
            let mut bytes = good;
            bytes[at] = value;
            assert_eq!(read_answer(&bytes, 7), None, "byte {at} = {value}");
        }
        for (at, value) in [(18, 2), (19, 25), (20, 7), (63, 1)] {
            let mut bytes = question(7).to_bytes();
            bytes[at] = value;
            assert_eq!(offers.answer(&bytes, Instant::ZERO), None, "byte {at} = {value}");
        }
        let mut other = question(7).to_bytes();
        other[16] ^= 1;
        other[40] = 1;
        let answer = offers.answer(&other, Instant::ZERO).unwrap();
        assert_eq!(read_answer(&answer, 7), Some(Answer::Version(PROTOCOL_VERSION)));
    }
}
