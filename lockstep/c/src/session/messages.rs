//! Beside the match: profiles and messages.

use testudo_lockstep::{Message, PeerId, To};

use super::{TestudoMatch, number_of, with_session};
use crate::buffer::TestudoBuffer;
use crate::config::player;
use crate::failure::{TestudoStatus, count, status};
use crate::handle::{change, with};
use crate::pointer::{bytes, write};

/// Instead of a player: everybody else.
pub const TESTUDO_EVERYBODY: u32 = 256;
/// Instead of a player: the host, or whoever runs the relay.
pub const TESTUDO_MIDDLE: u32 = 257;

/// Before the start: what a player shows of itself, a name or colours, at most 64 bytes. Each player sets its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_set_profile(
    handle: *mut TestudoMatch,
    player: u32,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    status(|| {
        let player = self::player(player)?;
        // SAFETY: the contract of pointers.
        let data = unsafe { bytes(data, length) }?;
        // SAFETY: as above.
        unsafe { with_session(handle, |session| Ok(session.set_profile(player, data)?)) }
    })
}

/// What a player shows of itself. It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_profile(
    handle: *const TestudoMatch,
    player: u32,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    status(|| {
        let player = self::player(player)?;
        // SAFETY: the contract of pointers.
        let profile = unsafe { with_session(handle, |session| Ok(session.profile(player).to_vec())) }?;
        // SAFETY: as above.
        unsafe { change(out, |bytes| *bytes = profile) }
    })
}

/// Sends a message beside the match, at most 1,024 bytes: reliable, in order, never part of the game. `to` is a player, `TESTUDO_EVERYBODY`, or
/// `TESTUDO_MIDDLE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_send_message(
    handle: *mut TestudoMatch,
    to: u32,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    status(|| {
        let to = match to {
            TESTUDO_EVERYBODY => To::Everybody,
            TESTUDO_MIDDLE => To::Middle,
            other => To::Player(player(other)?),
        };
        // SAFETY: the contract of pointers.
        let data = unsafe { bytes(data, length) }?;
        // SAFETY: as above.
        unsafe { with_session(handle, |session| Ok(session.send_message(to, data)?)) }
    })
}

/// Answers a watcher over its link, as `testudo_match_poll_message` has named it. Only the middle of a star can.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_send_to_link(
    handle: *mut TestudoMatch,
    peer: u32,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let data = unsafe { bytes(data, length) }?;
        // SAFETY: as above.
        unsafe { with_session(handle, |session| Ok(session.send_message(To::Link(PeerId(peer)), data)?)) }
    })
}

/// Whether there is a message: 0 or 1. If so, it replaces the content of `out`; `*from` is who says it (a player, `TESTUDO_WATCHER`,
/// `TESTUDO_RELAY`), and `*peer` the link over which it came. Both may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_poll_message(
    handle: *mut TestudoMatch,
    from: *mut u32,
    peer: *mut u32,
    out: *mut TestudoBuffer,
) -> i32 {
    count(|| {
        let poll = |session: &mut testudo_lockstep::AnySession| {
            let take = |buffer: &mut Vec<u8>| {
                let Some(Message { from, link, bytes, .. }) = session.poll_message() else { return Ok(None) };
                *buffer = bytes;
                Ok(Some((number_of(from), link.0)))
            };
            // SAFETY: the contract of pointers.
            unsafe { with(out, take) }
        };
        // SAFETY: the contract of pointers.
        let Some((who, link)) = (unsafe { with_session(handle, poll) })? else { return Ok(0) };
        for (pointer, number, name) in [(from, who, "from"), (peer, link, "peer")] {
            if !pointer.is_null() {
                // SAFETY: as above.
                unsafe { write(pointer, number, name) }?;
            }
        }
        Ok(1)
    })
}
