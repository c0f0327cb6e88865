//! Meshes whose members agree on whom to drop, one of them a liar, or a link broken.

use super::{bare, config, deliver, entries_of, slow};
use crate::play::{Play as _, assert_agreed_by, assert_unharmed, match_at};
use crate::toy::Toy;
use testudo_lockstep::packet::{Packet, TurnsPacket};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Entry, Instant, Topology, VirtualMatch};
use testudo_lockstep::{EndReason, Extra, Payload};

/// The lowest player says that somebody is given up, and ends that stream. The others followed as soon as one packet was late.
#[test]
fn the_lowest_player_drops_nobody_who_is_late_for_a_moment() {
    let mut game = match_at(&config(4, Topology::Mesh), slow(), 4_000);
    game.net_mut().set_partition(&[3]);
    for step in 0..30 {
        game.play(4_300 + step * 17);
        for victim in [1, 2] {
            let next = game.session(victim).next_turn().0;
            for first in next..next + 4 {
                let mut end = Entry { payload: Payload::none(), ..Entry::default() };
                end.extras.push(Extra::End(EndReason::Dropped));
                let word = TurnsPacket { frozen: 1 << 3, ..bare(next + 2, 4) };
                deliver(&mut game, victim, 0, &Packet::Turns(Box::new(word.clone())));
                deliver(&mut game, victim, 0, &entries_of(3, first, vec![end], word));
            }
        }
    }
    game.net_mut().set_partition(&[]);
    assert_unharmed(&mut game, "a late packet");
}

/// Two players do not hear each other, and all goes on through the others. Then somebody crashes: the lowest player gave up the one whom it
/// alone does not hear, too, nobody else did, and the match ended for all.
#[test]
fn a_crash_beside_a_broken_link_ends_the_match_of_few() {
    let lost = LinkConfig::new().loss_ppm(1_000_000);
    let config = config(5, Topology::Mesh).silence_timeout(Duration::from_secs(5));
    let mut game = match_at(&config, slow(), 2_000);
    game.net_mut().set_link(0, 3, lost);
    game.net_mut().set_link(3, 0, lost);
    game.play(5_000);
    game.put_to_sleep(4, Instant::from_millis(2_000_000));
    game.play(300_000);
    assert_agreed_by(&mut game, 0..3, "a broken link");
}

/// A player crashes, and a member goes on talking without entries and without ever agreeing to the drop.
#[test]
fn who_never_agrees_ends_its_own_match_only() {
    let config = config(5, Topology::Mesh).silence_timeout(Duration::from_secs(5));
    let mut game = match_at(&config, slow(), 4_000);
    game.put_to_sleep(3, Instant::from_millis(2_000_000));
    game.put_to_sleep(4, Instant::from_millis(2_000_000));
    let over = |game: &VirtualMatch<Toy>| game.drivers()[..3].iter().all(|driver| driver.session().is_over());
    while !over(&game) && game.now() < Instant::from_millis(200_000) {
        game.play_for(100);
        for victim in 0..3 {
            let next = game.session(victim).next_turn().0;
            deliver(&mut game, victim, 3, &Packet::Turns(Box::new(bare(next, 5))));
        }
    }
    assert_agreed_by(&mut game, 0..3, "one never agrees");
}
