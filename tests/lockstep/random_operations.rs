//! Random lists of operations on two to five peers, and what must hold for any list.

use crate::play::Play as _;
use crate::play::assert_untold;
use proptest::prelude::*;

use crate::toy::{Order, Toy, toy_match};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Driver, Duration, Event, Identity, Pace, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
    SubmitError, Topology, VirtualMatch,
};

#[derive(Clone, Debug)]
enum Operation {
    /// Time goes on, in milliseconds.
    Wait(u16),
    /// A peer submits this many actions at once.
    Submit(u8, u8),
    /// Settings of all links from now on: latency, jitter, loss in percent, and some of everything else.
    Network(u8, u8, u8),
    /// A peer is cut off for this many milliseconds.
    Cut(u8, u16),
    /// A peer sleeps for this many milliseconds.
    Sleep(u8, u16),
    Pause(u8, bool),
    Leave(u8),
    /// Arbitrary bytes at a peer, as if from another.
    Garbage(u8, u8, Vec<u8>),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1_u16..2_000).prop_map(Operation::Wait),
        4 => (any::<u8>(), 1_u8..12).prop_map(|(peer, count)| Operation::Submit(peer, count)),
        2 => (0_u8..150, 0_u8..100, 0_u8..40).prop_map(|(l, j, loss)| Operation::Network(l, j, loss)),
        1 => (any::<u8>(), 1_u16..6_000).prop_map(|(peer, ms)| Operation::Cut(peer, ms)),
        1 => (any::<u8>(), 1_u16..6_000).prop_map(|(peer, ms)| Operation::Sleep(peer, ms)),
        1 => any::<(u8, bool)>().prop_map(|(peer, paused)| Operation::Pause(peer, paused)),
        1 => any::<u8>().prop_map(Operation::Leave),
        1 => (any::<u8>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..60))
            .prop_map(|(to, from, bytes)| Operation::Garbage(to, from, bytes)),
    ]
}

/// The actions that a peer's session accepted, in order. Every action is a unique number.
#[derive(Default)]
struct Given {
    accepted: Vec<Vec<u32>>,
    next: u32,
}

impl Given {
    fn submit(&mut self, peer: usize, session: &mut Session<Order>) {
        self.next += 1;
        match session.submit(&Order::Shout(self.next)) {
            Ok(()) => self.accepted[peer].push(self.next),
            Err(error) => {
                assert!(
                    matches!(
                        error,
                        SubmitError::QueueFull { .. } | SubmitError::NotPlaying | SubmitError::TooLate { .. }
                    ),
                    "{error}"
                )
            }
        }
    }
}

fn run_operations(topology: Topology, pace: Pace, players: u8, seed: u64, operations: &[Operation]) {
    let config = SessionConfig::new(players)
        .simulated()
        .turns(60)
        .topology(topology)
        .pace(pace)
        .actions_per_turn_max(3)
        .queue_max(10)
        .drop_after(Duration::from_secs(3));
    let mut game = toy_match(&config, u32::from(topology != Topology::Mesh), seed, LinkConfig::new());
    let mut given = Given { accepted: vec![Vec::new(); usize::from(players)], next: 0 };
    let mut heal_at = None;
    for operation in operations {
        let now = game.now();
        let peer = |index: u8| usize::from(index % players);
        match *operation {
            Operation::Wait(ms) => {
                game.run(now + Duration::from_millis(u64::from(ms)), |_, _, _, _| {});
            }
            Operation::Submit(index, count) => {
                let index = peer(index);
                for _ in 0..count {
                    given.submit(index, game.session_mut(index));
                }
            }
            Operation::Network(latency, jitter, loss) => game.net_mut().set_default(
                LinkConfig::new()
                    .latency(Duration::from_millis(u64::from(latency)))
                    .jitter(Duration::from_millis(u64::from(jitter)))
                    .loss_ppm(u32::from(loss) * 10_000)
                    .duplicate_ppm(u32::from(loss) * 2_000)
                    .reorder_ppm(u32::from(jitter) * 1_000)
                    .reorder_hold(Duration::from_millis(70))
                    .corrupt_ppm(u32::from(loss) * 1_000),
            ),
            Operation::Cut(index, ms) => {
                game.net_mut().set_partition(&[peer(index) as u32]);
                heal_at = Some(now + Duration::from_millis(u64::from(ms)));
            }
            Operation::Sleep(index, ms) => {
                game.put_to_sleep(peer(index), now + Duration::from_millis(u64::from(ms)))
            }
            Operation::Pause(index, paused) => {
                // A player that has left asks for nothing, and a budget ends.
                let _ = game.session_mut(peer(index)).pause(paused);
            }
            Operation::Leave(index) => {
                game.session_mut(peer(index)).leave();
            }
            Operation::Garbage(to, from, ref bytes) => {
                let session = game.session_mut(peer(to));
                let before = session.stats();
                session.handle_packet(now, PeerId(u32::from(from % players)), bytes);
                assert_eq!(session.stats().packets_received, before.packets_received);
            }
        }
        if heal_at.is_some_and(|at| game.now() >= at) {
            game.net_mut().set_partition(&[]);
        }
    }
    game.net_mut().set_partition(&[]);
    game.net_mut().set_default(LinkConfig::new());
    assert!(game.run(game.now() + Duration::from_secs(300), |_, _, _, _| {}), "no end: {:?}", states(&game));
    check(&mut game, &given);
}

fn states(game: &VirtualMatch<Toy>) -> Vec<(SessionPhase, u32)> {
    game.drivers().iter().map(|driver| (driver.session().phase(), driver.session().next_turn().0)).collect()
}

fn check(game: &mut VirtualMatch<Toy>, given: &Given) {
    assert_untold(game, |event| matches!(event, Event::Desync(_)), "whatever is done");
    // A peer that fails may have run up to two turns of its own last actions, which nobody else had.
    let failed = |driver: &&Driver<Toy>| matches!(driver.session().phase(), SessionPhase::Failed(_));
    let finished = |driver: &&Driver<Toy>| driver.session().phase() == SessionPhase::Finished;
    let survivor = game.drivers().iter().filter(|driver| driver.session().player().is_some()).find(finished);
    let furthest = game.drivers().iter().max_by_key(|driver| driver.session().next_turn());
    let reference = survivor.or(furthest).unwrap();
    let longest = &reference.simulation().log;
    for (index, driver) in game.drivers().iter().enumerate() {
        let (session, toy) = (driver.session(), driver.simulation());
        if session.identity() == Identity::Relay {
            continue;
        }
        // The same order everywhere (in the same frame if the peer finished, because a pause may be among what nobody else had); a peer
        // that stopped earlier has a prefix.
        let without = |log: &[(u32, u8, Order)]| {
            let sure = |author: u8| {
                !game
                    .drivers()
                    .iter()
                    .filter(failed)
                    .any(|peer| peer.session().player() == Some(PlayerId(author)))
            };
            log.iter()
                .filter(|(_, author, _)| sure(*author))
                .map(|(_, author, order)| (*author, *order))
                .collect::<Vec<_>>()
        };
        let (log, expected) = (without(&toy.log), without(longest));
        let agree = expected.starts_with(&log) || (survivor.is_none() && log.starts_with(&expected));
        assert!(agree, "peer {index} {:?}\n{log:?}\n{expected:?}", states(game));
        if session.phase() == SessionPhase::Finished {
            assert_eq!(&toy.log, longest, "peer {index}");
        }
        // Nothing is lost or runs twice: the actions of a player that ran are a prefix of those accepted, in order.
        let Some(accepted) = given.accepted.get(index) else { continue };
        let ran: Vec<u32> = longest
            .iter()
            .filter_map(|(_, player, order)| match order {
                Order::Shout(number) if usize::from(*player) == index => Some(*number),
                _ => None,
            })
            .collect();
        assert!(
            ran.len() <= accepted.len() && ran == accepted[..ran.len()],
            "player {index}: {ran:?} {accepted:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_run_twice(
        topology in prop_oneof![Just(Topology::Host), Just(Topology::Relay), Just(Topology::Mesh)],
        pace in prop_oneof![Just(Pace::Fixed), Just(Pace::Adaptive), Just(Pace::Article)],
        players in 2_u8..=5,
        seed in any::<u64>(),
        operations in prop::collection::vec(operation(), 1..25),
    ) {
        run_operations(topology, pace, players, seed, &operations);
    }
}

/// Drawn by the test above: two players leave while the others give up a third one who sleeps. A player that has left is not asked what it has of the
/// sleeper's entries; what it passed on to one survivor alone divided the match.
#[test]
fn leavers_beside_a_sleeper_end_at_the_same_turn_everywhere() {
    use Operation::{Cut, Leave, Network, Sleep, Wait};
    let operations = [
        Wait(351),
        Network(72, 31, 19),
        Wait(1_151),
        Leave(155),
        Sleep(181, 379),
        Sleep(137, 3_245),
        Cut(74, 1),
        Wait(1_569),
        Leave(171),
        Cut(215, 1),
        Wait(1_848),
    ];
    for seed in [22, 137, 203, 503, 892, 1_033, 1_403, 1_442, 6_799_489_444_508_792_847] {
        run_operations(Topology::Mesh, Pace::Adaptive, 5, seed, &operations);
    }
}

/// Drawn by the test above: a player leaves just when another one is heard again. The third one, cut off before, had lost the second one for
/// long enough to give it up, alone, without turns that the other two had run.
#[test]
fn who_leaves_first_gives_what_it_has_run() {
    use Operation::{Cut, Leave, Wait};
    let operations = [Wait(101), Cut(2, 1), Wait(1_101), Cut(82, 1_251), Wait(1_226), Wait(1_038), Leave(63)];
    run_operations(Topology::Mesh, Pace::Fixed, 3, 0, &operations);
}

/// Drawn by the test above: the lowest player was asleep and cut off, and gave up a player whom the others heard all the time. All waited for
/// each other for ever.
#[test]
fn survivors_of_several_silences_end() {
    use Operation::{Cut, Sleep, Wait};
    let operations = [
        Wait(101),
        Cut(2, 2_376),
        Wait(1_151),
        Wait(1_116),
        Sleep(125, 1_168),
        Wait(1_138),
        Cut(56, 466),
        Wait(390),
        Wait(1_425),
    ];
    run_operations(Topology::Mesh, Pace::Fixed, 4, 2_444_587_144_071_439_506, &operations);
}
