//! Steady state does not allocate: counted by the allocator of this test program, for this thread only.

use crate::attacks::{FORMAT, entries_of, sealed};
use crate::play::{Play as _, give_order};
use crate::toy::{Order, toy_match};
use testudo_lockstep::packet::{Packet, TurnsPacket};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Entry, Instant, Payload, PeerId, PlayerId, Session, SessionConfig, TurnStatus};
use testudo_tests::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs sessions directly against each other; returns the number of allocations in `turns` turns after a start.
fn allocations_in(players: u8, turns: u32) -> u64 {
    let now = Instant::ZERO;
    let config = SessionConfig::new(players).simulated();
    let mut sessions = vec![Session::<Order>::host(config.clone(), now).unwrap()];
    for player in 1..players {
        sessions.push(Session::join(config.clone(), PlayerId(player), PeerId(0), now).unwrap());
    }
    let mut packets: Vec<Vec<u8>> = (0..8).map(|_| Vec::with_capacity(1_500)).collect();
    let (mut before, mut ran) = (None, 0);
    for frame in 0.. {
        let now = Instant::from_millis(frame * 50);
        if sessions.iter().all(|session| session.next_turn().0 == 100) {
            before.get_or_insert(Counting::counts().allocations);
        }
        if sessions[0].next_turn().0 >= 100 + turns {
            break;
        }
        for session in &mut sessions {
            session.handle_timeout(now);
            if frame % 4 != 0 {
                continue;
            }
            if let TurnStatus::Ready(turn) = session.turn_status() {
                give_order(turn, session);
            }
            if let TurnStatus::Ready(turn) = session.begin_turn(now) {
                let actions = session.turn_actions().count() as u64;
                session.end_turn(now, u64::from(turn.0) + actions);
                ran += actions;
            }
        }
        // Twice, because forwarded packets of the host arrive in the same frame.
        for _ in 0..2 {
            for from in 0..sessions.len() {
                let mut slot = 0;
                let mut to = [PeerId(0); 8];
                while let Some(peer) = sessions[from].poll_transmit(now, &mut packets[slot]) {
                    to[slot] = peer;
                    slot += 1;
                    assert!(slot < packets.len());
                }
                for (packet, peer) in packets[..slot].iter().zip(to) {
                    let sender = PeerId(from as u32);
                    sessions[peer.0 as usize].handle_packet(now, sender, packet);
                }
            }
        }
        if frame < 300 {
            sessions.iter_mut().for_each(|session| while session.poll_event().is_some() {});
        }
        assert!(frame < 20_000);
    }
    assert!(ran > 0, "no orders");
    Counting::counts().allocations - before.expect("all sessions pass turn 100 together")
}

#[test]
fn the_counter_counts() {
    let before = Counting::counts().allocations;
    drop(Box::new(5));
    assert!(Counting::counts().allocations > before);
}

#[test]
fn a_running_session_does_not_allocate() {
    assert_eq!(allocations_in(3, 500), 0);
}

#[test]
fn memory_is_bounded_while_a_peer_is_away() {
    let config = SessionConfig::new(2).simulated().without_drops();
    let mut game = toy_match(&config, 0, 1, LinkConfig::default());
    game.idle(5_000);
    game.net_mut().set_partition(&[1]);
    // Ten seconds of stall, frame by frame. The virtual match itself allocates for packets, which are lost at once here.
    game.idle(7_000);
    let before = Counting::counts().allocations;
    game.idle(15_000);
    assert!(Counting::counts().allocations - before < 10, "{}", Counting::counts().allocations - before);
}

/// To repeat an entry costs its sender a bit. Whoever read the packet, and whoever passed it on, made a copy of the actions for each repetition: a thousand
/// copies of 256 bytes for a packet of 400.
#[test]
fn actions_that_are_repeated_are_kept_once() {
    let payload = Payload::new(&core::array::from_fn::<u8, 256, _>(|byte| byte as u8), 2_048);
    let entries = vec![Entry { payload, ..Entry::default() }; 1_024];
    let bytes = sealed(&entries_of(1, 0, entries, TurnsPacket { base: 1_024, ..TurnsPacket::default() }), 1);
    assert!(bytes.len() < 500, "{} bytes", bytes.len());
    let before = Counting::counts();
    let read = Packet::decode(&bytes, 1, FORMAT).unwrap();
    let passed_on = read.clone();
    let after = Counting::counts();
    assert_eq!(read, passed_on);
    let allocations = after.allocations - before.allocations;
    // Two packets, the list of entries as it grows, its copy, and the actions.
    assert!(allocations < 20, "{allocations} allocations");
    let (entries, held) = (2 * 1_024 * size_of::<Entry>() as i64, after.bytes - before.bytes);
    assert!(held < entries + 4_096, "{held} bytes, {entries} of them entries");
}
