//! The liar's place in a match, and its way there.

use std::time::Duration as Time;

use sha2::{Digest as _, Sha256};
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::codes::Codes as JoinCodes;
use testudo_lockstep::service::greeting::{Answer, Greeting, Welcome};
use testudo_lockstep::service::guest::{Dial, Line, LineEvent, MIDDLE};
use testudo_lockstep::service::machine::MachineSecret;
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::transport::sealed::{SealedClient, SealedDialer};
use testudo_lockstep::{Driver, Event, Failure, Identity, Pace, PlayerId, Session, SessionPhase, Topology};

use crate::app::Terms;
use crate::app::online::agreement::Agreement;
use crate::app::online::codes::Codes;
use crate::app::online::keys;
use crate::app::online::seat::start::{completed, terms_of};
use crate::app::watch::game_copy::GameCopy;
use crate::app::watch::pilot::{Pilot, play_bot};
use crate::lie::Lie;
use crate::lying_copy::LyingCopy;
use crate::twist::Twist;
use testudo_battle::bots::{self, Level};
use testudo_battle::{Game, Setup};
use testudo_render::clock::Clock;

/// Time between two looks at the network.
const PAUSE: Time = Time::from_millis(2);

/// The longest life of a liar.
const LIFE: testudo_lockstep::Duration = testudo_lockstep::Duration::from_secs(90);

/// How often it comes back after it was dropped.
const RETURNS_MAX: u32 = 40;

/// Orders per turn of somebody who floods.
const FLOOD: u32 = 100_000;

type Done = Result<serde_json::Value, String>;

/// Comes to a place, and comes back when it was dropped.
pub(crate) fn join(lie: &str, code: &str) -> Done {
    let (lie, code) = (read_lie(lie)?, read_code(code)?);
    let pass = pass(&code)?;
    let greeting = || Greeting::Come { pass };
    let life = Clock::start();
    let mut ends = Vec::new();
    for _ in 0..=RETURNS_MAX {
        let (answer, edge) = match call(&code, &greeting()) {
            Ok(called) => called,
            Err(why) if ends.is_empty() => return Err(why),
            Err(why) => {
                ends.push(why);
                break;
            }
        };
        let Answer::Come(welcome) = answer else {
            ends.push(format!("{answer:?}"));
            break;
        };
        let (end, is_lost) = play(lie, welcome, *code.secret(), edge, &life)?;
        eprintln!("liar: {end}");
        ends.push(end);
        if !is_lost || life.elapsed() > LIFE {
            break;
        }
    }
    Ok(serde_json::json!({ "lie": format!("{lie:?}"), "ends": ends }))
}

/// Opens a room, prints its codes, and lies as its first player.
pub(crate) fn open(lie: &str, relay: &str, players: &str, turns: &str) -> Done {
    let (lie, relay) = (read_lie(lie)?, read_code(relay)?);
    let number = |text: &str| text.parse::<u32>().map_err(|error| format!("{text}: {error}"));
    let setup = Setup { players: number(players)? as u8, units: 10, seed: 1, map: None };
    let agreement = Agreement::new(&Terms { setup, turns: number(turns)? }, Pace::Fixed, true);
    let told = agreement.told().map_err(|error| error.to_string())?;
    let pass = pass(&relay)?;
    let greeting = Greeting::Open { pass, agreement: Box::new(told) };
    let (answer, edge) = call(&relay, &greeting)?;
    let Answer::Opened(opened) = answer else { return Err(format!("{answer:?}")) };
    let secret = opened.secrets.players.first().copied().unwrap_or_default();
    let codes = JoinCodes::new(relay.addresses(), relay.certificate_hash(), opened.secrets);
    let codes = Codes::sealed(&codes.map_err(|error| error.to_string())?, PlayerId(0), agreement.players);
    codes.players.iter().for_each(|(player, code)| eprintln!("join {}: {code}", player + 1));
    eprintln!("watch: {}", codes.watch);
    let (end, _) = play(lie, opened.welcome, secret, edge, &Clock::start())?;
    Ok(serde_json::json!({ "lie": format!("{lie:?}"), "ends": [end] }))
}

/// Comes and goes.
pub(crate) fn knock(code: &str, times: &str, ms: &str) -> Done {
    let code = read_code(code)?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let (times, pause) = (number(times)?, Time::from_millis(number(ms)?));
    let pass = pass(&code)?;
    let greeting = Greeting::Come { pass };
    let (mut came, mut refused) = (0_u64, 0_u64);
    for _ in 0..times {
        match call(&code, &greeting) {
            Ok((Answer::Come(_), _)) => came += 1,
            Ok((answer, _)) if refused == 0 => {
                refused += 1;
                eprintln!("liar: {answer:?}");
            }
            _ => refused += 1,
        }
        std::thread::sleep(pause);
    }
    Ok(serde_json::json!({ "came": came, "refused": refused }))
}

/// Writes a copy of a file in which a bit or a stretch is wrong, or the end is missing.
pub(crate) fn damage(file: &str, seed: &str) -> Done {
    let mut bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let seed: u64 = seed.parse().map_err(|_| "the seed is a number".to_owned())?;
    let dice: [u8; 32] = Sha256::digest(seed.to_le_bytes()).into();
    let place = u64::from_le_bytes(core::array::from_fn(|at| dice[at])) as usize % bytes.len().max(1);
    match seed % 8 {
        0 => bytes.truncate(place),
        1 => bytes[place] = bytes[place].wrapping_add(1 + dice[9] % 255),
        _ => bytes[place] ^= 1 << (dice[8] % 8),
    }
    let path = format!("{file}.{seed}");
    std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
    Ok(serde_json::json!({ "file": path, "place": place }))
}

fn machine() -> Result<MachineSecret, String> {
    keys::own().map_err(|error| error.to_string())
}

fn pass(code: &JoinCode) -> Result<Pass, String> {
    Ok(Pass { secret: *code.secret(), token: machine()?.token(code) })
}

fn read_lie(text: &str) -> Result<Lie, String> {
    Lie::read(text).ok_or_else(|| format!("no lie '{text}'"))
}

fn read_code(text: &str) -> Result<JoinCode, String> {
    text.parse().map_err(|error| format!("{error}"))
}

/// Connects, and waits for the answer.
fn call(code: &JoinCode, greeting: &Greeting) -> Result<(Answer, SealedClient), String> {
    let edge = SealedDialer::default().dial(code, &greeting.to_bytes());
    let mut edge = edge.map_err(|error| error.to_string())?;
    let clock = Clock::start();
    loop {
        match Line::poll(&mut edge, clock.now()) {
            None => std::thread::sleep(PAUSE),
            Some(LineEvent::Accepted(bytes) | LineEvent::Refused(bytes)) => {
                let answer = Answer::read(&bytes).ok_or("an answer that makes no sense")?;
                return Ok((answer, edge));
            }
            Some(LineEvent::Lost { why, .. }) => return Err(why),
            Some(LineEvent::Packet(_)) => return Err("a packet before the answer".into()),
            Some(_) => return Err("news that make no sense before the answer".into()),
        }
    }
}

/// Plays until the match or the place is over. Returns what happened, and whether the place may be taken again.
fn play(
    lie: Lie,
    welcome: Welcome,
    secret: [u8; 16],
    mut edge: SealedClient,
    life: &Clock,
) -> Result<(String, bool), String> {
    let Identity::Player(own) = welcome.place else { return Err("a place of a player is needed".into()) };
    let agreement = Agreement::of(&welcome.agreement).ok_or("another match")?;
    let terms = terms_of(&agreement, u32::MAX).map_err(|error| error.to_string())?;
    let topology = if welcome.is_relayed { Topology::Relay } else { Topology::Host };
    let config = agreement.config().session_id(welcome.session_id).topology(topology).place_secret(secret);
    let config = completed(config, welcome.place, welcome.is_relayed, false, None);
    let config = config.map_err(|error| error.to_string())?;
    let key = machine()?.player_key(welcome.session_id, own);
    let mut twist = Twist::new(lie, own, key, &config);
    let clock = Clock::start();
    let mut session = Session::new(config, welcome.place, clock.now()).map_err(|error| error.to_string())?;
    session.connect(MIDDLE);
    let game = Game::new(terms.setup).map_err(|error| error.to_string())?;
    let mut driver = Driver::new(LyingCopy::new(GameCopy::new(game, None, false), lie), session);
    let mut packet = Vec::new();
    loop {
        while let Some(event) = Line::poll(&mut edge, clock.now()) {
            match event {
                LineEvent::Packet(bytes) => driver.session_mut().handle_packet(clock.now(), MIDDLE, &bytes),
                LineEvent::Lost { why, .. } => return Ok((told(&driver, &why), true)),
                // The place is taken already; other news change nothing of it.
                _ => {}
            }
        }
        let now = clock.now();
        driver.session_mut().handle_timeout(now);
        driver.advance_with(now, |turn, copy, session| act(lie, own, turn, copy, session));
        while driver.session_mut().poll_transmit(now, &mut packet).is_some() {
            let session = driver.session();
            let (link, roster) = (session.packet_key(MIDDLE), session.roster());
            let sent = twist.of(packet.clone(), link, roster, now);
            (0..twist.copies()).for_each(|_| edge.send(&sent));
        }
        while let Some(event) = driver.session_mut().poll_event() {
            if matches!(event, Event::Desync(_) | Event::Contradiction(_) | Event::Outlier(_)) {
                eprintln!("liar: {event:?}");
            }
        }
        let phase = driver.session().phase();
        if driver.session().is_over() || life.elapsed() > LIFE {
            let is_lost = matches!(
                phase,
                SessionPhase::Failed(Failure::Dropped | Failure::ConnectionLost(_) | Failure::JoinTimeout)
            );
            return Ok((told(&driver, "over"), is_lost));
        }
        std::thread::sleep(PAUSE);
    }
}

/// What it does in a turn. What is refused here is refused.
#[allow(clippy::let_unit_value, reason = "a liar does not care whether it may")]
fn act(
    lie: Lie,
    own: PlayerId,
    turn: testudo_lockstep::Turn,
    copy: &LyingCopy,
    session: &mut Session<testudo_battle::Order>,
) {
    match lie {
        Lie::Pause => {
            let _ = session.pause(turn.0.is_multiple_of(2));
        }
        Lie::Speed(percent) => {
            let _ = session.set_speed(percent);
        }
        Lie::Orders => {
            if let Some(order) = bots::order(copy.truth().seen(), own, turn) {
                for _ in 0..FLOOD {
                    let _ = session.submit(&order);
                }
            }
        }
        _ => {
            if let Some(level) = Pilot::Bot(Level::Normal).level() {
                play_bot(level, copy.truth(), own, turn, session);
            }
        }
    }
}

fn told(driver: &Driver<LyingCopy>, why: &str) -> String {
    let session = driver.session();
    format!("{why}: {:?} in turn {}", session.phase(), session.next_turn().0)
}
