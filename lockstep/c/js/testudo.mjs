// Testudo for JavaScript, in browsers and in node: the library for WebAssembly behind classes. testudo.d.ts has the types, testudo.h the units and ranges.
//
//   import { init, World, Kind, circle, ONE } from "./testudo.mjs";
//   await init(fetch("testudo.wasm"));          // in node: await init(readFile("testudo.wasm"))
//
// A fault of the library ends it (a WebAssembly trap): the page has to begin anew. Everything else that is refused throws a TestudoError.
import { exports, start } from "./memory.mjs";

export { Buffer, Events, Kind, NO_BODY, ONE, TestudoError, World, circle, fx, hash, rect, toNumber } from "./world.mjs";
export { atan2, cos, div, length, mul, sin, sqrt } from "./world.mjs";
export { Crowd, Formation, MoveKind } from "./crowd.mjs";
export { Controls, EventKind, Match, NEVER, NOBODY, NO_PEER, Pace, Phase, Successor, To, Topology, WATCHER, now } from "./match.mjs";
export { exports as functions } from "./memory.mjs";

/** The interface of the library that these files were written for. */
const INTERFACE = 1;

let started = null;

/**
 * Starts the library, before all else. `source`: its bytes, a Response of `fetch`, a compiled module, or a promise of one of these. There is one library:
 * a second call gets the promise of the first one, unless that failed.
 */
export function init(source) {
  started ??= begin(source).catch((error) => {
    started = null;
    throw error;
  });
  return started;
}

async function begin(source) {
  await start(source);
  const version = exports().testudo_interface_version();
  if (version !== INTERFACE) throw new Error(`testudo.wasm has the interface ${version}, these files are for ${INTERFACE}`);
}

/** Versions of the bits of physics and movement, of what worlds save, and of what peers say to each other. */
export function versions() {
  const { testudo_sim_version: sim, testudo_movement_version: movement, testudo_snapshot_version: snapshot, testudo_protocol_version: protocol } = exports();
  return { sim: sim(), movement: movement(), snapshot: snapshot(), protocol: protocol() };
}
