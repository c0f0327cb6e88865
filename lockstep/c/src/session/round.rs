//! A round: packets in, frames, packets out.

use testudo_lockstep::{Advance, Duration, Instant, PeerId};

use super::{Match, TestudoMatch, with_session};
use crate::buffer::TestudoBuffer;
use crate::failure::{Failure, TestudoStatus, count, status};
use crate::handle::{change, with};
use crate::pointer::{TestudoBool, bytes, write};

/// What a call of `testudo_match_advance` did.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoAdvance {
    /// Number of frames that passed, also in a pause.
    pub frames: u32,
    /// Number of turns that began.
    pub turns: u32,
    /// The game waits, because the next turn is not ready.
    pub stalled: TestudoBool,
}

impl Match {
    /// Simulates the frames that are due.
    pub(crate) fn advance(&mut self, now: Instant) -> Advance {
        let Self { driver, hunt, .. } = self;
        if let Some(hunt) = hunt.as_mut().filter(|_| driver.session().is_joining()) {
            hunt.forget();
        }
        let done = driver.advance_with(now, |turn, recorded, session| {
            if recorded.game().is_over() {
                session.end_match();
            }
            if let Some(hunt) = hunt {
                hunt.keep(turn.0, *recorded.game());
                hunt.advance(session, now);
            }
        });
        // In the middle of a turn the game may have more than its state.
        if let Some(hunt) = hunt.as_mut().filter(|_| driver.frames_left() == 0) {
            hunt.advance(driver.session_mut(), now);
        }
        done
    }
}

/// Takes a packet that has come over the link `peer`. Any bytes are allowed: bad ones change nothing but a counter.
///
/// Call in every round of the program's loop: this for every packet, `testudo_match_advance`, `testudo_match_poll_packet` until there
/// is none, `testudo_match_poll_event` until there is none, `testudo_match_note_work`; then sleep until `testudo_match_next_call` or the next
/// packet (`testudo_host_wait`, `testudo_guest_wait`). The functions of the transports (`testudo_udp_round`, ...) do all but the events, the sleep and
/// `testudo_match_note_work`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_handle_packet(
    handle: *mut TestudoMatch,
    now_us: u64,
    peer: u32,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let packet = unsafe { bytes(data, length) }?;
        let now = Instant::from_micros(now_us);
        let take = |session: &mut testudo_lockstep::AnySession| {
            session.handle_packet(now, PeerId(peer), packet);
            Ok(())
        };
        // SAFETY: as above.
        unsafe { with_session(handle, take) }
    })
}

/// Passes time, and simulates the frames that are due, at most four; more to catch up with a running match. `out` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_advance(
    handle: *mut TestudoMatch,
    now_us: u64,
    out: *mut TestudoAdvance,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let done = unsafe { with(handle, |game| Ok(game.advance(Instant::from_micros(now_us)))) }?;
        let Advance { frames, turns, stalled, .. } = done;
        let done = TestudoAdvance { frames, turns, stalled: stalled.into() };
        // SAFETY: as above.
        if out.is_null() { Ok(()) } else { unsafe { write(out, done, "out") } }
    })
}

/// Tells how long this round kept the machine at work, in microseconds: `simulated_us` in `testudo_match_advance` or the transport's round,
/// `drawn_us` in everything else, drawing first of all; no waits. Call it at the end of each round. From this the others learn that a machine cannot
/// keep up: with `TESTUDO_PACE_ADAPTIVE` everybody's frames take longer then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_note_work(
    handle: *mut TestudoMatch,
    simulated_us: u64,
    drawn_us: u64,
) -> TestudoStatus {
    let (simulated, drawn) = (Duration::from_micros(simulated_us), Duration::from_micros(drawn_us));
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(handle, |game| game.driver.note_work(simulated, drawn)) })
}

/// Whether there is a packet to send: 0 or 1. If so, it replaces the content of `packet`, and is for the link `*peer`. Call it until
/// it returns 0, also for a moment after the match is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_poll_packet(
    handle: *mut TestudoMatch,
    now_us: u64,
    packet: *mut TestudoBuffer,
    peer: *mut u32,
) -> i32 {
    count(|| {
        // Otherwise a packet would be taken, and lost.
        if packet.is_null() || peer.is_null() {
            return Err(Failure::null("packet or peer"));
        }
        let poll = |game: &mut Match| {
            let Match { driver, packet: scratch, .. } = game;
            let to = driver.session_mut().poll_transmit(Instant::from_micros(now_us), scratch);
            let Some(to) = to else { return Ok(0) };
            // SAFETY: the contract of pointers.
            unsafe {
                change(packet, |bytes| bytes.clone_from(scratch))?;
                write(peer, to.0, "peer")?;
            }
            Ok(1)
        };
        // SAFETY: the contract of pointers.
        unsafe { with(handle, poll) }
    })
}

/// Whether there is a time at which the match has something to do, unless a packet comes before: 0 or 1. If so, `*at_us` is that time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_next_call(handle: *const TestudoMatch, at_us: *mut u64) -> i32 {
    count(|| {
        // SAFETY: the contract of pointers.
        let Some(at) = (unsafe { with(handle, |game| Ok(game.driver.poll_timeout())) })? else {
            return Ok(0);
        };
        // SAFETY: as above.
        unsafe { write(at_us, at.as_micros(), "at_us") }?;
        Ok(1)
    })
}
