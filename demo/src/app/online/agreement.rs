//! What every peer of a battle agrees on.

use testudo_lockstep::service::agreement::Agreement as Agreed;
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{Action as _, Controls, Duration, Pace, PlayerId, SessionConfig};

use crate::app::maps;
use crate::app::terms::{TURNS_MAX, Terms, base_config};
use crate::app::watch::pilot::ORDERS_PER_TURN;
use testudo_battle::{ARMIES_MAX, Order, Setup, SetupError, UNITS_MAX};

/// Silence of a player after which a bot takes over.
const DROP_AFTER: Duration = Duration::from_secs(8);

/// Watchers at once, besides a referee.
const WATCHERS_MAX: u32 = 16;

/// The largest state of a running match that is sent or taken: a battle of some 200,000 units.
const STATE_BYTES_MAX: u32 = 64 << 20;

/// How often and how long each player may pause a match. Nobody changes its speed: the program has no button for it.
const PAUSES_MAX: u32 = 8;
const PAUSE_MAX: Duration = Duration::from_secs(120);

/// What the settings of a session do not say, or only the session can read.
#[derive(Default)]
struct Own {
    units: u32,
    seed: u64,
    map: u64,
    content: u64,
    host: u8,
    flags: u8,
}

impl State for Own {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("units", &mut self.units)?;
        v.number("seed", &mut self.seed)?;
        v.number("map", &mut self.map)?;
        v.number("content", &mut self.content)?;
        v.number("host", &mut self.host)?;
        v.number("flags", &mut self.flags)
    }
}

/// Bits of the flags.
const ADAPTIVE: u8 = 1;
const NO_BOTS: u8 = 2;
const ANY_SPEED: u8 = 4;

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
}

/// Why a program cannot play what was agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AgreementError {
    /// It does not have the map.
    UnknownMap,
    /// It has other rules or another physics, or its numbers make no valid match.
    OtherContent,
}

impl Agreement {
    pub(crate) fn new(terms: &Terms, pace: Pace, bots: bool) -> Self {
        let Setup { players, units, seed, map } = terms.setup;
        let map = map.map_or(0, |map| map.hash);
        let (turns, content) = (terms.turns, terms.setup.content_hash());
        Self { players, host: PlayerId(0), pace, bots, any_speed: false, units, turns, seed, map, content }
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

    /// The settings of every peer's session. Besides the watchers there may be a referee. A click may need several orders, because a scattered selection is
    /// split into parts. Lost players may come back, watchers may come late, and players sign what they have seen. Who may take
    /// the place of a lost player is up to the transport: with one that lets in whoever asks, anybody.
    pub(crate) fn config(&self) -> SessionConfig {
        base_config(self.players, self.turns, self.content)
            .host_player(self.host)
            .pace(self.pace)
            .controls(Controls::Everybody)
            .actions_per_turn_max(ORDERS_PER_TURN)
            .bots_take_over(self.bots)
            .drop_after(DROP_AFTER)
            .late_joins(Duration::ZERO)
            .late_watchers(true)
            .watchers_max(WATCHERS_MAX)
            .pauses_max(PAUSES_MAX)
            .pause_max(PAUSE_MAX)
            .speed_changes_max(u32::from(self.any_speed))
            .signed()
    }

    /// A peer's settings with the limits of this program.
    pub(crate) fn limited(config: SessionConfig) -> SessionConfig {
        config.state_bytes_max(STATE_BYTES_MAX)
    }

    /// As the library passes it on.
    ///
    /// # Errors
    /// A setting that no session can have.
    pub(crate) fn told(&self) -> Result<Agreed, testudo_lockstep::service::agreement::AgreementError> {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let flags = flag(self.pace == Pace::Adaptive, ADAPTIVE)
            | flag(!self.bots, NO_BOTS)
            | flag(self.any_speed, ANY_SPEED);
        let Self { units, seed, map, content, .. } = *self;
        let mut own = Own { units, seed, map, content, host: self.host.0, flags };
        let mut game = Vec::new();
        state::save(&mut own, &mut game);
        Agreed::new::<Order>(&self.config(), &game)
    }

    /// What the library has passed on; none if a number is out of range, or it is not a battle of this program.
    pub(crate) fn of(agreed: &Agreed) -> Option<Self> {
        let mut own = Own::default();
        state::load(&mut own, agreed.game()).ok()?;
        let config = agreed.config();
        let agreement = Self {
            players: config.players,
            host: PlayerId(own.host),
            pace: if own.flags & ADAPTIVE > 0 { Pace::Adaptive } else { Pace::Fixed },
            bots: own.flags & NO_BOTS == 0,
            any_speed: own.flags & ANY_SPEED > 0,
            units: own.units,
            turns: config.turns?,
            seed: own.seed,
            map: own.map,
            content: own.content,
        };
        let in_range = agreement.players <= ARMIES_MAX
            && (1..=UNITS_MAX).contains(&agreement.units)
            && agreement.turns <= TURNS_MAX
            && agreed.action_bits() == Order::MAX_BITS
            && agreement.told().as_ref() == Ok(agreed);
        in_range.then_some(agreement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(map: Option<&str>) -> Agreement {
        let setup = Setup { players: 2, units: 7, seed: 9, map: map.and_then(maps::named) };
        Agreement::new(&Terms { setup, turns: 50 }, Pace::Fixed, true)
    }

    #[test]
    fn what_is_told_is_what_was_agreed_on() {
        let base = agreement(None);
        let others = [
            base,
            Agreement { host: PlayerId(1), pace: Pace::Adaptive, ..base },
            Agreement { bots: false, any_speed: true, units: UNITS_MAX, ..base },
            Agreement { players: 16, turns: TURNS_MAX, seed: u64::MAX, map: 77, content: 5, ..base },
        ];
        for agreement in others {
            assert_eq!(Agreement::of(&agreement.told().unwrap()), Some(agreement));
        }
        for wrong in [Agreement { units: 0, ..base }, Agreement { turns: TURNS_MAX + 1, ..base }] {
            assert_eq!(Agreement::of(&wrong.told().unwrap()), None, "{wrong:?}");
        }
        assert!(Agreement { host: PlayerId(2), ..base }.told().is_err(), "two players");
    }

    /// A host with other settings of its own would be a match that this program does not know.
    #[test]
    fn other_settings_than_those_of_this_program_are_none() {
        let base = agreement(None);
        let game = base.told().unwrap().game().to_vec();
        for config in [base.config().drop_after(Duration::from_secs(1)), base.config().pauses_max(9)] {
            assert_eq!(Agreement::of(&Agreed::new::<Order>(&config, &game).unwrap()), None);
        }
        assert_eq!(Agreement::of(&Agreed::new::<Order>(&base.config(), &game[1..]).unwrap()), None);
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

    /// A member that slowed a match down to a tenth did so for ever.
    #[test]
    fn nobody_changes_the_speed_but_in_a_match_that_allows_it() {
        let usual = agreement(None);
        let config = |any_speed| Agreement { any_speed, ..usual }.config();
        assert_eq!(config(false), config(false).speed_changes_max(0));
        assert_eq!(config(true), config(true).speed_changes_max(1));
    }

    #[test]
    fn other_rules_are_not_played() {
        let open = agreement(None);
        assert_eq!(open.terms().unwrap().turns, 50);
        assert_eq!(Agreement { content: 1, ..open }.terms(), Err(AgreementError::OtherContent));
    }
}
