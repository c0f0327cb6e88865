//! What is kept of a match: its checksum, a save, a replay.

use testudo_lockstep::Simulation as _;
use testudo_lockstep::replay::Ending;

use super::{Match, TestudoMatch};
use crate::buffer::TestudoBuffer;
use crate::failure::{Failure, TESTUDO_REFUSED, TestudoStatus, status, value};
use crate::handle::{change, with};

/// The game's checksum of its present state (`TestudoGame.checksum`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_checksum(handle: *mut TestudoMatch) -> u64 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(handle, |game| Ok(game.driver.simulation_mut().checksum())) })
}

/// Asks for a save: at the same turn on every peer the library calls `TestudoGame.save_point`; soon after,
/// `testudo_match_take_saved` has the rest (`TESTUDO_EVENT_SAVED`).
/// `TESTUDO_REFUSED` where no save would follow: this program does not play, the match ends before, or a save was complete less than
/// two seconds ago.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_save(handle: *mut TestudoMatch) -> TestudoStatus {
    let save = |game: &mut Match| match game.session_mut().save() {
        true => Ok(()),
        false => Err(Failure::new(
            TESTUDO_REFUSED,
            "this program does not play, the match ends before, or a save is new",
        )),
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(handle, save) })
}

/// Takes the save that is complete; it replaces the content of the buffer. Store it with the state that the game kept in
/// `save_point`. To go on: bring the game to that state, and make the match with `own.saved` and the same other settings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_take_saved(
    handle: *mut TestudoMatch,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    let take = |game: &mut Match| {
        let put = |buffer: &mut Vec<u8>| {
            let saved = game.session_mut().take_saved();
            *buffer = saved.ok_or_else(|| Failure::new(TESTUDO_REFUSED, "no save is complete"))?.to_bytes();
            Ok(())
        };
        // SAFETY: the contract of pointers.
        unsafe { with(out, put) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(handle, take) })
}

/// Adds what has been recorded since the last call to the buffer: append it to a file, for example once per second
/// (`own.records`). When the match is over, the last piece comes. Look at `testudo_match_replay_file` before: another number, another file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_take_replay(
    handle: *mut TestudoMatch,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    let take = |game: &mut Match| {
        if game.session().is_over() {
            game.driver.simulation_mut().finish(Ending::Over);
        }
        let recorded = game.driver.simulation_mut();
        // SAFETY: the contract of pointers.
        unsafe { change(out, |bytes| bytes.append(&mut recorded.take_bytes())) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(handle, take) })
}

/// Ends the replay here. `testudo_match_take_replay` has the last piece.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_finish_replay(handle: *mut TestudoMatch) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(handle, |game| game.driver.simulation_mut().finish(Ending::Over)) })
}

/// Which file the next piece belongs to: 0, and one more each time that a state was loaded. Then begin a new file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_replay_file(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(handle, |game| Ok(game.driver.simulation().file_index())) })
}
