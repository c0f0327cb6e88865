//! How early watchers see what the players do.

use crate::value::time::{Duration, Instant};

/// When turns began. Watchers whose view is delayed must not see a turn earlier than that.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    delay: Duration,
    turns_ahead: u32,
    /// The first turn of the match.
    first: u32,
    /// By turn from the first one on: when the first player began it.
    begun: Vec<Instant>,
    /// Turns that delayed watchers have begun.
    pub(super) seen: u64,
    /// The watcher that saw something too early, and the turn.
    early: Option<(u32, u32)>,
}

impl Sight {
    pub(super) fn new(delay: Duration, turns_ahead: u32, first: u32) -> Self {
        Self { delay, turns_ahead, first, begun: Vec::new(), seen: 0, early: None }
    }

    pub(super) fn player_begins(&mut self, turn: u32, now: Instant) {
        if self.first + self.begun.len() as u32 == turn {
            self.begun.push(now);
        }
    }

    /// The entries of a turn close when the players begin that many turns before. The clock of the middle, which measures the delay, may be fast.
    pub(super) fn watcher_begins(&mut self, node: u32, turn: u32, now: Instant) {
        let Some(closed) =
            turn.checked_sub(self.first + self.turns_ahead).filter(|_| self.delay > Duration::ZERO)
        else {
            return;
        };
        self.seen += 1;
        let least = Duration::from_micros(self.delay.as_micros() / 20 * 19);
        let is_early = self.begun.get(closed as usize).is_none_or(|at| now.since(*at) < least);
        if is_early && self.early.is_none() {
            self.early = Some((node, turn));
        }
    }

    pub(super) fn finding(&self) -> Option<String> {
        let (node, turn) = self.early?;
        Some(format!("watcher {node} saw turn {turn} before {} ms had passed", self.delay.as_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_that_sees_too_early_is_found() {
        let seen = |at_ms: u64, turn: u32| {
            let mut sight = Sight::new(Duration::from_secs(2), 2, 0);
            (0..4).for_each(|turn| {
                sight.player_begins(turn, Instant::from_millis(1_000 + u64::from(turn) * 200))
            });
            sight.watcher_begins(5, turn, Instant::from_millis(at_ms));
            sight.finding().is_some()
        };
        assert!(!seen(3_200, 3) && seen(3_000, 3));
        assert!(!seen(1_000, 1), "the first turns have no orders");
        assert!(seen(100_000, 6), "nobody has played so far");
        let mut open = Sight::new(Duration::ZERO, 2, 0);
        open.watcher_begins(5, 3, Instant::ZERO);
        assert_eq!((open.finding(), open.seen), (None, 0));
    }
}
