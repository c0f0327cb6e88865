//! Before its session can start, a guest asks the host's address for the settings of the match and for a free place.
//!
//! Both packets have the same length, so nobody can use a host to amplify traffic. Nothing is sealed yet. All numbers are little-endian.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

use testudo_lockstep::{Duration, Instant, PROTOCOL_VERSION, Pace, PlayerId};

use crate::app::clock::Clock;
use crate::app::error::{ANSWER_WAIT, InvitationError};
use crate::app::maps;
use crate::app::terms::{TURNS_MAX, Terms};
use crate::game::Setup;

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

/// The match, and the newcomer's player number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Invitation {
    pub(crate) player: u8,
    pub(crate) session_id: u64,
    pub(crate) terms: Terms,
    pub(crate) pace: Pace,
}

impl Invitation {
    /// The invitation, unless it asks for more memory than this player grants: some 300 bytes per unit.
    fn within(self, units_max: u32) -> Result<Self, InvitationError> {
        let Setup { players, units, .. } = self.terms.setup;
        // In range, so this is 1,600,000 at most.
        let all = u32::from(players) * units;
        if all > units_max { Err(InvitationError::TooLarge { units: all, units_max }) } else { Ok(self) }
    }
}

/// A host's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Come(Invitation),
    /// Every place is taken.
    Full,
    /// The host speaks this protocol version.
    Version(u16),
    /// The host plays on a map that this program does not have.
    UnknownMap,
}

/// A number that nobody else is likely to choose.
pub(crate) fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Bytes that nobody can guess; the numbers that distinguish members from strangers are derived from them.
pub(crate) fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&random_number().to_le_bytes());
    bytes[8..].copy_from_slice(&random_number().to_le_bytes());
    bytes
}

/// A question to a host, repeated until it is answered. Nothing here waits.
pub(crate) struct Asking {
    host: SocketAddr,
    socket: UdpSocket,
    nonce: u64,
    clock: Clock,
    asked: Option<Instant>,
    /// Most units of a match that is worth coming to, all players together.
    units_max: u32,
}

impl Asking {
    /// # Errors
    /// No socket is available.
    pub(crate) fn begin(host: SocketAddr, units_max: u32) -> Result<Self, InvitationError> {
        let local: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(local).map_err(InvitationError::Socket)?;
        socket.set_nonblocking(true).map_err(InvitationError::Socket)?;
        Ok(Self { host, socket, nonce: random_number(), clock: Clock::start(), asked: None, units_max })
    }

    /// The host that is asked.
    pub(crate) fn host(&self) -> SocketAddr {
        self.host
    }

    /// Reads what has arrived, and asks again if it is time. None: there is no answer yet.
    ///
    /// # Errors
    /// The host has refused, or has not answered for long enough.
    pub(crate) fn step(&mut self) -> Result<Option<Invitation>, InvitationError> {
        let host = self.host;
        match self.answer() {
            Some(Answer::Come(invitation)) => return invitation.within(self.units_max).map(Some),
            Some(Answer::Full) => return Err(InvitationError::Full { host }),
            Some(Answer::UnknownMap) => return Err(InvitationError::Map { host }),
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
            let _ = self.socket.send_to(&question(self.nonce), host);
        }
        Ok(None)
    }

    /// The host's answer, if it has arrived.
    fn answer(&self) -> Option<Answer> {
        let mut buffer = [0; BYTES + 1];
        for _ in 0..RECEIVE_MAX {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) if from == self.host => {
                    let answer = read_answer(&buffer[..length], self.nonce);
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

/// The places that the host has assigned.
#[derive(Debug)]
pub(crate) struct Places {
    terms: Terms,
    pace: Pace,
    session_id: u64,
    /// Places of players 1, 2, ...
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The guest that was offered it last, and when.
    offered: Option<(u64, Instant)>,
    connected: bool,
}

impl Places {
    pub(crate) fn new(terms: Terms, pace: Pace, session_id: u64) -> Self {
        let places = vec![Place::default(); usize::from(terms.setup.players) - 1];
        Self { terms, pace, session_id, places }
    }

    /// Notes that a player's session has connected.
    pub(crate) fn connected(&mut self, player: PlayerId) {
        if let Some(place) = player.index().checked_sub(1).and_then(|index| self.places.get_mut(index)) {
            place.connected = true;
        }
    }

    /// Answers a question; none if the bytes are not a question.
    pub(crate) fn answer(&mut self, bytes: &[u8], now: Instant) -> Option<[u8; BYTES]> {
        let (nonce, version) = read_question(bytes)?;
        let answer = match self.offer(nonce, now) {
            _ if version != PROTOCOL_VERSION => Answer::Version(PROTOCOL_VERSION),
            Some(player) => {
                let Self { terms, pace, session_id, .. } = *self;
                Answer::Come(Invitation { player, session_id, terms, pace })
            }
            None => Answer::Full,
        };
        Some(answer_bytes(nonce, &answer))
    }

    /// A guest that asks twice keeps its place. Free places come first. A place that was given away long ago, and whose player may have
    /// gone, is offered again: if the player is still there, the session refuses the newcomer.
    fn offer(&mut self, nonce: u64, now: Instant) -> Option<u8> {
        let since = |place: &Place| place.offered.map(|(_, at)| at);
        let same = self.places.iter().position(|place| place.offered.is_some_and(|(who, _)| who == nonce));
        let stale = |place: &Place| since(place).is_none_or(|at| now.since(at) >= KEPT);
        let oldest = || {
            let stale = self.places.iter().enumerate().filter(|(_, place)| stale(place));
            stale.min_by_key(|(_, place)| (place.connected, since(place))).map(|(index, _)| index)
        };
        let index = same.or_else(oldest)?;
        self.places[index].offered = Some((nonce, now));
        u8::try_from(index + 1).ok()
    }
}

fn question(nonce: u64) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&ASK);
    bytes[8..16].copy_from_slice(&nonce.to_le_bytes());
    bytes[16..18].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
    bytes
}

fn read_question(bytes: &[u8]) -> Option<(u64, u16)> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    (bytes[..8] == ASK).then_some(())?;
    Some((u64::from_le_bytes(part(bytes, 8)), u16::from_le_bytes(part(bytes, 16))))
}

fn answer_bytes(nonce: u64, answer: &Answer) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&ANSWER);
    bytes[8..16].copy_from_slice(&nonce.to_le_bytes());
    match answer {
        Answer::Full => bytes[16] = 1,
        // Only who reads finds that out.
        Answer::UnknownMap => {}
        Answer::Version(version) => {
            bytes[16] = 2;
            bytes[18..20].copy_from_slice(&version.to_le_bytes());
        }
        Answer::Come(invitation) => {
            let Setup { players, units, seed, map } = invitation.terms.setup;
            bytes[17] = invitation.player;
            bytes[18] = u8::from(invitation.pace == Pace::Adaptive);
            bytes[20] = players;
            bytes[24..28].copy_from_slice(&units.to_le_bytes());
            bytes[28..32].copy_from_slice(&invitation.terms.turns.to_le_bytes());
            bytes[32..40].copy_from_slice(&seed.to_le_bytes());
            bytes[40..48].copy_from_slice(&invitation.session_id.to_le_bytes());
            bytes[48..56].copy_from_slice(&map.map_or(0, |map| map.hash).to_le_bytes());
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
            let map = match u64::from_le_bytes(part(bytes, 48)) {
                0 => None,
                hash => match maps::with_hash(hash) {
                    Some(map) => Some(map),
                    None => return Some(Answer::UnknownMap),
                },
            };
            let setup = Setup {
                players: bytes[20],
                units: u32::from_le_bytes(part(bytes, 24)),
                seed: u64::from_le_bytes(part(bytes, 32)),
                map,
            };
            let terms = Terms { setup, turns: u32::from_le_bytes(part(bytes, 28)) };
            let session_id = u64::from_le_bytes(part(bytes, 40));
            let pace = if bytes[18] == 0 { Pace::Fixed } else { Pace::Adaptive };
            let invitation = Invitation { player: bytes[17], session_id, terms, pace };
            let in_range = bytes[18] <= 1
                && setup.check().is_ok()
                && (1..=TURNS_MAX).contains(&terms.turns)
                && (1..setup.players).contains(&invitation.player);
            in_range.then_some(Answer::Come(invitation))
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
    use super::*;

    fn terms() -> Terms {
        Terms {
            setup: Setup { players: 3, units: 5_000, seed: 0x0102_0304_0506_0708, map: None },
            turns: 100,
        }
    }

    fn place(places: &mut Places, nonce: u64, ms: u64) -> Option<u8> {
        let answer = places.answer(&question(nonce), Instant::from_millis(ms))?;
        match read_answer(&answer, nonce)? {
            Answer::Come(invitation) => Some(invitation.player),
            Answer::Full | Answer::Version(_) | Answer::UnknownMap => None,
        }
    }

    #[test]
    fn an_invitation_says_all_that_a_session_needs() {
        let mut places = Places::new(terms(), Pace::Adaptive, 99);
        let answer = places.answer(&question(7), Instant::ZERO).unwrap();
        let invitation = Invitation { player: 1, session_id: 99, terms: terms(), pace: Pace::Adaptive };
        assert_eq!(read_answer(&answer, 7), Some(Answer::Come(invitation)));
        assert_eq!(read_answer(&answer, 8), None, "an answer to somebody else's question");
    }

    /// 64 bytes must not cost a guest 477 MB.
    #[test]
    fn an_invitation_to_more_units_than_the_guest_grants_is_not_accepted() {
        let invitation = |players, units| Invitation {
            player: 1,
            session_id: 99,
            terms: Terms { setup: Setup { players, units, seed: 1, map: None }, turns: 100 },
            pace: Pace::Fixed,
        };
        assert!(invitation(4, 25_000).within(100_000).is_ok());
        for (players, units) in [(4, 25_001), (16, 100_000), (2, 100_000)] {
            let refused = invitation(players, units).within(100_000);
            let Err(InvitationError::TooLarge { units: told, units_max: 100_000 }) = refused else {
                panic!("{refused:?}")
            };
            assert_eq!(told, u32::from(players) * units);
        }
    }

    #[test]
    fn a_map_is_known_by_its_hash_or_asked_for() {
        let setup = Setup { players: 2, map: maps::named("ford"), ..terms().setup };
        let mut places = Places::new(Terms { setup, ..terms() }, Pace::Fixed, 99);
        let mut answer = places.answer(&question(7), Instant::ZERO).unwrap();
        let Some(Answer::Come(invitation)) = read_answer(&answer, 7) else { panic!("no invitation") };
        assert_eq!(invitation.terms.setup, setup);
        answer[48] ^= 1;
        assert_eq!(read_answer(&answer, 7), Some(Answer::UnknownMap));
    }

    #[test]
    fn places_are_kept_for_who_asked_and_free_again_when_nobody_comes() {
        let mut places = Places::new(terms(), Pace::Fixed, 99);
        assert_eq!(place(&mut places, 7, 0), Some(1));
        assert_eq!(place(&mut places, 8, 10), Some(2));
        assert_eq!(place(&mut places, 7, 20), Some(1), "who asks twice keeps the place");
        assert_eq!(place(&mut places, 9, 30), None, "full");
        places.connected(PlayerId(1));
        assert_eq!(place(&mut places, 9, 5_100), Some(2), "player 2 has never connected");
        assert_eq!(
            place(&mut places, 10, 5_200),
            Some(1),
            "the session knows whether player 1 is still there"
        );
    }

    #[test]
    fn whatever_arrives_is_an_answer_or_nothing() {
        let mut places = Places::new(terms(), Pace::Fixed, 99);
        let good = places.answer(&question(7), Instant::ZERO).unwrap();
        for length in 0..BYTES {
            assert_eq!(read_answer(&good[..length], 7), None);
            assert_eq!(places.answer(&question(7)[..length], Instant::ZERO), None);
        }
        for (at, value) in [(16, 3), (18, 2), (17, 0), (17, 3), (20, 0), (20, 17), (27, 1), (31, 255)] {
            let mut bytes = good;
            bytes[at] = value;
            assert_eq!(read_answer(&bytes, 7), None, "byte {at} = {value}");
        }
        let mut other = question(7);
        other[16] ^= 1;
        let answer = places.answer(&other, Instant::ZERO).unwrap();
        assert_eq!(read_answer(&answer, 7), Some(Answer::Version(PROTOCOL_VERSION)));
    }
}
