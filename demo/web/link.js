// The edge of the network: functions that the program calls, and WebTransport behind them. What packets mean, the program knows.
"use strict";

// Browsers that can.
const ABLE = "use Chrome or Edge 100, Firefox 125, Safari 26.4, or a newer one of them.";
// Packets that wait for the program; further ones are dropped, as by a socket.
const WAITING_MAX = 512;
// Packets that wait for the browser to send them; further ones are dropped, too.
const SENDING_MAX = 64;
const PACKET_BYTES_MAX = 1150;
const ANSWER_BYTES_MAX = 1 + 16384;
// When an address is tried, ms; the next address a little later. Each attempt has its own luck.
const ATTEMPTS_AT = [0, 3000, 9000, 19000];
const NEXT_ADDRESS_AFTER = 250;
// How long connecting may take, and then the answer to the greeting, ms.
const PATIENCE = 30000;
// Kinds of messages to the program: their first byte.
const PACKET = 0, ANSWER = 1, LOST = 2;
// The verdict on a greeting: the first byte of the answer.
const ACCEPTED = 1;

class Link {
  constructor({ addresses, hash, greeting }) {
    this.messages = [];
    this.waiting = 0;
    this.sending = 0;
    this.attempts = new Set();
    this.run(addresses, new Uint8Array(hash), new Uint8Array(greeting))
      .catch((error) => this.end(error.message || "the connection broke"));
  }

  async run(addresses, hash, greeting) {
    this.transport = await this.connect(addresses, hash);
    // The browser sends by its own judgement and keeps what it cannot send; what is old is of no use, the program sends it again.
    const datagrams = this.transport.datagrams;
    datagrams.incomingHighWaterMark = WAITING_MAX;
    datagrams.outgoingMaxAge = 500;
    datagrams.outgoingHighWaterMark = SENDING_MAX;
    this.writer = (datagrams.createWritable?.() ?? datagrams.writable).getWriter();
    this.writer.closed.catch(() => {});
    this.transport.closed.then(() => this.end("the server has closed the connection"),
      () => this.end("nothing comes from the server any more"));
    const answer = await within(this.greet(greeting), "the server does not answer");
    this.tell(ANSWER, answer);
    if (answer[0] !== ACCEPTED) return this.close();
    // A datagram of one byte comes before the packets, in both directions (lockstep/src/transport/sealed/datagram.rs).
    this.writer.write(new Uint8Array(1)).catch(() => {});
    const reader = datagrams.readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      if (value.length > 1 && value.length <= PACKET_BYTES_MAX && this.waiting < WAITING_MAX) this.tell(PACKET, value);
    }
    this.end("the server has closed the connection");
  }

  // The first address that answers, and shows the certificate with this hash.
  connect(addresses, hash) {
    let open = 0, isPinned = false;
    // A browser that cannot check hashes does not ask for them.
    const pin = {
      congestionControl: "low-latency",
      get serverCertificateHashes() {
        isPinned = true;
        return [{ algorithm: "sha-256", value: hash }];
      },
    };
    return within(new Promise((resolve, reject) => {
      const attempt = (address) => {
        if (this.isOver || this.transport) return;
        const transport = new WebTransport(`https://${address}/`, pin);
        if (!isPinned) throw new Error(`this browser cannot check a certificate by its hash: ${ABLE}`);
        this.attempts.add(transport);
        transport.closed.catch(() => {});
        transport.ready.then(() => {
          this.attempts.delete(transport);
          if (this.isOver || this.transport) return transport.close();
          this.transport = transport;
          this.attempts.forEach((other) => other.close());
          resolve(transport);
        }).catch(() => {
          this.attempts.delete(transport);
          if (--open === 0) reject(new Error("nobody answered: the match is over, or a firewall or router lets nothing through"));
        });
      };
      for (const at of ATTEMPTS_AT) {
        addresses.forEach((address, place) => {
          open += 1;
          setTimeout(() => {
            try { attempt(address); } catch (error) { reject(error); }
          }, at + place * NEXT_ADDRESS_AFTER);
        });
      }
    }), "nobody answered in time");
  }

  // The greeting in one direction of a stream, the verdict and the answer in the other.
  async greet(greeting) {
    const stream = await this.transport.createBidirectionalStream();
    const writer = stream.writable.getWriter();
    await writer.write(greeting);
    await writer.close();
    const reader = stream.readable.getReader(), answer = [];
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return new Uint8Array(answer);
      answer.push(...value);
      if (answer.length > ANSWER_BYTES_MAX) throw new Error("the server does not speak this protocol");
    }
  }

  tell(kind, bytes) {
    if (this.isOver) return;
    if (kind === PACKET) this.waiting += 1;
    this.messages.push([kind, bytes]);
  }

  send(packet) {
    // The writer's own `desiredSize` is 1: after one packet it says that there is no room before the browser has had its turn, and whatever else
    // the program sends in the same picture would be lost, always.
    if (this.isOver || !this.writer || this.sending >= SENDING_MAX) return;
    this.sending += 1;
    this.writer.write(packet).catch(() => {}).finally(() => { this.sending -= 1; });
  }

  end(why) {
    this.tell(LOST, new TextEncoder().encode(why));
    this.close();
  }

  close() {
    this.isOver = true;
    this.attempts.forEach((transport) => transport.close());
    try { this.transport?.close(); } catch { /* It is closed already. */ }
  }
}

function within(promise, otherwise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(otherwise)), PATIENCE); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// The secret behind a player's keys stays in this browser, so that whoever closes a tab can come back.
function keptSecret(bytes) {
  const NAME = "testudo key";
  const hex = localStorage.getItem(NAME);
  if (/^[0-9a-f]{64}$/.test(hex ?? "")) {
    bytes.set(hex.match(/../g).map((byte) => parseInt(byte, 16)));
  } else {
    crypto.getRandomValues(bytes);
    localStorage.setItem(NAME, Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
}

let clipboardOpen = true;
addEventListener("copy", () => { clipboardOpen = true; });

const links = new Map();
let lastLink = 0;
const memory = (at, length) => new Uint8Array(wasm_memory.buffer, at, length);
// 1 if it could be done.
const done = (act) => {
  try {
    act();
    return 1;
  } catch {
    return 0;
  }
};

miniquad_add_plugin({
  name: "testudo",
  version: 1,
  register_plugin: ({ env }) => {
    env.testudo_random = (to, length) => done(() => crypto.getRandomValues(memory(to, length)));
    env.testudo_secret = (to, length) => done(() => keptSecret(memory(to, length)));
    // 1 if hints were put away here; `ended` 1 puts them away.
    env.testudo_hints_over = (ended) => {
      let over = 0;
      done(() => {
        if (ended) localStorage.setItem("testudo hints", "over");
        over = Number(localStorage.getItem("testudo hints") === "over");
      });
      return over;
    };
    env.testudo_hidden = () => Number(document.hidden);
    env.testudo_pixel_ratio = () => devicePixelRatio;
    // The loader's own copy waits for Ctrl C; 1 unless that is the only way, as in a page that comes by http.
    const keep = env.sapp_set_clipboard;
    env.sapp_set_clipboard = (at, length) => {
      keep(at, length);
      clipboardOpen = Boolean(navigator.clipboard);
      navigator.clipboard?.writeText(clipboard).catch(() => { clipboardOpen = false; });
    };
    env.testudo_clipboard_open = () => Number(clipboardOpen);
    // The machine's clock may be set back: the battle would stand still until the time is reached again.
    env.now = () => (performance.timeOrigin + performance.now()) / 1000;
    env.testudo_open = (at, length) => {
      if (typeof WebTransport !== "function" || isElsewhere) return 0;
      const request = JSON.parse(new TextDecoder().decode(memory(at, length)));
      lastLink += 1;
      links.set(lastLink, new Link(request));
      return lastLink;
    };
    env.testudo_poll = (number, to, length) => {
      const message = links.get(number)?.messages.shift();
      if (!message) return 0;
      const [kind, bytes] = message;
      if (kind === PACKET) links.get(number).waiting -= 1;
      const size = Math.min(length - 1, bytes.length);
      memory(to, 1)[0] = kind;
      memory(to + 1, size).set(bytes.subarray(0, size));
      return 1 + size;
    };
    // A copy, because the browser reads it later.
    env.testudo_send = (number, at, length) => links.get(number)?.send(memory(at, length).slice());
    env.testudo_close = (number) => {
      links.get(number)?.close();
      links.delete(number);
    };
  },
});
// The others are told at once. A browser may keep the page for its "back" button: if it lives again, it comes back as after any other loss.
addEventListener("pagehide", () => links.forEach((link) => link.end("the page was left")));

// One place in two tabs: each would take it from the other, for ever. The one that came last keeps it. A browser that is too old for that plays, too.
const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel("testudo place") : { postMessage() {} };
let ownPlace = null, isElsewhere = false;
function takePlace(code) {
  ownPlace = code;
  if (code) tabs.postMessage(code);
}
tabs.onmessage = ({ data }) => {
  if (!ownPlace || data !== ownPlace) return;
  [ownPlace, isElsewhere] = [null, true];
  links.forEach((link) => link.end("this place is open in another tab"));
  stop("This place is open in another tab, and goes on there. Reload the page to have it here.");
};

// A page that nobody sees gets no pictures to draw, but a match with others goes on: another thread, whose clock the browser does not slow down,
// wakes the program.
let pulse = null;
function keepAwake(wanted) {
  if (wanted === Boolean(pulse)) return;
  pulse?.terminate();
  pulse = wanted ? new Worker("pulse.js") : null;
  if (pulse) pulse.onmessage = () => {
    if (document.hidden && wasm_exports) wasm_exports.frame();
  };
}
