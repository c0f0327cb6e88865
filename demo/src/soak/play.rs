//! A game in virtual time, from its plan to its report.

use testudo_lockstep::simnet::SimNet;
use testudo_lockstep::{
    ConfigError, Driver, Duration, EndReason, Event, Identity, Instant, PeerId, PlayerId, Session, Topology,
    Turn, VirtualMatch,
};

use crate::bots;
use crate::game::{Game, Order, SetupError};
use crate::soak::fighter::{Fighter, Trace};
use crate::soak::ledger::Ledger;
use crate::soak::plan::{Plan, TURNS_AHEAD, What};
use crate::soak::verdict::{Client, Finding, News, judge};

/// A game without progress for this long is stuck for good: several times the longest wait for a player, silence, and linger.
const PATIENCE: Duration = Duration::from_secs(150);

/// Orders that a player sometimes submits at once.
const BURST: u32 = 5;

/// Injected faults: packets; for partitions, drops and pauses the number of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) loss: u64,
    pub(crate) duplicate: u64,
    pub(crate) reorder: u64,
    pub(crate) corruption: u64,
    pub(crate) partition: u64,
    pub(crate) drop: u64,
    pub(crate) rejoin: u64,
    pub(crate) pause: u64,
}

/// The result of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GameReport {
    pub(crate) seed: u64,
    pub(crate) players: u8,
    pub(crate) topology: Topology,
    /// Number of turns that the survivors ran.
    pub(crate) turns: u32,
    /// Contacts that began in one survivor's copy.
    pub(crate) contacts: u64,
    pub(crate) faults: Faults,
    /// Number of turns of clients whose checksums were compared.
    pub(crate) compared: u64,
    /// Orders that had to run, and did, in one survivor's copy.
    pub(crate) orders: u64,
    /// Frames in which a client waited.
    pub(crate) stalled_frames: u64,
    pub(crate) findings: Vec<Finding>,
    /// If the game failed: what each client ran, by node.
    pub(crate) traces: Vec<Trace>,
    /// Virtual time until the last survivor had run the last turn.
    pub(crate) simulated: Duration,
}

/// Why a game could not begin: the plan was wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PlanError {
    Setup(SetupError),
    Config(ConfigError),
}

impl From<SetupError> for PlanError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<ConfigError> for PlanError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// Plays a game to its end, or until it is stuck for good, and checks it.
///
/// # Errors
/// Settings out of range.
pub(crate) fn play(plan: &Plan) -> Result<GameReport, PlanError> {
    let mut running = Running::start(plan)?;
    running.run();
    Ok(running.report())
}

struct Running<'a> {
    plan: &'a Plan,
    virtual_match: VirtualMatch<Fighter>,
    ledger: Ledger,
    /// By node.
    news: Vec<News>,
    faults: Faults,
    findings: Vec<Finding>,
    /// When the first client began turn 0.
    began: Option<Instant>,
    deeds_done: usize,
    /// When all survivors had run the last turn.
    ended: Option<Instant>,
}

impl<'a> Running<'a> {
    fn start(plan: &'a Plan) -> Result<Self, PlanError> {
        let game = Game::new(plan.setup)?;
        let mut drivers = Vec::new();
        for node in 0..plan.nodes() {
            drivers.push(Driver::new(Fighter::new(game.clone()), session(plan, node)?));
        }
        let mut net = SimNet::new(plan.seed);
        net.set_default(plan.weather);
        for &(from, to, settings) in &plan.odd_links {
            net.set_link(from, to, settings);
        }
        let mut virtual_match = VirtualMatch::new(drivers, net);
        for (node, clock) in plan.clocks.iter().enumerate() {
            virtual_match.set_clock(node, *clock);
        }
        Ok(Self {
            plan,
            virtual_match,
            ledger: Ledger::new(plan.setup.players, plan.turns, TURNS_AHEAD, plan.orders_per_turn),
            news: vec![News::default(); plan.nodes() as usize],
            faults: Faults::default(),
            findings: Vec::new(),
            began: None,
            deeds_done: 0,
            ended: None,
        })
    }

    fn run(&mut self) {
        let (mut progress, mut since) = (0, Instant::ZERO);
        while !self.virtual_match.is_over() {
            let now = self.virtual_match.now();
            self.do_deeds(now);
            let (plan, ledger) = (self.plan, &mut self.ledger);
            self.virtual_match.step(&mut |node, turn, fighter: &Fighter, session: &mut Session<Order>| {
                if node < usize::from(plan.setup.players) {
                    give_orders(plan, ledger, node as u8, turn, fighter, session);
                }
            });
            self.take_news();
            let turns: u32 = self.virtual_match.drivers().iter().map(|d| d.simulation().turns()).sum();
            let over = self.virtual_match.drivers().iter().filter(|d| d.session().is_over()).count();
            let reached = u64::from(turns) + over as u64;
            if reached != progress {
                (progress, since) = (reached, now);
                self.note_progress(now);
            } else if now.since(since) > PATIENCE {
                return;
            }
        }
    }

    fn note_progress(&mut self, now: Instant) {
        let mut drivers = self.virtual_match.drivers().iter();
        if self.began.is_none() && drivers.any(|driver| driver.session().next_turn().0 > 0) {
            self.began = Some(now);
        }
        let goes_on = |node: usize| self.plays_to_the_end(node);
        let has_run = |driver: &Driver<Fighter>| driver.simulation().turns() == self.plan.turns;
        let drivers = self.virtual_match.drivers();
        if self.ended.is_none()
            && (0..drivers.len()).filter(|node| goes_on(*node)).all(|node| has_run(&drivers[node]))
        {
            self.ended = Some(now);
        }
    }

    /// Whether a node simulates and must reach the last turn.
    fn plays_to_the_end(&self, node: usize) -> bool {
        let plan = self.plan;
        match identity(plan, node as u32) {
            Identity::Player(player) => !plan.doomed.contains(&player.0) && !plan.leaves(player.0),
            Identity::Spectator => true,
            Identity::Relay => false,
        }
    }

    fn do_deeds(&mut self, now: Instant) {
        let plan = self.plan;
        let Some(began) = self.began else { return };
        while let Some(deed) = plan.deeds.get(self.deeds_done).filter(|deed| began + deed.at <= now) {
            self.deeds_done += 1;
            self.do_deed(now, &deed.what);
        }
    }

    fn do_deed(&mut self, now: Instant, what: &What) {
        match *what {
            What::Weather(weather) => self.virtual_match.net_mut().set_default(weather),
            What::Cut(ref island) => {
                self.faults.partition += 1;
                self.virtual_match.net_mut().set_partition(island);
            }
            What::Heal => self.virtual_match.net_mut().set_partition(&[]),
            What::Sleep(node, span) => self.virtual_match.put_to_sleep(node as usize, now + span),
            What::Pause(player, paused) => self.session(player).pause(paused),
            What::Leave(player) => {
                let cancelled = self.session(player).leave();
                self.check_cancelled(player, cancelled);
            }
            What::Resign(player) => {
                let cancelled = self.session(player).resign();
                self.check_cancelled(player, cancelled);
            }
        }
    }

    fn session(&mut self, player: u8) -> &mut Session<Order> {
        self.virtual_match.drivers_mut()[usize::from(player)].session_mut()
    }

    /// A player who resigns is told how many of its orders will not run.
    fn check_cancelled(&mut self, player: u8, told: u32) {
        let waiting = self.ledger.cancel(player);
        if waiting != told {
            let text = format!("player {player}: {waiting} orders waited, {told} were cancelled");
            self.findings.push(Finding::Mismatch(text));
        }
    }

    fn take_news(&mut self) {
        for (node, news) in self.news.iter_mut().enumerate() {
            while let Some(event) = self.virtual_match.poll_event(node) {
                match event {
                    Event::Desync(_) => news.desync = true,
                    Event::PlayerGone { player, reason, turn } => match reason {
                        EndReason::Left | EndReason::Surrendered | EndReason::HandedOver => {
                            news.left.push((player.0, turn.0))
                        }
                        EndReason::Dropped => news.dropped.push((player.0, turn.0)),
                    },
                    Event::Paused { paused: true, .. } => news.pauses += 1,
                    _ => {}
                }
            }
        }
    }

    fn report(mut self) -> GameReport {
        let plan = self.plan;
        let stats = self.virtual_match.net().stats();
        let now = self.virtual_match.now();
        let mut stalled_frames = 0;
        let mut clients = Vec::new();
        for node in 0..plan.nodes() {
            let has_to_finish = self.plays_to_the_end(node as usize);
            let driver = &mut self.virtual_match.drivers_mut()[node as usize];
            stalled_frames += driver.session().stats().stalled_frames;
            let name = match identity(plan, node) {
                Identity::Player(player) => format!("player {player}"),
                Identity::Spectator => "the spectator".into(),
                Identity::Relay => continue,
            };
            clients.push(Client {
                name,
                state: driver.session().phase(),
                has_to_finish,
                news: core::mem::take(&mut self.news[node as usize]),
                trace: driver.simulation_mut().take_trace(),
            });
        }
        let verdict = judge(&clients, &self.ledger, plan.turns);
        let reference = verdict.reference.map(|index| &clients[index]);
        let news = reference.map(|client| &client.news);
        self.faults.loss = stats.lost + stats.lost_in_bursts + stats.lost_in_queues;
        self.faults.duplicate = stats.duplicated;
        self.faults.reorder = stats.reordered;
        self.faults.corruption = stats.corrupted;
        self.faults.drop = news.map_or(0, |news| news.dropped.len() as u64);
        self.faults.pause = news.map_or(0, |news| news.pauses);
        self.findings.extend(verdict.findings);
        let (turns, contacts) =
            reference.map_or((0, 0), |client| (client.trace.checksums.len() as u32, client.trace.contacts));
        let has_failed = !self.findings.is_empty();
        let traces = clients.into_iter().filter(|_| has_failed).map(|client| client.trace).collect();
        GameReport {
            seed: plan.seed,
            players: plan.setup.players,
            topology: plan.topology,
            turns,
            contacts,
            traces,
            faults: self.faults,
            compared: verdict.compared,
            orders: verdict.orders,
            stalled_frames,
            findings: self.findings,
            simulated: self.ended.unwrap_or(now).since(Instant::ZERO),
        }
    }
}

/// Players first, then the relay, then spectators.
fn identity(plan: &Plan, node: u32) -> Identity {
    match u8::try_from(node) {
        Ok(player) if player < plan.setup.players => Identity::Player(PlayerId(player)),
        _ if plan.topology == Topology::Relay && node == plan.centre() => Identity::Relay,
        _ => Identity::Spectator,
    }
}

fn session(plan: &Plan, node: u32) -> Result<Session<Order>, ConfigError> {
    let start = plan.clocks.get(node as usize).map_or(Instant::ZERO, |clock| Instant::ZERO + clock.offset);
    let mut session = Session::new(plan.config(), identity(plan, node), start)?;
    match plan.topology {
        Topology::Mesh => (0..node).for_each(|other| session.connect(PeerId(other))),
        Topology::Host | Topology::Relay if node != plan.centre() => session.connect(PeerId(plan.centre())),
        Topology::Host | Topology::Relay => {}
    }
    Ok(session)
}

/// Submits the bot's order, and sometimes several at once. The ledger notes what the session accepted.
fn give_orders(
    plan: &Plan,
    ledger: &mut Ledger,
    player: u8,
    turn: Turn,
    fighter: &Fighter,
    session: &mut Session<Order>,
) {
    if ledger.has_closed(player, turn.0) {
        return;
    }
    let is_burst = (turn.0 + u32::from(player)).is_multiple_of(plan.burst_every);
    for extra in 0..if is_burst { BURST } else { 1 } {
        // The order that the bot would give in another turn, in the present situation.
        let order = bots::order(fighter.game(), PlayerId(player), Turn(turn.0 + extra * plan.turns));
        if let Some(order) = order
            && session.submit(&order).is_ok()
        {
            ledger.accept(player, order);
        }
    }
    ledger.close(player, turn.0);
}
