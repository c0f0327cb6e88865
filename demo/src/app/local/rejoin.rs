//! A player who comes back: how long that takes, and what the others notice of it.

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Driver, Duration, Event, Identity, Instant, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
    Simulation as _, VirtualMatch,
};

use testudo_battle::bots;
use testudo_battle::{Game, Setup};

const PLAYERS: u8 = 4;

/// 2,000 in all.
const UNITS: u32 = 500;

/// The player who comes back.
const LOST: usize = 3;

/// Number of turns before which the state is loaded at the latest; the match is over soon afterwards.
const TURNS: u32 = 130;

fn driver(game: &Game, player: u8, now: Instant) -> Driver<Game> {
    let config = SessionConfig::new(PLAYERS)
        .simulated()
        .turns(TURNS)
        .frames_per_second(10)
        .frames_per_turn(1)
        .drop_after(Duration::from_secs(3))
        .bots_take_over(true)
        .place_secret([player + 1; 16]);
    let mut session = Session::new(config, Identity::Player(PlayerId(player)), now).unwrap();
    if player > 0 {
        session.connect(PeerId(0));
    }
    Driver::new(game.clone(), session)
}

/// Plays until a time, with a bot for each player.
fn play(battle: &mut VirtualMatch<Game>, until: Instant) {
    battle.run(until, |_, turn, game, session| {
        let order = session.player().and_then(|player| bots::order(game, player, turn));
        if let Some(order) = order {
            // A player who is not back yet gives none.
            let _ = session.submit(&order);
        }
    });
}

fn stalled(battle: &VirtualMatch<Game>) -> u64 {
    battle.drivers()[..LOST].iter().map(|driver| driver.session().stats().stalled_frames).sum()
}

/// A player's program crashes in a large battle and comes back over a narrow link.
///
/// The protocol does not know how old a match is (`a_two_hour_match_is_rejoined_within_ten_seconds_and_nobody_else_waits` plays 36,000 turns with
/// a padded state); here the state is that of a real battle.
#[test]
fn a_battle_of_two_thousand_units_is_rejoined_within_ten_seconds_at_ten_megabits() {
    let game = Game::new(Setup { players: PLAYERS, units: UNITS, seed: 5, map: None }).unwrap();
    let drivers = (0..PLAYERS).map(|player| driver(&game, player, Instant::ZERO)).collect();
    let mut net = SimNet::new(5);
    net.set_default(LinkConfig::new().latency(Duration::from_millis(30)).bytes_per_second(1_250_000));
    let mut battle = VirtualMatch::new(drivers, net);
    play(&mut battle, Instant::from_millis(5_000));
    let (quiet, came) = (stalled(&battle), battle.now());
    battle.drivers_mut()[LOST] = driver(&game, LOST as u8, came);
    let (mut bytes, mut loaded, mut caught_up, mut back) = (0, None, None, None);
    while !battle.is_over() {
        let until = battle.now() + Duration::from_millis(50);
        play(&mut battle, until);
        let after = battle.now().since(came);
        assert!(after < Duration::from_secs(30), "the match does not end");
        while let Some(event) = battle.poll_event(LOST) {
            match event {
                Event::StateProgress { total, .. } => bytes = total,
                Event::Joined { .. } => loaded = Some(after),
                Event::CaughtUp { .. } => caught_up = Some(after),
                Event::PlayerReturned { .. } => back = Some(after),
                _ => {}
            }
        }
    }
    println!(
        "{bytes} bytes; loaded after {loaded:?}, caught up after {caught_up:?}, back after {back:?}; others waited {} frames",
        stalled(&battle) - quiet
    );
    assert!(bytes > 100_000, "{bytes} bytes are no battle");
    assert!(back.is_some_and(|back| back < Duration::from_secs(10)), "{back:?}");
    assert_eq!(stalled(&battle), quiet, "somebody waited");
    let sums: Vec<u64> =
        battle.drivers_mut().iter_mut().map(|driver| driver.simulation_mut().checksum()).collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let phases: Vec<_> = battle.drivers().iter().map(|driver| driver.session().phase()).collect();
    assert_eq!(phases, [SessionPhase::Finished; PLAYERS as usize]);
}
