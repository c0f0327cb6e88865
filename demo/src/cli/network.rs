//! `host` and `join`.

use std::io::{BufRead, BufReader, Read as _};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use indicatif::ProgressBar;
use testudo_lockstep::service::code::{ADDRESSES_MAX, JoinCode};
use testudo_lockstep::{Pace, PlayerId, SessionPhase};

use crate::app::interrupt;
use crate::app::online::agreement::Agreement;
use crate::app::online::codes::{self, Codes};
use crate::app::online::name::Name;
use crate::app::online::network::{HostAddress, JoinRequest};
use crate::app::online::saves::Save;
use crate::app::online::seat::hosting::Hosting;
use crate::app::words::count;
use crate::app::{
    Fault, MatchError, NetworkMatch, News, Outcome, Pilot, ReplayFile, Seat, SeatOptions, TURNS_MAX,
};
use crate::cli::args::{HostArgs, JoinArgs, PlayerArgs};
use crate::cli::headless::{measure, progress_bar, teams, terms};
use crate::cli::report::Report;
use crate::cli::typed::typed;
use crate::cli::{
    Failed, check_files, check_public, check_report, needs_window, print, print_json, save_difference,
    tell_script, told, window,
};
use crate::console::errln;
use crate::view;
use testudo_battle::BodyField;

/// A longer line is no code.
const CODE_BYTES_MAX: u64 = 2_048;

/// The bit that `join --corrupt` flips: 1/32 of a unit.
const REHEARSED_BIT: u32 = 11;

pub(crate) fn run_host(options: &HostArgs, json: bool) -> Result<bool, Failed> {
    let own = &options.player;
    check_own_files(own, options.resume.as_deref())?;
    // Codes name an address of this machine, too: friends in the same house may not reach the router's.
    check_public(options.public.len(), ADDRESSES_MAX - 1)?;
    let teams = teams(options.teams, options.game.players)?;
    let wanted = SeatOptions { page: options.page.clone(), teams, ..seat_options(own, None) };
    if let Some(relay) = &options.relay {
        let (relay, agreement) = (code(&told_code(relay)?)?, agreement(options));
        let start = move || NetworkMatch::open(relay, agreement, wanted);
        return run(own, json, "hosted through a relay", start);
    }
    let save = options.resume.as_deref().map(Save::open).transpose()?;
    let agreement = save.as_ref().map_or_else(|| agreement(options), |save| save.agreement);
    agreement.check_setup().map_err(MatchError::Setup)?;
    let (bind, public) = (options.bind, options.public.clone());
    let hosting = Hosting { agreement, bind, public, is_sealed: !options.plain, save };
    let network = if options.plain { "hosted over plain UDP, not sealed" } else { "hosted, sealed" };
    run(own, json, network, move || NetworkMatch::host(&hosting, wanted))
}

fn check_own_files(own: &PlayerArgs, resume: Option<&Path>) -> Result<(), Failed> {
    let (report, log) = (own.report.as_deref(), own.window.log_orders.as_deref());
    let replay = own.replay.as_deref();
    check_files(&[("--resume", resume), ("--report", report), ("--log-orders", log), ("--replay", replay)])
}

fn agreement(options: &HostArgs) -> Agreement {
    let is_headless = options.player.headless;
    let turns = options.game.turns.or((!is_headless).then_some(TURNS_MAX));
    let terms = terms(&crate::cli::args::MatchArgs { turns, ..options.game });
    let usual = if is_headless { Pace::Fixed } else { Pace::Adaptive };
    let pace = options.pace.map_or(usual, Pace::from);
    Agreement::new(&terms, pace, !options.no_bots)
}

pub(crate) fn run_join(options: &JoinArgs, json: bool) -> Result<bool, Failed> {
    let fault = options.corrupt.map(|(turn, slot)| Fault {
        turn,
        player: 0,
        slot,
        field: BodyField::PositionX,
        bit: REHEARSED_BIT,
    });
    let (host, network) = if options.plain {
        let host = resolved(&options.code)?;
        (HostAddress::Plain(host), format!("joined over plain UDP at {host}, not sealed"))
    } else {
        let code = code(&told_code(&options.code)?)?;
        let at = code.addresses().first().map_or(String::new(), |address| format!(" at {address}"));
        (HostAddress::Sealed(code), format!("joined{at}, sealed"))
    };
    check_own_files(&options.player, None)?;
    let request =
        JoinRequest { watches: options.watch, units_max: options.units_max, ..JoinRequest::place(host) };
    let mut own = options.player.clone();
    if options.watch {
        // Nobody plays here.
        own.bot = own.bot.or(Some(Pilot::Person));
    }
    let wanted = seat_options(&own, fault);
    run(&own, json, &network, move || NetworkMatch::join(request, wanted))
}

/// A code as it is, the first line of the input (`-`), or that of a file (`@FILE`): the list of processes shows what stands on the command line.
pub(crate) fn told_code(text: &str) -> Result<String, Failed> {
    let mut line = String::new();
    let read = match text.strip_prefix('@') {
        _ if text == "-" => std::io::stdin().lock().take(CODE_BYTES_MAX).read_line(&mut line),
        Some("") => return Err(Failed::usage("@ is followed by the name of a file with the code")),
        Some(file) => {
            let read = |file| BufReader::new(file).take(CODE_BYTES_MAX).read_line(&mut line);
            std::fs::File::open(file).and_then(read)
        }
        None => return Ok(text.into()),
    };
    let from = if text == "-" { "the input" } else { text.trim_start_matches('@') };
    read.map_err(|error| Failed::usage(format!("{from}: no code can be read: {error}")))?;
    Ok(line)
}

/// A join code, or a sentence about what is wrong with it.
fn code(text: &str) -> Result<JoinCode, Failed> {
    codes::read(text).map_err(|error| {
        let is_address = host_and_port(text).is_ok() && !text.contains('/');
        let hint = if is_address { ": an address is joined with --plain" } else { "" };
        Failed::usage(format!("{error}{hint}"))
    })
}

/// Plays in a window or without one, and prints the outcome.
fn run(
    own: &PlayerArgs,
    json: bool,
    network: &str,
    start: impl FnOnce() -> Result<NetworkMatch, MatchError>,
) -> Result<bool, Failed> {
    check_report(own.report.as_deref())?;
    interrupt::watch();
    let outcome = match (own.headless, own.bot.is_some()) {
        (true, false) => {
            return Err(Failed::usage(
                "without a window only a bot can play: use --bot --headless; or watch: join --watch",
            ));
        }
        (true, true) => {
            needs_window(&own.window, "--headless")?;
            let bar = progress_bar("turn", 0);
            let typed = typed();
            let say = |line: &str| bar.suspend(|| errln!("{line}"));
            let tell = |game: &NetworkMatch, news: News| {
                line(game.seat(), &news).iter().for_each(|line| say(line));
                print_codes(&news, json);
                show(&bar, news);
            };
            let outcome = start()?.play(tell, |game| {
                // What is typed before there is a seat waits.
                if let Some(seat) = game.seat_mut()
                    && let Ok(words) = typed.try_recv()
                {
                    say(&obey(&words, seat));
                }
            });
            bar.finish_and_clear();
            outcome?
        }
        (false, _) => {
            let options = window(&own.window)?;
            view::open_network(start, options, move |game, news| tell(game, news, json))?
        }
    };
    print_outcome(outcome.as_ref(), own, json, network)
}

/// Prints the outcome of this peer. A match that has not begun has none.
fn print_outcome(
    outcome: Option<&Outcome>,
    own: &PlayerArgs,
    json: bool,
    network: &str,
) -> Result<bool, Failed> {
    let Some(outcome) = outcome else {
        if json {
            print_json(&serde_json::json!({ "turns": 0, "checksums_agree": true }));
        }
        return Ok(true);
    };
    let report = Report::new(outcome);
    print(&report, json, network);
    save_difference(&report, own.report.as_deref(), own.replay.as_deref());
    told(&report)
}

fn seat_options(own: &PlayerArgs, fault: Option<Fault>) -> SeatOptions {
    let pilot = own.bot.unwrap_or(Pilot::Person);
    let replay = match &own.replay {
        Some(path) => ReplayFile::At(path.clone()),
        None if own.no_replay => ReplayFile::None,
        None => ReplayFile::In("replays".into()),
    };
    SeatOptions { pilot, replay, fault, name: Name::cleaned(&own.name), ..SeatOptions::default() }
}

/// The address of a name and a port. IPv4 addresses come first, because a host listens on one by default.
fn resolved(name: &str) -> Result<SocketAddr, Failed> {
    host_and_port(name)?;
    let unknown = |why: String| Failed { code: 1, sentence: format!("{name}: {why}") };
    let addresses = name.to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    let mut addresses: Vec<SocketAddr> = addresses.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.first().copied().ok_or_else(|| unknown("this name has no address".into()))
}

fn host_and_port(text: &str) -> Result<(), Failed> {
    let is_sound =
        text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if is_sound {
        Ok(())
    } else {
        Err(Failed::usage(format!("'{text}': a host and a port are needed, as in localhost:4000")))
    }
}

/// Does what a typed line asks for, and says what became of it.
fn obey(words: &str, seat: &mut Seat) -> String {
    let mut words = words.split_whitespace();
    match (words.next(), words.next()) {
        (Some("who"), None) => who(seat),
        (Some("kick"), Some(number)) => match player_of(number, seat) {
            Some(player) => {
                let called = seat.called(player);
                seat.kick(player).map_or_else(|why| why, |()| format!("{called} is removed"))
            }
            None => format!("there is no player {number}"),
        },
        (Some("vote"), Some(number)) => vote(seat, number, words.next()),
        (Some("ready"), None) => {
            seat.set_ready(true);
            "the match begins when all are here and ready".into()
        }
        (Some("wait"), None) => {
            seat.set_ready(false);
            "the match does not begin before you type: ready".into()
        }
        (Some("team"), Some(first)) => {
            let (player, team) = match words.next() {
                None => (Some(seat.player()), first),
                Some(team) => (player_of(first, seat), team),
            };
            match (player, team.parse()) {
                (Some(player), Ok(team)) => join_team(seat, player, team),
                _ => TEAM_USAGE.into(),
            }
        }
        (None, _) => String::new(),
        _ => "type: who, ready, wait, team NUMBER, vote PLAYER, or kick PLAYER".into(),
    }
}

/// The player of a typed number, which counts from 1.
fn player_of(number: &str, seat: &Seat) -> Option<PlayerId> {
    let number: u8 = number.parse().ok()?;
    (1..=seat.terms().setup.players).contains(&number).then(|| PlayerId(number - 1))
}

/// Votes a player out, or takes the vote back, and says what became of it.
fn vote(seat: &mut Seat, number: &str, word: Option<&str>) -> String {
    let player = player_of(number, seat);
    let out = match word {
        None => true,
        Some("no") => false,
        Some(_) => return "type: vote PLAYER, or to take it back: vote PLAYER no".into(),
    };
    let Some(player) = player else { return format!("there is no player {number}") };
    let called = seat.called(player);
    match (seat.vote_out(player, out), out) {
        (Err(why), _) => why.into(),
        (Ok(()), true) => {
            format!("you vote {called} out; more than half of the others are needed, two at least")
        }
        (Ok(()), false) => format!("you no longer vote {called} out"),
    }
}

/// What the line `team` takes.
const TEAM_USAGE: &str =
    "type: team NUMBER for yourself, or the host: team PLAYER NUMBER; the number is 1 to 8, or 0 for no team";

/// Puts a player into a team, and says what became of it.
fn join_team(seat: &mut Seat, player: PlayerId, team: u8) -> String {
    if !seat.may_set_team(player) {
        return "teams are chosen before the start: your own, and everybody's by the host".into();
    }
    if !seat.set_team(player, team) {
        return TEAM_USAGE.into();
    }
    let called = seat.called(player);
    let told =
        if team == 0 { format!("{called} is in no team") } else { format!("{called} is in team {team}") };
    let all =
        if seat.are_all_friends() { "; but all players are in one team, which counts as none" } else { "" };
    format!("{told}{all}")
}

/// As the window draws the player's army.
fn army_colour(player: PlayerId) -> &'static str {
    const NAMES: [&str; 8] = ["sky blue", "orange", "pink", "yellow", "green", "blue", "vermilion", "white"];
    NAMES[usize::from(player.0) % NAMES.len()]
}

/// Who is here and how well connected, one line for each player.
fn who(seat: &Seat) -> String {
    let lines = (0..seat.terms().setup.players).map(PlayerId).map(|player| {
        let report = seat.session().player_report(player);
        let is_ready = seat.session().phase() != SessionPhase::Lobby || seat.session().is_ready(player);
        let ready = if is_ready { "" } else { ", asks to wait" };
        let state = match () {
            () if player == seat.player() && !seat.is_watching() => format!("this is you{ready}"),
            () if !seat.session().is_here(player) => "away".into(),
            () => format!(
                "here{ready}, {} ms, delayed {} by {:.1} s",
                report.network_ms,
                count(report.delayed_turns, "turn"),
                report.delayed.as_millis() as f64 / 1e3
            ),
        };
        let team = match seat.team_of(player) {
            0 => String::new(),
            team => format!(", team {team}"),
        };
        format!("{}, {}{team}: {state}", seat.called(player), army_colour(player))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What happens in a match in a window.
pub(crate) fn tell(game: &NetworkMatch, news: &News, json: bool) {
    line(game.seat(), news).into_iter().for_each(|line| errln!("{line}"));
    print_codes(news, json);
}

/// Codes go to the standard output, too, where a script may keep them; a terminal shows them once.
fn print_codes(news: &News, json: bool) {
    if let News::Listening(_) | News::NewCode { .. } = news {
        line(None, news).iter().for_each(|codes| tell_script(codes, json));
    }
}

/// What other players need, one line for each place.
fn invitations(codes: &Codes) -> String {
    let mut lines: Vec<String> =
        codes.players.iter().map(|(player, code)| format!("join {}: {code}", player + 1)).collect();
    lines.push(format!("watch: {}", codes.watch));
    lines.extend(codes.referee.iter().map(|code| format!("referee: {code}")));
    lines.extend(codes.back.iter().map(|code| format!("back: {code}")));
    let link = |(player, code): &(u8, String)| Some(format!("link {}: {}", player + 1, codes.link(code)?));
    lines.extend(codes.players.iter().filter_map(link));
    lines.extend(codes.link(&codes.watch).map(|link| format!("link to watch: {link}")));
    if !codes.is_sealed {
        lines.push("not sealed: whoever knows the address can come, read and forge (--plain)".into());
    }
    lines.join("\n")
}

/// The line on a terminal about what has happened, if it is worth one.
fn line(seat: Option<&Seat>, news: &News) -> Option<String> {
    let called = |player: PlayerId| {
        seat.map_or_else(|| format!("player {}", player.0 + 1), |seat| seat.called(player))
    };
    match news {
        News::Listening(codes) => Some(invitations(codes)),
        News::NewCode { player, code, link } => {
            let number = player.0 + 1;
            let link = link.as_ref().map_or(String::new(), |link| format!("\nlink {number}: {link}"));
            Some(format!("join {number}: {code}{link}"))
        }
        News::Remark { left_out: left_out @ 1.., .. } => {
            Some(format!("{} ({left_out} times more before)", news.sentence(called)?))
        }
        _ => news.sentence(called),
    }
}

fn show(bar: &ProgressBar, news: News) {
    match news {
        News::Listening(_) => bar.set_message("waiting for players"),
        News::Seated { terms, player } => {
            bar.set_length(terms.turns.into());
            measure(bar);
            bar.set_message(player.map_or("watching".into(), |player| format!("as player {}", player + 1)));
        }
        News::Turn(turn) => {
            bar.set_position(turn.into());
            bar.set_message("");
        }
        News::WaitingFor(players) => {
            let names: Vec<String> = players.iter().map(|player| (player.0 + 1).to_string()).collect();
            bar.set_message(format!("waiting for player {}", names.join(", ")));
        }
        News::State { percent } => bar.set_message(format!("getting the state: {percent} %")),
        _ => {}
    }
}
