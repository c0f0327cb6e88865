//! Whose machine is so slow that everybody plays slower.

use testudo_lockstep::{Duration, Instant, PLAYERS_MAX, PlayerId, SessionPhase};

use crate::app::online::remark::{Remark, Remedy};
use crate::app::online::seat::Seat;

/// Above this share of the speed, percent, nobody notices.
const NOTICED: u32 = 90;

/// A machine is slow when it has been for so long: the first pictures of a match take longer than all others. It is no longer when it has not been for
/// the second time.
const AFTER: Duration = Duration::from_secs(3);
const CALM: Duration = Duration::from_secs(15);

/// The time for which one player's machine is slow.
#[derive(Clone, Copy, Debug)]
struct Bout {
    since: Instant,
    last: Instant,
    is_told: bool,
}

/// By player.
#[derive(Clone, Debug, Default)]
pub(super) struct Slowness([Option<Bout>; PLAYERS_MAX as usize]);

impl Slowness {
    /// At how many percent of the speed everybody plays because of a player; true once in a bout.
    fn note(&mut self, player: PlayerId, percent: u32, now: Instant) -> bool {
        let bout = &mut self.0[player.index()];
        if percent > NOTICED {
            bout.take_if(|bout| !bout.is_told || now.since(bout.last) >= CALM);
            return false;
        }
        let bout = bout.get_or_insert(Bout { since: now, last: now, is_told: false });
        bout.last = now;
        now.since(bout.since) >= AFTER && !core::mem::replace(&mut bout.is_told, true)
    }
}

impl Seat {
    /// Tells of players for whose machines everybody waits, once each.
    pub(super) fn watch_pace(&mut self, now: Instant) {
        if self.session().phase() != SessionPhase::Running || self.session().is_joining() {
            return;
        }
        for player in (0..self.terms.setup.players).map(PlayerId) {
            let percent = self.pace_of(player);
            if self.evidence.slowness.note(player, percent, now) {
                let (percent, remedy) = (percent as u8, self.remedy(player));
                self.remark(Remark::Slow { player, percent, remedy });
            }
        }
    }

    /// At how many percent of the speed everybody plays because of this player, 0..=100. What a player reports beyond a bound does not count.
    fn pace_of(&self, player: PlayerId) -> u32 {
        let session = self.session();
        let rate = u64::from(session.config().frames_per_second.max(1));
        let asked = match u64::from(session.player_report(player).runtime_ms) {
            0 => 100,
            frame_ms => 100_000 / (frame_ms * rate),
        };
        let all = u64::from(session.plan().pace_millihertz) / (rate * 10);
        asked.max(all).min(100) as u32
    }

    /// A frame has taken so long here.
    #[cfg(test)]
    pub(crate) fn note_frame_time(&mut self, span: Duration) {
        self.driver.session_mut().note_frame_time(span);
    }

    fn remedy(&self, player: PlayerId) -> Remedy {
        let has_votes = self.terms.setup.players > 2;
        match (player == self.host_player(), self.is_relayed) {
            _ if !self.is_watching() && player == self.player() => Remedy::Own,
            (false, _) if has_votes => Remedy::HostOrVotes,
            (false, _) => Remedy::Host,
            (true, true) if has_votes => Remedy::Votes,
            (true, _) => Remedy::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_machine_is_told_of_once_until_it_has_been_fast_for_a_while() {
        let mut slowness = Slowness::default();
        let told = |slowness: &mut Slowness, from: u64, to: u64, percent: u32| {
            (from..to)
                .step_by(100)
                .filter(|ms| slowness.note(PlayerId(2), percent, Instant::from_millis(*ms)))
                .count()
        };
        assert_eq!(told(&mut slowness, 0, 2_900, 50), 0, "the first pictures");
        assert_eq!(told(&mut slowness, 2_900, 10_000, 91), 0);
        assert_eq!(told(&mut slowness, 10_000, 60_000, 50), 1, "once, not per turn");
        // It goes up and down.
        assert_eq!(told(&mut slowness, 60_000, 70_000, 100) + told(&mut slowness, 70_000, 90_000, 60), 0);
        assert_eq!(told(&mut slowness, 90_000, 110_000, 100), 0);
        assert_eq!(told(&mut slowness, 110_000, 120_000, 70), 1, "again after a while");
        assert!(!slowness.note(PlayerId(1), 50, Instant::from_millis(120_000)), "by player");
    }
}
