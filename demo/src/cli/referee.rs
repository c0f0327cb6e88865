//! `referee` and `verdict`.

use std::cell::Cell;
use std::path::Path;

use testudo_lockstep::judgement::{DesyncReport, Found, Judgement, Signed, Testimony};
use testudo_lockstep::{Conviction, Desync, PlayerSet};

use crate::app::online::codes;
use crate::app::online::name::Name;
use crate::app::online::network::{HostAddress, JoinRequest, NetworkMatch};
use crate::app::online::{judgement as files, keys};
use crate::app::words::count;
use crate::app::{MatchError, News, Outcome, ReplayFile, SeatOptions, interrupt};
use crate::cli::args::{RefereeArgs, VerdictArgs};
use crate::cli::network::told_code;
use crate::cli::{Failed, print_json};
use crate::console::{errln, outln};

/// Watches a match to its end, and judges it.
pub(crate) fn run_referee(options: &RefereeArgs, json: bool) -> Result<bool, Failed> {
    interrupt::watch();
    let code = codes::read(&told_code(&options.code)?).map_err(Failed::usage)?;
    let name = format!("{:016x}", code.mark());
    let replay = ReplayFile::At(options.archive.join(format!("{name}.replay")));
    let place = JoinRequest::place(HostAddress::Sealed(code));
    let request = JoinRequest { watches: true, units_max: options.units_max, ..place };
    let seat = SeatOptions { replay, name: Name::cleaned("referee"), ..SeatOptions::default() };
    let (mut session, mut seen): (u64, Option<Desync>) = (0, None);
    let mut testimony: Option<Testimony> = None;
    let came_in = Cell::new(None);
    let tell = |_: &NetworkMatch, news: News| match news {
        News::CameIn { turn } => came_in.set(Some(turn)),
        News::Started => errln!("the match has begun"),
        News::Differs(turn) => errln!("the copies differ from turn {turn} on"),
        News::Remark { remark, .. } => errln!("{}", remark.sentence(|player| named(&[player.0]))),
        _ => {}
    };
    let outcome = NetworkMatch::join(request, seat)?.play(tell, |game| {
        let Some(seat) = game.seat() else { return };
        session = seat.session_id();
        if seen.is_none() {
            seen = seat.difference().cloned();
        }
        // The players sign once a second; more of them may come.
        let said = |testimony: &Option<Testimony>| testimony.as_ref().map_or(0, |said| said.statements.len());
        if let Some(difference) =
            seen.as_ref().filter(|_| said(&testimony) < usize::from(seat.terms().setup.players))
        {
            let newer = Testimony::of(seat.session(), difference.turn.0);
            if said(&newer) > said(&testimony) {
                testimony = newer;
            }
        }
    })?;
    let Some(outcome) = outcome else {
        return Err(Failed { code: 1, sentence: "the match has not begun".into() });
    };
    let mut judgement = judge(session, &outcome)?;
    judgement.difference = seen.as_ref().and_then(DesyncReport::of);
    // Of turns that its copy has not run, nobody could check what was signed.
    judgement.testimony = testimony.filter(|said| said.turn <= judgement.turns);
    judgement.since = came_in.get();
    let signed = Signed::new(judgement, &keys::own()?.referee_key());
    let path = options.archive.join(format!("{name}.json"));
    files::store(&signed, &path)?;
    say(&signed, &path, json);
    let trouble = outcome.end.early.as_ref().or(outcome.unkept.as_ref());
    if let Some(why) = trouble {
        errln!("testudo: {why}");
    }
    Ok(trouble.is_none() && signed.judgement.difference.is_none())
}

/// What the referee's own copy came to.
fn judge(session: u64, outcome: &Outcome) -> Result<Judgement, MatchError> {
    let is_finished = outcome.end.is_finished;
    // A match that is left within a turn is judged up to the one before.
    let turns = outcome.terms.turns.saturating_sub(u32::from(!is_finished));
    let checksum = outcome.clients.first().filter(|_| is_finished).map(|client| client.checksum);
    let mut judgement = Judgement::new(session, outcome.terms.setup.players, turns);
    judgement.checksum = checksum.map(|checksum| format!("{checksum:016x}"));
    judgement.winner = outcome.winner.filter(|_| is_finished);
    // The replay of a referee that came late is not kept.
    judgement.replay = outcome.replay.as_deref().map(files::archived).transpose()?;
    Ok(judgement)
}

/// Checks a judgement. True if it holds, whoever was at fault.
pub(crate) fn run_verdict(options: &VerdictArgs, json: bool) -> Result<bool, Failed> {
    let signed = files::open(&options.file)?;
    let folder = options.file.parent().unwrap_or(Path::new(""));
    let checked = files::check(&signed, folder, options.key.as_deref());
    let shown = checked.as_ref().map_or(Conviction::default(), |found| found.shown);
    if json {
        let doubt = checked.as_ref().err().map(ToString::to_string);
        print_json(&serde_json::json!({
            "holds": checked.is_ok(), "doubt": doubt, "key": signed.key,
            "simulated": checked.as_ref().is_ok_and(|found| found.is_simulated),
            "resumed_at": checked.as_ref().ok().and_then(|found| found.resumed_at),
            "convicted": numbers(shown.convicted),
            "accused": numbers(shown.accused),
            "misled": numbers(shown.misled),
            "fingerprint": signed.judgement.testimony.as_ref().and_then(Testimony::fingerprint),
            "judgement": signed.judgement,
        }));
        return Ok(checked.is_ok());
    }
    say(&signed, &options.file, false);
    match &checked {
        Err(doubt) => outln!("DOES NOT HOLD   {doubt}"),
        Ok(Found { is_simulated: true, resumed_at, shown, .. }) => {
            outln!("holds           signed by the key; simulated again, the match comes to the same");
            if let Some(turn) = resumed_at {
                outln!(
                    "resumed         before turn {turn}, from the state with which the replay begins; whether that is the players' save shows in what they have signed"
                );
            }
            let lists = [
                (
                    "convicted",
                    shown.convicted,
                    "most players have signed what the orders lead to, and they something else",
                ),
                (
                    "accused  ",
                    shown.accused,
                    "they have signed something else than the orders lead to. They had a wrong copy, or the referee and a player lie together",
                ),
                (
                    "misled   ",
                    shown.misled,
                    "they came back with a state that was wrong, so they lied, or the player that gave it",
                ),
            ];
            for (word, players, why) in lists.into_iter().filter(|(_, players, _)| !players.is_empty()) {
                outln!("{word}       {}: {why}", named(&numbers(players)));
            }
        }
        Ok(_) => outln!("holds           signed by the key; there is no replay to simulate again"),
    }
    if let Some(fingerprint) = signed.judgement.testimony.as_ref().and_then(Testimony::fingerprint) {
        outln!(
            "fingerprint     {fingerprint}: the players' programs showed the same, or somebody has exchanged keys"
        );
    }
    Ok(checked.is_ok())
}

fn say(signed: &Signed, path: &Path, json: bool) {
    let judgement = &signed.judgement;
    if json {
        print_json(signed);
        return;
    }
    outln!("judgement       {}", path.display());
    outln!("key             {}", signed.key);
    outln!(
        "match           {} with {}, {}",
        judgement.session,
        count(judgement.players, "player"),
        count(judgement.turns, "turn")
    );
    match &judgement.difference {
        None => outln!("checksums       equal"),
        Some(difference) => {
            outln!(
                "checksums       differ from turn {} on; wrong: {}",
                difference.turn,
                named(&difference.at_fault)
            );
        }
    }
    if let Some(turn) = judgement.since {
        outln!(
            "since           turn {turn}: the referee came late, and has the state before it from a player; it is worth as much as the signatures of most players"
        );
    }
    if let Some(winner) = judgement.winner {
        outln!("winner          player {}", winner + 1);
    }
}

fn numbers(players: PlayerSet) -> Vec<u8> {
    players.iter().map(|player| player.0).collect()
}

fn named(players: &[u8]) -> String {
    let names: Vec<String> = players.iter().map(|player| format!("player {}", player + 1)).collect();
    names.join(", ")
}
