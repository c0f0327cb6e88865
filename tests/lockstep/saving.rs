//! A match is saved at a turn on which all peers agree, and resumes from there as if it had never stopped.

use crate::play::{Play as _, assert_agreed, events_of, give_order, introduced};
use std::collections::BTreeMap;

use crate::attacks::sealed;
use crate::joining;
use crate::toy::{Keys, Order, Toy, latency, network, peer, terrible, toy_match, toy_match_from};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use testudo_lockstep::packet::{CHUNK_BYTES, Chunk, Manifest, Packet, Transfer};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    ConfigError, Controls, Driver, Duration, Event, Failure, Identity, Instant, PeerId, PlayerId, Refusal,
    SavedMatch, SavedMatchError, Session, SessionConfig, SessionPhase, Successor, Topology, Turn, TurnStatus,
    VirtualMatch,
};
use testudo_tests::cases::share;

fn config(players: u8, topology: Topology) -> SessionConfig {
    SessionConfig::new(players).simulated().turns(120).topology(topology).drop_after(Duration::from_secs(4))
}

/// Bots play; `at` is called once per turn with the session of each peer.
pub(crate) fn play(game: &mut VirtualMatch<Toy>, mut at: impl FnMut(u32, Identity, &mut Session<Order>)) {
    let over = game.run(Instant::from_millis(900_000), |_, turn, _, session| {
        at(turn.0, session.identity(), session);
        give_order(turn, session);
    });
    assert!(over);
}

/// Player 1 orders a save in turn 40.
fn save_once(turn: u32, identity: Identity, session: &mut Session<Order>) {
    if turn == 40 && identity == Identity::Player(PlayerId(1)) {
        session.save();
    }
}

/// Everybody orders a save in a turn.
fn save_at(at: u32) -> impl FnMut(u32, Identity, &mut Session<Order>) {
    move |turn, _, session| {
        if turn == at {
            session.save();
        }
    }
}

/// All save points of all peers that simulate are equal; returns one with the state.
pub(crate) fn the_save(game: &mut VirtualMatch<Toy>) -> (SavedMatch, Toy) {
    let mut first: Option<(SavedMatch, Toy)> = None;
    let simulate = |session: &Session<Order>| session.identity() != Identity::Relay;
    for driver in game.drivers_mut().iter_mut().filter(|driver| simulate(driver.session())) {
        let saved = driver.session_mut().take_saved().expect("everybody has a save");
        let (turn, toy) = driver.simulation().saved.clone().expect("everybody has the state");
        assert_eq!(turn, saved.turn().0);
        assert_eq!(toy.checksum(), saved.checksum());
        assert_eq!(SavedMatch::from_bytes(&saved.to_bytes()), Ok(saved.clone()));
        let told = events_of(driver);
        assert!(told.iter().any(|event| *event == Event::Saved { turn: saved.turn() }), "{told:?}");
        assert!(!told.iter().any(|event| matches!(event, Event::Desync(_))), "{told:?}");
        if let Some((other, state)) = &first {
            assert_eq!((&saved, &toy.log, toy.history), (other, &state.log, state.history));
        } else {
            first = Some((saved, *toy));
        }
    }
    first.expect("somebody simulates")
}

#[test]
fn a_resumed_match_takes_the_course_of_the_one_that_went_on() {
    let (host, relay, mesh) = (Topology::Host, Topology::Relay, Topology::Mesh);
    // The last two: the relay is gone, or there is one now.
    for (topology, later) in [(host, host), (relay, relay), (mesh, mesh), (relay, host), (host, relay)] {
        for seed in 0..4 {
            let what = format!("{topology:?}, {later:?}, {seed}");
            let resumed = config(3, later);
            let config = config(3, topology);
            let watchers = u32::from(topology != Topology::Mesh);
            let mut game = toy_match(&config, watchers, seed, terrible());
            play(&mut game, save_once);
            let (saved, state) = the_save(&mut game);
            assert_eq!(saved.turn().0, 42, "{what}");
            let resumed = resumed.resume(saved);
            let mut second = toy_match_from(&resumed, &state, watchers, seed + 100, terrible());
            play(&mut second, |turn, _, _| assert!(turn >= 42, "{what}: {turn}"));
            assert!(state.log.len() < game.toy(0).log.len());
            assert_agreed(&mut second, &what);
            assert_eq!(second.toy(0).course(), game.toy(0).course(), "{what}");
        }
    }
}

#[test]
fn who_was_gone_stays_gone_and_who_leaves_meanwhile_is_in_the_save() {
    for topology in [Topology::Host, Topology::Mesh] {
        let config = config(4, topology);
        let mut game = toy_match(&config, 0, 1, terrible());
        play(&mut game, |turn, identity, session| match (turn, identity) {
            // In a mesh the coordinator is among the players who are gone.
            (20, Identity::Player(PlayerId(player)))
                if player == 3 * u8::from(topology == Topology::Host) =>
            {
                session.resign(Successor::AsConfigured);
            }
            (40, Identity::Player(PlayerId(1))) => {
                session.save();
            }
            // Its last entry runs in the turn after the save point, so it is in flight then.
            (41, Identity::Player(PlayerId(2))) => {
                session.resign(Successor::AsConfigured);
            }
            _ => {}
        });
        let (saved, state) = the_save(&mut game);
        let gone = 3 * u8::from(topology == Topology::Host);
        assert!(saved.ended(PlayerId(gone)).is_some() && saved.ended(PlayerId(2)).is_none());
        let resumed = config.resume(saved);
        let mut drivers = Vec::new();
        let peers: Vec<u8> = (0..4).filter(|&player| player != gone).collect();
        for (node, &player) in peers.iter().enumerate() {
            let identity = Identity::Player(PlayerId(player));
            let mut session = Session::new(resumed.clone(), identity, Instant::ZERO).unwrap();
            let dial = if topology == Topology::Mesh { 0..node } else { 0..node.min(1) };
            dial.for_each(|other| session.connect(PeerId(other as u32)));
            drivers.push(testudo_lockstep::Driver::new(state.clone(), session));
        }
        let net = network(2, terrible());
        let mut second = VirtualMatch::new(drivers, net);
        play(&mut second, |_, _, _| {});
        let whole = game.toy(1);
        assert_eq!(whole.gone.len(), 2);
        assert_agreed(&mut second, &format!("{topology:?}"));
        assert_eq!(second.toy(0).course(), whole.course(), "{topology:?}");
    }
}

#[test]
fn pause_and_speed_are_saved() {
    let config = config(2, Topology::Host);
    let mut game = toy_match(&config, 0, 1, LinkConfig::default());
    play(&mut game, |turn, identity, session| match (turn, identity) {
        (10, Identity::Player(PlayerId(0))) => session.set_speed(200).unwrap(),
        (20, Identity::Player(PlayerId(0))) => session.pause(true).unwrap(),
        (30, Identity::Player(PlayerId(1))) => {
            session.save();
        }
        // In flight when the state is saved.
        (31, Identity::Player(PlayerId(0))) => session.pause(false).unwrap(),
        _ => {}
    });
    let (saved, state) = the_save(&mut game);
    let mut second = toy_match_from(&config.resume(saved), &state, 0, 1, LinkConfig::default());
    assert!(second.session(0).is_paused());
    assert_eq!(second.session(0).plan().pace_millihertz, 40_000);
    play(&mut second, |_, _, _| {});
    let whole = game.toy(0);
    assert_eq!(second.toy(1).course(), whole.course());
    assert_eq!(whole.frames, 4 * (120 - 11));
}

/// A pause that was saved had no end in the resumed match; what players had asked for before counted no more.
#[test]
fn pauses_budgets_and_wishes_go_on_after_a_save() {
    let (mut in_pause, mut refused) = (0, 0);
    for seed in 0..share(64).max(12) {
        let controls = [Controls::Everybody, Controls::Majority, Controls::HostPlayer][seed as usize % 3];
        let config = config(3, Topology::Host).controls(controls).pause_max(Duration::from_secs(2));
        let config = config.pauses_max(2).speed_changes_max(2);
        let save_at = 20 + (seed * 7 % 60) as u32;
        // What players want depends on the turn alone.
        let mut ask = |turn: u32, identity: Identity, session: &mut Session<Order>| {
            let Identity::Player(player) = identity else { return };
            let asked = match Pcg32::seed_from_u64(seed << 32 | u64::from(turn) << 8 | u64::from(player.0))
                .next_u32()
                % 30
            {
                0 | 1 => session.pause(true),
                2 => session.pause(false),
                3 => session.set_speed(200),
                4 => session.set_speed(50),
                _ => Ok(()),
            };
            refused += u32::from(asked.is_err());
            if (turn, player) == (save_at, PlayerId(1)) {
                session.save();
            }
        };
        let mut game = toy_match(&config, 0, seed, latency(20));
        play(&mut game, &mut ask);
        let (saved, state) = the_save(&mut game);
        let mut second = toy_match_from(&config.resume(saved), &state, 0, seed, latency(20));
        in_pause += u32::from(second.session(0).is_paused());
        play(&mut second, &mut ask);
        assert_agreed(&mut second, &format!("{seed} {controls:?}"));
        assert_eq!(second.toy(0).course(), game.toy(0).course(), "{seed} {controls:?}");
    }
    assert!(in_pause > 1 && refused > 9, "{in_pause} saves in pauses, {refused} wishes refused");
}

#[test]
fn two_requests_make_one_save_and_the_last_turns_can_be_saved() {
    let config = config(2, Topology::Host);
    let mut game = toy_match(&config, 0, 1, terrible());
    play(&mut game, |turn, identity, session| {
        if turn == 116 || (turn == 117 && identity == Identity::Player(PlayerId(0))) {
            session.save();
        }
    });
    let (saved, state) = the_save(&mut game);
    assert_eq!(saved.turn().0, 118);
    let mut second = toy_match_from(&config.clone().resume(saved), &state, 0, 9, terrible());
    play(&mut second, |_, _, _| {});
    assert_eq!(second.toy(0).log, game.toy(1).log);

    // The state before the very last turn: only one of two turns ahead runs.
    let mut game = toy_match(&config, 0, 1, terrible());
    play(&mut game, save_at(117));
    let (saved, state) = the_save(&mut game);
    assert_eq!(saved.turn().0, 119);
    let mut second = toy_match_from(&config.resume(saved), &state, 0, 9, terrible());
    play(&mut second, |_, _, _| {});
    assert_eq!(second.toy(0).log, game.toy(1).log);
}

/// Runs turns of a single player by hand; returns the inputs that ran.
fn run_keys(session: &mut Session<Keys<6>>, turns: u32) -> Vec<u8> {
    let now = Instant::ZERO;
    session.handle_timeout(now);
    let mut ran = Vec::new();
    for _ in 0..turns {
        assert!(matches!(session.begin_turn(now), TurnStatus::Ready(_)));
        ran.extend(session.turn_actions().map(|(_, keys)| keys.0));
        session.end_turn(now, 7);
    }
    ran
}

#[test]
fn a_held_input_is_held_after_the_save() {
    let config = SessionConfig::input(1, 60).simulated().turns(100);
    let mut session = Session::single(config.clone(), Instant::ZERO).unwrap();
    run_keys(&mut session, 10);
    session.submit(&Keys(33)).unwrap();
    session.save();
    run_keys(&mut session, 5);
    let saved = session.take_saved().unwrap();
    assert_eq!((saved.turn().0, saved.checksum()), (12, 7));
    let mut second = Session::single(config.resume(saved), Instant::ZERO).unwrap();
    assert_eq!(run_keys(&mut second, 5), [33; 5]);
}

/// Saves of one match from these turns.
fn two_saves(config: &SessionConfig, turns: [u32; 2]) -> [SavedMatch; 2] {
    let mut game = toy_match(config, 0, 1, LinkConfig::default());
    let mut saves = Vec::new();
    play(&mut game, |turn, _, session| {
        if turns.contains(&turn) {
            session.save();
        }
        saves.extend(session.take_saved());
    });
    let (early, late) = (saves[0].clone(), saves[saves.len() - 1].clone());
    assert!(early.turn() < late.turn());
    [early, late]
}

#[test]
fn peers_with_different_saves_refuse_each_other() {
    let config = config(2, Topology::Host);
    let [early, late] = two_saves(&config, [20, 40]);
    let now = Instant::ZERO;
    let (_, client) = introduced(config.clone().resume(early.clone()), config.clone().resume(late), now);
    assert!(matches!(client.phase(), SessionPhase::Failed(Failure::Refused(Refusal::Config { .. }))));
    let other = config.content_hash(9).resume(early);
    assert_eq!(Session::<Order>::host(other, now).unwrap_err(), ConfigError::OtherMatch);
}

/// A host that was changed sent another save, and the guest went on from that one.
#[test]
fn who_brings_a_save_plays_no_other_one() {
    let (settings, now) = (config(2, Topology::Host), Instant::ZERO);
    let [own, other] = two_saves(&settings, [20, 60]);
    for brings in [true, false] {
        let resumed = settings.clone().resume(own.clone());
        let config = if brings { resumed.clone() } else { settings.clone() };
        let (_, mut guest) = introduced(resumed, config, now);
        let (key, saved) = (guest.packet_key(PeerId(0)).unwrap(), other.to_bytes());
        let all = [&[0; 2][..], &(saved.len() as u32).to_le_bytes(), &saved, b"another state"].concat();
        let (turn, hash) = (other.turn().0, u64::from_le_bytes(xxhash(&all)));
        let (source, total, blocks) = (PlayerId(0), all.len() as u32, vec![hash as u32]);
        let manifest = Transfer::Manifest(Manifest { turn, source, total, hash, blocks });
        let chunks = (0..)
            .zip(all.chunks(CHUNK_BYTES as usize))
            .map(|(index, bytes)| Transfer::Chunk(Chunk { turn, index, sent_ms: 0, bytes: bytes.to_vec() }));
        for transfer in [manifest].into_iter().chain(chunks) {
            guest.handle_packet(now, PeerId(0), &sealed(&Packet::Transfer(transfer), key));
        }
        // Whoever brings none takes any.
        assert_eq!(guest.resumed(), Some(if brings { &own } else { &other }), "brings one: {brings}");
    }
}

/// A save said that the match is paused, by nobody, and then nobody's pause had no end.
#[test]
fn a_save_that_nobody_has_paused_is_not_paused() {
    let config = config(2, Topology::Host);
    let mut game = toy_match(&config, 0, 1, LinkConfig::default());
    play(&mut game, |turn, identity, session| match turn {
        30 if identity == Identity::Player(PlayerId(1)) => session.pause(true).unwrap(),
        40 => assert!(session.save()),
        50 if identity == Identity::Player(PlayerId(1)) => session.pause(false).unwrap(),
        _ => {}
    });
    let (saved, _) = the_save(&mut game);
    let resumes = |saved: SavedMatch| Session::<Order>::host(config.clone().resume(saved), Instant::ZERO);
    assert!(format!("{saved:?}").contains("paused: true, paused_by: Some("), "{saved:?}");
    assert!(resumes(saved.clone()).is_ok());
    let (bytes, mut forged) = (saved.to_bytes(), 0);
    let body = bytes.len() - 8;
    // The number of a player, or 16 for nobody: somewhere.
    for first in 0..body * 8 - 5 {
        let mut changed = bytes.clone();
        for (bit, is_set) in (first..).zip([false, false, false, false, true]) {
            changed[bit / 8] = changed[bit / 8] & !(1 << (bit % 8)) | u8::from(is_set) << (bit % 8);
        }
        reseal(&mut changed);
        let Ok(changed) = SavedMatch::from_bytes(&changed) else { continue };
        if format!("{changed:?}").contains("paused: true, paused_by: None") {
            assert_eq!(resumes(changed).unwrap_err(), ConfigError::UnsoundSave);
            forged += 1;
        }
    }
    assert!(forged > 0);
}

/// A guest that had no way to compare played on from a battle that the host had changed.
#[test]
fn a_changed_save_contradicts_the_one_that_a_guest_has_kept() {
    let save = |session_id: u64, turn: u32| {
        let config = config(2, Topology::Host).session_id(session_id);
        let mut game = toy_match(&config, 0, 1, LinkConfig::default());
        play(&mut game, save_at(turn));
        game.drivers_mut()
            .iter_mut()
            .map(|driver| driver.session_mut().take_saved().unwrap())
            .collect::<Vec<_>>()
    };
    let (saves, later, other) = (save(7, 20), save(7, 40), save(8, 20));
    assert_eq!(saves[0], saves[1]);
    let same = [(&saves[0], &saves[1]), (&saves[0], &later[0]), (&saves[0], &other[0])];
    assert!(
        same.iter().all(|(one, another)| !one.contradicts(another)),
        "equal, another turn, another match"
    );
    let bytes = saves[0].to_bytes();
    let (mut changed, body) = (0, bytes.len() - 8);
    for bit in 0..body * 8 {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        reseal(&mut forged);
        let Ok(forged) = SavedMatch::from_bytes(&forged) else { continue };
        let is_of_this = (forged.origin(), forged.turn()) == (saves[1].origin(), saves[1].turn());
        assert_eq!(forged.contradicts(&saves[1]), is_of_this, "{bit}");
        changed += u32::from(is_of_this);
    }
    // Settings and checksum alone have 128 bits.
    assert!(changed >= 128, "{changed}");
}

#[test]
fn a_damaged_save_is_an_error() {
    let config = config(2, Topology::Host);
    let mut game = toy_match(&config, 0, 1, LinkConfig::default());
    play(&mut game, save_at(20));
    let (saved, _) = the_save(&mut game);
    let bytes = saved.to_bytes();
    for length in 0..bytes.len() {
        assert!(SavedMatch::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(SavedMatch::from_bytes(&damaged).is_err(), "{bit}");
        // With a valid hash: any error, or a saved match with the same bytes. A session accepts or refuses it, nothing else.
        reseal(&mut damaged);
        if let Ok(forged) = SavedMatch::from_bytes(&damaged) {
            assert_eq!(forged.to_bytes(), damaged, "{bit}");
            let _ = Session::<Order>::host(config.clone().resume(forged), Instant::ZERO);
        }
    }
    let mut other = bytes;
    other[0] ^= 1;
    reseal(&mut other);
    assert!(matches!(SavedMatch::from_bytes(&other), Err(SavedMatchError::Version { .. })));
}

/// Makes the hash at the end of a save valid.
fn reseal(bytes: &mut [u8]) {
    let (body, hash) = bytes.split_at_mut(bytes.len() - 8);
    hash.copy_from_slice(&xxhash(body));
}

fn xxhash(bytes: &[u8]) -> [u8; 8] {
    xxhash_rust::xxh3::xxh3_64(bytes).to_le_bytes()
}

/// The save that a player orders in turn 40 of a match, and the state in it.
pub(crate) fn saved_by(config: &SessionConfig) -> (SavedMatch, Toy) {
    let mut game = toy_match(config, 0, 1, LinkConfig::new());
    play(&mut game, save_once);
    the_save(&mut game)
}

/// A session of each peer of a resumed match; only the host has the save and the state.
pub(crate) fn resumed_by_the_host_alone(
    config: &SessionConfig,
    saved: SavedMatch,
    state: Toy,
    seed: u64,
) -> VirtualMatch<Toy> {
    let mut drivers = Vec::new();
    let identities = (0..3).map(|player| Identity::Player(PlayerId(player))).chain([Identity::Watcher]);
    for identity in identities {
        let is_host = identity == Identity::Player(PlayerId(0));
        let config = if is_host { config.clone().resume(saved.clone()) } else { config.clone() };
        let toy = if is_host { Toy { gives_state: true, ..state.clone() } } else { Toy::default() };
        drivers.push(peer(&config, identity, toy, Instant::ZERO));
    }
    VirtualMatch::new(drivers, network(seed, terrible()))
}

/// With 100,000 bytes at 2,000 bytes a second, three receivers need 160 s. The first one got all of it, and the others gave up after 60 s.
#[test]
fn three_who_wait_for_a_save_on_a_slow_uplink_share_it_and_get_it() {
    let config = config(3, Topology::Host).late_watchers(true).watchers_min(1).state_rate(2_000);
    let (saved, state) = saved_by(&config.clone().watchers_min(0));
    let state = Toy { ballast: 100_000, ..state };
    let config = config.lobby_timeout(Duration::from_secs(400));
    let mut second = resumed_by_the_host_alone(&config, saved, state, 1);
    let (mut got, mut halves) = (Vec::new(), Vec::new());
    while second.now() < Instant::from_millis(400_000) && got.len() < 3 {
        second.step(&mut |_, _, _, _| {});
        for node in 1..4 {
            while let Some(event) = second.poll_event(node) {
                match event {
                    Event::StateProgress { received, total } if received * 2 >= total => {
                        halves.push((second.now().as_micros() / 1_000_000, node));
                    }
                    Event::Joined { .. } => got.push((second.now().as_micros() / 1_000_000, node)),
                    _ => {}
                }
            }
        }
    }
    let phases = second.phases();
    assert_eq!(got.len(), 3, "{got:?} {phases:?}");
    assert!(got[0].0 >= 100, "nobody has it long before the others: {got:?}");
    // In the first half of the time nobody is far ahead.
    let first = |node| halves.iter().find(|(_, other)| *other == node).map_or(0, |(second, _)| *second);
    let times: Vec<u64> = (1..4).map(first).collect();
    assert!(times.iter().max().unwrap() - times.iter().min().unwrap() < 20, "{times:?}");
}

/// In the lobby it had been there for longer than a join may take, so it was sent away with the first turn.
#[test]
fn a_watcher_who_has_half_of_the_save_at_the_start_joins_the_match() {
    let config = config(3, Topology::Host).late_watchers(true);
    let (saved, state) = saved_by(&config);
    let state = Toy { ballast: 100_000, ..state };
    let config = config.lobby_timeout(Duration::from_secs(400));
    let mut second = resumed_by_the_host_alone(&config, saved, state, 1);
    second.net_mut().set_default(LinkConfig::new());
    second.net_mut().set_link(0, 3, LinkConfig::new().bytes_per_second(1_000));
    second.session_mut(0).set_ready(false);
    second.idle(63_000);
    let halfway =
        |event: Event| matches!(event, Event::StateProgress { received, total } if received < total);
    assert!(second.events(3).into_iter().any(halfway));
    second.net_mut().set_link(0, 3, LinkConfig::new());
    second.session_mut(0).set_ready(true);
    second.idle(72_000);
    assert_eq!(second.session(0).phase(), SessionPhase::Running);
    assert_eq!(second.session(3).phase(), SessionPhase::Running);
    let joined = |event: Event| matches!(event, Event::Joined { .. });
    assert!(second.events(3).into_iter().any(joined));
}

/// The demo had a protocol of its own for this.
#[test]
fn who_comes_to_a_resumed_match_without_the_save_gets_it_in_the_lobby() {
    for (seed, watchers_needed) in [(1, 0), (2, 1), (3, 0), (4, 1)] {
        let config = config(3, Topology::Host).late_watchers(true).watchers_min(watchers_needed);
        let mut game = toy_match(&config.clone().watchers_min(0), 0, seed, LinkConfig::new());
        play(&mut game, save_once);
        let (saved, state) = the_save(&mut game);
        let mut second = resumed_by_the_host_alone(&config, saved, state, seed);
        play(&mut second, |turn, identity, _| {
            assert!(turn >= 42 && (turn > 42 || identity != Identity::Relay), "{identity:?} in {turn}");
        });
        assert_agreed(&mut second, &format!("seed {seed}"));
        assert_eq!(second.toy(0).course(), game.toy(0).course(), "seed {seed}");
        assert!((1..4).all(|node| !second.toy(node).loaded.is_empty()), "seed {seed}");
    }
}

/// The place was taken for good, though nobody had it.
#[test]
fn a_player_who_was_away_in_the_save_comes_back_after_the_start() {
    let (config, away) = (config(3, Topology::Host), PlayerId(2));
    let mut game = toy_match(&config, 0, 1, LinkConfig::new());
    play(&mut game, |turn, identity, session| match (turn, identity) {
        (10, Identity::Player(PlayerId(2))) => {
            session.resign(Successor::Bot);
        }
        (40, Identity::Player(PlayerId(1))) => {
            session.save();
        }
        _ => {}
    });
    let (saved, state) = the_save(&mut game);
    let config = config.connect_timeout(Duration::from_secs(100));
    // In the lobby; after the start with the code, and without it.
    let [early, late, stranger] = [PeerId(2), PeerId(3), PeerId(4)];
    let mut drivers = Vec::new();
    for player in [0, 1, 2, 2, 2] {
        let is_host = player == 0;
        let config = if is_host { config.clone().resume(saved.clone()) } else { config.clone() };
        let config = if player == 2 { config.place_secret([7; 16]) } else { config };
        let mut session = Session::new(config, Identity::Player(PlayerId(player)), Instant::ZERO).unwrap();
        if is_host {
            session.bind(early, Identity::Player(away));
            session.bind(late, Identity::Player(away));
        } else if drivers.len() < 3 {
            session.connect(PeerId(0));
        }
        let toy = if is_host { Toy { gives_state: true, ..state.clone() } } else { Toy::default() };
        drivers.push(testudo_lockstep::Driver::new(toy, session));
    }
    let net = network(1, latency(20));
    let mut second = VirtualMatch::new(drivers, net);
    let (mut now, mut newest) = (Instant::ZERO, 0);
    while !second.run(now, |_, turn, _, _| newest = newest.max(turn.0)) {
        now += Duration::from_millis(100);
        assert!(now < Instant::from_millis(300_000), "turn {newest}");
        for (peer, from) in [(stranger, 50), (late, 60)] {
            let session = second.session_mut(peer.0 as usize);
            if newest >= from && session.phase() == SessionPhase::Lobby {
                session.connect(PeerId(0));
            }
        }
    }
    let phase = |peer: PeerId| second.session(peer.0 as usize).phase();
    let refused = |refusal| SessionPhase::Failed(Failure::Refused(refusal));
    assert_eq!(phase(early), refused(Refusal::ComeBackIn { seconds: 11 }));
    assert_eq!(phase(stranger), refused(Refusal::Taken));
    assert_eq!(phase(late), SessionPhase::Finished);
    let [whole, toy] = [PeerId(0), late].map(|peer| second.toy(peer.0 as usize));
    assert_eq!((toy.history, toy.frames), (whole.history, whole.frames));
    assert!(second.events(0).into_iter().any(|event| matches!(event, Event::PlayerReturned { .. })));
}

#[test]
fn a_save_whose_state_is_another_one_is_not_played() {
    let config = config(3, Topology::Host).lobby_timeout(Duration::from_secs(60));
    let (saved, mut state) = saved_by(&config);
    state.values[1] ^= 1;
    let mut second = resumed_by_the_host_alone(&config, saved, state, 1);
    second.run(Instant::from_millis(120_000), |_, turn, _, _| panic!("turn {turn} runs"));
    for node in 1..3 {
        let (phase, stats) = (second.session(node).phase(), second.session(node).stats());
        let told = second.events(node);
        assert_eq!(phase, SessionPhase::Failed(Failure::NoState), "{node}: {told:?} {stats:?}");
        let suspects = vec![Identity::Player(PlayerId(0))];
        assert!(told.contains(&Event::WrongState { turn: testudo_lockstep::Turn(42), suspects }), "{told:?}");
    }
}

/// Each save writes the whole state on every peer. A player that asked in every turn kept all of them busy.
#[test]
fn who_asks_for_a_save_in_every_turn_gets_one_in_two_seconds() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let mut game = toy_match(&config(2, topology), 0, 1, terrible());
        play(&mut game, |_, _, session| {
            session.save();
        });
        let points: Vec<Vec<u32>> = (0..2)
            .map(|node| {
                let events = std::iter::from_fn(|| game.poll_event(node));
                let turn = |event| match event {
                    Event::SavePoint { turn, .. } => Some(turn.0),
                    _ => None,
                };
                events.filter_map(turn).collect()
            })
            .collect();
        assert_eq!(points[0], points[1], "{topology:?}");
        // 120 turns of 200 ms.
        assert!((10..=12).contains(&points[0].len()), "{topology:?} {:?}", points[0]);
        assert!(points[0].windows(2).all(|two| two[1] - two[0] >= 10), "{topology:?} {:?}", points[0]);
    }
}

/// A state did not hold the last save point. Who joined within two seconds after it took the next request for a save point, and the others did not.
#[test]
fn who_joined_saves_at_the_same_turns() {
    for seed in 1..4 {
        let config = joining::config(3, Topology::Host).turns(400);
        let mut game = joining::start(&config, 0, seed, latency(40));
        let mut points: [Vec<u32>; 3] = Default::default();
        let mut joined = None;
        for ms in (0..200_000).step_by(500) {
            if ms == 8_000 + 500 * seed {
                joining::come_back(&mut game, &config, 2);
            }
            let is_over = game.run(Instant::from_millis(ms), |_, turn, _, session| {
                if turn.0 % 3 == 0 && session.player() == Some(PlayerId(0)) {
                    session.save();
                }
            });
            for (node, points) in points.iter_mut().enumerate() {
                while let Some(event) = game.poll_event(node) {
                    match event {
                        Event::SavePoint { turn, .. } => points.push(turn.0),
                        Event::Joined { turn } if node == 2 => joined = Some(turn.0),
                        _ => {}
                    }
                }
            }
            if is_over {
                break;
            }
        }
        let joined = joined.expect("player 2 came back");
        let since =
            |node: usize| points[node].iter().copied().filter(|turn| *turn > joined).collect::<Vec<_>>();
        assert!(since(0).len() > 10, "{points:?}");
        for node in 1..3 {
            assert_eq!(since(node), since(0), "seed {seed}, node {node}, joined before turn {joined}");
        }
    }
}

/// A player crashes about when a save is made, and its return is known before a peer has run the turns of the save. That peer knows the turns between
/// end and return, too, and saved them: nobody could read that, and the others' saves were others.
#[test]
fn saves_are_equal_where_a_return_is_known_early() {
    let cases = (0..share(8)).flat_map(|case| [(case, Topology::Host), (case, Topology::Relay)]);
    for (case, topology) in cases {
        // Turns of two seconds, within which a player is back.
        let config = joining::config(3, topology).turns_ahead(3).frames_per_turn(40);
        let mut game = joining::start(&config, 0, case, LinkConfig::default());
        let mut saves = BTreeMap::new();
        for step in 0..1_200 {
            let until = Instant::from_millis(10_000 + 100 * step);
            game.run(until, |_, _, _, session| {
                session.save();
            });
            if step % 120 == 13 * case % 120 {
                joining::come_back(&mut game, &config, 2);
            }
            for (node, driver) in game.drivers_mut().iter_mut().enumerate() {
                let Some(saved) = driver.session_mut().take_saved() else { continue };
                let what = format!("{topology:?} {case}: node {node}, turn {}", saved.turn());
                assert_eq!(SavedMatch::from_bytes(&saved.to_bytes()).as_ref(), Ok(&saved), "{what}");
                let first = saves.entry(saved.turn()).or_insert(saved.clone());
                assert_eq!(*first, saved, "{what}");
            }
        }
        assert!(saves.len() > 12 && game.toy(0).returned.len() > 3, "{}", saves.len());
    }
}

/// It said that a save followed. The one that it was to join had been told already, and whoever waited for it waited in vain.
#[test]
fn a_save_right_after_another_one_is_refused() {
    let config = SessionConfig::new(2).simulated().turns(100);
    let mut game = toy_match(&config, 0, 1, latency(10));
    let mut accepted = Vec::new();
    assert!(game.run(Instant::from_millis(60_000), |node, turn, _, session| {
        if node == 1 && session.save() {
            accepted.push(turn.0);
        }
    }));
    let saved = |event| if let Event::Saved { turn } = event { Some(turn.0) } else { None };
    let saved: Vec<u32> = game.events(1).into_iter().filter_map(saved).collect();
    // What is asked for before a turn is in the entry two turns later, and a save is complete one turn after its own.
    let follows = |asked: &u32| saved.iter().any(|turn| (asked.saturating_sub(1)..=asked + 2).contains(turn));
    let in_vain: Vec<&u32> = accepted.iter().filter(|asked| !follows(asked)).collect();
    assert_eq!((in_vain, saved.len()), (vec![], 10), "{accepted:?}, {saved:?}");
}

/// With nothing ahead the first turn of all can be the save point. Its save had no checksum, and whoever compared it could not go on with it.
#[test]
fn a_match_that_is_saved_before_its_first_turn_has_the_checksum_of_its_state() {
    let config = SessionConfig::new(1).simulated().turns(9).turns_ahead(0);
    let start = Toy { history: 77, ..Toy::default() };
    let mut driver = Driver::new(start, Session::single(config.clone(), Instant::ZERO).unwrap());
    let mut now = Instant::ZERO;
    assert!(driver.session_mut().save());
    let saved = loop {
        driver.advance(now);
        if let Some(saved) = driver.session_mut().take_saved() {
            break saved;
        }
        now += Duration::from_millis(10);
        assert!(now < Instant::from_millis(5_000));
    };
    let (turn, state) = driver.simulation().saved.clone().unwrap();
    assert_eq!((turn, saved.turn(), saved.checksum()), (0, Turn(0), state.checksum()));
    let mut resumed = Driver::new(*state, Session::single(config.resume(saved), Instant::ZERO).unwrap());
    (0..1_000).for_each(|step| {
        resumed.advance(Instant::from_millis(10 * step));
        driver.advance(now + Duration::from_millis(10 * step));
    });
    for driver in [&driver, &resumed] {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
    }
    assert_eq!(resumed.simulation().history, driver.simulation().history);
}
