//! What all members of a match agree on before they connect.

use core::fmt;

use crate::pace::pacing::Pace;
use crate::session::config::{ConfigError, Controls, SessionConfig, Topology};
use crate::value::action::Action;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::Duration;

/// Greatest number of bytes that a game adds to an agreement.
pub const GAME_BYTES_MAX: usize = 512;

/// The settings of a match that decide what happens in it, and up to 512 bytes of the game: its map, seed, rules, whatever all must know.
///
/// The host makes it, guests get it with their place, and a relay reads the settings without knowing the game. What is a local choice, such as
/// a player's key, is not part of it.
///
/// ```
/// use testudo_lockstep::service::agreement::Agreement;
/// use testudo_lockstep::{NoAction, SessionConfig};
/// let settings = SessionConfig::new(3).frames_per_turn(2).content_hash(77).bots_take_over(true);
/// let agreement = Agreement::new::<NoAction>(&settings, b"map: lakes, seed: 9")?;
/// let read = Agreement::read(&agreement.to_bytes())?;
/// assert_eq!((read.config().players, read.game()), (3, &b"map: lakes, seed: 9"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreement {
    config: SessionConfig,
    action_bits: u32,
    game: Vec<u8>,
}

/// Why there is no agreement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AgreementError {
    /// A setting is out of range, or the actions are too large for it.
    Config(ConfigError),
    /// A setting that each peer chooses for itself has been changed: it would be lost. Set it on what [`Host::config`](crate::service::host::Host::config) or
    /// `Arrival::config` returns.
    Alone {
        /// Name of the method that sets it.
        setting: &'static str,
    },
    /// [`Topology::Mesh`]: all that hosts and relays connect is a star. A mesh connects its peers itself
    /// ([`Session::connect`](crate::AnySession::connect)).
    Mesh,
    /// The game adds more bytes than there is room for.
    GameTooLarge {
        /// Number of bytes.
        bytes: usize,
        /// The greatest number.
        max: usize,
    },
    /// The bytes are not an agreement.
    Decode(DecodeError),
}

impl fmt::Display for AgreementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Alone { setting } => {
                write!(
                    f,
                    "{setting} is each peer's own and cannot be agreed on: set it on the session's settings"
                )
            }
            Self::Mesh => write!(
                f,
                "hosts and relays connect a star (Topology::Host, Topology::Relay); in a mesh each peer connects to the others itself"
            ),
            Self::GameTooLarge { bytes, max } => {
                write!(f, "the game adds {bytes} bytes, {max} are possible")
            }
            Self::Decode(error) => write!(f, "not an agreement: {error}"),
        }
    }
}

impl std::error::Error for AgreementError {}

impl From<DecodeError> for AgreementError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// Milliseconds of a setting, or a number that stands for "never".
const NEVER: u64 = u32::MAX as u64;

impl Agreement {
    /// The settings of a match with actions of type `A`, and the game's own bytes.
    ///
    /// What each peer chooses for itself, such as [`SessionConfig::lobby_timeout()`], is set on the settings of its session.
    ///
    /// # Errors
    /// A setting out of range or of one peer alone, or too many bytes.
    pub fn new<A: Action>(config: &SessionConfig, game: &[u8]) -> Result<Self, AgreementError> {
        Self::with_action_bits(config, A::MAX_BITS, game)
    }

    /// The same for a program that does not know the type of the actions: the greatest length of one in bits ([`Action::MAX_BITS`]).
    ///
    /// # Errors
    /// As [`Agreement::new`].
    pub fn with_action_bits(
        config: &SessionConfig,
        action_bits: u32,
        game: &[u8],
    ) -> Result<Self, AgreementError> {
        if game.len() > GAME_BYTES_MAX {
            return Err(AgreementError::GameTooLarge { bytes: game.len(), max: GAME_BYTES_MAX });
        }
        config.check(action_bits).map_err(AgreementError::Config)?;
        if config.topology == Topology::Mesh {
            return Err(AgreementError::Mesh);
        }
        if let Some(setting) = config.changed_alone() {
            return Err(AgreementError::Alone { setting });
        }
        // Secrets and links of a peer stay behind.
        Self::read(&Self { config: config.clone(), action_bits, game: game.to_vec() }.to_bytes())
    }

    /// The settings. A peer adds its local choices: a key and random bytes. (A guest starts from
    /// `service::guest::Arrival::config`, which has the secret of its place.)
    pub fn config(&self) -> SessionConfig {
        self.config.clone()
    }

    /// Number of players.
    #[must_use]
    pub fn players(&self) -> u8 {
        self.config.players
    }

    /// [`Action::MAX_BITS`] of the game.
    #[must_use]
    pub fn action_bits(&self) -> u32 {
        self.action_bits
    }

    /// What all have that must be equal at the start: [`SessionConfig::content_hash()`].
    #[must_use]
    pub fn content_hash(&self) -> u64 {
        self.config.content.content_hash
    }

    /// What the game has added.
    #[must_use]
    pub fn game(&self) -> &[u8] {
        &self.game
    }

    /// At most 620 bytes: the settings as a string of bits, padded with zero bits; two bytes with the length of the game's part; that part.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BitWriter::new();
        self.write(&mut writer);
        let mut bytes = writer.bytes().to_vec();
        bytes.extend_from_slice(&(self.game.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&self.game);
        bytes
    }

    fn write(&self, out: &mut BitWriter) {
        let config = &self.config;
        let millis = |time: Duration| time.as_millis().min(NEVER - 1);
        let or_never = |time: Option<Duration>| time.map_or(NEVER, millis);
        let pace = match config.tempo.pace {
            Pace::Fixed => 0,
            Pace::Adaptive => 1,
            Pace::Article => 2,
        };
        let controls = match config.control.controls {
            Controls::Everybody => 0,
            Controls::Majority => 1,
            Controls::HostPlayer => 2,
        };
        out.write_bits(u64::from(config.players), 5);
        out.write_bits(u64::from(config.sides.host_player), 4);
        out.write_bits(config.content.content_hash, 64);
        let numbers = [
            config.content.engine_version,
            config.frames_per_second,
            config.frames_per_turn,
            config.turns_ahead,
            config.turns.unwrap_or(0),
            config.limits.actions_per_turn_max,
            config.limits.turn_bytes_max,
            config.limits.checksum_interval,
            config.control.pauses_max,
            config.control.speed_changes_max,
            config.watchers.watchers_max,
            self.action_bits,
        ];
        numbers.iter().for_each(|number| out.write_golomb(*number, 8));
        out.write_bits(pace, 2);
        out.write_bits(controls, 2);
        for is_set in [
            config.input_mode,
            config.rotate_players,
            config.sides.bots_take_over,
            config.watchers.late_watchers,
            config.signed,
        ] {
            out.write_bool(is_set);
        }
        out.write_bits(millis(config.control.pause_max), 32);
        out.write_bits(or_never(config.waits.drop_after), 32);
        out.write_bits(or_never(config.arrivals.late_joins), 32);
        config.sides.teams.iter().for_each(|team| out.write_bits(u64::from(*team), 4));
    }

    /// Reads what [`Agreement::to_bytes`] wrote. Total: any bytes give an agreement that a session can have, or an error.
    ///
    /// # Errors
    /// Not an agreement, or a number out of range.
    pub fn read(bytes: &[u8]) -> Result<Self, AgreementError> {
        let (agreement, rest) = Self::read_from(bytes)?;
        if rest.is_empty() { Ok(agreement) } else { Err(DecodeError::NotCanonical.into()) }
    }

    /// An agreement at the start of these bytes, and what follows it.
    pub(crate) fn read_from(bytes: &[u8]) -> Result<(Self, &[u8]), AgreementError> {
        let mut reader = BitReader::new(bytes);
        let (config, action_bits) = Self::read_config(&mut reader)?;
        config.check(action_bits).map_err(AgreementError::Config)?;
        // Up to a whole byte, zero bits.
        let padding = reader.bits_left() % 8;
        reader.read_max(padding, 0)?;
        let start = bytes.len() - (reader.bits_left() / 8) as usize;
        let out_of_bits = DecodeError::OutOfBits { wanted: 16, left: reader.bits_left() };
        let (length, rest) = bytes[start..].split_first_chunk().ok_or(out_of_bits)?;
        let length = usize::from(u16::from_le_bytes(*length));
        if length > GAME_BYTES_MAX {
            return Err(AgreementError::GameTooLarge { bytes: length, max: GAME_BYTES_MAX });
        }
        let (game, rest) = rest.split_at_checked(length).ok_or(out_of_bits)?;
        Ok((Self { config, action_bits, game: game.to_vec() }, rest))
    }

    fn read_config(reader: &mut BitReader<'_>) -> Result<(SessionConfig, u32), DecodeError> {
        let players = reader.read_max(5, u64::from(PLAYERS_MAX))? as u8;
        let host = PlayerId(reader.read_bits(4)? as u8);
        let content_hash = reader.read_bits(64)?;
        let mut numbers = [0; 12];
        for number in &mut numbers {
            *number = reader.read_golomb(8, u32::MAX)?;
        }
        let [engine, frames, per_turn, ahead, turns, actions, bytes, interval, pauses, speeds, watch, bits] =
            numbers;
        let pace = [Pace::Fixed, Pace::Adaptive, Pace::Article][reader.read_max(2, 2)? as usize];
        let controls = [Controls::Everybody, Controls::Majority, Controls::HostPlayer];
        let controls = controls[reader.read_max(2, 2)? as usize];
        let mut flags = [false; 5];
        for flag in &mut flags {
            *flag = reader.read_bool()?;
        }
        let [input_mode, rotate, bots, late_watchers, signed] = flags;
        let pause_max = Duration::from_millis(reader.read_max(32, NEVER - 1)?);
        let mut or_never = || {
            let millis = reader.read_bits(32)?;
            Ok::<_, DecodeError>((millis != NEVER).then_some(Duration::from_millis(millis)))
        };
        let (drop_after, late_joins) = (or_never()?, or_never()?);
        let mut teams = [0; PLAYERS_MAX as usize];
        for team in &mut teams {
            *team = reader.read_bits(4)? as u8;
        }
        let config = SessionConfig::new(players)
            .host_player(host)
            .content_hash(content_hash)
            .engine_version(engine)
            .frames_per_second(frames)
            .frames_per_turn(per_turn)
            .turns_ahead(ahead)
            .actions_per_turn_max(actions)
            .turn_bytes_max(bytes)
            .checksum_interval(interval)
            .pauses_max(pauses)
            .speed_changes_max(speeds)
            .watchers_max(watch)
            .pace(pace)
            .controls(controls)
            .rotate_players(rotate)
            .bots_take_over(bots)
            .late_watchers(late_watchers)
            .pause_max(pause_max);
        let turns = (turns > 0).then_some(turns);
        let mut config = SessionConfig { turns, input_mode, signed, ..config };
        (config.waits.drop_after, config.arrivals.late_joins) = (drop_after, late_joins);
        config.sides.teams = teams;
        Ok((config.topology(Topology::Host), bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_decides_a_match_survives() {
        let base = SessionConfig::new(3);
        let configs = [
            base.clone(),
            SessionConfig::input(2, 60).turns_ahead(1),
            base.clone().turns(9).teams(&[1, 1, 2]).host_player(PlayerId(2)).pace(Pace::Adaptive),
            base.clone().without_drops().late_joins(Duration::ZERO).late_watchers(true).signed(),
            base.clone().controls(Controls::Majority).pauses_max(3).pause_max(Duration::from_secs(9)),
            base.clone().rotate_players(true).bots_take_over(true).watchers_max(3).speed_changes_max(0),
            base.clone().turn_bytes_max(99).actions_per_turn_max(7).checksum_interval(4).frames_per_turn(9),
            base.clone().content_hash(u64::MAX).engine_version(77).drop_after(Duration::from_secs(3)),
            base.checksum_interval(600),
        ];
        for config in configs {
            let agreement = Agreement::with_action_bits(&config, 33, b"game").unwrap();
            let read = Agreement::read(&agreement.to_bytes()).unwrap();
            assert_eq!(read, agreement);
            assert_eq!(read.config().hash(33), config.hash(33));
            let policy = |config: &SessionConfig| {
                (
                    config.waits.drop_after,
                    config.arrivals.late_joins,
                    config.watchers.late_watchers,
                    config.watchers.watchers_max,
                )
            };
            assert_eq!(policy(&read.config()), policy(&config));
            assert_eq!((read.action_bits(), read.game()), (33, &b"game"[..]));
        }
    }

    /// They had their defaults again, without a word: a lobby ended after ten seconds instead of ten minutes.
    #[test]
    fn what_a_peer_chooses_alone_is_not_lost_unnoticed() {
        let (base, long) = (SessionConfig::new(3), Duration::from_secs(400));
        let made = |config: SessionConfig| Agreement::with_action_bits(&config, 8, b"");
        for (setting, config) in [
            ("without_alignment", base.clone().without_alignment()),
            ("queue_max", base.clone().queue_max(9)),
            ("window", base.clone().window(99)),
            ("connect_timeout", base.clone().connect_timeout(long)),
            ("lobby_timeout", base.clone().lobby_timeout(long)),
            ("silence_timeout", base.clone().silence_timeout(long)),
            ("waiting_notice", base.clone().waiting_notice(long)),
            ("linger", base.clone().linger(long)),
            ("watchers_min", base.clone().watchers_min(1)),
            ("watch_delay", base.clone().watch_delay(long)),
            ("state_bytes_max", base.clone().state_bytes_max(9)),
            ("state_rate", base.clone().state_rate(9_000)),
            ("gives_state_last", base.clone().gives_state_last()),
            ("join_timeout", base.clone().join_timeout(long)),
        ] {
            assert_eq!(made(config), Err(AgreementError::Alone { setting }));
        }
        // Whoever forgets these on the session is told so.
        assert!(made(base.session_id(7).entropy([1; 16]).topology(Topology::Relay)).is_ok());
    }

    #[test]
    fn what_no_session_can_have_is_refused() {
        let refused = |config: &SessionConfig| Agreement::with_action_bits(config, 8, b"").is_err();
        assert!(refused(&SessionConfig::new(0)) && refused(&SessionConfig::new(2).frames_per_second(0)));
        let long = Agreement::with_action_bits(&SessionConfig::new(2), 8, &[0; 513]);
        assert_eq!(long, Err(AgreementError::GameTooLarge { bytes: 513, max: 512 }));
        let most = Agreement::with_action_bits(&SessionConfig::new(16), 8, &[0; 512]).unwrap();
        assert!(most.to_bytes().len() <= 620, "{}", most.to_bytes().len());
    }
}
