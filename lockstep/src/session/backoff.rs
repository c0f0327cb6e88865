//! The memory of a player's place: who has made the others stand, or comes and goes all the time, waits before it comes back.
//!
//! The place owes the time for which the others stood before a drop, and a little for each arrival. A tenth of all time is forgiven, so in the
//! long run nobody makes the others stand for more than a tenth of the time by leaving and coming back. A place may owe some of it at
//! first: an honest player whose program crashes comes back at once.

use crate::packet::Refusal;
use crate::session::config::SessionConfig;
use crate::session::{AnySession, players_in};
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// One part in this many of all time is forgiven.
const FORGIVING: u64 = 10;

/// What an arrival costs: more than the others stand while a player comes back.
const ARRIVAL: Duration = Duration::from_secs(2);

/// What a place may owe: four drops, and at least this much. Then its player waits.
const FREE_DROPS: u64 = 4;
const FREE_MIN: Duration = Duration::from_secs(30);

/// A place owes at most this much more: two times as much as a player who is dropped for being late again and again has cost. So nobody waits
/// for more than sixty drop times.
const OWED_MAX_DROPS: u64 = 6;

/// What the places owe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs([Cost; PLAYERS_MAX as usize]);

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    owed: Duration,
    noted: Instant,
}

impl Cost {
    fn at(self, now: Instant) -> Duration {
        self.owed - Duration::from_micros(now.since(self.noted).as_micros() / FORGIVING)
    }
}

/// What a place may owe before its player waits, and the most that it can owe.
fn limits(config: &SessionConfig) -> (Duration, Duration) {
    let drop_after = config.drop_after.unwrap_or(config.silence_timeout);
    let free = drop_after.times(FREE_DROPS).max(FREE_MIN);
    (free, free + drop_after.times(OWED_MAX_DROPS))
}

impl AnySession {
    fn charge(&mut self, player: PlayerId, span: Duration) {
        let (_, most) = limits(&self.setup.config);
        let cost = &mut self.lateness.costs.0[player.index()];
        *cost = Cost { owed: (cost.at(self.now) + span).min(most), noted: self.now };
    }

    /// These players are dropped. The others have waited for them: now, and in former turns if they were late again and again.
    pub(super) fn charge_dropped(&mut self, players: u16) {
        let waited = self.waited();
        let late = if waited > Duration::ZERO { self.late() } else { 0 };
        for player in players_in(players) {
            let now = if late & (1 << player.0) != 0 { waited } else { Duration::ZERO };
            self.charge(player, now.max(self.lateness.of(player)));
        }
    }

    /// Somebody comes to a player's place in the running match.
    pub(super) fn charge_arrival(&mut self, player: PlayerId) {
        self.charge(player, ARRIVAL);
    }

    /// Whether whoever comes to this place must wait.
    pub(super) fn must_wait(&self, player: PlayerId) -> Option<Refusal> {
        let (free, _) = limits(&self.setup.config);
        let owed = self.lateness.costs.0[player.index()].at(self.now);
        let wait = (owed - free).times(FORGIVING).as_micros().div_ceil(1_000_000);
        (wait > 0).then(|| Refusal::ComeBackIn { seconds: u16::try_from(wait).unwrap_or(u16::MAX) })
    }
}
