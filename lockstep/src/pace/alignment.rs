//! Local phase alignment: a peer that runs ahead of the others passes time a little more slowly, until all have the same slack.
//!
//! If a peer's turns begin earlier than the others', the others' entries reach it later relative to its turns, and its entries reach the
//! others earlier. At every late packet this peer would wait first. So every peer reports its slack in its stream, and a peer with less
//! slack than another one slows down by at most 1/32. This changes only when frames pass on this machine.

use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Greatest slowdown: 1/32.
const SLOWING_MAX_PPM: i64 = 1_000_000 / 32;

/// A lead is reduced over roughly this time.
const SETTLING_SECONDS: i64 = 4;

/// A smaller lead or change is noise, in tenths of a millisecond; ignoring it keeps streams without news small.
const NOISE: i64 = 40;

/// Number of entries whose arrival is remembered: more than any peer can be ahead (twice the turns ahead, 8 at most).
const ARRIVALS: usize = 32;

/// More slack than this makes no difference, in tenths of a millisecond.
const SLACK_MAX: i64 = 20_000;

/// Measures this peer's slack and compares it with the others'.
#[derive(Clone, Debug)]
pub(crate) struct Alignment {
    /// Number of an entry, and when the last of the others' entries with this number arrived.
    arrivals: [(u32, Instant); ARRIVALS],
    /// Samples since the last report, in tenths of a millisecond.
    sum: i64,
    count: i64,
    began: Option<Instant>,
    /// Rolling average.
    own: Option<i64>,
    /// The average that was reported last.
    told: Option<i64>,
    others: [Option<i16>; PLAYERS_MAX as usize],
}

impl Alignment {
    pub(crate) fn new() -> Self {
        Self {
            arrivals: [(u32::MAX, Instant::ZERO); ARRIVALS],
            sum: 0,
            count: 0,
            began: None,
            own: None,
            told: None,
            others: [None; PLAYERS_MAX as usize],
        }
    }

    /// Another player's entry has arrived.
    pub(crate) fn note_arrival(&mut self, number: u32, now: Instant) {
        self.arrivals[number as usize % ARRIVALS] = (number, now);
    }

    /// A turn begins that was due at `due`. Notes how long before (or, negative, after) that time all entries were here.
    pub(crate) fn turn_begins(&mut self, turn: u32, due: Instant) {
        let (number, arrived) = self.arrivals[turn as usize % ARRIVALS];
        if number != turn {
            return;
        }
        let tenths = |span: Duration| i64::try_from(span.as_micros() / 100).unwrap_or(SLACK_MAX);
        let slack = tenths(due.since(arrived)) - tenths(arrived.since(due));
        self.sum += slack.clamp(-SLACK_MAX, SLACK_MAX);
        self.count += 1;
    }

    /// The average slack, once a second if it has changed.
    pub(crate) fn take_report(&mut self, now: Instant) -> Option<i16> {
        let began = *self.began.get_or_insert(now);
        if self.count == 0 || now.since(began) < Duration::from_secs(1) {
            return None;
        }
        let mean = self.sum / self.count;
        let average = self.own.map_or(mean, |own| (own + mean) / 2);
        (self.sum, self.count, self.began, self.own) = (0, 0, Some(now), Some(average));
        if self.told.is_some_and(|told| (told - average).abs() < NOISE) {
            return None;
        }
        self.told = Some(average);
        Some(average as i16)
    }

    /// A player's slack, from its stream; none for a player who is gone.
    pub(crate) fn note(&mut self, player: PlayerId, slack: Option<i16>) {
        self.others[player.index()] = slack;
    }

    /// The slack that a player has reported, in tenths of a millisecond.
    pub(crate) fn slack_of(&self, player: PlayerId) -> Option<i16> {
        self.others[player.index()]
    }

    /// The slowdown of local time, parts per million.
    pub(crate) fn slowing_ppm(&self) -> u32 {
        let most = self.others.iter().flatten().max();
        let (Some(own), Some(most)) = (self.own, most) else { return 0 };
        // A slowdown by d gives this peer d more slack and takes d from the others.
        let lead = (i64::from(*most) - own) / 2;
        if lead < NOISE {
            return 0;
        }
        (lead * 100 / SETTLING_SECONDS).min(SLOWING_MAX_PPM) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An alignment that has measured this slack in milliseconds.
    fn measured(slack_ms: i64) -> Alignment {
        let mut alignment = Alignment::new();
        let start = Instant::from_millis(10_000);
        assert_eq!(alignment.take_report(start), None);
        for turn in 0..5 {
            let due = start + Duration::from_millis(200 * u64::from(turn));
            let shifted = due.as_micros() as i64 - slack_ms * 1_000;
            alignment.note_arrival(turn, Instant::from_micros(shifted as u64));
            alignment.turn_begins(turn, due);
        }
        // A turn without entries from others gives no sample.
        alignment.turn_begins(7, start);
        assert_eq!(alignment.take_report(start + Duration::from_secs(1)), Some((slack_ms * 10) as i16));
        alignment
    }

    #[test]
    fn slack_is_what_was_left_and_negative_when_late() {
        measured(340);
        measured(-25);
        assert_eq!(measured(0).take_report(Instant::from_millis(12_000)), None, "nothing new");
    }

    #[test]
    fn what_hardly_changes_is_not_told_again() {
        let mut alignment = measured(100);
        let mut report = |second: u64, slack_ms: u64| {
            let due = Instant::from_millis(second * 1_000);
            let turn = second as u32;
            alignment.note_arrival(turn, Instant::from_millis(second * 1_000 - slack_ms));
            alignment.turn_begins(turn, due);
            alignment.take_report(due)
        };
        assert_eq!(report(12, 102), None);
        assert_eq!(report(13, 115), Some(1_080));
        assert_eq!(report(14, 105), None);
    }

    #[test]
    fn only_who_has_less_slack_than_another_slows_down_and_by_a_thirty_second_at_most() {
        let mut alignment = measured(100);
        assert_eq!(alignment.slowing_ppm(), 0, "nothing to compare with");
        for (others_ms, expected) in [(50, 0), (100, 0), (106, 0), (180, 10_000), (1_900, 31_250)] {
            alignment.note(PlayerId(1), Some(others_ms * 10));
            assert_eq!(alignment.slowing_ppm(), expected, "{others_ms}");
        }
        alignment.note(PlayerId(1), None);
        assert_eq!(alignment.slowing_ppm(), 0, "a peer that is gone is not followed");
    }
}
