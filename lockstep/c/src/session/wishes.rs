//! What the local player wants.

use testudo_lockstep::{ACTION_BITS_MAX, AnyAction, AnySession, Successor};

use super::{TestudoMatch, with_session};
use crate::config::player;
use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TESTUDO_REFUSED, TestudoStatus, status};
use crate::handle::{change, with};
use crate::pointer::{TestudoBool, bytes};

/// What `sides.bots_take_over` says follows.
pub const TESTUDO_SUCCESSOR_AS_CONFIGURED: u32 = 0;
/// Nobody follows: the player has lost and cannot come back.
pub const TESTUDO_SUCCESSOR_NOBODY: u32 = 1;
/// A bot follows.
pub const TESTUDO_SUCCESSOR_BOT: u32 = 2;

/// Does something with the session of a match.
///
/// # Safety
/// The contract of pointers.
unsafe fn wish(
    handle: *mut TestudoMatch,
    call: impl FnOnce(&mut AnySession) -> Outcome<()>,
) -> TestudoStatus {
    // SAFETY: the caller's promise.
    status(|| unsafe { with_session(handle, call) })
}

/// Gives an action of the local player: the first `bits` bits of `data`, the lowest one of each byte first. It runs
/// `turns.turns_ahead` turns later, in the same turn on every peer, or fails here and runs nowhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_submit(
    handle: *mut TestudoMatch,
    data: *const u8,
    bits: u32,
) -> TestudoStatus {
    status(|| {
        let refused = || {
            let words = format!("an action has 1 to {ACTION_BITS_MAX} bits, not {bits}");
            Failure::new(TESTUDO_OUT_OF_RANGE, words)
        };
        // Before so many bytes are taken to be there.
        if !(1..=ACTION_BITS_MAX).contains(&bits) {
            return Err(refused());
        }
        // SAFETY: the contract of pointers.
        let data = unsafe { bytes(data, bits.div_ceil(8) as usize) }?;
        let action = AnyAction::new(data, bits).ok_or_else(refused)?;
        // SAFETY: as above.
        unsafe { with(handle, |game| Ok(game.driver.session_mut().submit(&action)?)) }
    })
}

/// Whether the local player may give an action now; if not, the words of the failure say why. The queue may be full all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_may_submit(handle: *const TestudoMatch) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with_session(handle, |session| Ok(session.may_submit()?)) })
}

/// Asks for a pause, or for its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_pause(
    handle: *mut TestudoMatch,
    paused: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    unsafe { wish(handle, |session| Ok(session.pause(paused != 0)?)) }
}

/// Asks for another speed, percent of real time, 10..=250. The length of a step stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_set_speed(handle: *mut TestudoMatch, percent: u32) -> TestudoStatus {
    // One that does not fit is out of range, too.
    let percent = u8::try_from(percent).unwrap_or(u8::MAX);
    // SAFETY: the contract of pointers.
    unsafe { wish(handle, |session| Ok(session.set_speed(percent)?)) }
}

/// Before the start: whether this player is ready. Everybody is unless this says otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_set_ready(
    handle: *mut TestudoMatch,
    ready: TestudoBool,
) -> TestudoStatus {
    let is_ready = ready != 0;
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(handle, |game| game.session_mut().set_ready(is_ready)) })
}

/// Votes a player out, or takes the vote back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_vote_out(
    handle: *mut TestudoMatch,
    player: u32,
    out: TestudoBool,
) -> TestudoStatus {
    let vote = |session: &mut AnySession| Ok(session.vote_out(self::player(player)?, out != 0)?);
    // SAFETY: the contract of pointers.
    unsafe { wish(handle, vote) }
}

/// The host removes a player. `testudo_host_remove` also closes its connection and its place. Behind a relay it is `testudo_guest_remove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_kick(handle: *mut TestudoMatch, player: u32) -> TestudoStatus {
    let kick = |session: &mut AnySession| {
        let words = "only the middle of a star removes players, and not itself";
        let is_done = session.kick(self::player(player)?);
        if is_done { Ok(()) } else { Err(Failure::new(TESTUDO_REFUSED, words)) }
    };
    // SAFETY: the contract of pointers.
    unsafe { wish(handle, kick) }
}

/// The player gives up, or lets a bot play, and watches: `successor` is a `TESTUDO_SUCCESSOR_...`. Actions that wait run nowhere
/// (`TESTUDO_EVENT_CANCELLED`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_resign(handle: *mut TestudoMatch, successor: u32) -> TestudoStatus {
    let resign = |session: &mut AnySession| {
        let successor = match successor {
            TESTUDO_SUCCESSOR_AS_CONFIGURED => Successor::AsConfigured,
            TESTUDO_SUCCESSOR_NOBODY => Successor::Nobody,
            TESTUDO_SUCCESSOR_BOT => Successor::Bot,
            other => return Err(Failure::enumerator("successor", other, TESTUDO_SUCCESSOR_BOT)),
        };
        session.resign(successor);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { wish(handle, resign) }
}

/// The player goes away in good order. Go on with rounds until the match is over here. Actions that wait run nowhere (`TESTUDO_EVENT_CANCELLED`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_leave(handle: *mut TestudoMatch) -> TestudoStatus {
    let leave = |session: &mut AnySession| {
        session.leave();
        Ok(())
    };
    // SAFETY: the contract of pointers.
    unsafe { wish(handle, leave) }
}
