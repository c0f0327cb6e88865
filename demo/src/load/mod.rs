//! Load for a relay: matches of bots that simulate nothing, over loopback, against a relay in a process of its own.
//!
//! What is measured must be the relay, not what loads it. So forwarding is timed in a few rooms only; another process plays all other rooms, and
//! gives way to this one.

pub(crate) mod process;

use std::io;
use std::thread;

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::{Answer, Greeting, Welcome};
use testudo_lockstep::service::guest::MIDDLE;
use testudo_lockstep::service::places::{Pass, Secret};
use testudo_lockstep::transport::sealed::{ClientEvent, SealedClient, SealedConfig, SealedThread};
use testudo_lockstep::{
    Driver, Duration, Identity, Instant, PlayerId, PlayerKey, Session, Simulation, Topology,
};

use crate::app::interrupt;
use crate::app::online::agreement::Agreement;
use crate::app::online::keys;
use process::{Cores, Process};
use testudo_battle::{Command as Deed, Order, Selection};
use testudo_render::clock::Clock;

/// Connections that are being made at once: a relay lets only a few from one address wait.
const CALLS_MAX: usize = 12;

/// With constant turns of 200 ms this gives ten turns per second.
const SPEED_PERCENT: u8 = 200;

/// Rooms in which forwarding is timed, if all others are played by another process.
const TIMED: usize = 8;

/// Time between two looks at the bots, if there are few, and if there are many.
const ROUND: Duration = Duration::from_micros(200);
const ROUND_OF_MANY: Duration = Duration::from_millis(1);

/// Time after the start of the last room that is not measured.
const SETTLE: Duration = Duration::from_secs(3);

/// Turns whose times are kept.
const TURNS_KEPT: usize = 64;

/// Time in which all rooms must have begun.
const START_MAX: Duration = Duration::from_secs(300);

/// What is played.
#[derive(Clone, Debug)]
pub(crate) struct LoadOptions {
    /// A relay that runs already; its processor time and memory are not measured. None: one is started.
    pub(crate) relay: Option<JoinCode>,
    pub(crate) rooms: usize,
    /// The match of each room.
    pub(crate) agreement: Agreement,
    /// Of each room.
    pub(crate) watchers: u32,
    /// What is measured, after all rooms have begun.
    pub(crate) time: Duration,
    pub(crate) cores: Cores,
}

/// What was measured.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct LoadReport {
    pub(crate) rooms: usize,
    pub(crate) players: u8,
    pub(crate) watchers: u32,
    pub(crate) seconds: f64,
    pub(crate) turns_per_second: f64,
    /// Processor time of the relay per second, in cores. This and the next three: null of a relay that runs already.
    pub(crate) relay_cores: Option<f64>,
    /// Processor time of the relay for each packet that it took or sent from its start to its end, in microseconds. What else runs on the machine matters
    /// less for this than for the times.
    pub(crate) relay_us_per_packet: Option<f64>,
    /// Rooms that one core would carry at this cost.
    pub(crate) rooms_per_core: Option<f64>,
    /// Memory that the relay has taken since it was empty, per room.
    pub(crate) kib_per_room: Option<f64>,
    /// Processor time of all that loads it, in cores.
    pub(crate) load_cores: f64,
    /// From the sending of the last entry of a turn to its arrival at the other players: the relay, both transports and the loopback, and the time
    /// until this program looks.
    pub(crate) forwarding_ms_p50: f64,
    pub(crate) forwarding_ms_p99: f64,
    pub(crate) forwarding_ms_max: f64,
    /// The same to watchers, who wait for nothing and get it after the players.
    pub(crate) watching_ms_p50: f64,
    pub(crate) watching_ms_p99: f64,
    pub(crate) measured_turns: usize,
    /// Time between two looks of this program, in 99 of 100 cases: how far it can be at fault.
    pub(crate) look_ms_p99: f64,
    /// Whether this program ran before all others on its core. If not, the times hold waits for the processor, too.
    pub(crate) went_first: bool,
    /// What the process said that plays the other rooms.
    pub(crate) crowd: serde_json::Value,
    /// What the relay said at its end.
    pub(crate) relay: serde_json::Value,
}

/// Simulates nothing.
struct Idle;

impl Simulation for Idle {
    type Action = Order;

    fn apply(&mut self, _: PlayerId, _: &Order) {}

    fn step(&mut self, _: u32) {}

    fn checksum(&mut self) -> u64 {
        0
    }

    /// Watchers may come after the start.
    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        out.push(0);
        true
    }

    fn load_state(&mut self, _: &[u8]) -> bool {
        true
    }
}

/// One player or watcher.
struct Bot {
    client: SealedClient,
    secret: Option<Secret>,
    room: usize,
    driver: Option<Driver<Idle>>,
    /// Turns below this are complete here.
    complete: u32,
    /// Nothing is to be done earlier, unless a packet comes.
    due: Instant,
}

/// When the last entry of each turn was sent, and by whom, in a room.
#[derive(Clone, Default)]
struct Times(Vec<(u32, Instant, u8)>);

impl Times {
    fn note_sent(&mut self, turn: u32, at: Instant, player: u8) {
        let place = turn as usize % TURNS_KEPT;
        if self.0.is_empty() {
            self.0.resize(TURNS_KEPT, (u32::MAX, Instant::ZERO, 0));
        }
        self.0[place] = (turn, at, player);
    }

    /// When the last entry was sent, if another player sent it.
    fn last(&self, turn: u32, receiver: Option<PlayerId>) -> Option<Instant> {
        let (noted, at, player) = *self.0.get(turn as usize % TURNS_KEPT)?;
        (noted == turn && Some(PlayerId(player)) != receiver).then_some(at)
    }
}

/// Plays, and measures the relay.
///
/// # Errors
/// The relay or a connection failed.
pub(crate) fn run(options: &LoadOptions, progress: impl Fn(&str)) -> io::Result<LoadReport> {
    if options.cores == Cores::OneEach {
        process::take_second_core()?;
    }
    let (mut relay, code) = match &options.relay {
        Some(code) => (None, code.clone()),
        None => {
            let (relay, code) = Process::relay(options.rooms, options.cores)?;
            (Some(relay), code)
        }
    };
    let memory = |relay: &Option<Process>| relay.as_ref().map_or(Ok(0), Process::memory_kib);
    let processor = |process: &Option<Process>| process.as_ref().map_or(Ok(0.0), Process::processor_seconds);
    let empty = memory(&relay)?;
    let others = if relay.is_some() { options.rooms.saturating_sub(TIMED) } else { 0 };
    let players = options.agreement.players;
    let mut crowd = None;
    if others > 0 {
        let seconds = (options.time + SETTLE).as_micros() / 1_000_000 + 10;
        crowd = Some(Process::crowd(&code, others, players, options.watchers, seconds)?);
    }
    let mut load = Load::new(code, LoadOptions { rooms: options.rooms - others, ..options.clone() })?;
    while !load.is_running() {
        load.step()?;
        if load.clock.elapsed() > START_MAX {
            return Err(io::Error::other(format!("only {} players came", load.bots.len())));
        }
    }
    progress("all play");
    let went_first = options.cores == Cores::OneEach && process::go_first();
    let wait = load.clock.now() + SETTLE;
    while load.clock.now() < wait {
        load.step()?;
    }
    let own = || process::processor_seconds("self");
    let (start, turns, spent) = (load.clock.now(), load.turns(), processor(&relay)?);
    let loaded = own()? + processor(&crowd)?;
    load.forget();
    while load.clock.now().since(start) < options.time {
        load.step()?;
    }
    let seconds = load.clock.now().since(start).as_micros() as f64 / 1e6;
    let relay_cores = (processor(&relay)? - spent) / seconds;
    let load_cores = (own()? + processor(&crowd)? - loaded) / seconds;
    let turns = (load.turns() - turns) as f64 / load.bots.len() as f64;
    let used = memory(&relay)?.saturating_sub(empty);
    let crowd = crowd.as_mut().map_or(Ok(serde_json::Value::Null), Process::end)?;
    let spent = processor(&relay)?;
    let said = relay.as_mut().map_or(Ok(serde_json::Value::Null), Process::stop)?;
    load.delays.sort_unstable();
    load.watching.sort_unstable();
    load.looks.sort_unstable();
    let report = LoadReport {
        rooms: options.rooms,
        players,
        watchers: options.watchers,
        seconds,
        turns_per_second: turns / seconds,
        relay_cores: relay.as_ref().map(|_| relay_cores),
        relay_us_per_packet: relay.as_ref().map(|_| 1e6 * spent / packets(&said).max(1.0)),
        rooms_per_core: relay.as_ref().map(|_| options.rooms as f64 / relay_cores.max(1e-9)),
        kib_per_room: relay.as_ref().map(|_| used as f64 / options.rooms as f64),
        load_cores,
        forwarding_ms_p50: part(&load.delays, 500),
        forwarding_ms_p99: part(&load.delays, 990),
        forwarding_ms_max: part(&load.delays, 1_000),
        watching_ms_p50: part(&load.watching, 500),
        watching_ms_p99: part(&load.watching, 990),
        measured_turns: load.delays.len(),
        look_ms_p99: part(&load.looks, 990),
        went_first,
        crowd,
        relay: said,
    };
    Ok(report)
}

/// Packets that a relay took and sent.
fn packets(said: &serde_json::Value) -> f64 {
    ["packets_in", "packets_out"].iter().filter_map(|name| said[*name].as_f64()).sum()
}

/// So many parts in a thousand are not greater; in milliseconds.
fn part(sorted: &[Duration], permille: usize) -> f64 {
    let at = (sorted.len() * permille / 1_000).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(0.0, |time| time.as_micros() as f64 / 1e3)
}

/// All bots.
struct Load {
    code: JoinCode,
    options: LoadOptions,
    clock: Clock,
    round: Duration,
    thread: SealedThread,
    bots: Vec<Bot>,
    /// Bots that have no place yet.
    calls: Vec<Bot>,
    /// Secrets of places that are still empty, with their rooms.
    empty: Vec<(usize, Secret)>,
    opened: usize,
    times: Vec<Times>,
    delays: Vec<Duration>,
    watching: Vec<Duration>,
    looked: Instant,
    /// Times between two looks.
    looks: Vec<Duration>,
    packet: Vec<u8>,
}

impl Load {
    fn new(code: JoinCode, options: LoadOptions) -> io::Result<Self> {
        let times = vec![Times::default(); options.rooms];
        Ok(Self {
            code,
            clock: Clock::start(),
            round: if options.rooms > TIMED { ROUND_OF_MANY } else { ROUND },
            thread: SealedThread::start()?,
            options,
            bots: Vec::new(),
            calls: Vec::new(),
            empty: Vec::new(),
            opened: 0,
            times,
            delays: Vec::new(),
            watching: Vec::new(),
            looked: Instant::ZERO,
            looks: Vec::new(),
            packet: Vec::new(),
        })
    }

    /// Whether every match has begun.
    fn is_running(&self) -> bool {
        let all = self.options.rooms
            * (usize::from(self.options.agreement.players) + self.options.watchers as usize);
        let runs = |bot: &Bot| bot.driver.as_ref().is_some_and(|driver| driver.session().next_turn().0 > 0);
        self.bots.len() == all && self.bots.iter().all(runs)
    }

    /// Turns begun, by all bots together.
    fn turns(&self) -> u64 {
        self.bots
            .iter()
            .filter_map(|bot| bot.driver.as_ref())
            .map(|driver| driver.session().stats().turns_begun)
            .sum()
    }

    /// Begins to measure.
    fn forget(&mut self) {
        [&mut self.delays, &mut self.watching, &mut self.looks].into_iter().for_each(Vec::clear);
    }

    fn step(&mut self) -> io::Result<()> {
        if interrupt::is_asked() {
            return Err(io::Error::other("it was interrupted"));
        }
        let began = self.clock.now();
        self.looks.push(began.since(self.looked));
        self.looked = began;
        self.call()?;
        self.answer()?;
        for index in 0..self.bots.len() {
            self.play(index)?;
        }
        let rest = self.round - self.clock.now().since(began);
        thread::sleep(core::time::Duration::from_micros(rest.as_micros()));
        Ok(())
    }

    /// Makes the next connections.
    fn call(&mut self) -> io::Result<()> {
        while self.calls.len() < CALLS_MAX {
            let (room, secret, greeting) = if let Some((room, secret)) = self.empty.pop() {
                (room, Some(secret), Greeting::Come { pass: Pass::from(&secret) })
            } else if self.opened < self.options.rooms {
                self.opened += 1;
                let pass = Pass::from(self.code.secret());
                let told = self.options.agreement.told().map_err(io::Error::other)?;
                (self.opened - 1, None, Greeting::Open { pass, agreement: Box::new(told) })
            } else {
                return Ok(());
            };
            let client = SealedClient::connect_on(
                &self.thread,
                self.code.addresses(),
                self.code.certificate_hash(),
                &greeting.to_bytes(),
                &SealedConfig::new(),
            )?;
            self.calls.push(Bot { client, secret, room, driver: None, complete: 0, due: Instant::ZERO });
        }
        Ok(())
    }

    /// Seats those whose connection has been answered.
    fn answer(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        for mut bot in core::mem::take(&mut self.calls) {
            let answer = match bot.client.poll() {
                None => {
                    self.calls.push(bot);
                    continue;
                }
                Some(ClientEvent::Accepted(bytes)) => Answer::read(&bytes),
                Some(other) => return Err(io::Error::other(format!("a bot was not let in: {other:?}"))),
            };
            let (welcome, secret) = match answer {
                Some(Answer::Opened(opened)) => {
                    let others = opened.secrets.players[1..].iter().map(|secret| (bot.room, *secret));
                    self.empty.extend(others);
                    let watchers = self.options.watchers as usize;
                    self.empty.extend(core::iter::repeat_n((bot.room, opened.secrets.watchers), watchers));
                    (opened.welcome, opened.secrets.players[0])
                }
                Some(Answer::Come(welcome)) => (welcome, bot.secret.unwrap_or_default()),
                other => return Err(io::Error::other(format!("a bot was told {other:?}"))),
            };
            bot.driver = Some(Driver::new(Idle, session(&welcome, secret, now)?));
            self.bots.push(bot);
        }
        Ok(())
    }

    fn play(&mut self, index: usize) -> io::Result<()> {
        let Bot { client, room, driver: Some(driver), complete, due, .. } = &mut self.bots[index] else {
            return Ok(());
        };
        let now = self.clock.now();
        let first = client.poll();
        if first.is_none() && now < *due {
            return Ok(());
        }
        for event in first.into_iter().chain(core::iter::from_fn(|| client.poll())) {
            match event {
                ClientEvent::Packet(packet) => driver.session_mut().handle_packet(now, MIDDLE, &packet),
                other => return Err(io::Error::other(format!("a bot lost its connection: {other:?}"))),
            }
        }
        let player = driver.session().player();
        let times = &mut self.times[*room];
        let next = driver.session().next_turn().0;
        let ready = next + driver.session().turns_ready();
        let delays = (*complete..ready).filter_map(|turn| times.last(turn, player)).map(|at| now.since(at));
        let all = if player.is_some() { &mut self.delays } else { &mut self.watching };
        all.extend(delays);
        *complete = ready.max(*complete);
        driver.advance_with(now, |turn, _, session| {
            let Some(player) = player else { return };
            if turn.0 == 0 && player.0 == 0 {
                // One change in a match is always allowed.
                let _ = session.set_speed(SPEED_PERCENT);
            }
            if (turn.0 + u32::from(player.0)) % 4 == 0 {
                let order = Order::new(Selection::All, Deed::Assign((turn.0 % 10) as u8));
                // The end of the match is never reached.
                let _ = session.submit(&order);
            }
        });
        let begun = driver.session().next_turn().0;
        let ahead = driver.session().config().turns_ahead;
        if let Some(player) = player {
            (next..begun).for_each(|turn| times.note_sent(turn + ahead, now, player.0));
        }
        while driver.session_mut().poll_transmit(now, &mut self.packet).is_some() {
            client.send(&self.packet);
        }
        while driver.session_mut().poll_event().is_some() {}
        *due = driver.poll_timeout().unwrap_or(now);
        Ok(())
    }
}

fn session(welcome: &Welcome, secret: Secret, now: Instant) -> io::Result<Session<Order>> {
    let failed = |error: &dyn core::fmt::Display| io::Error::other(error.to_string());
    let entropy = keys::random().map_err(|error| failed(&error))?;
    let config = welcome.agreement.config().topology(Topology::Relay).session_id(welcome.session_id);
    let mut config = Agreement::limited(config).entropy(entropy);
    if welcome.place != Identity::Watcher {
        let key = keys::random().map_err(|error| failed(&error))?;
        config = config.place_secret(secret).player_key(PlayerKey::from_secret(key));
    }
    let mut session = Session::new(config, welcome.place, now).map_err(|error| failed(&error))?;
    session.connect(MIDDLE);
    Ok(session)
}
