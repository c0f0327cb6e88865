// The library's memory: structures of C at their places, bytes in and out, functions of JavaScript that the library can call.

let wasm; // what the one instance exports
let functions; // the same, with arguments that are checked
let data = new DataView(new ArrayBuffer(0));
let stack = 0; // arguments lie here for the length of one call
let top = 0;
const STACK_BYTES = 65_536;

/** Starts the one instance of the library of this page or program. */
export async function start(source) {
  const given = await source;
  let module = given;
  if (typeof Response !== "undefined" && given instanceof Response) {
    if (!given.ok) throw new Error(`testudo.wasm: ${given.status}`);
    module = await given.arrayBuffer();
  }
  if (!(module instanceof WebAssembly.Module)) module = await WebAssembly.compile(module);
  wasm = (await WebAssembly.instantiate(module, {})).exports;
  const careful = ([name, item]) => [name, typeof item === "function" ? checked(item) : item];
  functions = Object.fromEntries(Object.entries(wasm).map(careful));
  stack = address(wasm.testudo_alloc(STACK_BYTES));
  top = stack;
  return wasm;
}

/** The functions of the library, as they are in testudo.h. */
export function exports() {
  if (!wasm) throw new Error("Testudo has not started: await init(...) first");
  return functions;
}

/** WebAssembly itself drops the bits of a number that do not fit, and takes 0 for what is left out: that is player 0. */
function checked(run) {
  return (...values) => {
    for (let at = 0; at < run.length; at++) values[at] = argument(values[at]);
    return run(...values);
  };
}

/** The library's memory as it is now: it moves when it grows. */
export function view() {
  if (data.buffer !== wasm.memory.buffer) data = new DataView(wasm.memory.buffer);
  return data;
}

/** Runs a call; what it has taken with `room` is free again after it. Calls within calls (a callback) are fine. */
export function call(run) {
  const before = top;
  try {
    return run(exports());
  } finally {
    top = before;
  }
}

/** So many bytes for the length of the call that runs, all zero. */
export function room(bytes) {
  const at = top;
  top += (bytes + 15) & ~15;
  if (top > stack + STACK_BYTES) throw new RangeError(`${bytes} bytes do not fit`);
  new Uint8Array(wasm.memory.buffer, at, bytes).fill(0);
  return at;
}

/** A pointer of the library as a place in its memory: WebAssembly hands it over with a sign, negative from 2 GiB on. */
export const address = (pointer) => pointer >>> 0;

/** A copy of bytes of the library. */
export function bytesAt(pointer, length) {
  return new Uint8Array(wasm.memory.buffer, address(pointer), length).slice();
}

/** Bytes in one array. A list of numbers must be one of bytes: of wider ones a hash would cover the low bits alone, and no desync would be seen. */
export function asBytes(bytes) {
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  if (ArrayBuffer.isView(bytes) && (bytes.BYTES_PER_ELEMENT ?? 1) === 1) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (Array.isArray(bytes)) return Uint8Array.from(bytes, (byte) => whole(byte, 0, 0xff));
  const kind = bytes === null ? "null" : (bytes?.constructor?.name ?? typeof bytes);
  throw new TypeError(`bytes must be a Uint8Array, an ArrayBuffer, a DataView or an array of bytes, not ${kind}`);
}

/** Calls `run(pointer, length)` with bytes of any length at a place of their own. */
export function withBytes(given, run) {
  const bytes = asBytes(given);
  return withRoom(bytes.length, (pointer) => {
    new Uint8Array(wasm.memory.buffer, pointer, bytes.length).set(bytes);
    return run(pointer, bytes.length);
  });
}

/** Calls `run(pointer)` with room for `bytes` at a place of its own, all zero. */
export function withRoom(bytes, run) {
  // The library would take it modulo 2^32.
  if (!(bytes <= 0x7fff_ffff)) throw new RangeError(`there is no memory for ${bytes} bytes`);
  const pointer = address(exports().testudo_alloc(bytes));
  if (pointer === 0) throw new RangeError(`there is no memory for ${bytes} bytes`);
  try {
    new Uint8Array(wasm.memory.buffer, pointer, bytes).fill(0);
    return run(pointer);
  } finally {
    wasm.testudo_dealloc(pointer, bytes);
  }
}

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() };

/** A text of the library, which ends with a zero. */
export function textAt(pointer) {
  if (pointer === 0) return "";
  const bytes = new Uint8Array(wasm.memory.buffer, address(pointer));
  return utf8.decoder.decode(bytes.slice(0, bytes.indexOf(0)));
}

/** The bytes of a text. */
export const toUtf8 = (text) => utf8.encoder.encode(text);
export const fromUtf8 = (bytes) => utf8.decoder.decode(bytes);

// ---- Structures of C

/** A number that a structure or a call takes, which would drop the bits that do not fit. Those of 64 bits are BigInt, as all of the simulation. */
export function whole(value, least, greatest) {
  const big = typeof greatest === "bigint";
  if (big && typeof value !== "bigint") throw new TypeError(`${value} must be a BigInt: one is 65536n`);
  const number = big || typeof value !== "bigint" ? value : Number(value);
  const fits = (big || Number.isInteger(number)) && least <= number && number <= greatest;
  if (!fits) throw new RangeError(`${value} is no whole number from ${least} to ${greatest}`);
  return number;
}

const scalar = (size, read, write) => ({ size, align: size, read, write });
const integer = (size, read, write, least, greatest) => scalar(size, read, (at, value) => write(at, whole(value, least, greatest)));
const I64 = [-(1n << 63n), (1n << 63n) - 1n];
export const u8 = integer(1, (at) => view().getUint8(at), (at, value) => view().setUint8(at, value), 0, 0xff);
export const i8 = integer(1, (at) => view().getInt8(at), (at, value) => view().setInt8(at, value), -0x80, 0x7f);
export const bool = scalar(1, (at) => view().getUint8(at) !== 0, (at, value) => view().setUint8(at, value ? 1 : 0));
export const u16 = integer(2, (at) => view().getUint16(at, true), (at, value) => view().setUint16(at, value, true), 0, 0xffff);
export const u32 = integer(4, (at) => view().getUint32(at, true), (at, value) => view().setUint32(at, value, true), 0, 0xffff_ffff);
export const i32 = integer(4, (at) => view().getInt32(at, true), (at, value) => view().setInt32(at, value, true), -0x8000_0000, 0x7fff_ffff);
export const f32 = scalar(4, (at) => view().getFloat32(at, true), (at, value) => view().setFloat32(at, value, true));
export const u64 = integer(8, (at) => view().getBigUint64(at, true), (at, value) => view().setBigUint64(at, value, true), 0n, 2n ** 64n - 1n);
export const i64 = integer(8, (at) => view().getBigInt64(at, true), (at, value) => view().setBigInt64(at, value, true), ...I64);

/** A BigInt that fits into 64 bits with a sign. */
export const toI64 = (value) => whole(value, ...I64);
/** A number as an argument of a call: what fits into its bits, with a sign or without one. */
function argument(value) {
  if (typeof value === "bigint") return whole(value, I64[0], 2n ** 64n - 1n);
  return typeof value === "boolean" ? value : whole(value, -0x8000_0000, 0xffff_ffff);
}
/** Yes or no as an argument of a call. What is left out is neither. */
export function flag(yes) {
  if (yes === undefined || yes === null) throw new RangeError(`${yes} is neither yes nor no`);
  return yes ? 1 : 0;
}
/** An angle goes around: 2^32 is a whole turn. */
export const angle = (value) => whole(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) | 0;

/** `count` values of one type. As a value: an array. */
export function array(of, count) {
  const read = (at) => Array.from({ length: count }, (_, index) => of.read(at + index * of.size));
  const write = (at, values) => Array.from(values).slice(0, count).forEach((value, index) => of.write(at + index * of.size, value));
  return { size: of.size * count, align: of.align, read, write };
}

/** A structure with C's layout. As a value: an object; what it does not name stays as it is when it is written. */
export function struct(fields) {
  const places = [];
  let size = 0, align = 1;
  for (const [name, type] of Object.entries(fields)) {
    size = Math.ceil(size / type.align) * type.align;
    places.push([name, type, size]);
    size += type.size;
    align = Math.max(align, type.align);
  }
  size = Math.ceil(size / align) * align;
  const names = new Set(Object.keys(fields));
  const read = (at) => Object.fromEntries(places.map(([name, type, offset]) => [name, type.read(at + offset)]));
  const write = (at, value) => {
    for (const name of Object.keys(value)) if (!names.has(name)) throw new TypeError(`there is no setting '${name}'; there are: ${[...names].join(", ")}`);
    for (const [name, type, offset] of places) if (value[name] !== undefined) type.write(at + offset, value[name]);
  };
  return { size, align, read, write, places };
}

// ---- Functions of JavaScript in the library's table

const types = { i32: 0x7f, i64: 0x7e };

/** The place in the library's table of a function with these types. It stays there for ever. */
export function callback(parameters, result, run) {
  // The table takes only functions of WebAssembly. So: a module that imports the function and exports it again.
  const list = (names) => [names.length, ...names.map((name) => types[name])];
  const type = [1, 0x60, ...list(parameters), ...list(result ? [result] : [])];
  const bytes = [
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
    0x01, type.length, ...type,
    0x02, 0x07, 0x01, 0x01, 0x66, 0x01, 0x66, 0x00, 0x00, // import "f" "f", a function of type 0
    0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00, // export "f", function 0
  ];
  const instance = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), { f: { f: run } });
  const table = exports().__indirect_function_table;
  const place = table.grow(1);
  table.set(place, instance.exports.f);
  return place;
}
