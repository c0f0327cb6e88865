//! `desync`: where two replays of one match diverge.

use std::path::Path;

use serde::Serialize;
use testudo_lockstep::replay::{Replay, ReplayPlayer};
use testudo_lockstep::state;

use crate::app::{MatchError, open_replay};
use crate::cli::args::DesyncArgs;
use crate::cli::{Failed, print_json};
use crate::console::out;
use testudo_battle::{Game, Setup};

/// The comparison of two replays of one match.
#[derive(Debug, Serialize)]
struct ReplayComparison {
    /// Turns that both replays have.
    turns: u32,
    agree: bool,
    first_divergent_turn: Option<u32>,
    /// The checksum that each replay recorded after that turn, and the one that the same orders give here.
    checksums: Option<[String; 3]>,
    /// The replay whose checksum cannot be reproduced: "A", "B", or "unknown".
    outlier: Option<&'static str>,
    /// The first number that differs, if the outlier's state is known: right after that turn if the outlier noticed the desync, otherwise
    /// at its next keyframe.
    difference: Option<DifferingNumber>,
}

/// The first number in which two states differ.
#[derive(Debug, Serialize)]
struct DifferingNumber {
    /// The states before this turn are compared.
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
            "the two replays are not of the same match: players, units or seed differ",
        ));
    }
    let comparison = compare(setup, &a, &b)?;
    if json {
        print_json(&comparison);
    } else {
        out!("{}", comparison.in_words());
    }
    Ok(comparison.agree)
}

fn open(path: &Path) -> Result<(Replay, Setup), Failed> {
    let (replay, terms) = open_replay(path)?;
    Ok((replay, terms.setup))
}

fn compare(setup: Setup, a: &Replay, b: &Replay) -> Result<ReplayComparison, Failed> {
    let turns = a.turns().min(b.turns());
    let recorded = |replay: &Replay, turn| replay.turn(turn).and_then(|(_, checksum)| checksum).unwrap_or(0);
    let Some(turn) = (0..turns).find(|turn| recorded(a, *turn) != recorded(b, *turn)) else {
        return Ok(ReplayComparison {
            turns,
            agree: true,
            first_divergent_turn: None,
            checksums: None,
            outlier: None,
            difference: None,
        });
    };
    let mut player = play(setup, a, turn + 1)?;
    let found = player.simulation().checksum();
    let sums = [recorded(a, turn), recorded(b, turn), found];
    let (outlier, broken) = match (sums[0] == found, sums[1] == found) {
        (true, false) => ("B", Some(b)),
        (false, true) => ("A", Some(a)),
        _ => ("unknown", None),
    };
    let difference = broken.and_then(|broken| difference(setup, broken, turn + 1, &mut player));
    Ok(ReplayComparison {
        turns,
        agree: false,
        first_divergent_turn: Some(turn),
        checksums: Some(sums.map(|sum| format!("{sum:016x}"))),
        outlier: Some(outlier),
        difference,
    })
}

/// Plays the orders of a replay from the first turn up to this one.
fn play(setup: Setup, replay: &Replay, to: u32) -> Result<ReplayPlayer<Game>, Failed> {
    let game = Game::new(setup).map_err(MatchError::from)?;
    let mut player = ReplayPlayer::new(replay.clone(), game);
    while player.turn() < to && player.step_turn() {}
    Ok(player)
}

/// Compares a damaged copy after the divergence, as early as its file has the state, with the state that the sound copy's orders lead to.
fn difference(
    setup: Setup,
    broken: &Replay,
    from: u32,
    whole: &mut ReplayPlayer<Game>,
) -> Option<DifferingNumber> {
    let evidence = broken.evidence().filter(|(turn, _)| *turn == from);
    let (at_turn, state) =
        evidence.or_else(|| (from..=broken.turns()).find_map(|turn| Some((turn, broken.keyframe(turn)?))))?;
    while whole.turn() < at_turn && whole.step_turn() {}
    let mut here = Game::new(setup).ok()?;
    state::load(&mut here, state).ok()?;
    let mut there = whole.simulation().clone();
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
        at_turn,
        kind: leaf.kind,
        index: leaf.index,
        field: leaf.name,
        values: [first.here.map(|leaf| leaf.value), first.there.map(|leaf| leaf.value)],
        differing_numbers,
    })
}

impl ReplayComparison {
    fn in_words(&self) -> String {
        let (Some(turn), Some([a, b, here])) = (self.first_divergent_turn, &self.checksums) else {
            return format!("A and B agree in all {} turns that both have\n", self.turns);
        };
        let mut text = format!(
            "first difference   after turn {turn}\nchecksum in A      {a}\nchecksum in B      {b}\nplayed again here  {here}\n"
        );
        text.push_str(&match self.outlier {
            Some("unknown") | None => {
                "outlier            unknown: the orders lead to neither checksum\n".to_owned()
            }
            Some(name) => format!("outlier            {name}: the same orders lead to the other checksum\n"),
        });
        match &self.difference {
            None => text.push_str("                   it has no later keyframe to compare\n"),
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
