//! The memory of a player's place: a player who has made the others wait, or comes and goes all the time, waits before it comes back.
//!
//! The place owes the time for which the others waited before a drop, and a little for each arrival. A tenth of all time is forgiven, so in the long run nobody
//! makes the others wait for more than a tenth of the time by leaving and coming back. A place may owe some of it at first: an honest player whose program
//! crashes comes back at once.

use crate::packet::Refusal;
use crate::session::common::Common;
use crate::session::config::SessionConfig;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// One part in this many of all time is forgiven.
const FORGIVING: u64 = 10;

/// What an arrival costs: more than the others wait while a player comes back.
const ARRIVAL: Duration = Duration::from_secs(2);

/// What a place may owe: four drops, and at least this much. Then its player waits.
const FREE_DROPS: u64 = 4;
const FREE_MIN: Duration = Duration::from_secs(30);

/// A place owes at most this much more: six drop times, which is twice what being dropped for repeated lateness costs. So nobody waits for more than sixty drop
/// times.
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
    let drop_after = config.waits.drop_after.unwrap_or(config.waits.silence_timeout);
    let free = drop_after.times(FREE_DROPS).max(FREE_MIN);
    (free, free + drop_after.times(OWED_MAX_DROPS))
}

impl Costs {
    fn charge(&mut self, common: &Common, player: PlayerId, span: Duration) {
        let (_, most) = limits(common.config());
        let cost = &mut self.0[player.index()];
        *cost = Cost { owed: (cost.at(common.now) + span).min(most), noted: common.now };
    }

    /// A player is dropped, and the others have waited for it for this long: now, or in former turns if it was late again and again.
    pub(super) fn charge_dropped(&mut self, common: &Common, player: PlayerId, waited: Duration) {
        self.charge(common, player, waited);
    }

    /// Somebody comes to a player's place in the running match.
    pub(super) fn charge_arrival(&mut self, common: &Common, player: PlayerId) {
        self.charge(common, player, ARRIVAL);
    }

    /// Whether a player who comes to this place must wait.
    pub(super) fn must_wait(&self, common: &Common, player: PlayerId) -> Option<Refusal> {
        let (free, _) = limits(common.config());
        let owed = self.0[player.index()].at(common.now);
        let wait = (owed - free).times(FORGIVING).as_micros().div_ceil(1_000_000);
        (wait > 0).then(|| Refusal::ComeBackIn { seconds: u16::try_from(wait).unwrap_or(u16::MAX) })
    }
}
