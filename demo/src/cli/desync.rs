//! `desync`: where two replays of one match diverge.

use std::path::Path;

use serde::Serialize;
use testudo_lockstep::replay::{Replay, ReplayPlayer, TurnEvent};
use testudo_lockstep::state;

use crate::app::words::count;
use crate::app::{MatchError, open_replay};
use crate::cli::args::DesyncArgs;
use crate::cli::{Failed, print_json};
use crate::console::out;
use testudo_battle::{Game, Order, Setup};

/// The comparison of two replays of one match. Turns are those of the match.
#[derive(Debug, Serialize)]
struct ReplayComparison {
    /// Turns that both replays have.
    turns: u32,
    agree: bool,
    first_divergent_turn: Option<u32>,
    /// The first turn in which the replays have other orders: nothing can be said of later checksums.
    other_orders_in_turn: Option<u32>,
    /// The checksum that each replay recorded after that turn, and the one that the same orders give here.
    checksums: Option<[String; 3]>,
    /// The replay whose checksum cannot be reproduced: "A", "B", or "unknown".
    outlier: Option<&'static str>,
    /// The first number that differs, if the outlier's state is known: right after that turn if the outlier noticed the desync, otherwise
    /// at its next keyframe.
    difference: Option<DifferingNumber>,
    files: [ComparedFile; 2],
}

/// What one file holds.
#[derive(Debug, Serialize)]
struct ComparedFile {
    first_turn: u32,
    turns: u32,
    /// It has its end and no damage.
    complete: bool,
    damage: Option<String>,
}

/// The first number in which two states differ.
#[derive(Debug, Serialize)]
struct DifferingNumber {
    /// The states before this turn of the match are compared.
    at_turn: u32,
    kind: &'static str,
    index: u32,
    field: &'static str,
    /// In the outlier's state, and in the state that the orders lead to here.
    values: [Option<i128>; 2],
    /// Numbers that differ by then; a difference spreads from turn to turn.
    differing_numbers: u32,
}

pub(crate) fn desync(options: &DesyncArgs, json: bool) -> Result<bool, Failed> {
    let (a, setup) = open(&options.a)?;
    let (b, other) = open(&options.b)?;
    if setup != other {
        return Err(Failed::usage(
            "the two replays are not of the same match: players, units, seed or map differ",
        ));
    }
    let comparison = compare(setup, &a, &b)?;
    if json {
        print_json(&comparison);
    } else {
        out!("{}", comparison.in_words());
    }
    Ok(comparison.agree && comparison.files.iter().all(|file| file.complete))
}

fn open(path: &Path) -> Result<(Replay, Setup), Failed> {
    let (replay, terms) = open_replay(path)?;
    if replay.is_brief() {
        return Err(Failed::usage("a link has only the last checksum; testudo verify LINK plays it again"));
    }
    Ok((replay, terms.setup))
}

/// The first turn of the match that a replay has.
fn first_turn(replay: &Replay) -> u32 {
    replay.start().map_or(0, |(turn, _)| turn)
}

/// What the game was told in a turn of the match.
fn told(replay: &Replay, turn: u32) -> Option<(u32, u32, Vec<TurnEvent<Order>>)> {
    let (mut events, _) = replay.turn(turn - first_turn(replay))?;
    let (frames, rate) = (events.frames, events.frames_per_second);
    let all = std::iter::from_fn(|| events.next_event().ok().flatten()).collect();
    Some((frames, rate, all))
}

fn compare(setup: Setup, a: &Replay, b: &Replay) -> Result<ReplayComparison, Failed> {
    let ends = [a, b].map(|replay| first_turn(replay).saturating_add(replay.turns()));
    let common = first_turn(a).max(first_turn(b))..ends[0].min(ends[1]);
    if common.is_empty() {
        return Err(Failed::usage("the two replays have no turn in common"));
    }
    let recorded = |replay: &Replay, turn: u32| {
        replay.turn(turn - first_turn(replay)).and_then(|(_, checksum)| checksum).unwrap_or(0)
    };
    let divergent = common.clone().find(|turn| recorded(a, *turn) != recorded(b, *turn));
    let until = divergent.map_or(common.end, |turn| turn + 1);
    let other_orders = (common.start..until).find(|turn| told(a, *turn) != told(b, *turn));
    let mut comparison = ReplayComparison {
        turns: common.end - common.start,
        agree: divergent.is_none() && other_orders.is_none(),
        first_divergent_turn: divergent,
        other_orders_in_turn: other_orders,
        checksums: None,
        outlier: other_orders.map(|_| "unknown"),
        difference: None,
        files: [a, b].map(|replay| ComparedFile {
            first_turn: first_turn(replay),
            turns: replay.turns(),
            complete: replay.is_complete(),
            damage: replay.damage().map(|damage| damage.to_string()),
        }),
    };
    if let (Some(turn), None) = (divergent, other_orders) {
        // What the later one begins with may be what differs.
        let longer = if first_turn(b) < first_turn(a) { b } else { a };
        let here = play(setup, longer, turn + 1 - first_turn(longer))?;
        let found = here.checksum();
        let sums = [recorded(a, turn), recorded(b, turn), found];
        let (outlier, broken) = match (sums[0] == found, sums[1] == found) {
            (true, false) => ("B", Some(b)),
            (false, true) => ("A", Some(a)),
            _ => ("unknown", None),
        };
        comparison.difference = broken.and_then(|broken| difference(broken, turn, here));
        comparison.checksums = Some(sums.map(|sum| format!("{sum:016x}")));
        comparison.outlier = Some(outlier);
    }
    Ok(comparison)
}

/// The game after the first turns of a replay.
fn play(setup: Setup, replay: &Replay, turns: u32) -> Result<Game, Failed> {
    let game = Game::new(setup).map_err(MatchError::from)?;
    let mut player = ReplayPlayer::new(replay.clone(), game);
    while player.turn() < turns && player.step_turn() {}
    Ok(player.simulation().clone())
}

/// Compares a damaged copy after the turn of the divergence, as early as its file has the state, with what the orders lead to. `whole` is the sound state
/// after that turn. The damaged copy's file has the orders up to its own states; the other one may end earlier.
fn difference(broken: &Replay, turn: u32, mut whole: Game) -> Option<DifferingNumber> {
    // States are numbered by their file.
    let from = turn + 1 - first_turn(broken);
    let evidence = broken.evidence().filter(|(turn, _)| *turn == from);
    let (at_turn, state) =
        evidence.or_else(|| (from..=broken.turns()).find_map(|turn| Some((turn, broken.keyframe(turn)?))))?;
    let (mut here, mut sound) = (whole.clone(), Vec::new());
    state::load(&mut here, state).ok()?;
    state::save(&mut whole, &mut sound);
    let mut player = ReplayPlayer::new(broken.clone(), whole);
    player.restore(from, &sound).ok()?;
    while player.turn() < at_turn && player.step_turn() {}
    let mut there = player.simulation().clone();
    let first = state::first_difference(&mut here, &mut there)?;
    let leaf = first.here.or(first.there)?;
    let mut numbers = Vec::new();
    state::leaves(&mut here, &mut |leaf| numbers.push(leaf));
    let (mut index, mut differing_numbers) = (0, 0);
    state::leaves(&mut there, &mut |leaf| {
        differing_numbers += u32::from(numbers.get(index) != Some(&leaf));
        index += 1;
    });
    Some(DifferingNumber {
        at_turn: first_turn(broken).saturating_add(at_turn),
        kind: leaf.kind,
        index: leaf.index,
        field: leaf.name,
        values: [first.here.map(|leaf| leaf.value), first.there.map(|leaf| leaf.value)],
        differing_numbers,
    })
}

impl ReplayComparison {
    fn in_words(&self) -> String {
        let mut text = String::new();
        for (name, file) in ["A", "B"].iter().zip(&self.files) {
            let why = file
                .damage
                .as_deref()
                .map_or("the recording has no end".into(), |why| format!("damaged: {why}"));
            if !file.complete {
                text.push_str(&format!(
                    "{name} is not whole     {}, then {why}\n",
                    count(file.turns, "turn")
                ));
            }
        }
        if let Some(turn) = self.other_orders_in_turn {
            text.push_str(&format!(
                "other orders       in turn {turn}: the replays are of two matches, or one was changed\n"
            ));
            return text;
        }
        let (Some(turn), Some([a, b, here])) = (self.first_divergent_turn, &self.checksums) else {
            text.push_str(&format!("A and B agree in all {} turns that both have\n", self.turns));
            return text;
        };
        text.push_str(&format!(
            "first difference   after turn {turn}\nchecksum in A      {a}\nchecksum in B      {b}\nplayed again here  {here}\n"
        ));
        text.push_str(&match self.outlier {
            Some("unknown") | None => {
                "outlier            unknown: the orders lead to neither checksum\n".to_owned()
            }
            Some(name) => format!("outlier            {name}: the same orders lead to the other checksum\n"),
        });
        match &self.difference {
            None if self.outlier == Some("unknown") => {}
            None => {
                text.push_str("                   no later state in its file shows which number differs\n")
            }
            Some(d) => {
                let value =
                    |value: Option<i128>| value.map_or("nothing".to_owned(), |value| value.to_string());
                let differing = match d.differing_numbers {
                    1 => "no other number differs by then".to_owned(),
                    numbers => format!("{numbers} numbers differ by then"),
                };
                text.push_str(&format!(
                    "before turn {:<7}{} of {} {}: {} instead of {}\n                   {}\n",
                    d.at_turn,
                    d.field,
                    d.kind,
                    d.index,
                    value(d.values[0]),
                    value(d.values[1]),
                    differing
                ));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use testudo_lockstep::replay::{Ending, Recorded};
    use testudo_lockstep::{Simulation as _, Turn};

    use super::*;
    use crate::app::Terms;
    use crate::app::watch::recording;
    use testudo_battle::BodyField;

    const SETUP: Setup = Setup { players: 2, units: 8, seed: 3, map: None };

    /// What a copy of a match records that goes on with turn 100: these turns, with a keyframe after so many. It is damaged after one of them.
    fn copy(turns: RangeInclusive<u32>, keyframe_every: u32, damaged: Option<u32>) -> Replay {
        let header = recording::header(&Terms { setup: SETUP, turns: 200 });
        let mut game = Game::new(SETUP).unwrap();
        (100..(*turns.start()).min(200)).for_each(|_| game.step(20));
        let unit = game.unit_slots().next().unwrap();
        let mut game =
            Recorded::new(game, &header).keyframe_every(keyframe_every).starting_at(Turn(*turns.start()));
        for turn in turns {
            game.step(20);
            if damaged == Some(turn) {
                game.game_mut().corrupt(unit, BodyField::PositionX, 3).unwrap();
            }
            let checksum = game.checksum();
            game.turn_ended(Turn(turn), checksum);
        }
        game.finish(Ending::Over);
        Replay::read(game.take_bytes(), header.sim_version).unwrap()
    }

    /// The divergent turn, the outlier, and everything about the number that differs.
    fn found(a: &Replay, b: &Replay) -> (Option<u32>, Option<&'static str>, String) {
        let found = compare(SETUP, a, b).unwrap();
        (found.first_divergent_turn, found.outlier, serde_json::to_string(&found.difference).unwrap())
    }

    /// The difference was named by its turn in the file, beside turns of the match.
    #[test]
    fn a_difference_of_a_resumed_match_is_in_a_turn_of_the_match() {
        let found = compare(SETUP, &copy(100..=109, 1, None), &copy(100..=109, 1, Some(105))).unwrap();
        let at_turn = found.difference.as_ref().map(|number| number.at_turn);
        assert_eq!((found.first_divergent_turn, at_turn), (Some(105), Some(106)));
        assert!(found.in_words().contains("before turn 106"), "{}", found.in_words());
    }

    /// The damaged copy's state of a later turn was compared with the last one that the shorter file leads to: thousands of other numbers differed.
    #[test]
    fn a_sound_replay_that_ends_early_leads_to_the_same_number() {
        let damaged = copy(100..=119, 15, Some(105));
        let (whole, short) = (copy(100..=119, 15, None), copy(100..=106, 15, None));
        let expected = found(&whole, &damaged);
        assert!(expected.2.contains("\"at_turn\":115"), "{expected:?}");
        assert_eq!(found(&short, &damaged), expected);
        assert_eq!(found(&damaged, &short).2, expected.2, "in the other order");
    }

    /// Nothing was compared, as if the damaged copy had kept no state.
    #[test]
    fn a_replay_that_begins_later_leads_to_the_same_number() {
        let whole = copy(100..=119, 1, None);
        let expected = found(&whole, &copy(100..=119, 1, Some(105)));
        assert!(expected.2.contains("\"at_turn\":106"), "{expected:?}");
        let later = copy(103..=119, 1, Some(105));
        assert_eq!(found(&whole, &later), expected);
        assert_eq!(found(&later, &whole).2, expected.2, "in the other order");
        assert_eq!(found(&copy(103..=119, 1, None), &copy(100..=119, 1, Some(105))), expected);
    }

    /// A file may begin with any number. In builds that look for overflow it was a panic.
    #[test]
    fn a_replay_that_begins_at_the_last_turn_there_can_be_is_compared() {
        let first = u32::MAX - 1;
        let [whole, damaged] = [None, Some(first)].map(|damaged| copy(first..=u32::MAX, 2, damaged));
        let found = compare(SETUP, &whole, &damaged).unwrap();
        assert_eq!((found.first_divergent_turn, found.outlier), (Some(first), Some("B")));
    }

    /// "It has no later keyframe" was said of a file of which nobody knew that it was the damaged one.
    #[test]
    fn whoever_has_no_outlier_is_not_told_of_its_keyframes() {
        let found = compare(SETUP, &copy(100..=109, 1, Some(104)), &copy(100..=109, 1, Some(105))).unwrap();
        assert_eq!(found.outlier, Some("A"));
        let unknown = ReplayComparison { outlier: Some("unknown"), difference: None, ..found };
        assert!(!unknown.in_words().contains("later"), "{}", unknown.in_words());
    }
}
