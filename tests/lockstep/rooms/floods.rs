//! What is too many packets for a relay, and what is not.

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::{Duration, SessionConfig};

use super::running;
use super::world::World;
use crate::toy::Order;

/// Nothing told the limit from one that was half or twice as high.
#[test]
fn a_thousand_packets_at_once_and_a_thousand_too_many_are_tolerated() {
    for (packets, is_closed) in [(2_000, false), (2_001, true)] {
        let (mut world, game) = running(16, 3, 400, 20);
        // Nothing of its own comes besides.
        world.kill(game.players[2]);
        assert!(!world.until(2, |_| false));
        let connection = world.clients[game.players[2]].connection;
        for _ in 0..packets {
            world.inject(connection, b"\x0f");
        }
        world.step();
        assert_eq!(world.clients[game.players[2]].is_closed, is_closed, "{packets}");
    }
}

/// A player sends each turn at once, and 2,500 turns per second are allowed: everybody was dropped after eight seconds.
#[test]
fn the_shortest_turns_are_no_flood() {
    let mut world = World::new(Limits::default(), 16);
    (world.tick, world.delay, world.loss) = (Duration::from_micros(200), (0, 0), 0);
    let config = SessionConfig::new(2).turns(1_000_000).frames_per_second(1_000).frames_per_turn(1);
    let config = config.turns_ahead(8).drop_after(Duration::from_secs(8));
    let agreement = Agreement::new::<Order>(&config.signed(), b"").unwrap();
    let (first, opened) = world.open(1, agreement);
    let second = world.come(opened.secrets.players[1]);
    assert!(world.until(20, |world| world.copy(first).frames > 20));
    world.clients[first].driver.session_mut().set_speed(250).unwrap();
    let (frames, packets) = (world.copy(first).frames, world.rooms.counters().packets_in);
    assert!(!world.until(12, |world| world.clients.iter().any(|client| client.is_closed)));
    let (frames, packets) = (world.copy(first).frames - frames, world.rooms.counters().packets_in - packets);
    assert!(frames > 25_000 && packets > 50_000, "{frames} frames, {packets} packets");
    assert_eq!(world.rooms.counters().packets_refused, 0);
    assert!(world.copy(second).frames.abs_diff(world.copy(first).frames) < 20);
}
