//! Settings of a sealed endpoint, and the limits that are not settings.

use crate::value::time::Duration;

/// Greatest length of a greeting. A longer one ends the connection.
pub const GREETING_BYTES_MAX: usize = 1_024;

/// Greatest length of the answer to a greeting. A longer one is cut, which a client reports as [`LostReason::Broken`](super::LostReason::Broken).
pub const ANSWER_BYTES_MAX: usize = 16_384;

/// Greatest number of connections that have not been accepted yet, in all.
pub(crate) const PENDING_MAX: usize = 256;

/// Greatest number of connections from one address that have not been accepted yet.
pub(crate) const PENDING_PER_ADDRESS_MAX: u32 = 16;

/// Settings of a [`SealedServer`](super::SealedServer) or a [`SealedClient`](super::SealedClient), with defaults. Values out of range are moved to its ends.
///
/// ```
/// use testudo_lockstep::Duration;
/// use testudo_lockstep::transport::sealed::SealedConfig;
/// let config = SealedConfig::new().connections_max(1_600).idle_timeout(Duration::from_secs(20));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
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
    #[must_use]
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
    #[must_use]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time.clamp(Duration::from_secs(1), Duration::from_secs(600));
        self
    }

    /// How long a client tries to connect, and then again how long it waits for the answer to its greeting. 1 s to 10 min, 30 s by default. On a network
    /// that loses a quarter of all packets, with a round trip of 2 s, some need a minute.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time.clamp(Duration::from_secs(1), Duration::from_secs(600));
        self
    }

    /// A connection on which nothing else is sent for so long is kept alive, also in the routers on the way. 100 ms to 60 s, 5 s by default;
    /// it should be well below the idle timeout.
    #[must_use]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time.clamp(Duration::from_millis(100), Duration::from_secs(60));
        self
    }

    /// How long a server waits for a connection and its greeting, and then again how long the application may take to accept it. 100 ms to
    /// 2 min, 30 s by default.
    #[must_use]
    pub fn greeting_timeout(mut self, time: Duration) -> Self {
        self.greeting_timeout = time.clamp(Duration::from_millis(100), Duration::from_secs(120));
        self
    }

    /// Greatest number of connections that a server has accepted; further ones are refused. At least 1, 256 by default. Up to 256 more are
    /// not accepted yet, at most 16 of one address; of these, the address that has most gives way to others.
    #[must_use]
    pub fn connections_max(mut self, connections: u32) -> Self {
        self.connections_max = connections.max(1);
        self
    }

    /// Greatest number of connections of a server with one address (of version 6: with one /64 network); further ones are refused. At least 1,
    /// 64 by default: many homes and schools have one address for everybody.
    #[must_use]
    pub fn connections_per_address_max(mut self, connections: u32) -> Self {
        self.connections_per_address_max = connections.max(1);
        self
    }

    /// Greatest number of handshakes per second from one address (of version 6: from one /64 network); a handshake takes a server most of a
    /// millisecond. Twice as many as [`SealedConfig::connections_per_address_max`] may come at once; further ones are not answered yet, and
    /// clients ask again. 1 to 1,000,000, 20 by default.
    #[must_use]
    pub fn handshakes_per_address(mut self, per_second: u32) -> Self {
        self.handshakes_per_address = per_second.clamp(1, 1_000_000);
        self
    }
}

/// As the standard library counts it.
pub(crate) fn std_time(time: Duration) -> core::time::Duration {
    core::time::Duration::from_micros(time.as_micros())
}
