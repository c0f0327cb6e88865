//! Well-formed packets of a peer that breaks the rules are counted, and change nothing.

use crate::log::logged;
use crate::play::{Play as _, assert_agreed};
use crate::toy::{Order, toy_match};
use testudo_lockstep::packet::{Bye, Packet, PayloadFormat, Segment, TurnsPacket};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Action, BitWriter, EndReason, Entry, Extra, Payload, PeerId, PlayerId, Session, SessionConfig, Stats,
};

const FORMAT: PayloadFormat = PayloadFormat::Variable(2_048);

fn entry(payload: Payload) -> Entry {
    Entry { payload, ..Entry::default() }
}

fn order(number: u32) -> Payload {
    let mut bits = BitWriter::new();
    Order::Shout(number).encode(&mut bits);
    Payload::new(bits.bytes(), bits.bit_count())
}

/// The bytes as the member on this link sends them.
fn bytes_of(host: &Session<Order>, from: PeerId, packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(host.packet_key(from).unwrap_or(0), FORMAT, &mut BitWriter::new(), &mut bytes);
    bytes
}

fn turns(player: u8, first: u32, entries: Vec<Entry>) -> TurnsPacket {
    let segment = Segment { player: PlayerId(player), first, entries: 0..entries.len() as u32 };
    TurnsPacket {
        base: first,
        acks: [0, 0, 0].into_iter().collect(),
        segments: [segment].into_iter().collect(),
        entries,
        ..TurnsPacket::default()
    }
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
    let mut game = toy_match(&SessionConfig::new(3).simulated().turns(100), 0, 1, LinkConfig::default());
    game.play(4_000);
    for (what, player, first, entries) in cases {
        let now = game.now();
        let host = game.session_mut(0);
        // All streams are as far as the turn that begins next and two more.
        let next = host.next_turn().0 + 2;
        let before = host.stats();
        let packet = Packet::Turns(Box::new(turns(player, first.unwrap_or(next), entries)));
        let bytes = bytes_of(host, PeerId(1), &packet);
        let lines = logged("unexpected entries", || host.handle_packet(now, PeerId(1), &bytes));
        assert!(what != "a gap" || lines.len() == 1, "{what}: {lines:?}");
        let after = host.stats();
        let broken = |stats: Stats| stats.entries_repeated + stats.entries_unexpected + stats.entries_invalid;
        assert_eq!(before.packets_malformed, after.packets_malformed, "{what}: it is read");
        assert!(broken(after) > broken(before), "{what}: {after:?}");
        assert_eq!(without_counters(before), without_counters(after), "{what}: {after:?}");
        game.play_for(300);
    }
    // An acknowledgement of entries that were never sent, and one from a stranger.
    let now = game.now();
    let mut acks = turns(1, 3, vec![entry(order(7))]);
    acks.acks = [4_000_000, 4_000_000, 4_000_000].into_iter().collect();
    acks.frozen = 0xffff;
    acks.unconfirmed = u32::MAX;
    let host = game.session_mut(0);
    let before = host.stats();
    let bytes = bytes_of(host, PeerId(1), &Packet::Turns(Box::new(acks)));
    host.handle_packet(now, PeerId(1), &bytes);
    assert_eq!(host.stats().entries_unexpected, before.entries_unexpected + 3);
    let bytes = bytes_of(host, PeerId(77), &Packet::Bye(Bye::Dropped));
    host.handle_packet(now, PeerId(77), &bytes);
    assert_eq!(host.stats().packets_unexpected, before.packets_unexpected + 1);
    assert!(game.play(600_000));
    assert_agreed(&mut game, "broken rules");
    assert!(!game.toy(0).log.iter().any(|(_, _, order)| *order == Order::Shout(7)));
}
