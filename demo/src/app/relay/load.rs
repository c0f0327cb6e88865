//! Load for a relay: matches of bots that simulate nothing, over loopback, against a relay in a process of its own.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

use testudo_lockstep::transport::sealed::{ClientEvent, JoinCode, SealedClient, SealedConfig};
use testudo_lockstep::{
    Driver, Duration, Identity, Instant, PeerId, PlayerId, PlayerKey, Session, Simulation, Topology,
};

use crate::app::clock::Clock;
use crate::app::online::agreement::Agreement;
use crate::app::online::greeting::{Answer, Greeting, Secret, Welcome};
use crate::app::online::keys;
use crate::app::online::name::Name;
use crate::game::{Command as Deed, Order, Selection};

/// Connections that are being made at once: a relay lets only a few from one address wait.
const CALLS_MAX: usize = 6;

/// With constant turns of 200 ms this gives ten turns per second.
const SPEED_PERCENT: u8 = 200;

/// Time between two looks at all bots.
const ROUND: Duration = Duration::from_millis(1);

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
    /// What is measured, after all rooms have begun.
    pub(crate) time: Duration,
}

/// What was measured.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct LoadReport {
    pub(crate) rooms: usize,
    pub(crate) players: u8,
    pub(crate) seconds: f64,
    pub(crate) turns_per_second: f64,
    /// Processor time of the relay per second, in cores.
    pub(crate) relay_cores: f64,
    /// Rooms that one core would carry at this cost.
    pub(crate) rooms_per_core: f64,
    /// Memory that the relay has taken since it was empty, per room.
    pub(crate) kib_per_room: f64,
    /// From the sending of the last entry of a turn to its arrival at the other players: the relay, both transports and the loopback, and up
    /// to a millisecond until this program looks.
    pub(crate) forwarding_ms_p50: f64,
    pub(crate) forwarding_ms_p99: f64,
    pub(crate) forwarding_ms_max: f64,
    pub(crate) measured_turns: usize,
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
}

/// One player.
struct Bot {
    client: SealedClient,
    secret: Option<Secret>,
    room: usize,
    driver: Option<Driver<Idle>>,
    /// Turns below this are complete here.
    complete: u32,
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
    fn last(&self, turn: u32, receiver: u8) -> Option<Instant> {
        let (noted, at, player) = *self.0.get(turn as usize % TURNS_KEPT)?;
        (noted == turn && player != receiver).then_some(at)
    }
}

/// Plays, and measures the relay.
///
/// # Errors
/// The relay or a connection failed.
pub(crate) fn run(options: &LoadOptions, progress: impl Fn(&str)) -> io::Result<LoadReport> {
    let mut relay = match options.relay {
        Some(_) => None,
        None => Some(Process::start(options.rooms)?),
    };
    let code = relay.as_ref().map(|relay| relay.code.clone()).or(options.relay.clone());
    let code = code.ok_or_else(|| io::Error::other("no relay"))?;
    let memory = |relay: &Option<Process>| relay.as_ref().map_or(Ok(0), Process::memory_kib);
    let processor = |relay: &Option<Process>| relay.as_ref().map_or(Ok(0.0), Process::processor_seconds);
    let empty = memory(&relay)?;
    let mut load = Load::new(code, options.clone());
    while !load.is_running() {
        load.step()?;
        if load.clock.elapsed() > START_MAX {
            return Err(io::Error::other(format!("only {} players came", load.bots.len())));
        }
    }
    progress(&format!("{} players after {} ms", load.bots.len(), load.clock.elapsed().as_millis()));
    let wait = load.clock.now() + Duration::from_secs(3);
    while load.clock.now() < wait {
        load.step()?;
    }
    let (start, turns, spent) = (load.clock.now(), load.turns(), processor(&relay)?);
    load.delays.clear();
    while load.clock.now().since(start) < options.time {
        load.step()?;
    }
    let seconds = load.clock.now().since(start).as_micros() as f64 / 1e6;
    let relay_cores = (processor(&relay)? - spent) / seconds;
    let turns = (load.turns() - turns) as f64 / load.bots.len() as f64;
    let used = memory(&relay)?.saturating_sub(empty);
    let mut delays: Vec<u64> = load.delays.iter().map(|delay| delay.as_micros()).collect();
    delays.sort_unstable();
    let part = |permille: usize| {
        let at = (delays.len() * permille / 1_000).min(delays.len().saturating_sub(1));
        delays.get(at).map_or(0.0, |micros| *micros as f64 / 1e3)
    };
    let said = relay.as_mut().map_or(Ok(serde_json::Value::Null), Process::stop)?;
    let report = LoadReport {
        rooms: options.rooms,
        players: options.agreement.players,
        seconds,
        turns_per_second: turns / seconds,
        relay_cores,
        rooms_per_core: options.rooms as f64 / relay_cores.max(1e-9),
        kib_per_room: used as f64 / options.rooms as f64,
        forwarding_ms_p50: part(500),
        forwarding_ms_p99: part(990),
        forwarding_ms_max: part(1_000),
        measured_turns: delays.len(),
        relay: said,
    };
    // Each client would wait for the end of its thread.
    core::mem::forget(load.bots);
    Ok(report)
}

/// All bots.
struct Load {
    code: JoinCode,
    options: LoadOptions,
    clock: Clock,
    bots: Vec<Bot>,
    /// Bots that have no place yet.
    calls: Vec<Bot>,
    /// Secrets of places that are still empty, with their rooms.
    empty: Vec<(usize, Secret)>,
    opened: usize,
    times: Vec<Times>,
    delays: Vec<Duration>,
    packet: Vec<u8>,
}

impl Load {
    fn new(code: JoinCode, options: LoadOptions) -> Self {
        let times = vec![Times::default(); options.rooms];
        Self {
            code,
            options,
            clock: Clock::start(),
            bots: Vec::new(),
            calls: Vec::new(),
            empty: Vec::new(),
            opened: 0,
            times,
            delays: Vec::new(),
            packet: Vec::new(),
        }
    }

    /// Whether every match has begun.
    fn is_running(&self) -> bool {
        let all = self.options.rooms * usize::from(self.options.agreement.players);
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

    fn step(&mut self) -> io::Result<()> {
        let began = self.clock.now();
        self.call()?;
        self.answer()?;
        for index in 0..self.bots.len() {
            self.play(index)?;
        }
        let rest = ROUND - self.clock.now().since(began);
        thread::sleep(core::time::Duration::from_micros(rest.as_micros()));
        Ok(())
    }

    /// Makes the next connections.
    fn call(&mut self) -> io::Result<()> {
        while self.calls.len() < CALLS_MAX {
            let name = Name::default();
            let (room, secret, greeting) = if let Some((room, secret)) = self.empty.pop() {
                (room, Some(secret), Greeting::Come { secret, name })
            } else if self.opened < self.options.rooms {
                self.opened += 1;
                let (secret, agreement) = (*self.code.secret(), self.options.agreement);
                (self.opened - 1, None, Greeting::Open { secret, agreement, name })
            } else {
                return Ok(());
            };
            let client = SealedClient::connect(
                self.code.addresses(),
                self.code.certificate_hash(),
                &greeting.to_bytes(),
                &SealedConfig::new(),
            )?;
            self.calls.push(Bot { client, secret, room, driver: None, complete: 0 });
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
                    let others = opened.players[1..].iter().map(|secret| (bot.room, *secret));
                    self.empty.extend(others);
                    (opened.welcome, opened.players[0])
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
        let Bot { client, room, driver: Some(driver), complete, .. } = &mut self.bots[index] else {
            return Ok(());
        };
        let now = self.clock.now();
        while let Some(event) = client.poll() {
            match event {
                ClientEvent::Packet(packet) => driver.session_mut().handle_packet(now, MIDDLE, &packet),
                other => return Err(io::Error::other(format!("a bot lost its connection: {other:?}"))),
            }
        }
        let Some(player) = driver.session().player() else { return Ok(()) };
        let times = &mut self.times[*room];
        let next = driver.session().next_turn().0;
        let ready = next + driver.session().turns_ready();
        let delays = (*complete..ready).filter_map(|turn| times.last(turn, player.0)).map(|at| now.since(at));
        self.delays.extend(delays);
        *complete = ready.max(*complete);
        driver.advance_with(now, |turn, _, session| {
            if turn.0 == 0 && player.0 == 0 {
                session.set_speed(SPEED_PERCENT);
            }
            if (turn.0 + u32::from(player.0)) % 4 == 0 {
                let order = Order::new(Selection::All, Deed::Assign((turn.0 % 10) as u8));
                // The end of the match is never reached.
                let _ = session.submit(&order);
            }
        });
        let begun = driver.session().next_turn().0;
        let ahead = driver.session().config().turns_ahead;
        (next..begun).for_each(|turn| times.note_sent(turn + ahead, now, player.0));
        while driver.session_mut().poll_transmit(now, &mut self.packet).is_some() {
            client.send(&self.packet);
        }
        while driver.session_mut().poll_event().is_some() {}
        Ok(())
    }
}

const MIDDLE: PeerId = PeerId(0);

fn session(welcome: &Welcome, secret: Secret, now: Instant) -> io::Result<Session<Order>> {
    let failed = |error: &dyn core::fmt::Display| io::Error::other(error.to_string());
    let entropy = keys::random().map_err(|error| failed(&error))?;
    let key = keys::random().map_err(|error| failed(&error))?;
    let Identity::Player(player) = welcome.place else { return Err(io::Error::other("no player's place")) };
    let config = welcome
        .agreement
        .config(welcome.session_id, Topology::Relay)
        .entropy(entropy)
        .seat_secret(secret)
        .player_key(PlayerKey::from_secret(key));
    Session::join(config, player, MIDDLE, now).map_err(|error| failed(&error))
}

/// The relay's process.
struct Process {
    child: Child,
    code: JoinCode,
}

/// A relay that is not needed any more does not go on.
impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(rooms: usize) -> io::Result<Self> {
        let (rooms, connections) = (rooms.to_string(), (rooms * 16).to_string());
        let mut child = Command::new(std::env::current_exe()?)
            .args(["relay", "--json", "--drain-s", "0", "--rooms-max", &rooms])
            .args(["--rooms-per-address-max", &rooms, "--connections-per-address-max", &connections])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or_else(no_pipe)?).lines();
        let code = loop {
            let line = lines.next().ok_or_else(|| io::Error::other("the relay did not start"))??;
            if let Some(code) = line.strip_prefix("relay at ") {
                break code.parse().map_err(io::Error::other)?;
            }
        };
        // The relay must not wait for a reader.
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, code })
    }

    /// User and system time so far. Linux only.
    fn processor_seconds(&self) -> io::Result<f64> {
        /// Linux reports in hundredths of a second.
        const TICKS: f64 = 100.0;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |field: usize| fields.get(field).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        Ok((ticks(11) + ticks(12)) / TICKS)
    }

    fn memory_kib(&self) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse().ok());
        kib.ok_or_else(|| io::Error::other("the system does not tell the memory of a process"))
    }

    /// Ends it, and returns what it says.
    fn stop(&mut self) -> io::Result<serde_json::Value> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        let mut said = String::new();
        self.child.stdout.take().ok_or_else(no_pipe)?.read_to_string(&mut said)?;
        serde_json::from_str(&said).map_err(io::Error::other)
    }
}

fn no_pipe() -> io::Error {
    io::Error::other("no pipe to the relay")
}
