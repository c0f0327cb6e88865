// Movement: units that find their way. Units and ranges: testudo.h.
import { array, bool, call, exports, fromUtf8, i64, struct, u32, u64, withBytes, withRoom } from "./memory.mjs";
import { box, Buffer, check, counted, filled, given, list, out, queryFilter, vec2, way } from "./world.mjs";

export const MoveKind = Object.freeze({ ARRIVED: 0, UNREACHABLE: 1, GAVE_UP: 2, GONE: 3, PREY_GONE: 4, OTHER: 255 });
export const Formation = Object.freeze({ DISC: 0, ROWS: 1 });

const crowdDef = struct({
  area: box, cell: i64, sizes: array(i64, 4), size_count: u32, fields_max: u32, cells_per_frame: u32, whole_up_to: u32, obstacles: queryFilter,
  slow_ground: bool,
});
const moveOrder = struct({ goal: vec2, formation: u32, files: u32, facing: u32, together: bool });
const unitState = struct({ post: vec2, prey: u64, going: bool, waiting: bool });
const moveEvent = struct({ unit: u64, kind: u32 });
const corner = struct({ at: vec2, left: i64 });
const groundCell = struct({ cell: box, cost: u32 });
const flowArrow = struct({ from: vec2, to: vec2, left: i64 });
const unitWay = struct({ unit: u64, post: vec2, aim: vec2, has_aim: bool });

/** Structures by their names in testudo.h. */
export const layouts = {
  CrowdDef: crowdDef, MoveOrder: moveOrder, UnitState: unitState, MoveEvent: moveEvent, Corner: corner, GroundCell: groundCell, FlowArrow: flowArrow,
  UnitWay: unitWay,
};

/**
 * Units that find their way: dynamic bodies of one world, which every call gets beside the crowd. In each frame `step`, then that of the world. Whoever makes
 * one calls `free` in the end.
 */
export class Crowd {
  /** `def` names what is not default: `new Crowd(area, { sizes: [ONE], cells_per_frame: 4_000 })`. All its sizes count. */
  constructor(area, def = {}) {
    const values = def.sizes ? { size_count: def.sizes.length, ...def } : def;
    const fill = (to) => check(exports().testudo_crowd_def_default(given(box, area), to));
    this.pointer = call((c) => out(u32, (at) => c.testudo_crowd_new(filled(crowdDef, fill, values), at)));
  }
  free() {
    exports().testudo_crowd_free(this.pointer);
    this.pointer = 0;
  }
  step(world, framesPerSecond) {
    check(exports().testudo_crowd_step(this.pointer, world.pointer, framesPerSecond));
  }
  checksum() {
    const sum = BigInt.asUintN(64, exports().testudo_crowd_checksum(this.pointer));
    // 0 if it was refused: no crowd has this one.
    if (sum === 0n) this.events();
    return sum;
  }
  /** Appends the state to a `Buffer`. */
  saveTo(buffer) {
    check(exports().testudo_crowd_save(this.pointer, buffer.pointer));
  }
  save() {
    return Buffer.of((buffer) => this.saveTo(buffer));
  }
  /** Bytes of any origin, with the world of the same moment. If they are refused, the crowd stays as it was. */
  load(world, bytes) {
    withBytes(bytes, (at, length) => check(exports().testudo_crowd_load(this.pointer, world.pointer, at, length)));
  }
  /** In words; "" if both crowds are in the same state. */
  firstDifference(other) {
    const bytes = Buffer.of((buffer) => counted(exports().testudo_crowd_first_difference(this.pointer, other.pointer, buffer.pointer)));
    return fromUtf8(bytes).replace(/\0$/, "");
  }

  // ---- Units and orders

  add(world, body, speed, acceleration) {
    check(exports().testudo_crowd_add(this.pointer, world.pointer, body, speed, acceleration));
  }
  /** Whether it was a unit. */
  remove(world, body) {
    return counted(exports().testudo_crowd_remove(this.pointer, world.pointer, body)) === 1;
  }
  /** `goal`: a place. `order` names what is not default: `crowd.order(world, units, goal, { formation: Formation.ROWS, files: 8 })`. */
  order(world, units, goal, order = {}) {
    this.#named(units, (c, list, count) => {
      const at = filled(moveOrder, (to) => check(c.testudo_move_order_go(goal.x, goal.y, to)), order);
      return c.testudo_crowd_order(this.pointer, world.pointer, list, count, at);
    });
  }
  send(unit, goal, place) {
    call((c) => check(c.testudo_crowd_send(this.pointer, unit, given(vec2, goal), given(vec2, place))));
  }
  pursue(world, unit, prey, reach) {
    check(exports().testudo_crowd_pursue(this.pointer, world.pointer, unit, prey, reach));
  }
  stop(world, units) {
    this.#named(units, (c, list, count) => c.testudo_crowd_stop(this.pointer, world.pointer, list, count));
  }
  /** { post, prey, going, waiting } */
  unit(body) {
    return call((c) => out(unitState, (at) => c.testudo_crowd_unit_state(this.pointer, body, at)));
  }
  /** Of the last step: [{ unit, kind }], `kind` one of `MoveKind`. */
  events() {
    return this.#list(moveEvent, (c, at, most) => c.testudo_crowd_events(this.pointer, at, most));
  }

  // ---- The ground

  /** Looks at all obstacles: before the first order. */
  survey(world) {
    check(exports().testudo_crowd_survey(this.pointer, world.pointer));
  }
  surveyArea(world, area) {
    call((c) => check(c.testudo_crowd_survey_area(this.pointer, world.pointer, given(box, area))));
  }
  setCost(world, area, cost) {
    call((c) => check(c.testudo_crowd_set_cost(this.pointer, world.pointer, given(box, area), cost)));
  }
  isOpen(point, radius) {
    return call((c) => counted(c.testudo_crowd_is_open(this.pointer, given(vec2, point), radius))) === 1;
  }
  /** The nearest place for a unit of this radius, or null. */
  nearestOpen(point, radius) {
    const find = (c, at) => c.testudo_crowd_nearest_open(this.pointer, given(vec2, point), radius, at);
    return this.#list(vec2, find)[0] ?? null;
  }
  /** The corners of a path, none if there is no path: [{ at, left }]. */
  findPath(from, to, radius, cellsMax) {
    const find = (c, at, most) => c.testudo_crowd_find_path(this.pointer, way(from, to), radius, cellsMax, at, most);
    return this.#list(corner, find);
  }

  // ---- For pictures

  drawGround(radius) {
    return this.#list(groundCell, (c, at, most) => c.testudo_crowd_draw_ground(this.pointer, radius, at, most));
  }
  drawFlow(unit) {
    return this.#list(flowArrow, (c, at, most) => c.testudo_crowd_draw_flow(this.pointer, unit, at, most));
  }
  drawUnits() {
    return this.#list(unitWay, (c, at, most) => c.testudo_crowd_draw_units(this.pointer, at, most));
  }

  #list(type, run) {
    return call((c) => list(type, (at, most) => run(c, at, most)));
  }
  #named(units, run) {
    call((c) => withRoom(8 * units.length, (at) => {
      array(u64, units.length).write(at, units);
      check(run(c, at, units.length));
    }));
  }
}
