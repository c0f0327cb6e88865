//! What a session needs, besides the simulation's state, to continue in the middle of a running match.

use siphasher::sip::SipHasher24;
use smallvec::SmallVec;

use crate::pace::pacing::{CALM_MS, CALM_TURNS, TurnPlan, Votes};
use crate::session::asked::{Asked, read_pause, write_pause};
use crate::session::config::{SessionConfig, Topology};
use crate::session::saving::{is_somebodys_pause, plan_is_sound};
use crate::signed::chain::{AGREED_HASH_BYTES, StreamHash, hash};
use crate::signed::roster::{Seat, read_seats, write_seats};
use crate::signed::statement::INTERVAL;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::{EndReason, SPEED_PERCENT_MAX, SPEED_PERCENT_MIN};
use crate::value::field::{Field, fields};
use crate::value::ids::{PLAYERS_MAX, PlayerId};

/// Bytes of the length before a header.
const LENGTH_BYTES: usize = 2;

/// A running match before a turn. It precedes the bytes of the simulation's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) settings_hash: u64,
    pub(crate) turn: u32,
    /// Number of frames simulated so far.
    pub(crate) frame: u32,
    /// Checksum of the state.
    pub(crate) checksum: u64,
    pub(crate) paused: bool,
    /// Whose pause it is.
    pub(crate) paused_by: Option<PlayerId>,
    pub(crate) speed: u8,
    pub(crate) plan: TurnPlan,
    /// For how long the plan could have been shorter: turns, ms.
    pub(crate) calm: (u32, u32),
    /// The match is decided: the turn at whose end it was, and the result.
    pub(crate) result: Option<(u32, u32)>,
    pub(crate) players: SmallVec<[HeaderPlayer; PLAYERS_MAX as usize]>,
    /// Turn of the last save point: the next one is some turns later, on every peer.
    pub(crate) saved: Option<u32>,
    /// In a signed match.
    pub(crate) signing: Option<Box<HeaderSigning>>,
}

/// The hashes for statements up to this turn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct HeaderSigning {
    /// Game time since the last statement, in microseconds.
    pub(crate) elapsed: u64,
    /// Folded checksum of the newest turn whose checksums are exchanged.
    pub(crate) checksum: u32,
    /// Hashes of each player's entries.
    pub(crate) streams: Vec<StreamHash>,
    pub(crate) seats: Vec<Option<Seat>>,
}

/// A player's part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HeaderPlayer {
    /// Away before the turn: number of the last entry, and the reason.
    pub(crate) ended: Option<(u32, EndReason)>,
    pub(crate) votes: Votes,
    pub(crate) asked: Asked,
}

fields!(HeaderPlayer { ended, votes, asked });

impl Header {
    /// Hash of all of it but the checksums, for statements, which have a checksum besides: it is the same for a right and a wrong copy of the
    /// simulation.
    pub(crate) fn agreed(mut self) -> [u8; AGREED_HASH_BYTES] {
        self.checksum = 0;
        self.signing.iter_mut().for_each(|signing| signing.checksum = 0);
        hash(&[b"testudo agreed", &self.with_state(&[])])
    }

    /// What the checksums of the turn before are marked with where they cross the network, so that they contradict a header that lies. In a signed match
    /// statements do that, and in a mesh nobody joins.
    pub(crate) fn mark(mut self, config: &SessionConfig, writer: &mut BitWriter) -> u32 {
        if config.signed || config.topology == Topology::Mesh {
            return 0;
        }
        self.checksum = 0;
        writer.clear();
        self.write(writer);
        SipHasher24::new_with_keys(config.session_id, 4).hash(writer.bytes()) as u32
    }

    /// The header, then the state.
    pub(crate) fn with_state(&self, state: &[u8]) -> Vec<u8> {
        let mut writer = BitWriter::new();
        self.write(&mut writer);
        let head = writer.bytes();
        let mut bytes = Vec::with_capacity(LENGTH_BYTES + head.len() + state.len());
        // At most 16 players of 23 bytes, and 73 if they sign.
        bytes.extend_from_slice(&(head.len() as u16).to_le_bytes());
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(state);
        bytes
    }

    fn write(&self, writer: &mut BitWriter) {
        self.settings_hash.write(writer);
        self.turn.write(writer);
        self.frame.write(writer);
        self.checksum.write(writer);
        write_pause(writer, self.paused, self.paused_by);
        self.speed.write(writer);
        self.plan.write(writer);
        self.calm.write(writer);
        self.result.write(writer);
        self.players.iter().for_each(|player| player.write(writer));
        self.saved.write(writer);
        writer.write_bool(self.signing.is_some());
        if let Some(signing) = &self.signing {
            signing.write(writer);
        }
    }

    /// Reads what [`Header::with_state`] wrote, for this many players: the header, and the start of the state. Total.
    pub(crate) fn read(bytes: &[u8], players: u8) -> Result<(Self, usize), DecodeError> {
        let short = DecodeError::OutOfBits { wanted: 8 * LENGTH_BYTES as u32, left: 8 * bytes.len() as u32 };
        let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>().ok_or(short)?;
        let length = usize::from(u16::from_le_bytes(*length));
        let head = rest.get(..length).ok_or(short)?;
        let mut reader = BitReader::new(head);
        let (settings_hash, turn) = Field::read(&mut reader)?;
        let (frame, checksum) = Field::read(&mut reader)?;
        let (paused, paused_by) = read_pause(&mut reader)?;
        let speed = reader.read_max(8, u64::from(SPEED_PERCENT_MAX))? as u8;
        let plan = Field::read(&mut reader)?;
        let (calm, result) = Field::read(&mut reader)?;
        let of_all = (0..players).map(|_| Field::read(&mut reader)).collect::<Result<_, _>>()?;
        let saved = Field::read(&mut reader)?;
        let is_signed = reader.read_bool()?;
        let signing = is_signed.then(|| HeaderSigning::read(&mut reader, players)).transpose()?.map(Box::new);
        reader.finish()?;
        let header = Self {
            settings_hash,
            turn,
            frame,
            checksum,
            paused,
            paused_by,
            speed,
            plan,
            calm,
            result,
            players: of_all,
            saved,
            signing,
        };
        Ok((header, LENGTH_BYTES + length))
    }

    /// Whether a session with these settings can continue from here; the sender is not trusted.
    pub(crate) fn is_sound(&self, config: &SessionConfig, action_bits: u32) -> bool {
        let exists = self.turn > config.first_turn() && config.turns.is_none_or(|turns| self.turn < turns);
        let before = |player: &HeaderPlayer| player.ended.is_none_or(|(last, _)| last < self.turn);
        self.settings_hash == config.settings_hash(action_bits)
            && exists
            && self.turn <= 4_000_000_000
            && self.speed >= SPEED_PERCENT_MIN
            && is_somebodys_pause(self.paused, self.paused_by, config)
            && self.players.len() == usize::from(config.players)
            && self.signing.is_some() == config.signed
            && self.counters_are_sound()
            && self.players.iter().all(before)
            && self.result.is_none_or(|(turn, _)| turn < self.turn)
            && self.saved.is_none_or(|turn| turn < self.turn)
            && plan_is_sound(self.plan, config)
    }

    /// Turns and times that are counted up to a limit, and begin again there.
    fn counters_are_sound(&self) -> bool {
        let (calm_turns, calm_ms) = self.calm;
        let elapsed = self.signing.as_ref().map_or(0, |signing| signing.elapsed);
        calm_turns < CALM_TURNS && calm_ms < CALM_MS && elapsed < INTERVAL
    }
}

/// How many streams it has, is the number of players.
impl HeaderSigning {
    fn write(&self, writer: &mut BitWriter) {
        self.elapsed.write(writer);
        self.checksum.write(writer);
        self.streams.iter().for_each(|hash| hash.write(writer));
        write_seats(writer, self.seats.iter().copied());
    }

    fn read(reader: &mut BitReader<'_>, players: u8) -> Result<Self, DecodeError> {
        let (elapsed, checksum) = Field::read(reader)?;
        let streams = (0..players).map(|_| Field::read(reader)).collect::<Result<_, _>>()?;
        Ok(Self { elapsed, checksum, streams, seats: read_seats(reader)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::pacing::Pace;

    fn header() -> Header {
        let plan = SessionConfig::new(2).first_plan();
        let away = HeaderPlayer {
            ended: Some((7, EndReason::Dropped)),
            votes: Votes { network_ms: 1, runtime_ms: 2, excess_ms: 3 },
            asked: Asked {
                pauses: 4,
                speeds: 5,
                paused_ns: 6,
                wants_pause: Some(true),
                wants_speed: Some(150),
            },
        };
        Header {
            settings_hash: SessionConfig::new(2).signed().settings_hash(8),
            turn: 9,
            frame: 36,
            checksum: 5,
            paused: true,
            paused_by: Some(PlayerId(1)),
            speed: 150,
            plan,
            calm: (1, 2),
            result: Some((4, 1)),
            players: [HeaderPlayer::default(), away].into_iter().collect(),
            saved: Some(8),
            signing: Some(Box::new(HeaderSigning {
                elapsed: 1,
                checksum: 2,
                streams: vec![StreamHash([3; 32]), StreamHash([4; 32])],
                seats: vec![Some(Seat { key: [5; 32], salt: 6 }), None],
            })),
        }
    }

    #[test]
    fn it_is_read_as_it_was_written_and_nothing_else_is() {
        let bytes = header().with_state(&[1, 2, 3]);
        let (read, start) = Header::read(&bytes, 2).unwrap();
        assert_eq!((read, &bytes[start..]), (header(), &[1, 2, 3][..]));
        assert!(Header::read(&bytes, 3).is_err());
        for length in 0..start {
            assert!(Header::read(&bytes[..length], 2).is_err(), "{length}");
        }
    }

    #[test]
    fn what_no_match_can_have_come_to_is_not_sound() {
        let config = SessionConfig::new(2).signed();
        assert!(header().is_sound(&config, 8));
        let broken: [fn(&mut Header); 12] = [
            |header| header.paused_by = None,
            |header| header.paused_by = Some(PlayerId(2)),
            |header| header.turn = 0,
            |header| header.settings_hash ^= 1,
            |header| header.speed = 3,
            |header| header.plan.frames_per_turn = 0,
            |header| header.players[1].ended = Some((9, EndReason::Left)),
            |header| header.result = Some((9, 1)),
            |header| header.saved = Some(9),
            |header| header.calm.0 = CALM_TURNS,
            |header| header.calm.1 = CALM_MS,
            |header| header.signing.as_mut().unwrap().elapsed = INTERVAL,
        ];
        for change in broken {
            let mut header = header();
            change(&mut header);
            assert!(!header.is_sound(&config, 8), "{header:?}");
        }
        assert!(!header().is_sound(&config.turns(9), 8));
    }

    /// Of other paces than the fixed one a turn without frames was sound, and the joining peer was caught in it.
    #[test]
    fn a_turn_has_a_frame_at_every_pace() {
        for pace in [Pace::Fixed, Pace::Adaptive, Pace::Article] {
            let config = SessionConfig::new(2).pace(pace).signed();
            let sound = Header { settings_hash: config.settings_hash(8), ..header() };
            assert!(sound.is_sound(&config, 8), "{pace:?}");
            for (frames_per_turn, frames_per_second) in [(0, sound.plan.frames_per_second), (0, 0)] {
                let mut broken = sound.clone();
                let pace_millihertz = 1_000 * frames_per_second;
                broken.plan = TurnPlan { frames_per_turn, frames_per_second, pace_millihertz };
                assert!(!broken.is_sound(&config, 8), "{pace:?} {:?}", broken.plan);
            }
        }
    }
}
