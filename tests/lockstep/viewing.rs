//! A viewer of replays: every way to a frame gives the same state, and wrong recordings are found.

use testudo_lockstep::replay::{Notice, Recorder, Replay, ReplayPlayer, ReplayViewer, TurnEvent};
use testudo_tests::scenes::Generator;

use crate::replays::{Plan, SIM_VERSION, header, record};
use crate::toy::{Order, Toy};

/// A player goes, and nothing else happens.
fn plan() -> Plan {
    Plan { paused: 0..0, notices: vec![(12, 1, Notice::Gone)], keyframe_every: 0, ..Plan::default() }
}

fn replay(plan: &Plan) -> Replay {
    Replay::read(record(plan).0, SIM_VERSION).unwrap()
}

fn viewer(plan: &Plan) -> ReplayViewer<Toy> {
    ReplayViewer::new(replay(plan), Toy::default())
}

/// The checksum at every frame of a straight run; between two turns the one after the turns without frames.
fn straight(plan: &Plan) -> Vec<u64> {
    let mut player = ReplayPlayer::new(replay(plan), Toy::default());
    let mut sums = vec![player.simulation().checksum()];
    loop {
        let is_paused = player.replay().turn(player.turn()).is_some_and(|(turn, _)| turn.frames == 0);
        if !player.step_frame() {
            return sums;
        }
        if is_paused {
            sums.pop();
        }
        sums.push(player.simulation().checksum());
    }
}

/// Seeks a frame, this many frames at a time.
fn go(viewer: &mut ReplayViewer<Toy>, frame: u64, at_a_time: u32) {
    viewer.seek(frame);
    let mut rounds = 0;
    while viewer.is_seeking() {
        viewer.run(at_a_time);
        rounds += 1;
        assert!(rounds <= 1_000, "there is no way to frame {frame}");
    }
    assert_eq!(viewer.frame(), frame);
}

fn check_all(viewer: &mut ReplayViewer<Toy>) {
    while !viewer.is_checked() {
        viewer.check(50);
    }
}

/// Many seeks through an intact replay: forwards, backwards, at random, with the comparison not started, started, or finished.
fn any_way_is_straight(plan: &Plan) {
    let sums = straight(plan);
    let end = sums.len() as u64 - 1;
    for checked_frames in [0, 90, u32::MAX] {
        let mut viewer = viewer(plan);
        viewer.check(checked_frames);
        assert_eq!(viewer.timetable().frames(), end);
        let expect = |viewer: &ReplayViewer<Toy>| {
            assert_eq!(viewer.simulation().checksum(), sums[viewer.frame() as usize], "{}", viewer.frame())
        };
        for frame in 0..=end {
            go(&mut viewer, frame, 1);
            expect(&viewer);
        }
        for frame in (0..=end).rev() {
            go(&mut viewer, frame, 100);
            expect(&viewer);
        }
        let mut generator = Generator::new(u64::from(checked_frames));
        let mut random = |max: u64| generator.between(0, max as i32) as u64;
        for _ in 0..60 {
            let frame = random(end);
            // Half of the seeks are interrupted by another target.
            if random(1) == 0 {
                viewer.seek(random(end));
                viewer.run(random(30) as u32);
                expect(&viewer);
            }
            go(&mut viewer, frame, 1 + random(20) as u32);
            expect(&viewer);
            viewer.check(random(4) as u32);
        }
        check_all(&mut viewer);
        assert_eq!(viewer.divergence(), None);
        assert_eq!((viewer.turns_checked(), viewer.frame() <= end), (plan.turns, true));
    }
}

#[test]
fn a_frame_is_the_same_by_any_way() {
    any_way_is_straight(&Plan { paused: 20..23, ..plan() });
}

#[test]
fn a_frame_is_the_same_by_any_way_through_the_files_keyframes() {
    any_way_is_straight(&Plan { paused: 38..41, keyframe_every: 10, ..plan() });
}

#[test]
fn pauses_at_both_ends_are_passed() {
    for paused in [0..3, 27..30] {
        let plan = Plan { turns: 30, paused, ..plan() };
        let (sums, mut viewer) = (straight(&plan), viewer(&plan));
        go(&mut viewer, 108, 7);
        assert_eq!((viewer.turn(), viewer.simulation().checksum()), (30, sums[108]));
        go(&mut viewer, 0, 7);
        assert_eq!(viewer.simulation().checksum(), sums[0]);
    }
}

#[test]
fn a_seek_simulates_no_more_than_its_budget() {
    let mut viewer = viewer(&plan());
    viewer.seek(u64::MAX);
    for round in 1..=24 {
        viewer.run(10);
        assert_eq!((viewer.frame(), viewer.is_seeking()), (round * 10, round < 24));
        assert_eq!(viewer.progress(), (round * 10, 240));
    }
}

#[test]
fn a_step_back_is_short() {
    let mut viewer = viewer(&plan());
    go(&mut viewer, 230, 300);
    for frame in (150..230).rev() {
        viewer.seek(frame);
        viewer.run(4);
        assert_eq!((viewer.frame(), viewer.is_seeking()), (frame, false));
    }
}

#[test]
fn a_divergence_is_found_at_its_turn_and_what_is_shown_is_what_the_orders_lead_to() {
    let plan = Plan { broken: Some(25), keyframe_every: 10, ..plan() };
    let sound = Plan { broken: None, ..plan.clone() };
    let (sums, mut viewer) = (straight(&sound), viewer(&plan));
    // So far there is only the file's keyframe of turn 50: the recorded copy.
    go(&mut viewer, 210, 20);
    assert_ne!(viewer.simulation().checksum(), sums[210], "the test needs a wrong keyframe");
    let mut rounds = 0;
    while viewer.divergence().is_none() {
        viewer.check(10);
        rounds += 1;
        assert!(rounds <= 11, "turn 25 is behind the first 104 frames");
    }
    assert_eq!(viewer.divergence().map(|found| found.turn()), Some(25));
    assert!(viewer.is_seeking(), "what came of the wrong keyframe is gone");
    go(&mut viewer, 210, 20);
    assert_eq!(viewer.simulation().checksum(), sums[210]);
    for frame in [240, 103, 104, 201, 0, 160] {
        go(&mut viewer, frame, 50);
        assert_eq!(viewer.simulation().checksum(), sums[frame as usize], "frame {frame}");
    }
    check_all(&mut viewer);
    assert_eq!((viewer.divergence().map(|found| found.turn()), viewer.turns_checked()), (Some(25), 60));
}

/// The number that is wrong in the keyframe of turn 30 is.
fn assert_named(viewer: &ReplayViewer<Toy>) {
    let (turn, difference) = viewer.difference().expect("the keyframe of turn 30 is there");
    let (recorded, here) = (difference.here.unwrap(), difference.there.unwrap());
    assert_eq!((turn, recorded.kind, recorded.name), (29, "value", "value"));
    assert_eq!(recorded.value ^ here.value, 1 << 11);
}

#[test]
fn the_number_that_was_recorded_differently_is_named_where_it_stands() {
    let plan = Plan { broken: Some(29), keyframe_every: 10, ..plan() };
    let mut viewer = viewer(&plan);
    check_all(&mut viewer);
    for frame in [100, 119, 121] {
        go(&mut viewer, frame, 50);
        assert_eq!(viewer.difference(), None, "frame {frame}");
    }
    go(&mut viewer, 120, 50);
    assert_named(&viewer);
}

/// The frame between two turns is also the one after a pause between them, in which a player has gone here.
#[test]
fn a_difference_before_a_pause_is_that_of_its_turn() {
    let plan = Plan {
        broken: Some(29),
        paused: 30..33,
        notices: vec![(31, 1, Notice::Gone)],
        keyframe_every: 10,
        ..plan()
    };
    let mut viewer = viewer(&plan);
    check_all(&mut viewer);
    go(&mut viewer, 120, 50);
    assert_eq!(viewer.turn(), 33, "it stands behind the pause");
    assert_named(&viewer);
}

#[test]
fn a_keyframe_that_the_game_refuses_is_passed_over() {
    let plan = Plan { turns: 30, notices: vec![], ..plan() };
    let mut recorder = Recorder::new(&header());
    let sound = replay(&plan);
    for turn in 0..30 {
        let (mut events, checksum) = sound.turn(turn).unwrap();
        while let Some(TurnEvent::Action(player, order)) = events.next_event::<Order>().unwrap() {
            recorder.action(player, &order);
        }
        (0..events.frames).for_each(|_| recorder.frame(events.frames_per_second));
        recorder.end_turn(checksum.unwrap());
        if turn == 19 {
            recorder.keyframe(b"no state of this game");
        }
    }
    let replay = Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap();
    let (sums, mut viewer) = (straight(&plan), ReplayViewer::new(replay, Toy::default()));
    go(&mut viewer, 100, 30);
    assert_eq!(viewer.simulation().checksum(), sums[100]);
    check_all(&mut viewer);
    assert_eq!(viewer.divergence().map(|found| found.turn()), Some(20), "a wrong keyframe is a difference");
}

#[test]
fn a_replay_without_turns_stands_still() {
    let mut viewer = viewer(&Plan { turns: 0, ..plan() });
    viewer.seek(10);
    assert_eq!((viewer.is_seeking(), viewer.frame(), viewer.timetable().frames()), (false, 0, 0));
    check_all(&mut viewer);
    assert_eq!(viewer.turns_checked(), 0);
}

#[test]
fn the_end_of_time_is_the_last_frame() {
    let viewer = viewer(&plan());
    let timetable = viewer.timetable();
    let last = timetable.frames();
    for time in [u64::MAX, u64::MAX / 30, u64::MAX / 1_000_000] {
        assert_eq!(timetable.frame_at(testudo_lockstep::Duration::from_micros(time)), last);
    }
}
