//! A game in virtual time, from its plan to its report.

use testudo_lockstep::simnet::SimNet;
use testudo_lockstep::{
    ConfigError, Driver, Duration, EndReason, Event, Identity, Instant, PeerId, PlayerId, Session,
    SessionPhase, Topology, Turn, VirtualMatch,
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

/// Secrets of players who take another player's place are larger by this.
const STRANGER: u8 = 100;

/// Time after which a refused newcomer tries again.
const TRY_AGAIN: Duration = Duration::from_millis(700);

/// A newcomer that joins this long before the end must reach the end.
const TIME_TO_JOIN: Duration = Duration::from_secs(25);

/// Later than any match.
const NEVER: Instant = Instant::from_millis(u64::MAX / 4_000);

/// A peer that joins the running match.
#[derive(Clone, Copy, Debug)]
struct Comer {
    node: u32,
    secret: u8,
    /// When it came, or was last cut off and came again; and the time of its last attempt.
    since: Instant,
    tried: Instant,
}

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
    pub(crate) late_joins: u64,
    pub(crate) watchers: u64,
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
    game: Game,
    virtual_match: VirtualMatch<Fighter>,
    ledger: Ledger,
    /// By node.
    news: Vec<News>,
    /// Peers that joined the running match, the latest of each node last.
    comers: Vec<Comer>,
    /// Traces of programs that have been restarted since.
    former: Vec<Client>,
    /// Nodes that are cut off for good.
    island: Vec<u32>,
    edges_done: Vec<bool>,
    /// What ends after an edge case, and when.
    reliefs: Vec<(Instant, What)>,
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
            let start =
                plan.clocks.get(node as usize).map_or(Instant::ZERO, |clock| Instant::ZERO + clock.offset);
            drivers
                .push(Driver::new(Fighter::new(game.clone()), session(plan, node, start, secret_of(node))?));
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
        for node in plan.early_nodes()..plan.nodes() {
            virtual_match.put_to_sleep(node as usize, NEVER);
        }
        Ok(Self {
            plan,
            game,
            virtual_match,
            ledger: Ledger::new(plan.setup.players, plan.turns, TURNS_AHEAD, plan.orders_per_turn),
            news: vec![News::default(); plan.nodes() as usize],
            comers: Vec::new(),
            former: Vec::new(),
            island: Vec::new(),
            edges_done: vec![false; plan.edges.len()],
            reliefs: Vec::new(),
            faults: Faults::default(),
            findings: Vec::new(),
            began: None,
            deeds_done: 0,
            ended: None,
        })
    }

    fn run(&mut self) {
        let (mut progress, mut since) = (0, Instant::ZERO);
        while !self.is_over() {
            let now = self.virtual_match.now();
            self.do_deeds(now);
            let (plan, ledger) = (self.plan, &mut self.ledger);
            self.virtual_match.step(&mut |node, turn, fighter: &Fighter, session: &mut Session<Order>| {
                if node < usize::from(plan.setup.players) {
                    begin_turn(plan, ledger, node as u8, turn, fighter, session);
                }
            });
            self.take_news();
            self.try_again(now);
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
            _ if self.comers.iter().any(|comer| comer.node == node as u32) => false,
            Identity::Player(player) => !plan.doomed.contains(&player.0) && !plan.leaves(player.0),
            Identity::Spectator => node < plan.early_nodes() as usize,
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
        let reached = self.virtual_match.drivers().iter().map(|driver| driver.session().next_turn().0).max();
        for (index, edge) in plan.edges.iter().enumerate() {
            if !self.edges_done[index] && reached.is_some_and(|turn| turn >= edge.turn) {
                self.edges_done[index] = true;
                self.do_deed(now, &edge.what);
                let relief = match edge.what {
                    What::Weather(_) => What::Weather(plan.weather),
                    _ => What::Heal,
                };
                self.reliefs.push((now + edge.lasts, relief));
            }
        }
        while let Some(index) = self.reliefs.iter().position(|(at, _)| *at <= now) {
            let (_, relief) = self.reliefs.remove(index);
            self.do_deed(now, &relief);
        }
    }

    /// Whether every client that took part has ended.
    fn is_over(&self) -> bool {
        let came = |node: usize| {
            node < self.plan.early_nodes() as usize
                || self.comers.iter().any(|comer| comer.node == node as u32)
        };
        let drivers = self.virtual_match.drivers();
        (0..drivers.len()).filter(|node| came(*node)).all(|node| drivers[node].session().is_over())
            && !self.comers.iter().any(|comer| self.tries_again(comer))
    }

    /// A peer joins the running match, with a program that has just started.
    fn come(&mut self, now: Instant, node: u32, secret: u8) {
        let was_cut_off = self.island.contains(&node);
        self.island.retain(|other| *other != node);
        self.virtual_match.net_mut().set_partition(&self.island);
        self.virtual_match.put_to_sleep(node as usize, Instant::ZERO);
        match self.comers.iter_mut().find(|comer| comer.node == node) {
            // Another attempt.
            Some(comer) if comer.secret == secret => {
                comer.tried = now;
                if was_cut_off {
                    comer.since = now;
                }
            }
            _ => {
                self.comers.retain(|comer| comer.node != node);
                self.comers.push(Comer { node, secret, since: now, tried: now });
            }
        }
        let start = self.virtual_match.local_time(node as usize);
        let Ok(session) = session(self.plan, node, start, secret) else { return };
        let fresh = Driver::new(Fighter::new(self.game.clone()), session);
        let former = core::mem::replace(&mut self.virtual_match.drivers_mut()[node as usize], fresh);
        self.keep_former(node, former);
        if node < u32::from(self.plan.setup.players) {
            self.ledger.restart(node as u8);
        }
    }

    /// The trace of a program before its restart is checked, too.
    fn keep_former(&mut self, node: u32, former: Driver<Fighter>) {
        let news = core::mem::take(&mut self.news[node as usize]);
        let (mut fighter, session) = former.into_parts();
        let name = format!("{}, before it came again", name_of(self.plan, node));
        let client =
            Client { name, state: session.phase(), has_to_finish: false, news, trace: fighter.take_trace() };
        // It did not see the whole match, even if it took part until the end.
        if client.state != SessionPhase::Finished {
            self.former.push(client);
        }
    }

    /// A refused newcomer tries again as long as the match runs.
    fn try_again(&mut self, now: Instant) {
        let again = |comer: &&Comer| self.tries_again(comer) && now.since(comer.tried) >= TRY_AGAIN;
        let again: Vec<(u32, u8)> =
            self.comers.iter().filter(again).map(|comer| (comer.node, comer.secret)).collect();
        for (node, secret) in again {
            self.come(now, node, secret);
        }
    }

    fn tries_again(&self, comer: &Comer) -> bool {
        let drivers = self.virtual_match.drivers();
        let failed = matches!(drivers[comer.node as usize].session().phase(), SessionPhase::Failed(_));
        failed && drivers[self.plan.centre() as usize].session().phase() == SessionPhase::Running
    }

    /// Whether a newcomer had enough time to reach the end.
    fn had_time(&self, comer: &Comer) -> bool {
        let end = self.ended.unwrap_or(self.virtual_match.now());
        // A relay lets nobody in when nobody plays any more.
        let plays_on = |node: u32| {
            node != comer.node
                && node < u32::from(self.plan.setup.players)
                && self.plays_to_the_end(node as usize)
                && !self.plan.leavers.contains(&(node as u8))
        };
        if self.plan.topology == Topology::Relay && !(0..self.plan.nodes()).any(plays_on) {
            return false;
        }
        // A newcomer that was later cut off for good does not count.
        end.since(comer.since) >= TIME_TO_JOIN && !self.island.contains(&comer.node)
    }

    fn do_deed(&mut self, now: Instant, what: &What) {
        match *what {
            What::Weather(weather) => self.virtual_match.net_mut().set_default(weather),
            What::Cut(ref island) => {
                self.faults.partition += 1;
                self.island.clone_from(island);
                self.virtual_match.net_mut().set_partition(island);
            }
            What::Heal => {
                self.island.clear();
                self.virtual_match.net_mut().set_partition(&[]);
            }
            What::Return(player) => self.come(now, player.into(), secret_of(player.into())),
            What::LateJoin(player) => self.come(now, player.into(), secret_of(player.into()) + STRANGER),
            What::Watch(node) => self.come(now, node, secret_of(node)),
            What::Sleep(node, span) => {
                if span > self.plan.drop_after.times(2) {
                    // It sleeps for too long to get in.
                    self.comers.retain(|comer| comer.node != node);
                }
                self.virtual_match.put_to_sleep(node as usize, now + span);
            }
            // Who has left by then pauses nothing.
            What::Pause(player, true) => {
                let _ = self.session(player).pause(true);
            }
            // Who was to end the pause may have left. Anybody may end it, and a game that stands still proves nothing.
            What::Pause(_, false) => {
                for player in 0..self.plan.setup.players {
                    let _ = self.session(player).pause(false);
                }
            }
            What::Leave(player) => {
                self.comers.retain(|comer| comer.node != u32::from(player));
                let cancelled = self.session(player).leave();
                self.ledger.cancel(player, cancelled);
            }
            What::Resign(player) => {
                let cancelled = self.session(player).resign();
                self.ledger.cancel(player, cancelled);
            }
        }
    }

    fn session(&mut self, player: u8) -> &mut Session<Order> {
        self.virtual_match.drivers_mut()[usize::from(player)].session_mut()
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
                        _ => news.dropped.push((player.0, turn.0)),
                    },
                    Event::Paused { paused: true, .. } => news.pauses += 1,
                    Event::Joined { .. } => news.joined = true,
                    Event::PlayerReturned { player, turn } => {
                        news.back.push((player.0, turn.0));
                        if usize::from(player.0) == node {
                            self.ledger.returned(player.0, turn.0);
                        }
                    }
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
            let comer = self.comers.iter().find(|comer| comer.node == node);
            let has_to_finish =
                comer.map_or(self.plays_to_the_end(node as usize), |comer| self.had_time(comer));
            let driver = &mut self.virtual_match.drivers_mut()[node as usize];
            stalled_frames += driver.session().stats().stalled_frames;
            if identity(plan, node) == Identity::Relay {
                continue;
            }
            let name = name_of(plan, node);
            clients.push(Client {
                name,
                state: driver.session().phase(),
                has_to_finish,
                news: core::mem::take(&mut self.news[node as usize]),
                trace: driver.simulation_mut().take_trace(),
            });
        }
        clients.append(&mut self.former);
        for (player, waited, told) in self.ledger.false_words() {
            let text = format!("player {player}: {waited} orders waited, {told} were cancelled");
            self.findings.push(Finding::Mismatch(text));
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
        let back = |stranger: bool| {
            let came = |player: u8| {
                let is_stranger = |comer: &Comer| comer.node == u32::from(player) && comer.secret >= STRANGER;
                self.comers.iter().any(is_stranger) == stranger
            };
            news.map_or(0, |news| news.back.iter().filter(|(player, _)| came(*player)).count() as u64)
        };
        (self.faults.rejoin, self.faults.late_joins) = (back(false), back(true));
        let watch = |client: &&Client| client.news.joined && client.name.starts_with("spectator");
        self.faults.watchers = clients.iter().filter(watch).count() as u64;
        self.findings.extend(verdict.findings);
        let (turns, contacts) =
            reference.map_or((0, 0), |client| (client.trace.turns(), client.trace.contacts));
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

fn name_of(plan: &Plan, node: u32) -> String {
    match identity(plan, node) {
        Identity::Player(player) => format!("player {player}"),
        Identity::Spectator => format!("spectator {node}"),
        Identity::Relay => "relay".into(),
    }
}

/// The secret by which the middle of the star recognises a node's player.
fn secret_of(node: u32) -> u8 {
    node as u8 + 1
}

fn session(plan: &Plan, node: u32, start: Instant, secret: u8) -> Result<Session<Order>, ConfigError> {
    let config = plan.config().seat_secret([secret; 16]);
    let mut session = Session::new(config, identity(plan, node), start)?;
    match plan.topology {
        Topology::Mesh => (0..node).for_each(|other| session.connect(PeerId(other))),
        Topology::Host | Topology::Relay if node != plan.centre() => session.connect(PeerId(plan.centre())),
        Topology::Host | Topology::Relay => {}
    }
    Ok(session)
}

/// Before a turn begins: submits the bot's order, and sometimes several at once, if the player is not away. The ledger notes what the
/// session accepted.
fn begin_turn(
    plan: &Plan,
    ledger: &mut Ledger,
    player: u8,
    turn: Turn,
    fighter: &Fighter,
    session: &mut Session<Order>,
) {
    let is_burst = (turn.0 + u32::from(player)).is_multiple_of(plan.burst_every);
    let count = match fighter.plays(player) {
        true if is_burst => BURST,
        true => 1,
        false => 0,
    };
    for extra in 0..count {
        // The order that the bot would give in another turn, in the present situation.
        let order = bots::order(fighter.game(), PlayerId(player), Turn(turn.0 + extra * plan.turns));
        if let Some(order) = order
            && session.submit(&order).is_ok()
        {
            ledger.accept(player, order);
        }
    }
    ledger.begin(player, turn.0);
}
