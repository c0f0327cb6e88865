// What the classes for JavaScript do when a game or a caller is wrong. TESTUDO_WASM names the library.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import {
  Buffer, Crowd, EventKind, Kind, Match, NEVER, ONE, Phase, TestudoError, To, World, atan2, circle, cos, div, fx, hash, init, length, mul, sin, sqrt,
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
fine(Object.assign(new Game(), { sum: -1n, result: () => 2 ** 32 - 1, isOver: () => undefined }));
for (const sum of [1.5, "x", {}]) assert.throws(() => fine(Object.assign(new Game(), { sum })), /BigInt|integer/);
// All peers bent it alike, and agreed on another result.
for (const wrong of [7.5, -1, 2 ** 32 + 5, NaN, "red", true]) assert.throws(() => fine(Object.assign(new Game(), { result: () => wrong })), RangeError);
// The rest of a function that is async ran after the turn, and whether a state was loaded was answered before it was.
for (const name of ["apply", "step", "turnEnded", "isOver", "result", "checksum"]) {
  const later = Object.assign(new Game(), { [name]: async () => {} });
  const match = begin(later);
  match.submit([1, 0], 9);
  assert.throws(() => run(match), /async/, name);
  match.free();
}
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
assert.equal(hash([1, 255]), hash(new Int8Array([1, -1])));
// Numbers that are no bytes were cut: checksums of 1000 and 232 were equal, so that no desync was ever seen.
for (const wide of [Int32Array, Uint16Array, Float64Array, BigInt64Array]) assert.throws(() => hash(new wide(2)), TypeError);
for (const wrong of [[256], [-1], [1.5], [NaN], [undefined], [null], ["1"], [1n << 8n], new Array(1)]) assert.throws(() => hash(wrong), RangeError);

// What strangers send ends no round, whatever it is: it is counted.
const open = begin(new Game());
const junk = ["text", null, undefined, 5, {}, [300], new Int32Array(2), { length: 2 ** 40 }, { length: -1 }, new ArrayBuffer(2 ** 17), [], [1]];
for (const packet of junk) open.handlePacket(0, packet, 0n);
assert.equal(open.stats().packets_malformed + open.stats().packets_unexpected, BigInt(junk.length));
// Nor does a number that is left out mean player 0.
assert.throws(() => open.sendMessage(To.EVERYONE, "my secret plan"), RangeError);
for (const player of [undefined, null, 1.9, 2 ** 32 + 1, Infinity]) {
  for (const call of ["connect", "voteOut", "kick", "profile", "setSpeed"]) assert.throws(() => open[call](player), RangeError, `${call} ${player}`);
  assert.throws(() => open.handlePacket(player, [1]), RangeError);
}
assert.throws(() => Match.join({ session_id: 1n, sides: { players: 2 } }, new Game(), undefined), RangeError);
for (const call of ["setReady", "pause"]) assert.throws(() => open[call](), RangeError, call);
for (const yes of [true, false, 1, 0]) open.setReady(yes);
open.free();

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
assert.throws(() => crowded.setGravity(1n << 64n, -10n * ONE), RangeError);
for (const rate of [59.94, undefined, "60", 2 ** 32 + 60]) assert.throws(() => crowded.step(rate), RangeError);
// A yes or no that is left out was a no: a player who was "ready" never was.
for (const left of ["listContactHits", "listStayedContacts"]) {
  for (const neither of [undefined, null]) assert.throws(() => crowded[left](neither), RangeError, left);
  crowded[left](true);
}
for (const left of [(body) => crowded.setEnabled(body), (body) => crowded.setPairIgnored(body, crowded.bodies()[1])]) {
  assert.throws(() => left(crowded.bodies()[0]), RangeError);
}
const corner = { x: 8n * ONE, y: 8n * ONE };
// A place that is left out was the origin.
for (const [from, to] of [[corner, undefined], [undefined, corner], [corner, null]]) {
  for (const ask of ["rayCast", "rayCastAll"]) assert.throws(() => crowded[ask](from, to), TypeError, ask);
  for (const ask of ["sweep", "sweepAll"]) assert.throws(() => crowded[ask](circle(ONE), from, to), TypeError, ask);
}
assert.notEqual(crowded.rayCast(corner, { x: 0n, y: 0n }), null);
// What a material does not name stays as it is. What was there without a value became 0.
crowded.setMaterial(crowded.bodies()[0], { friction: ONE, damping: 2n * ONE });
crowded.setMaterial(crowded.bodies()[0], { friction: undefined, restitution: ONE / 2n });
assert.deepEqual(crowded.body(crowded.bodies()[0]).material, { restitution: ONE / 2n, friction: ONE, ground_friction: 0n, damping: 2n * ONE });
assert.throws(() => crowded.setMaterial(crowded.bodies()[0], { frictoin: ONE }), TypeError);
const area = { min: { x: -8n * ONE, y: -8n * ONE }, max: corner };
const crowd = new Crowd(area);
crowd.survey(crowded);
assert.throws(() => crowd.add(crowded, crowded.bodies()[0], 1n << 64n, ONE), RangeError);
assert.throws(() => crowd.setCost(crowded, area, 2 ** 32 + 3), RangeError);
assert.throws(() => crowd.findPath(area.min, corner, ONE / 2n, Infinity), RangeError);
assert.throws(() => crowd.findPath(area.min, undefined, ONE / 2n, 100), TypeError);
crowd.free();

// Points of terrain that lack a number had that of whatever lay there before: each peer had other terrain.
for (let n = 0; n < 100; n++) hash(new Uint8Array(32).fill(1));
const ground = crowded.createChain([{ x: 20n * ONE, y: 0n }, { x: 30n * ONE }]);
assert.deepEqual(crowded.terrainPoints(ground[0]), [{ x: 20n * ONE, y: 0n }, { x: 30n * ONE, y: 0n }]);
assert.throws(() => crowded.createChain([{ x: 40n * ONE, y: 0n }, , { x: 50n * ONE, y: 0n }]), TypeError);

// Arithmetic for rules.
assert.deepEqual([mul(3n * ONE, ONE / 2n), div(3n * ONE, 2n * ONE), sqrt(4n * ONE), length(3n * ONE, 4n * ONE)], [fx(1.5), fx(1.5), fx(2), fx(5)]);
assert.deepEqual([sin(2 ** 30), cos(2 ** 31), atan2(-ONE, 0n)], [ONE, -ONE, 3 * 2 ** 30]);
// Angles go around; numbers do not.
assert.deepEqual([sin(2 ** 32 + 2 ** 30), cos(-(2 ** 31))], [ONE, -ONE]);
for (const wrong of [undefined, 0.5, Infinity]) assert.throws(() => sin(wrong), RangeError);
assert.throws(() => mul(1n << 64n, ONE), RangeError);
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
for (const asks of ["checksum", "randomBelow"]) assert.throws(() => world[asks](6), TestudoError, asks);
for (const asks of ["frame", "bodyCount"]) assert.throws(() => world[asks], TestudoError, asks);
assert.throws(() => world.hasBody(7n), TestudoError);
assert.throws(() => world.isPairIgnored(7n, 8n), TestudoError);
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
assert.throws(() => watch(Object.assign(new Scene(), { load: async () => true })), /async/);
// So it is with an order.
const reader = begin(Object.assign(new Game(), { actionLength: () => fx(1) && crowded.checksum() }));
assert.throws(() => reader.submit([1, 0], 9), (error) => error instanceof TestudoError && error.status === 2);
reader.free();

// The recording and the search save the game. What that throws comes out of the call in which it happens, and no event is lost with it.
{
  const shared = { session_id: 2n, sides: { players: 2 } }, games = [new Scene(), new Scene()], inboxes = [[], []], caught = [];
  games[0].visit = (numbers) => (games[0].shown = numbers).number("frame", games[0].world.frame);
  games[1].visit = (numbers) => numbers.number("frame", games[1].world.frame);
  games[1].step = function () {
    for (let n = 0; n < (this.world.frame === 20n ? 2 : 1); n++) this.world.step(60);
  };
  const peers = [Match.host({ ...shared, own: { records: true } }, games[0], 0n), Match.join(shared, games[1], 1, 0, 0n)];
  const play = (from, to) => {
    for (let now = from; now < to; now += 10_000n) {
      peers.forEach((peer, number) => {
        for (const bytes of inboxes[number].splice(0)) peer.handlePacket(0, bytes, now);
        try {
          peer.advance(now);
        } catch (error) {
          caught.push(error.message);
        }
        for (const { bytes } of peer.packets(now)) inboxes[1 - number].push(bytes);
        peer.messages();
      });
      peers[1].events();
    }
  };
  games[0].save = function () {
    if (this.world.frame > 20n) {
      delete this.save;
      throw new Error("mine");
    }
    return Scene.prototype.save.apply(this, arguments);
  };
  play(0n, 3_000_000n);
  assert.deepEqual(caught, ["mine"]);
  const kinds = peers[0].events().map(({ kind }) => kind);
  for (const kind of [EventKind.STARTED, EventKind.DESYNC]) assert.ok(kinds.includes(kind), `${kinds}`);
  play(3_000_000n, 9_000_000n);
  // Whoever keeps what is only for one call is refused. It wrote into memory that had been freed.
  assert.throws(() => games[0].shown.number("frame", 1n), TestudoError);
  for (const owner of [...peers, ...games.map(({ world }) => world)]) owner.free();
}

// What `save` throws while a piece of the recording is taken does not take the piece away: the file is the evidence of a desync.
{
  // Between two turns the state is recorded at once.
  const shared = { session_id: 3n, sides: { players: 2 }, turns: { frames_per_turn: 1 }, own: { records: true } };
  const games = [new Scene(), new Scene()], inboxes = [[], []];
  games[1].step = function () {
    for (let n = 0; n < (this.world.frame === 20n ? 2 : 1); n++) this.world.step(60);
  };
  const peers = [Match.host(shared, games[0], 0n), Match.join(shared, games[1], 1, 0, 0n)];
  let piece = null;
  const take = (peer) => {
    if (piece !== null || peer !== peers[0] || !peer.events().some(({ kind }) => kind === EventKind.DESYNC)) return;
    games[0].save = () => {
      throw new Error("mine");
    };
    assert.throws(() => peer.takeReplay(), /mine/);
    delete games[0].save;
    assert.equal(peer.replayFile, 0);
    piece = peer.takeReplay();
  };
  for (let now = 0n; now < 3_000_000n && piece === null; now += 10_000n) {
    peers.forEach((peer, number) => {
      for (const bytes of inboxes[number].splice(0)) peer.handlePacket(0, bytes, now);
      take(peer);
      peer.advance(now);
      take(peer);
      for (const { bytes } of peer.packets(now)) inboxes[1 - number].push(bytes);
    });
  }
  assert.deepEqual(piece.slice(0, 8), peers[1].takeReplay().slice(0, 8));
  // The rest of it.
  assert.ok(peers[0].takeReplay().length < 8);
  for (const owner of [...peers, ...games.map(({ world }) => world)]) owner.free();
}
