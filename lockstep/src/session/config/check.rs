//! Checks the range of every setting.

use crate::pace::pacing::Pace;
use crate::packet::STATE_BYTES_MAX;
use crate::session::config::limits::CHECKSUM_INTERVAL_MAX;
use crate::session::config::{ConfigError, SessionConfig, Topology};
use crate::value::action::ACTION_BITS_MAX;
use crate::value::entry::SPEED_PERCENT_MIN;
use crate::value::ids::PLAYERS_MAX;
use crate::value::time::Duration;

/// Greatest number of watchers.
const WATCHERS_MAX: u32 = 256;

/// Places to watch from beside those of the agreement: the referee's, which exists where each peer is bound to its place.
pub(crate) const REFEREES: u32 = 1;

/// Usual time for joining.
const JOIN_TIME: Duration = Duration::from_secs(60);

/// The entries that follow a state must arrive within one part in this many of the time for joining.
const CHECKING: u64 = 4;

/// Longest turn of a pace that follows measurements.
const FOLLOWED_TURN_MAX: Duration = Duration::from_secs(2);

/// Longest time of any timeout: a day.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3_600);

impl SessionConfig {
    /// Checks every range, and that an action of `action_bits` fits.
    pub(crate) fn check(&self, action_bits: u32) -> Result<(), ConfigError> {
        let team = self.sides.teams.iter().copied().max().unwrap_or(0);
        // With nothing ahead an entry closes when its turn begins, and no turn begins before those of the others are here, or a relay's confirmation.
        let waits = self.tempo.pace == Pace::Article && self.topology == Topology::Relay;
        let least_ahead = u32::from(self.players > 1 || waits);
        // Nobody links to a mesh to watch.
        let watchers = if self.topology == Topology::Mesh { 0 } else { self.watchers.watchers_max };
        let watchers_max = WATCHERS_MAX + if self.own.bound_peers_only { REFEREES } else { 0 };
        let ranges: [(&'static str, u32, u32, u32); 18] = [
            ("players", u32::from(self.players), 1, u32::from(PLAYERS_MAX)),
            ("frames_per_second", self.frames_per_second, 1, 1_000),
            ("frames_per_turn", self.frames_per_turn, 1, 250),
            ("turns_ahead", self.turns_ahead, least_ahead, 8),
            ("turns", self.turns.unwrap_or(1), 1, 4_000_000_000),
            ("actions_per_turn_max", self.limits.actions_per_turn_max, 1, 255),
            ("turn_bytes_max", self.limits.turn_bytes_max, 1, ACTION_BITS_MAX / 8),
            ("checksum_interval", self.limits.checksum_interval, 1, CHECKSUM_INTERVAL_MAX),
            ("queue_max", self.limits.queue_max, 1, 4_096),
            ("pauses_max", self.control.pauses_max, 0, 65_535),
            ("speed_changes_max", self.control.speed_changes_max, 0, 65_535),
            ("window", self.limits.window, 16, 1_024),
            ("host_player", u32::from(self.sides.host_player), 0, u32::from(self.players.max(1)) - 1),
            ("teams", u32::from(team), 0, u32::from(PLAYERS_MAX) - 1),
            ("watchers_max", self.watchers.watchers_max, 0, watchers_max),
            ("watchers_min", self.watchers.watchers_min, 0, watchers),
            ("state_bytes_max", self.arrivals.state_bytes_max, 0, STATE_BYTES_MAX),
            ("state_rate", self.arrivals.state_rate, 1_000, 1_000_000_000),
        ];
        for (setting, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                let (value, min, max) = (u64::from(value), u64::from(min), u64::from(max));
                return Err(ConfigError::OutOfRange { setting, value, min, max });
            }
        }
        self.check_timeouts()?;
        let max =
            if self.input_mode { ACTION_BITS_MAX } else { self.limits.turn_bytes_max.saturating_mul(8) };
        if action_bits == 0 || action_bits > max {
            return Err(ConfigError::ActionTooLarge { bits: action_bits, max });
        }
        Ok(())
    }

    /// A timeout of zero would end everything at once, and an unlimited one is not a timeout.
    fn check_timeouts(&self) -> Result<(), ConfigError> {
        let timeouts = [
            ("connect_timeout", Some(self.waits.connect_timeout), 1),
            ("lobby_timeout", self.waits.lobby_timeout, 1),
            ("pause_max", Some(self.control.pause_max), 0),
            ("silence_timeout", Some(self.waits.silence_timeout), 1),
            ("drop_after", self.waits.drop_after, 1),
            ("waiting_notice", Some(self.waits.waiting_notice), 0),
            ("linger", Some(self.waits.linger), 0),
            ("late_joins", self.arrivals.late_joins, 0),
            ("watch_delay", Some(self.watchers.watch_delay), 0),
        ];
        for (setting, timeout, min) in timeouts {
            if let Some(value) = timeout {
                check_time(setting, value, Duration::from_millis(min), TIMEOUT_MAX)?;
            }
        }
        check_time("join_timeout", self.join_time(), self.least_join_time(), TIMEOUT_MAX)
    }

    /// Time that a peer has for joining.
    pub(crate) fn join_time(&self) -> Duration {
        self.arrivals.join_timeout.unwrap_or_else(|| JOIN_TIME.max(self.least_join_time()))
    }

    /// The same, where a turn lasts this long now, because the match is slow.
    pub(crate) fn join_time_at(&self, turn: Duration) -> Duration {
        self.join_time().max(turn.min(self.longest_turn()).times(self.turns_to_join())).min(TIMEOUT_MAX)
    }

    /// How long the entries that follow a state may take, if a turn lasts this long: a part of the time for joining. Whoever is behind by the turns ahead is in
    /// the turn before those, and its first entry after the state closes when it begins the state's turn.
    pub(crate) fn checking_time_at(&self, turn: Duration) -> Duration {
        let turns = turn.min(self.longest_turn()).times(u64::from(self.turns_ahead) + 2);
        Duration::from_micros(self.join_time().as_micros() / CHECKING).max(turns).min(TIMEOUT_MAX)
    }

    /// A joining peer waits for two checksums; a third interval is for its state. Nobody joins a mesh.
    fn turns_to_join(&self) -> u64 {
        let joins = u32::from(self.topology != Topology::Mesh);
        u64::from(joins * (3 * self.limits.checksum_interval + self.turns_ahead + 2))
    }

    fn least_join_time(&self) -> Duration {
        self.turn_length().times(self.turns_to_join()).clamp(Duration::from_millis(1), TIMEOUT_MAX)
    }

    /// The longest turn that honest players come to at the slowest speed. Whoever says that turns are longer is not waited for.
    fn longest_turn(&self) -> Duration {
        let usual = match self.tempo.pace {
            Pace::Fixed => self.turn_length(),
            Pace::Adaptive | Pace::Article => self.turn_length().max(FOLLOWED_TURN_MAX),
        };
        Duration::from_micros(usual.as_micros().saturating_mul(100) / u64::from(SPEED_PERCENT_MIN))
    }
}

/// Checks the range of a time.
pub(crate) fn check_time(
    setting: &'static str,
    value: Duration,
    min: Duration,
    max: Duration,
) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::TimeOutOfRange { setting, value, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_named() {
        assert_eq!(
            SessionConfig::new(0).check(8),
            Err(ConfigError::OutOfRange { setting: "players", value: 0, min: 1, max: 16 })
        );
        assert_eq!(
            SessionConfig::new(2).turn_bytes_max(1).check(9),
            Err(ConfigError::ActionTooLarge { bits: 9, max: 8 })
        );
        assert_eq!(
            SessionConfig::new(2).turn_bytes_max(1).check(34).unwrap_err().to_string(),
            "an action must have 1 to 8 bits, but its MAX_BITS is 34: change that, or turn_bytes_max"
        );
        assert_eq!(SessionConfig::input(2, 60).check(6), Ok(()));
        let refused = |config: SessionConfig| match config.check(8) {
            Err(ConfigError::OutOfRange { setting, .. } | ConfigError::TimeOutOfRange { setting, .. }) => {
                setting
            }
            other => panic!("{other:?}"),
        };
        // Turn 0 never began.
        assert_eq!(refused(SessionConfig::new(2).turns_ahead(0)), "turns_ahead");
        let alone = SessionConfig::new(1).turns_ahead(0).topology(Topology::Relay);
        assert_eq!(alone.check(8), Ok(()));
        assert_eq!(refused(alone.pace(Pace::Article)), "turns_ahead");
        let (none, ages) = (Duration::ZERO, Duration::from_secs(90_000));
        assert_eq!(refused(SessionConfig::new(2).watchers_max(257)), "watchers_max");
        assert_eq!(refused(SessionConfig::new(2).watchers_max(3).watchers_min(4)), "watchers_min");
        assert_eq!(refused(SessionConfig::new(2).connect_timeout(none)), "connect_timeout");
        assert_eq!(refused(SessionConfig::new(2).lobby_timeout(none)), "lobby_timeout");
        assert_eq!(refused(SessionConfig::new(2).silence_timeout(none)), "silence_timeout");
        assert_eq!(refused(SessionConfig::new(2).drop_after(none)), "drop_after");
        assert_eq!(refused(SessionConfig::new(2).waiting_notice(ages)), "waiting_notice");
        assert_eq!(refused(SessionConfig::new(2).linger(ages)), "linger");
        assert_eq!(refused(SessionConfig::new(2).state_bytes_max(u32::MAX)), "state_bytes_max");
        assert_eq!(refused(SessionConfig::new(2).state_rate(0)), "state_rate");
        assert_eq!(refused(SessionConfig::new(2).join_timeout(none)), "join_timeout");
        assert_eq!(refused(SessionConfig::new(2).late_joins(ages)), "late_joins");
        // Nobody could come back.
        let rare = |interval| SessionConfig::new(2).checksum_interval(interval);
        let minute = Duration::from_secs(60);
        assert_eq!(refused(rare(99).join_timeout(minute)), "join_timeout");
        assert_eq!(rare(98).join_timeout(minute).check(8), Ok(()));
        assert_eq!(rare(600).join_timeout(minute).topology(Topology::Mesh).check(8), Ok(()), "nobody can");
        // Whoever sets no time has enough.
        assert_eq!((rare(600).check(8), rare(98).join_time()), (Ok(()), minute));
        assert!(rare(600).join_time() > minute.times(6));
    }
}
