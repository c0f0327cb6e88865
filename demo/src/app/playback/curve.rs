//! How the armies fare over a match: sampled while the comparison simulates all of it.

use crate::game::{ARMIES_MAX, Game};

/// Most samples of a match: a screen has few pixels more.
const SAMPLES_MAX: u32 = 240;

/// The state of the armies before a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sample {
    /// Living units by army.
    pub(crate) living: [u32; ARMIES_MAX as usize],
    /// Kills of everybody so far.
    pub(crate) kills: u32,
}

/// Samples at equal distances, as far as the comparison has come.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// Turns from one sample to the next.
    every: u32,
    samples: Vec<Sample>,
    /// Armies whose keeps stand.
    standing: Vec<u8>,
    /// Turn and army of each keep that has fallen.
    fallen: Vec<(u32, u8)>,
}

impl Curve {
    /// Of a match of so many turns, before the first one.
    pub(crate) fn new(turns: u32, game: &Game) -> Self {
        let every = turns.div_ceil(SAMPLES_MAX).max(1);
        let mut curve =
            Self { every, samples: Vec::new(), standing: keeps(game).collect(), fallen: Vec::new() };
        curve.note(0, game);
        curve
    }

    /// Notes the state before a turn, one turn after the other.
    pub(crate) fn note(&mut self, turn: u32, game: &Game) {
        let players = game.setup().players;
        if turn == self.samples.len() as u32 * self.every {
            let mut sample = Sample { living: [0; ARMIES_MAX as usize], kills: 0 };
            for (army, living) in (0..players).zip(&mut sample.living) {
                *living = game.middle(army).map_or(0, |(count, _)| count);
                sample.kills += game.score(army).0;
            }
            self.samples.push(sample);
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

    /// Turn and sample, ascending.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (u32, Sample)> + '_ {
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

    #[test]
    fn the_comparison_leaves_samples_of_the_whole_match() {
        let mut course = course(500);
        assert_eq!(course.curve().samples().count(), 1);
        check_all(&mut course);
        let samples: Vec<(u32, Sample)> = course.curve().samples().collect();
        assert_eq!((samples.len(), samples[1].0, samples[166].0), (167, 3, 498));
        assert_eq!(samples[0].1.living[..3], [12, 12, 0]);
        assert!(samples.windows(2).all(|pair| pair[0].1.kills <= pair[1].1.kills));
        // The viewer comes to the same numbers in its own way.
        let end = course.timetable().start_of(498);
        course.seek(end);
        while course.is_seeking() {
            course.spend(&mut Budget::frames(1_000));
        }
        let (last, game) = (samples[166].1, course.game());
        let [first, second] = [0, 1].map(|army| game.middle(army).map_or(0, |(count, _)| count));
        assert_eq!(last.living[..2], [first, second]);
        assert_eq!(last.kills, game.score(0).0 + game.score(1).0);
        assert!(last.kills > 3, "{last:?}");
    }
}
