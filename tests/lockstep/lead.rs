//! How far a prediction is ahead, and that pictures do not hop when that changes.

use crate::foreseen::Foreseen;
use crate::play::Play as _;
use crate::toy::{Order, Toy, latency, toy_match};
use testudo_lockstep::predict::{Correction, Predictor};
use testudo_lockstep::{Driver, Duration, Instant, Pace, SessionConfig};
use testudo_tests::scenes::Generator;

/// Places in the match are compared in 65,536ths of a frame.
const FRAME: i64 = 1 << 16;

/// What is drawn passes at most twice as fast as the match and at least half as fast, whatever happens to the length of turns and to the switch; and with
/// too little time for corrections, it never goes back. It leaps ahead only if an own order would have to wait.
#[test]
fn pictures_do_not_hop_when_the_lead_changes() {
    let (mut deepest, mut leaps) = (0, 0);
    for seed in 0..24 {
        let mut chance = Generator::new(seed);
        let config = SessionConfig::new(2).simulated().turns(2_000).pace(Pace::Adaptive);
        let mut match_ = Foreseen::new(toy_match(&config, 0, seed, latency(20)), |peer| peer == 0);
        match_.budget = if seed % 3 == 0 { 2 } else { 64 };
        let (mut lengths, mut depths) = (Vec::new(), Vec::new());
        let mut before = [0; 2];
        for picture in 1..2_400 {
            let now = Instant::from_micros(picture * 1_000_000 / 60);
            if chance.between(0, 150) == 0 {
                let link = latency(chance.between(5, 200) as u64);
                match_.game.net_mut().set_default(link.loss_ppm(50_000));
            }
            if chance.between(0, 200) == 0 {
                let depth_max = [0, 20][chance.between(0, 1) as usize];
                // One that has fallen back may as well be a new one.
                if match_.predictors[0].as_ref().unwrap().ahead() == 0 {
                    match_.predictors[0] = Some(Predictor::new(match_.confirmed(0)));
                }
                match_.predictors[0].as_mut().unwrap().set_depth_max(depth_max);
            }
            // In every other match the one that predicts only watches.
            let gives = |peer| peer == 1 || seed % 2 == 1;
            if chance.between(0, 40) == 0 {
                let peer = chance.between(0, 1) as usize;
                gives(peer).then(|| match_.order(peer, &Order::Shout(picture as u32)));
            }
            while match_.game.now() <= now {
                match_.game.step(&mut |_, _, _, _| {});
            }
            let (driver, predictor) = (&match_.game.drivers()[0], match_.predictors[0].as_mut().unwrap());
            let followed = predictor.follow(driver, driver.simulation(), now, match_.budget);
            lengths.extend(Some(driver.session().plan().frames_per_turn));
            depths.extend(Some(followed.depth));
            let place = |frames: u32, alpha: u32| i64::from(frames) * FRAME + i64::from(alpha);
            let toys = [driver.simulation(), predictor.simulation()].map(|toy| toy.frames);
            let after = [place(toys[0], driver.alpha_at(now)), place(toys[1], predictor.alpha())];
            let [passed, drawn] = [0, 1].map(|n| after[n] - before[n]);
            let least = if match_.budget == 64 { passed / 2 - 2 } else { 0 };
            let what = format!("seed {seed}, picture {picture}");
            assert!(!followed.leapt || gives(0), "{what}: nothing waits");
            let most = if followed.leapt { passed + 20 * FRAME } else { 2 * passed };
            assert!(drawn >= least && drawn <= most, "{what}: {drawn} while {passed} passed");
            leaps += u32::from(followed.leapt);
            assert_eq!(after[1] - after[0], predictor.ahead() as i64, "{what}");
            before = after;
        }
        lengths.dedup();
        let [shallow, deep] = [depths.iter().min(), depths.iter().max()].map(|depth| *depth.unwrap());
        deepest = deep.max(deepest);
        assert!(
            lengths.len() > 4 && shallow <= 1 && deep > 4,
            "seed {seed}: {lengths:?}, {shallow} to {deep}"
        );
    }
    assert!(deepest >= 11 && (10..300).contains(&leaps), "{deepest}, {leaps}");
}

/// Orders that are given right after turns have become longer, or after the switch, are seen in the next frame, too. (If turns become longer between an order
/// and its turn, or a turn is over and the next one not begun when it is given, it may run a frame later than a prediction reaches.)
#[test]
fn an_own_order_does_not_wait_for_the_lead() {
    let (mut at_once, mut later, mut leaps) = (0, 0, 0);
    for seed in 0..24 {
        let mut chance = Generator::new(seed);
        let config = SessionConfig::new(2).simulated().turns(2_000).pace(Pace::Adaptive);
        let mut match_ = Foreseen::new(toy_match(&config, 0, seed, latency(20)), |peer| peer == 1);
        let (mut length, mut waiting) = (0, None);
        for picture in 1..2_400 {
            let now = Instant::from_micros(picture * 1_000_000 / 60);
            if picture % 200 == 0 {
                match_.game.net_mut().set_default(latency([5, 160][chance.between(0, 1) as usize]));
            }
            while match_.game.now() <= now {
                match_.game.step(&mut |_, _, _, _| {});
            }
            if picture % 90 == 0 {
                match_.predictors[1] = Some(Predictor::new(match_.confirmed(1)));
            }
            let driver = &match_.game.drivers()[1];
            let (frame, new_length) = (driver.frame().0, driver.session().plan().frames_per_turn);
            let is_short = picture % 90 == 1 || new_length > length;
            length = new_length;
            if picture > 60 && waiting.is_none() && is_short {
                let order = Order::Shout(picture as u32);
                waiting = match_.order(1, &order).then_some((frame, order));
            }
            let (driver, predictor) = (&match_.game.drivers()[1], match_.predictors[1].as_mut().unwrap());
            let followed = predictor.follow(driver, driver.simulation(), now, match_.budget);
            leaps += u32::from(followed.leapt);
            let is_seen = |order: &Order| match_.predicted(1).log.iter().any(|(_, _, said)| said == order);
            if let Some((since, order)) = &waiting
                && frame > *since
            {
                if is_seen(order) {
                    let count = if frame == since + 1 { &mut at_once } else { &mut later };
                    *count += 1;
                    waiting = None;
                } else {
                    assert!(frame == since + 1, "seed {seed}, picture {picture}: given in {since}");
                }
            }
        }
    }
    assert!(at_once > 24 * 30 && later * 100 < at_once && leaps > 24 * 20, "{at_once}, {later}, {leaps}");
}

/// In a pause frames pass, and nothing is simulated: pictures trembled between the last two states, with prediction and without. At the end they went back
/// to the last frame's beginning.
#[test]
fn what_is_drawn_stands_in_a_pause_and_after_the_end() {
    let config = SessionConfig::new(2).simulated().turns(100).linger(Duration::from_secs(2));
    let mut match_ = Foreseen::new(toy_match(&config, 0, 3, latency(20)), |peer| peer == 0);
    let place = |toy: &Toy, alpha: u32| i64::from(toy.frames) * FRAME + i64::from(alpha);
    let of_driver = |driver: &Driver<Toy>, now| place(driver.simulation(), driver.alpha_at(now));
    let (mut before, mut steps) = ([0; 2], 0);
    let (mut paused, mut ended) = (0, 0);
    for picture in 1..1_800 {
        let now = Instant::from_micros(picture * 1_000_000 / 60);
        while match_.game.now() <= now {
            match_.game.step(&mut |_, _, _, _| {});
        }
        let driver = &match_.game.drivers()[0];
        let is_paused = driver.session().is_paused();
        let is_over = driver.session().last_turn().is_some_and(|last| driver.session().next_turn() > last);
        let mut corrected = 0;
        match_.follow(0, |correction: &Correction<'_, Toy>| {
            let after = place(correction.after, correction.alpha_after);
            corrected = after - place(correction.before, correction.alpha);
        });
        let (driver, predictor) = (&match_.game.drivers()[0], match_.predictors[0].as_ref().unwrap());
        let after = [of_driver(driver, now), place(predictor.simulation(), predictor.alpha())];
        let (passed, drawn) = (after[0] - before[0], after[1] - before[1] - corrected);
        before = after;
        // The first frame is due at once. Then there are 20 frames and 60 pictures per second.
        if picture < 60 {
            continue;
        }
        assert!((0..=FRAME / 3 + 2).contains(&passed), "picture {picture}: {passed}");
        assert!((-2..=2 * FRAME / 3 + 4).contains(&drawn), "picture {picture}: {drawn}");
        if is_paused && steps == 1 {
            paused += 1;
            assert!(paused < 4 || (passed, drawn) == (0, 0), "picture {picture}: {passed}, {drawn}");
        }
        if is_over {
            // The last turn begins, and has four frames of three pictures.
            ended += 1;
            assert!(ended < 18 || (passed, drawn) == (0, 0), "picture {picture}: {passed}, {drawn}");
            assert!(ended < 18 || (driver.alpha(), driver.alpha_at(now)) == (65_536, 65_536));
        }
        if picture == 400 || picture == 600 {
            steps += 1;
            match_.game.session_mut(1).pause(picture == 400).unwrap();
        }
    }
    assert!(paused > 100 && ended > 60, "{paused}, {ended}");
}
