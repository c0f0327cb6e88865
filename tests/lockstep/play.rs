//! What tests do with a match of several peers: bots play it, and the peers are asked what they know.

use std::borrow::BorrowMut;

use crate::toy::{Order, Toy, bot, toy_match};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    AnySession, Driver, Duration, Event, Identity, Instant, PeerId, PlayerId, Session, SessionConfig,
    SessionPhase, Simulation, SubmitError, Turn, VirtualMatch,
};

/// The bots' seed.
pub(crate) const SEED: u64 = 7;

/// Gives the order of a player's bot. It must be accepted, unless the player is away or the match ends before it could run. Those of a player who has come in
/// the middle, or in a resumed match, may have to wait for others of its own.
pub(crate) fn give_order(turn: Turn, session: &mut Session<Order>) {
    let Some(order) = session.player().and_then(|player| bot(SEED, turn.0, player.0)) else { return };
    match session.submit(&order) {
        Ok(()) | Err(SubmitError::NotPlaying) => {}
        Err(SubmitError::TooLate { .. })
            if session.stats().turns_begun < u64::from(session.next_turn().0) => {}
        Err(SubmitError::TooLate { last_turn }) => {
            assert!(
                session.next_turn().0 + session.config().turns_ahead > last_turn.0,
                "{:?}",
                session.next_turn()
            );
        }
        Err(error) => panic!("{error}"),
    }
}

/// A match of players alone, which bots have played up to this time.
pub(crate) fn match_at(config: &SessionConfig, link: LinkConfig, ms: u64) -> VirtualMatch<Toy> {
    let mut game = toy_match(config, 0, 1, link);
    game.play(ms);
    game
}

/// A player without other peers.
pub(crate) fn alone(config: SessionConfig) -> Driver<Toy> {
    Driver::new(Toy::default(), Session::single(config, Instant::ZERO).unwrap())
}

/// What these peers send is at its receivers at once. Each has a number, by which the others know it.
pub(crate) fn exchange(peers: &mut [(u32, &mut AnySession)], now: Instant) {
    let (mut packets, mut packet) = (Vec::new(), Vec::new());
    for (from, session) in peers.iter_mut() {
        while let Some(PeerId(to)) = session.poll_transmit(now, &mut packet) {
            packets.push((*from, to, packet.clone()));
        }
    }
    for (from, to, packet) in packets {
        for (_, session) in peers.iter_mut().filter(|(number, _)| *number == to) {
            session.handle_packet(now, PeerId(from), &packet);
        }
    }
}

/// As [`exchange`], with peers whose numbers are their places.
pub(crate) fn exchange_all(drivers: &mut [Driver<Toy>], now: Instant) {
    let peers = (0..).zip(drivers).map(|(number, driver)| (number, &mut **driver.session_mut()));
    exchange(&mut peers.collect::<Vec<_>>(), now);
}

/// The handshake of a guest behind the link `peer` of the host, as far as it goes at one point of time; the host is behind 0.
pub(crate) fn introduce(host: &mut AnySession, guest: &mut AnySession, peer: PeerId, now: Instant) {
    (0..8).for_each(|_| exchange(&mut [(0, host), (peer.0, guest)], now));
}

/// Sessions of a host and of player 1, who have met as far as they can.
pub(crate) fn introduced(
    host: SessionConfig,
    guest: SessionConfig,
    now: Instant,
) -> (Session<Order>, Session<Order>) {
    let mut host = Session::host(host, now).unwrap();
    let mut guest = Session::join(guest, PlayerId(1), PeerId(0), now).unwrap();
    introduce(&mut host, &mut guest, PeerId(1), now);
    (host, guest)
}

/// What a peer was told since the last call.
pub(crate) fn events_of<S: Simulation>(driver: &mut Driver<S>) -> Vec<Event> {
    std::iter::from_fn(|| driver.session_mut().poll_event()).collect()
}

/// Whether somebody is said to have lied or to differ. Nobody honest ever is.
pub(crate) fn accuses(event: &Event) -> bool {
    let is_proof = matches!(event, Event::Contradiction(_) | Event::Outlier(_) | Event::WrongState { .. });
    is_proof || matches!(event, Event::ShownAnother { .. } | Event::Desync(_))
}

/// Bots play to the end, if it has not come yet, and all peers finish as in [`assert_agreed_by`].
pub(crate) fn assert_agreed(game: &mut VirtualMatch<Toy>, what: &str) {
    assert!(game.play_for(400_000), "{what}: {:?}", game.phases());
    let nodes = 0..game.drivers().len();
    assert_agreed_by(game, nodes, what);
}

/// These peers have finished with the same state, and were told of no difference. Those that got no state from others have run the same orders in the same
/// frames, and were told the same of the players.
pub(crate) fn assert_agreed_by(
    game: &mut VirtualMatch<Toy>,
    nodes: impl IntoIterator<Item = usize>,
    what: &str,
) {
    let (phases, mut simulate) = (game.phases(), Vec::new());
    for node in nodes {
        assert_eq!(phases[node], SessionPhase::Finished, "{what}: {node} of {phases:?}");
        let told = game.events(node);
        assert!(!told.iter().any(|event| matches!(event, Event::Desync(_))), "{what}: {node} {told:?}");
        simulate.extend((game.session(node).identity() != Identity::Relay).then_some(node));
    }
    let drivers = || simulate.iter().map(|node| &game.drivers()[*node]);
    let toys = || drivers().map(Driver::simulation);
    let frames: Vec<_> = drivers().map(Driver::frame).collect();
    let states: Vec<_> = toys().map(|toy| (toy.history, toy.values, toy.frames)).collect();
    let courses: Vec<_> = toys().filter(|toy| toy.loaded.is_empty()).map(Toy::course).collect();
    assert!(frames.iter().all(|frame| *frame == frames[0]), "{what}: {frames:?}");
    assert!(states.iter().all(|state| *state == states[0]), "{what}: {states:?}");
    assert!(courses.iter().all(|course| *course == courses[0]), "{what}: {courses:?}");
}

/// Nobody was told of such a thing since it was asked last.
pub(crate) fn assert_untold(game: &mut VirtualMatch<Toy>, is_bad: impl Fn(&Event) -> bool, what: &str) {
    for node in 0..game.drivers().len() {
        assert_eq!(game.events(node).into_iter().find(&is_bad), None, "{what}: {node}");
    }
}

/// Everybody plays on to the end, nobody was dropped and nobody accused.
pub(crate) fn assert_unharmed(game: &mut VirtualMatch<Toy>, what: &str) {
    assert!(game.play(600_000), "{what}: {:?}", game.phases());
    assert_untold(game, accuses, what);
    for node in 0..game.drivers().len() {
        assert_eq!(game.session(node).stats().drops, 0, "{what}: {node}");
    }
    assert_agreed(game, what);
}

/// What tests ask of a match and do with it. A peer's place among the drivers is its node.
pub(crate) trait Play<S: Simulation + 'static>: BorrowMut<VirtualMatch<S>> {
    fn session(&self, node: usize) -> &Session<S::Action> {
        self.borrow().drivers()[node].session()
    }

    fn session_mut(&mut self, node: usize) -> &mut Session<S::Action> {
        self.borrow_mut().drivers_mut()[node].session_mut()
    }

    /// A peer's copy of the game.
    fn toy(&self, node: usize) -> &S {
        self.borrow().drivers()[node].simulation()
    }

    fn toy_mut(&mut self, node: usize) -> &mut S {
        self.borrow_mut().drivers_mut()[node].simulation_mut()
    }

    fn phases(&self) -> Vec<SessionPhase> {
        self.borrow().drivers().iter().map(|driver| driver.session().phase()).collect()
    }

    /// What a peer was told since the last call.
    fn events(&mut self, node: usize) -> Vec<Event> {
        std::iter::from_fn(|| self.borrow_mut().poll_event(node)).collect()
    }

    /// Time passes until then, and nobody gives orders. Returns whether the match is over.
    fn idle(&mut self, until_ms: u64) -> bool {
        self.borrow_mut().run(Instant::from_millis(until_ms), |_, _, _, _| {})
    }

    fn idle_for(&mut self, ms: u64) -> bool {
        let until = self.borrow().now() + Duration::from_millis(ms);
        self.borrow_mut().run(until, |_, _, _, _| {})
    }

    /// As [`Play::idle`], and bots play.
    fn play(&mut self, until_ms: u64) -> bool
    where
        S: Simulation<Action = Order>,
    {
        let until = Instant::from_millis(until_ms);
        self.borrow_mut().run(until, |_, turn, _, session| give_order(turn, session))
    }

    /// As [`Play::play`], for so many milliseconds.
    fn play_for(&mut self, ms: u64) -> bool
    where
        S: Simulation<Action = Order>,
    {
        let until = self.borrow().now() + Duration::from_millis(ms);
        self.borrow_mut().run(until, |_, turn, _, session| give_order(turn, session))
    }

    /// As [`Play::play`], so many milliseconds at a time until something is so. It must be within so many.
    fn play_until(
        &mut self,
        step_ms: u64,
        within_ms: u64,
        mut is_so: impl FnMut(&mut VirtualMatch<S>) -> bool,
    ) where
        S: Simulation<Action = Order>,
    {
        let end = self.borrow().now() + Duration::from_millis(within_ms);
        while !is_so(self.borrow_mut()) {
            assert!(self.borrow().now() < end, "it never was so: {:?}", self.phases());
            self.play_for(step_ms);
        }
    }

    /// As [`Play::play`], while nothing goes from these nodes to the others or back.
    fn play_cut_off(&mut self, island: &[u32], until_ms: u64) -> bool
    where
        S: Simulation<Action = Order>,
    {
        self.borrow_mut().net_mut().set_partition(island);
        let is_over = self.play(until_ms);
        self.borrow_mut().net_mut().set_partition(&[]);
        is_over
    }
}

impl<S: Simulation + 'static> Play<S> for VirtualMatch<S> {}
