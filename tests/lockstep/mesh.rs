//! Meshes: how the members meet, vote, and go on when some of them are cut off. Liars are in `attacks/mesh.rs`.

use crate::play::{Play as _, assert_agreed, assert_agreed_by, match_at};
use crate::toy::{Order, Toy, latency, network, terrible};
use testudo_lockstep::packet::{Packet, TurnsPacket};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    ConfigError, Driver, Duration, Identity, Instant, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
    Successor, Topology, VirtualMatch, VoteError,
};
use testudo_tests::cases::share;

const DEAD: LinkConfig = LinkConfig::new().loss_ppm(1_000_000);

fn config(players: u8) -> SessionConfig {
    let config = SessionConfig::new(players).simulated().topology(Topology::Mesh).turns(60);
    config.drop_after(Duration::from_secs(2))
}

/// A mesh whose links nobody has opened.
fn unlinked(config: &SessionConfig, seed: u64, link: LinkConfig) -> VirtualMatch<Toy> {
    let net = network(seed, link);
    let drivers = (0..config.players).map(|player| member(config, player, Instant::ZERO));
    VirtualMatch::new(drivers.collect(), net)
}

fn member(config: &SessionConfig, player: u8, now: Instant) -> Driver<Toy> {
    Driver::new(
        Toy::default(),
        Session::new(config.clone(), Identity::Player(PlayerId(player)), now).unwrap(),
    )
}

fn connect(game: &mut VirtualMatch<Toy>, from: u8, to: u8) {
    game.session_mut(usize::from(from)).connect(PeerId(to.into()));
    game.put_to_sleep(from.into(), Instant::ZERO);
}

/// A number below `below` that follows from the case.
fn drawn(case: u64, below: u64) -> u64 {
    ((case + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) % below
}

/// A match in which nobody is dropped ended for everybody, with an error.
#[test]
fn nobody_is_voted_out_of_a_mesh_that_drops_nobody() {
    let mut game = match_at(&config(4).without_drops(), latency(60), 4_000);
    let session = game.session_mut(0);
    assert_eq!(session.vote_out(PlayerId(3), true), Err(VoteError::NobodyIsDropped));
    // Liars vote all the same.
    for voter in [1, 2, 3] {
        let next = game.session(0).next_turn().0;
        let acks = (0..4).map(|_| next).collect();
        let vote = TurnsPacket { base: next + 4, acks, votes: !(1 << voter), ..TurnsPacket::default() };
        crate::attacks::deliver(&mut game, 0, voter, &Packet::Turns(Box::new(vote)));
    }
    assert!(game.play(60_000));
    assert_agreed_by(&mut game, [0, 1, 2, 3], "nobody is dropped");
}

/// Two who asked each other at about the same time never met: each took the other's link for a new one.
#[test]
fn members_who_all_dial_each_other_meet() {
    for seed in 0..share(60) {
        let players = 2 + (seed % 5) as u8;
        let mut game = unlinked(&config(players).turns(10), seed, terrible());
        let within = [1, 300, 2_000][seed as usize % 3];
        let pairs = (0..players).flat_map(|from| (0..players).map(move |to| (from, to)));
        let dials = pairs.filter(|(from, to)| from != to).map(|(from, to)| {
            let draw = drawn(seed << 8 | u64::from(from) << 4 | u64::from(to), within);
            (draw, from, to)
        });
        let mut dials: Vec<(u64, u8, u8)> = dials.collect();
        dials.sort_unstable();
        for (at, from, to) in dials {
            game.play(at);
            connect(&mut game, from, to);
        }
        assert!(game.play(60_000), "seed {seed}");
        assert_agreed(&mut game, &format!("seed {seed}"));
    }
}

/// The members with greater numbers had a link to the lost process, and did not ask again.
#[test]
fn a_member_that_restarts_in_the_lobby_is_met_again() {
    for restarts in 0..4 {
        let config = config(4).turns(10).lobby_timeout(Duration::from_secs(30));
        let mut game = unlinked(&config, restarts, terrible());
        let dial_all = |game: &mut VirtualMatch<Toy>, from: u8| {
            (0..4).filter(|to| *to != from).for_each(|to| connect(game, from, to));
        };
        (0..4).for_each(|from| dial_all(&mut game, from));
        let last = (restarts as usize + 1) % 4;
        game.session_mut(last).set_ready(false);
        game.play(5_000);
        assert_eq!(game.phases(), [SessionPhase::Lobby; 4]);
        let now = game.now();
        game.drivers_mut()[restarts as usize] = member(&config, restarts as u8, now);
        dial_all(&mut game, restarts as u8);
        game.play(10_000);
        game.session_mut(last).set_ready(true);
        assert!(game.play(60_000), "{restarts}");
        assert_agreed_by(&mut game, [0, 1, 2, 3], &format!("{restarts} restarts"));
    }
}

/// What the next packet of a node says of whom it has given up.
fn given_up_by(game: &mut VirtualMatch<Toy>, node: usize) -> u16 {
    let (now, mut bytes) = (game.now() + Duration::from_millis(100), Vec::new());
    let session = game.session_mut(node);
    let to = session.poll_transmit(now, &mut bytes).unwrap();
    let key = session.packet_key(to).unwrap();
    let Ok(Packet::Turns(turns)) = Packet::decode(&bytes, key, session.config().payload_format(33)) else {
        panic!("{bytes:?}");
    };
    turns.frozen
}

/// When the second one was given up, the lowest player took the first one back, who had been dropped. So it no longer knew that the second one may have run
/// turns of the first that nobody else has, and is no liar for that.
#[test]
fn whoever_was_dropped_from_a_mesh_stays_given_up() {
    let mut game = match_at(&config(7), latency(20), 3_000);
    game.put_to_sleep(6, Instant::from_millis(2_000_000));
    game.play(6_500);
    assert_eq!(game.session(0).stats().drops, 1);
    game.put_to_sleep(5, Instant::from_millis(2_000_000));
    game.play(10_000);
    assert_eq!(game.session(0).stats().drops, 2);
    assert_eq!(given_up_by(&mut game, 0), 1 << 6 | 1 << 5);
}

/// Three members had given up the one against whom they voted, and waited for a fourth, who could not be heard. One took its vote back, and then the lowest
/// player listened again. The other two never did, and when the lowest player crashed, they dropped one who had played all the time.
#[test]
fn a_vote_of_a_mesh_stands_when_members_have_acted_on_it() {
    for taken_back_at in [3_500, 3_700, 3_900] {
        let mut game = match_at(&config(5).turns(100), latency(20), 3_000);
        game.net_mut().set_partition(&[3]);
        game.play(3_200);
        for voter in 0..3 {
            game.session_mut(voter).vote_out(PlayerId(4), true).unwrap();
        }
        game.play(taken_back_at);
        game.session_mut(2).vote_out(PlayerId(4), false).unwrap();
        game.play(4_400);
        game.net_mut().set_partition(&[]);
        game.play(5_500);
        let drops = game.session(0).stats().drops;
        assert_eq!(drops, 1, "taken back at {taken_back_at}");
        game.put_to_sleep(0, Instant::from_millis(2_000_000));
        game.play(200_000);
        assert_agreed_by(&mut game, [1, 2, 3], &format!("taken back at {taken_back_at}"));
    }
}

/// Nobody links to a mesh to watch, so the start never came.
#[test]
fn a_mesh_waits_for_no_watchers() {
    let new = |config| Session::<Order>::new(config, Identity::Player(PlayerId(0)), Instant::ZERO).map(drop);
    let refused = ConfigError::OutOfRange { setting: "watchers_min", value: 1, min: 0, max: 0 };
    assert_eq!(new(config(3).watchers_min(1)), Err(refused));
    assert_eq!(new(config(3)), Ok(()));
}

/// The packet with a player's end was refused whole by a peer that had missed the votes, and with it the votes that it needed.
#[test]
fn who_watches_a_mesh_after_a_resignation_may_miss_a_vote_for_a_moment() {
    // The others wait for two seconds for what it may have.
    for gap_ms in [2_100, 2_500, 3_000] {
        let mut game = match_at(&config(5).drop_after(Duration::from_secs(4)), latency(20), 3_000);
        game.session_mut(4).resign(Successor::Nobody);
        game.play(5_000);
        game.net_mut().set_partition(&[4]);
        for voter in 0..3 {
            game.session_mut(voter).vote_out(PlayerId(3), true).unwrap();
        }
        game.play(5_000 + gap_ms);
        game.net_mut().set_partition(&[]);
        assert!(game.play(200_000));
        assert_agreed_by(&mut game, [0, 1, 2, 4], &format!("{gap_ms} ms"));
    }
}

/// The others had gone in good order. Player 0 lacked their last checksums, and lost a match that it had played to the last turn.
#[test]
fn who_has_played_all_turns_does_not_lose_to_those_who_have_finished() {
    let mut lacked = 0;
    for cut_at in (11_500..12_300).step_by(800 / share(40) as usize) {
        let mut game = match_at(&config(3).drop_after(Duration::from_secs(8)), LinkConfig::new(), cut_at);
        // Nothing comes to player 0, but what it sends arrives.
        [1, 2].into_iter().for_each(|from| game.net_mut().set_link(from, 0, DEAD));
        game.play(12_700);
        // Longer than the linger time: the others go.
        game.net_mut().set_partition(&[0]);
        game.play(16_000);
        let before = game.phases();
        let is_alone = before == [SessionPhase::Ending, SessionPhase::Finished, SessionPhase::Finished];
        game.net_mut().set_partition(&[]);
        [1, 2].into_iter().for_each(|from| game.net_mut().set_link(from, 0, LinkConfig::new()));
        assert!(game.play(200_000), "cut off at {cut_at}");
        if is_alone {
            lacked += 1;
            assert_agreed_by(&mut game, [0, 1, 2], &format!("cut off at {cut_at}"));
        }
    }
    assert!(lacked > 1, "player 0 never lacked the last checksums alone");
}
