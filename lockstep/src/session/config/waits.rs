//! Settings for everything that a session waits for.

use crate::session::config::SessionConfig;
use crate::value::time::Duration;

/// How long a session waits, and for what.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Waits {
    pub(crate) drop_after: Option<Duration>,
    pub(crate) connect_timeout: Duration,
    pub(crate) lobby_timeout: Option<Duration>,
    pub(crate) silence_timeout: Duration,
    pub(crate) waiting_notice: Duration,
    pub(crate) linger: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            drop_after: Some(Duration::from_secs(20)),
            connect_timeout: Duration::from_secs(10),
            lobby_timeout: None,
            silence_timeout: Duration::from_secs(20),
            waiting_notice: Duration::from_millis(500),
            linger: Duration::from_secs(2),
        }
    }
}

impl SessionConfig {
    /// Length of a stall after which the missing players are dropped and the others go on, 1 ms to 24 h. Default 20 s. The turn that a player is still in is no
    /// stall, however long it lasts.
    pub fn drop_after(mut self, drop_after: Duration) -> Self {
        self.waits.drop_after = Some(drop_after);
        self
    }

    /// Nobody is ever dropped: losing a player ends the match for all, after the silence timeout.
    pub fn without_drops(mut self) -> Self {
        self.waits.drop_after = None;
        self
    }

    /// Time after which a connection attempt without an answer fails, 1 ms to 24 h. Default 10 s.
    pub fn connect_timeout(mut self, connect_timeout: Duration) -> Self {
        self.waits.connect_timeout = connect_timeout;
        self
    }

    /// Time that the host or relay waits until everybody has joined and is ready; then its session fails. 1 ms to 24 h. Default: the connect timeout, 10 s;
    /// [`Host::config`](crate::service::host::Host::config) and relays set ten minutes. A host that waits for people needs minutes.
    pub fn lobby_timeout(mut self, lobby_timeout: Duration) -> Self {
        self.waits.lobby_timeout = Some(lobby_timeout);
        self
    }

    /// Silence after which a connected peer counts as lost, 1 ms to 24 h. Default 20 s. Before the start at most 20 s count.
    pub fn silence_timeout(mut self, silence_timeout: Duration) -> Self {
        self.waits.silence_timeout = silence_timeout;
        self
    }

    /// Length of a stall after which [`crate::Event::WaitingFor`] is reported, up to 24 h. Default 500 ms.
    pub fn waiting_notice(mut self, waiting_notice: Duration) -> Self {
        self.waits.waiting_notice = waiting_notice;
        self
    }

    /// At the end of the match: a peer that has not confirmed everything counts as done after this much silence, up to 24 h. Default 2 s.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.waits.linger = linger;
        self
    }

    /// How long the end waits for peers that can be heard but neither advance nor confirm.
    pub(crate) fn ending_deadline(&self) -> Duration {
        self.waits
            .silence_timeout
            .max(self.waits.drop_after.unwrap_or_default())
            .max(self.waits.linger)
            .times(2)
            + self.watchers.watch_delay
    }
}
