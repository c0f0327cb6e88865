//! The report of a match: the JSON object, and the summary for people.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::app::watch::outcome::{ClientOutcome, Doubts, Simulated};
use crate::app::words::count;
use crate::app::{Desync, Diagnosis, Outcome};

/// The keys of `--json`. Keys that do not apply to a command are left out.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    players: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<u8>,
    units: u32,
    turns: u32,
    frames: u32,
    seed: u64,
    final_checksum: String,
    pub(crate) checksums_agree: bool,
    first_divergent_turn: Option<u32>,
    client_checksums: Vec<String>,
    client_steps: Vec<u32>,
    /// Frames in which a client waited, over all clients in this process.
    stalled_frames: u64,
    /// Their share of all frames, simulated or waited.
    stalled_fraction: f64,
    turn_ms_mean: f64,
    #[serde(flatten)]
    traffic: Traffic,
    step_ms_median: f64,
    step_ms_p99: f64,
    bodies: u32,
    contacts_mean: f64,
    kills: Vec<u32>,
    /// The player who has won, or the one with the lowest number of the team that has; null if nobody has won yet.
    winner: Option<u8>,
    /// The team of each player, if there are any; 0: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    teams: Option<Vec<u8>>,
    /// The team that has won.
    #[serde(skip_serializing_if = "Option::is_none")]
    winning_team: Option<u8>,
    /// How often a player was lost, and how often one came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    players_lost: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    players_back: Option<u32>,
    #[serde(flatten)]
    checks: Checks,
    /// Why the match ended before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The file from which it can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    save: Option<String>,
    #[serde(skip)]
    replay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    desync: Option<DesyncReport>,
    /// Players whose copies are wrong, as most players have signed another state.
    #[serde(skip_serializing_if = "Option::is_none")]
    outliers: Option<Vec<u8>>,
    /// Players who have sent no checksum of some turn, so that their copies were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    checksums_missing: Option<Vec<u8>>,
    /// Players that sent nothing signed for some time.
    #[serde(skip_serializing_if = "Option::is_none")]
    statements_missing: Option<Vec<u8>>,
    /// Everybody's folded checksums in the first turn in which they differed.
    #[serde(skip)]
    values: Vec<(u8, u64)>,
    /// Why no number is named.
    #[serde(skip)]
    unknown: Option<&'static str>,
}

/// What was sent, and what arrived.
#[derive(Debug, Serialize)]
struct Traffic {
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_fraction: Option<f64>,
    /// The mean over all players but the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second_per_player: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_bytes_per_second: Option<f64>,
}

/// What was compared besides the players' copies, where that was asked for.
#[derive(Debug, Serialize)]
struct Checks {
    /// How many watched: their clients are the last ones of `client_checksums` and `client_steps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    spectators: Option<usize>,
    /// Frames that came to the same when they were simulated from the saved state.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames_restored: Option<u32>,
    /// Of all players: turns that ran as they were first predicted, those that did not, and corrections of a prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_turns_right: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_turns_wrong: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction_corrections: Option<u64>,
}

impl Checks {
    fn new(outcome: &Outcome) -> Self {
        let spectators = outcome.clients.iter().filter(|client| client.watches).count();
        let Simulated { frames_restored, predicted, .. } = outcome.simulated;
        Self {
            spectators: (spectators > 0).then_some(spectators),
            frames_restored,
            predicted_turns_right: predicted.map(|predicted| predicted.turns_right),
            predicted_turns_wrong: predicted.map(|predicted| predicted.turns_wrong),
            prediction_corrections: predicted.map(|predicted| predicted.corrections),
        }
    }

    /// Name and text of a line for each check.
    fn lines(&self) -> impl Iterator<Item = (&'static str, String)> {
        let restored = self.frames_restored.map(|frames| {
            (
                "restored",
                format!("{}, each of them came to the same from the saved state", count(frames, "frame")),
            )
        });
        let predicted = self.predicted_turns_right.zip(self.predicted_turns_wrong).map(|(right, wrong)| {
            let turns = count(right + wrong, "predicted turn");
            ("predicted", format!("{turns}, {wrong} of them ran otherwise, and the predictions followed"))
        });
        restored.into_iter().chain(predicted)
    }
}

#[derive(Debug, Serialize)]
struct DesyncReport {
    turn: u32,
    frame: u32,
    body: Option<u32>,
    /// The object that the number belongs to: "body 5", "unit 3".
    object: Option<String>,
    field: Option<&'static str>,
    values: Vec<Option<i128>>,
    outlier: Option<u8>,
    /// How whose copy is wrong is known, and what is known.
    #[serde(skip)]
    verdict: Option<String>,
    /// Whether the orders lead to this process's copy again. If not, memory was damaged, or the rules read something outside of their
    /// state.
    #[serde(skip_serializing_if = "Option::is_none")]
    reproducible_here: Option<bool>,
}

/// What people are told besides the result.
fn trouble(outcome: &Outcome) -> Option<String> {
    let unkept = || outcome.unkept.as_ref().map(|why| format!("the replay is not whole: {why}"));
    outcome.end.trouble().map(str::to_owned).or_else(unkept)
}

impl Report {
    pub(crate) fn new(outcome: &Outcome) -> Self {
        let setup = outcome.terms.setup;
        let clients = &outcome.clients;
        let checksums: Vec<u64> = clients.iter().map(|client| client.checksum).collect();
        let seconds = outcome.timed.duration.as_micros() as f64 / 1e6;
        let per_second = |bytes: u64| if seconds > 0.0 { bytes as f64 / seconds } else { 0.0 };
        let played = || clients.iter().filter(|client| !client.watches);
        let stalled: u64 = played().map(|client| client.stalled_frames).sum();
        let simulated: u64 = played().map(|client| u64::from(client.steps)).sum();
        let (host, guests): (Vec<&ClientOutcome>, Vec<_>) = played().partition(|client| client.forwards);
        let sent: u64 = guests.iter().map(|client| client.bytes_sent).sum();
        let (step_ms_median, step_ms_p99) = percentiles_ms(&outcome.step_nanos);
        let doubts = outcome.doubts.as_ref();
        Self {
            players: setup.players,
            player: outcome.player,
            units: setup.units,
            turns: outcome.terms.turns,
            frames: outcome.frames.unwrap_or_else(|| clients.first().map_or(0, |client| client.steps)),
            seed: setup.seed,
            final_checksum: checksums.first().map_or(String::new(), |&checksum| hex(checksum)),
            checksums_agree: outcome.agrees(),
            first_divergent_turn: outcome.divergent_turn,
            client_checksums: checksums.iter().map(|&checksum| hex(checksum)).collect(),
            client_steps: clients.iter().map(|client| client.steps).collect(),
            stalled_frames: stalled,
            stalled_fraction: stalled as f64 / (stalled + simulated).max(1) as f64,
            turn_ms_mean: seconds * 1e3 / f64::from(outcome.timed.turns),
            traffic: Traffic {
                delivered_fraction: outcome
                    .simulated
                    .packets
                    .map(|(sent, lost)| if sent == 0 { 1.0 } else { (sent - lost) as f64 / sent as f64 }),
                bytes_per_second_per_player: (!guests.is_empty() || setup.players == 1)
                    .then(|| per_second(sent) / guests.len().max(1) as f64),
                host_bytes_per_second: host.first().map(|host| per_second(host.bytes_sent)),
            },
            step_ms_median,
            step_ms_p99,
            bodies: outcome.bodies,
            contacts_mean: outcome.contacts_mean,
            kills: outcome.kills.clone(),
            winner: outcome.winner,
            teams: outcome.teams.clone(),
            winning_team: winning_team(outcome),
            players_lost: outcome.players_lost.map(|(lost, _)| lost),
            players_back: outcome.players_lost.map(|(_, back)| back),
            checks: Checks::new(outcome),
            error: trouble(outcome),
            save: shown(outcome.save.as_deref()),
            replay: shown(outcome.replay.as_deref()),
            desync: desync_report(outcome),
            outliers: doubts.map(|doubts| doubts.outliers.clone()),
            checksums_missing: doubts.map(|doubts| doubts.silent.clone()),
            statements_missing: doubts.map(|doubts| doubts.unsigned.clone()),
            values: values(doubts),
            unknown: doubts.and_then(|doubts| doubts.diagnosis.as_ref()?.why_unknown()),
        }
    }

    /// What to do with a match that ended early, as the end of a sentence.
    pub(crate) fn how_to_resume(&self) -> String {
        match &self.save {
            Some(file) => format!("; it can go on: testudo host --resume {file}"),
            None => String::new(),
        }
    }

    /// A few lines for people who have not read the code. `network` describes the network of the match.
    pub(crate) fn summary(&self, network: &str) -> String {
        let mut out = String::new();
        let seconds = f64::from(self.turns) * self.turn_ms_mean / 1e3;
        let line = |out: &mut String, name: &str, text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  {name:<11}{text}");
        };
        let _ = writeln!(out, "Match over, {network}.");
        let units = u64::from(self.players) * u64::from(self.units);
        let armies = count(self.players, "army");
        line(
            &mut out,
            "battle",
            format!(
                "{armies}, {} at the start; {}; {}",
                count(units, "unit"),
                beaten(&self.kills),
                self.won()
            ),
        );
        line(
            &mut out,
            "length",
            format!(
                "{}, {}, {seconds:.1} s of game time",
                count(self.turns, "turn"),
                count(self.frames, "frame")
            ),
        );
        line(&mut out, "checksums", self.agreement());
        if self.first_divergent_turn.is_some() {
            line(&mut out, "diagnosis", self.found());
            line(&mut out, "broken", self.broken());
        }
        line(
            &mut out,
            "stalls",
            match self.stalled_frames {
                0 => "none: every turn's orders arrived in time".into(),
                frames => format!(
                    "{} ({:.1} %) in which a player waited for orders",
                    count(frames, "frame"),
                    self.stalled_fraction * 100.0
                ),
            },
        );
        line(&mut out, "traffic", self.sent());
        self.checks.lines().for_each(|(name, text)| line(&mut out, name, text));
        line(
            &mut out,
            "step",
            format!(
                "{:.2} ms for a frame of {} bodies ({:.2} ms at the 99th percentile); real time needs less than 50",
                self.step_ms_median, self.bodies, self.step_ms_p99
            ),
        );
        self.replay.iter().for_each(|file| line(&mut out, "replay", format!("testudo replay {file}")));
        out
    }

    /// If copies differ, writes a report for people, with the JSON object at its end. The part above "this program" is the same in the reports
    /// of both sides. `replay`: the replay of the match, if one was written.
    pub(crate) fn save_difference(&self, path: &Path, replay: Option<&Path>) -> std::io::Result<()> {
        let Some(turn) = self.first_divergent_turn else { return Ok(()) };
        let values: Vec<String> =
            self.values.iter().map(|(player, value)| format!("player {} {value:08x}", player + 1)).collect();
        let sums = if values.is_empty() { &self.client_checksums } else { &values };
        let mut text = format!(
            "Copies of one match differ from turn {turn} on\n\n  battle     {} of {}, seed {}\n  checksums  {}\n",
            count(self.players, "army"),
            count(self.units, "unit"),
            self.seed,
            sums.join(", ")
        );
        let _ = writeln!(text, "  found      {}", self.found());
        let _ = writeln!(text, "  broken     {}", self.broken());
        let _ = writeln!(text, "\nthis program\n\n  at the end {}", self.client_checksums.join(", "));
        if let Some(reproducible) = self.desync.as_ref().and_then(|desync| desync.reproducible_here) {
            let told = if reproducible {
                "yes: the orders lead to this copy's state again; the rules or their inputs differ between the machines"
            } else {
                "no: the orders lead to another state; this copy's memory was damaged, or the rules read something outside of their state"
            };
            let _ = writeln!(text, "  again      {told}");
        }
        if let Some(replay) = replay {
            let file = replay.display();
            let _ = writeln!(
                text,
                "  next       testudo verify {file}   (do the orders lead to the recorded states?)"
            );
        }
        let json = serde_json::to_string_pretty(self)?;
        let _ = writeln!(text, "\ndocs/debugging-a-desync.md explains this report.\n\n{json}");
        std::fs::write(path, text)
    }

    /// The number that differs, or why none is named.
    fn found(&self) -> String {
        let unknown = || format!("unknown: {}", self.unknown.unwrap_or("no number of the state differs"));
        self.desync.as_ref().map_or_else(unknown, DesyncReport::sentence)
    }

    /// Whose copy is wrong.
    fn broken(&self) -> String {
        let verdict = self.desync.as_ref().and_then(|desync| desync.verdict.clone());
        let signed = self.outliers.as_deref().unwrap_or_default();
        match (signed, verdict) {
            ([], Some(verdict)) => verdict,
            ([], None) if self.outliers.is_none() => {
                "unknown: there is no majority among the compared copies".into()
            }
            ([], None) => "unknown: no majority of the players has signed one state".into(),
            (players, _) => format!("{}, as most players have signed another state", whose(players)),
        }
    }

    /// The winner as text.
    fn won(&self) -> String {
        match (self.winner, self.winning_team) {
            (_, Some(team)) => format!("team {team} has won"),
            (Some(player), None) => format!("player {} has won", player + 1),
            (None, None) => "nobody has won yet".into(),
        }
    }

    fn agreement(&self) -> String {
        let clients = self.client_checksums.len();
        match self.first_divergent_turn {
            Some(turn) => format!("DIFFERENT from turn {turn} on: {}", self.client_checksums.join(", ")),
            None if self.outliers.as_ref().is_some_and(|players| !players.is_empty()) => {
                format!("DIFFERENT: {} {}", self.client_checksums.join(", "), self.broken())
            }
            None if let Some(players) =
                self.checksums_missing.as_ref().filter(|players| !players.is_empty()) =>
            {
                let whose = whose(players);
                format!("{}; NOT COMPARED with {whose}: checksums are missing", self.final_checksum)
            }
            None if !self.checksums_agree => format!("DIFFERENT: {}", self.client_checksums.join(", ")),
            None if clients == 1 && self.player.is_some() && self.players > 1 => {
                format!("{}; equal to the other players' in every turn", self.final_checksum)
            }
            None if clients == 1 => self.final_checksum.clone(),
            None => format!("{}; all {clients} clients agreed in every turn", self.final_checksum),
        }
    }

    fn sent(&self) -> String {
        let Traffic { host_bytes_per_second: host, bytes_per_second_per_player: guests, .. } = self.traffic;
        let host = host.map(|rate| format!("{rate:.0} bytes/s sent by the host"));
        let guests = guests.map(|rate| match self.player {
            Some(_) => format!("{rate:.0} bytes/s sent"),
            None => format!("{rate:.0} bytes/s sent by each player"),
        });
        let parts: Vec<String> = guests.into_iter().chain(host).collect();
        format!("{}; orders only, so more units cost nothing", parts.join(", "))
    }
}

fn values(doubts: Option<&Doubts>) -> Vec<(u8, u64)> {
    let values = doubts.into_iter().flat_map(|doubts| &doubts.values);
    values.map(|(player, value)| (player.0, *value)).collect()
}

fn shown(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}

fn winning_team(outcome: &Outcome) -> Option<u8> {
    let team = *outcome.teams.as_ref()?.get(usize::from(outcome.winner?))?;
    (team > 0).then_some(team)
}

/// From copies in this process, or from the other side's answers.
fn desync_report(outcome: &Outcome) -> Option<DesyncReport> {
    let diagnosis = outcome.doubts.as_ref().and_then(|doubts| doubts.diagnosis.as_ref());
    match (&outcome.desync, diagnosis) {
        (Some(desync), _) => Some(DesyncReport::new(desync)),
        (None, Some(Diagnosis::Found { desync, is_reproduced, .. })) => {
            Some(DesyncReport { reproducible_here: *is_reproduced, ..DesyncReport::new(desync) })
        }
        _ => None,
    }
}

/// "player 1's and player 3's".
fn whose(players: &[u8]) -> String {
    let names: Vec<String> = players.iter().map(|player| format!("player {}'s", player + 1)).collect();
    names.join(" and ")
}

impl DesyncReport {
    fn new(desync: &Desync) -> Self {
        let number = desync.number.as_ref();
        Self {
            turn: desync.turn,
            frame: desync.frame,
            body: desync.body(),
            object: number.map(|number| format!("{} {}", number.kind, number.index)),
            field: number.map(|number| number.field),
            values: number.map(|number| number.values.clone()).unwrap_or_default(),
            outlier: desync.outlier,
            verdict: desync.verdict().map(|(how, what)| format!("{how} {what}")),
            reproducible_here: None,
        }
    }

    fn sentence(&self) -> String {
        let who = self.outlier.map_or(String::new(), |player| format!(" in player {}'s copy", player + 1));
        let (Some(object), Some(field)) = (&self.object, self.field) else {
            return format!(
                "frame {}: the checksums differ{who}, but no number of the state does",
                self.frame
            );
        };
        let value = |value: &Option<i128>| value.map_or("nothing".into(), |value| value.to_string());
        let values: Vec<String> = self.values.iter().map(value).collect();
        format!("frame {}: {field} of {object} differs{who}: {}", self.frame, values.join(", "))
    }
}

fn beaten(kills: &[u32]) -> String {
    match kills {
        [_] => "no opponent".into(),
        _ => {
            let counts: Vec<String> = kills.iter().map(u32::to_string).collect();
            format!("kills by player: {}", counts.join(", "))
        }
    }
}

fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// Median and 99th percentile (nearest rank) in milliseconds.
fn percentiles_ms(nanos: &[u32]) -> (f64, f64) {
    let mut sorted = nanos.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map_or(0.0, |&nanos| f64::from(nanos) / 1e6)
    };
    (at(50), at(99))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(doubts: Doubts) -> Outcome {
        let setup = testudo_battle::Setup { players: 4, units: 5, seed: 1, map: None };
        let terms = crate::app::Terms { setup, turns: 9 };
        let mut outcome = Outcome::new(terms, &[], testudo_lockstep::Duration::from_secs(1));
        let client = ClientOutcome {
            forwards: true,
            watches: false,
            checksum: 7,
            steps: 36,
            stalled_frames: 0,
            bytes_sent: 0,
        };
        outcome.clients = vec![client];
        (outcome.player, outcome.doubts) = (Some(0), Some(doubts));
        outcome
    }

    #[test]
    fn whose_copy_was_not_compared_does_not_count_as_equal() {
        let told = |doubts| {
            let report = Report::new(&outcome(doubts));
            (report.checksums_agree, report.summary("hosted"))
        };
        let (agree, text) = told(Doubts::default());
        assert!(agree && text.contains("equal to the other players'"), "{text}");
        let (agree, text) = told(Doubts { silent: vec![2], ..Doubts::default() });
        assert!(!agree && text.contains("NOT COMPARED with player 3's"), "{text}");
        let (agree, text) = told(Doubts { outliers: vec![1, 3], ..Doubts::default() });
        assert!(!agree && text.contains("player 2's and player 4's"), "{text}");
        // Whoever forwards may withhold signatures; the checksums are there.
        assert!(told(Doubts { unsigned: vec![2], ..Doubts::default() }).0);
    }

    /// Three of four had signed the same state, and the report said that there was no majority.
    #[test]
    fn a_majority_that_has_signed_names_whose_copy_is_broken() {
        let diagnosis = Some(Diagnosis::Relayed);
        let mut four = outcome(Doubts { outliers: vec![2], diagnosis, ..Doubts::default() });
        four.divergent_turn = Some(5);
        let text = Report::new(&four).summary("relayed");
        assert!(text.contains("player 3's, as most players have signed another state"), "{text}");
        assert!(text.contains("a relay has no copy"), "{text}");
        four.doubts = Some(Doubts::default());
        let text = Report::new(&four).summary("relayed");
        assert!(text.contains("no majority of the players has signed one state"), "{text}");
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred: Vec<u32> = (1..=100).rev().map(|n| n * 1_000_000).collect();
        assert_eq!(percentiles_ms(&hundred), (50.0, 99.0));
        assert_eq!(percentiles_ms(&[3_000_000]), (3.0, 3.0));
        assert_eq!(percentiles_ms(&[]), (0.0, 0.0));
    }
}
