//! `skirmish`, and the default command: a window, or the same match without one.

use testudo_lockstep::{Pace, Topology};

use crate::app::{
    Checks, MatchError, NetworkMatch, News, Pilot, ReplayFile, SimulatedMatch, SkirmishSpec, TURNS_MAX,
    Terms, maps,
};
use crate::cli::args::{MatchArgs, NetworkArgs, SkirmishArgs};
use crate::cli::headless::{in_words, link_settings, run, terms};
use crate::cli::value::Ground;
use crate::cli::{Failed, network, print, print_json, tell_no_window, window};
use crate::console::outln;
use crate::view;
use testudo_battle::Teams;
use testudo_battle::bots::Level;

/// The match that is played without a command, over an ordinary connection, so that the network's effects are visible.
const SKIRMISH: (MatchArgs, NetworkArgs) = (
    MatchArgs { players: 2, units: 200, turns: None, seed: 1, map: Ground(None) },
    NetworkArgs { latency_ms: 60, jitter_ms: 15, loss: 20_000, duplicate: 0, reorder: 0 },
);

pub(crate) fn skirmish(options: &SkirmishArgs, json: bool) -> Result<bool, Failed> {
    let (mut game, link) = SKIRMISH;
    game.units = options.units.unwrap_or(game.units);
    game.seed = options.seed.unwrap_or(game.seed);
    game.map = options.map.unwrap_or(Ground(maps::named("ford")));
    let other = options.bot.unwrap_or(Pilot::Bot(Level::Normal));
    let opened = window(&options.window)?;
    let tell = move |game: &NetworkMatch, news: &News| network::tell(game, news, json);
    match view::open(window_spec(options, &game, &link, other), options.page.clone(), opened, tell) {
        Err(MatchError::NoDisplay(why)) => {
            tell_no_window(&why, "the match runs headless", &options.window);
        }
        shown => {
            let agree = shown?;
            if json {
                print_json(&serde_json::json!({ "checksums_agree": agree }));
            }
            return Ok(agree);
        }
    }
    let spec = SimulatedMatch {
        terms: terms(&game),
        link: link_settings(&link),
        topology: Topology::Host,
        pace: Pace::Adaptive,
        fault: None,
        pilots: vec![Pilot::Bot(Level::Normal), other],
        teams: Teams::default(),
        spectators: 0,
        checks: Checks::default(),
    };
    let report = run(&spec, Vec::new())?;
    print(&report, json, &format!("bot against bot over {}", in_words(&link)));
    if !json && report.checksums_agree {
        outln!(
            "
What you have seen: each client simulated the whole battle by itself. They exchanged nothing but
their players' orders, and after every turn both had exactly the same state, bit for bit, although
packets came late and some were lost.

Try next:
  a terrible network    testudo headless --latency-ms 150 --jitter-ms 60 --loss 0.2
  a larger battle       testudo headless --players 4 --units 2000
  break one client      testudo headless --corrupt-turn 50 --corrupt-player 1 --corrupt-body 3 \\
                          --corrupt-field position.x --corrupt-bit 0
  separate processes    testudo host --bot --headless   (it prints how to join)
  everything else       testudo --help
(`testudo` is target/release/testudo, or `cargo run --release --`.)"
        );
    }
    Ok(report.checksums_agree)
}

/// The same match in a window: it has no end, and a person plays the first army.
fn window_spec(options: &SkirmishArgs, game: &MatchArgs, link: &NetworkArgs, other: Pilot) -> SkirmishSpec {
    SkirmishSpec {
        terms: Terms { turns: TURNS_MAX, ..terms(game) },
        link: link_settings(link),
        pace: Pace::Adaptive,
        pilots: vec![if options.bots { Pilot::Bot(Level::Normal) } else { Pilot::Person }, other],
        replay: if options.no_replay { ReplayFile::None } else { ReplayFile::In("replays".into()) },
    }
}
