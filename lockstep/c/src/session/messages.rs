//! Beside the match: profiles and messages.

use testudo_lockstep::{Message, PeerId, To};

use super::{Match, TestudoMatch, number_of, with_session};
use crate::buffer::TestudoBuffer;
use crate::config::player;
use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TestudoStatus, count, status};
use crate::handle::{change, with};
use crate::pointer::{bytes, write};

/// Instead of a player: everybody else.
pub const TESTUDO_EVERYBODY: u32 = 256;
/// Instead of a player: the host, or whoever runs the relay.
pub const TESTUDO_MIDDLE: u32 = 257;

/// Before the start: what a player shows of itself, a name or colours, at most 64 bytes. Each player sets its own. In a star of players
/// the host sets those of all, for the names of bots.
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
/// `TESTUDO_MIDDLE`. In a match of games with `visit` the first byte is 2 or more: others are those of the search.
/// Say nothing to the middle that is a relay: what it takes is `testudo_guest_remove`.
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
        unsafe { with(handle, |game| game.send_message(to, data)) }
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
        unsafe { with(handle, |game| game.send_message(To::Link(PeerId(peer)), data)) }
    })
}

impl Match {
    fn send_message(&mut self, to: To, data: &[u8]) -> Outcome<()> {
        if self.hunt.is_some() && matches!(data.first(), Some(0 | 1)) {
            let words = "messages that begin with 0 or 1 are those of the search for a difference";
            return Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
        }
        Ok(self.session_mut().send_message(to, data)?)
    }

    /// The search for a difference takes its own messages out.
    fn poll_message(&mut self) -> Option<Message> {
        let Self { driver, hunt, .. } = self;
        match hunt {
            Some(hunt) => hunt.poll_message(driver.session_mut()),
            None => driver.session_mut().poll_message(),
        }
    }
}

/// Whether there is a message: 0 or 1. If so, it replaces the content of `out`; `*from` is who says it (a player, `TESTUDO_WATCHER`,
/// `TESTUDO_RELAY`), and `*peer` the link over which it came. Both may be NULL. At most 256 messages and 128 KiB wait here, and
/// twice as many during the search of games with `visit`; others wait where they come from, and `TESTUDO_EVENT_UNDELIVERED` tells there of those that get lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_poll_message(
    handle: *mut TestudoMatch,
    from: *mut u32,
    peer: *mut u32,
    out: *mut TestudoBuffer,
) -> i32 {
    count(|| {
        let poll = |game: &mut Match| {
            let take = |buffer: &mut Vec<u8>| {
                let Some(Message { from, link, bytes, .. }) = game.poll_message() else { return Ok(None) };
                *buffer = bytes;
                Ok(Some((number_of(from), link.0)))
            };
            // SAFETY: the contract of pointers.
            unsafe { with(out, take) }
        };
        // SAFETY: the contract of pointers.
        let Some((who, link)) = (unsafe { with(handle, poll) })? else { return Ok(0) };
        for (pointer, number, name) in [(from, who, "from"), (peer, link, "peer")] {
            if !pointer.is_null() {
                // SAFETY: as above.
                unsafe { write(pointer, number, name) }?;
            }
        }
        Ok(1)
    })
}
