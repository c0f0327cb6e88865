//! The game: functions of the caller that the library calls.

use std::ffi::c_void;

use testudo_lockstep::state::{Leaf, Part, State, StateError, Visit};
use testudo_lockstep::{ACTION_BITS_MAX, ActionFormat, AnyAction, PlayerId, Simulation, Turn};

use crate::buffer::TestudoBuffer;
use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE};
use crate::handle::lend;
use crate::pointer::{TestudoBool, plain, read};
use crate::visit::{TestudoVisit, visited};

/// A function that is told of a player. (cbindgen knows no `Option` of it.)
type OnPlayer = unsafe extern "C" fn(context: *mut c_void, player: u32, turn: u32);

/// A game: its state behind `context`, and functions that the library calls in the thread that called the library.
///
/// The library copies this structure when it makes a match or a replay's player of it. `context` must stay valid as long as
/// that. No function fills in its defaults: write `TestudoGame game = {0}` and then what the game has, so that all else is NULL.
///
/// A turn calls `turn_started`, then `apply` for each action (players in order, each player's actions in the order in which
/// they were given), then `step` for each frame, then `checksum`, then `turn_ended`.
///
/// These call the functions of a game: what makes a match or a player of it, `testudo_match_handle_packet`, `_advance`, `_poll_packet`, `_submit`,
/// `_leave`, `_checksum`, `_take_replay` and `_finish_replay`, the rounds and pumps of transports, `testudo_replay_verify`, and
/// `testudo_replay_player_step` and `_seek`. After a desync `_advance`, `_checksum`, `_take_replay`, `_finish_replay` and the rounds call `save`
/// (`own.records`).
///
/// Functions may be NULL unless the docs say that they are needed. They must return: no exception, no `longjmp`. They may use
/// worlds and buffers. The match (or the replay's player) that calls them answers `TESTUDO_BUSY`, a getter what it has for a bad handle, and `_free`
/// does nothing. Whatever a world answers in `step` must be looked at: a call that one peer's world refuses (`TESTUDO_BUSY`, because another thread
/// draws it) is a desync.
///
/// Bits of actions: the first one is the lowest of the first byte, and unused high bits of the last byte are zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoGame {
    /// Given to every function. May be NULL.
    pub context: *mut c_void,
    /// Greatest number of bits of an action, 1..=4,096. The same on all peers: `Action::MAX_BITS` of a peer in Rust.
    pub action_bits: u32,
    /// The number of bits of the action at the start of these, at most `bits`; 0 if they do not begin with an action. `bits` is how many are left,
    /// at most `action_bits`. They come from the network. The answer depends on the bits of that action alone, and is the same on all peers: where
    /// a peer in Rust has `Action::decode`, it accepts the same bits. NULL: every action has exactly `action_bits` bits, and all such
    /// bits are an action.
    pub action_length: Option<unsafe extern "C" fn(context: *mut c_void, data: *const u8, bits: u32) -> u32>,
    /// Needed. Applies a player's action. What is impossible (a unit that is gone) is ignored in the same way on every peer.
    pub apply: Option<unsafe extern "C" fn(context: *mut c_void, player: u32, data: *const u8, bits: u32)>,
    /// Needed. Advances by one frame of 1/`frames_per_second` seconds.
    pub step: Option<unsafe extern "C" fn(context: *mut c_void, frames_per_second: u32)>,
    /// Needed. A hash of the whole state, computed from the state as it is now; changes nothing. See `testudo_hash`.
    pub checksum: Option<unsafe extern "C" fn(context: *mut c_void) -> u64>,
    /// A turn begins, with so many frames; 0 in a pause. Changes nothing.
    pub turn_started: Option<unsafe extern "C" fn(context: *mut c_void, turn: u32, frames: u32)>,
    /// A turn is over, and this is its checksum. Changes nothing.
    pub turn_ended: Option<unsafe extern "C" fn(context: *mut c_void, turn: u32, checksum: u64)>,
    /// From this turn on the player gives no more actions: it left or was dropped.
    pub player_gone: Option<unsafe extern "C" fn(context: *mut c_void, player: u32, turn: u32)>,
    /// The same for a player who has given up. NULL: `player_gone`.
    pub player_surrendered: Option<unsafe extern "C" fn(context: *mut c_void, player: u32, turn: u32)>,
    /// The same for a player for whom a bot plays on. NULL: `player_gone`.
    pub player_taken_over: Option<unsafe extern "C" fn(context: *mut c_void, player: u32, turn: u32)>,
    /// From this turn on a player who was gone is back.
    pub player_returned: Option<unsafe extern "C" fn(context: *mut c_void, player: u32, turn: u32)>,
    /// Plays a turn for a player who was taken over. What the bot does follows from the state alone, because every peer computes it.
    pub play_for: Option<unsafe extern "C" fn(context: *mut c_void, player: u32, turn: u32)>,
    /// Writes the whole state into `out`, which is empty and lent for this call: the library frees it. Needed to let somebody into a running match,
    /// and to jump in replays.
    /// Returns whether it did; if not, what it has written is dropped.
    pub save: Option<unsafe extern "C" fn(context: *mut c_void, out: *mut TestudoBuffer) -> TestudoBool>,
    /// Goes to a saved state, whose bytes are not trusted. Returns whether they are a state of this game; if not, the game stays as it is. Needed to
    /// come to a running match.
    pub load:
        Option<unsafe extern "C" fn(context: *mut c_void, data: *const u8, length: usize) -> TestudoBool>,
    /// The match is saved: keep a copy of the present state. `testudo_match_take_saved` has the rest, soon after. Changes nothing.
    pub save_point: Option<unsafe extern "C" fn(context: *mut c_void, turn: u32)>,
    /// Once the match is decided: puts the result into `out`, a number that the game defines, and returns 1. Asked after each turn. The peers
    /// compare it (`TESTUDO_EVENT_RESULT`). The match goes on.
    pub result: Option<unsafe extern "C" fn(context: *mut c_void, out: *mut u32) -> TestudoBool>,
    /// Whether the next turn is the last one. It follows from the state alone. Asked before each turn.
    pub is_over: Option<unsafe extern "C" fn(context: *mut c_void) -> TestudoBool>,
    /// Names the numbers of the state, all of them in an order that follows from the state: `testudo_visit_object`, `_number`, `_world`, `_crowd`. Changes
    /// nothing. With it, `save` and `load` the peers search after a desync for the first number that differs (`TESTUDO_EVENT_DIFFERENCE`). For that the
    /// match saves its state before each turn and keeps the last 64 of them, or fewer, so that they have at most 64 MiB together. After a desync the search
    /// loads some of them into the game, and then the present state again, all between two turns within `testudo_match_advance`. The program has to take
    /// messages (`testudo_match_poll_message`), also if the game has none: the search comes to a halt while 256 wait.
    pub visit: Option<unsafe extern "C" fn(context: *mut c_void, visit: *mut TestudoVisit)>,
}
plain!(TestudoGame);

/// A game whose needed functions are there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Game {
    game: TestudoGame,
    apply: unsafe extern "C" fn(context: *mut c_void, player: u32, data: *const u8, bits: u32),
    step: unsafe extern "C" fn(context: *mut c_void, frames_per_second: u32),
    checksum: unsafe extern "C" fn(context: *mut c_void) -> u64,
}

// SAFETY: the library calls the game only within calls of its own handle, of which there is one at a time, from any thread.
unsafe impl Send for Game {}

/// The context, for the function that finds the ends of actions.
struct Context(*mut c_void);

// SAFETY: as above.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

impl Game {
    /// # Safety
    /// `game` is NULL, or points to a game whose functions and context are as its docs ask, as long as the result is used.
    pub(crate) unsafe fn read(game: *const TestudoGame) -> Outcome<Self> {
        // SAFETY: the caller's promise.
        let game = unsafe { read(game, "game") }?;
        let needed = (game.apply, game.step, game.checksum);
        let (Some(apply), Some(step), Some(checksum)) = needed else {
            return Err(Failure::null("apply, step or checksum of the game"));
        };
        if !(1..=ACTION_BITS_MAX).contains(&game.action_bits) {
            let words = format!("action_bits must be 1..={ACTION_BITS_MAX}, not {}", game.action_bits);
            return Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
        }
        Ok(Self { game, apply, step, checksum })
    }

    pub(crate) fn action_bits(&self) -> u32 {
        self.game.action_bits
    }

    /// Where the game's actions end.
    pub(crate) fn format(&self) -> ActionFormat {
        let Some(length) = self.game.action_length else { return ActionFormat::fixed(self.action_bits()) };
        let context = Context(self.game.context);
        ActionFormat::variable(self.action_bits(), move |data, bits| {
            // SAFETY: the promise of `read`; the bits can be read.
            unsafe { length(context.pointer(), data.as_ptr(), bits) }
        })
    }

    /// Whether these bits are one action of the game.
    pub(crate) fn has_action(&self, action: &AnyAction) -> bool {
        let (data, bits) = (action.bytes().as_ptr(), action.bit_count());
        let length = || match self.game.action_length {
            None => self.action_bits(),
            // SAFETY: the promise of `read`; the bits can be read.
            Some(length) => unsafe { length(self.game.context, data, bits) },
        };
        (1..=self.action_bits()).contains(&bits) && length() == bits
    }

    /// Whether the game says that the match is over.
    pub(crate) fn is_over(&self) -> bool {
        // SAFETY: the promise of `read`.
        self.game.is_over.is_some_and(|is_over| unsafe { is_over(self.game.context) } != 0)
    }

    /// Whether the game can save and load its state.
    pub(crate) fn has_state(&self) -> bool {
        self.game.save.is_some() && self.game.load.is_some()
    }

    pub(crate) fn checksum(&self) -> u64 {
        // SAFETY: the promise of `read`.
        unsafe { (self.checksum)(self.game.context) }
    }

    fn tell(&self, function: Option<OnPlayer>, player: PlayerId, turn: Turn) {
        let Some(function) = function else { return };
        // SAFETY: the promise of `read`.
        unsafe { function(self.game.context, player.0.into(), turn.0) }
    }

    /// Whether the game has just saved its state, and could load it.
    pub(crate) fn keeps_state(&self) -> bool {
        let mut state = Vec::new();
        self.has_state() && self.write_state(&mut state) && !state.is_empty()
    }

    /// Whether it loads states, but has none for others to load.
    pub(crate) fn only_loads(&self) -> bool {
        self.game.load.is_some() && self.game.save.is_none()
    }

    /// Whether the peers can search for what differs in it.
    pub(crate) fn names_numbers(&self) -> bool {
        self.game.visit.is_some() && self.has_state()
    }

    /// Adds the state, or nothing. Returns whether the game did.
    pub(crate) fn write_state(&self, out: &mut Vec<u8>) -> bool {
        let Some(save) = self.game.save else { return false };
        // SAFETY: the promise of `read`; the buffer is one.
        let save = |buffer: *mut TestudoBuffer| unsafe { save(self.game.context, buffer) } != 0;
        let (is_saved, state) = lend(Vec::new(), save);
        match state {
            Ok(mut state) if is_saved => {
                out.append(&mut state);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn read_state(&self, bytes: &[u8]) -> bool {
        // SAFETY: the promise of `read`; the bytes can be read.
        let load = |load: unsafe extern "C" fn(_, _, _) -> _| unsafe {
            load(self.game.context, bytes.as_ptr(), bytes.len())
        };
        self.game.load.is_some_and(|function| load(function) != 0)
    }
}

impl Simulation for Game {
    type Action = AnyAction;

    fn apply(&mut self, player: PlayerId, action: &AnyAction) {
        let (data, bits) = (action.bytes().as_ptr(), action.bit_count());
        // SAFETY: the promise of `read`; the bits can be read.
        unsafe { (self.apply)(self.game.context, player.0.into(), data, bits) }
    }

    fn step(&mut self, frames_per_second: u32) {
        // SAFETY: the promise of `read`.
        unsafe { (self.step)(self.game.context, frames_per_second) }
    }

    fn checksum(&mut self) -> u64 {
        Self::checksum(self)
    }

    fn turn_started(&mut self, turn: Turn, frames: u32) {
        if let Some(function) = self.game.turn_started {
            // SAFETY: the promise of `read`.
            unsafe { function(self.game.context, turn.0, frames) }
        }
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        if let Some(function) = self.game.turn_ended {
            // SAFETY: the promise of `read`.
            unsafe { function(self.game.context, turn.0, checksum) }
        }
    }

    fn save_point(&mut self, turn: Turn) {
        if let Some(function) = self.game.save_point {
            // SAFETY: the promise of `read`.
            unsafe { function(self.game.context, turn.0) }
        }
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.tell(self.game.player_gone, player, turn);
    }

    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.tell(self.game.player_surrendered.or(self.game.player_gone), player, turn);
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.tell(self.game.player_taken_over.or(self.game.player_gone), player, turn);
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        self.tell(self.game.play_for, player, turn);
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.tell(self.game.player_returned, player, turn);
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        self.write_state(out)
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        self.read_state(bytes)
    }

    fn result(&self) -> Option<u32> {
        let mut value = 0;
        // SAFETY: the promise of `read`; the number can be written.
        let is_decided = unsafe { self.game.result?(self.game.context, &raw mut value) } != 0;
        is_decided.then_some(value)
    }
}

/// For replays: the state is one part.
impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.part(self)
    }
}

impl Part for Game {
    fn digest(&self) -> u64 {
        Self::checksum(self)
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.write_state(out);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let what = match (bytes, self.game.load) {
            (_, None) => "the game has no function `load`",
            ([], _) => "the game has saved no state, or an empty one",
            _ if self.read_state(bytes) => return Ok(()),
            _ => "the game refuses the state",
        };
        Err(StateError::Part { what })
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        let Some(function) = self.game.visit else {
            let value = Self::checksum(self).into();
            return each(Leaf { kind: "game", index: 0, name: "checksum", bits: 0, value });
        };
        // SAFETY: the promise of `read`.
        visited(|visit| unsafe { function(self.game.context, visit) }).into_iter().for_each(each);
    }

    fn flip_bit(&mut self, _: &Leaf, bit: u32) -> Result<(), StateError> {
        Err(StateError::NoSuchBit { bit })
    }
}
