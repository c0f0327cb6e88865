//! A game as C would write it, the same one in Rust, and peers that exchange packets in virtual time.
#![allow(dead_code, reason = "each program of tests uses a part of it")]

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use testudo::*;
use testudo_lockstep::state::{State, StateError, Visit};
use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, PlayerId, Simulation, Turn};

/// Number of turns of a match here.
pub(crate) const TURNS: u32 = 60;

/// A state that remembers every action in the order in which it ran.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    pub(crate) frames: u32,
    pub(crate) history: u64,
    /// The checksum of each turn. Not state.
    pub(crate) checksums: BTreeMap<u32, u64>,
    /// Number of actions that ran. Not state.
    pub(crate) actions: u32,
    /// The state of the last save point. Not state.
    pub(crate) kept: Vec<u8>,
    /// After this frame a bit flips.
    pub(crate) wrong_at: u32,
    /// Whether it names its numbers.
    pub(crate) shows: bool,
    /// How often it was asked to save.
    pub(crate) saves: u32,
    /// At this frame it does not save.
    pub(crate) save_fails_at: u32,
    /// A state of this frame is refused half way.
    pub(crate) load_fails_at: u32,
    /// States from this frame on are refused.
    pub(crate) loads_before: u32,
    /// Frames left in the turn. Not state.
    pub(crate) left: u32,
    /// Number of loads within a turn.
    pub(crate) loads_within: u32,
    /// The match, which a callback calls from within.
    pub(crate) within: *mut TestudoMatch,
    pub(crate) answers: Vec<TestudoStatus>,
}

impl Default for Toy {
    fn default() -> Self {
        Self {
            frames: 0,
            history: 0,
            checksums: BTreeMap::new(),
            actions: 0,
            kept: Vec::new(),
            wrong_at: u32::MAX,
            shows: false,
            saves: 0,
            save_fails_at: u32::MAX,
            load_fails_at: u32::MAX,
            loads_before: u32::MAX,
            left: 0,
            loads_within: 0,
            within: null_mut(),
            answers: Vec::new(),
        }
    }
}

impl Toy {
    fn mix(&mut self, value: u64) {
        self.history = (self.history ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn act(&mut self, player: u32, bits: u32, value: u64) {
        self.actions += 1;
        self.mix(u64::from(player) << 60 | u64::from(bits) << 40 | value);
    }

    fn run(&mut self, frames_per_second: u32) {
        self.frames += 1;
        self.left = self.left.saturating_sub(1);
        self.mix(frames_per_second.into());
        if self.frames == self.wrong_at {
            self.history ^= 1;
        }
    }

    pub(crate) fn state(&self) -> Vec<u8> {
        [&self.frames.to_le_bytes()[..], &self.history.to_le_bytes()].concat()
    }

    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        let Some((frames, rest)) = bytes.split_first_chunk() else { return false };
        let Ok(history) = rest.try_into() else { return false };
        (self.frames, self.history) = (u32::from_le_bytes(*frames), u64::from_le_bytes(history));
        true
    }

    pub(crate) fn checksum(&self) -> u64 {
        // SAFETY: the bytes are there.
        unsafe { testudo_hash(self.state().as_ptr(), 12) }
    }

    /// The game as C has it. The toy must outlive its matches, and is used through them meanwhile.
    pub(crate) fn game(&mut self) -> TestudoGame {
        TestudoGame {
            context: std::ptr::from_mut(self).cast(),
            action_bits: 17,
            action_length: Some(action_length),
            apply: Some(apply),
            step: Some(step),
            checksum: Some(checksum),
            turn_started: Some(turn_started),
            turn_ended: Some(turn_ended),
            player_gone: Some(player_gone),
            player_surrendered: None,
            player_taken_over: None,
            player_returned: Some(player_returned),
            play_for: None,
            save: Some(save),
            load: Some(load),
            save_point: Some(save_point),
            result: Some(result),
            is_over: None,
            visit: if self.shows { Some(visit) } else { None },
        }
    }
}

fn toy<'a>(context: *mut c_void) -> &'a mut Toy {
    // SAFETY: the context of these tests is a toy, and only callbacks use it while they run.
    unsafe { &mut *context.cast() }
}

/// Nine bits that begin with 0, or 17 that begin with 1; the number in the rest is not above 250.
unsafe extern "C" fn action_length(_: *mut c_void, data: *const u8, bits: u32) -> u32 {
    // SAFETY: at least one bit is there.
    let first = unsafe { *data };
    let length = if first & 1 == 0 { 9 } else { 17 };
    if bits < length {
        return 0;
    }
    // SAFETY: nine bits are there.
    let value = first >> 1 | unsafe { *data.add(1) } << 7;
    if value > 250 { 0 } else { length }
}

unsafe extern "C" fn apply(context: *mut c_void, player: u32, data: *const u8, bits: u32) {
    // SAFETY: the bits are there.
    let bytes = unsafe { std::slice::from_raw_parts(data, bits.div_ceil(8) as usize) };
    let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    toy(context).act(player, bits, value);
}

unsafe extern "C" fn step(context: *mut c_void, frames_per_second: u32) {
    let toy = toy(context);
    toy.run(frames_per_second);
    if !toy.within.is_null() {
        // SAFETY: the match is one, and says that it is in use.
        toy.answers = unsafe {
            testudo_match_free(toy.within);
            vec![
                testudo_match_submit(toy.within, [0, 0].as_ptr(), 9),
                testudo_match_advance(toy.within, 0, null_mut()),
                -testudo_match_poll_event(toy.within, &mut EVENT.clone()),
                testudo_match_handle_packet(toy.within, 0, 0, null(), 0),
            ]
        };
    }
}

unsafe extern "C" fn checksum(context: *mut c_void) -> u64 {
    toy(context).checksum()
}

unsafe extern "C" fn turn_started(context: *mut c_void, _: u32, frames: u32) {
    toy(context).left = frames;
}

unsafe extern "C" fn turn_ended(context: *mut c_void, turn: u32, checksum: u64) {
    toy(context).checksums.insert(turn, checksum);
}

unsafe extern "C" fn player_gone(context: *mut c_void, player: u32, _: u32) {
    toy(context).mix(100 + u64::from(player));
}

unsafe extern "C" fn player_returned(context: *mut c_void, player: u32, _: u32) {
    toy(context).mix(200 + u64::from(player));
}

unsafe extern "C" fn save(context: *mut c_void, out: *mut TestudoBuffer) -> TestudoBool {
    let toy = toy(context);
    let state = toy.state();
    toy.saves += 1;
    if toy.frames == toy.save_fails_at {
        return 0;
    }
    // SAFETY: the bytes are there, and the buffer is one.
    unsafe { (testudo_buffer_append(out, state.as_ptr(), state.len()) == TESTUDO_OK).into() }
}

unsafe extern "C" fn load(context: *mut c_void, data: *const u8, length: usize) -> TestudoBool {
    let toy = toy(context);
    toy.loads_within += u32::from(toy.left > 0);
    let mut other = Toy::default();
    // SAFETY: the bytes are there.
    if !other.restore(unsafe { std::slice::from_raw_parts(data, length) }) || other.frames >= toy.loads_before
    {
        return 0;
    }
    toy.history = other.history;
    if other.frames == toy.load_fails_at {
        return 0;
    }
    toy.frames = other.frames;
    1
}

unsafe extern "C" fn save_point(context: *mut c_void, _: u32) {
    toy(context).kept = toy(context).state();
}

unsafe extern "C" fn result(context: *mut c_void, out: *mut u32) -> TestudoBool {
    // SAFETY: it can be written.
    unsafe { *out = 7 };
    (toy(context).frames > 40).into()
}

unsafe extern "C" fn visit(context: *mut c_void, visit: *mut TestudoVisit) {
    let toy = toy(context);
    // SAFETY: the visit is one, and the names are texts.
    let shown = unsafe {
        [
            testudo_visit_object(visit, c"toy".as_ptr(), 3),
            testudo_visit_number(visit, c"frames".as_ptr(), toy.frames.into()),
            testudo_visit_number(visit, c"history".as_ptr(), toy.history as i64),
        ]
    };
    assert_eq!(shown, [TESTUDO_OK; 3], "{}", words());
}

/// An event that says nothing.
pub(crate) const EVENT: TestudoEvent =
    TestudoEvent { kind: 0, turn: 0, peer: 0, player: 0, other: 0, players: 0, number: 0, values: [0; 16] };

// ---- the same game in Rust, with a type of actions

/// The two lengths of actions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Short(u8),
    Long(u8, u8),
}

impl Action for Order {
    const MAX_BITS: u32 = 17;

    fn encode(&self, out: &mut BitWriter) {
        let (Self::Short(value) | Self::Long(value, _)) = *self;
        out.write_bool(matches!(self, Self::Long(..)));
        out.write_bits(value.into(), 8);
        if let Self::Long(_, more) = *self {
            out.write_bits(more.into(), 8);
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let is_long = input.read_bool()?;
        let value = input.read_max(8, 250)? as u8;
        Ok(if is_long { Self::Long(value, input.read_bits(8)? as u8) } else { Self::Short(value) })
    }
}

impl Order {
    /// What a player gives in a turn: none to three actions.
    pub(crate) fn all(turn: u32, player: u32) -> Vec<Self> {
        let order = |at: u32| match (turn + at + player) % 3 {
            0 => Self::Long((turn + at) as u8, player as u8 + 9),
            _ => Self::Short((turn * 3 + player) as u8),
        };
        let count = if turn + 4 < TURNS { (turn + player) % 4 } else { 0 };
        (0..count).map(order).collect()
    }

    pub(crate) fn bits(self) -> (Vec<u8>, u32) {
        let mut out = BitWriter::new();
        self.encode(&mut out);
        (out.bytes().to_vec(), out.bit_count())
    }
}

/// The toy as a game in Rust.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed(pub(crate) Toy);

impl Simulation for Typed {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        let (bytes, bits) = order.bits();
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        self.0.act(player.0.into(), bits, value);
    }

    fn step(&mut self, frames_per_second: u32) {
        self.0.run(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        Toy::checksum(&self.0)
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        self.0.checksums.insert(turn.0, checksum);
    }

    fn result(&self) -> Option<u32> {
        (self.0.frames > 40).then_some(7)
    }
}

impl State for Typed {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("frames", &mut self.0.frames)?;
        v.number("history", &mut self.0.history)
    }
}

// ---- peers

/// Settings of a match of so many players: turns of two frames.
pub(crate) fn config(players: u32) -> TestudoConfig {
    let mut config = testudo_config(players);
    (config.session_id, config.content_hash, config.rules_version) = (77, 5, 3);
    (config.turns.count, config.turns.frames_per_turn, config.turns.actions_max) = (TURNS, 2, 3);
    config.own.entropy = [9; 16];
    config
}

/// The defaults.
pub(crate) fn testudo_config(players: u32) -> TestudoConfig {
    // SAFETY: a place of `filled`.
    filled(|config| unsafe { testudo_config_default(players, config) })
}

/// What a call fills in.
pub(crate) fn filled<T>(fill: impl FnOnce(*mut T) -> TestudoStatus) -> T {
    let mut place = std::mem::MaybeUninit::uninit();
    assert_eq!(fill(place.as_mut_ptr()), TESTUDO_OK, "{}", words());
    // SAFETY: it is filled in.
    unsafe { place.assume_init() }
}

/// A recording of these rules, and what it says of itself.
pub(crate) fn read(file: &[u8], rules_version: u32) -> (*mut TestudoReplay, TestudoReplayInfo) {
    // SAFETY: all of it is there.
    unsafe {
        let replay = filled(|out| testudo_replay_read(file.as_ptr(), file.len(), rules_version, out));
        (replay, filled(|out| testudo_replay_info(replay, out)))
    }
}

/// The words of the last failure.
pub(crate) fn words() -> String {
    // SAFETY: it is a text.
    unsafe { CStr::from_ptr(testudo_error()) }.to_str().expect("UTF-8").to_owned()
}

/// The bytes of a buffer.
pub(crate) fn bytes_of(buffer: *mut TestudoBuffer) -> Vec<u8> {
    // SAFETY: the buffer is one.
    unsafe { std::slice::from_raw_parts(testudo_buffer_data(buffer), testudo_buffer_length(buffer)).to_vec() }
}

/// Packets on their way to a node, with their senders.
pub(crate) type Inbox = VecDeque<(u32, Vec<u8>)>;

/// The packets for each node.
pub(crate) type Net = [Inbox];

/// A peer that calls the library as a program in C does. Its number is its player.
pub(crate) struct Peer {
    pub(crate) toy: Box<Toy>,
    pub(crate) handle: *mut TestudoMatch,
    pub(crate) buffer: *mut TestudoBuffer,
    pub(crate) node: u32,
    pub(crate) events: Vec<(TestudoEvent, String)>,
    pub(crate) replay: Vec<u8>,
    /// Number of actions that its match has accepted.
    pub(crate) accepted: u32,
    given: u32,
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: they are not used any more.
        unsafe {
            testudo_match_free(self.handle);
            testudo_buffer_free(self.buffer);
        }
    }
}

impl Peer {
    /// A peer around a match that exists, or will.
    pub(crate) fn around(toy: Box<Toy>, handle: *mut TestudoMatch, node: u32) -> Self {
        let buffer = testudo_buffer_new();
        Self { toy, handle, buffer, node, events: Vec::new(), replay: Vec::new(), accepted: 0, given: 0 }
    }

    /// A peer around a match that a call makes of the toy.
    pub(crate) fn made(
        mut toy: Box<Toy>,
        node: u32,
        make: impl FnOnce(&TestudoGame, &mut *mut TestudoMatch) -> TestudoStatus,
    ) -> Self {
        let mut handle = null_mut();
        assert_eq!(make(&toy.game(), &mut handle), TESTUDO_OK, "{}", words());
        Self::around(toy, handle, node)
    }

    /// The host, or a player who joins node 0.
    pub(crate) fn new(config: &TestudoConfig, toy: Box<Toy>, node: u32, now: u64) -> Self {
        // SAFETY: all of it is there.
        Self::made(toy, node, |game, handle| unsafe {
            match node {
                0 => testudo_match_host(config, game, now, handle),
                _ => testudo_match_join(config, game, node, 0, now, handle),
            }
        })
    }

    /// A watcher of node 0.
    pub(crate) fn watching(config: &TestudoConfig, toy: Box<Toy>, node: u32) -> Self {
        // SAFETY: all of it is there.
        Self::made(toy, node, |game, handle| unsafe { testudo_match_watch(config, game, 0, 0, handle) })
    }

    /// The only player of its match.
    pub(crate) fn alone(config: &TestudoConfig, toy: Box<Toy>) -> Self {
        // SAFETY: all of it is there.
        Self::made(toy, 0, |game, handle| unsafe { testudo_match_single(config, game, 0, handle) })
    }

    /// Takes the packets that have come, and does the rest of the round.
    pub(crate) fn round(&mut self, net: &mut Net, now: u64) {
        // SAFETY: all of it is there.
        unsafe {
            while let Some((from, packet)) = net[self.node as usize].pop_front() {
                testudo_match_handle_packet(self.handle, now, from, packet.as_ptr(), packet.len());
            }
            assert_eq!(testudo_match_advance(self.handle, now, null_mut()), TESTUDO_OK, "{}", words());
            let mut to = 0;
            while testudo_match_poll_packet(self.handle, now, self.buffer, &mut to) == 1 {
                if let Some(inbox) = net.get_mut(to as usize) {
                    inbox.push_back((self.node, bytes_of(self.buffer)));
                }
            }
        }
        self.after();
    }

    pub(crate) fn submit(&mut self, order: Order) {
        let (bytes, bits) = order.bits();
        // SAFETY: the match is one, and the bits are there.
        let status = unsafe { testudo_match_submit(self.handle, bytes.as_ptr(), bits) };
        self.accepted += u32::from(status == TESTUDO_OK);
    }

    /// Gives actions of a turn that has come near, and takes what was recorded and events.
    pub(crate) fn after(&mut self) {
        // SAFETY: all of it is there.
        unsafe {
            let turn = testudo_match_turn(self.handle);
            if turn > self.given && testudo_match_may_submit(self.handle) == TESTUDO_OK {
                self.given = turn;
                Order::all(turn, self.node).into_iter().for_each(|order| self.submit(order));
            }
            // First: it must have what the events say.
            testudo_buffer_clear(self.buffer);
            testudo_match_take_replay(self.handle, self.buffer);
            self.replay.extend(bytes_of(self.buffer));
            let mut event = EVENT;
            while testudo_match_poll_event(self.handle, &mut event) == 1 {
                let words = CStr::from_ptr(testudo_match_event_words(self.handle));
                self.events.push((event, words.to_str().expect("UTF-8").to_owned()));
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        // SAFETY: the match is one.
        unsafe { testudo_match_is_over(self.handle) != 0 }
    }

    pub(crate) fn turn(&self) -> u32 {
        // SAFETY: the match is one.
        unsafe { testudo_match_turn(self.handle) }
    }

    /// The events of a kind.
    pub(crate) fn of(&self, kind: u32) -> Vec<&(TestudoEvent, String)> {
        self.events.iter().filter(|(event, _)| event.kind == kind).collect()
    }

    /// It has come to the end, and nothing went wrong.
    pub(crate) fn assert_well(&self) {
        // SAFETY: the match is one.
        let phase = unsafe { testudo_match_phase(self.handle) };
        assert_eq!(phase, TESTUDO_PHASE_FINISHED, "{:?}", self.events);
        assert_eq!(self.of(TESTUDO_EVENT_DESYNC).len(), 0, "{:?}", self.events);
    }
}

/// Peers of a match, of which the first is the host, and a network.
pub(crate) fn peers(config: &TestudoConfig) -> (Vec<Peer>, Vec<Inbox>) {
    let peers = (0..config.sides.players).map(|node| Peer::new(config, Box::default(), node, 0)).collect();
    (peers, vec![VecDeque::new(); config.sides.players as usize])
}

/// Rounds of all peers, until the condition holds.
pub(crate) fn play(peers: &mut [Peer], net: &mut Net, now: &mut u64, mut done: impl FnMut(&[Peer]) -> bool) {
    for _ in 0..20_000 {
        if done(peers) {
            return;
        }
        *now += 10_000;
        peers.iter_mut().for_each(|peer| peer.round(net, *now));
    }
    panic!("no end: {:?}", peers.iter().map(|peer| &peer.events).collect::<Vec<_>>());
}

/// The same, to the end of the match.
pub(crate) fn play_to_end(peers: &mut [Peer], net: &mut Net, now: &mut u64) {
    play(peers, net, now, |peers| peers.iter().all(Peer::is_over));
}
