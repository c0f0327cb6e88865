//! One peer's copy: faults, replays, joining peers, bots.

use super::*;
use crate::app::playback::{Budget, Course, Milestone};
use crate::app::{Terms, open_replay};
use testudo_battle::Setup;

fn turn(copy: &mut GameCopy, turn: u32) -> u64 {
    (0..4).for_each(|_| copy.step(20));
    let checksum = copy.checksum();
    copy.turn_ended(Turn(turn), checksum);
    checksum
}

/// The checksum after 40 turns in which player 1's army has a bot, or nobody.
fn after_40_turns(has_bot: bool, keeps_records: bool) -> u64 {
    let game = Game::new(Setup { players: 2, units: 20, seed: 3, map: None }).unwrap();
    let mut copy = GameCopy::new(game, None, keeps_records);
    let gone = PlayerId(1);
    if has_bot {
        copy.player_taken_over(gone, Turn(0));
    } else {
        copy.player_gone(gone, Turn(0));
    }
    let mut checksum = 0;
    for number in 0..40 {
        copy.turn_started(Turn(number), 4);
        if has_bot {
            copy.play_for(gone, Turn(number));
        }
        checksum = turn(&mut copy, number);
    }
    checksum
}

/// Flips a bit of the first unit's position at the end of the turn that runs, or runs next.
fn corrupt(copy: &mut GameCopy) {
    let slot = copy.game().unit_slots().next().unwrap();
    copy.corrupt(0, slot, BodyField::PositionX, 11);
}

/// Whether the copy differs from the one without the fault.
fn is_broken(copy: &GameCopy) -> bool {
    copy.game().checksum() != copy.seen().checksum()
}

#[test]
fn a_fault_comes_with_the_last_frame_of_the_turn_that_runs_or_runs_next() {
    let game = Game::new(Setup { players: 2, units: 20, seed: 3, map: None }).unwrap();
    let new = || GameCopy::new(game.clone(), None, true);
    // Within a turn, before the first one, between two turns.
    for (asked_at, turns_before) in [(Some(2), 1), (None, 0), (None, 1)] {
        let mut copy = new();
        for number in 0..turns_before {
            copy.turn_started(Turn(number), 4);
            turn(&mut copy, number);
        }
        if asked_at.is_none() {
            corrupt(&mut copy);
        }
        copy.turn_started(Turn(turns_before), 4);
        for frame in 0..4 {
            if asked_at == Some(frame) {
                corrupt(&mut copy);
            }
            assert!(!is_broken(&copy), "before frame {frame}");
            copy.step(20);
        }
        assert!(is_broken(&copy) && copy.refused().is_none());
        let checksum = copy.checksum();
        copy.turn_ended(Turn(turns_before), checksum);
        let records: Vec<TurnRecord> = core::iter::from_fn(|| copy.take_record()).collect();
        let last = records.last().unwrap();
        assert_eq!((records.len(), last.frames.len()), (turns_before as usize + 1, 4));
        assert!(last.checksum == last.frames[3].checksum && last.checksum == checksum);
    }
    // A paused turn has no frame in which it could come.
    let mut copy = new();
    corrupt(&mut copy);
    copy.turn_started(Turn(0), 0);
    let checksum = copy.checksum();
    copy.turn_ended(Turn(0), checksum);
    copy.turn_started(Turn(1), 4);
    assert!(!is_broken(&copy));
    turn(&mut copy, 1);
    assert!(is_broken(&copy));
}

#[test]
fn a_replay_says_who_was_taken_over_and_plays_on() {
    let terms = Terms { setup: Setup { players: 2, units: 20, seed: 3, map: None }, turns: 40 };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let mut copy = GameCopy::new(Game::new(terms.setup).unwrap(), None, false);
    copy.record(Recording::create(&path, &terms).unwrap());
    for number in 0..40 {
        copy.turn_started(Turn(number), 4);
        if number == 15 {
            copy.player_taken_over(PlayerId(1), Turn(number));
        }
        if number >= 15 {
            copy.play_for(PlayerId(1), Turn(number));
        }
        turn(&mut copy, number);
    }
    copy.finish_recording();
    let (replay, read) = open_replay(&path).unwrap();
    let mut course = Course::new(replay, read).unwrap();
    let left = Milestone { turn: 15, player: Some(1), text: "player 2 left: a bot plays on".into() };
    assert_eq!(course.milestones()[..1], [left]);
    assert!((0..course.replay().turns()).any(|turn| course.orders(turn).count() > 0), "the bot has played");
    course.seek(u64::MAX);
    course.spend(&mut Budget::frames(200));
    course.spend_on_check(&mut Budget::frames(200));
    assert_eq!((course.divergence(), course.checksum()), (None, copy.game().checksum()));
}

/// A copy of a battle with this recording, and one turn of it in which bots play.
const JOINED: Setup = Setup { players: 2, units: 20, seed: 3, map: None };

fn joined_copy() -> GameCopy {
    let mut copy = GameCopy::new(Game::new(JOINED).unwrap(), None, false);
    copy.keep_moments();
    copy
}

fn play(copy: &mut GameCopy, number: u32) -> u64 {
    copy.turn_started(Turn(number), 4);
    (0..2).for_each(|player| copy.play_for(PlayerId(player), Turn(number)));
    turn(copy, number)
}

#[test]
fn who_gets_the_state_goes_on_as_everybody_else() {
    let (mut here, mut joiner) = (joined_copy(), joined_copy());
    for number in 0..30 {
        play(&mut here, number);
    }
    let mut state = Vec::new();
    assert!(here.save_state(&mut state));
    let before = joiner.game().checksum();
    assert!(!joiner.load_state(&state[..state.len() - 1]) && !joiner.load_state(&[]));
    assert_eq!(joiner.game().checksum(), before, "a state that is cut off changes nothing");
    assert!(joiner.load_state(&state));
    assert_eq!(joiner.checksum(), here.game().checksum(), "the driver asks for it");
    for number in 30..60 {
        assert_eq!(play(&mut here, number), play(&mut joiner, number), "turn {number}");
    }
    let (here, joiner) = (here.past_actions(), joiner.past_actions());
    assert!(!joiner.is_empty());
    assert!(
        here.iter()
            .map(|action| (action.turn, action.frame))
            .eq(joiner.iter().map(|action| (action.turn, action.frame)))
    );
}

/// Whoever came back after a crash, or came late, recorded nothing.
#[test]
fn who_gets_the_state_records_from_there_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let part = path.with_file_name("a-2.replay");
    let (mut here, mut joiner) = (joined_copy(), joined_copy());
    // The replay up to a crash, before which this player was here.
    std::fs::write(&path, b"before").unwrap();
    joiner.record(Recording::create(&path, &Terms { setup: JOINED, turns: 60 }).unwrap());
    for number in 0..30 {
        play(&mut here, number);
    }
    let mut state = Vec::new();
    assert!(here.save_state(&mut state) && joiner.load_state(&state));
    let first = joiner.game().checksum();
    (30..35).for_each(|number| _ = play(&mut joiner, number));
    // Another source has a later state, and that counts.
    (30..40).for_each(|number| _ = play(&mut here, number));
    state.clear();
    assert!(here.save_state(&mut state) && joiner.load_state(&state));
    (40..60).for_each(|number| _ = play(&mut joiner, number));
    joiner.finish_recording();
    assert_eq!(joiner.replay_file(), Some(part.as_path()));
    assert_eq!(std::fs::read(&path).unwrap(), b"before");

    let (replay, terms) = open_replay(&part).unwrap();
    assert_eq!((replay.start().unwrap().0, replay.turns(), replay.is_complete()), (40, 20, true));
    let verified = replay.clone().verify(Game::new(terms.setup).unwrap());
    assert!(verified.is_sound() && verified.start == Some(40), "{verified}");
    let mut course = Course::new(replay, terms).unwrap();
    assert_ne!(course.checksum(), first);
    for frame in [80, 7, 41] {
        course.seek(frame);
        course.spend(&mut Budget::frames(200));
        assert_eq!(course.frame(), frame);
    }
}

#[test]
fn who_is_lost_again_before_the_first_turn_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let files = || std::fs::read_dir(&folder).unwrap().count();
    let mut state = Vec::new();
    assert!(joined_copy().save_state(&mut state));
    for before in [None, Some(b"before")] {
        before.into_iter().for_each(|bytes| std::fs::write(&path, bytes).unwrap());
        let mut joiner = joined_copy();
        joiner.record(Recording::create(&path, &Terms { setup: JOINED, turns: 60 }).unwrap());
        assert!(joiner.load_state(&state));
        joiner.finish_recording();
        assert_eq!((joiner.replay_file(), files()), (None, usize::from(before.is_some())));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"before");
}

#[test]
fn a_bot_commands_the_army_of_who_has_gone() {
    assert_eq!(after_40_turns(true, false), after_40_turns(true, true), "on every peer the same");
    assert_ne!(after_40_turns(true, false), after_40_turns(false, false));
}
