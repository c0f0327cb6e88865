//! Relays that know nothing of the game, and what such a relay lets through.

use crate::play::{Play as _, assert_agreed, assert_untold, exchange, give_order};

use crate::joining::{come_back, config as joining_config, restart, secret, start};
use crate::toy::{Order, Toy, latency, toy_match};
use testudo_lockstep::AnyAction;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Event, Failure, Identity, Instant, Pace,
    PeerId, PlayerId, Session, SessionConfig, SessionPhase, Simulation, Topology,
};

/// An order, or bits that no honest peer can decode as one.
enum LooseOrder {
    Sound(Order),
    Junk,
}

impl Action for LooseOrder {
    const MAX_BITS: u32 = Order::MAX_BITS;

    fn encode(&self, out: &mut BitWriter) {
        match self {
            Self::Sound(order) => order.encode(out),
            // The start of a shout that has no number.
            Self::Junk => out.write_bits(0b11111, 5),
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        if input.bits_left() > 5 {
            return Order::decode(input).map(Self::Sound);
        }
        input.read_bits(5).map(|_| Self::Junk)
    }
}

/// A cheat's copy of the game: it runs honest orders as everybody does, and its own junk as nothing.
#[derive(Default)]
struct Cheat(Toy);

impl Simulation for Cheat {
    type Action = LooseOrder;

    fn apply(&mut self, player: PlayerId, action: &LooseOrder) {
        if let LooseOrder::Sound(order) = action {
            self.0.apply(player, order);
        }
    }

    fn step(&mut self, frames_per_second: u32) {
        self.0.step(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        self.0.checksum()
    }
}

fn guest<S: Simulation + Default>(config: &SessionConfig, player: u8, relay: u32) -> Driver<S> {
    let session = Session::join(config.clone(), PlayerId(player), PeerId(relay), Instant::ZERO);
    Driver::new(S::default(), session.unwrap())
}

#[test]
fn what_a_relay_cannot_read_and_nobody_can_decode_runs_as_no_action_everywhere() {
    let config = SessionConfig::new(3).simulated().turns(100).topology(Topology::Relay);
    const RELAY: u32 = 3;
    let mut relay = Session::<AnyAction>::relay(config.clone(), Order::MAX_BITS, Instant::ZERO).unwrap();
    let mut honest = [0, 1].map(|player| guest::<Toy>(&config, player, RELAY));
    let mut cheat = guest::<Cheat>(&config, 2, RELAY);
    let mut now = Instant::ZERO;
    let is_over = |drivers: &[Driver<Toy>; 2]| drivers.iter().all(|driver| driver.session().is_over());
    while !is_over(&honest) && now < Instant::from_millis(120_000) {
        now += Duration::from_millis(5);
        relay.handle_timeout(now);
        for driver in &mut honest {
            driver.advance_with(now, |turn, _, session| give_order(turn, session));
        }
        cheat.advance_with(now, |turn, _, session| {
            let order = if turn.0 % 3 == 0 { LooseOrder::Junk } else { LooseOrder::Sound(Order::Push(5)) };
            let _ = session.submit(&order);
        });
        let [first, second] = honest.each_mut().map(Driver::session_mut);
        exchange(&mut [(0, first), (1, second), (2, cheat.session_mut()), (RELAY, &mut relay)], now);
    }
    let [first, second] = &honest;
    for driver in &honest {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
        let orders_of = |player: u8| driver.simulation().log.iter().filter(move |entry| entry.1 == player);
        assert!(orders_of(2).count() > 30, "the cheat's honest orders run");
        assert!(driver.session().stats().entries_invalid > 20, "{:?}", driver.session().stats());
    }
    assert_eq!(first.simulation().log, second.simulation().log);
    assert_eq!(first.simulation().checksum(), second.simulation().checksum());
    assert_eq!(relay.stats().entries_invalid, 0, "the relay read none of them");
}

#[test]
fn a_relay_of_another_game_refuses_the_players() {
    let config = SessionConfig::new(2).simulated().topology(Topology::Relay);
    let mut relay = Session::<AnyAction>::relay(config.clone(), 32, Instant::ZERO).unwrap();
    let mut driver = guest::<Toy>(&config, 0, 2);
    for step in 1..200 {
        exchange(&mut [(0, driver.session_mut()), (2, &mut relay)], Instant::from_millis(step * 5));
    }
    assert!(matches!(driver.session().phase(), SessionPhase::Failed(_)), "{:?}", driver.session().phase());
}

/// Runs the lobby of one player and a relay; returns whether the player was let in.
fn knock(relay: &mut Session<AnyAction>, config: SessionConfig, from: u32, start_ms: u64) -> bool {
    let mut player =
        Session::<Order>::join(config, PlayerId(0), PeerId(9), Instant::from_millis(start_ms)).unwrap();
    for step in 0..40 {
        exchange(&mut [(from, &mut player), (9, relay)], Instant::from_millis(start_ms + step * 5));
    }
    player.knows(PeerId(9)) && !player.is_over() && relay.knows(PeerId(from))
}

#[test]
fn who_shows_the_secret_of_its_place_is_back_in_the_lobby_at_once() {
    let config = SessionConfig::new(2).simulated().topology(Topology::Relay).turns(100);
    let mut relay = Session::<AnyAction>::relay(config.clone(), Order::MAX_BITS, Instant::ZERO).unwrap();
    assert!(knock(&mut relay, config.clone().place_secret([7; 16]), 1, 0));
    assert!(!knock(&mut relay, config.clone().place_secret([8; 16]), 2, 300), "the place is taken");
    assert!(!knock(&mut relay, config.clone(), 3, 600), "no secret is no secret");
    assert!(knock(&mut relay, config.place_secret([7; 16]), 4, 900), "the same player, in a new process");
    assert!(!relay.knows(PeerId(1)));
}

/// One watcher is there from the start, one comes late, and a player comes back meanwhile. No watcher sees a turn before its time, and
/// all reach the end.
#[test]
fn watchers_get_everything_later_and_the_players_do_not_wait() {
    const DELAY_MS: u64 = 6_000;
    let link = latency(40).loss_ppm(50_000);
    let config =
        joining_config(3, Topology::Relay).late_watchers(true).watch_delay(Duration::from_millis(DELAY_MS));
    let mut game = start(&config, 2, 3, link);
    let (early, late) = (4, 5);
    game.net_mut().set_partition(&[late]);
    let (mut reached, mut shown) = (Vec::new(), 0);
    for step in 0_usize.. {
        let now = (step as u64 + 1) * 250;
        let over = game.play(now);
        match now {
            10_000 => {
                game.net_mut().set_partition(&[]);
                restart(&mut game, &config, late, Identity::Watcher, secret(9));
            }
            12_000 => come_back(&mut game, &config, 1),
            _ => {}
        }
        let turn = |node: u32| game.session(node as usize).next_turn().0;
        reached.push(turn(0));
        let before = step.checked_sub(DELAY_MS as usize / 250).map_or(0, |then| reached[then]);
        let ahead = config.turns_ahead + 1;
        for node in [early, late] {
            assert!(turn(node) <= before + ahead, "node {node} at {now} ms: {} of {before}", turn(node));
            shown += u32::from(before > ahead && turn(node) > 0);
        }
        let is_here = |node: u32| !game.session(node as usize).is_over();
        if (0..3).any(is_here) {
            assert!(now < 70_000, "the players wait: turn {}", turn(0));
        }
        if over {
            break;
        }
        assert!(now < 120_000, "{:?}", game.phases());
    }
    assert!(shown > 100, "the watchers have seen something: {shown}");
    assert_eq!(game.toy(late as usize).loaded.len(), 1, "it came by a state");
    assert_agreed(&mut game, "delayed");
}

/// Nobody else needs a state meanwhile: the one for the watcher must not be forgotten on its way.
#[test]
fn a_delayed_watcher_who_comes_alone_gets_a_state_too() {
    let config = joining_config(2, Topology::Relay)
        .turns(120)
        .late_watchers(true)
        .watch_delay(Duration::from_millis(6_000));
    let mut game = start(&config, 1, 3, LinkConfig::new());
    let late = 3;
    game.play_cut_off(&[late], 5_000);
    restart(&mut game, &config, late, Identity::Watcher, secret(9));
    assert!(game.play(60_000));
    assert_eq!(game.toy(late as usize).loaded.len(), 1);
    assert_agreed(&mut game, "alone");
}

/// A state of the first turns is followed by no entries. With a delay it was kept to the end of the match, and the watcher got none.
#[test]
fn a_delayed_watcher_who_comes_at_once_gets_a_state() {
    for topology in [Topology::Host, Topology::Relay] {
        for (players, ahead) in [(1, 1), (1, 8), (2, 2)] {
            for from in [10, 100, 300, 1_500] {
                let what = format!("{topology:?}, {players} players, {ahead} ahead, {from} ms");
                let config = SessionConfig::new(players).simulated().topology(topology).turns(60);
                let config =
                    config.turns_ahead(ahead).late_watchers(true).watch_delay(Duration::from_secs(3));
                let late = players + u8::from(topology == Topology::Relay);
                let mut game = start(&config, 1, 3, latency(5));
                game.play_cut_off(&[late.into()], from);
                restart(&mut game, &config, late.into(), Identity::Watcher, secret(9));
                assert!(game.play(100_000), "{what}");
                assert_agreed(&mut game, &what);
            }
        }
    }
}

/// The middle acknowledges more than such a watcher has, which was not believed: 4,096 turns later the watcher left it as one that withholds
/// confirmations. With a longer delay than 3,584 turns the state that waited for it had outlived the entries that follow it.
#[test]
fn a_watcher_behind_by_thousands_of_turns_sees_the_match_to_its_end() {
    for (topology, players, seconds) in
        [(Topology::Host, 1, 100), (Topology::Relay, 2, 30), (Topology::Host, 2, 100)]
    {
        for comes_late in [false, true] {
            let what = format!("{topology:?}, {players} players, {seconds} s, {comes_late}");
            let config = joining_config(players, topology).frames_per_second(60).frames_per_turn(1);
            let delay = Duration::from_secs(seconds);
            let config = config
                .turns(7_000)
                .late_watchers(true)
                .watchers_min(u32::from(!comes_late))
                .watch_delay(delay)
                .join_timeout(delay.times(3));
            let watcher = players + u8::from(topology == Topology::Relay);
            let mut game = start(&config, 1, 3, latency(5));
            if comes_late {
                game.play_cut_off(&[watcher.into()], 5_000);
                restart(&mut game, &config, watcher.into(), Identity::Watcher, secret(9));
            }
            assert!(game.play(1_000_000), "{what}");
            let loaded = game.toy(usize::from(watcher)).loaded.len();
            assert_eq!(loaded, usize::from(comes_late), "{what}");
            assert_agreed(&mut game, &what);
        }
    }
}

/// It was told that the orders of its last turn had been cancelled.
#[test]
fn who_has_run_everything_is_told_of_no_cancelled_order() {
    let config = SessionConfig::new(1).simulated().turns(30).turns_ahead(0).topology(Topology::Relay);
    for seed in 0..8 {
        let mut game = toy_match(&config, 0, seed, latency(20));
        assert!(game.run(Instant::from_millis(100_000), |_, _, _, session| {
            if session.player().is_some() {
                let _ = session.submit(&Order::Push(3));
            }
        }));
        let told = game.events(0);
        assert!(!told.iter().any(|event| matches!(event, Event::Cancelled { .. })), "{seed}: {told:?}");
        assert_eq!(game.toy(0).log.len(), 30);
    }
}

/// All the time was counted in turns of the present length. After a slower speed the entries of a player who was alone counted as too far ahead.
#[test]
fn who_plays_alone_may_slow_down() {
    for (fast, slow) in [(100, 10), (250, 50), (200, 100)] {
        let config = SessionConfig::new(1).simulated().turns(150).topology(Topology::Relay);
        let mut game = toy_match(&config, 0, 3, latency(40));
        let over = game.run(Instant::from_millis(900_000), |_, turn, _, session| {
            if session.player().is_some() {
                match turn.0 {
                    2 => session.set_speed(fast).unwrap(),
                    80 => session.set_speed(slow).unwrap(),
                    _ => {}
                }
            }
        });
        let what = format!("{fast} %, then {slow} %");
        assert!(over, "{what}");
        assert_untold(&mut game, |event| matches!(event, Event::TooFarAhead { .. }), &what);
        assert_agreed(&mut game, &what);
    }
}

/// What a player did before the relay heard it for the first time counted as too far ahead.
#[test]
fn who_plays_alone_is_not_ahead_after_the_relay_has_not_heard_it() {
    for pace in [Pace::Fixed, Pace::Adaptive, Pace::Article] {
        for (from, sleeps) in [(150, false), (240, false), (240, true), (3_000, false), (3_000, true)] {
            let what = format!("{pace:?}, from {from} ms, the relay sleeps: {sleeps}");
            let config = SessionConfig::new(1).simulated().turns(60).topology(Topology::Relay).pace(pace);
            let mut game = toy_match(&config, 0, 3, latency(20));
            game.idle(from);
            let until = Instant::from_millis(from + 1_500);
            if sleeps {
                game.put_to_sleep(1, until);
            } else {
                game.net_mut().set_partition(&[0]);
            }
            game.run(until, |_, _, _, _| {});
            game.net_mut().set_partition(&[]);
            assert!(game.idle(600_000), "{what}");
            let told = game.events(1);
            assert!(!told.iter().any(|event| matches!(event, Event::TooFarAhead { .. })), "{what}: {told:?}");
        }
    }
}

/// The relay let them in and closed the link in the same round. They waited for an answer, and read that nobody had given one.
#[test]
fn who_starts_again_where_nobody_has_a_state_reads_that() {
    for players in 1..=3 {
        let config = joining_config(players, Topology::Relay).connect_timeout(Duration::from_secs(30));
        let mut game = start(&config, 0, 7, latency(20));
        game.play(5_000);
        for player in 0..players {
            come_back(&mut game, &config, player);
        }
        game.play(9_000);
        for driver in &game.drivers()[..usize::from(players)] {
            assert_eq!(driver.session().phase(), SessionPhase::Failed(Failure::NoState), "{players}");
        }
    }
}
