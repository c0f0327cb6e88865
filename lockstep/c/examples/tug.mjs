// Tug in JavaScript: the host or a guest of a match over plain UDP, in node. TUG.md has the rules.
//
//   TESTUDO_WASM=.../testudo.wasm node tug.mjs host 2 80
import { createSocket } from "node:dgram";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";

import { Crowd, Events, EventKind, Kind, Match, MoveKind, ONE, WATCHER, World, circle, hash, init, rect } from "../js/testudo.mjs";

// ---- The rules

/** Ten bits in two's complement. */
const signed10 = (bits) => BigInt.asIntN(10, BigInt(bits));

/** What the library refuses, it refuses on all peers. */
function ignored(run) {
  try {
    run();
  } catch {
    // So nothing happens.
  }
}

class Tug {
  actionBits = 24;
  world = new World();
  crowd = new Crowd({ min: { x: -32n * ONE, y: -32n * ONE }, max: { x: 32n * ONE, y: 32n * ONE } });
  discs = [];
  runners = [];
  frames = 0n;
  orders = 0n;

  constructor(players) {
    this.points = Array(players).fill(0n);
    this.wall = this.world.createBody(Kind.STATIC, rect(ONE, 20n * ONE));
    const material = { restitution: ONE / 2n, damping: ONE / 2n };
    for (let n = 0; n < 2 * players; n++) {
      const x = BigInt(n % 2 === 0 ? -10 : 10) * ONE, y = BigInt(4 * (n >> 1) - 2 * (players - 1)) * ONE;
      this.discs.push(this.world.createBody(Kind.DYNAMIC, circle(ONE), { position: { x, y }, material }));
    }
    for (let n = 0; n < 2 * players; n++) {
      const x = BigInt(n % 2 === 0 ? -20 : -24) * ONE, y = BigInt(4 * (n >> 1) - 2 * (players - 1)) * ONE;
      this.runners.push(this.world.createBody(Kind.DYNAMIC, circle(ONE / 2n), { position: { x, y } }));
    }
    this.crowd.survey(this.world);
    this.runners.forEach((unit) => this.crowd.add(this.world, unit, 16n * ONE, 64n * ONE));
  }
  apply(player, data, bits) {
    if (bits !== 24) return;
    const order = data[0] | (data[1] << 8) | (data[2] << 16), disc = order & 15;
    if (disc >> 1 !== player || disc >= this.discs.length) return;
    this.orders += 1n;
    const x = signed10(order >> 4) * 4096n, y = signed10(order >> 14) * 4096n;
    // A loaded state may lack the disc or a runner, on all peers.
    ignored(() => this.world.applyImpulse(this.discs[disc], x, y));
    if (x % ONE === 0n) ignored(() => this.crowd.order(this.world, this.runners.slice(2 * player, 2 * player + 2), { x, y }));
  }
  step(framesPerSecond) {
    this.frames += 1n;
    this.crowd.step(this.world, framesPerSecond);
    this.world.step(framesPerSecond);
    for (const { a, b } of this.world.events(Events.CONTACTS_BEGAN)) {
      const n = this.discs.indexOf(b);
      if (a === this.wall && n >= 0) this.points[n >> 1] += 1n;
    }
    for (const { unit, kind } of this.crowd.events()) {
      const n = this.runners.indexOf(unit);
      if (kind === MoveKind.ARRIVED && n >= 0) this.points[n >> 1] += 100n;
    }
  }
  playerGone(player) {
    this.points[player] = 0n;
  }
  checksum() {
    return hash(toBytes([...this.numbers(), this.world.checksum(), this.crowd.checksum()]));
  }
  save(buffer) {
    const world = this.world.save();
    buffer.append(toBytes([...this.numbers(), BigInt(world.length)]));
    buffer.append(world);
    this.crowd.saveTo(buffer);
  }
  load(bytes) {
    const own = this.numbers().length * 8 + 8;
    if (bytes.length < own) return false;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const end = own + Number(view.getBigUint64(own - 8, true));
    let world = null;
    try {
      // A new world, so that nothing has changed if the crowd's bytes are refused.
      world = World.fromBytes(bytes.subarray(own, end));
      this.crowd.load(world, bytes.subarray(end));
    } catch {
      world?.free();
      return false;
    }
    this.world.free();
    this.world = world;
    [this.frames, this.orders, ...this.points] = this.numbers().map((_, at) => view.getBigUint64(at * 8, true));
    return true;
  }
  visit(numbers) {
    numbers.number("frames", this.frames);
    numbers.number("orders", this.orders);
    this.points.forEach((points, player) => {
      numbers.object("player", player);
      numbers.number("points", points);
    });
    numbers.world(this.world);
    numbers.crowd(this.crowd);
  }
  /** The game's own numbers. */
  numbers() {
    return [this.frames, this.orders, ...this.points];
  }
}

function toBytes(numbers) {
  const view = new DataView(new ArrayBuffer(numbers.length * 8));
  numbers.forEach((number, at) => view.setBigUint64(at * 8, number, true));
  return new Uint8Array(view.buffer);
}

// ---- Who plays

function giveOrder(match, player, turn) {
  if (turn % 4 === 3) return;
  const x = (150 + ((53 * turn + 17 * player) % 300)) * (turn % 2 === 1 ? -1 : 1), y = ((29 * turn + 71 * player) % 201) - 100;
  const order = (2 * player + (turn % 2)) | ((x & 1023) << 4) | ((y & 1023) << 14);
  try {
    match.submit(Uint8Array.of(order, order >> 8, order >> 16), 24);
  } catch {
    // Refused before the start, and in the last turns: no matter.
  }
}

// ---- The program

async function play(tug, socket, match, player, peers, flips) {
  let result = 0, next = 0;
  const send = () => match.packets().forEach(({ peer, bytes }) => socket.send(bytes, peers.ports[peer], "127.0.0.1"));
  while (!match.isOver) {
    for (const [peer, bytes] of peers.received.splice(0)) match.handlePacket(peer, bytes);
    match.advance();
    send();
    const { turn } = match;
    for (; turn >= next; next = turn + 1) {
      if (player < tug.points.length) giveOrder(match, player, turn);
      if (next > 20 || turn < 20) continue;
      if (flips) tug.points[0] ^= 1n;
      console.log("turn 20");
    }
    for (const { kind, words } of match.events()) {
      if (kind === EventKind.DESYNC) {
        console.log(`desync: ${words}`);
        result = 3;
      }
      if (kind === EventKind.DIFFERENCE) console.log(`difference: ${words}`);
      if (kind === EventKind.FAILED || kind === EventKind.PLAYER_GONE) {
        console.error(words);
        result = 1;
      }
    }
    await wait(3);
  }
  send();
  return result;
}

const words = process.argv.slice(2);
const flips = words.at(-1) === "flip" && words.pop() !== undefined;
const [hosts, watches] = [words[0] === "host" && words.length === 3, words[0] === "watch" && words.length === 4];
if (!hosts && !watches && !(words[0] === "join" && words.length === 5)) {
  throw new Error("tug host PLAYERS TURNS, tug join PORT PLAYER PLAYERS TURNS, or tug watch PORT PLAYERS TURNS");
}
const [players, turns] = words.slice(-2).map(Number);
const player = hosts ? 0 : watches ? WATCHER : Number(words[2]);

await init(readFile(process.env.TESTUDO_WASM));
const socket = createSocket("udp4");
// A link is an address: its number is its place in this list. A host numbers whoever comes, 64 at most.
const peers = { ports: hosts ? [] : [Number(words[1])], received: [] };
socket.on("message", (bytes, { port }) => {
  if (hosts && !peers.ports.includes(port) && peers.ports.length < 64) peers.ports.push(port);
  const peer = peers.ports.indexOf(port);
  if (peer >= 0) peers.received.push([peer, bytes]);
});
await new Promise((bound) => socket.bind(0, "127.0.0.1", bound));
if (hosts) console.log(`port ${socket.address().port}`);

const tug = new Tug(players);
// A game draws the session id at random, and its host tells it to the guests.
const settings = {
  session_id: 1n,
  content_hash: hash(new TextEncoder().encode("tug 2")),
  sides: { players },
  turns: { count: turns, frames_per_second: 20, frames_per_turn: 2 },
  arrivals: { late_watchers: 1 },
  waits: { drop_after_ms: 120_000, silence_timeout_ms: 120_000 }, // the machine may have other things to do
};
const match = hosts ? Match.host(settings, tug) : watches ? Match.watch(settings, tug) : Match.join(settings, tug, player);
process.exitCode = await play(tug, socket, match, player, peers, flips);
console.log(`turns ${match.turn} checksum ${tug.checksum().toString(16).padStart(16, "0")} frames ${tug.frames} orders ${tug.orders} points ${tug.points.join(" ")}`);
match.free();
tug.crowd.free();
tug.world.free();
socket.close();
