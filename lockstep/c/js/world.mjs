// The physics: a world and its bodies. Units and ranges: testudo.h. Numbers of the simulation are BigInt with 16 fraction bits, bodies are BigInt.
import { angle, array, bool, call, exports, f32, flag, fromUtf8, i64, i8, room, struct, textAt, toI64, u32, u64, withBytes, withRoom, bytesAt } from "./memory.mjs";

/** One, as the simulation counts. */
export const ONE = 65_536n;
/** The handle of no body. */
export const NO_BODY = 0xffff_ffff_ffff_ffffn;
export const Kind = Object.freeze({ STATIC: 0, KINEMATIC: 1, DYNAMIC: 2 });
export const Events = Object.freeze({ CONTACTS_BEGAN: 0, CONTACTS_ENDED: 1, CONTACTS_STAYED: 2, SENSORS_BEGAN: 3, SENSORS_ENDED: 4 });

/** A constant of the game as the simulation counts: `fx(1.5)` is 98304n. Not for results of floats: those differ from machine to machine. */
export const fx = (number) => toI64(BigInt(Math.round(number * 65_536)));
/** For drawing only. */
export const toNumber = (fixed) => Number(fixed) / 65_536;

// Arithmetic for rules, the same on every machine, which that of floats is not. Angles: 2^32 is a whole turn.
export const mul = (a, b) => exports().testudo_mul(a, b);
export const div = (a, b) => exports().testudo_div(a, b);
export const sqrt = (number) => exports().testudo_sqrt(number);
export const length = (x, y) => exports().testudo_length(x, y);
export const sin = (turned) => exports().testudo_sin(angle(turned));
export const cos = (turned) => exports().testudo_cos(angle(turned));
/** The direction of a vector; `y` comes first. */
export const atan2 = (y, x) => exports().testudo_atan2(y, x) >>> 0;

/** What the library says: a call was refused. */
export class TestudoError extends Error {
  constructor(status) {
    super(textAt(exports().testudo_error()));
    this.name = "TestudoError";
    /** TESTUDO_OUT_OF_RANGE and so on, as in testudo.h. */
    this.status = status;
  }
}

/** Throws unless the status is 0. */
export function check(status) {
  if (status !== 0) throw new TestudoError(status);
}

/** What a function counts; throws if it says that it has failed. */
export function counted(count) {
  if (count < 0) throw new TestudoError(-count);
  return count;
}

// ---- Structures, as in testudo.h

export const vec2 = struct({ x: i64, y: i64 });
export const box = struct({ min: vec2, max: vec2 });
export const segment = struct({ from: vec2, to: vec2 });
const worldDef = struct({
  gravity: vec2, bounds: box, push_factor: i64, margin: i64, restitution_threshold: i64, max_speed: i64, sleep_speed: i64, seed: u64,
  edge: u32, iterations: u32, relax_iterations: u32, sleep_ms: u32, quadtree_leaf_capacity: u32, quadtree_depth_max: u32, simd: u32,
});
const shape = struct({ radius: i64, half_extents: vec2, kind: u32 });
const material = struct({ restitution: i64, friction: i64, ground_friction: i64, damping: i64 });
const filter = struct({ layers: u32, mask: u32 });
const numbers = { shape, position: vec2, velocity: vec2, mass: i64, max_speed: i64, material, filter, user: u64 };
const flags = { kind: u32, dominance: i8, sensor: bool, enabled: bool, can_sleep: bool, lock_x: bool, lock_y: bool };
const bodyDef = struct({ ...numbers, ...flags });
const bodyState = struct({ ...numbers, box_around: box, ...flags, awake: bool, terrain: bool });
const terrainDef = struct({ restitution: i64, friction: i64, radius: i64, filter, user: u64, enabled: bool, closed: bool, one_sided: bool });
const placed = struct({ body: u64, position: vec2 });
const drawn = struct({ body: u64, x: f32, y: f32 });
const pair = struct({ a: u64, b: u64 });
const contactEvent = struct({ a: u64, b: u64, user_a: u64, user_b: u64 });
const contactHit = struct({ a: u64, b: u64, point: vec2, normal: vec2, approach_speed: i64 });
const contact = struct({ a: u64, b: u64, impulse: i64 });
export const queryFilter = struct({
  exclude: u64, filter, has_filter: bool, solids: bool, sensors: bool, statics: bool, kinematics: bool, dynamics: bool, both_sides: bool,
});
const near = struct({ body: u64, distance: i64 });
const rayHit = struct({ body: u64, point: vec2, normal: vec2, distance: i64, fraction: i64 });
const sweepHit = struct({ body: u64, position: vec2, point: vec2, normal: vec2, distance: i64, fraction: i64 });

/** Structures by their names in testudo.h. */
export const layouts = {
  Vec2: vec2, Box: box, Segment: segment, WorldDef: worldDef, Shape: shape, Material: material, Filter: filter, BodyDef: bodyDef, BodyState: bodyState,
  TerrainDef: terrainDef, Position: placed, Drawn: drawn, Pair: pair, ContactEvent: contactEvent, ContactHit: contactHit, Contact: contact,
  QueryFilter: queryFilter, Near: near, RayHit: rayHit, SweepHit: sweepHit,
};

/** A structure in memory: the library's defaults, and what the game sets of it. */
export function filled(type, fill, values) {
  const at = room(type.size);
  fill(at);
  type.write(at, values);
  return at;
}

/** What a function writes through its last pointer. */
export function out(type, run) {
  const at = room(type.size);
  check(run(at));
  return type.read(at);
}

/** What a function `(..., out, capacity) -> count` lists. It is asked again if there are more than it had room for. */
export function list(type, run, capacity = 64) {
  const answer = withRoom(capacity * type.size, (at) => {
    const count = counted(run(at, capacity));
    return count > capacity ? count : Array.from({ length: count }, (_, index) => type.read(at + index * type.size));
  });
  return typeof answer === "number" ? list(type, run, answer) : answer;
}

/** A structure in memory for the length of a call. */
export const given = (type, value) => {
  const at = room(type.size);
  type.write(at, value);
  return at;
};

/** From a place to another. One that is left out would be the origin. */
export function way(from, to) {
  if (from === undefined || to === undefined) throw new TypeError("a place is left out");
  return given(segment, { from, to });
}

/** A circle; its radius. */
export const circle = (radius) => ({ kind: 0, radius });
/** A rectangle; half of its width and height. */
export const rect = (halfWidth, halfHeight) => ({ kind: 1, half_extents: { x: halfWidth, y: halfHeight } });

/** Hash of bytes, as the checksums of the library are made: a BigInt. */
export const hash = (bytes) => withBytes(bytes, (at, length) => BigInt.asUintN(64, exports().testudo_hash(at, length)));

/** Bytes that the library writes. */
export class Buffer {
  constructor(pointer = exports().testudo_buffer_new()) {
    this.pointer = pointer;
  }
  bytes() {
    return bytesAt(exports().testudo_buffer_data(this.pointer), exports().testudo_buffer_length(this.pointer));
  }
  /** Text without the zero at its end, if it has one. */
  text() {
    return fromUtf8(this.bytes()).replace(/\0$/, "");
  }
  append(bytes) {
    withBytes(bytes, (at, length) => check(exports().testudo_buffer_append(this.pointer, at, length)));
  }
  clear() {
    check(exports().testudo_buffer_clear(this.pointer));
  }
  free() {
    exports().testudo_buffer_free(this.pointer);
    this.pointer = 0;
  }
  /** What `run(buffer)` writes. */
  static of(run) {
    const buffer = new Buffer();
    try {
      run(buffer);
      return buffer.bytes();
    } finally {
      buffer.free();
    }
  }
}

/** A world. Whoever makes one calls `free` in the end. */
export class World {
  /** `def` names what is not default: `new World({ gravity: { x: 0n, y: -10n * ONE } })`. */
  constructor(def = {}) {
    this.pointer = call((c) => out(u32, (at) => c.testudo_world_new(filled(worldDef, (to) => check(c.testudo_world_def_default(to)), def), at)));
  }
  /** A world in a saved state, from bytes of any origin. */
  static fromBytes(bytes) {
    const world = new World();
    try {
      world.load(bytes);
    } catch (refusal) {
      world.free();
      throw refusal;
    }
    return world;
  }
  free() {
    exports().testudo_world_free(this.pointer);
    this.pointer = 0;
  }
  step(framesPerSecond) {
    check(exports().testudo_world_step(this.pointer, framesPerSecond));
  }
  get frame() {
    return this.#known(exports().testudo_world_frame(this.pointer));
  }
  checksum() {
    return BigInt.asUintN(64, this.#known(exports().testudo_world_checksum(this.pointer)));
  }
  get bodyCount() {
    return this.#known(exports().testudo_world_body_count(this.pointer));
  }
  /** A number below `bound` of the world's own generator, which is a part of its state. */
  randomBelow(bound) {
    return this.#known(exports().testudo_world_random_below(this.pointer, bound)) >>> 0;
  }
  gravity() {
    return this.#read(vec2, (c, at) => c.testudo_world_gravity(this.pointer, at));
  }
  setGravity(x, y) {
    check(exports().testudo_world_set_gravity(this.pointer, x, y));
  }
  bounds() {
    return this.#read(box, (c, at) => c.testudo_world_bounds(this.pointer, at));
  }
  setBounds(bounds) {
    call((c) => check(c.testudo_world_set_bounds(this.pointer, given(box, bounds))));
  }

  // ---- The state as bytes

  /** Appends the state to a `Buffer`. */
  saveTo(buffer) {
    check(exports().testudo_world_save(this.pointer, buffer.pointer));
  }
  save() {
    return Buffer.of((buffer) => this.saveTo(buffer));
  }
  /** Bytes of any origin. If they are refused, the world stays as it was. */
  load(bytes) {
    withBytes(bytes, (at, length) => check(exports().testudo_world_load(this.pointer, at, length)));
  }
  /** In words; "" if both worlds are in the same state. */
  firstDifference(other) {
    const bytes = Buffer.of((buffer) => {
      counted(exports().testudo_world_first_difference(this.pointer, other.pointer, buffer.pointer));
    });
    return fromUtf8(bytes).replace(/\0$/, "");
  }

  // ---- Bodies

  /** `def` names what is not default: `world.createBody(Kind.DYNAMIC, circle(ONE), { position: { x: ONE, y: 0n }, user: 7n })`. */
  createBody(kind, form, def = {}) {
    return call((c) => {
      const fill = (to) => check(c.testudo_body_def_default(kind, given(shape, form), to));
      const body = filled(bodyDef, fill, def);
      return out(u64, (at) => c.testudo_world_create_body(this.pointer, body, at));
    });
  }
  removeBody(body) {
    check(exports().testudo_world_remove_body(this.pointer, body));
  }
  hasBody(body) {
    return counted(exports().testudo_world_has_body(this.pointer, body)) === 1;
  }
  /** Everything about a body. */
  body(body) {
    return this.#read(bodyState, (c, at) => c.testudo_world_body_state(this.pointer, body, at));
  }
  position(body) {
    return this.#read(vec2, (c, at) => c.testudo_world_position(this.pointer, body, at));
  }
  velocity(body) {
    return this.#read(vec2, (c, at) => c.testudo_world_velocity(this.pointer, body, at));
  }
  user(body) {
    return this.#read(u64, (c, at) => c.testudo_world_user(this.pointer, body, at));
  }
  setMaterial(body, values) {
    call((c) => {
      const at = given(material, this.body(body).material);
      material.write(at, values);
      check(c.testudo_world_set_material(this.pointer, body, at));
    });
  }
  setShape(body, form) {
    call((c) => check(c.testudo_world_set_shape(this.pointer, body, given(shape, form))));
  }
  isPairIgnored(a, b) {
    return counted(exports().testudo_world_is_pair_ignored(this.pointer, a, b)) === 1;
  }

  // ---- Terrain

  createPolygon(points, def = {}) {
    return this.#terrain(points, def, (c, settings, list, count) => out(u64, (at) => c.testudo_world_create_polygon(this.pointer, settings, list, count, at)));
  }
  /** The handles of its segments. */
  createChain(points, def = {}) {
    // A chain of n points has n segments at most.
    return this.#terrain(points, def, (c, settings, list, count) =>
      withRoom(count * 8, (at) => {
        const made = counted(c.testudo_world_create_chain(this.pointer, settings, list, count, at, count));
        return Array.from({ length: made }, (_, index) => u64.read(at + 8 * index));
      }),
    );
  }
  terrainPoints(body) {
    return this.#list(vec2, (c, at, most) => c.testudo_world_terrain_points(this.pointer, body, at, most));
  }

  // ---- Lists

  bodies() {
    return this.#list(u64, (c, at, most) => c.testudo_world_bodies(this.pointer, at, most));
  }
  positions() {
    return this.#list(placed, (c, at, most) => c.testudo_world_positions(this.pointer, at, most));
  }
  /** Numbers for drawing between the last two frames; `alpha` of a match, 0 to 65,536. */
  interpolated(alpha) {
    return this.#list(drawn, (c, at, most) => c.testudo_world_interpolated(this.pointer, alpha, at, most));
  }
  movedBodies() {
    return this.#list(u64, (c, at, most) => c.testudo_world_moved_bodies(this.pointer, at, most));
  }
  ignoredPairs() {
    return this.#list(pair, (c, at, most) => c.testudo_world_ignored_pairs(this.pointer, at, most));
  }
  /** Of the last step: `Events.CONTACTS_BEGAN` and so on. */
  events(which) {
    return this.#list(contactEvent, (c, at, most) => c.testudo_world_events(this.pointer, which, at, most));
  }
  contactHits() {
    return this.#list(contactHit, (c, at, most) => c.testudo_world_contact_hits(this.pointer, at, most));
  }
  listContactHits(yes) {
    check(exports().testudo_world_list_contact_hits(this.pointer, flag(yes)));
  }
  listStayedContacts(yes) {
    check(exports().testudo_world_list_stayed_contacts(this.pointer, flag(yes)));
  }
  contacts() {
    return this.#list(contact, (c, at, most) => c.testudo_world_contacts(this.pointer, at, most));
  }
  contactsOf(body) {
    return this.#list(contact, (c, at, most) => c.testudo_world_contacts_of(this.pointer, body, at, most));
  }

  // ---- Queries. `filter` names what is not default.

  queryArea(area, filter = {}) {
    return this.#query(u64, filter, (c, by, at, most) => c.testudo_world_query_area(this.pointer, given(box, area), by, at, most));
  }
  queryAreaExact(area, filter = {}) {
    return this.#query(u64, filter, (c, by, at, most) => c.testudo_world_query_area_exact(this.pointer, given(box, area), by, at, most));
  }
  queryPoint(point, filter = {}) {
    return this.#query(u64, filter, (c, by, at, most) => c.testudo_world_query_point(this.pointer, given(vec2, point), by, at, most));
  }
  queryShape(form, position, filter = {}) {
    const run = (c, by, at, most) => c.testudo_world_query_shape(this.pointer, given(shape, form), given(vec2, position), by, at, most);
    return this.#query(u64, filter, run);
  }
  /** The `count` nearest bodies, the nearest first. Infinity: all. */
  nearest(point, distance, count, filter = {}) {
    if (!(count >= 0)) throw new RangeError(`${count} is no number of bodies`);
    const run = (c, by, at, most) => c.testudo_world_nearest(this.pointer, given(vec2, point), distance, by, at, most);
    return this.#query(near, filter, run, Math.min(Math.floor(count), this.bodyCount));
  }
  /** The first body that a ray meets, or null. */
  rayCast(from, to, filter = {}) {
    return this.#query(rayHit, filter, (c, by, at) => c.testudo_world_ray_cast(this.pointer, way(from, to), by, at))[0] ?? null;
  }
  rayCastAll(from, to, filter = {}) {
    return this.#query(rayHit, filter, (c, by, at, most) => c.testudo_world_ray_cast_all(this.pointer, way(from, to), by, at, most));
  }
  /** The first body that a moving shape meets, or null. */
  sweep(form, from, to, filter = {}) {
    const run = (c, by, at) => c.testudo_world_sweep(this.pointer, given(shape, form), way(from, to), by, at);
    return this.#query(sweepHit, filter, run)[0] ?? null;
  }
  sweepAll(form, from, to, filter = {}) {
    const run = (c, by, at, most) => c.testudo_world_sweep_all(this.pointer, given(shape, form), way(from, to), by, at, most);
    return this.#query(sweepHit, filter, run);
  }

  /** A number that is 0 also if the call was refused. */
  #known(number) {
    if (Number(number) === 0) counted(exports().testudo_world_has_body(this.pointer, NO_BODY));
    return number;
  }
  #read(type, run) {
    return call((c) => out(type, (at) => run(c, at)));
  }
  #list(type, run) {
    return call((c) => list(type, (at, most) => run(c, at, most)));
  }
  #query(type, values, run, most = 64) {
    return call((c) => {
      const by = filled(queryFilter, (to) => check(c.testudo_query_filter_default(to)), values);
      return list(type, (at, capacity) => run(c, by, at, capacity), most);
    });
  }
  #terrain(points, def, run) {
    return call((c) => {
      const settings = filled(terrainDef, (to) => check(c.testudo_terrain_def_default(to)), def);
      return withRoom(points.length * vec2.size, (at) => {
        array(vec2, points.length).write(at, points);
        return run(c, settings, at, points.length);
      });
    });
  }
}

// Setters that take nothing but numbers: world.setVelocity(body, x, y) is testudo_world_set_velocity(world, body, x, y). Yes and no are true and false.
const setters = [
  "set_position", "set_velocity", "apply_impulse", "apply_force", "move_kinematic", "set_mass", "set_damping", "set_max_speed", "set_filter", "set_kind",
  "set_dominance", "set_user", "set_sensor", "set_enabled", "set_can_sleep", "set_locked_axes", "wake_body", "sleep_body", "set_pair_ignored",
];
for (const name of setters) {
  const method = name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  World.prototype[method] = function (...values) {
    check(exports()[`testudo_world_${name}`](this.pointer, ...values));
  };
}
