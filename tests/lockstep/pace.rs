//! Input mode, and turns that follow the network.

use crate::play::{Play as _, match_at};
use crate::toy::{Keys, Toy, game_match, latency, terrible, toy_match};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Blame, ClockError, Driver, Duration, Event, Instant, Pace, PeerClock, PlayerId, SessionConfig,
    SessionPhase, Simulation, Topology, VirtualMatch,
};

#[derive(Clone, Default)]
struct Pad {
    log: Vec<(u32, u8, u8)>,
    frames: u32,
    sum: u64,
}

impl Simulation for Pad {
    type Action = Keys<8>;
    fn apply(&mut self, player: PlayerId, action: &Keys<8>) {
        self.log.push((self.frames, player.0, action.0));
        self.sum = self.sum.rotate_left(7) ^ u64::from(action.0) ^ (u64::from(player.0) << 32);
    }
    fn step(&mut self, _: u32) {
        self.frames += 1;
        self.sum = self.sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    }
    fn checksum(&mut self) -> u64 {
        self.sum
    }
}

fn pad_match(link: LinkConfig, frames: u32, turns_ahead: u32) -> VirtualMatch<Pad> {
    let config = SessionConfig::input(2, 60).simulated().turns(frames).turns_ahead(turns_ahead);
    let mut game = game_match(&config, &Pad::default(), 0, 5, link);
    let over = game.run(Instant::from_millis(600_000), |_, turn, _, session| {
        // A button changes every 20 frames.
        let player = session.player().unwrap();
        crate::toy::give(session, &Keys((turn.0 / 20) as u8 ^ player.0));
    });
    assert!(over);
    game
}

#[test]
fn input_mode_is_a_turn_of_one_frame() {
    for link in [LinkConfig::new(), terrible()] {
        let game = pad_match(link, 620, 2);
        for driver in game.drivers() {
            assert_eq!(driver.session().phase(), SessionPhase::Finished);
            assert_eq!(driver.simulation().frames, 620);
            // Every frame has an input of each player from the third on.
            let expected: Vec<_> = (2..620_u32)
                .flat_map(|frame| [0_u8, 1].map(|player| (frame, player, ((frame - 2) / 20) as u8 ^ player)))
                .collect();
            assert_eq!(driver.simulation().log, expected);
        }
    }
}

#[test]
fn input_mode_costs_few_bytes() {
    // 60 Hz, 50 ms one way, 8-bit input. The limit of 1,700 bytes per second includes 16 bytes of authentication per packet instead of the
    // tag of 4, and a packet counter of 2.
    let link = latency(50);
    let game = pad_match(link, 3_600, 5);
    // The host's bytes: they do not include a guest's hellos before the first turn.
    let stats = game.session(0).stats();
    let seconds = 60;
    let plain = stats.bytes_sent / seconds;
    let sealed = (stats.bytes_sent + stats.packets_sent * 14) / seconds;
    assert!(plain <= 900 && sealed <= 1_700, "{plain} {sealed} {stats:?}");
}

fn play(config: &SessionConfig, seed: u64, link: LinkConfig) -> VirtualMatch<Toy> {
    let mut game = toy_match(config, 1, seed, link);
    assert!(game.play(3_600_000));
    game
}

fn plans_of(driver: &mut Driver<Toy>) -> Vec<(u32, u32)> {
    let mut plans = Vec::new();
    while let Some(event) = driver.session_mut().poll_event() {
        match event {
            Event::Plan { turn, plan } => plans.push((turn.0, plan.frames_per_turn)),
            Event::Desync(mismatch) => panic!("{mismatch:?}"),
            _ => {}
        }
    }
    plans
}

#[test]
fn turns_follow_the_network_at_the_same_turn_everywhere() {
    for pace in [Pace::Adaptive, Pace::Article] {
        let mut game = play(&SessionConfig::new(3).simulated().turns(200).pace(pace), 2, terrible());
        let plans = plans_of(&mut game.drivers_mut()[0]);
        assert!(!plans.is_empty());
        let log = game.toy(0).log.clone();
        for driver in &mut game.drivers_mut()[1..] {
            assert_eq!(plans_of(driver), plans, "{pace:?}");
            assert_eq!(driver.simulation().log, log);
        }
    }
}

#[test]
fn a_fast_network_has_short_turns_and_a_slow_one_does_not_stall() {
    let link = |ms| latency(ms);
    let config = SessionConfig::new(3).simulated().turns(200).pace(Pace::Adaptive);
    let mut fast = play(&config, 1, link(5));
    let plans = plans_of(&mut fast.drivers_mut()[0]);
    assert!(plans.last().unwrap().1 <= 2, "{plans:?}");
    // Client to client 500 ms: turns of 200 ms would stall, turns of 250 to 400 ms need not.
    let slow = play(&config, 1, link(250));
    let fixed = play(&SessionConfig::new(3).simulated().turns(200), 1, link(250));
    let stalls = |game: &VirtualMatch<Toy>| {
        game.drivers().iter().map(|driver| driver.session().stats().stalled_frames).max().unwrap()
    };
    assert!(stalls(&slow) < 20, "{}", stalls(&slow));
    assert!(stalls(&fixed) > 200, "{}", stalls(&fixed));
}

#[test]
fn the_slowest_machine_sets_the_pace_and_is_named() {
    let config = SessionConfig::new(2).simulated().turns(100).pace(Pace::Adaptive);
    let mut game = toy_match(&config, 0, 1, LinkConfig::new());
    let over = game.run(Instant::from_millis(600_000), |peer, _, _, session| {
        session.note_frame_time(Duration::from_millis(if peer == 1 { 80 } else { 10 }));
    });
    assert!(over);
    for driver in game.drivers() {
        assert_eq!(driver.session().plan().pace_millihertz, 12_500);
        assert_eq!(driver.session().plan().frames_per_second, 20, "the step stays");
        assert_eq!(driver.session().player_report(PlayerId(1)).runtime_ms, 80);
        assert_eq!(driver.session().player_report(PlayerId(0)).runtime_ms, 10);
    }
}

/// Also with turns of fixed length, where the averages have no effect.
#[test]
fn who_delays_the_game_is_named_with_the_reason() {
    let config = SessionConfig::new(3).simulated().turns(100);
    let blames = |slow_machine: bool| {
        let mut game = toy_match(&config, 0, 1, LinkConfig::new());
        if !slow_machine {
            // A round trip of player 2 takes longer than the two turns of both sides.
            let far = latency(1_200);
            game.net_mut().set_link(2, 0, far);
        }
        assert!(game.run(Instant::from_millis(600_000), |peer, _, _, session| {
            session.note_frame_time(Duration::from_millis(if slow_machine && peer == 1 { 80 } else { 10 }));
        }));
        [0, 1, 2].map(|player| game.session(0).player_report(PlayerId(player)).blame)
    };
    assert_eq!(blames(true), [None, Some(Blame::Processor), None]);
    assert_eq!(blames(false), [None, None, Some(Blame::Network)]);
}

/// How far the second player's turns begin before the first one's at the end, ms; its clock gains that lead before.
fn lead_after(turns: u32, aligns: bool) -> i64 {
    let config = SessionConfig::new(2).simulated().turns(turns);
    let config = if aligns { config } else { config.without_alignment() };
    let link = latency(50);
    let mut game = toy_match(&config, 0, 1, link);
    // For the first seconds of the match it is the faster one.
    game.set_clock(1, PeerClock { drift_ppm: 20_000, ..PeerClock::default() }).unwrap();
    let mut begun = [Vec::new(), Vec::new()];
    let mut slept = false;
    let mut until = 1_000;
    while !game.idle(until) {
        for (peer, begun) in begun.iter_mut().enumerate() {
            begun.push(game.drivers()[peer].frame().0 as i64);
        }
        if !slept && until == 4_000 {
            // A machine that stopped for a moment stays behind.
            game.put_to_sleep(0, Instant::from_millis(until + 150));
            slept = true;
        }
        until += 1_000;
        assert!(until < 600_000);
    }
    let last = begun[0].len() - 3;
    (begun[1][last] - begun[0][last]) * 50
}

/// Soak seed 6005082: with turns of two seconds a clock that is a little slow makes the others wait for 34 ms per turn. A relay counted whole
/// turns as waiting, and dropped the player. (The plain drop time counted from the first player's turn, too.)
#[test]
fn long_turns_and_a_slow_clock_are_no_lateness_behind_a_relay() {
    let fixed = SessionConfig::new(2).simulated().pace(Pace::Fixed).frames_per_turn(40);
    // At 230 ms on each of two links these turns grow from 200 ms to 300.
    let adaptive = SessionConfig::new(2).simulated().pace(Pace::Adaptive);
    for (config, latency_ms, drop_after, turn) in [(fixed, 50, 5_700, 40), (adaptive, 230, 1_500, 6)] {
        let config = config.topology(Topology::Relay).without_alignment().turns(200);
        let config = config.drop_after(Duration::from_millis(drop_after));
        let mut game = toy_match(&config, 0, 1, latency(latency_ms));
        game.set_clock(0, PeerClock { drift_ppm: -17_000, ..PeerClock::default() }).unwrap();
        let over = game.idle(600_000);
        for driver in &mut game.drivers_mut()[..2] {
            assert_eq!(driver.session().plan().frames_per_turn, turn);
            let late = |event: &Event| matches!(event, Event::OftenLate { .. } | Event::PlayerGone { .. });
            let told: Vec<_> =
                std::iter::from_fn(|| driver.session_mut().poll_event()).filter(late).collect();
            assert!(over && told.is_empty(), "{latency_ms} ms: {told:?}");
            assert_eq!(driver.session().phase(), SessionPhase::Finished);
        }
    }
}

#[test]
fn who_runs_ahead_gives_up_the_lead() {
    let (without, with) = (lead_after(300, false), lead_after(300, true));
    assert!(without >= 100, "{without} ms: nobody runs ahead, the test is not interesting");
    assert!(with <= 50, "{with} ms, {without} ms without alignment");
}

/// A player alone, whose clock runs half as fast or half as fast again for ten seconds.
#[test]
fn drifts_out_of_range_are_refused() {
    let (min, max) = (-500_000, 500_000);
    let clock = |drift_ppm| PeerClock { drift_ppm, ..PeerClock::default() };
    let frames = [min, max].map(|drift_ppm| {
        let config = SessionConfig::new(1).simulated().turns(1_000);
        let mut game = toy_match(&config, 0, 1, LinkConfig::new());
        assert_eq!(game.set_clock(0, clock(drift_ppm)), Ok(()));
        for drift_ppm in [min - 1, max + 1, i32::MIN, i32::MAX] {
            let expected = ClockError::OutOfRange { drift_ppm, min, max };
            assert_eq!(game.set_clock(0, clock(drift_ppm)), Err(expected));
        }
        game.idle(10_000);
        game.drivers()[0].frame().0
    });
    // 20 frames per second of its own clock.
    assert!((95..=100).contains(&frames[0]) && (290..=300).contains(&frames[1]), "{frames:?}");
}

#[test]
fn clocks_that_drift_stay_together() {
    let config = SessionConfig::new(3).simulated().turns(600).drop_after(Duration::from_secs(4));
    let mut game = toy_match(&config, 0, 1, latency(60));
    for (peer, drift_ppm) in [(0, 0), (1, 20_000), (2, -20_000)] {
        let offset = Duration::from_secs(1_000 * peer as u64);
        game.set_clock(peer, PeerClock { offset, drift_ppm, ..PeerClock::default() }).unwrap();
    }
    assert!(game.idle(600_000));
    for driver in game.drivers() {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
        assert_eq!(driver.frame().0, 2_400);
    }
    // The slowest clock sets the pace: 120 s at 2 % less.
    let seconds = game.now().as_micros() / 1_000_000;
    assert!((121..=125).contains(&seconds), "{seconds}");
}

#[test]
fn speed_changes_at_one_turn_and_not_the_course_of_the_game() {
    let config = SessionConfig::new(3).simulated().turns(100);
    let run = |speed: Option<u8>| {
        let mut game = match_at(&config, terrible(), 5_000);
        if let Some(percent) = speed {
            game.session_mut(2).set_speed(percent).unwrap();
        }
        let over = game.play(600_000);
        assert!(over);
        let plans: Vec<_> = game
            .drivers_mut()
            .iter_mut()
            .map(|driver| {
                std::iter::from_fn(|| driver.session_mut().poll_event())
                    .filter(|event| matches!(event, Event::Plan { .. }))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert!(
            plans.iter().all(|plan| plan == &plans[0] && plan.len() == usize::from(speed.is_some())),
            "{plans:?}"
        );
        (game.toy(0).log.clone(), game.now())
    };
    let (normal, fast, slow) = (run(None), run(Some(200)), run(Some(50)));
    assert_eq!((&normal.0, &normal.0), (&fast.0, &slow.0));
    assert!(fast.1 < normal.1 && normal.1 < slow.1, "{:?} {:?} {:?}", fast.1, normal.1, slow.1);
}

#[test]
fn players_take_turns_in_being_first() {
    let config = SessionConfig::new(3).simulated().turns(12).rotate_players(true);
    let mut game = toy_match(&config, 0, 1, terrible());
    let over = game.run(Instant::from_millis(600_000), |_, turn, _, session| {
        crate::toy::give(session, &crate::toy::Order::Shout(turn.0));
    });
    assert!(over);
    for driver in game.drivers() {
        let players: Vec<u8> = driver.simulation().log.iter().map(|(_, player, _)| *player).collect();
        assert_eq!(players[..9], [2, 0, 1, 0, 1, 2, 1, 2, 0], "turns 2, 3 and 4");
    }
}

#[test]
fn the_articles_gate_runs_nothing_that_others_lack() {
    for (config, runs_on) in [(SessionConfig::article(2), false), (SessionConfig::new(2), true)] {
        let config = config.simulated().turns(100).without_drops();
        let mut game = toy_match(&config, 0, 1, LinkConfig::new());
        let shout = |game: &mut VirtualMatch<Toy>, until| {
            game.run(Instant::from_millis(until), |_, turn, _, session| {
                let _ = session.submit(&crate::toy::Order::Shout(turn.0));
            });
        };
        shout(&mut game, 5_000);
        // Packets from player 1 are lost; packets to it are not.
        game.net_mut().set_link(1, 0, LinkConfig::new().loss_ppm(1_000_000));
        shout(&mut game, 8_000);
        let of_player_1 =
            |peer: usize| game.toy(peer).log.iter().filter(|(_, player, _)| *player == 1).count();
        assert_eq!(of_player_1(1) > of_player_1(0), runs_on);
    }
}
