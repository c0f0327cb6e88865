//! How the armies fare over a match: sampled while it is played, or while the comparison simulates all of it.

use testudo_battle::{ARMIES_MAX, Game};

/// Samples of a match whose length is known. One whose length is not has up to twice as many: then every second one is dropped.
const SAMPLES: u32 = 240;

/// By army.
pub(crate) type Counts = [u32; ARMIES_MAX as usize];

/// The state of the armies before a turn, or a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ArmySample {
    /// Living units, and kills so far.
    pub(crate) living: Counts,
    pub(crate) kills: Counts,
}

impl ArmySample {
    pub(crate) fn of(game: &Game) -> Self {
        let mut sample = Self { living: Counts::default(), kills: Counts::default() };
        for army in 0..game.setup().players {
            let at = usize::from(army);
            sample.living[at] = game.middle(army).map_or(0, |(count, _)| count);
            sample.kills[at] = game.score(army).0;
        }
        sample
    }

    /// Of everybody so far.
    pub(crate) fn all_kills(&self) -> u32 {
        self.kills.iter().fold(0, |sum, kills| sum.saturating_add(*kills))
    }
}

/// Samples at equal distances, as far as the comparison has come.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// Turns, or frames, from one sample to the next, and when that is due.
    every: u32,
    next: u32,
    samples: Vec<ArmySample>,
    /// Armies whose keeps stand.
    standing: Vec<u8>,
    /// Turn and army of each keep that has fallen.
    fallen: Vec<(u32, u8)>,
}

impl Curve {
    /// Of a match of so many turns, before the first one.
    pub(crate) fn new(turns: u32, game: &Game) -> Self {
        let mut curve = Self::every(turns.div_ceil(SAMPLES).max(1), game);
        curve.note(0, game);
        curve
    }

    /// Of a match of unknown length, with so much from one sample to the next at first.
    pub(crate) fn every(every: u32, game: &Game) -> Self {
        Self { every, next: 0, samples: Vec::new(), standing: keeps(game).collect(), fallen: Vec::new() }
    }

    /// Notes the state before a turn or a frame, one after the other. What was left out since the last one counts as this one.
    pub(crate) fn note(&mut self, turn: u32, game: &Game) {
        if self.samples.is_empty() {
            self.next = turn;
        }
        while turn >= self.next {
            self.push(ArmySample::of(game));
            self.next = self.next.saturating_add(self.every);
        }
        let Self { standing, fallen, .. } = self;
        standing.retain(|army| {
            let stands = keeps(game).any(|keep| keep == *army);
            if !stands {
                fallen.push((turn.saturating_sub(1), *army));
            }
            stands
        });
    }

    /// Adds a sample, for instance of the end.
    pub(crate) fn push(&mut self, sample: ArmySample) {
        if self.samples.len() as u32 == 2 * SAMPLES {
            let mut is_kept = false;
            self.samples.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.every *= 2;
        }
        self.samples.push(sample);
    }

    /// Turn and sample, ascending.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (u32, ArmySample)> + '_ {
        (0..).map(|n| n * self.every).zip(self.samples.iter().copied())
    }

    /// Turn and army of each keep that has fallen.
    pub(crate) fn fallen(&self) -> &[(u32, u8)] {
        &self.fallen
    }
}

/// Armies whose keeps stand.
fn keeps(game: &Game) -> impl Iterator<Item = u8> + '_ {
    game.building_looks().filter(|look| look.is_keep).map(|look| look.army)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::playback::Budget;
    use crate::app::playback::tests::{check_all, course};
    use testudo_battle::Setup;

    #[test]
    fn the_comparison_leaves_samples_of_the_whole_match() {
        let mut course = course(500);
        assert_eq!(course.curve().samples().count(), 1);
        check_all(&mut course);
        let samples: Vec<(u32, ArmySample)> = course.curve().samples().collect();
        assert_eq!((samples.len(), samples[1].0, samples[166].0), (167, 3, 498));
        assert_eq!(samples[0].1.living[..3], [12, 12, 0]);
        assert!(samples.windows(2).all(|pair| pair[0].1.all_kills() <= pair[1].1.all_kills()));
        // The viewer comes to the same numbers in its own way.
        let end = course.timetable().start_of(498);
        course.seek(end);
        while course.is_seeking() {
            course.spend(&mut Budget::frames(1_000));
        }
        let (last, game) = (samples[166].1, course.game());
        let [first, second] = [0, 1].map(|army| game.middle(army).map_or(0, |(count, _)| count));
        assert_eq!(last.living[..2], [first, second]);
        assert_eq!(last.kills[..2], [game.score(0).0, game.score(1).0]);
        assert!(last.all_kills() > 3, "{last:?}");
    }

    /// A keyframe of a damaged file may say so.
    #[test]
    fn the_greatest_numbers_of_kills_are_added_up() {
        let sample = ArmySample { living: Counts::default(), kills: [u32::MAX; ARMIES_MAX as usize] };
        assert_eq!(sample.all_kills(), u32::MAX);
    }

    #[test]
    fn a_long_battle_keeps_a_bounded_number_of_samples() {
        let game = Game::new(Setup { players: 2, units: 2, seed: 1, map: None }).unwrap();
        let mut curve = Curve::every(40, &game);
        (0..400_000).step_by(4).for_each(|frame| curve.note(frame, &game));
        let (count, (last, _)) = (curve.samples().count() as u32, curve.samples().last().unwrap());
        assert!((SAMPLES..=2 * SAMPLES).contains(&count), "{count}");
        assert!(last > 395_000 && last < 400_000, "they are evenly spread over all of it: {last}");
    }
}
