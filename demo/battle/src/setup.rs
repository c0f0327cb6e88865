//! What a match starts from. Everything else follows from it.

use core::fmt;

use testudo_movement::{CrowdError, MOVEMENT_VERSION, MoveError};
use testudo_physics::{BodyError, SIM_VERSION, WorldError, hash_bytes};

use crate::map::Map;

/// Most armies on one field.
pub const ARMIES_MAX: u8 = 16;

/// Most units of one army.
pub const UNITS_MAX: u32 = 100_000;

/// Version of the rules: with another version the same orders lead to another battle.
const RULES_VERSION: u32 = 13;

/// The start of a match; it must be equal on all peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Armies, 1..=[`ARMIES_MAX`]. Player `n` commands army `n`.
    pub players: u8,
    /// Units of each army, 1..=[`UNITS_MAX`].
    pub units: u32,
    /// Decides the positions of obstacles, the strength of each unit, and the bots' choices.
    pub seed: u64,
    /// The map; none: an open field that follows from the seed. Maps are for two players.
    pub map: Option<&'static Map>,
}

/// Why a match with these settings is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum SetupError {
    /// A number is outside `1..=max`.
    OutOfRange { setting: &'static str, value: u32, max: u32 },
    /// Maps are for two players.
    Map { players: u8 },
    /// The physics refused the world.
    World(WorldError),
    /// The physics refused a body.
    Body(BodyError),
    /// The movement refused the field.
    Ground(CrowdError),
    /// The movement refused a unit.
    Unit(MoveError),
}

impl Setup {
    /// Whether a match can have these settings.
    ///
    /// # Errors
    /// [`SetupError`]: the first setting that is wrong.
    pub fn check(&self) -> Result<(), SetupError> {
        let ranges =
            [("players", u32::from(self.players), u32::from(ARMIES_MAX)), ("units", self.units, UNITS_MAX)];
        for (setting, value, max) in ranges {
            if !(1..=max).contains(&value) {
                return Err(SetupError::OutOfRange { setting, value, max });
            }
        }
        if self.map.is_some() && self.players != 2 {
            return Err(SetupError::Map { players: self.players });
        }
        Ok(())
    }

    /// Version of everything that decides the results of orders: physics, movement and rules.
    pub const fn sim_version() -> u32 {
        (SIM_VERSION * 1_000 + MOVEMENT_VERSION) * 1_000 + RULES_VERSION
    }

    /// Hash of what must be equal before two peers may play, besides the session's own settings and the versions of the engines, which the
    /// session compares.
    pub fn content_hash(&self) -> u64 {
        let mut bytes = [0; 25];
        bytes[..4].copy_from_slice(&RULES_VERSION.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.units.to_le_bytes());
        bytes[8] = self.players;
        bytes[9..17].copy_from_slice(&self.seed.to_le_bytes());
        bytes[17..].copy_from_slice(&self.map.map_or(0, |map| map.hash).to_le_bytes());
        hash_bytes(&bytes)
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { setting, value, max } => {
                write!(f, "{setting} must be 1 to {max}, not {value}")
            }
            Self::Map { players } => {
                write!(
                    f,
                    "a map is for two players, not for {players}: leave --map out, or play with --players 2"
                )
            }
            Self::World(error) => write!(f, "{error}"),
            Self::Body(error) => write!(f, "the physics refused a body: {error:?}"),
            Self::Ground(error) => write!(f, "{error}"),
            Self::Unit(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for SetupError {}

impl From<WorldError> for SetupError {
    fn from(error: WorldError) -> Self {
        Self::World(error)
    }
}

impl From<BodyError> for SetupError {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

impl From<CrowdError> for SetupError {
    fn from(error: CrowdError) -> Self {
        Self::Ground(error)
    }
}

impl From<MoveError> for SetupError {
    fn from(error: MoveError) -> Self {
        Self::Unit(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Setup = Setup { players: 2, units: 10, seed: 7, map: None };

    #[test]
    fn limits_are_named() {
        let setup = Setup { players: 17, ..BASE };
        let error = SetupError::OutOfRange { setting: "players", value: 17, max: 16 };
        assert_eq!(setup.check(), Err(error));
        assert!(Setup { units: 0, ..BASE }.check().is_err());
        assert!(Setup { players: 16, units: 100_000, ..BASE }.check().is_ok());
        let map = Map::named("ford");
        assert_eq!(Setup { players: 3, map, ..BASE }.check(), Err(SetupError::Map { players: 3 }));
        assert_eq!(Setup { map, ..BASE }.check(), Ok(()));
    }

    #[test]
    fn every_setting_counts_in_the_hash() {
        let others = [
            Setup { players: 3, ..BASE },
            Setup { units: 11, ..BASE },
            Setup { seed: 8, ..BASE },
            Setup { map: Map::named("ford"), ..BASE },
            Setup { map: Map::named("pass"), ..BASE },
        ];
        for (n, other) in others.iter().enumerate() {
            assert_ne!(other.content_hash(), BASE.content_hash(), "{other:?}");
            assert!(others[..n].iter().all(|earlier| earlier.content_hash() != other.content_hash()));
        }
    }
}
