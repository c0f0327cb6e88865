// What the classes for JavaScript do when a game or a caller is wrong. TESTUDO_WASM names the library.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import {
  Buffer, Kind, Match, NEVER, ONE, Phase, TestudoError, World, atan2, circle, cos, div, fx, hash, init, length, mul, sin, sqrt,
} from "../../lockstep/c/js/testudo.mjs";

const first = init(readFile(process.env.TESTUDO_WASM));
assert.equal(init(null), first);
await first;

class Game {
  actionBits = 9;
  frames = 0n;
  apply() {}
  step() {
    this.frames++;
    this.within?.();
  }
  checksum() {
    return this.sum ?? this.frames;
  }
}
const settings = { sides: { players: 1 }, turns: { count: 4 } };
const begin = (game, more = {}) => Match.single({ ...settings, ...more }, game, 0n);
/** Runs a match until it is over, or a call throws. */
function run(match) {
  for (let now = 0n; !match.isOver && now < 60_000_000n; now += 10_000n) {
    match.advance(now);
    match.events();
    match.noteWork(100, 200n);
    match.noteWork(12.5, -1); // differences of performance.now(), a thousand times
  }
  assert.equal(match.phase, Phase.FINISHED);
}
const fine = (game) => {
  const match = begin(game);
  run(match);
  match.free();
  match.free();
};

fine(new Game());
// A result that is none of the library's comes out of the call as an error, and -1n is all bits.
fine(Object.assign(new Game(), { sum: -1n, result: () => 7.5, isOver: () => undefined }));
for (const sum of [1.5, "x", {}]) assert.throws(() => fine(Object.assign(new Game(), { sum })), /BigInt|integer/);
assert.throws(() => fine(Object.assign(new Game(), { within: () => { throw new Error("mine"); } })), /mine/);
// A checksum that is forgotten would agree with all others.
for (const name of ["checksum", "actionLength"]) {
  const match = begin(Object.assign(new Game(), { [name]: () => {} }));
  assert.throws(() => match.submit([1, 0], 9) ?? run(match), TypeError);
  match.free();
}
// In a maker, too.
assert.throws(() => begin(Object.defineProperty(new Game(), "actionBits", { get: () => { throw new Error("mine"); } })), /mine/);
assert.throws(() => begin(new Game(), { game_data: 7 }), TypeError);
assert.throws(() => begin(Object.assign(new Game(), { actionBits: 0 })), TestudoError);

// A match cannot free itself.
const game = new Game();
const own = begin(game);
game.within = () => own.free();
assert.throws(() => run(own), /cannot free the match/);
game.within = null;
assert.equal(own.phase, Phase.RUNNING);

// Bits that are not there; bytes of other kinds.
assert.throws(() => own.submit([1], 9), RangeError);
assert.throws(() => own.submit([1, 0], NaN), RangeError);
assert.throws(() => own.submit([1, 0], 8), TestudoError);
own.submit(new Uint8Array([1, 0]).buffer, 9);
own.free();
for (const bytes of [null, undefined, "text", 5, {}]) assert.throws(() => hash(bytes), TypeError);
assert.equal(hash([1, 2]), hash(new Uint8Array([1, 2]).buffer));
assert.equal(hash([1, 2]), hash(new DataView(new Uint8Array([0, 1, 2]).buffer, 1)));

// Numbers that do not fit are refused, not bent.
const late = (late_joins_ms) => begin(new Game(), { arrivals: { late_joins_ms } });
for (const wrong of [Infinity, -1, 1.5, 2 ** 32, "x"]) assert.throws(() => late(wrong), RangeError);
late(NEVER).free();
assert.throws(() => fx(2 ** 53), RangeError);

// Lists of another size than the first room for them.
const crowded = new World();
for (let n = 0; n < 70; n++) crowded.createBody(Kind.DYNAMIC, circle(ONE));
const found = (most) => crowded.nearest({ x: 0n, y: 0n }, ONE, most).length;
assert.deepEqual([0, 5, 70, 100, 2 ** 28, 2 ** 31, 2 ** 32, Infinity].map(found), [0, 5, 70, 70, 70, 70, 70, 70]);
for (const wrong of [-1, -(2 ** 28), NaN, undefined]) assert.throws(() => found(wrong), RangeError);
const create = (def) => crowded.createBody(Kind.DYNAMIC, circle(ONE), def);
for (const dominance of [200, -129, 0.5]) assert.throws(() => create({ dominance }), RangeError);
for (const x of [20, "20"]) assert.throws(() => create({ position: { x } }), TypeError);
for (const x of [1n << 63n, -(1n << 63n) - 1n]) assert.throws(() => create({ position: { x } }), RangeError);
assert.throws(() => create({ user: -1n }), RangeError);
assert.throws(() => crowded.setVelocity(crowded.bodies()[0], 1n << 64n, 0n), RangeError);
assert.throws(() => crowded.setFilter(crowded.bodies()[0], 2 ** 32, 0), RangeError);
crowded.setFilter(crowded.bodies()[0], -1, 0xffff_ffff);

// Arithmetic for rules.
assert.deepEqual([mul(3n * ONE, ONE / 2n), div(3n * ONE, 2n * ONE), sqrt(4n * ONE), length(3n * ONE, 4n * ONE)], [fx(1.5), fx(1.5), fx(2), fx(5)]);
assert.deepEqual([sin(2 ** 30), cos(2 ** 31), atan2(-ONE, 0n)], [ONE, -ONE, 3 * 2 ** 30]);
const draws = Array.from({ length: 100 }, () => crowded.randomBelow(3));
assert.deepEqual([...new Set(draws)].sort(), [0, 1, 2]);
crowded.free();

// What is freed is of no use; a world that is freed has no checksum.
const world = new World(), other = new World(), buffer = new Buffer();
world.saveTo(buffer);
assert.equal(world.firstDifference(other), "");
other.step(60);
assert.match(world.firstDifference(other), /here, .* there$/);
for (const freed of [world, other, buffer]) freed.free();
assert.throws(() => world.checksum(), TestudoError);
assert.throws(() => buffer.append([1]), TestudoError);

// A watcher comes in the middle. What it records before the state has come is a file of its own.
class Scene extends Game {
  world = new World();
  step() {
    this.world.step(60);
  }
  checksum() {
    return this.world.checksum();
  }
  save(buffer) {
    this.world.saveTo(buffer);
  }
  load(bytes) {
    this.world.load(this.read?.(bytes) ?? bytes);
  }
}
function watch(scene) {
  const shared = { session_id: 1n, sides: { players: 1 }, arrivals: { late_watchers: 1 } };
  const host = new Scene(), peers = [Match.host(shared, host, 0n)], inboxes = [[], []], files = [];
  for (let now = 0n; now < 20_000_000n && peers[0].turn < 200 && !peers[1]?.isOver; now += 10_000n) {
    if (peers[0].turn === 5 && !peers[1]) peers.push(Match.watch({ ...shared, own: { records: true } }, scene, 0, now));
    peers.forEach((peer, number) => {
      for (const bytes of inboxes[number].splice(0)) peer.handlePacket(0, bytes, now);
      peer.advance(now);
      for (const { bytes } of peer.packets(now)) inboxes[1 - number].push(bytes);
    });
    if (!peers[1]) continue;
    const file = peers[1].replayFile, piece = peers[1].takeReplay();
    if (piece.length > 0) (files[file] ??= []).push(...piece);
  }
  const { phase, turn } = peers[1];
  for (const owner of [...peers, host.world, scene.world]) owner.free();
  return { phase, turn, files };
}
const { turn, files } = watch(new Scene());
assert.ok(turn > 50 && files.length === 2 && files[1].length > files[0].length, `${turn} ${files.map((file) => file.length)}`);
assert.deepEqual(files[0].slice(0, 8), files[1].slice(0, 8));
// That the world refuses a state is the answer "no", and nothing is thrown: another source may have a better one. What the game throws comes out.
assert.equal(watch(Object.assign(new Scene(), { read: (bytes) => bytes.subarray(1) })).phase, Phase.FAILED);
assert.throws(() => watch(Object.assign(new Scene(), { read: () => { throw new Error("mine"); } })), /mine/);
// So it is with an order.
const reader = begin(Object.assign(new Game(), { actionLength: () => fx(1) && crowded.checksum() }));
assert.throws(() => reader.submit([1, 0], 9), (error) => error instanceof TestudoError && error.status === 2);
reader.free();
