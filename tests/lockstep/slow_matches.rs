//! Matches at a small part of their speed: a turn lasts longer than the others wait for a player who is gone.

use crate::joining;
use crate::play::{Play as _, assert_agreed_by};
use crate::toy::{Toy, latency, toy_match};
use testudo_lockstep::{
    Duration, Event, Instant, PeerClock, SPEED_PERCENT_MAX, SPEED_PERCENT_MIN, SessionConfig, Topology,
    VirtualMatch,
};

/// Turns of 2 s at the slowest speed.
fn config(topology: Topology) -> SessionConfig {
    let config = SessionConfig::new(3).simulated().topology(topology).turns(60);
    config.drop_after(Duration::from_secs(1))
}

/// A match at the slowest speed, in which the clock of player 1 loses a twentieth: its turns are over later and later, until the others are all the turns ahead
/// in front of it.
fn slow_match(config: &SessionConfig) -> VirtualMatch<Toy> {
    let mut game = toy_match(config, 0, 1, latency(40));
    slow_down(&mut game);
    game
}

fn slow_down(game: &mut VirtualMatch<Toy>) {
    let clock = PeerClock { offset: Duration::ZERO, drift_ppm: -50_000, asleep_until: Instant::ZERO };
    game.set_clock(1, clock).unwrap();
    game.session_mut(0).set_speed(SPEED_PERCENT_MIN).unwrap();
}

fn assert_whole(game: &mut VirtualMatch<Toy>, end_ms: u64, what: &str) {
    assert!(game.play(end_ms), "{what}: {:?}", game.phases());
    assert_agreed_by(game, 0..3, what);
    let toy = game.toy(0);
    assert!(toy.gone.is_empty() && !toy.log.is_empty(), "{what}: {:?}", toy.gone);
}

const TOPOLOGIES: [Topology; 3] = [Topology::Host, Topology::Relay, Topology::Mesh];

/// Seed 660333: the others were done, and dropped a player who was still in the last turn.
#[test]
fn nobody_is_dropped_for_a_last_turn_that_is_longer_than_the_drop_time() {
    for topology in TOPOLOGIES {
        let mut game = slow_match(&config(topology));
        assert_whole(&mut game, 200_000, &format!("{topology:?}"));
    }
}

/// Whoever was in front had run the first fast turn, and waited for the end of a slow one.
#[test]
fn nobody_is_dropped_when_a_slow_match_becomes_fast() {
    for topology in TOPOLOGIES {
        let mut game = slow_match(&config(topology));
        game.play(90_000);
        game.session_mut(2).set_speed(SPEED_PERCENT_MAX).unwrap();
        assert_whole(&mut game, 200_000, &format!("{topology:?}"));
    }
}

/// The end waits for turns as long as they last, also where nobody is ever dropped.
#[test]
fn the_end_waits_for_a_turn_that_is_longer_than_its_patience() {
    for topology in TOPOLOGIES {
        // Turns of 8 s; the end waits for 2 s without progress.
        let second = Duration::from_secs(1);
        let config = config(topology).without_drops().frames_per_turn(16).silence_timeout(second);
        let mut game = slow_match(&config.linger(second));
        assert_whole(&mut game, 800_000, &format!("{topology:?}"));
    }
}

/// The others wait for the turn, and no longer.
#[test]
fn a_player_who_is_gone_in_a_slow_match_is_dropped() {
    for topology in TOPOLOGIES {
        let mut game = slow_match(&config(topology));
        game.play(60_000);
        let next = game.session(0).next_turn().0;
        game.play_cut_off(&[1], 80_000);
        assert!(game.session(0).missing_players().is_empty(), "{topology:?}");
        for node in [0, 2] {
            let gone = &game.toy(node).gone;
            assert!(
                gone[..] == [(1, gone[0].1)] && gone[0].1 <= next + 2,
                "{topology:?}: {gone:?} of {next}"
            );
        }
    }
}

/// Whoever counted down for a guest forgot the long turn that the middle waits for, and stood at zero.
#[test]
fn guests_count_down_to_the_drop_of_a_player_who_is_gone_in_a_long_turn() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = slow_match(&config(topology));
        game.play(90_000);
        game.session_mut(2).set_speed(SPEED_PERCENT_MAX).unwrap();
        // The others are in fast turns and wait for the end of its last slow one.
        let pace = |game: &VirtualMatch<Toy>, node: usize| game.session(node).plan().pace_millihertz;
        game.play_until(10, 30_000, |game| {
            pace(game, 2) > pace(game, 1) && game.session(2).drop_in().is_some()
        });
        game.net_mut().set_partition(&[1]);
        game.events(2);
        let (mut ends, mut gone) = (None, None);
        while gone.is_none() {
            game.play_for(10);
            let now = game.now();
            for event in game.events(2) {
                match event {
                    Event::WaitingFor { drop_in, .. } => ends = Some(now + drop_in.unwrap()),
                    Event::PlayerGone { .. } => gone = Some(now),
                    _ => {}
                }
            }
            assert!(now < Instant::from_millis(130_000), "{topology:?}: {ends:?}");
        }
        let (ends, gone) = (ends.unwrap(), gone.unwrap());
        let error = ends.since(gone).max(gone.since(ends));
        assert!(error < Duration::from_millis(300), "{topology:?}: told {ends:?}, was {gone:?}");
    }
}

/// A joining peer waits for a turn of the match, and for what the others say of it in the next ones.
#[test]
fn a_player_comes_back_to_a_slow_match() {
    for topology in [Topology::Host, Topology::Relay] {
        for frames in [4, 40] {
            let config = joining::config(3, topology).frames_per_turn(frames).turns(80);
            let what = format!("{topology:?}, turns of {} s", frames / 2);
            let mut game = joining::start(&config, 0, 1, latency(40));
            slow_down(&mut game);
            game.play(u64::from(frames) * 10_000);
            joining::come_back(&mut game, &config, 2);
            let over = game.play(2_500_000);
            let reached: Vec<_> =
                game.drivers().iter().map(|d| (d.session().next_turn(), d.session().phase())).collect();
            assert!(over, "{what}: {reached:?}");
            assert_eq!(game.toy(0).returned.len(), 1, "{what}: {reached:?}");
        }
    }
}
