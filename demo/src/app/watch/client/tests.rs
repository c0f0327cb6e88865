//! One peer's copy: faults, replays, joining peers, bots.

use super::*;
use crate::app::playback::{Budget, Course, Milestone};
use crate::app::{Terms, open_replay};
use testudo_battle::Setup;

fn turn(client: &mut Client, turn: u32) -> u64 {
    (0..4).for_each(|_| client.step(20));
    let checksum = client.checksum();
    client.turn_ended(Turn(turn), checksum);
    checksum
}

/// The checksum after 40 turns in which player 1's army has a bot, or nobody.
fn after_40_turns(has_bot: bool, keeps_records: bool) -> u64 {
    let game = Game::new(Setup { players: 2, units: 20, seed: 3, map: None }).unwrap();
    let mut client = Client::new(game, None, keeps_records);
    let gone = PlayerId(1);
    if has_bot {
        client.player_taken_over(gone, Turn(0));
    } else {
        client.player_gone(gone, Turn(0));
    }
    let mut checksum = 0;
    for number in 0..40 {
        client.turn_started(Turn(number), 4);
        if has_bot {
            client.play_for(gone, Turn(number));
        }
        checksum = turn(&mut client, number);
    }
    checksum
}

/// Flips a bit of the first unit's position at the end of the turn that runs, or runs next.
fn corrupt(client: &mut Client) {
    let slot = client.game().unit_slots().next().unwrap();
    client.corrupt(0, slot, BodyField::PositionX, 11);
}

/// Whether the copy differs from the one without the fault.
fn is_broken(client: &Client) -> bool {
    client.game().checksum() != client.seen().checksum()
}

#[test]
fn a_fault_comes_with_the_last_frame_of_the_turn_that_runs_or_runs_next() {
    let game = Game::new(Setup { players: 2, units: 20, seed: 3, map: None }).unwrap();
    let new = || Client::new(game.clone(), None, true);
    // Within a turn, before the first one, between two turns.
    for (asked_at, turns_before) in [(Some(2), 1), (None, 0), (None, 1)] {
        let mut client = new();
        for number in 0..turns_before {
            client.turn_started(Turn(number), 4);
            turn(&mut client, number);
        }
        if asked_at.is_none() {
            corrupt(&mut client);
        }
        client.turn_started(Turn(turns_before), 4);
        for frame in 0..4 {
            if asked_at == Some(frame) {
                corrupt(&mut client);
            }
            assert!(!is_broken(&client), "before frame {frame}");
            client.step(20);
        }
        assert!(is_broken(&client) && client.refused().is_none());
        let checksum = client.checksum();
        client.turn_ended(Turn(turns_before), checksum);
        let records: Vec<TurnRecord> = core::iter::from_fn(|| client.take_record()).collect();
        let last = records.last().unwrap();
        assert_eq!((records.len(), last.frames.len()), (turns_before as usize + 1, 4));
        assert!(last.checksum == last.frames[3].checksum && last.checksum == checksum);
    }
    // A paused turn has no frame in which it could come.
    let mut client = new();
    corrupt(&mut client);
    client.turn_started(Turn(0), 0);
    let checksum = client.checksum();
    client.turn_ended(Turn(0), checksum);
    client.turn_started(Turn(1), 4);
    assert!(!is_broken(&client));
    turn(&mut client, 1);
    assert!(is_broken(&client));
}

#[test]
fn a_replay_says_who_was_taken_over_and_plays_on() {
    let terms = Terms { setup: Setup { players: 2, units: 20, seed: 3, map: None }, turns: 40 };
    let path = std::env::temp_dir().join(format!("testudo-taken-over-{}.replay", std::process::id()));
    let mut client = Client::new(Game::new(terms.setup).unwrap(), None, false);
    client.record(Recording::create(&path, &terms).unwrap());
    for number in 0..40 {
        client.turn_started(Turn(number), 4);
        if number == 15 {
            client.player_taken_over(PlayerId(1), Turn(number));
        }
        if number >= 15 {
            client.play_for(PlayerId(1), Turn(number));
        }
        turn(&mut client, number);
    }
    client.finish_recording().unwrap();
    let (replay, read) = open_replay(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let mut course = Course::new(replay, read).unwrap();
    let left = Milestone { turn: 15, player: Some(1), text: "player 2 left: a bot plays on".into() };
    assert_eq!(course.milestones()[..1], [left]);
    assert!((0..course.replay().turns()).any(|turn| course.orders(turn).count() > 0), "the bot has played");
    course.seek(u64::MAX);
    course.spend(&mut Budget::frames(200));
    course.spend_on_check(&mut Budget::frames(200));
    assert_eq!((course.divergence(), course.checksum()), (None, client.game().checksum()));
}

#[test]
fn who_gets_the_state_goes_on_as_everybody_else() {
    let setup = Setup { players: 2, units: 20, seed: 3, map: None };
    let client = || {
        let mut client = Client::new(Game::new(setup).unwrap(), None, false);
        client.keep_moments();
        client
    };
    let play = |client: &mut Client, number| {
        client.turn_started(Turn(number), 4);
        (0..2).for_each(|player| client.play_for(PlayerId(player), Turn(number)));
        turn(client, number)
    };
    let (mut here, mut joiner) = (client(), client());
    let path = std::env::temp_dir().join(format!("testudo-joiner-{}.replay", std::process::id()));
    joiner.record(Recording::create(&path, &Terms { setup, turns: 60 }).unwrap());
    for number in 0..30 {
        play(&mut here, number);
    }
    let mut state = Vec::new();
    assert!(here.save_state(&mut state));
    let before = joiner.game().checksum();
    assert!(!joiner.load_state(&state[..state.len() - 1]) && !joiner.load_state(&[]));
    assert_eq!(joiner.game().checksum(), before, "a state that is cut off changes nothing");
    assert!(path.exists());
    assert!(joiner.load_state(&state));
    assert_eq!(joiner.checksum(), here.game().checksum(), "the driver asks for it");
    assert!(!path.exists(), "a replay begins with the first turn");
    for number in 30..60 {
        assert_eq!(play(&mut here, number), play(&mut joiner, number), "turn {number}");
    }
    let (here, joiner) = (here.deeds(), joiner.deeds());
    assert!(!joiner.is_empty());
    assert!(
        here.iter().map(|deed| (deed.turn, deed.frame)).eq(joiner.iter().map(|deed| (deed.turn, deed.frame)))
    );
}

#[test]
fn a_bot_commands_the_army_of_who_has_gone() {
    assert_eq!(after_40_turns(true, false), after_40_turns(true, true), "on every peer the same");
    assert_ne!(after_40_turns(true, false), after_40_turns(false, false));
}
