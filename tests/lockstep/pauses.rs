//! Pauses: how long they last, and who can end them.

use crate::joining::{come_back, config, start};
use crate::play::Play as _;
use crate::toy::{Toy, latency, toy_match};
use testudo_lockstep::{
    ControlError, Controls, Driver, Duration, Instant, Session, SessionConfig, SessionPhase, Successor,
    Topology,
};

/// Whole milliseconds of each turn were counted: of half a millisecond none, and a pause had no end; of 2.7 ms two.
#[test]
fn a_pause_lasts_as_long_as_it_may_whatever_the_turns() {
    for (frames_per_second, speed) in [(1_000, 250), (144, 250), (20, 100)] {
        let config =
            SessionConfig::new(1).simulated().frames_per_second(frames_per_second).frames_per_turn(1);
        let config = config.pause_max(Duration::from_secs(3));
        let session = Session::single(config, Instant::ZERO).unwrap();
        let mut driver = Driver::new(Toy::default(), session);
        driver.session_mut().set_speed(speed).unwrap();
        driver.session_mut().pause(true).unwrap();
        let mut paused_us = 0;
        for step in 0..100_000_u64 {
            while driver.advance(Instant::from_micros(step * 50)).frames > 0 {}
            paused_us += if driver.session().is_paused() { 50 } else { 0 };
        }
        let expected = 2_900_000..3_110_000;
        assert!(expected.contains(&paused_us), "{frames_per_second} {speed}: {paused_us} us");
    }
}

/// The majority ends a pause; where nobody was left, the match stood for ever.
#[test]
fn a_pause_ends_with_the_last_player() {
    let config = config(2, Topology::Host).turns(100).controls(Controls::Majority);
    let mut game = toy_match(&config, 1, 1, latency(10));
    game.play(2_000);
    for player in [0, 1] {
        game.session_mut(player).pause(true).unwrap();
    }
    game.play(4_000);
    assert!(game.drivers().iter().all(|driver| driver.session().is_paused()));
    for player in [0, 1] {
        game.session_mut(player).resign(Successor::AsConfigured);
    }
    game.play(600_000);
    for driver in game.drivers() {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
        assert!(driver.simulation().frames > 300, "{}", driver.simulation().frames);
    }
}

/// Nobody else could end it: it lasts as long as the player's pauses may.
#[test]
fn a_pause_of_a_host_player_who_has_gone_ends_with_its_budget() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).controls(Controls::HostPlayer).pause_max(Duration::from_secs(20));
        let mut game = toy_match(&config, 0, 1, latency(10));
        game.play(2_000);
        game.session_mut(0).pause(true).unwrap();
        game.session_mut(0).resign(Successor::AsConfigured);
        game.play(20_000);
        assert_eq!(game.session_mut(1).pause(false), Err(ControlError::HostOnly), "{topology:?}");
        assert!(game.session(1).is_paused() && game.session(2).is_paused(), "{topology:?}");
        game.play(24_000);
        assert!(!game.session(1).is_paused() && !game.session(2).is_paused(), "{topology:?}");
        assert!(game.play(400_000), "{topology:?}");
    }
}

/// What somebody had wanted who was gone counted again for whoever came to the place.
#[test]
fn who_comes_back_to_a_place_wants_nothing_yet() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).controls(Controls::Majority).turns(300);
        let mut game = start(&config, 0, 3, latency(10));
        game.play(3_000);
        game.session_mut(2).pause(true).unwrap();
        game.play(5_000);
        game.play_cut_off(&[2], 12_000);
        come_back(&mut game, &config, 2);
        game.play(25_000);
        assert_eq!(game.toy(0).returned.len(), 1);
        game.session_mut(0).pause(true).unwrap();
        game.play(27_000);
        let is_paused = game.drivers().iter().any(|driver| driver.session().is_paused());
        assert!(!is_paused, "{topology:?}: one of three wants it");
    }
}
