// The page's connection (demo/web/link.js) without a browser: what a page does that is left, and what two tabs of one place do.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

const script = readFileSync("demo/web/link.js", "utf8");
const LOST = 2;
const channels = [];

class BroadcastChannel {
  constructor() {
    channels.push(this);
  }
  postMessage(data) {
    channels.filter((other) => other !== this).forEach((other) => other.onmessage({ data }));
  }
}
/** Nobody answers. */
class WebTransport {
  constructor(_, pin) {
    void pin.serverCertificateHashes;
    this.ready = this.closed = new Promise(() => {});
  }
  close() {
    this.isClosed = true;
  }
}

function tab() {
  const page = { stops: [], events: {}, env: {}, wasm_memory: { buffer: new ArrayBuffer(4096) }, transports: [] };
  const context = createContext({
    BroadcastChannel, TextEncoder, TextDecoder, document: {}, wasm_memory: page.wasm_memory, stop: (text) => page.stops.push(text),
    WebTransport: class extends WebTransport {
      constructor(...given) {
        super(...given);
        page.transports.push(this);
      }
    },
    setTimeout: (run, after) => after === 0 && run(), clearTimeout: () => {},
    addEventListener: (name, run) => { page.events[name] = run; },
    miniquad_add_plugin: ({ register_plugin }) => register_plugin({ env: page.env }),
  });
  runInContext(script, context);
  page.takePlace = runInContext("takePlace", context);
  page.open = () => {
    const request = new TextEncoder().encode(JSON.stringify({ addresses: ["192.0.2.1:1"], hash: [1], greeting: [1] }));
    new Uint8Array(page.wasm_memory.buffer).set(request);
    return page.env.testudo_open(0, request.length);
  };
  page.poll = (link) => page.env.testudo_poll(link, 0, 1000) && new Uint8Array(page.wasm_memory.buffer)[0];
  return page;
}

// A page that was left has lost its connection and knows it: it may live again.
const left = tab();
const link = left.open();
assert.equal(left.poll(link), 0);
left.events.pagehide();
assert.equal(left.poll(link), LOST);
assert.ok(left.transports.length === 1 && left.transports[0].isClosed);
assert.ok(left.open() > link);

// The tab that comes last has the place; tabs of other places, and one that has left its place, are not concerned.
const tabs = [tab(), tab(), tab(), tab()];
tabs[0].takePlace("bob");
tabs[1].takePlace("ada");
tabs[2].takePlace("bob");
tabs[2].takePlace(null);
assert.deepEqual(tabs.map((page) => page.stops.length), [1, 0, 0, 0]);
tabs[3].takePlace("bob");
assert.deepEqual(tabs.map((page) => page.stops.length), [1, 0, 0, 0]);
assert.deepEqual(tabs.map((page) => page.open() > 0), [false, true, true, true]);
