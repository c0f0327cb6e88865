//! A match in virtual time, from its plan to its report.

use crate::drive::driver::Driver;
use crate::drive::simulation::Simulation;
use crate::pace::pacing::Pace;
use crate::replay::{Ending, Recorded, Replay, ReplayHeader};
use crate::session::commands::Successor;
use crate::session::config::{ConfigError, Topology};
use crate::session::event::Event;
use crate::session::{Session, SessionPhase};
use crate::simnet::SimNet;
use crate::simnet::virtual_match::VirtualMatch;
use crate::testing::soak::besides::Besides;
use crate::testing::soak::faults::{count_network, count_players};
use crate::testing::soak::judge::{ClientRecord, Finding, Judged, blames, judge};
use crate::testing::soak::ledger::Ledger;
use crate::testing::soak::nodes::{Brings, identity, name_of, secret_of, session, submit_orders};
use crate::testing::soak::plan::{Plan, What};
use crate::testing::soak::resumed::{Resumed, recorded};
use crate::testing::soak::shown::on_their_way;
use crate::testing::soak::summary::EventSummary;
use crate::testing::soak::trace::Trace;
use crate::testing::soak::{Faults, SoakGame, SoakReport, Uses};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::{Duration, Instant};

/// A game without progress for this long is stuck for good: several times the longest wait for a player, silence, and linger.
const PATIENCE: Duration = Duration::from_secs(150);

/// Secrets of players who take another player's place are larger by this.
const STRANGER: u8 = 100;

/// Time after which a refused peer tries again.
const TRY_AGAIN: Duration = Duration::from_millis(700);

/// A peer that joins this long before the end must reach the end, if the match is never slow.
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

/// The action of a soaked game.
type ActionOf<G> = <<G as SoakGame>::Game as Simulation>::Action;

/// Gets the time, and each peer's number and driver, whenever something may have happened.
type Watch<'a, G> = &'a mut dyn FnMut(Instant, u32, &Driver<Recorded<<G as SoakGame>::Game>>);

/// Plays a match to its end, or until it is stuck for good, and checks it; then a second one from its save.
pub(super) fn play<G: SoakGame>(plan: &Plan, game: &G, watch: Watch<'_, G>) -> SoakReport {
    let mut running = match Running::start(plan, game, None) {
        Ok(running) => running,
        Err(error) => return not_begun(plan, error),
    };
    running.run(watch);
    let (mut report, resumed) = running.report();
    if let Some(resumed) = resumed {
        go_on(plan, game, &resumed, &mut report);
    }
    report
}

/// Plays the match from its save to its end. A pause may last until then, so nothing need happen any more.
fn go_on<G: SoakGame>(plan: &Plan, game: &G, resumed: &Resumed<ActionOf<G>>, report: &mut SoakReport) {
    let away = (0..plan.players).filter(|player| resumed.is_away(plan, (*player).into())).collect();
    let plan = plan.resumed(away);
    let second = match Running::start(&plan, game, Some(resumed)) {
        Ok(mut running) => {
            running.run(&mut |_, _, _| {});
            running.report().0
        }
        Err(error) => not_begun(&plan, error),
    };
    report.uses.resumed += 1;
    for finding in second.findings {
        let text = |text| format!("resumed before turn {}: {text}", resumed.saved.turn().0);
        report.findings.push(match finding {
            Finding::Mismatch(what) => Finding::Mismatch(text(what)),
            Finding::Unrecovered(what) => Finding::Unrecovered(text(what)),
            Finding::Void => continue,
        });
        report.replays.clone_from(&second.replays);
    }
}

fn not_begun(plan: &Plan, error: ConfigError) -> SoakReport {
    let text = format!("the match did not begin: {error}");
    SoakReport { findings: vec![Finding::Unrecovered(text)], ..SoakReport::empty(plan) }
}

struct Running<'a, G: SoakGame> {
    plan: &'a Plan,
    game: &'a G,
    header: ReplayHeader,
    /// From where the match goes on, if it is the second one.
    resumed: Option<&'a Resumed<ActionOf<G>>>,
    virtual_match: VirtualMatch<Recorded<G::Game>>,
    ledger: Ledger<ActionOf<G>>,
    /// By node.
    summaries: Vec<EventSummary>,
    /// Peers that joined the running match, the latest of each node last.
    comers: Vec<Comer>,
    /// Programs that have been restarted since.
    former: Vec<ClientRecord<ActionOf<G>>>,
    /// Nodes that are cut off for good.
    island: Vec<u32>,
    besides: Besides,
    edges_done: Vec<bool>,
    /// What ends after an edge case, and when.
    reliefs: Vec<(Instant, What)>,
    faults: Faults,
    findings: Vec<Finding>,
    /// When the first client began turn 0.
    began: Option<Instant>,
    events_done: usize,
    /// When all survivors had run the last turn.
    ended: Option<Instant>,
}

impl<'a, G: SoakGame> Running<'a, G> {
    fn start(
        plan: &'a Plan,
        game: &'a G,
        resumed: Option<&'a Resumed<ActionOf<G>>>,
    ) -> Result<Self, ConfigError> {
        let header = game.header(plan);
        let mut drivers = Vec::new();
        for node in 0..plan.nodes() {
            let start = plan
                .network
                .clocks
                .get(node as usize)
                .map_or(Instant::ZERO, |clock| Instant::ZERO + clock.offset);
            let resumed = resumed.filter(|_| Resumed::<ActionOf<G>>::brings(plan, node));
            let saved = resumed.map(|resumed| resumed.saved.clone());
            let brings = Brings { secret: secret_of(node), saved, ..Brings::default() };
            let session = session(plan, &header, node, start, brings)?;
            drivers.push(Driver::new(recorded(game.start(), &header, resumed), session));
        }
        let mut net = SimNet::new(plan.seed);
        net.set_default(plan.network.weather);
        for &(from, to, settings) in &plan.network.odd_links {
            net.set_link(from, to, settings);
        }
        let mut virtual_match = VirtualMatch::new(drivers, net);
        for (node, clock) in plan.network.clocks.iter().enumerate() {
            let set = virtual_match.set_clock(node, *clock);
            debug_assert!(set.is_ok(), "{set:?}");
        }
        let is_away = |node: &u32| resumed.is_some_and(|resumed| resumed.is_away(plan, *node));
        for node in (0..plan.nodes()).filter(|node| *node >= plan.early_nodes() || is_away(node)) {
            virtual_match.put_to_sleep(node as usize, NEVER);
        }
        let mut ledger = Ledger::new(plan.players, plan.turns, plan.turns_ahead, plan.orders_per_turn);
        if let Some(resumed) = resumed {
            ledger.resume(resumed.saved.turn().0, &resumed.carried);
        }
        Ok(Self {
            plan,
            game,
            header,
            resumed,
            virtual_match,
            besides: Besides::new(plan, ledger.first),
            ledger,
            summaries: vec![EventSummary::default(); plan.nodes() as usize],
            comers: Vec::new(),
            former: Vec::new(),
            island: Vec::new(),
            edges_done: vec![false; plan.edges.len()],
            reliefs: Vec::new(),
            faults: Faults::default(),
            findings: Vec::new(),
            began: None,
            events_done: 0,
            ended: None,
        })
    }

    fn run(&mut self, watch: Watch<'_, G>) {
        let (mut progress, mut since) = (0, Instant::ZERO);
        while !self.is_over() {
            let now = self.virtual_match.now();
            self.do_events(now);
            let (plan, game, ledger, besides) = (self.plan, self.game, &mut self.ledger, &mut self.besides);
            self.virtual_match.step(&mut |node, turn, recorded, session| {
                besides.turn_begins(plan, node as u32, turn, now, session);
                if node < usize::from(plan.players) {
                    let player = PlayerId(node as u8);
                    submit_orders(plan, ledger, player, turn, session, |turn| {
                        game.order(recorded.game(), player, turn)
                    });
                    ledger.begin(player.0, turn.0);
                }
            });
            (0..).zip(self.virtual_match.drivers()).for_each(|(node, driver)| watch(now, node, driver));
            self.take_events();
            self.try_again(now);
            let turns: u32 = self.virtual_match.drivers().iter().map(|d| d.session().next_turn().0).sum();
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
        let has_run = |driver: &Driver<Recorded<G::Game>>| {
            self.ledger.first + driver.simulation().recorder().turns() == self.plan.turns
        };
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
            Identity::Watcher => node < plan.early_nodes() as usize,
            Identity::Relay => false,
        }
    }

    fn do_events(&mut self, now: Instant) {
        let plan = self.plan;
        let Some(began) = self.began else { return };
        while let Some(event) = plan.events.get(self.events_done).filter(|event| began + event.at <= now) {
            self.events_done += 1;
            self.do_event(now, &event.what);
        }
        self.besides.ask(plan, now.since(began), &mut self.virtual_match);
        self.besides.ask_for_save(plan, now.since(began), &mut self.virtual_match);
        let reached = self.virtual_match.drivers().iter().map(|driver| driver.session().next_turn().0).max();
        for (index, edge) in plan.edges.iter().enumerate() {
            if !self.edges_done[index] && reached.is_some_and(|turn| turn >= edge.turn) {
                self.edges_done[index] = true;
                self.do_event(now, &edge.what);
                let relief = match edge.what {
                    What::Weather(_) => What::Weather(plan.network.weather),
                    _ => What::Heal,
                };
                self.reliefs.push((now + edge.lasts, relief));
            }
        }
        while let Some(index) = self.reliefs.iter().position(|(at, _)| *at <= now) {
            let (_, relief) = self.reliefs.remove(index);
            self.do_event(now, &relief);
        }
    }

    /// Whether every client that took part has ended.
    fn is_over(&self) -> bool {
        let is_away = |node| self.resumed.is_some_and(|resumed| resumed.is_away(self.plan, node));
        let came = |node: usize| {
            (node < self.plan.early_nodes() as usize && !is_away(node as u32))
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
        let signed = self.virtual_match.drivers()[node as usize].session().signed_before();
        let signed = signed.filter(|_| self.plan.modes.signed.is_some_and(|signed| signed.remembers));
        let brings = Brings { secret, signed_before: signed, saved: None };
        let Ok(session) = session(self.plan, &self.header, node, start, brings) else { return };
        let fresh = Driver::new(recorded(self.game.start(), &self.header, None), session);
        let former = core::mem::replace(&mut self.virtual_match.drivers_mut()[node as usize], fresh);
        self.keep_former(node, former);
        if node < u32::from(self.plan.players) {
            self.ledger.restart(node as u8);
        }
    }

    /// What a program ran before its restart is checked, too.
    fn keep_former(&mut self, node: u32, mut former: Driver<Recorded<G::Game>>) {
        let name = format!("{}, before it came again", name_of(self.plan, node));
        // It did not see the whole match, even if it took part until the end.
        let client = self.client(node, name, false, &mut former);
        self.former.extend(client.filter(|client| client.state != SessionPhase::Finished));
    }

    /// What a program ran, and what its session reported.
    fn client(
        &mut self,
        node: u32,
        name: String,
        has_to_finish: bool,
        driver: &mut Driver<Recorded<G::Game>>,
    ) -> Option<ClientRecord<ActionOf<G>>> {
        let mut summary = core::mem::take(&mut self.summaries[node as usize]);
        summary.close(driver.session());
        let (state, next) = (driver.session().phase(), driver.session().next_turn().0);
        let recorded = driver.simulation_mut();
        recorded.finish(Ending::Over);
        let replay = recorded.take_bytes();
        // A state that came too late for any turn.
        let first = if recorded.file_index() > 0 { next } else { 0 };
        match Trace::read(&replay, self.header.sim_version, first) {
            Ok(trace) => {
                let events = self.game.events(recorded.game());
                Some(ClientRecord { name, state, has_to_finish, summary, trace, replay, events })
            }
            Err(error) => {
                self.findings.push(Finding::Mismatch(format!("the recording of {name}: {error}")));
                None
            }
        }
    }

    /// A refused peer tries again as long as the match runs.
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

    /// Whether a joining peer had enough time to reach the end.
    fn had_time(&self, comer: &Comer) -> bool {
        // The middle lets nobody in whom the others have voted out.
        if comer.node < u32::from(self.plan.players) && self.plan.is_voted_out(comer.node as u8) {
            return false;
        }
        let end = self.ended.unwrap_or(self.virtual_match.now());
        // A relay lets nobody in when nobody plays any more.
        let plays_on = |node: u32| {
            node != comer.node
                && node < u32::from(self.plan.players)
                && self.plays_to_the_end(node as usize)
                && !self.plan.leavers.contains(&(node as u8))
        };
        if self.plan.topology == Topology::Relay && !(0..self.plan.nodes()).any(plays_on) {
            return false;
        }
        // A joining peer that was later cut off for good does not count.
        let delay = if comer.node < u32::from(self.plan.players) {
            Duration::ZERO
        } else {
            self.plan.modes.watch_delay
        };
        let time = TIME_TO_JOIN.times(self.plan.modes.slowest_times());
        end.since(comer.since) >= time + delay.times(2) && !self.island.contains(&comer.node)
    }

    fn do_event(&mut self, now: Instant, what: &What) {
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
            // A player who has left by then pauses nothing.
            What::Pause(player, true) => {
                for asker in self.plan.modes.askers(player, self.plan.players) {
                    let _ = self.session(asker).pause(true);
                }
            }
            // The player who was to end the pause may have left. Anybody may end it, and a game that stands still proves nothing.
            What::Pause(_, false) => {
                for player in 0..self.plan.players {
                    let _ = self.session(player).pause(false);
                }
            }
            What::VoteOut(player) => {
                for voter in (0..self.plan.players).filter(|voter| *voter != player) {
                    let _ = self.session(voter).vote_out(PlayerId(player), true);
                }
            }
            What::Leave(player) => {
                self.comers.retain(|comer| comer.node != u32::from(player));
                let cancelled = self.session(player).leave();
                self.ledger.cancel(player, cancelled);
            }
            What::Resign(player) => {
                let cancelled = self.session(player).resign(Successor::AsConfigured);
                self.ledger.cancel(player, cancelled);
            }
        }
    }

    fn session(&mut self, player: u8) -> &mut Session<ActionOf<G>> {
        self.virtual_match.drivers_mut()[usize::from(player)].session_mut()
    }

    fn take_events(&mut self) {
        for (node, summary) in self.summaries.iter_mut().enumerate() {
            self.besides.listen(self.plan, node as u32, &mut self.virtual_match);
            while let Some(event) = self.virtual_match.poll_event(node) {
                summary.note(&event);
                self.besides.note(node as u32, &event);
                if let Event::Saved { .. } = event {
                    self.besides.keep_save(node as u32, &mut self.virtual_match);
                }
                if let Event::PlayerReturned { player, turn } = event
                    && usize::from(player.0) == node
                {
                    self.ledger.returned(player.0, turn.0);
                }
            }
        }
    }

    /// What is wrong, and from where a second match goes on.
    fn report(mut self) -> (SoakReport, Option<Resumed<ActionOf<G>>>) {
        let plan = self.plan;
        let now = self.virtual_match.now();
        let stalled_frames =
            self.virtual_match.drivers().iter().map(|driver| driver.session().stats().stalled_frames).sum();
        let clients = self.take_clients();
        for (player, waited, told) in self.ledger.false_words() {
            let text = format!("player {player}: {waited} orders waited, {told} were cancelled");
            self.findings.push(Finding::Mismatch(text));
        }
        let Judged { reference, findings, compared, orders } = judge(&clients, &self.ledger, plan.turns);
        self.findings.extend(findings);
        let reference = reference.map(|index| &clients[index]);
        let summary = reference.map(|client| &client.summary);
        count_network(&mut self.faults, self.virtual_match.net().stats());
        let is_stranger = |player: u8| {
            self.comers.iter().any(|comer| comer.node == u32::from(player) && comer.secret >= STRANGER)
        };
        count_players(&mut self.faults, plan, summary, is_stranger);
        let watches = |client: &&ClientRecord<_>| client.summary.joined && client.name.starts_with("watcher");
        self.faults.watchers = clients.iter().filter(watches).count() as u64;
        let (turns, events) = reference.map_or((0, 0), |client| (client.trace.turns(), client.events));
        if reference.is_some() && events == 0 {
            self.findings.push(Finding::Void);
        }
        let uses = self.count_uses(reference, &clients);
        let resumed = reference.filter(|_| self.findings.is_empty()).and_then(|whole| self.resumed_of(whole));
        let has_failed = !self.findings.is_empty();
        let failed = clients.into_iter().filter(|_| has_failed);
        let report = SoakReport {
            turns,
            events,
            faults: self.faults,
            uses,
            compared,
            orders,
            stalled_frames,
            findings: self.findings,
            replays: failed.map(|client| (client.name, client.replay)).collect(),
            simulated: self.ended.unwrap_or(now).since(Instant::ZERO),
            ..SoakReport::empty(plan)
        };
        (report, resumed)
    }

    /// From where a second match goes on, if a save is complete. In the second match itself, whether it went on so.
    fn resumed_of(&mut self, whole: &ClientRecord<ActionOf<G>>) -> Option<Resumed<ActionOf<G>>> {
        if let Some(resumed) = self.resumed.filter(|_| self.plan.pace == Pace::Fixed) {
            self.findings.extend(resumed.finding(&whole.trace).map(Finding::Mismatch));
        }
        let recording = Replay::read(whole.replay.clone(), self.header.sim_version).ok()?;
        let resumed = match self.besides.saved(self.plan, |player| self.stays(whole, player)) {
            Ok(saved) => Resumed::of(self.plan, self.game.start(), saved?, &whole.trace, recording),
            Err(text) => Err(text),
        };
        match resumed {
            Ok(resumed) => resumed,
            Err(text) => {
                self.findings.push(Finding::Mismatch(text));
                None
            }
        }
    }

    /// Whether a player was in the match all the time, as a peer says that saw all of it.
    fn stays(&self, whole: &ClientRecord<ActionOf<G>>, player: u8) -> bool {
        let is_away = |(who, _): &(u8, u32)| *who == player;
        self.plays_to_the_end(player.into()) && !whole.trace.gone.iter().any(is_away)
    }

    /// Judges what happened beside the orders, too.
    fn count_uses(
        &mut self,
        reference: Option<&ClientRecord<ActionOf<G>>>,
        clients: &[ClientRecord<ActionOf<G>>],
    ) -> Uses {
        let keys = clients.iter().filter(|client| client.summary.keys.is_some()).count() as u64;
        let (delayed, messages) = self.besides.seen_and_heard();
        let Some(reference) = reference else { return Uses { keys, delayed, messages, ..Uses::default() } };
        let stays = |player: u8| self.stays(reference, player);
        let findings = self.besides.findings(self.plan, &reference.summary, stays);
        self.findings.extend(findings.into_iter().map(Finding::Mismatch));
        Uses { keys, speeds: reference.summary.speeds.len() as u64, delayed, messages, resumed: 0 }
    }

    /// All programs that simulated, the ones that ran last first.
    fn take_clients(&mut self) -> Vec<ClientRecord<ActionOf<G>>> {
        let plan = self.plan;
        let mut clients = Vec::new();
        let has_to_finish: Vec<bool> = (0..plan.nodes())
            .map(|node| match self.comers.iter().find(|comer| comer.node == node) {
                Some(comer) => self.had_time(comer),
                None => self.plays_to_the_end(node as usize),
            })
            .collect();
        let end = self.ended.unwrap_or(self.virtual_match.now());
        let lasted = self.began.map_or(Duration::ZERO, |began| end.since(began));
        let drivers = self.virtual_match.take_drivers();
        for (node, summary) in (0..).zip(&mut self.summaries) {
            summary.profiles_late = on_their_way(plan, node, lasted, |node| drivers[node as usize].session());
        }
        for ((node, mut driver), has_to_finish) in (0..).zip(drivers).zip(has_to_finish) {
            if identity(plan, node) == Identity::Relay {
                let summary = &mut self.summaries[node as usize];
                summary.close(driver.session());
                self.findings.extend(blames(&name_of(plan, node), summary));
            } else {
                clients.extend(self.client(node, name_of(plan, node), has_to_finish, &mut driver));
            }
        }
        clients.append(&mut self.former);
        clients
    }
}
