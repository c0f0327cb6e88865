//! `host` and `join`.

use indicatif::ProgressBar;

use crate::app::{Fault, NetworkMatch, News, Outcome, SeatOptions};
use crate::cli::args::{Host, Join, Seat};
use crate::cli::headless::{progress_bar, terms};
use crate::cli::report::Report;
use crate::cli::{Failed, print, save_difference};
use crate::game::BodyField;

/// The bit that `join --corrupt` flips: 1/32 of a unit.
const REHEARSED_BIT: u32 = 11;

pub(crate) fn run_host(options: &Host, json: bool) -> Result<bool, Failed> {
    check_seat(&options.seat)?;
    let terms = terms(&options.game);
    let bar = progress_bar("turn", terms.turns.into());
    let seat = SeatOptions { replay: options.seat.replay.clone(), fault: None };
    let outcome = NetworkMatch::host(&terms, options.bind, seat)?.play(|news| {
        if let News::Listening(address) = news {
            for player in 1..terms.setup.players {
                eprintln!("join {player}: {address}");
            }
        }
        show(&bar, news);
    });
    bar.finish_and_clear();
    tell(outcome?.as_ref(), &options.seat, json, "hosted over UDP")
}

pub(crate) fn run_join(options: &Join, json: bool) -> Result<bool, Failed> {
    check_seat(&options.seat)?;
    let bar = progress_bar("turn", 0);
    let fault = options.corrupt.map(|(turn, slot)| Fault {
        turn,
        player: 0,
        slot,
        field: BodyField::PositionX,
        bit: REHEARSED_BIT,
    });
    let seat = SeatOptions { replay: options.seat.replay.clone(), fault };
    let outcome = NetworkMatch::join(options.host, seat)?.play(|news| show(&bar, news));
    bar.finish_and_clear();
    tell(outcome?.as_ref(), &options.seat, json, &format!("joined over UDP at {}", options.host))
}

/// Prints what came of a seat. There is nothing to tell of a match in which nobody gave us one.
fn tell(outcome: Option<&Outcome>, seat: &Seat, json: bool, network: &str) -> Result<bool, Failed> {
    let Some(outcome) = outcome else { return Ok(true) };
    let report = Report::new(outcome, true);
    print(&report, json, network);
    save_difference(&report, seat.report.as_deref(), seat.replay.as_deref())?;
    Ok(report.checksums_agree)
}

fn check_seat(seat: &Seat) -> Result<(), Failed> {
    if seat.bot && seat.headless {
        return Ok(());
    }
    Err(Failed::usage("there is no window to play in yet: use --bot --headless"))
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
    }
}
