//! `headless`, and the default command without a display.

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Topology};

use crate::app::{Checks, Fault, Pilot, Recording, SimulatedMatch, Terms, play};
use crate::cli::args::{CorruptArgs, HeadlessArgs, MatchArgs, NetworkArgs};
use crate::cli::report::Report;
use crate::cli::value::{TeamsArg, TopologyArg};
use crate::cli::{Failed, check_files, check_report, print, save_difference, told};
use testudo_battle::{Setup, Teams};

/// Default length of a match.
const TURNS: u32 = 300;

/// Length of a frame, ms.
const FRAME_MS: u32 = 50;

/// Delay of a packet that later ones overtake: two frames.
const REORDER_HOLD: Duration = Duration::from_millis(100);

pub(crate) fn headless(options: &HeadlessArgs, json: bool) -> Result<bool, Failed> {
    if options.spectators > 0 && options.topology == TopologyArg::Mesh {
        return Err(Failed::usage("--spectators needs a star: nobody watches a mesh"));
    }
    let (report, recorded) = (options.report.as_deref(), options.replay.as_deref());
    let fault = fault(&options.corrupt, &options.game)?;
    let damaged = damaged_replay(recorded, fault.as_ref());
    let damaged_path = damaged.as_ref().map(|(_, path)| path.as_path());
    check_files(&[
        ("--report", report),
        ("--replay", recorded),
        ("the damaged client's replay", damaged_path),
    ])?;
    check_report(report)?;
    let spec = SimulatedMatch {
        terms: terms(&options.game),
        link: link_settings(&options.link),
        topology: match options.topology {
            TopologyArg::Star => Topology::Host,
            TopologyArg::Mesh => Topology::Mesh,
        },
        pace: options.pace.into(),
        fault,
        pilots: pilots(&options.bot, options.game.players)?,
        teams: teams(options.teams, options.game.players)?,
        spectators: options.spectators,
        checks: Checks {
            is_heavy: options.heavy,
            prediction: (options.prediction > 0).then(|| options.prediction.div_ceil(FRAME_MS)),
        },
    };
    let outcome = run(&spec, recordings(recorded, damaged, &spec.terms)?)?;
    print(&outcome, json, &format!("played over {}", in_words(&options.link)));
    save_difference(&outcome, report, recorded);
    told(&outcome)
}

/// The teams of all players, or none.
pub(crate) fn teams(given: Option<TeamsArg>, players: u8) -> Result<Teams, Failed> {
    let Some(TeamsArg { teams, count }) = given else { return Ok(Teams::default()) };
    if count != usize::from(players) {
        return Err(Failed::usage(format!("--teams names {count} players, but the match has {players}")));
    }
    if teams.are_any() && teams.sides(players) < 2 {
        return Err(Failed::usage("--teams puts everybody into one team: nobody is left to fight"));
    }
    Ok(teams)
}

/// The levels as given, and the last one for everybody after it.
fn pilots(given: &[Pilot], players: u8) -> Result<Vec<Pilot>, Failed> {
    if given.len() > usize::from(players) {
        let count = given.len();
        return Err(Failed::usage(format!("--bot names {count} players, but the match has {players}")));
    }
    let last = given.last().copied().unwrap_or(Pilot::Person);
    let given = given.iter().copied().chain(core::iter::repeat(last));
    Ok(given.take(players.into()).collect())
}

/// The player of the damaged client and the file of its replay, which has the player's number at the end of its name. That of player 0 is recorded anyway.
fn damaged_replay(recorded: Option<&Path>, fault: Option<&Fault>) -> Option<(u8, PathBuf)> {
    let player = fault.map(|fault| fault.player).filter(|player| *player != 0)?;
    let mut beside = recorded?.as_os_str().to_owned();
    beside.push(format!(".p{player}"));
    Some((player, beside.into()))
}

/// The replay of player 0's client, and that of the damaged client.
fn recordings(
    recorded: Option<&Path>,
    damaged: Option<(u8, PathBuf)>,
    terms: &Terms,
) -> Result<Vec<(u8, Recording)>, Failed> {
    let files = recorded.map(|path| (0, path.to_owned())).into_iter().chain(damaged);
    files.map(|(player, path)| Ok((player, Recording::create(&path, terms)?))).collect()
}

/// Plays with a progress bar on standard error.
pub(crate) fn run(spec: &SimulatedMatch, recordings: Vec<(u8, Recording)>) -> Result<Report, Failed> {
    let bar = progress_bar("turn", spec.terms.turns.into());
    let outcome = play(spec, recordings, |turn| bar.set_position(turn.into()));
    bar.finish_and_clear();
    Ok(Report::new(&outcome?))
}

/// A bar on standard error; none if that is not a terminal.
pub(crate) fn progress_bar(what: &'static str, length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length).with_prefix(what);
    measure(&bar);
    bar
}

/// Lets a bar count, if its length is known; "turn 0/0" would be no measure.
pub(crate) fn measure(bar: &ProgressBar) {
    let is_known = bar.length().is_some_and(|length| length > 0);
    let form = if is_known { "{prefix} {pos}/{len} [{bar:40}] {msg}" } else { "{msg}" };
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(style.progress_chars("=> "));
    }
}

pub(crate) fn terms(game: &MatchArgs) -> Terms {
    let MatchArgs { players, units, turns, seed, map } = *game;
    let setup = Setup { players, units, seed, map: map.0 };
    Terms { setup, turns: turns.unwrap_or(TURNS) }
}

pub(crate) fn link_settings(link: &NetworkArgs) -> LinkConfig {
    LinkConfig::new()
        .latency(Duration::from_millis(link.latency_ms))
        .jitter(Duration::from_millis(link.jitter_ms))
        .loss_ppm(link.loss)
        .duplicate_ppm(link.duplicate)
        .reorder_ppm(link.reorder)
        .reorder_hold(REORDER_HOLD)
}

pub(crate) fn in_words(link: &NetworkArgs) -> String {
    let percent = |ppm: u32| f64::from(ppm) / 10_000.0;
    let mut parts = Vec::new();
    if link.latency_ms + link.jitter_ms > 0 {
        parts.push(match link.jitter_ms {
            0 => format!("{} ms latency", link.latency_ms),
            jitter => format!("{} to {} ms latency", link.latency_ms, link.latency_ms + jitter),
        });
    }
    for (ppm, what) in [(link.loss, "lost"), (link.duplicate, "doubled"), (link.reorder, "overtaken")] {
        if ppm > 0 {
            parts.push(format!("{} % of packets {what}", percent(ppm)));
        }
    }
    if parts.is_empty() {
        "a perfect simulated link".into()
    } else {
        format!("a simulated link: {}", parts.join(", "))
    }
}

/// The fault that the options describe. The parser accepts all five options or none.
fn fault(corrupt: &CorruptArgs, game: &MatchArgs) -> Result<Option<Fault>, Failed> {
    let &CorruptArgs {
        corrupt_turn: Some(turn),
        corrupt_player: Some(player),
        corrupt_body: Some(slot),
        corrupt_field: Some(field),
        corrupt_bit: Some(bit),
    } = corrupt
    else {
        return Ok(None);
    };
    let limits = [
        ("--corrupt-turn", turn, terms(game).turns),
        ("--corrupt-player", u32::from(player), u32::from(game.players)),
    ];
    for (name, value, end) in limits {
        if value >= end {
            return Err(Failed::usage(format!("{name} is {value}, but the match has 0 to {}", end - 1)));
        }
    }
    if game.players < 2 {
        return Err(Failed::usage("a single client cannot differ from another one: use --players 2 or more"));
    }
    Ok(Some(Fault { turn, player, slot, field, bit }))
}
