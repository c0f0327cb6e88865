//! Random forgers: one member, in every role, sends what the dice say with the key of its own link. Nobody panics, every match of the
//! honest ends, and honest players who finish without an alarm have run the same orders. (Where the forger is the middle of a star it can
//! still show different matches to different players: only the first two are asked there.)

use super::{config, deliver, run, slow};
use crate::toy::{Toy, toy_match};
use testudo_lockstep::packet::{Bye, Echo, Lobby, Packet, Segment, TurnsPacket, Welcome};
use testudo_lockstep::{
    Duration, EndReason, Entry, Event, Extra, Identity, Instant, Payload, PlayerId, SessionPhase, Topology,
    VirtualMatch,
};
use testudo_tests::scenes::Generator;

/// More are a matter of patience: 3,000 take some minutes.
const MATCHES: u64 = 150;

const PLAYERS: u8 = 4;

fn below(dice: &mut Generator, end: u32) -> u32 {
    dice.next_u32() % end
}

/// A number near a turn, or anywhere.
fn near(dice: &mut Generator, turn: u32) -> u32 {
    match below(dice, 8) {
        0 => dice.next_u32(),
        1 => 0,
        _ => (turn + below(dice, 10)).saturating_sub(4),
    }
}

fn entry(dice: &mut Generator, is_last: bool) -> Entry {
    let payload = match below(dice, 3) {
        0 => Payload::none(),
        1 => Payload::new(&[dice.next_u32() as u8 & 0xfe, 7, 1], 17),
        _ => Payload::new(&dice.next_u32().to_le_bytes(), 1 + below(dice, 32)),
    };
    let mut entry = Entry { payload, ..Entry::default() };
    let mut add = |dice: &mut Generator, one_in: u32, extra: Extra| {
        if below(dice, one_in) == 0 {
            entry.extras.push(extra);
        }
    };
    let (number, percent) = (dice.next_u32(), 10 + below(dice, 241) as u8);
    add(dice, 2, Extra::Checksum(number));
    add(dice, 4, Extra::Pace { network_ms: number as u16, runtime_ms: (number >> 16) as u16 });
    let reason = [EndReason::Left, EndReason::Dropped, EndReason::Surrendered, EndReason::HandedOver]
        [below(dice, 4) as usize];
    if is_last {
        add(dice, 6, Extra::End(reason));
    }
    add(dice, 12, Extra::Speed(percent));
    add(dice, 9, Extra::Result(number));
    add(dice, 9, Extra::Slack(number as i16));
    entry
}

fn packet(dice: &mut Generator, turn: u32) -> Packet {
    match below(dice, 12) {
        0 => Packet::Bye([Bye::Finished, Bye::Left, Bye::Dropped][below(dice, 3) as usize]),
        1 => {
            let echo = Some(Echo { sent_us: dice.next_u32(), held_us: dice.next_u32() });
            let start_in_us = Some(dice.next_u32() % 1_000_000);
            Packet::Lobby(Lobby { ready: true, sent_us: dice.next_u32(), echo, start_in_us })
        }
        2 => Packet::Welcome(Welcome { identity: Identity::Player(PlayerId(below(dice, 5) as u8)) }),
        _ => {
            let mut turns = TurnsPacket { base: near(dice, turn), ..TurnsPacket::default() };
            turns.acks = (0..PLAYERS).map(|_| near(dice, turn)).collect();
            if below(dice, 4) == 0 {
                (turns.frozen, turns.votes) = (dice.next_u32() as u16, dice.next_u32() as u16);
            }
            for player in (0..PLAYERS).map(PlayerId) {
                if below(dice, 2) == 0 {
                    let start = turns.entries.len() as u32;
                    let count = 1 + below(dice, 4);
                    for number in 0..count {
                        let entry = entry(dice, number + 1 == count);
                        turns.entries.push(entry);
                    }
                    let first = near(dice, turn).clamp(1, u32::MAX - 8);
                    turns.segments.push(Segment { player, first, entries: start..start + count });
                }
            }
            Packet::Turns(Box::new(turns))
        }
    }
}

fn play(seed: u64) -> (VirtualMatch<Toy>, Topology, usize) {
    let mut dice = Generator::new(seed);
    let topology = [Topology::Host, Topology::Relay, Topology::Mesh][(seed % 3) as usize];
    let config = config(PLAYERS, topology).turns(40).silence_timeout(Duration::from_secs(5));
    let mut game = toy_match(&config, 0, seed, slow());
    let nodes = game.drivers().len() as u32;
    let forger = below(&mut dice, nodes) as usize;
    run(&mut game, 1_500 + u64::from(below(&mut dice, 6_000)));
    for _ in 0..below(&mut dice, 60) {
        let until = game.now().as_micros() / 1_000 + u64::from(below(&mut dice, 120));
        run(&mut game, until);
        let victim = below(&mut dice, nodes) as usize;
        if victim != forger {
            let turn = game.drivers()[victim].session().next_turn().0;
            let forged = packet(&mut dice, turn);
            deliver(&mut game, victim, forger as u32, &forged);
        }
    }
    game.put_to_sleep(forger, Instant::from_millis(4_000_000));
    // At a tenth of the speed a match takes a minute and a half.
    run(&mut game, 600_000);
    (game, topology, forger)
}

#[test]
fn whatever_a_member_forges_the_match_ends_and_the_honest_agree_or_are_told() {
    for seed in 0..MATCHES {
        let (mut game, topology, forger) = play(seed);
        let is_middle =
            topology != Topology::Mesh && forger == if topology == Topology::Relay { 4 } else { 0 };
        let phases: Vec<_> = game.drivers().iter().map(|driver| driver.session().phase()).collect();
        let mut reference: Option<Toy> = None;
        for (node, driver) in game.drivers_mut().iter_mut().enumerate().filter(|(node, _)| *node != forger) {
            assert!(
                driver.session().is_over(),
                "seed {seed} {topology:?} forger {forger}: {node} of {phases:?}"
            );
            let alarmed = std::iter::from_fn(|| driver.session_mut().poll_event())
                .any(|event| matches!(event, Event::Desync(_)));
            let simulates = driver.session().player().is_some();
            let counts =
                driver.session().phase() == SessionPhase::Finished && simulates && !alarmed && !is_middle;
            if counts {
                let toy = driver.simulation().clone();
                let first = reference.get_or_insert_with(|| toy.clone());
                assert_eq!(first.history, toy.history, "seed {seed} {topology:?} forger {forger}: {node}");
            }
        }
    }
}
