//! What comes late, twice or at the last moment: messages that cross, places that are left, programs that come again.

use crate::play::{Play as _, match_at};
use std::collections::VecDeque;

use crate::membership;
use crate::toy::Order;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Duration, Event, Identity, Instant, MessageError, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
    Topology, TurnStatus,
};

/// What every copy comes to after every turn.
const CHECKSUM: u64 = 7;

/// Sessions whose packets take a while, without any loss. The first one is the host; a session's peer number is its place in the list.
struct Table {
    now: Instant,
    way: Duration,
    sessions: Vec<Option<Session<Order>>>,
    /// When, from whom, to whom, what.
    under_way: VecDeque<(Instant, usize, usize, Vec<u8>)>,
}

impl Table {
    /// A host with this way to the others, ready at once.
    fn new(config: SessionConfig, way: Duration) -> Self {
        let now = Instant::from_millis(1);
        let host = Session::host(config, now).unwrap();
        Self { now, way, sessions: vec![Some(host)], under_way: VecDeque::new() }
    }

    fn sit(&mut self, config: SessionConfig, identity: Identity) -> usize {
        let mut session = Session::new(config, identity, self.now).unwrap();
        session.connect(PeerId(0));
        self.sessions.push(Some(session));
        self.sessions.len() - 1
    }

    fn at(&mut self, place: usize) -> &mut Session<Order> {
        self.sessions[place].as_mut().expect("nobody took it away")
    }

    /// Passes time in steps of 5 ms until this holds. Gives up after so many milliseconds.
    fn until(&mut self, ms: u64, mut holds: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..ms / 5 {
            if holds(self) {
                return true;
            }
            self.step();
        }
        holds(self)
    }

    fn pass(&mut self, ms: u64) {
        self.until(ms, |_| false);
    }

    fn step(&mut self) {
        self.now += Duration::from_millis(5);
        while self.under_way.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, from, to, packet)) = self.under_way.pop_front() else { return };
            if let Some(session) = &mut self.sessions[to] {
                session.handle_packet(self.now, PeerId(from as u32), &packet);
            }
        }
        let mut packet = Vec::new();
        for (place, session) in self.sessions.iter_mut().enumerate() {
            let Some(session) = session else { continue };
            session.handle_timeout(self.now);
            if matches!(session.begin_turn(self.now), TurnStatus::Ready(_)) {
                session.end_turn(self.now, CHECKSUM);
            }
            while let Some(PeerId(to)) = session.poll_transmit(self.now, &mut packet) {
                self.under_way.push_back((self.now + self.way, place, to as usize, packet.clone()));
            }
        }
    }

    fn phase(&self, place: usize) -> SessionPhase {
        self.sessions[place].as_ref().expect("nobody took it away").phase()
    }
}

fn of(player: u8) -> Identity {
    Identity::Player(PlayerId(player))
}

fn two(watchers_min: u32, watchers_max: u32) -> SessionConfig {
    let config = SessionConfig::new(2).simulated().turns(200).late_watchers(true);
    config.watchers_min(watchers_min).watchers_max(watchers_max).lobby_timeout(Duration::from_secs(60))
}

/// A watcher that had left in good order was waited for until the lobby's end, or kept its place for good.
#[test]
fn a_watcher_who_leaves_the_lobby_leaves_its_place() {
    let config = two(1, 1);
    let mut table = Table::new(config.clone(), Duration::from_millis(20));
    let first = table.sit(config.clone(), Identity::Watcher);
    table.pass(500);
    table.at(first).leave();
    table.pass(500);
    assert!(
        std::iter::from_fn(|| table.at(0).poll_event()).any(|event| matches!(event, Event::WatcherGone(_)))
    );
    let second = table.sit(config.clone(), Identity::Watcher);
    table.sit(config, of(1));
    assert!(table.until(5_000, |table| table.phase(0) == SessionPhase::Running));
    assert!(table.until(2_000, |table| table.phase(second) == SessionPhase::Running));
}

/// The place of a watcher that comes again was counted as another one's, so a referee that started again was refused.
#[test]
fn a_watcher_who_comes_again_takes_its_own_place() {
    let config = two(0, 1);
    for is_running in [false, true] {
        let mut table = Table::new(config.clone(), Duration::from_millis(20));
        let watcher = table.sit(config.clone(), Identity::Watcher);
        table.pass(500);
        if is_running {
            table.sit(config.clone(), of(1));
            assert!(table.until(5_000, |table| table.phase(0) == SessionPhase::Running));
        }
        let mut again = Session::new(config.clone(), Identity::Watcher, table.now).unwrap();
        again.connect(PeerId(0));
        table.sessions[watcher] = Some(again);
        table.pass(2_000);
        let events: Vec<Event> = std::iter::from_fn(|| table.at(watcher).poll_event()).collect();
        assert!(
            events.iter().any(|event| matches!(event, Event::Connected { .. })),
            "{is_running}: {events:?}"
        );
        assert!(!matches!(table.phase(watcher), SessionPhase::Failed(_)), "{is_running}");
    }
}

/// What reached the host after the start was dropped, and the guest showed itself a name that nobody else saw.
#[test]
fn a_profile_that_comes_after_the_start_is_taken_back() {
    // The guest says another name at this time, if it still may.
    let play = |at: Option<Instant>| {
        let config = two(0, 1);
        let mut table = Table::new(config.clone(), Duration::from_millis(100));
        let guest = table.sit(config, of(1));
        table.at(guest).set_profile(PlayerId(1), b"early").unwrap();
        let starts = |table: &mut Table| {
            if at == Some(table.now) {
                table.at(guest).set_profile(PlayerId(1), b"late").unwrap();
            }
            table.phase(0) == SessionPhase::Running
        };
        assert!(table.until(5_000, starts));
        let started = table.now;
        table.pass(2_000);
        let shown = [0, guest].map(|place| table.at(place).profile(PlayerId(1)).to_vec());
        (started, shown)
    };
    let (started, _) = play(None);
    let (_, shown) = play(Some(Instant::from_millis(started.as_micros() / 1_000 - 50)));
    assert_eq!(shown, [b"early", b"early"]);
}

/// The echo of an older one arrives between two changes: the last change was taken for no change.
#[test]
fn the_last_profile_that_was_set_counts() {
    let config = two(0, 1);
    let mut table = Table::new(config.clone(), Duration::from_millis(150));
    table.at(0).set_ready(false);
    let guest = table.sit(config, of(1));
    table.pass(2_000);
    for (profile, then) in [(b"A", 200), (b"B", 110), (b"A", 2_000)] {
        table.at(guest).set_profile(PlayerId(1), profile).unwrap();
        table.pass(then);
    }
    for place in [0, guest] {
        assert_eq!(table.at(place).profile(PlayerId(1)), b"A", "{place}");
    }
}

/// The call said that it was done, and nobody ever heard of it.
#[test]
fn nobody_sets_the_profile_of_others_before_anybody_hears_it() {
    let config = SessionConfig::new(2).simulated().topology(Topology::Relay);
    let mut session = Session::<Order>::new(config, of(0), Instant::ZERO).unwrap();
    session.connect(PeerId(7));
    assert_eq!(session.set_profile(PlayerId(1), b"team 2"), Err(MessageError::Nobody));
    assert_eq!(session.set_profile(PlayerId(0), b"team 1"), Ok(()), "its own goes out with the connection");
}

/// A copy of the manifest made the guest begin again, and nobody served it: the lobby stood for a minute, and then it failed.
#[test]
fn a_manifest_that_comes_twice_asks_for_nothing() {
    let config = two(0, 1);
    let mut table = Table::new(config.clone(), Duration::from_millis(20));
    table.sit(config.clone(), of(1));
    assert!(table.until(9_000, |table| table.at(0).next_turn().0 > 4));
    table.at(0).save();
    let mut saved = None;
    assert!(table.until(9_000, |table| {
        saved = table.at(0).take_saved();
        saved.is_some()
    }));

    let mut table = Table::new(config.clone().resume(saved.unwrap()), Duration::from_millis(20));
    table.at(0).set_ready(false);
    let guest = table.sit(config, of(1));
    let mut told = Vec::new();
    assert!(table.until(9_000, |table| {
        let new =
            |(at, _, to, _): &&(Instant, usize, usize, Vec<u8>)| *to == guest && *at == table.now + table.way;
        told.extend(table.under_way.iter().filter(new).cloned());
        // It takes it only when somebody waits for it.
        table.at(0).give_save(Some(&[5; 2_000]));
        let has_it = table.at(guest).take_state().is_some();
        if has_it {
            table.at(guest).state_taken(Some(CHECKSUM));
        }
        has_it
    }));
    table.pass(1_000);
    for (_, from, to, packet) in told {
        table.under_way.push_back((table.now, from, to, packet));
    }
    table.pass(1_000);
    assert!(table.at(guest).take_state().is_none() && !table.at(guest).is_joining());
    table.at(0).set_ready(true);
    assert!(table.until(5_000, |table| table.phase(0) == SessionPhase::Running));
    assert!(table.until(5_000, |table| table.at(guest).next_turn().0 > 12));
}

/// The host's person closed the window while the end still waited for a broken line, and the end was taken from the others.
#[test]
fn who_leaves_after_the_last_turn_takes_the_end_from_nobody() {
    for (topology, cut_off) in [(Topology::Host, 2), (Topology::Relay, 2)] {
        let mut waited = 0;
        for cut_at in (29_300..30_300).step_by(100) {
            let mut game = match_at(&membership::config(3, topology), LinkConfig::new(), cut_at);
            game.net_mut().set_partition(&[cut_off]);
            game.play(cut_at + 1_000);
            let phases = [0, 1].map(|node: usize| game.session(node).phase());
            let is_end = phases == [SessionPhase::Ending; 2];
            waited += u32::from(is_end);
            if !is_end {
                continue;
            }
            game.session_mut(0).leave();
            game.play(cut_at + 60_000);
            let phases = [0, 1].map(|node: usize| game.session(node).phase());
            assert_eq!(phases, [SessionPhase::Finished; 2], "{topology:?}: cut off at {cut_at}");
        }
        assert!(waited > 0, "{topology:?}: nobody was ever waited for after the last turn");
    }
}
