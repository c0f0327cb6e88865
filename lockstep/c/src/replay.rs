//! Replays.

use std::sync::Arc;

use testudo_lockstep::AnyAction;
use testudo_lockstep::replay::{Replay, ReplayPlayer, SeekError, TurnEvent};

use crate::buffer::{TestudoBuffer, put};
use crate::config::TESTUDO_NEVER;
use crate::failure::{
    Failure, Outcome, TESTUDO_DAMAGED, TESTUDO_GAME_FAILED, TESTUDO_REFUSED, TestudoStatus, count, status,
    value,
};
use crate::game::{Game, TestudoGame};
use crate::handle::{Handle, change, free, give, opaque, with};
use crate::pointer::{TestudoBool, bytes, write};

/// A recorded match.
#[derive(Debug)]
pub struct TestudoReplay(Handle<Arc<Replay>>);
opaque!(TestudoReplay, Arc<Replay>, "replay");

/// A game that plays a recorded match.
pub struct TestudoReplayPlayer(Handle<ReplayPlayer<Game>>);
opaque!(TestudoReplayPlayer, ReplayPlayer<Game>, "replay's player");

/// What a replay says of itself. Turns of a replay are counted from the first one of the file, here and in all functions of replays. With `first_turn` added
/// they are those of the match, which its events have, and which the game gets while it plays.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoReplayInfo {
    /// `TestudoConfig.content_hash` of the match.
    pub content_hash: u64,
    /// Number of players, 1..=16. A file of any origin may have more than a game takes: look at it before it is played.
    pub players: u32,
    /// Number of whole turns.
    pub turns: u32,
    /// The turn of the match with which it begins, with the state in the file; 0: with the first one.
    pub first_turn: u32,
    /// The first turn of the file in which the peers disagreed; `TESTUDO_NEVER`: none was told.
    pub desync_turn: u32,
    /// The recording was ended, not cut off.
    pub complete: TestudoBool,
    /// A part of the file was changed or is missing; turns behind it are lost.
    pub damaged: TestudoBool,
}

/// What `testudo_replay_verify` found.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoVerification {
    /// Number of turns that were played.
    pub turns: u32,
    /// The first turn of the file that differs from the recording; `TESTUDO_NEVER`: none.
    pub first_difference: u32,
    /// The replay is complete, not damaged, and every checksum was reproduced.
    pub sound: TestudoBool,
}

/// Reads a replay. `TESTUDO_VERSION`: it is of another `rules_version`, or of another version of the library. A file that is damaged
/// later on is read up to there. Free it with `testudo_replay_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_read(
    data: *const u8,
    length: usize,
    rules_version: u32,
    out: *mut *mut TestudoReplay,
) -> TestudoStatus {
    let read = || {
        // SAFETY: the contract of pointers.
        let data = unsafe { bytes(data, length) }?;
        Ok(Arc::new(Replay::read(data.to_vec(), rules_version)?))
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, read) })
}

/// Frees a replay; its players go on. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_free(replay: *mut TestudoReplay) {
    // SAFETY: the contract of pointers.
    unsafe { free(replay) }
}

/// What the replay says of itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_info(
    replay: *const TestudoReplay,
    out: *mut TestudoReplayInfo,
) -> TestudoStatus {
    let info = |replay: &mut Arc<Replay>| {
        let info = TestudoReplayInfo {
            content_hash: replay.header().content_hash,
            players: replay.header().players.into(),
            turns: replay.turns(),
            first_turn: replay.start().map_or(0, |(turn, _)| turn),
            desync_turn: replay.desync().unwrap_or(TESTUDO_NEVER),
            complete: replay.is_complete().into(),
            damaged: replay.damage().is_some().into(),
        };
        // SAFETY: the contract of pointers.
        unsafe { write(out, info, "out") }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(replay, info) })
}

/// `TestudoConfig.game_data` of the match. It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_game_data(
    replay: *const TestudoReplay,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    let data = |replay: &mut Arc<Replay>| {
        // SAFETY: the contract of pointers.
        unsafe { change(out, |bytes| bytes.clone_from(&replay.header().settings)) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(replay, data) })
}

/// Plays the whole replay with a game in its state before the first turn, and compares every checksum, and every recorded state if the game has
/// `save` and `load`. If `words` is not NULL, it gets the finding as text with a 0 at its end.
///
/// `TESTUDO_DAMAGED`: an action in it is none of this game, by `action_bits` and `action_length`. Nothing is played then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_verify(
    replay: *const TestudoReplay,
    game: *const TestudoGame,
    words: *mut TestudoBuffer,
    out: *mut TestudoVerification,
) -> TestudoStatus {
    status(|| {
        // Before a whole match is played in vain.
        if out.is_null() {
            return Err(Failure::null("out"));
        }
        // SAFETY: the contract of pointers.
        let game = unsafe { Game::read(game) }?;
        // SAFETY: as above.
        let replay = unsafe { with(replay, |replay| Ok(Arc::clone(replay))) }?;
        let found = Replay::clone(&*for_game(replay, &game)?).verify(game);
        let verification = TestudoVerification {
            turns: found.turns,
            first_difference: found.divergence.map_or(TESTUDO_NEVER, |found| found.turn()),
            sound: found.is_sound().into(),
        };
        if !words.is_null() {
            // SAFETY: as above.
            unsafe { put(words, &found) }?;
        }
        // SAFETY: as above.
        unsafe { write(out, verification, "out") }
    })
}

/// The replay as a game can play it: whoever cannot save and load has no use for the states in it.
fn for_game(replay: Arc<Replay>, game: &Game) -> Outcome<Arc<Replay>> {
    check_actions(&replay, game)?;
    Ok(if game.keeps_state() { replay } else { Arc::new(Replay::clone(&replay).without_keyframes()) })
}

/// A game in C reads as many bytes as its actions have, so it gets no others: the file may be of another version of the game, or of anybody.
fn check_actions(replay: &Replay, game: &Game) -> Outcome<()> {
    for turn in 0..replay.turns() {
        let Some((mut events, _)) = replay.turn(turn) else { continue };
        loop {
            let refused = match events.next_event::<AnyAction>() {
                Ok(None) => break,
                Ok(Some(TurnEvent::Action(_, action))) if !game.has_action(&action) => {
                    format!("{} bits", action.bit_count())
                }
                Ok(Some(_)) => continue,
                Err(error) => error.to_string(),
            };
            let words = format!("turn {turn} has an action that is none of this game: {refused}");
            return Err(Failure::new(TESTUDO_DAMAGED, words));
        }
    }
    Ok(())
}

/// A player of a replay, with a game in its state before the first turn. It goes forwards without `save` and `load` of the game, too. Free it with
/// `testudo_replay_player_free`. `TESTUDO_DAMAGED`: as `testudo_replay_verify` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_new(
    replay: *const TestudoReplay,
    game: *const TestudoGame,
    out: *mut *mut TestudoReplayPlayer,
) -> TestudoStatus {
    let make = || {
        // SAFETY: the contract of pointers.
        let game = unsafe { Game::read(game) }?;
        // SAFETY: as above.
        let replay = unsafe { with(replay, |replay| Ok(Arc::clone(replay))) }?;
        Ok(ReplayPlayer::new(for_game(replay, &game)?, game))
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, make) })
}

/// Frees a player. NULL is allowed. A callback of its own game cannot: nothing happens then, and `testudo_error()` says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_free(player: *mut TestudoReplayPlayer) {
    // SAFETY: the contract of pointers.
    unsafe { free(player) }
}

/// Runs one frame; of a pause the whole turn. Returns whether there was one: 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_step(player: *mut TestudoReplayPlayer) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(player, |player| Ok(player.step_frame().into())) })
}

/// Goes to the start of a turn of the file, forwards or backwards. Backwards needs `save` and `load` of the game, and far forwards is faster with them. If
/// they are missing or refuse, it is `TESTUDO_GAME_FAILED`, and the player stays where it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_seek(
    player: *mut TestudoReplayPlayer,
    turn: u32,
) -> TestudoStatus {
    let refused = |error: SeekError| {
        let status =
            if matches!(error, SeekError::Start { .. }) { TESTUDO_GAME_FAILED } else { TESTUDO_REFUSED };
        Failure::new(status, error.to_string())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(player, |player| player.seek(turn).map_err(refused)) })
}

/// The turn of the file that is running, or runs next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_turn(player: *const TestudoReplayPlayer) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(player, |player| Ok(player.turn())) })
}

/// Number of frames of that turn that have run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_frame(player: *const TestudoReplayPlayer) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(player, |player| Ok(player.frame())) })
}

/// The first turn of the file whose checksum or state was another one than the recorded, of those seen so far; `TESTUDO_NEVER`: none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_replay_player_difference(player: *const TestudoReplayPlayer) -> u32 {
    let turn =
        |player: &mut ReplayPlayer<Game>| Ok(player.divergence().map_or(TESTUDO_NEVER, |found| found.turn()));
    // SAFETY: the contract of pointers.
    value(TESTUDO_NEVER, || unsafe { with(player, turn) })
}
