//! What one peer asks of the middle of the star in datagrams: each may be lost, so it is said several times.

use testudo_lockstep::{Duration, Instant, PlayerId};

/// Time between two datagrams that say the same, and how often it is said.
const AGAIN: Duration = Duration::from_millis(250);
pub(crate) const TIMES: u32 = 8;

/// Something that is asked for one player.
pub(crate) trait AboutPlayer: Copy {
    fn player(&self) -> PlayerId;
}

/// What is still being said.
#[derive(Clone, Debug)]
pub(crate) struct Repeated<T> {
    open: Vec<(T, u32)>,
    due: Instant,
}

impl<T> Default for Repeated<T> {
    fn default() -> Self {
        Self { open: Vec::new(), due: Instant::ZERO }
    }
}

impl<T: AboutPlayer> Repeated<T> {
    /// Something new replaces what was asked for the same player.
    pub(crate) fn add(&mut self, new: T) {
        self.open.retain(|(open, _)| open.player() != new.player());
        self.open.push((new, TIMES));
        self.due = Instant::ZERO;
    }

    /// What is asked for a player, while it is being said.
    pub(crate) fn of(&self, player: PlayerId) -> Option<T> {
        self.open.iter().find(|(open, _)| open.player() == player).map(|(open, _)| *open)
    }

    /// What is to be sent now. `is_done`: the middle has done it.
    pub(crate) fn take_due(&mut self, now: Instant, is_done: impl Fn(&T) -> bool) -> Vec<T> {
        if self.open.is_empty() || now < self.due {
            return Vec::new();
        }
        self.due = now + AGAIN;
        self.open.retain(|(open, times)| *times > 0 && !is_done(open));
        self.open.iter_mut().for_each(|(_, times)| *times -= 1);
        self.open.iter().map(|(open, _)| *open).collect()
    }
}
