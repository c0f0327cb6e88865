//! One-way streams: the playout delay buffer against the optimum, and a watcher two seconds away.

use crate::play::{Play as _, exchange_all};
use crate::toy::{Toy, latency, network, peer};
use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Duration, FrameRate, Identity, Instant, PlayerId, Playout, PlayoutMode, SessionConfig, SessionPhase,
    VirtualMatch,
};

/// A player and one watcher with a playout buffer, 60 turns of one frame per second.
fn watched(link: LinkConfig, turns: u32, mode: PlayoutMode) -> VirtualMatch<Toy> {
    let config = SessionConfig::new(1)
        .simulated()
        .frames_per_second(60)
        .frames_per_turn(1)
        .turns_ahead(0)
        .turns(turns)
        .watchers_min(1)
        .connect_timeout(Duration::from_secs(60));
    let playout = Playout::new(mode, FrameRate::per_second(60).unwrap());
    let [player, watcher] = [Identity::Player(PlayerId(0)), Identity::Watcher]
        .map(|identity| peer(&config, identity, Toy::default(), Instant::ZERO));
    VirtualMatch::new(vec![player, watcher.with_playout(playout)], network(3, link))
}

#[test]
fn a_simulation_two_seconds_later_never_diverges() {
    let link = LinkConfig::new().latency(Duration::from_secs(2)).loss_ppm(250_000);
    let mut game = watched(link, 3_000, PlayoutMode::Fixed(Duration::from_millis(100)));
    let over = game.play(200_000);
    assert!(over, "{:?}", game.now());
    let [player, watcher] = game.drivers() else { panic!() };
    assert_eq!(
        (player.session().phase(), watcher.session().phase()),
        (SessionPhase::Finished, SessionPhase::Finished)
    );
    assert_eq!(player.simulation().log, watcher.simulation().log);
    assert_eq!(player.session().stats().stalled_frames, 0, "players do not wait for watchers");
    let (arrived, late) = watcher.playout().unwrap().counts();
    assert_eq!(arrived, 3_000);
    assert!(late <= 3, "six intervals of slack: optimum 6e-5, {late} late");
}

#[test]
fn who_watches_follows_the_speed_of_the_match() {
    let link = latency(50);
    let mut game = watched(link, 3_000, PlayoutMode::Fixed(Duration::from_millis(100)));
    let mut looked_at = 0;
    while !game.is_over() {
        let until = game.now() + Duration::from_millis(5);
        game.run(until, |peer, turn, _, session| match turn.0 {
            600 if peer == 0 => session.set_speed(200).unwrap(),
            1_800 if peer == 0 => session.set_speed(50).unwrap(),
            _ => {}
        });
        let [player, watcher] = game.drivers() else { panic!() };
        let (ahead, behind) = (player.frame().0, watcher.frame().0);
        // 50 ms of latency and 100 ms of delay, at the rate of that time; some frames around the changes are left out.
        let lag = match behind {
            100..=580 => 9,
            700..=1_780 => 18,
            1_900..=2_900 if ahead < 3_000 => 5,
            _ => continue,
        };
        assert!(
            (ahead - behind).abs_diff(lag) <= 2,
            "frame {behind}: {} frames behind, not {lag}",
            ahead - behind
        );
        looked_at += 1;
    }
    assert!(looked_at > 3_000, "{looked_at}");
    assert_eq!(game.drivers()[1].playout().unwrap().rate(), FrameRate::per_second(30).unwrap());
}

#[test]
fn pictures_between_two_frames_follow_the_buffer() {
    let link = latency(500);
    let mut game = watched(link, 600, PlayoutMode::Fixed(Duration::from_millis(100)));
    let shown = |game: &VirtualMatch<Toy>, at: Instant| {
        let watcher = &game.drivers()[1];
        (u64::from(watcher.frame().0) * 65_536 + u64::from(watcher.alpha_at(at)), watcher.frame())
    };
    while game.drivers()[1].frame().0 < 60 {
        game.run(game.now() + Duration::from_micros(1), |_, _, _, _| {});
    }
    // Twenty pictures per frame: each one advances by as much as the one before, whatever arrives in between.
    let (start, mut last) = (game.now(), shown(&game, game.now()).0);
    for picture in 1..=600_u64 {
        let at = start + Duration::from_micros(picture * 833);
        while game.now() <= at {
            game.run(game.now() + Duration::from_micros(1), |_, _, _, _| {});
        }
        // A program that draws right after `advance` saw no part of a frame: it was always 0.
        let (now, watcher) = (game.now(), &mut game.drivers_mut()[1]);
        watcher.advance(at);
        let parts = watcher.alpha_at(at)..=watcher.alpha_at(now);
        assert!(parts.contains(&watcher.alpha()), "picture {picture}: {} of {parts:?}", watcher.alpha());
        let now = shown(&game, at).0;
        assert!(
            (3_211..=3_343).contains(&(now - last)),
            "picture {picture}: {last} to {now} parts of 65,536 of a frame"
        );
        last = now;
    }
}

/// Sends one packet per frame that carries everything up to its own number, and counts late frames.
fn late_fraction(loss_ppm: u32, slack_intervals: u32, frames: u32, seed: u64) -> (u64, u64) {
    let interval_us = 10_000;
    let slack = Duration::from_micros(interval_us * u64::from(slack_intervals));
    let mut playout = Playout::new(PlayoutMode::Fixed(slack), FrameRate::per_second(100).unwrap());
    let mut net = SimNet::new(seed);
    let latency = Duration::from_millis(50);
    net.set_default(LinkConfig::new().latency(latency).loss_ppm(loss_ppm));
    playout.set_anchor(Instant::ZERO + latency);
    let mut next = 0;
    // The last frames get more packets after them, so that none is cut off.
    for frame in 0..frames + 50 {
        let now = Instant::from_micros(u64::from(frame) * interval_us);
        net.send(now, 0, 1, &frame.min(frames - 1).to_le_bytes());
        let arrived = now + Duration::from_micros(interval_us - 1);
        while let Some(at) = net.next_delivery().filter(|at| *at <= arrived) {
            let bytes = net.receive(at).unwrap().bytes;
            let newest = u32::from_le_bytes(bytes[..4].try_into().unwrap());
            net.recycle(bytes);
            while next <= newest {
                playout.note_arrival(next, at);
                next += 1;
            }
        }
    }
    playout.counts()
}

#[test]
fn the_late_fraction_meets_the_optimum() {
    let frames = 1_000_000_u32;
    for loss_ppm in [50_000, 250_000] {
        for slack in 1..=3 {
            let (arrived, late) = late_fraction(loss_ppm, slack, frames, 11);
            assert_eq!(arrived, u64::from(frames));
            let p = f64::from(loss_ppm) / 1e6;
            let optimum = p.powi(slack as i32 + 1);
            let measured = late as f64 / arrived as f64;
            // Late frames come in runs of 1 / (1 - p); 3.29 standard deviations are the 99.9 % interval.
            let deviation = (optimum * (1.0 - optimum) / f64::from(frames) * (1.0 + p) / (1.0 - p)).sqrt();
            eprintln!("loss {p} slack {slack}: late {measured:.6}, optimum {optimum:.6}");
            assert!((measured - optimum).abs() <= 3.29 * deviation, "{measured} {optimum} {deviation}");
        }
    }
}

#[test]
fn the_adaptive_delay_is_within_a_frame_of_the_smallest() {
    // Offsets of 0 to 60 ms, uniform: 0.1 % are above 59.94 ms.
    let link = latency(40).jitter(Duration::from_millis(60));
    let mode = PlayoutMode::Adaptive { late_ppm: 1_000, start: Duration::from_millis(150) };
    let mut playout = Playout::new(mode, FrameRate::per_second(60).unwrap());
    let mut net = network(2, link);
    let mut settled = (0, 0);
    for frame in 0..60_000_u32 {
        let now = Instant::from_micros(u64::from(frame) * 1_000_000 / 60);
        net.send(now, 0, 1, &frame.to_le_bytes());
        while let Some(at) = net.next_delivery().filter(|at| *at <= now) {
            let bytes = net.receive(at).unwrap().bytes;
            // Each packet on its own, so that the optimum is known.
            playout.note_arrival(u32::from_le_bytes(bytes[..4].try_into().unwrap()), at);
        }
        if frame == 20_000 {
            settled = playout.counts();
        }
    }
    let (arrived, late) = playout.counts();
    let late_ppm = (late - settled.1) * 1_000_000 / (arrived - settled.0);
    assert!(late_ppm <= 2_000, "{late_ppm}");
    // The anchor is the first arrival, itself somewhere in the jitter.
    let due = playout.due_at(0).unwrap().as_micros() as i64;
    let smallest = 40_000 + 59_940;
    assert!((due - smallest).abs() <= 16_667, "due {due}, smallest {smallest}");
}

#[test]
fn an_adaptive_watcher_follows_a_drifting_clock() {
    let link = latency(40).jitter(Duration::from_millis(20)).loss_ppm(20_000);
    let mode = PlayoutMode::Adaptive { late_ppm: 1_000, start: Duration::from_millis(100) };
    let mut game = watched(link, 30_000, mode);
    // 500 parts per million over 500 s: 250 ms, more than the whole delay.
    for drift_ppm in [500, -500] {
        let clock = testudo_lockstep::PeerClock { drift_ppm, ..Default::default() };
        game.set_clock(1, clock).unwrap();
        assert!(game.idle(700_000), "{drift_ppm}");
        let watcher = &game.drivers()[1];
        assert_eq!(watcher.session().phase(), SessionPhase::Finished);
        let (arrived, late) = watcher.playout().unwrap().counts();
        assert!(late * 1_000_000 / arrived <= 5_000, "drift {drift_ppm}: {late} of {arrived}");
        game = watched(link, 30_000, mode);
    }
}

#[test]
fn no_time_is_too_long() {
    let longest = Duration::from_micros(u64::MAX);
    for delay in [longest, Duration::from_micros(i64::MAX as u64), Duration::ZERO] {
        let modes = [PlayoutMode::Fixed(delay), PlayoutMode::Adaptive { late_ppm: 1_000, start: delay }];
        for mode in modes {
            let mut playout = Playout::new(mode, FrameRate::per_second(60).unwrap());
            for at in [0, 1, i64::MAX as u64, u64::MAX] {
                playout.note_arrival(u32::MAX, Instant::from_micros(at));
                let early = playout.frames_due(Instant::from_micros(1_000));
                assert!(early == 0 || delay == Duration::ZERO, "{early} frames at once");
                assert!(playout.due_at(u32::MAX).is_some());
            }
            playout.set_rate(u32::MAX, FrameRate::per_second(1).unwrap());
            playout.set_anchor(Instant::from_micros(u64::MAX));
            assert_eq!(playout.frames_due(Instant::from_micros(u64::MAX)) == 0, delay != Duration::ZERO);
        }
    }
}

/// The buffer began before the frames with which the watcher caught up, and showed everything later by them.
#[test]
fn a_late_watcher_is_behind_by_the_delay_alone() {
    let config = SessionConfig::new(1).simulated().frames_per_second(60).frames_per_turn(1).turns_ahead(0);
    // The state takes two seconds, which the watcher then has to catch up with.
    let config = config.turns(3_000).late_watchers(true).state_rate(10_000);
    let mut now = Instant::ZERO;
    let state = Toy { gives_state: true, ballast: 20_000, ..Toy::default() };
    let mut drivers = vec![peer(&config, Identity::Player(PlayerId(0)), state, now)];
    let mut frames_max = 0;
    for step in 0..4_000 {
        now += Duration::from_millis(5);
        if step == 1_500 {
            let delay = PlayoutMode::Fixed(Duration::from_millis(100));
            let playout = Playout::new(delay, FrameRate::per_second(60).unwrap());
            let watcher = peer(&config, Identity::Watcher, Toy::default(), now);
            drivers.push(watcher.with_playout(playout));
        }
        for (from, driver) in drivers.iter_mut().enumerate() {
            let advance = driver.advance(now);
            if from == 1 {
                frames_max = frames_max.max(advance.frames);
            }
        }
        exchange_all(&mut drivers, now);
    }
    let behind = drivers[0].frame().0 - drivers[1].frame().0;
    assert!(frames_max > 4, "it never ran more than usual");
    assert!((6..=8).contains(&behind), "{behind} frames of 17 ms");
}

/// Two players, one of whose machines stops for so long after twenty seconds, and a watcher: the greatest number of frames that the watcher shows within
/// 10 ms from three seconds later on, and how many milliseconds it is behind in the end. (A turn's entries arrive before the players run it.)
fn after_a_stop(stop_ms: u64, mode: PlayoutMode) -> (u32, i64) {
    let config = SessionConfig::new(2).simulated().watchers_min(1).turns(400);
    let playout = Playout::new(mode, FrameRate::per_second(20).unwrap());
    let players = [0, 1].map(|player| Identity::Player(PlayerId(player)));
    let [host, guest, watcher] = [players[0], players[1], Identity::Watcher]
        .map(|identity| peer(&config, identity, Toy::default(), Instant::ZERO));
    let drivers = vec![host, guest, watcher.with_playout(playout)];
    let mut game = VirtualMatch::new(drivers, network(7, latency(20)));
    let (mut most, mut behind) = (0, 0);
    for step in 0..7_800 {
        let at = Instant::from_millis(step * 10);
        let before = game.drivers()[2].frame().0;
        while game.now() <= at {
            game.step(&mut |_, _, _, _| {});
        }
        let (ahead, shown) = (game.drivers()[0].frame().0, game.drivers()[2].frame().0);
        if step == 2_000 {
            game.put_to_sleep(1, at + Duration::from_millis(stop_ms));
        }
        if step >= 2_300 + stop_ms / 10 {
            most = most.max(shown - before);
            behind = (i64::from(ahead) - i64::from(shown)) * 50;
        }
    }
    (most, behind)
}

/// One stop of the match, and everything came after its time from then on: four frames at once in each turn, for ever. An adaptive delay took what came
/// later for a spread, and was seconds too long for most of an hour.
#[test]
fn a_stop_of_the_match_is_no_lateness_of_the_stream() {
    let fixed = PlayoutMode::Fixed(Duration::from_millis(100));
    let adaptive = PlayoutMode::Adaptive { late_ppm: 1_000, start: Duration::from_millis(100) };
    let (_, usual) = after_a_stop(0, fixed);
    for mode in [fixed, adaptive] {
        for stop_ms in [0, 450, 500, 700, 1_000, 2_000, 4_000] {
            let (most, behind) = after_a_stop(stop_ms, mode);
            assert!(most <= 2, "{mode:?}, {stop_ms} ms: {most} frames within 10 ms");
            assert!(behind <= usual + 100, "{mode:?}, {stop_ms} ms: {behind} ms behind, {usual} before");
        }
    }
}
