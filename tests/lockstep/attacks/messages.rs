//! A member that floods, speaks for others, repeats, leaves gaps or acknowledges nothing in the messages beside the match: nothing grows, and
//! nobody waits.

use super::{config, deliver, slow};
use crate::play::{Play as _, assert_unharmed, match_at};
use crate::toy::{Toy, middle_of, toy_match};
use testudo_lockstep::packet::{Address, Frame, Messages, Packet};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Event, Identity, PlayerId, To, Topology, VirtualMatch};

const ATTACKER: usize = 2;

fn said(from: Identity, to: Address, bytes: &[u8]) -> Frame {
    Frame::Message { from, to, bytes: bytes.to_vec() }
}

fn attacker() -> Identity {
    Identity::Player(PlayerId(ATTACKER as u8))
}

/// What a player has heard, and from whom.
fn heard(game: &mut VirtualMatch<Toy>, node: usize) -> Vec<(Identity, Vec<u8>)> {
    let session = game.session_mut(node);
    std::iter::from_fn(|| session.poll_message()).map(|message| (message.from, message.bytes)).collect()
}

#[test]
fn who_floods_with_messages_is_heard_at_its_rate_and_holds_nobody_up() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = match_at(&config(3, topology), slow(), 4_000);
        let middle = middle_of(game.session(0).config()) as usize;
        let (mut number, mut from_attacker, mut from_honest) = (0, 0, 0);
        for round in 0..100 {
            game.play_for(20);
            for _ in 0..20 {
                // The longest message, to everybody: a megabyte per second.
                let frames = vec![said(attacker(), Address::Everybody, &[7; 1_000])];
                let packet = Messages { ack: 0, first: number, frames };
                deliver(&mut game, middle, ATTACKER as u32, &Packet::Messages(packet));
                number += 1;
            }
            // The middle takes them in order: begin again with what it lacks.
            number = if round % 2 == 0 { 0 } else { number };
            if round % 10 == 0 {
                game.session_mut(0).send_message(To::Everybody, b"hello").unwrap();
            }
            for (from, _) in heard(&mut game, 1) {
                if from == attacker() {
                    from_attacker += 1;
                } else {
                    from_honest += 1;
                }
            }
        }
        // 16 KiB at once and 4 KiB per second for two seconds.
        assert!((1..=24).contains(&from_attacker), "{topology:?}: {from_attacker}");
        assert_eq!(from_honest, 10, "{topology:?}");
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn nobody_speaks_or_shows_anything_for_another() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let mut game = toy_match(&config(3, topology), 0, 1, slow());
        for node in 0..3 {
            game.session_mut(node).set_ready(false);
        }
        game.play(1_000);
        let victim =
            if topology == Topology::Mesh { 1 } else { middle_of(game.session(0).config()) as usize };
        let other = Identity::Player(PlayerId(u8::from(topology != Topology::Mesh)));
        let frames = vec![
            said(other, Address::Everybody, b"forged"),
            said(Identity::Relay, Address::Everybody, b"forged"),
            Frame::Profile { player: PlayerId(0), bytes: b"forged".to_vec() },
            Frame::Profile { player: PlayerId(15), bytes: b"forged".to_vec() },
            Frame::Undelivered { players: 0b11 },
            said(attacker(), Address::Everybody, b"mine"),
        ];
        let packet = Packet::Messages(Messages { ack: 0, first: 0, frames });
        // The second time it is a repetition.
        deliver(&mut game, victim, ATTACKER as u32, &packet);
        deliver(&mut game, victim, ATTACKER as u32, &packet);
        game.play(2_000);
        assert_eq!(game.session(victim).stats().messages_refused, 5, "{topology:?}");
        let events = game.events(victim);
        assert!(!events.iter().any(|event| matches!(event, Event::Undelivered { .. })), "{events:?}");
        assert_eq!(heard(&mut game, 1), [(attacker(), b"mine".to_vec())], "{topology:?}");
        for node in 0..3 {
            assert_eq!(game.session(node).profile(PlayerId(0)), b"");
            game.session_mut(node).set_ready(true);
        }
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn gaps_and_messages_from_long_ago_are_not_heard() {
    let mut game = match_at(&config(3, Topology::Host), slow(), 3_000);
    let mut send = |first: u32, bytes: &[u8]| {
        let frames = vec![said(attacker(), Address::Receiver, bytes)];
        let packet = Messages { ack: 0, first, frames };
        deliver(&mut game, 0, ATTACKER as u32, &Packet::Messages(packet));
    };
    for first in [1, 5, 40, 1 << 31, u32::MAX] {
        send(first, b"gap");
    }
    for first in 0..50 {
        send(first, &[first as u8]);
        send(first.saturating_sub(3), b"again");
        send(first + 2, b"gap");
    }
    let heard: Vec<u8> = heard(&mut game, 0).into_iter().map(|(_, bytes)| bytes[0]).collect();
    assert_eq!(heard, (0..50).collect::<Vec<u8>>());
    // Acknowledgements of what was never sent.
    for ack in [1, 7, u32::MAX] {
        let packet = Messages { ack, ..Messages::default() };
        deliver(&mut game, 0, ATTACKER as u32, &Packet::Messages(packet));
    }
    assert_unharmed(&mut game, "after gaps");
}

#[test]
fn who_acknowledges_no_message_costs_a_queue_and_the_others_nothing() {
    let config = config(3, Topology::Host).turns(400).drop_after(Duration::from_secs(60));
    let mut game = match_at(&config, LinkConfig::new(), 3_000);
    // A program that has taken messages once; whoever never does waits for none.
    assert!(game.session_mut(ATTACKER).poll_message().is_none());
    let (mut undelivered, mut heard_by_other, mut sent) = (0, 0, 0);
    for _ in 0..600 {
        game.play_for(100);
        // Its acknowledgements are lost on the way, its orders are not.
        let silent = Messages { ack: 0, ..Messages::default() };
        deliver(&mut game, 0, ATTACKER as u32, &Packet::Messages(silent));
        if game.session_mut(0).send_message(To::Everybody, &[1; 300]).is_ok() {
            sent += 1;
        }
        heard_by_other += heard(&mut game, 1).len();
        let host = game.session_mut(0);
        undelivered += std::iter::from_fn(|| host.poll_event())
            .filter(|event| matches!(event, Event::Undelivered { .. }))
            .count();
        // The attacker's own program reads nothing, so its inbox fills up and nothing more is acknowledged.
    }
    assert!(sent > 500 && undelivered > 50, "{sent} sent, {undelivered} not delivered");
    assert!(heard_by_other + 5 > sent, "{heard_by_other} of {sent}");
    assert!(game.idle(900_000));
}
