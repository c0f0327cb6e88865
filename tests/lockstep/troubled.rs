//! A match in which places change hands, and the account of every order.

use crate::play::Play as _;
use testudo_tests::scenes::Generator;

use crate::joining::{come_back, config, start};
use crate::toy::{Order, Toy, latency, middle_of, terrible};
use testudo_lockstep::{
    Duration, Event, Instant, Pace, SessionConfig, SessionPhase, Successor, Topology, VirtualMatch,
};

pub(crate) fn ms(time: u64) -> Instant {
    Instant::from_millis(time)
}

/// A player's program, from its start to its end.
#[derive(Clone, Default)]
struct Program {
    player: usize,
    accepted: Vec<u32>,
    /// Orders of which it was told that they may run nowhere.
    cancelled: u32,
    /// It was killed, so it could tell nobody anything.
    killed: bool,
}

/// What an attacker does now and then.
pub(crate) type Attack = fn(&mut Troubled);

/// A match in which places change hands, and the account of every order.
pub(crate) struct Troubled {
    pub(crate) config: SessionConfig,
    pub(crate) game: VirtualMatch<Toy>,
    pub(crate) dice: Generator,
    /// A player who harms the others as well as it can, and how. Nothing is promised to it.
    pub(crate) attacker: Option<(usize, Attack)>,
    /// The program at each place now.
    now: Vec<Program>,
    former: Vec<Program>,
    orders: u32,
    pub(crate) comings: Vec<u32>,
    /// Since when nothing happens to a player that could keep it from coming back; none if it has left for good.
    calm_since: Vec<Option<Instant>>,
    heal_at: Option<Instant>,
}

impl Troubled {
    pub(crate) fn new(seed: u64, topology: Topology, players: u8, pace: Pace) -> Self {
        let config = config(players, topology)
            .turns(if pace == Pace::Fixed { 300 } else { 150 })
            .pace(pace)
            .actions_per_turn_max(3)
            .late_joins(Duration::from_secs(1))
            // Longer than the troubles: who is away before the start keeps everybody from beginning.
            .lobby_timeout(Duration::from_secs(60));
        let link = if seed.is_multiple_of(3) { terrible() } else { latency(seed * 7 % 90) };
        let game = start(&config, 0, seed, link);
        let places = usize::from(players);
        Self {
            config,
            game,
            dice: Generator::new(seed),
            attacker: None,
            now: (0..places).map(|player| Program { player, ..Program::default() }).collect(),
            former: Vec::new(),
            orders: 0,
            comings: vec![0; places],
            calm_since: vec![Some(Instant::ZERO); places],
            heal_at: None,
        }
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.dice.next_u32() % limit
    }

    fn submit(&mut self, player: usize) {
        self.orders += 1;
        if self.game.session_mut(player).submit(&Order::Shout(self.orders)).is_ok() {
            self.now[player].accepted.push(self.orders);
        }
    }

    /// Notes what a program was told.
    fn listen(&mut self, player: usize) {
        for event in self.game.events(player) {
            match event {
                Event::Cancelled { actions } => self.now[player].cancelled += actions,
                Event::Desync(desync) => {
                    let is_honest = |of: &usize| self.attacker.is_none_or(|(attacker, _)| attacker != *of);
                    let honest = desync.values.iter().filter(|(of, _)| is_honest(&of.index()));
                    let mut values: Vec<u64> = honest.map(|(_, value)| *value).collect();
                    values.dedup();
                    assert!(
                        !is_honest(&player) || (self.attacker.is_some() && values.len() == 1),
                        "{desync:?}"
                    );
                }
                _ => {}
            }
        }
    }

    /// A new program takes a place.
    fn come(&mut self, player: usize) {
        self.listen(player);
        let fresh = Program { player, ..Program::default() };
        let mut former = core::mem::replace(&mut self.now[player], fresh);
        former.killed = !self.game.session(player).is_over();
        self.former.push(former);
        self.game.put_to_sleep(player, Instant::ZERO);
        come_back(&mut self.game, &self.config, player as u8);
        self.comings[player] += 1;
        self.calm_since[player] = Some(self.game.now());
    }

    fn trouble(&mut self) {
        let players = self.now.len() as u32;
        let player = 1 + self.below(players - 1) as usize;
        match self.below(12) {
            0..=4 if self.comings[player] < 5 => self.come(player),
            5 => {
                let span = Duration::from_millis(200 + u64::from(self.below(6_000)));
                self.game.net_mut().set_partition(&[player as u32]);
                self.heal_at = Some(self.game.now() + span);
            }
            6 => {
                let until = self.game.now() + Duration::from_millis(200 + u64::from(self.below(6_000)));
                self.game.put_to_sleep(player, until);
                self.calm_since[player] = self.calm_since[player].map(|_| until);
            }
            7 => {
                let session = self.game.session_mut(player);
                // Events say how many orders are cancelled, for those who get nothing else.
                let _ = if player.is_multiple_of(2) {
                    session.resign(Successor::AsConfigured)
                } else {
                    session.leave()
                };
                // The others cannot begin without it.
                if self.game.phases()[middle_of(&self.config) as usize] != SessionPhase::Lobby {
                    self.calm_since[player] = None;
                }
            }
            _ => self.submit(player),
        }
    }

    /// Plays to the end. The host or relay may go in the middle of it.
    pub(crate) fn play(&mut self, middle_leaves_at: Option<u64>) {
        let middle = middle_of(&self.config) as usize;
        while self.game.now() < ms(900_000) && !self.game.is_over() {
            let until = self.game.now() + Duration::from_millis(20 + u64::from(self.below(600)));
            let (mut orders, mut given) = (self.orders, Vec::new());
            self.game.run(until, |node, _, _, session| {
                orders += 1;
                if session.submit(&Order::Shout(orders)).is_ok() {
                    given.push((node, orders));
                }
            });
            self.orders = orders;
            given.into_iter().for_each(|(node, order)| self.now[node].accepted.push(order));
            let now = self.game.now();
            if self.heal_at.take_if(|at| *at <= now).is_some() {
                self.game.net_mut().set_partition(&[]);
                self.calm_since.iter_mut().flatten().for_each(|since| *since = now);
            }
            let middle_is_here = !self.game.session(middle).is_over();
            if middle_leaves_at.is_some_and(|at| now >= ms(at)) && middle_is_here {
                self.game.session_mut(middle).leave();
            } else if middle_is_here && now < ms(25_000) && self.below(3) == 0 {
                self.trouble();
            }
            if let Some((_, attack)) = self.attacker {
                attack(self);
            }
            for player in 1..self.now.len() {
                let gone = matches!(self.game.phases()[player], SessionPhase::Failed(_) | SessionPhase::Left);
                if gone && middle_is_here && self.comings[player] < 40 && self.calm_since[player].is_some() {
                    let since = self.calm_since[player];
                    self.come(player);
                    self.calm_since[player] = since;
                }
            }
        }
        (0..self.now.len()).for_each(|player| self.listen(player));
    }

    /// Peers that have finished have the same history, and those that had the time have finished.
    pub(crate) fn check_players(&self, what: &str) {
        let (phases, end) = (self.game.phases(), self.game.now());
        let whole = self.game.toy(0);
        for player in 1..self.now.len() {
            if self.attacker.is_some_and(|(attacker, _)| attacker == player) {
                continue;
            }
            let simulation = self.game.toy(player);
            if phases[player] == SessionPhase::Finished {
                assert_eq!(simulation.history, whole.history, "{what}: player {player}");
                assert_eq!(simulation.frames, whole.frames, "{what}: player {player}");
            }
            let had_time =
                self.calm_since[player].is_some_and(|since| end.since(since) >= Duration::from_secs(30));
            assert!(
                !had_time || phases[player] == SessionPhase::Finished,
                "{what}: player {player} {phases:?}, calm since {:?} of {end:?}",
                self.calm_since[player]
            );
        }
    }

    /// Every order that a session accepted ran exactly once, or the session said that it may not; an order of a program that was killed ran
    /// at most once. Nothing else ran.
    pub(crate) fn check_orders(&self, what: &str) {
        let log = &self.game.toy(0).log;
        let is_honest = |player: usize| self.attacker.is_none_or(|(attacker, _)| attacker != player);
        let mut ran: Vec<u32> = log
            .iter()
            .filter(|(_, player, _)| is_honest(usize::from(*player)))
            .filter_map(|(_, _, order)| if let Order::Shout(number) = order { Some(*number) } else { None })
            .filter(|number| *number <= self.orders)
            .collect();
        ran.sort_unstable();
        assert!(ran.windows(2).all(|pair| pair[0] < pair[1]), "{what}: an order ran twice");
        let mut expected = 0;
        for program in self.former.iter().chain(&self.now).filter(|program| is_honest(program.player)) {
            let count = program.accepted.iter().filter(|number| ran.binary_search(number).is_ok()).count();
            expected += count;
            let lost = program.accepted.len() - count;
            assert!(
                program.killed || lost as u32 <= program.cancelled,
                "{what}: {lost} lost, {program:?}",
                program = (&program.accepted, program.cancelled)
            );
        }
        assert!(expected > 50, "{what}: {expected} orders");
    }
}
