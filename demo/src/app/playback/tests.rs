//! Replays of battles. (`tests/lockstep/viewing.rs` tries the seeking.)

use core::ops::Range;

use testudo_lockstep::replay::{Ending, Notice, Recorder, Replay};
use testudo_lockstep::{PlayerId, Simulation, Turn, state};

use crate::app::playback::{Budget, Course};
use crate::app::{Terms, replay_header};
use crate::bots;
use crate::game::{BodyField, Game, Setup};

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

pub(super) fn course(plan: &Plan) -> Course {
    Course::new(record(plan), terms(plan)).unwrap()
}

/// Seeks a frame, this many frames at a time.
fn go(course: &mut Course, frame: u64, at_a_time: u32) {
    course.seek(frame);
    let mut rounds = 0;
    while course.is_seeking() {
        course.spend(&mut Budget::frames(at_a_time));
        rounds += 1;
        assert!(rounds <= 1_000, "there is no way to frame {frame}");
    }
    assert_eq!(course.frame(), frame);
}

pub(super) fn check_all(course: &mut Course) {
    while !course.is_checked() {
        course.spend_on_check(&mut Budget::frames(50));
    }
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
