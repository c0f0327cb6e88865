//! Settings that each peer chooses for itself, so that no agreement carries them.

use crate::session::config::arrivals::Arrivals;
use crate::session::config::limits::Limits;
use crate::session::config::waits::Waits;
use crate::session::config::watchers::Watchers;
use crate::session::config::{SessionConfig, Tempo};

impl SessionConfig {
    /// The name of a setting of this peer alone that has been changed. Not those whose absence is noticed when a session is made, such as a key.
    pub(crate) fn changed_alone(&self) -> Option<&'static str> {
        let usual = Self::new(self.players);
        let Tempo { pace: _, aligns } = &self.tempo;
        let Limits { queue_max, window, actions_per_turn_max: _, turn_bytes_max: _, checksum_interval: _ } =
            &self.limits;
        let Waits { drop_after: _, connect_timeout, lobby_timeout, silence_timeout, waiting_notice, linger } =
            &self.waits;
        let Watchers { watchers_max: _, watchers_min, late_watchers: _, watch_delay } = &self.watchers;
        let Arrivals { state_bytes_max, state_rate, gives_state_last, join_timeout, late_joins: _ } =
            &self.arrivals;
        let settings = [
            ("without_alignment", *aligns != usual.tempo.aligns),
            ("queue_max", *queue_max != usual.limits.queue_max),
            ("window", *window != usual.limits.window),
            ("connect_timeout", *connect_timeout != usual.waits.connect_timeout),
            ("lobby_timeout", *lobby_timeout != usual.waits.lobby_timeout),
            ("silence_timeout", *silence_timeout != usual.waits.silence_timeout),
            ("waiting_notice", *waiting_notice != usual.waits.waiting_notice),
            ("linger", *linger != usual.waits.linger),
            ("watchers_min", *watchers_min != usual.watchers.watchers_min),
            ("watch_delay", *watch_delay != usual.watchers.watch_delay),
            ("state_bytes_max", *state_bytes_max != usual.arrivals.state_bytes_max),
            ("state_rate", *state_rate != usual.arrivals.state_rate),
            ("gives_state_last", *gives_state_last != usual.arrivals.gives_state_last),
            ("join_timeout", *join_timeout != usual.arrivals.join_timeout),
            ("resume", self.own.resume.is_some()),
        ];
        settings.into_iter().find_map(|(name, is_changed)| is_changed.then_some(name))
    }
}
