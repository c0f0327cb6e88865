// What the classes for JavaScript do when a game or a caller is wrong. TESTUDO_WASM names the library.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Buffer, Match, Phase, TestudoError, World, hash, init } from "../../lockstep/c/js/testudo.mjs";

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

// What is freed is of no use; a world that is freed has no checksum.
const world = new World(), other = new World(), buffer = new Buffer();
world.saveTo(buffer);
assert.equal(world.firstDifference(other), "");
other.step(60);
assert.match(world.firstDifference(other), /here, .* there$/);
for (const freed of [world, other, buffer]) freed.free();
assert.throws(() => world.checksum(), TestudoError);
assert.throws(() => buffer.append([1]), TestudoError);
