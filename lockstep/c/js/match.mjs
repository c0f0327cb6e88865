// Lockstep: the game as an object that the library calls, and one peer's part of a match. What each function means: testudo.h.
import {
  address, array, asBytes, bool, bytesAt, call, callback, exports, flag, fromUtf8, room, struct, textAt, toUtf8, u32, u64, u8, withBytes,
} from "./memory.mjs";
import { Buffer, TestudoError, check, counted, filled, out } from "./world.mjs";

/** Who somebody is, where it is no player. */
export const WATCHER = 254;
export const NOBODY = 255;
export const NO_PEER = 0xffff_ffff;
/** A time in settings that never comes. */
export const NEVER = 0xffff_ffff;
// Numbers in settings: `topology`, `turns.pace`, `controls.who`; and of `resign`.
export const Topology = Object.freeze({ HOST: 0, RELAY: 1, MESH: 2 });
export const Pace = Object.freeze({ FIXED: 0, ADAPTIVE: 1, ARTICLE: 2 });
export const Controls = Object.freeze({ EVERYBODY: 0, MAJORITY: 1, HOST: 2 });
export const Successor = Object.freeze({ AS_CONFIGURED: 0, NOBODY: 1, BOT: 2 });
export const Phase = Object.freeze({ LOBBY: 0, RUNNING: 1, ENDING: 2, FINISHED: 3, LEFT: 4, FAILED: 5, NONE: 255 });
/** To whom a message goes: one of these, or the number of a player. */
export const To = Object.freeze({ EVERYBODY: 256, MIDDLE: 257 });
export const EventKind = Object.freeze({
  LOST: 1, CONNECTED: 2, REFUSED: 3, FORGED: 4, PROFILE: 5, UNDELIVERED: 6, STARTED: 7, WAITING_FOR: 8, CUT_OFF: 9, WAITING_OVER: 10, OFTEN_LATE: 11,
  TOO_FAR_AHEAD: 12, VOTE: 13, SPEED: 14, DESYNC: 15, CHECKSUM_MISSING: 16, PLAYER_GONE: 17, TAKEN_OVER: 18, TEAM_OUT: 19, RESULT: 20, PAUSED: 21,
  SAVE_POINT: 22, SAVED: 23, PLAN: 24, CANCELLED: 25, WATCHER_GONE: 26, STATE_PROGRESS: 27, STATE_REFUSED: 28, WRONG_STATE: 29, JOINED: 30, CAUGHT_UP: 31,
  PLAYER_RETURNED: 32, JOIN_FAILED: 33, FINISHED: 34, FAILED: 35, DIFFERENCE: 36, OTHER: 255,
});

const pointer = u32; // of this library: 32 bits
const sides = struct({ players: u32, host_player: u32, teams: array(u8, 16), bots_take_over: bool, rotate_players: bool });
const turns = struct({
  frames_per_second: u32, frames_per_turn: u32, turns_ahead: u32, count: u32, pace: u32, actions_max: u32, bytes_max: u32, checksum_interval: u32,
});
const controls = struct({ who: u32, pauses_max: u32, pause_max_ms: u32, speed_changes_max: u32 });
const arrivals = struct({
  watchers_max: u32, late_watchers: u32, late_joins_ms: u32, watch_delay_ms: u32, watchers_min: u32, state_bytes_max: u32, state_rate: u32,
  join_timeout_ms: u32,
});
const waits = struct({
  drop_after_ms: u32, connect_timeout_ms: u32, lobby_timeout_ms: u32, silence_timeout_ms: u32, waiting_notice_ms: u32, linger_ms: u32,
});
const own = struct({
  entropy: array(u8, 16), place_secret: array(u8, 16), saved: pointer, saved_length: u32, queue_max: u32, catch_up_frames: u32, playout_ms: u32,
  records: bool,
});
const config = struct({
  session_id: u64, content_hash: u64, game_data: pointer, game_length: u32, rules_version: u32, engine_version: u32, topology: u32, sides, turns, controls,
  arrivals, waits, own,
});
const advance = struct({ frames: u32, turns: u32, stalled: bool });
const event = struct({ kind: u32, turn: u32, peer: u32, player: u32, other: u32, players: u32, number: u64, values: array(u64, 16) });
const stats = struct({
  packets_sent: u64, bytes_sent: u64, packets_received: u64, bytes_received: u64, packets_malformed: u64, packets_unexpected: u64, entries_received: u64,
  entries_repeated: u64, entries_invalid: u64, stalled_frames: u64, turns_begun: u64, drops: u64, events_lost: u64,
});

/** Structures by their names in testudo.h. `Config`, `Own` and the game have pointers in them, which are smaller here. */
export const layouts = {
  Sides: sides, Turns: turns, Controls: controls, Arrivals: arrivals, Waits: waits, Advance: advance, Event: event, MatchStats: stats,
};

// ---- The game

/** Games that the library can call, by the number that it has as their context. */
const games = new Map();
let nextGame = 1;

const bits = (pointer, count) => bytesAt(pointer, (count + 7) >> 3);
const wrapped = (pointer) => Object.assign(Object.create(Buffer.prototype), { pointer });
const natural = (number) => number >>> 0;
/** To whom a game shows its numbers, within its function `visit` only. */
const numbersTo = (lent) => {
  const named = (name, run) => withBytes(toUtf8(`${name}\0`), (at) => check(run(at)));
  return {
    object: (kind, index) => named(kind, (at) => exports().testudo_visit_object(lent.pointer, at, index)),
    number: (name, value) => named(name, (at) => exports().testudo_visit_number(lent.pointer, at, BigInt.asIntN(64, BigInt(value)))),
    world: (world) => check(exports().testudo_visit_world(lent.pointer, world.pointer)),
    crowd: (crowd) => check(exports().testudo_visit_crowd(lent.pointer, crowd.pointer)),
  };
};
/** Runs something with what is the library's, and goes with this call: whoever keeps it is refused afterwards. */
function lend(lent, run) {
  try {
    return run(lent);
  } finally {
    lent.pointer = 0;
  }
}
// What a function of the game has returned, as the library takes it.
/** A forgotten `return` would be a zero on all peers alike: no desync would ever be seen. */
function returned(value, name) {
  if (value === undefined || value === null) throw new TypeError(`${name} of the game has returned ${value}`);
  return value;
}
/** The bytes are a stranger's: what is no number of these bits is no action. */
function lengthOf(value, data, count) {
  const bits = Number(returned(value, "actionLength"));
  return Number.isInteger(bits) && bits >= 0 && bits <= natural(count) ? bits : 0;
}
const sumOf = (value) => BigInt.asIntN(64, BigInt(returned(value, "checksum")));
const unlessFalse = (value) => (value === false ? 0 : 1);
const isTrue = (value) => (value ? 1 : 0);
function resultOf(value, to) {
  if (value === null || value === undefined) return 0;
  u32.write(address(to), value);
  return 1;
}
const nothing = () => 0;

/** For each function: the types of its arguments and of its result, the call of the game's, and its answer. */
const callbacks = {
  action_length: [["i32", "i32", "i32"], "i32", (game, data, count) => game.actionLength(bits(data, count), natural(count)), lengthOf],
  apply: [["i32", "i32", "i32", "i32"], null, (game, player, data, count) => game.apply(player, bits(data, count), natural(count))],
  step: [["i32", "i32"], null, (game, framesPerSecond) => game.step(natural(framesPerSecond))],
  checksum: [["i32"], "i64", (game) => game.checksum(), sumOf],
  turn_started: [["i32", "i32", "i32"], null, (game, turn, frames) => game.turnStarted(natural(turn), natural(frames))],
  turn_ended: [["i32", "i32", "i64"], null, (game, turn, checksum) => game.turnEnded(natural(turn), BigInt.asUintN(64, checksum))],
  player_gone: [["i32", "i32", "i32"], null, (game, player, turn) => game.playerGone(player, natural(turn))],
  player_surrendered: [["i32", "i32", "i32"], null, (game, player, turn) => game.playerSurrendered(player, natural(turn))],
  player_taken_over: [["i32", "i32", "i32"], null, (game, player, turn) => game.playerTakenOver(player, natural(turn))],
  player_returned: [["i32", "i32", "i32"], null, (game, player, turn) => game.playerReturned(player, natural(turn))],
  play_for: [["i32", "i32", "i32"], null, (game, player, turn) => game.playFor(player, natural(turn))],
  save: [["i32", "i32"], "i32", (game, pointer) => lend(wrapped(pointer), (buffer) => game.save(buffer)), unlessFalse],
  load: [["i32", "i32", "i32"], "i32", (game, data, length) => game.load(bytesAt(data, length)), unlessFalse],
  save_point: [["i32", "i32"], null, (game, turn) => game.savePoint(natural(turn))],
  result: [["i32", "i32"], "i32", (game) => game.result(), resultOf],
  is_over: [["i32"], "i32", (game) => game.isOver(), isTrue],
  visit: [["i32", "i32"], null, (game, pointer) => lend({ pointer }, (lent) => game.visit(numbersTo(lent)))],
};
const methodOf = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const table = struct({ context: pointer, action_bits: u32, ...Object.fromEntries(Object.keys(callbacks).map((name) => [name, u32])) });

/** What reads bytes of strangers: there a refusal of the library, as of `World.load`, is the answer "no". */
const readers = new Set(["action_length", "load"]);

/** Places in the library's table, made once for all games. */
const places = {};
function place(name) {
  const [parameters, result, run, answer = nothing] = callbacks[name];
  const none = result === "i64" ? 0n : 0;
  places[name] ??= callback(parameters, result, (context, ...values) => {
    const entry = games.get(context);
    if (!entry) return none;
    entry.depth++;
    try {
      const value = run(entry.game, ...values);
      // The rest of it would run after the turn, and nobody waits for what it returns.
      if (typeof value?.then === "function") throw new TypeError(`${methodOf(name)} of the game must not be async`);
      return answer(value, ...values);
    } catch (error) {
      // It must not fly through the library: whoever called gets it after the call.
      if (!(readers.has(name) && error instanceof TestudoError)) entry.thrown ??= { error };
      return none;
    } finally {
      entry.depth--;
    }
  });
  return places[name];
}

function gameAt(context, game) {
  const at = room(table.size);
  const known = Object.keys(callbacks).filter((name) => typeof game[methodOf(name)] === "function");
  table.write(at, { context, action_bits: game.actionBits, ...Object.fromEntries(known.map((name) => [name, place(name)])) });
  return at;
}

// ---- The match

/** One peer's part of a match. Whoever makes one calls `free` in the end. */
export class Match {
  #context = nextGame++;
  #events = new Buffer();
  #told = [];
  #piece = null;

  /** Of one player alone, without a network. */
  static single(settings, game, nowUs = now()) {
    return new Match(settings, game, (c, at, table, to) => c.testudo_match_single(at, table, nowUs, to));
  }
  static host(settings, game, nowUs = now()) {
    return new Match(settings, game, (c, at, table, to) => c.testudo_match_host(at, table, nowUs, to));
  }
  /** `peer`: the number that packets from the host have in `handlePacket`. */
  static join(settings, game, player, peer = 0, nowUs = now()) {
    return new Match(settings, game, (c, at, table, to) => c.testudo_match_join(at, table, player, peer, nowUs, to));
  }
  static watch(settings, game, peer = 0, nowUs = now()) {
    return new Match(settings, game, (c, at, table, to) => c.testudo_match_watch(at, table, peer, nowUs, to));
  }

  /**
   * Use one of the four functions above. `settings` is TestudoConfig and names what is not default; it must have `sides: { players }`. Bytes are given as
   * arrays: `game_data`, `own: { saved }`.
   */
  constructor({ game_data: data = [], own: { saved = [], ...local } = {}, ...settings }, game, make) {
    games.set(this.#context, { game, thrown: null, depth: 0 });
    const fill = (at) => {
      check(exports().testudo_config_default(settings.sides.players, at));
      // Random and secret, new for each match.
      config.write(at, { own: { entropy: globalThis.crypto.getRandomValues(new Uint8Array(16)) } });
    };
    const begin = (data, length, saved, count) =>
      call((c) => {
        const given = { ...settings, game_data: length && data, game_length: length, own: { ...local, saved: count && saved, saved_length: count } };
        return out(u32, (to) => make(c, filled(config, fill, given), gameAt(this.#context, game), to));
      });
    try {
      this.pointer = withBytes(data, (at, length) => withBytes(saved, (bytes, count) => begin(at, length, bytes, count)));
      this.#done(0);
    } catch (failure) {
      const error = games.get(this.#context).thrown?.error ?? failure;
      if (this.pointer) exports().testudo_match_free(this.pointer);
      games.delete(this.#context);
      this.#events.free();
      throw error;
    }
  }
  /** Not from within a function of its own game. */
  free() {
    if (games.get(this.#context)?.depth > 0) throw new Error("a function of the game cannot free the match that has called it");
    exports().testudo_match_free(this.pointer);
    this.#events.free();
    games.delete(this.#context);
    this.pointer = 0;
  }

  // ---- The round: packets in, advance, packets out, events

  connect(peer) {
    check(exports().testudo_match_connect(this.pointer, peer));
  }
  /** Any value is allowed, since a stranger may have sent it: what is no packet is counted as malformed. */
  handlePacket(peer, packet, nowUs = now()) {
    this.#done(withBytes(packetOf(packet), (at, length) => exports().testudo_match_handle_packet(this.pointer, nowUs, peer, at, length)));
  }
  /** Runs the frames that are due: { frames, turns, stalled }. */
  advance(nowUs = now()) {
    return call((c) => {
      const at = room(advance.size);
      this.#done(c.testudo_match_advance(this.pointer, nowUs, at));
      return advance.read(at);
    });
  }
  /** The packets that are to be sent now: [{ peer, bytes }]. */
  packets(nowUs = now()) {
    const packets = [];
    call((c) => {
      const peer = room(4);
      while (this.#counted(c.testudo_match_poll_packet(this.pointer, nowUs, this.#events.pointer, peer)) === 1) {
        packets.push({ peer: u32.read(peer), bytes: this.#events.bytes() });
      }
    });
    return packets;
  }
  /** At the end of a round: microseconds of work in it, without waits. */
  noteWork(simulatedUs, drawnUs) {
    // Of a page's clock: with a fraction, and it may have been set back a little.
    const us = (time) => BigInt(Math.max(0, Math.round(Number(time))));
    check(exports().testudo_match_note_work(this.pointer, us(simulatedUs), us(drawnUs)));
  }
  /** When to run the next round unless a packet comes before: microseconds, or null. */
  nextCall() {
    return call((c) => {
      const at = room(8);
      return counted(c.testudo_match_next_call(this.pointer, at)) === 1 ? u64.read(at) : null;
    });
  }
  /** What has happened: `kind` is one of `EventKind`, `words` say it in English. */
  events() {
    call((c) => {
      const at = room(event.size);
      for (let count = 1; count === 1; this.#counted(count)) {
        count = c.testudo_match_poll_event(this.pointer, at);
        // What the game throws meanwhile takes none away: they come with the next call.
        if (count === 1) this.#told.push({ ...event.read(at), words: textAt(c.testudo_match_event_words(this.pointer)) });
      }
    });
    return this.#told.splice(0);
  }

  // ---- Orders of the local player

  submit(bytes, bits) {
    const data = asBytes(bytes);
    if (!(bits <= 8 * data.length)) throw new RangeError(`${data.length} bytes do not have ${bits} bits`);
    this.#done(withBytes(data, (at) => exports().testudo_match_submit(this.pointer, at, bits)));
  }
  maySubmit() {
    return exports().testudo_match_may_submit(this.pointer) === 0;
  }

  // ---- Where the match is

  get phase() {
    return exports().testudo_match_phase(this.pointer);
  }
  get isOver() {
    return exports().testudo_match_is_over(this.pointer) !== 0;
  }
  get player() {
    return exports().testudo_match_player(this.pointer);
  }
  /** The next turn to run. */
  get turn() {
    return natural(exports().testudo_match_turn(this.pointer));
  }
  get frame() {
    return natural(exports().testudo_match_frame(this.pointer));
  }
  /** Between the last two frames, 0 to 65,536: for drawing. */
  alpha(nowUs = now()) {
    return exports().testudo_match_alpha(this.pointer, nowUs);
  }
  get isPaused() {
    return exports().testudo_match_is_paused(this.pointer) !== 0;
  }
  get isCatchingUp() {
    return exports().testudo_match_is_catching_up(this.pointer) !== 0;
  }
  /** Numbers of players. */
  get missingPlayers() {
    return numbersOf(exports().testudo_match_missing_players(this.pointer));
  }
  get presentPlayers() {
    return numbersOf(exports().testudo_match_present_players(this.pointer));
  }
  get readyPlayers() {
    return numbersOf(exports().testudo_match_ready_players(this.pointer));
  }
  stats() {
    return call((c) => out(stats, (at) => c.testudo_match_stats(this.pointer, at)));
  }

  // ---- What the local player wants

  pause(yes) {
    check(exports().testudo_match_pause(this.pointer, flag(yes)));
  }
  setSpeed(percent) {
    check(exports().testudo_match_set_speed(this.pointer, percent));
  }
  setReady(yes) {
    check(exports().testudo_match_set_ready(this.pointer, flag(yes)));
  }
  /** What a player shows of itself: bytes. */
  profile(player) {
    return Buffer.of((buffer) => check(exports().testudo_match_profile(this.pointer, player, buffer.pointer)));
  }
  setProfile(player, bytes) {
    withBytes(bytes, (at, length) => check(exports().testudo_match_set_profile(this.pointer, player, at, length)));
  }
  /** `to`: a player, or one of `To`. A text, or bytes. */
  sendMessage(to, message) {
    const bytes = typeof message === "string" ? toUtf8(message) : message;
    withBytes(bytes, (at, length) => check(exports().testudo_match_send_message(this.pointer, to, at, length)));
  }
  /** What has been said: [{ from, bytes, text }]. */
  messages() {
    const messages = [];
    call((c) => {
      const from = room(4), peer = room(4);
      while (counted(c.testudo_match_poll_message(this.pointer, from, peer, this.#events.pointer)) === 1) {
        const bytes = this.#events.bytes();
        messages.push({ from: u32.read(from), bytes, text: fromUtf8(bytes) });
      }
    });
    return messages;
  }
  voteOut(player, yes = true) {
    check(exports().testudo_match_vote_out(this.pointer, player, yes ? 1 : 0));
  }
  kick(player) {
    check(exports().testudo_match_kick(this.pointer, player));
  }
  /** `successor`: one of `Successor`. */
  resign(successor = Successor.AS_CONFIGURED) {
    check(exports().testudo_match_resign(this.pointer, successor));
  }
  leave() {
    this.#done(exports().testudo_match_leave(this.pointer));
  }
  /** Asks for a save; `takeSaved` after the event `SAVED`. */
  save() {
    check(exports().testudo_match_save(this.pointer));
  }
  takeSaved() {
    return Buffer.of((buffer) => check(exports().testudo_match_take_saved(this.pointer, buffer.pointer)));
  }
  /** What was recorded since the last call, with `own: { records: true }`: append it to the file. Look at `replayFile` before: another number, another file. */
  takeReplay() {
    const file = this.#file(), kept = this.#piece;
    if (kept === null || kept.file === file) {
      let status;
      const bytes = Buffer.of((buffer) => {
        if (kept !== null) buffer.append(kept.bytes);
        status = exports().testudo_match_take_replay(this.pointer, buffer.pointer);
      });
      // What the game throws meanwhile does not take the piece away: it comes with the next call.
      if (status === 0) this.#piece = { file, bytes };
      this.#done(status);
    }
    const { bytes } = this.#piece;
    this.#piece = null;
    return bytes;
  }
  /** Which file the next piece belongs to: 0, and one more each time that a state was loaded. */
  get replayFile() {
    return this.#piece?.file ?? this.#file();
  }
  #file() {
    return natural(exports().testudo_match_replay_file(this.pointer));
  }
  finishReplay() {
    this.#done(exports().testudo_match_finish_replay(this.pointer));
  }

  /** What the game has thrown meanwhile, or what the library says. */
  #done(status) {
    const entry = games.get(this.#context);
    if (entry?.thrown) {
      const { error } = entry.thrown;
      entry.thrown = null;
      throw error;
    }
    check(status);
  }
  #counted(count) {
    this.#done(Math.max(-count, 0));
    return count;
  }
}

/** No datagram is longer. Where messages have no such limit, a great one would be copied first. */
const DATAGRAM_MAX = 65_535;
/** A packet as bytes: none if it is none, as a text message of a WebSocket. */
function packetOf(given) {
  try {
    return (given?.byteLength ?? given?.length) <= DATAGRAM_MAX ? asBytes(given) : [];
  } catch {
    return [];
  }
}

const numbersOf = (set) => Array.from({ length: 16 }, (_, player) => player).filter((player) => (set >>> player) & 1);

/** The time of a clock that never goes back, in microseconds. */
export const now = () => BigInt(Math.round(performance.now() * 1_000));
