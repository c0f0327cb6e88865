//! A member that sends what the dice say while places change hands: orders, horizons, returns, and every message of a transfer, from a link that plays, from
//! one that comes, and from one that is gone.

use super::deliver;
use super::forgers::{below, near, packet};
use crate::changing_places::returned;
use crate::play::Play as _;
use crate::toy::middle_of;
use crate::troubled::Troubled;
use testudo_lockstep::packet::{CHUNK_BYTES, Chunk, Manifest, Packet, Transfer, Want};
use testudo_lockstep::{Pace, PlayerId, SessionPhase, Topology};
use testudo_tests::cases::{cases, share};
use testudo_tests::scenes::Generator;

/// The attacker's place.
const ATTACKER: usize = 1;

/// A message of a transfer about a state of a turn near this one.
fn transfer(dice: &mut Generator, turn: u32) -> Packet {
    let turn = near(dice, turn);
    Packet::Transfer(match below(dice, 8) {
        0 => Transfer::Wait,
        1 => {
            let total = 1 + below(dice, 200_000);
            let blocks = vec![dice.next_u32(); testudo_lockstep::packet::block_count(total) as usize];
            let source = PlayerId(below(dice, 4) as u8);
            Transfer::Manifest(Manifest { turn, source, total, hash: dice.next_u32().into(), blocks })
        }
        2 => {
            let count = if below(dice, 2) == 0 { CHUNK_BYTES } else { 1 + below(dice, CHUNK_BYTES) };
            let bytes = vec![dice.next_u32() as u8; count as usize];
            Transfer::Chunk(Chunk { turn, index: near(dice, 0), sent_ms: dice.next_u32() as u16, bytes })
        }
        3 => {
            let (next, received) = (near(dice, 0), near(dice, 0));
            let (echo_ms, held_ms) = (dice.next_u32() as u16, dice.next_u32() as u16);
            let have = (0..below(dice, 3)).map(|_| 1 + u64::from(dice.next_u32())).collect();
            Transfer::Want(Want { turn, next, received, echo_ms, held_ms, have })
        }
        4 => Transfer::Refuse { turn },
        5 => Transfer::Ask { not_before: turn },
        _ => Transfer::Here,
    })
}

fn attack(troubled: &mut Troubled) {
    let middle = middle_of(&troubled.config) as usize;
    // Before the start whoever likes can keep a match from starting: it waits for everybody.
    if [0, middle].iter().any(|node| troubled.game.phases()[*node] != SessionPhase::Running) {
        return;
    }
    for _ in 0..below(&mut troubled.dice, 4) {
        let turn = troubled.game.session(0).next_turn().0;
        let dice = &mut troubled.dice;
        let forged = if below(dice, 2) == 0 {
            transfer(dice, turn)
        } else {
            packet(dice, turn, Some(ATTACKER as u8), None)
        };
        deliver(&mut troubled.game, middle, ATTACKER as u32, &forged);
    }
}

#[test]
fn whatever_a_member_sends_while_places_change_hands_the_others_lose_nothing() {
    let (mut came, mut back, mut forged) = (0, 0, 0);
    for seed in cases(1_000..1_036_u32).map(u64::from) {
        let topology = if seed % 2 == 0 { Topology::Host } else { Topology::Relay };
        let pace = [Pace::Fixed, Pace::Adaptive][(seed / 2 % 2) as usize];
        let players = 4;
        let what = format!("seed {seed} {topology:?} {pace:?}");
        println!("{what}");
        let mut troubled = Troubled::new(seed, topology, players, pace);
        troubled.attacker = Some((ATTACKER, attack));
        troubled.play(None);
        assert!(troubled.game.is_over(), "{what}: {:?}", troubled.game.phases());
        assert_eq!(troubled.game.phases()[0], SessionPhase::Finished, "{what}");
        came += troubled.comings.iter().sum::<u32>();
        back += returned(&troubled.game).len();
        let middle = &troubled.game.drivers()[middle_of(&troubled.config) as usize];
        forged += middle.session().stats().entries_invalid + middle.session().stats().packets_unexpected;
        troubled.check_players(&what);
        troubled.check_orders(&what);
    }
    assert!(
        came > share(70) as u32 && back > share(30) as usize && forged > share(300),
        "{came} came, {back} came back, {forged} packets were refused"
    );
}
