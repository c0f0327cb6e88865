//! Every seek to a frame gives the same state, and wrong recordings are found.

use core::ops::Range;

use testudo_lockstep::replay::{Ending, Notice, Recorder, Replay, ReplayPlayer};
use testudo_lockstep::{PlayerId, Simulation, Turn, state};

use crate::app::playback::{Budget, Course};
use crate::app::{Terms, replay_header};
use crate::bots;
use crate::game::{BodyField, Dice, Game, Setup};

/// A recording for a test: two bots.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) turns: u32,
    pub(super) paused: Range<u32>,
    /// Turn and player.
    pub(super) gone: Option<(u32, u8)>,
    /// The turn after which a bit of the recorded copy is flipped.
    pub(super) broken: Option<u32>,
    /// Turns between keyframes of the file.
    pub(super) keyframe_every: Option<u32>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { turns: 60, paused: 0..0, gone: None, broken: None, keyframe_every: None }
    }
}

fn terms(plan: &Plan) -> Terms {
    Terms { setup: Setup { players: 2, units: 12, seed: 5, map: None }, turns: plan.turns }
}

pub(super) fn record(plan: &Plan) -> Replay {
    Replay::read(recorded(plan), Setup::sim_version()).unwrap()
}

/// The bots look at the intact copy, as in a match.
fn recorded(plan: &Plan) -> Vec<u8> {
    let terms = terms(plan);
    let mut recorder = Recorder::new(&replay_header(&terms));
    let mut game = Game::new(terms.setup).unwrap();
    let mut whole = game.clone();
    for turn in 0..plan.turns {
        let frames = if plan.paused.contains(&turn) { 0 } else { 4 };
        for player in (0..2).map(PlayerId).filter(|_| frames > 0) {
            if plan.gone == Some((turn, player.0)) {
                recorder.notice(player, Notice::Gone);
                [&mut game, &mut whole].into_iter().for_each(|game| game.player_gone(player, Turn(turn)));
            }
            if plan.gone.is_none_or(|(gone, who)| turn < gone || who != player.0)
                && let Some(order) = bots::order(&whole, player, Turn(turn))
            {
                recorder.action(player, &order);
                [&mut game, &mut whole].into_iter().for_each(|game| game.apply(player, &order));
            }
        }
        for _ in 0..frames {
            recorder.frame(20);
            [&mut game, &mut whole].into_iter().for_each(|game| game.step(20));
        }
        if plan.broken == Some(turn) {
            let slot = game.unit_slots().next().unwrap();
            game.corrupt(slot, BodyField::PositionX, 11).unwrap();
        }
        recorder.end_turn(game.checksum());
        if plan.keyframe_every.is_some_and(|every| (turn + 1).is_multiple_of(every)) {
            let mut state = Vec::new();
            state::save(&mut game, &mut state);
            recorder.keyframe(&state);
        }
    }
    recorder.end(Ending::Over);
    recorder.bytes().to_vec()
}

fn course(plan: &Plan) -> Course {
    Course::new(record(plan), terms(plan)).unwrap()
}

/// The checksum at every frame of a straight run; between two turns the one after the turns without frames.
fn straight(plan: &Plan) -> Vec<u64> {
    let mut player = ReplayPlayer::new(record(plan), Game::new(terms(plan).setup).unwrap());
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
fn go(course: &mut Course, frame: u64, at_a_time: u32) {
    course.seek(frame);
    let mut rounds = 0;
    while course.is_seeking() {
        course.work(&mut Budget::frames(at_a_time));
        rounds += 1;
        assert!(rounds <= 1_000, "there is no way to frame {frame}");
    }
    assert_eq!(course.frame(), frame);
}

fn check_all(course: &mut Course) {
    while !course.checking().is_over() {
        course.check(&mut Budget::frames(50));
    }
}

/// Many seeks through an intact replay: forwards, backwards, at random, with the comparison not started, started, or finished.
fn any_way_is_straight(plan: &Plan) {
    let sums = straight(plan);
    let end = sums.len() as u64 - 1;
    for checked_frames in [0, 90, u32::MAX] {
        let mut course = course(plan);
        course.check(&mut Budget::frames(checked_frames));
        assert_eq!(course.timetable().frames(), end);
        let expect = |course: &Course| {
            assert_eq!(course.checksum(), sums[course.frame() as usize], "{}", course.frame())
        };
        for frame in 0..=end {
            go(&mut course, frame, 1);
            expect(&course);
        }
        for frame in (0..=end).rev() {
            go(&mut course, frame, 100);
            expect(&course);
        }
        let mut dice = Dice::new(checked_frames.into());
        let mut random = |max: u64| dice.between(0, max as i32) as u64;
        for _ in 0..60 {
            let frame = random(end);
            // Half of the seeks are interrupted by another target.
            if random(1) == 0 {
                course.seek(random(end));
                course.work(&mut Budget::frames(random(30) as u32));
                expect(&course);
            }
            go(&mut course, frame, 1 + random(20) as u32);
            expect(&course);
            course.check(&mut Budget::frames(random(4) as u32));
        }
        check_all(&mut course);
        assert_eq!(course.divergence(), None);
        assert_eq!((course.checking().turns(), course.frame() <= end), (plan.turns, true));
    }
}

#[test]
fn a_frame_is_the_same_by_any_way() {
    any_way_is_straight(&Plan { paused: 20..23, ..Plan::default() });
}

#[test]
fn a_frame_is_the_same_by_any_way_through_the_files_keyframes() {
    any_way_is_straight(&Plan { paused: 38..41, keyframe_every: Some(10), ..Plan::default() });
}

#[test]
fn pauses_at_both_ends_are_passed() {
    for paused in [0..3, 27..30] {
        let plan = Plan { turns: 30, paused, ..Plan::default() };
        let (sums, mut course) = (straight(&plan), course(&plan));
        go(&mut course, 108, 7);
        assert_eq!((course.turn(), course.checksum()), (30, sums[108]));
        go(&mut course, 0, 7);
        assert_eq!(course.checksum(), sums[0]);
    }
}

#[test]
fn a_seek_simulates_no_more_than_its_budget() {
    let mut course = course(&Plan::default());
    course.seek(u64::MAX);
    for round in 1..=24 {
        course.work(&mut Budget::frames(10));
        assert_eq!((course.frame(), course.is_seeking()), (round * 10, round < 24));
        assert_eq!(course.progress(), (round * 10, 240));
    }
}

#[test]
fn a_step_back_is_short() {
    let mut course = course(&Plan::default());
    go(&mut course, 230, 300);
    for frame in (150..230).rev() {
        course.seek(frame);
        course.work(&mut Budget::frames(4));
        assert_eq!((course.frame(), course.is_seeking()), (frame, false));
    }
}

#[test]
fn a_divergence_is_found_at_its_turn_and_what_is_shown_is_what_the_orders_lead_to() {
    let plan = Plan { broken: Some(25), keyframe_every: Some(10), ..Plan::default() };
    let sound = Plan { broken: None, ..plan.clone() };
    let (sums, mut course) = (straight(&sound), course(&plan));
    // So far there is only the file's keyframe of turn 50: the recorded copy.
    go(&mut course, 210, 20);
    assert_ne!(course.checksum(), sums[210], "the test needs a wrong keyframe");
    let mut rounds = 0;
    while course.divergence().is_none() {
        course.check(&mut Budget::frames(10));
        rounds += 1;
        assert!(rounds <= 11, "turn 25 is behind the first 104 frames");
    }
    assert_eq!(course.divergence().map(|found| found.turn()), Some(25));
    assert!(course.is_seeking(), "what came of the wrong keyframe is gone");
    go(&mut course, 210, 20);
    assert_eq!(course.checksum(), sums[210]);
    for frame in [240, 103, 104, 201, 0, 160] {
        go(&mut course, frame, 50);
        assert_eq!(course.checksum(), sums[frame as usize], "frame {frame}");
    }
    check_all(&mut course);
    assert_eq!((course.divergence().map(|found| found.turn()), course.checking().turns()), (Some(25), 60));
}

#[test]
fn the_number_that_was_recorded_differently_is_named_where_it_stands() {
    let plan = Plan { broken: Some(29), keyframe_every: Some(10), ..Plan::default() };
    let mut course = course(&plan);
    check_all(&mut course);
    for frame in [100, 119, 121] {
        go(&mut course, frame, 50);
        assert_eq!(course.difference(), None, "frame {frame}");
    }
    go(&mut course, 120, 50);
    let (turn, difference) = course.difference().expect("the keyframe of turn 30 is there");
    let (recorded, here) = (difference.here.unwrap(), difference.there.unwrap());
    assert_eq!((turn, recorded.kind, recorded.name), (29, "body", "position.x"));
    assert_eq!(recorded.value ^ here.value, 1 << 11);
}

#[test]
fn a_keyframe_that_the_game_refuses_is_passed_over() {
    let plan = Plan { turns: 30, ..Plan::default() };
    let mut recorder = Recorder::new(&replay_header(&terms(&plan)));
    let sound = record(&plan);
    for turn in 0..30 {
        let (mut events, checksum) = sound.turn(turn).unwrap();
        while let Some(testudo_lockstep::replay::TurnEvent::Action(player, order)) =
            events.next_event::<crate::game::Order>().unwrap()
        {
            recorder.action(player, &order);
        }
        (0..events.frames).for_each(|_| recorder.frame(events.frames_per_second));
        recorder.end_turn(checksum);
        if turn == 19 {
            recorder.keyframe(b"no state of this game");
        }
    }
    let replay = Replay::read(recorder.bytes().to_vec(), Setup::sim_version()).unwrap();
    let (sums, mut course) = (straight(&plan), Course::new(replay, terms(&plan)).unwrap());
    go(&mut course, 100, 30);
    assert_eq!(course.checksum(), sums[100]);
    check_all(&mut course);
    assert_eq!(course.divergence().map(|found| found.turn()), Some(20), "a wrong keyframe is a difference");
}

#[test]
fn a_replay_without_turns_stands_still() {
    let mut course = course(&Plan { turns: 0, ..Plan::default() });
    course.seek(10);
    assert_eq!((course.is_seeking(), course.frame(), course.timetable().frames()), (false, 0, 0));
    check_all(&mut course);
    assert_eq!(course.checking().turns(), 0);
}
