//! Replays of games that cannot save or load, or will not.

mod toy;

use std::ffi::c_void;
use std::ptr::null_mut;

use testudo::*;

use toy::{TURNS, Toy, bytes_of, config, peers, play, play_to_end, words};

/// It says that it failed, and has written something all the same.
unsafe extern "C" fn no_save(_: *mut c_void, out: *mut TestudoBuffer) -> TestudoBool {
    // SAFETY: the buffer is one, and the bytes are there.
    unsafe { testudo_buffer_append(out, b"half".as_ptr(), 4) };
    0
}

unsafe extern "C" fn any_load(_: *mut c_void, _: *const u8, _: usize) -> TestudoBool {
    1
}

unsafe extern "C" fn no_load(_: *mut c_void, _: *const u8, _: usize) -> TestudoBool {
    0
}

/// It frees the buffer that the library has lent it.
unsafe extern "C" fn freeing_save(context: *mut c_void, out: *mut TestudoBuffer) -> TestudoBool {
    // SAFETY: the context is a toy, the buffer is one, and the bytes are there.
    unsafe {
        let state = (*context.cast::<Toy>()).state();
        testudo_buffer_append(out, state.as_ptr(), state.len());
        testudo_buffer_free(out);
        (testudo_buffer_length(out) == state.len()).into()
    }
}

/// A recorded match of two, with a state of every 300th turn.
fn recorded(turns: u32) -> Vec<u8> {
    let mut config = config(2);
    (config.own.records, config.turns.count) = (1, turns);
    let (mut peers, mut net) = peers(&config);
    play_to_end(&mut peers, &mut net, &mut 0);
    peers[1].replay.clone()
}

fn read(file: &[u8]) -> *mut TestudoReplay {
    toy::read(file, 3).0
}

/// Plays a file with a toy that `change` has taken functions from: forwards to turn 310, and back, which it cannot.
fn goes_forwards_only(file: &[u8], change: fn(TestudoGame) -> TestudoGame, reason: &str) {
    let (replay, mut toy, mut player) = (read(file), Toy::default(), null_mut());
    // SAFETY: all of it is there, and freed after all uses.
    unsafe {
        assert_eq!(testudo_replay_player_new(replay, &change(toy.game()), &mut player), TESTUDO_OK);
        assert_eq!(testudo_replay_player_seek(player, 310), TESTUDO_OK, "{}", words());
        assert_eq!(testudo_replay_player_difference(player), TESTUDO_NEVER);
        let (history, frames) = (toy.history, toy.frames);
        assert_eq!(frames, 620, "played, not jumped");
        assert_eq!(testudo_replay_player_seek(player, 20), TESTUDO_GAME_FAILED);
        assert_eq!(words(), format!("the state before the first turn: {reason}"));
        assert_eq!((testudo_replay_player_turn(player), toy.history, toy.frames), (310, history, frames));
        // It can still go on.
        assert_eq!(testudo_replay_player_seek(player, 320), TESTUDO_OK);
        assert_eq!((toy.frames, testudo_replay_player_difference(player)), (640, TESTUDO_NEVER));
        testudo_replay_player_free(player);
        testudo_replay_free(replay);
    }
}

#[test]
fn a_game_that_cannot_go_back_says_so_and_goes_forwards() {
    let file = recorded(330);
    let none = "the game has no function `load`";
    goes_forwards_only(&file, |game| TestudoGame { save: None, load: None, ..game }, none);
    goes_forwards_only(&file, |game| TestudoGame { load: None, ..game }, none);
    let empty = "the game has saved no state, or an empty one";
    goes_forwards_only(&file, |game| TestudoGame { save: None, load: Some(any_load), ..game }, empty);
    goes_forwards_only(&file, |game| TestudoGame { save: Some(no_save), ..game }, empty);

    let (replay, mut toy, mut player) = (read(&file), Toy::default(), null_mut());
    let game = TestudoGame { load: Some(no_load), ..toy.game() };
    // SAFETY: all of it is there, and freed after all uses.
    unsafe {
        assert_eq!(testudo_replay_player_new(replay, &game, &mut player), TESTUDO_OK);
        testudo_replay_player_step(player);
        assert_eq!(testudo_replay_player_seek(player, 0), TESTUDO_GAME_FAILED);
        assert_eq!(words(), "the state before the first turn: the game refuses the state");
        assert_eq!((testudo_replay_player_turn(player), testudo_replay_player_frame(player)), (0, 1));
        testudo_replay_player_free(player);
        testudo_replay_free(replay);
    }
}

#[test]
fn a_replay_is_verified_without_states_and_the_words_end() {
    let (replay, buffer) = (read(&recorded(TURNS)), testudo_buffer_new());
    let verify = |change: fn(TestudoGame) -> TestudoGame, wrong_at| {
        let mut toy = Toy { wrong_at, ..Toy::default() };
        let mut found = TestudoVerification { turns: 0, first_difference: 0, sound: 0 };
        // SAFETY: all of it is there.
        let status = unsafe { testudo_replay_verify(replay, &change(toy.game()), buffer, &mut found) };
        let text = String::from_utf8(bytes_of(buffer)).expect("UTF-8");
        (status, found.turns, found.first_difference, found.sound, text)
    };
    let well = "60 turns, every checksum reproduced\0".to_owned();
    for change in [
        |game| game,
        |game| TestudoGame { save: None, load: None, ..game },
        |game| TestudoGame { save: Some(no_save), ..game },
        |game| TestudoGame { save: Some(freeing_save), ..game },
    ] {
        assert_eq!(verify(change, u32::MAX), (TESTUDO_OK, TURNS, TESTUDO_NEVER, 1, well.clone()));
    }
    assert_eq!(words(), "the buffer is only lent, and is freed by the library");
    let (.., turn, sound, text) = verify(|game| TestudoGame { save: None, ..game }, 21);
    assert_eq!((turn, sound), (10, 0));
    assert!(text.starts_with("differs from the recording: turn 10") && text.ends_with('\0'), "{text}");
    let mut toy = Toy::default();
    // SAFETY: NULL is refused; the replay and the buffer are used no more.
    unsafe {
        assert_eq!(testudo_replay_verify(replay, &toy.game(), null_mut(), null_mut()), TESTUDO_NULL);
        assert_eq!((words().as_str(), toy.frames), ("out is NULL", 0), "it plays nothing");
        testudo_replay_free(replay);
        testudo_buffer_free(buffer);
    }
}

/// The file of another version of the game, or of anybody: `apply` would read bytes that are not there.
#[test]
fn actions_that_are_none_of_the_game_are_played_by_nobody() {
    unsafe extern "C" fn always_nine(_: *mut c_void, _: *const u8, _: u32) -> u32 {
        9
    }
    let replay = read(&recorded(TURNS));
    for change in [
        |game| TestudoGame { action_bits: 24, action_length: None, ..game },
        |game| TestudoGame { action_bits: 9, action_length: None, ..game },
        |game| TestudoGame { action_bits: 9, ..game },
        |game| TestudoGame { action_length: Some(always_nine), ..game },
    ] as [fn(TestudoGame) -> TestudoGame; 4]
    {
        let (mut toy, mut player) = (Toy::default(), null_mut());
        let game = change(toy.game());
        let mut found = TestudoVerification { turns: 9, first_difference: 0, sound: 0 };
        // SAFETY: all of it is there.
        unsafe {
            let verified = testudo_replay_verify(replay, &game, null_mut(), &mut found);
            assert_eq!((verified, found.turns), (TESTUDO_DAMAGED, 9), "{}", words());
            assert_eq!(testudo_replay_player_new(replay, &game, &mut player), TESTUDO_DAMAGED);
        }
        assert!(words().contains("has an action that is none of this game: "), "{}", words());
        assert_eq!((player.is_null(), toy.frames, toy.actions), (true, 0, 0));
    }
    // SAFETY: it is used no more.
    unsafe { testudo_replay_free(replay) };
}

/// What a file says of itself.
fn info(file: &[u8]) -> TestudoReplayInfo {
    let (replay, info) = toy::read(file, 3);
    // SAFETY: it is not used any more.
    unsafe { testudo_replay_free(replay) };
    info
}

/// The peers take what was recorded before they take the events.
#[test]
fn a_desync_of_the_last_turn_is_in_the_file() {
    let mut config = config(3);
    config.own.records = 1;
    let (mut peers, mut net) = peers(&config);
    peers[2].toy.wrong_at = 2 * TURNS;
    play_to_end(&mut peers, &mut net, &mut 0);
    for peer in &peers {
        assert_eq!(peer.of(TESTUDO_EVENT_DESYNC)[0].0.turn, TURNS - 1);
        assert_eq!(
            peer.of(TESTUDO_EVENT_FINISHED).len(),
            1,
            "events come as if nobody had asked for the file"
        );
        let info = info(&peer.replay);
        assert_eq!((info.complete, info.turns, info.desync_turn), (1, TURNS, TURNS - 1));
    }
}

#[test]
fn a_recording_that_is_ended_early_is_complete() {
    let mut config = config(2);
    config.own.records = 1;
    let ((mut peers, mut net), mut now) = (peers(&config), 0);
    play(&mut peers, &mut net, &mut now, |peers| peers[0].turn() > 20);
    // SAFETY: the match is one.
    assert_eq!(unsafe { testudo_match_finish_replay(peers[0].handle) }, TESTUDO_OK);
    play_to_end(&mut peers, &mut net, &mut now);
    let info = info(&peers[0].replay);
    assert!(info.complete == 1 && (15..30).contains(&info.turns), "{info:?}");
}
