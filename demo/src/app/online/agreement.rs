//! What the middle of a star has to know of a match, and what every peer agrees on. A relay reads it without the game.

use testudo_lockstep::{Duration, Pace, PlayerId, SessionConfig, Topology};

use crate::app::maps;
use crate::app::terms::{TURNS_MAX, Terms, base_config};
use crate::app::watch::pilot::ORDERS_PER_TURN;
use crate::game::{ARMIES_MAX, Setup, SetupError, UNITS_MAX};

/// Silence of a player after which a bot takes over.
const DROP_AFTER: Duration = Duration::from_secs(8);

/// Those who watch at once, besides a referee.
pub(crate) const WATCHERS_MAX: u32 = 16;

/// The largest state of a running match that is sent or taken: a battle of some 200,000 units.
const STATE_BYTES_MAX: u32 = 64 << 20;

/// Bits of the second byte.
const ADAPTIVE: u8 = 1;
const NO_BOTS: u8 = 2;
const ANY_SPEED: u8 = 64;

/// The host's player is in the four bits above the first two.
const HOST_SHIFT: u32 = 2;
const HOST_MASK: u8 = 15;
const UNUSED: u8 = 128;

/// How often and how long each player may pause a match. Nobody changes its speed: the program has no button for it.
const PAUSES_MAX: u32 = 8;
const PAUSE_MAX: Duration = Duration::from_secs(120);

/// Bytes of an agreement.
pub(crate) const AGREEMENT_BYTES: usize = 38;

/// The terms of a match as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Agreement {
    /// Players, 1..=16.
    pub(crate) players: u8,
    /// The player who hosts, if no relay does; in a save, the player whose save it is.
    pub(crate) host: PlayerId,
    pub(crate) pace: Pace,
    /// A bot plays on for a lost player.
    pub(crate) bots: bool,
    /// Players may change the speed, as those of `relay-load` do.
    pub(crate) any_speed: bool,
    /// Units of each army, 1..=100,000.
    pub(crate) units: u32,
    /// Turns of the match, 1..=1,000,000.
    pub(crate) turns: u32,
    pub(crate) seed: u64,
    /// Hash of the map; 0: an open field.
    pub(crate) map: u64,
    /// [`Setup::content_hash`].
    pub(crate) content: u64,
    /// Bytes of the save from which the match goes on; 0: it begins.
    pub(crate) save: u32,
}

/// Why a program cannot play what was agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AgreementError {
    /// It does not have the map.
    UnknownMap,
    /// It has other rules or another physics, or the numbers are no match.
    OtherContent,
}

impl Agreement {
    pub(crate) fn new(terms: &Terms, pace: Pace, bots: bool) -> Self {
        let Setup { players, units, seed, map } = terms.setup;
        let map = map.map_or(0, |map| map.hash);
        let (turns, content) = (terms.turns, terms.setup.content_hash());
        Self {
            players,
            host: PlayerId(0),
            pace,
            bots,
            any_speed: false,
            units,
            turns,
            seed,
            map,
            content,
            save: 0,
        }
    }

    /// Whether a battle can be like this, on a map that this program has.
    ///
    /// # Errors
    /// It has too many players for a map, or a number is out of range.
    pub(crate) fn check_setup(&self) -> Result<(), SetupError> {
        let map = maps::with_hash(self.map);
        Setup { players: self.players, units: self.units, seed: self.seed, map }.check()
    }

    /// The terms for a program that has the game.
    ///
    /// # Errors
    /// This program does not have the map, or it has other rules.
    pub(crate) fn terms(&self) -> Result<Terms, AgreementError> {
        let map = match self.map {
            0 => None,
            hash => Some(maps::with_hash(hash).ok_or(AgreementError::UnknownMap)?),
        };
        let setup = Setup { players: self.players, units: self.units, seed: self.seed, map };
        if setup.check().is_err() || setup.content_hash() != self.content {
            return Err(AgreementError::OtherContent);
        }
        Ok(Terms { setup, turns: self.turns })
    }

    /// The settings of every peer's session. Besides those who watch there may be a referee. A click may need several orders, because a scattered selection is split into parts. Who was lost
    /// may come back, watchers may come late, and players sign what they have seen. (A transport that lets in whoever asks decides who may
    /// take the place of a lost player: anybody.)
    pub(crate) fn config(&self, session_id: u64, topology: Topology) -> SessionConfig {
        base_config(self.players, self.turns, self.content)
            .session_id(session_id)
            .topology(topology)
            .host_player(self.host)
            .pace(self.pace)
            .actions_per_turn_max(ORDERS_PER_TURN)
            .bots_take_over(self.bots)
            .drop_after(DROP_AFTER)
            .late_joins(Duration::ZERO)
            .late_watchers(true)
            .watchers_max(WATCHERS_MAX + 1)
            .state_bytes_max(STATE_BYTES_MAX)
            .pauses_max(PAUSES_MAX)
            .pause_max(PAUSE_MAX)
            .speed_changes_max(u32::from(self.any_speed))
            .signed()
    }

    /// Players, flags (1 adaptive pace, 2 no bots, 64 any speed) and host * 4, units, turns, seed, map, content, save; little-endian.
    pub(crate) fn to_bytes(self) -> [u8; AGREEMENT_BYTES] {
        let mut bytes = [0; AGREEMENT_BYTES];
        bytes[0] = self.players;
        let flags = u8::from(self.pace == Pace::Adaptive) * ADAPTIVE + u8::from(!self.bots) * NO_BOTS;
        bytes[1] = flags | self.host.0 << HOST_SHIFT | (u8::from(self.any_speed) * ANY_SPEED);
        bytes[2..6].copy_from_slice(&self.units.to_le_bytes());
        bytes[6..10].copy_from_slice(&self.turns.to_le_bytes());
        bytes[10..18].copy_from_slice(&self.seed.to_le_bytes());
        bytes[18..26].copy_from_slice(&self.map.to_le_bytes());
        bytes[26..34].copy_from_slice(&self.content.to_le_bytes());
        bytes[34..].copy_from_slice(&self.save.to_le_bytes());
        bytes
    }

    /// Reads what [`Agreement::to_bytes`] wrote; none if a number is out of range.
    pub(crate) fn from_bytes(bytes: &[u8; AGREEMENT_BYTES]) -> Option<Self> {
        let pace = if bytes[1] & ADAPTIVE == 0 { Pace::Fixed } else { Pace::Adaptive };
        let agreement = Self {
            players: bytes[0],
            host: PlayerId(bytes[1] >> HOST_SHIFT & HOST_MASK),
            pace,
            bots: bytes[1] & NO_BOTS == 0,
            any_speed: bytes[1] & ANY_SPEED != 0,
            units: u32::from_le_bytes(part(bytes, 2)),
            turns: u32::from_le_bytes(part(bytes, 6)),
            seed: u64::from_le_bytes(part(bytes, 10)),
            map: u64::from_le_bytes(part(bytes, 18)),
            content: u64::from_le_bytes(part(bytes, 26)),
            save: u32::from_le_bytes(part(bytes, 34)),
        };
        let in_range = bytes[1] & UNUSED == 0
            && (1..=ARMIES_MAX).contains(&agreement.players)
            && agreement.host.0 < agreement.players
            && (1..=UNITS_MAX).contains(&agreement.units)
            && (1..=TURNS_MAX).contains(&agreement.turns);
        in_range.then_some(agreement)
    }
}

fn part<const N: usize>(bytes: &[u8; AGREEMENT_BYTES], at: usize) -> [u8; N] {
    core::array::from_fn(|index| bytes[at + index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(map: Option<&str>) -> Agreement {
        let setup = Setup { players: 2, units: 7, seed: 9, map: map.and_then(maps::named) };
        Agreement::new(&Terms { setup, turns: 50 }, Pace::Fixed, true)
    }

    #[test]
    fn a_map_is_known_by_its_hash_or_asked_for() {
        let ford = agreement(Some("ford"));
        assert_eq!(ford.terms().unwrap().setup.map, maps::named("ford"));
        assert_eq!(Agreement { map: 1, ..ford }.terms(), Err(AgreementError::UnknownMap));
        assert_eq!(Agreement { map: 0, ..ford }.terms(), Err(AgreementError::OtherContent));
    }

    /// A room for four on a map for two was opened, and then refused by everybody as a match of other rules.
    #[test]
    fn a_map_for_two_is_not_offered_to_four() {
        let ford = agreement(Some("ford"));
        assert_eq!(ford.check_setup(), Ok(()));
        assert_eq!(Agreement { players: 4, ..ford }.check_setup(), Err(SetupError::Map { players: 4 }));
        assert_eq!(agreement(None).check_setup(), Ok(()));
    }

    #[test]
    fn the_host_is_one_of_the_players() {
        let mut bytes = Agreement { host: PlayerId(1), ..agreement(None) }.to_bytes();
        assert_eq!(Agreement::from_bytes(&bytes).map(|read| read.host), Some(PlayerId(1)));
        bytes[1] += 1 << HOST_SHIFT;
        assert_eq!(Agreement::from_bytes(&bytes), None, "two players");
    }

    /// A member that slowed a match down to a tenth did so for ever.
    #[test]
    fn nobody_changes_the_speed_but_in_a_match_that_allows_it() {
        let usual = agreement(None);
        let config = |any_speed| Agreement { any_speed, ..usual }.config(1, Topology::Host);
        assert_eq!(config(false), config(false).speed_changes_max(0));
        assert_eq!(config(true), config(true).speed_changes_max(1));
        let mut bytes = Agreement { any_speed: true, ..usual }.to_bytes();
        assert!(Agreement::from_bytes(&bytes).is_some_and(|read| read.any_speed));
        bytes[1] |= UNUSED;
        assert_eq!(Agreement::from_bytes(&bytes), None, "the bit has no meaning");
    }

    #[test]
    fn other_rules_are_not_played() {
        let open = agreement(None);
        assert_eq!(open.terms().unwrap().turns, 50);
        assert_eq!(Agreement { content: 1, ..open }.terms(), Err(AgreementError::OtherContent));
    }
}
