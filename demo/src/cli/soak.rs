//! `soak`: many random matches, and their results.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde::Serialize;
use testudo_lockstep::Topology;
use testudo_lockstep::testing::soak::{Faults, Finding, Plan, SoakReport as GameReport};

use crate::app::{SoakOutcome, soak};
use crate::cli::Failed;
use crate::cli::args::SoakArgs;
use crate::cli::headless::progress_bar;
use crate::console::{errln, out};

/// The keys of `--json`.
#[derive(Debug, Default, Serialize)]
struct SoakReport {
    games: u64,
    turns_total: u64,
    contacts_total: u64,
    faults: FaultCounts,
    mismatches: u64,
    stalls_unrecovered: u64,
    drops_agreed: u64,
    rejoins: u64,
    simulated_seconds: f64,
    wall_seconds: f64,
    failing_seeds: Vec<u64>,
    processor_seconds: f64,
    speed: Vec<Class>,
    #[serde(skip)]
    compared: u64,
    #[serde(skip)]
    orders: u64,
    #[serde(skip)]
    stalled_frames: u64,
}

/// Counts packets, except that partitions, drops, rejoins and pauses count once each.
#[derive(Debug, Default, Serialize)]
struct FaultCounts {
    loss: u64,
    duplicate: u64,
    reorder: u64,
    partition: u64,
    corruption: u64,
    drop: u64,
    rejoin: u64,
    rejoins: u64,
    pause: u64,
    late_joins: u64,
    watchers: u64,
}

/// Games of one kind, and their speed relative to real time.
#[derive(Debug, Serialize)]
struct Class {
    /// star, relay or mesh.
    links: &'static str,
    /// A number, or a range.
    players: &'static str,
    games: u64,
    turns: u64,
    /// Virtual time from the first packet to the survivors' last turn, counted once per game, however many clients simulate it.
    simulated_seconds: f64,
    /// Processor time of the threads that played the games: all clients, network and checks.
    processor_seconds: f64,
    /// Simulated seconds per processor second, that is, on one core.
    times_real_time: f64,
}

pub(crate) fn run_soak(options: &SoakArgs, json: bool) -> Result<bool, Failed> {
    let bar = progress_bar("game", options.games);
    let outcome = soak(options.games, options.seed, options.prediction, |game| {
        bar.suspend(|| explain(game, options.prediction));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let outcome =
        outcome.map_err(|error| Failed { code: 1, sentence: format!("a game did not begin: {error:?}") })?;
    let report = SoakReport::new(&outcome);
    if json {
        super::print_json(&report);
    } else {
        out!("{}{}", report.summary(), report.speeds(outcome.threads));
    }
    Ok(report.failing_seeds.is_empty())
}

/// Prints on standard error what a game did wrong, and how to play it alone.
fn explain(game: &GameReport, predicts: bool) {
    if game.findings.is_empty() {
        return;
    }
    let again = alone(game.seed, predicts);
    errln!("seed {} failed; to play it alone: {again} (here players are counted from 0)", game.seed);
    for finding in &game.findings {
        errln!("  {finding}");
    }
    errln!("  {:?}", Plan::of(game.seed));
    for (number, (name, replay)) in game.replays.iter().enumerate() {
        let path = format!("replays/soak-{}-{number}.replay", game.seed);
        let written = fs::create_dir_all("replays").and_then(|()| fs::write(&path, replay));
        match written {
            Ok(()) => errln!("  replay of {name}: testudo verify {path}"),
            Err(error) => errln!("  {path} cannot be written: {error}"),
        }
    }
}

/// The command that plays the game of a seed again.
fn alone(seed: u64, predicts: bool) -> String {
    let prediction = if predicts { " --prediction" } else { "" };
    format!("testudo soak --games 1 --seed {seed}{prediction}")
}

impl SoakReport {
    fn new(outcome: &SoakOutcome) -> Self {
        let speed = classes(outcome);
        let processor_seconds = speed.iter().map(|class| class.processor_seconds).sum();
        let wall_seconds = seconds(outcome.wall_micros);
        let mut report = Self { wall_seconds, processor_seconds, speed, ..Self::default() };
        let mut simulated_micros = 0;
        for game in outcome.games.iter().map(|game| &game.report) {
            let count = |kind: fn(&Finding) -> bool| game.findings.iter().filter(|f| kind(f)).count() as u64;
            let unagreed = count(|finding| matches!(finding, Finding::Mismatch(_)));
            report.games += 1;
            report.turns_total += u64::from(game.turns);
            report.contacts_total += game.events;
            report.faults.add(&game.faults);
            report.mismatches += unagreed;
            report.stalls_unrecovered += count(|finding| matches!(finding, Finding::Unrecovered(_)));
            report.drops_agreed += if unagreed == 0 { game.faults.drop } else { 0 };
            report.rejoins += game.faults.rejoin;
            report.compared += game.compared;
            report.orders += game.orders;
            report.stalled_frames += game.stalled_frames;
            simulated_micros += game.simulated.as_micros();
            if !game.findings.is_empty() {
                report.failing_seeds.push(game.seed);
            }
        }
        report.simulated_seconds = seconds(simulated_micros);
        report
    }

    fn summary(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  {name:<12}{text}");
        };
        let failures = match self.failing_seeds.len() {
            0 => "none: every client of every game ran the same turns and the same orders".into(),
            _ => format!(
                "{} mismatches, {} clients that did not finish; seeds {:?}",
                self.mismatches, self.stalls_unrecovered, self.failing_seeds
            ),
        };
        let faults = &self.faults;
        line(
            "games",
            format!("{} ({} turns, {} contacts began)", self.games, self.turns_total, self.contacts_total),
        );
        line("failures", failures);
        line("checked", format!("{} checksums of turns, {} orders", self.compared, self.orders));
        line(
            "packets",
            format!(
                "{} lost, {} doubled, {} overtaken, {} damaged",
                faults.loss, faults.duplicate, faults.reorder, faults.corruption
            ),
        );
        line(
            "match",
            format!(
                "{} partitions, {} players dropped, {} pauses, {} frames of waiting",
                faults.partition, faults.drop, faults.pause, self.stalled_frames
            ),
        );
        line(
            "came later",
            format!(
                "{} players back, {} new players, {} watchers",
                faults.rejoin, faults.late_joins, faults.watchers
            ),
        );
        line(
            "time",
            format!(
                "{:.0} s simulated in {:.1} s: {:.0} times real time",
                self.simulated_seconds,
                self.wall_seconds,
                self.simulated_seconds / self.wall_seconds.max(1e-6)
            ),
        );
        format!("Soak over.\n{out}")
    }

    fn speeds(&self, threads: usize) -> String {
        let mut out =
            String::from("\n  links  players  games   turns  simulated s  processor s  times real time\n");
        for class in &self.speed {
            let Class { links, players, games, turns, simulated_seconds, processor_seconds, times_real_time } =
                class;
            let _ = writeln!(
                out,
                "  {links:<6} {players:<7} {games:>6} {turns:>7}  {simulated_seconds:>11.1}  {processor_seconds:>11.2}  {times_real_time:>15.0}"
            );
        }
        let _ = writeln!(
            out,
            "\n  A game's time is simulated once for all its clients and counts once. Processor: of the thread that plays it, on one core;\n  \
            {threads} played side by side."
        );
        out
    }
}

impl FaultCounts {
    fn add(&mut self, faults: &Faults) {
        self.loss += faults.loss;
        self.duplicate += faults.duplicate;
        self.reorder += faults.reorder;
        self.partition += faults.partition;
        self.corruption += faults.corruption;
        self.drop += faults.drop;
        self.rejoin += faults.rejoin;
        self.rejoins += faults.rejoin;
        self.pause += faults.pause;
        self.late_joins += faults.late_joins;
        self.watchers += faults.watchers;
    }
}

/// Groups games by topology and number of players.
fn classes(outcome: &SoakOutcome) -> Vec<Class> {
    let mut classes: BTreeMap<(&str, u8), Class> = BTreeMap::new();
    for game in &outcome.games {
        let links = match game.report.topology {
            Topology::Host => "star",
            Topology::Relay => "relay",
            Topology::Mesh => "mesh",
        };
        let (order, players) = match game.report.players {
            ..=2 => (2, "2"),
            3 => (3, "3"),
            4 => (4, "4"),
            5..=8 => (5, "5-8"),
            _ => (9, "9-16"),
        };
        let (simulated_seconds, processor_seconds) = (0.0, 0.0);
        let empty = Class {
            links,
            players,
            games: 0,
            turns: 0,
            simulated_seconds,
            processor_seconds,
            times_real_time: 0.0,
        };
        let class = classes.entry((links, order)).or_insert(empty);
        class.games += 1;
        class.turns += u64::from(game.report.turns);
        class.simulated_seconds += seconds(game.report.simulated.as_micros());
        class.processor_seconds += seconds(game.processor_micros);
        class.times_real_time = class.simulated_seconds / class.processor_seconds.max(1e-6);
    }
    classes.into_values().collect()
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What failed with predictions was played again without them.
    #[test]
    fn the_command_for_a_failing_seed_plays_the_same_game() {
        assert_eq!(alone(7, false), "testudo soak --games 1 --seed 7");
        assert_eq!(alone(7, true), "testudo soak --games 1 --seed 7 --prediction");
    }
}
