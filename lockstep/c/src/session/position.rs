//! Where a match is.

use testudo_lockstep::{AnySession, Instant, PlayerId, SessionPhase, Stats};

use super::{TestudoMatch, number_of, with_session};
use crate::failure::{TestudoStatus, status, value};
use crate::handle::with;
use crate::pointer::{TestudoBool, write};

/// Waits for the others; or gets the state of the running match.
pub const TESTUDO_PHASE_LOBBY: u32 = 0;
/// Turns run.
pub const TESTUDO_PHASE_RUNNING: u32 = 1;
/// All turns have run here; some peers lack something.
pub const TESTUDO_PHASE_ENDING: u32 = 2;
/// Everybody has everything.
pub const TESTUDO_PHASE_FINISHED: u32 = 3;
/// This player has left in good order.
pub const TESTUDO_PHASE_LEFT: u32 = 4;
/// Ended early (`TESTUDO_EVENT_FAILED` has the reason).
pub const TESTUDO_PHASE_FAILED: u32 = 5;
/// Not an answer: the handle is bad.
pub const TESTUDO_PHASE_NONE: u32 = 255;

/// Counters since the start of a match.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoMatchStats {
    /// Packets that were sent.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Valid packets that came.
    pub packets_received: u64,
    /// Their bytes.
    pub bytes_received: u64,
    /// Packets that were damaged or of another match.
    pub packets_malformed: u64,
    /// Packets from strangers, or that were not expected.
    pub packets_unexpected: u64,
    /// New entries of other peers.
    pub entries_received: u64,
    /// Entries that were here already.
    pub entries_repeated: u64,
    /// Entries with actions that are none, or of players for whom the sender may not speak.
    pub entries_invalid: u64,
    /// Frames in which the game waited.
    pub stalled_frames: u64,
    /// Turns that have begun.
    pub turns_begun: u64,
    /// Players whom this peer has dropped.
    pub drops: u64,
    /// Events that nobody took in time.
    pub events_lost: u64,
}

impl From<Stats> for TestudoMatchStats {
    fn from(stats: Stats) -> Self {
        Self {
            packets_sent: stats.packets_sent,
            bytes_sent: stats.bytes_sent,
            packets_received: stats.packets_received,
            bytes_received: stats.bytes_received,
            packets_malformed: stats.packets_malformed,
            packets_unexpected: stats.packets_unexpected,
            entries_received: stats.entries_received,
            entries_repeated: stats.entries_repeated,
            entries_invalid: stats.entries_invalid,
            stalled_frames: stats.stalled_frames,
            turns_begun: stats.turns_begun,
            drops: stats.drops,
            events_lost: stats.events_lost,
        }
    }
}

/// What a session says of itself.
///
/// # Safety
/// The contract of pointers.
unsafe fn ask<T>(handle: *const TestudoMatch, otherwise: T, answer: impl FnOnce(&AnySession) -> T) -> T {
    // SAFETY: the caller's promise.
    value(otherwise, || unsafe { with_session(handle, |session| Ok(answer(session))) })
}

/// Bit n for player n.
pub(crate) fn set_of(players: impl IntoIterator<Item = PlayerId>) -> u32 {
    players.into_iter().fold(0, |set, player| set | 1 << player.0)
}

/// The phase: a `TESTUDO_PHASE_...`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_phase(handle: *const TestudoMatch) -> u32 {
    let phase = |session: &AnySession| match session.phase() {
        SessionPhase::Lobby => TESTUDO_PHASE_LOBBY,
        SessionPhase::Running => TESTUDO_PHASE_RUNNING,
        SessionPhase::Ending => TESTUDO_PHASE_ENDING,
        SessionPhase::Finished => TESTUDO_PHASE_FINISHED,
        SessionPhase::Left => TESTUDO_PHASE_LEFT,
        _ => TESTUDO_PHASE_FAILED,
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, TESTUDO_PHASE_NONE, phase) }
}

/// Whether it has finished, was left or has failed, and nothing more will run. 1 for a bad handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_is_over(handle: *const TestudoMatch) -> TestudoBool {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 1, |session| session.is_over().into()) }
}

/// The local player; or `TESTUDO_WATCHER`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_player(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, super::TESTUDO_NOBODY, |session| number_of(session.identity())) }
}

/// The next turn to begin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_turn(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, |session| session.next_turn().0) }
}

/// Number of frames that were simulated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_frame(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(handle, |game| Ok(game.driver.frame().0)) })
}

/// How much of the time from the last frame to the next has passed, 0..=65,536: for drawing between them (`testudo_world_interpolated`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_alpha(handle: *const TestudoMatch, now_us: u64) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(handle, |game| Ok(game.driver.alpha_at(Instant::from_micros(now_us)))) })
}

/// Whether the game is paused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_is_paused(handle: *const TestudoMatch) -> TestudoBool {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, |session| session.is_paused().into()) }
}

/// Whether it came to a running match and has turns to make up for: draw no picture of each frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_is_catching_up(handle: *const TestudoMatch) -> TestudoBool {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, |session| session.is_catching_up().into()) }
}

/// Players for whom the next turn waits: bit n for player n.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_missing_players(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, |session| set_of(session.missing_players())) }
}

/// Players who are here, as far as this peer knows: bit n for player n.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_present_players(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, |session| set_of(session.present_players())) }
}

/// Before the start: players who want to begin, as far as this peer knows. Bit n for player n.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_ready_players(handle: *const TestudoMatch) -> u32 {
    let ready = |session: &AnySession| {
        let players = (0..session.config().players).map(PlayerId);
        set_of(players.filter(|player| session.is_ready(*player)))
    };
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, ready) }
}

/// Number of turns whose checksums have been compared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_compared_turns(handle: *const TestudoMatch) -> u32 {
    // SAFETY: the contract of pointers.
    unsafe { ask(handle, 0, AnySession::compared_turns) }
}

/// The counters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_stats(
    handle: *const TestudoMatch,
    out: *mut TestudoMatchStats,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with_session(handle, |session| write(out, session.stats().into(), "out")) })
}
