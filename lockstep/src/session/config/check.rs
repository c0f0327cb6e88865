//! Checks the range of every setting.

use crate::packet::STATE_BYTES_MAX;
use crate::session::config::{ConfigError, SessionConfig};
use crate::value::action::ACTION_BITS_MAX;
use crate::value::ids::PLAYERS_MAX;
use crate::value::time::Duration;

/// Longest time of any timeout: a day.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3_600);

impl SessionConfig {
    /// Checks every range, and that an action of `action_bits` fits.
    pub(crate) fn check(&self, action_bits: u32) -> Result<(), ConfigError> {
        let team = self.sides.teams.iter().copied().max().unwrap_or(0);
        let ranges: [(&'static str, u32, u32, u32); 18] = [
            ("players", u32::from(self.players), 1, u32::from(PLAYERS_MAX)),
            ("frames per second", self.frames_per_second, 1, 1_000),
            ("frames per turn", self.frames_per_turn, 1, 250),
            ("turns ahead", self.turns_ahead, 0, 8),
            ("turns", self.turns.unwrap_or(1), 1, 4_000_000_000),
            ("actions per turn", self.limits.actions_per_turn_max, 1, 255),
            ("bytes of actions per turn", self.limits.turn_bytes_max, 1, ACTION_BITS_MAX / 8),
            ("checksum interval", self.limits.checksum_interval, 1, 600),
            ("action queue", self.limits.queue_max, 1, 4_096),
            ("pauses of a player", self.control.pauses_max, 0, 65_535),
            ("speed changes of a player", self.control.speed_changes_max, 0, 65_535),
            ("window", self.limits.window, 16, 1_024),
            ("host player", u32::from(self.sides.host_player), 0, u32::from(self.players.max(1)) - 1),
            ("team", u32::from(team), 0, u32::from(PLAYERS_MAX) - 1),
            ("most spectators", self.watchers.spectators_max, 0, 256),
            ("fewest spectators", self.watchers.spectators_min, 0, self.watchers.spectators_max),
            ("bytes of a state", self.arrivals.state_bytes_max, 0, STATE_BYTES_MAX),
            ("bytes of a state per second", self.arrivals.state_rate, 1_000, 1_000_000_000),
        ];
        for (setting, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                let (value, min, max) = (u64::from(value), u64::from(min), u64::from(max));
                return Err(ConfigError::OutOfRange { setting, value, min, max });
            }
        }
        self.check_timeouts()?;
        let max = if self.input_mode { ACTION_BITS_MAX } else { self.limits.turn_bytes_max * 8 };
        if action_bits == 0 || action_bits > max {
            return Err(ConfigError::ActionTooLarge { bits: action_bits, max });
        }
        Ok(())
    }

    /// A timeout of zero would end everything at once, and an unlimited one is not a timeout.
    fn check_timeouts(&self) -> Result<(), ConfigError> {
        let timeouts = [
            ("connect timeout in ms", Some(self.waits.connect_timeout), 1),
            ("lobby timeout in ms", self.waits.lobby_timeout, 1),
            ("time of a player's pauses in ms", Some(self.control.pause_max), 0),
            ("silence timeout in ms", Some(self.waits.silence_timeout), 1),
            ("time to the drop in ms", self.waits.drop_after, 1),
            ("notice of waiting in ms", Some(self.waits.waiting_notice), 0),
            ("linger time in ms", Some(self.waits.linger), 0),
            ("time to join in ms", Some(self.arrivals.join_timeout), 1),
            ("time until a place is free in ms", self.arrivals.late_joins, 0),
            ("watch delay in ms", Some(self.watchers.watch_delay), 0),
        ];
        for (setting, timeout, min) in timeouts {
            let value = timeout.map_or(min, Duration::as_millis);
            if !(min..=TIMEOUT_MAX.as_millis()).contains(&value) {
                return Err(ConfigError::OutOfRange { setting, value, min, max: TIMEOUT_MAX.as_millis() });
            }
        }
        Ok(())
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
        assert_eq!(SessionConfig::input(2, 60).check(6), Ok(()));
        let refused = |config: SessionConfig| match config.check(8) {
            Err(ConfigError::OutOfRange { setting, .. }) => setting,
            other => panic!("{other:?}"),
        };
        let (none, ages) = (Duration::ZERO, Duration::from_secs(90_000));
        assert_eq!(refused(SessionConfig::new(2).spectators_max(257)), "most spectators");
        assert_eq!(refused(SessionConfig::new(2).spectators_max(3).spectators_min(4)), "fewest spectators");
        assert_eq!(refused(SessionConfig::new(2).connect_timeout(none)), "connect timeout in ms");
        assert_eq!(refused(SessionConfig::new(2).lobby_timeout(none)), "lobby timeout in ms");
        assert_eq!(refused(SessionConfig::new(2).silence_timeout(none)), "silence timeout in ms");
        assert_eq!(refused(SessionConfig::new(2).drop_after(none)), "time to the drop in ms");
        assert_eq!(refused(SessionConfig::new(2).waiting_notice(ages)), "notice of waiting in ms");
        assert_eq!(refused(SessionConfig::new(2).linger(ages)), "linger time in ms");
        assert_eq!(refused(SessionConfig::new(2).state_bytes_max(u32::MAX)), "bytes of a state");
        assert_eq!(refused(SessionConfig::new(2).state_rate(0)), "bytes of a state per second");
        assert_eq!(refused(SessionConfig::new(2).join_timeout(none)), "time to join in ms");
        assert_eq!(refused(SessionConfig::new(2).late_joins(ages)), "time until a place is free in ms");
    }
}
