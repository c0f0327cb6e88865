//! Settings of a sealed endpoint, and the limits that are not settings.

use std::io;

use crate::session::config::ConfigError;
use crate::value::time::Duration;

/// Greatest length of a greeting. A longer one ends the connection.
pub const GREETING_BYTES_MAX: usize = 1_024;

/// Greatest length of the answer to a greeting. A longer one is cut, which a client reports as [`LostReason::Broken`](super::LostReason::Broken).
pub const ANSWER_BYTES_MAX: usize = 16_384;

/// Greatest number of connections that have not been accepted yet, in all.
pub(crate) const PENDING_MAX: usize = 256;

/// Greatest number of connections from one address that have not been accepted yet.
pub(crate) const PENDING_PER_ADDRESS_MAX: u32 = 16;

/// Settings of a [`SealedServer`](super::SealedServer) or a [`SealedClient`](super::SealedClient), with defaults. Values out of range are errors when the
/// endpoint is made.
///
/// ```
/// use testudo_lockstep::Duration;
/// use testudo_lockstep::transport::sealed::SealedConfig;
/// let config = SealedConfig::new().connections_max(1_600).idle_timeout(Duration::from_secs(20));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub struct SealedConfig {
    pub(crate) idle_timeout: Duration,
    pub(crate) keep_alive: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) greeting_timeout: Duration,
    pub(crate) connections_max: u32,
    pub(crate) connections_per_address_max: u32,
    pub(crate) handshakes_per_address: u32,
}

impl Default for SealedConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl SealedConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            idle_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(30),
            greeting_timeout: Duration::from_secs(30),
            connections_max: 256,
            connections_per_address_max: 64,
            handshakes_per_address: 20,
        }
    }

    /// A connection from which nothing arrives for so long is lost; the shorter value of the two sides counts. 1 s to 10 min, 30 s by default.
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time;
        self
    }

    /// How long a client tries to connect, and then again how long it waits for the answer to its greeting. 1 s to 10 min, 30 s by default. On a network
    /// that loses a quarter of all packets, with a round trip of 2 s, some need a minute.
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// A connection on which nothing else is sent for so long is kept alive, also in the routers on the way. 100 ms to 60 s, 5 s by default;
    /// it should be well below the idle timeout.
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// How long a server waits for a connection and its greeting, and then again how long the application may take to accept it. 100 ms to
    /// 2 min, 30 s by default.
    pub fn greeting_timeout(mut self, time: Duration) -> Self {
        self.greeting_timeout = time;
        self
    }

    /// Greatest number of connections that a server has accepted; further ones are refused, and clients ask again. At least 1, 256 by default; a
    /// [`SealedHost`](super::SealedHost) has room for all its places in any case. Up to 256 more are not accepted yet, at most 16 of one address; of these, the
    /// address that has most gives way to others. Strangers are refused at once. From an address where somebody plays, or played in the last ten minutes, a
    /// player may come back in place of its own former connection: whoever greets from there is refused after
    /// [`SealedServer::accept`](super::SealedServer::accept).
    pub fn connections_max(mut self, connections: u32) -> Self {
        self.connections_max = connections;
        self
    }

    /// Greatest number of connections of a server with one address (of version 6: with one /64 network), those that are
    /// still being made included; further ones are refused, or not answered yet while some of these are still being made; their clients ask again. At least
    /// 1, 64 by default: many homes and schools have one address for everybody. Whoever watches does not take the room of a player who left in the last ten
    /// minutes.
    pub fn connections_per_address_max(mut self, connections: u32) -> Self {
        self.connections_per_address_max = connections;
        self
    }

    /// Greatest number of handshakes per second from one address (of version 6: from one /64 network); a handshake takes a server a quarter of a
    /// millisecond. Twice as many as [`SealedConfig::connections_per_address_max`] may come at once; further ones are not answered yet, and
    /// clients ask again. 1 to 1,000,000, 20 by default. All addresses together from which nobody played in the last ten minutes have 256 per
    /// second, or as many as one if that is more.
    pub fn handshakes_per_address(mut self, per_second: u32) -> Self {
        self.handshakes_per_address = per_second;
        self
    }

    /// Checks every range.
    pub(crate) fn check(&self) -> io::Result<()> {
        let ms = Duration::from_millis;
        let times = [
            ("idle_timeout", self.idle_timeout, ms(1_000), ms(600_000)),
            ("connect_timeout", self.connect_timeout, ms(1_000), ms(600_000)),
            ("keep_alive", self.keep_alive, ms(100), ms(60_000)),
            ("greeting_timeout", self.greeting_timeout, ms(100), ms(120_000)),
        ];
        let bad_time = times.into_iter().find_map(|(setting, value, min, max)| {
            let is_bad = !(min..=max).contains(&value);
            is_bad.then_some(ConfigError::TimeOutOfRange { setting, value, min, max })
        });
        let numbers = [
            ("connections_max", self.connections_max, u32::MAX),
            ("connections_per_address_max", self.connections_per_address_max, u32::MAX),
            ("handshakes_per_address", self.handshakes_per_address, 1_000_000),
        ];
        let bad_number = numbers.into_iter().find_map(|(setting, value, max)| {
            let (value, min, max) = (u64::from(value), 1, u64::from(max));
            let is_bad = !(min..=max).contains(&value);
            is_bad.then_some(ConfigError::OutOfRange { setting, value, min, max })
        });
        match bad_time.or(bad_number) {
            Some(error) => Err(io::Error::new(io::ErrorKind::InvalidInput, error)),
            None => Ok(()),
        }
    }
}

/// As the standard library counts it.
pub(crate) fn std_time(time: Duration) -> core::time::Duration {
    core::time::Duration::from_micros(time.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_named() {
        let refused = |config: SealedConfig| {
            let error = config.check().err()?.into_inner()?;
            match *error.downcast::<ConfigError>().ok()? {
                ConfigError::OutOfRange { setting, .. } | ConfigError::TimeOutOfRange { setting, .. } => {
                    Some(setting)
                }
                _ => None,
            }
        };
        let (config, none, ages) = (SealedConfig::new(), Duration::ZERO, Duration::from_secs(601));
        assert_eq!(refused(config.clone()), None);
        assert_eq!(refused(config.clone().idle_timeout(none)), Some("idle_timeout"));
        assert_eq!(refused(config.clone().connect_timeout(ages)), Some("connect_timeout"));
        assert_eq!(refused(config.clone().keep_alive(ages)), Some("keep_alive"));
        assert_eq!(refused(config.clone().greeting_timeout(none)), Some("greeting_timeout"));
        assert_eq!(refused(config.clone().connections_max(0)), Some("connections_max"));
        assert_eq!(
            refused(config.clone().connections_per_address_max(0)),
            Some("connections_per_address_max")
        );
        assert_eq!(refused(config.handshakes_per_address(0)), Some("handshakes_per_address"));
    }
}
