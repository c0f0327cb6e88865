//! `host` and `join`.

use std::net::{SocketAddr, ToSocketAddrs};

use indicatif::ProgressBar;
use testudo_lockstep::Pace;

use crate::app::interrupt;
use crate::app::{
    Fault, MatchError, NetworkMatch, News, Outcome, Pilot, ReplayFile, SeatOptions, TURNS_MAX, Terms,
};
use crate::cli::args::{Host, Join, PaceArg, Seat};
use crate::cli::headless::{progress_bar, terms};
use crate::cli::report::Report;
use crate::cli::skirmish::log_file;
use crate::cli::{Failed, print, print_json, save_difference};
use crate::game::BodyField;
use crate::view::{self, WindowError};

/// The bit that `join --corrupt` flips: 1/32 of a unit.
const REHEARSED_BIT: u32 = 11;

pub(crate) fn run_host(options: &Host, json: bool) -> Result<bool, Failed> {
    let seat = &options.seat;
    let turns = options.game.turns.or((!seat.headless).then_some(TURNS_MAX));
    let terms = terms(&crate::cli::args::Match { turns, ..options.game });
    let pace = match options.pace {
        Some(PaceArg::Fixed) => Pace::Fixed,
        Some(PaceArg::Adaptive) => Pace::Adaptive,
        None if seat.headless => Pace::Fixed,
        None => Pace::Adaptive,
    };
    let (bind, wanted) = (options.bind, seat_options(seat, None));
    let start = move || NetworkMatch::host(&terms, pace, bind, wanted);
    let invite = move |news: &News| {
        if let News::Listening(address) = news {
            print_invitations(*address, &terms);
        }
    };
    run(seat, json, "hosted over UDP", start, invite)
}

pub(crate) fn run_join(options: &Join, json: bool) -> Result<bool, Failed> {
    let fault = options.corrupt.map(|(turn, slot)| Fault {
        turn,
        player: 0,
        slot,
        field: BodyField::PositionX,
        bit: REHEARSED_BIT,
    });
    let (host, wanted) = (resolved(&options.host)?, seat_options(&options.seat, fault));
    let units_max = options.units_max;
    let start = move || NetworkMatch::join(host, units_max, wanted);
    run(&options.seat, json, &format!("joined over UDP at {host}"), start, |_| {})
}

/// Plays in a window or without one, and prints the outcome.
fn run(
    seat: &Seat,
    json: bool,
    network: &str,
    start: impl FnOnce() -> Result<NetworkMatch, MatchError>,
    tell: impl Fn(&News) + 'static,
) -> Result<bool, Failed> {
    interrupt::watch();
    let outcome = match (seat.headless, seat.bot.is_some()) {
        (true, false) => {
            return Err(Failed::usage("without a window only a bot can play: use --bot --headless"));
        }
        (true, true) if seat.log_orders.is_some() => {
            return Err(Failed::usage("--log-orders needs the window: leave out --headless"));
        }
        (true, true) => {
            let bar = progress_bar("turn", 0);
            let outcome = start()?.play(|news| {
                tell(&news);
                show(&bar, news);
            });
            bar.finish_and_clear();
            outcome?
        }
        (false, _) => {
            let log = log_file(seat.log_orders.as_deref())?;
            view::open_network(start, log, tell).map_err(|error| match error {
                WindowError::NoDisplay(why) => {
                    Failed::usage(format!("there is no window ({why}): use --bot --headless"))
                }
                WindowError::Match(error) => error.into(),
            })?
        }
    };
    print_outcome(outcome.as_ref(), seat, json, network)
}

/// Prints the outcome of this peer. A match that has not begun has none.
fn print_outcome(outcome: Option<&Outcome>, seat: &Seat, json: bool, network: &str) -> Result<bool, Failed> {
    let Some(outcome) = outcome else {
        if json && seat.headless {
            print_json(&serde_json::json!({ "turns": 0, "checksums_agree": true }));
        }
        return Ok(true);
    };
    let report = Report::new(outcome, true);
    print(&report, json, network);
    save_difference(&report, seat.report.as_deref(), seat.replay.as_deref())?;
    Ok(report.checksums_agree)
}

fn seat_options(seat: &Seat, fault: Option<Fault>) -> SeatOptions {
    let pilot = seat.bot.unwrap_or(Pilot::Person);
    let replay = match &seat.replay {
        Some(path) => ReplayFile::At(path.clone()),
        None if seat.no_replay => ReplayFile::None,
        None => ReplayFile::In("replays".into()),
    };
    SeatOptions { pilot, replay, fault }
}

/// The address of a name. IPv4 addresses come first, because a host listens on one by default.
fn resolved(name: &str) -> Result<SocketAddr, Failed> {
    let unknown = |why: String| Failed { code: 1, sentence: format!("{name}: {why}") };
    let addresses = name.to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    let mut addresses: Vec<SocketAddr> = addresses.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.first().copied().ok_or_else(|| unknown("this name has no address".into()))
}

fn print_invitations(address: SocketAddr, terms: &Terms) {
    for player in 1..terms.setup.players {
        eprintln!("join {player}: {address}");
    }
}

fn show(bar: &ProgressBar, news: News) {
    match news {
        News::Listening(_) => bar.set_message("waiting for players"),
        News::Seated { terms, player } => {
            bar.set_length(terms.turns.into());
            bar.set_message(format!("as player {player}"));
        }
        News::Joined(player) => bar.set_message(format!("player {player} is here")),
        News::Turn(turn) => {
            bar.set_position(turn.into());
            bar.set_message("");
        }
        News::WaitingFor(players) => {
            let names: Vec<String> = players.iter().map(ToString::to_string).collect();
            bar.set_message(format!("waiting for player {}", names.join(", ")));
        }
        News::Gone { player, .. } => bar.set_message(format!("player {player} is gone")),
        News::Started | News::Ran { .. } | News::Paused { .. } | News::Differs(_) => {}
    }
}
