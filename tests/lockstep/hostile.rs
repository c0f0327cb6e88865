//! Well-formed packets of a peer that breaks the rules are counted, and change nothing.

use crate::attacks::{bare, deliver, entries_of};
use crate::log::logged;
use crate::play::{Play as _, assert_agreed, match_at};
use crate::toy::Order;
use testudo_lockstep::packet::{Bye, Packet, TurnsPacket};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Action, BitWriter, EndReason, Entry, Extra, Payload, SessionConfig, Stats};

fn entry(payload: Payload) -> Entry {
    Entry { payload, ..Entry::default() }
}

fn order(number: u32) -> Payload {
    let mut bits = BitWriter::new();
    Order::Shout(number).encode(&mut bits);
    Payload::new(bits.bytes(), bits.bit_count())
}

/// Without the counters: the rest must not have changed.
fn without_counters(stats: Stats) -> Stats {
    let mut stats = stats;
    stats.packets_received = 0;
    stats.bytes_received = 0;
    stats.packets_unexpected = 0;
    stats.packets_malformed = 0;
    stats.entries_repeated = 0;
    stats.entries_unexpected = 0;
    stats.entries_invalid = 0;
    stats
}

#[test]
fn broken_rules_are_counted_and_change_nothing() {
    let two_orders = {
        let mut bits = BitWriter::new();
        Order::Shout(1).encode(&mut bits);
        Order::Shout(2).encode(&mut bits);
        Payload::new(bits.bytes(), bits.bit_count())
    };
    let mut end = entry(order(1));
    end.extras.push(Extra::End(EndReason::Left));
    // Player 1's own next entry is filled in below: `None` stands for it.
    let cases: Vec<(&str, u8, Option<u32>, Vec<Entry>)> = vec![
        ("another player's entry", 2, None, vec![entry(order(7))]),
        ("the host's own entry", 0, None, vec![entry(order(7))]),
        ("a player who does not exist", 9, None, vec![entry(order(7))]),
        ("a gap", 1, Some(2_000_000), vec![entry(order(7))]),
        ("more actions than a turn may have", 1, None, vec![entry(two_orders)]),
        ("an action that is cut short", 1, None, vec![entry(Payload::new(&[1, 2], 12))]),
        ("an action with a tail", 1, None, vec![entry(Payload::new(&[1, 2, 3, 4, 5], 40))]),
        ("a last entry with an action", 1, None, vec![end]),
        ("an old entry again, with other content", 1, Some(3), vec![entry(order(7))]),
    ];
    let mut game = match_at(&SessionConfig::new(3).simulated().turns(100), LinkConfig::default(), 4_000);
    for (what, player, first, entries) in cases {
        // All streams are as far as the turn that begins next and two more.
        let first = first.unwrap_or(game.session(0).next_turn().0 + 2);
        let before = game.session(0).stats();
        let packet = entries_of(player, first, entries, TurnsPacket { base: first, ..bare(0, 3) });
        let lines = logged("unexpected entries", || deliver(&mut game, 0, 1, &packet));
        assert!(what != "a gap" || lines.len() == 1, "{what}: {lines:?}");
        let after = game.session(0).stats();
        let broken = |stats: Stats| stats.entries_repeated + stats.entries_unexpected + stats.entries_invalid;
        assert_eq!(before.packets_malformed, after.packets_malformed, "{what}: it is read");
        assert!(broken(after) > broken(before), "{what}: {after:?}");
        assert_eq!(without_counters(before), without_counters(after), "{what}: {after:?}");
        game.play_for(300);
    }
    // An acknowledgement of entries that were never sent, and one from a stranger.
    let (frozen, unconfirmed) = (0xffff, u32::MAX);
    let acks = TurnsPacket { base: 3, frozen, unconfirmed, ..bare(4_000_000, 3) };
    let before = game.session(0).stats();
    deliver(&mut game, 0, 1, &entries_of(1, 3, vec![entry(order(7))], acks));
    assert_eq!(game.session(0).stats().entries_unexpected, before.entries_unexpected + 3);
    deliver(&mut game, 0, 77, &Packet::Bye(Bye::Dropped));
    assert_eq!(game.session(0).stats().packets_unexpected, before.packets_unexpected + 1);
    assert_agreed(&mut game, "broken rules");
    assert!(!game.toy(0).log.iter().any(|(_, _, order)| *order == Order::Shout(7)));
}
