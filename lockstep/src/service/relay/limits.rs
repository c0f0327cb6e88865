//! What a relay allows.

use crate::session::config::{ConfigError, SessionConfig, Topology};
use crate::value::time::Duration;

/// Limits of a relay. Whatever clients do, it uses no more than this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Rooms at once.
    pub rooms_max: usize,
    /// Rooms at once that were opened from one address, or one /64 network of version 6.
    pub rooms_per_address_max: usize,
    /// Watchers of one room at once, at most 255.
    pub watchers_max: u32,
    /// How much later than the players they get everything, at most 24 h.
    pub watch_delay: Duration,
    /// Bytes of one match's state on its way to somebody who joins, at most 256 MiB.
    pub state_bytes_max: u32,
    /// Bytes of states in all rooms together. The rooms that one address or network opened hold a quarter of it at most, or one state.
    pub states_bytes_max: u64,
    /// Bytes of players' entries in all rooms together, which are kept for whoever has not confirmed them. The rooms that one address or network opened hold
    /// half of it at most; then whoever is furthest behind in the fullest of them is dropped. Where all rooms together have more, it is the fullest room
    /// of the address that holds most. (Watchers who are 3,584 turns behind, in 16 rooms of 16 players, take 84 MiB.)
    pub entries_bytes_max: u64,
    /// Bytes of one player's actions in one turn ([`crate::SessionConfig::turn_bytes_max()`]): rooms of games that want more are not opened. A
    /// relay keeps up to 4,096 turns for whoever is behind.
    pub turn_bytes_max: u32,
    /// Time in which everybody must come to a new room, 1 ms to 24 h.
    pub lobby: Duration,
    /// A room without any connection ends after this time.
    pub idle: Duration,
    /// A room ends after this time whatever happens in it.
    pub age_max: Duration,
    /// Time that running matches have after the relay was told to stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rooms_max: 200,
            rooms_per_address_max: 16,
            watchers_max: 16,
            watch_delay: Duration::ZERO,
            state_bytes_max: 16 << 20,
            states_bytes_max: 256 << 20,
            entries_bytes_max: 192 << 20,
            turn_bytes_max: 256,
            lobby: Duration::from_secs(600),
            idle: Duration::from_secs(60),
            age_max: Duration::from_secs(12 * 3_600),
            drain: Duration::from_secs(600),
        }
    }
}

impl Limits {
    /// Whether a room can have these settings.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.of_room(SessionConfig::new(1)).check(1)
    }

    /// The settings of a room's match, with these limits. A referee is one watcher more.
    pub(super) fn of_room(&self, config: SessionConfig) -> SessionConfig {
        config
            .topology(Topology::Relay)
            .lobby_timeout(self.lobby)
            .watchers_max(self.watchers_max.saturating_add(1))
            .watch_delay(self.watch_delay)
            .state_bytes_max(self.state_bytes_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room that could not be opened was refused as a question that was not understood, or it panicked.
    #[test]
    fn limits_that_no_room_can_have_are_refused() {
        let check = |change: fn(&mut Limits)| {
            let mut limits = Limits::default();
            change(&mut limits);
            limits.check().is_ok()
        };
        let day = Duration::from_secs(24 * 3_600);
        assert!(check(|limits| limits.watchers_max = 255) && !check(|limits| limits.watchers_max = 256));
        assert!(!check(|limits| limits.watchers_max = u32::MAX));
        assert!(
            !check(|limits| limits.lobby = Duration::ZERO)
                && !check(|limits| limits.state_bytes_max = u32::MAX)
        );
        assert!(!check(|limits| limits.watch_delay = Duration::from_secs(25 * 3_600)));
        assert_eq!(Limits { lobby: day, watch_delay: day, ..Limits::default() }.check(), Ok(()));
    }
}
