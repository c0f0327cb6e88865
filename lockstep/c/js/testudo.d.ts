// Types of testudo.mjs. Units and ranges: testudo.h, whose names the fields of structures have.

/** A number of the simulation, with 16 fraction bits: 65536n is 1. */
export type Fx = bigint;
/** The handle of a body. */
export type Body = bigint;
/** Bytes that go in; of an array, whole numbers from 0 to 255. */
export type Bytes = Uint8Array | Uint8ClampedArray | Int8Array | ArrayBuffer | DataView | number[];
export interface Vec2 { x: Fx; y: Fx }
export interface Box { min: Vec2; max: Vec2 }

/**
 * Starts the library, before all else; a second call gets the promise of the first one.
 * In a page `init(fetch("testudo.wasm"))`, in node `init(readFile("testudo.wasm"))`.
 */
export function init(source: BufferSource | Response | WebAssembly.Module | Promise<BufferSource | Response | WebAssembly.Module>): Promise<void>;
/** All functions of testudo.h that a page has, with pointers as numbers, and `memory`. */
export function functions(): WebAssembly.Exports;
export function versions(): { sim: number; movement: number; snapshot: number; protocol: number };
/** The time of a clock that never goes back, in microseconds. */
export function now(): bigint;

export const ONE: Fx;
export const NO_BODY: Body;
/** A constant of the game as the simulation counts. Not for results of floats: those differ from machine to machine. */
export function fx(number: number): Fx;
/** For drawing only. */
export function toNumber(fixed: Fx): number;
// Arithmetic for rules, the same on every machine, which that of floats is not. Angles: 2^32 is a whole turn, and they go around.
export function mul(a: Fx, b: Fx): Fx;
export function div(a: Fx, b: Fx): Fx;
export function sqrt(number: Fx): Fx;
export function length(x: Fx, y: Fx): Fx;
export function sin(angle: number): Fx;
export function cos(angle: number): Fx;
/** The direction of a vector; `y` comes first. */
export function atan2(y: Fx, x: Fx): number;
/** Hash of bytes, for the checksum of a game's own numbers. */
export function hash(bytes: Bytes): bigint;

/** A call was refused. */
export class TestudoError extends Error {
  readonly status: number;
}

/** Bytes that the library writes. */
export class Buffer {
  constructor();
  bytes(): Uint8Array;
  text(): string;
  append(bytes: Bytes): void;
  clear(): void;
  free(): void;
}

// ---- Physics

export const Kind: { readonly STATIC: 0; readonly KINEMATIC: 1; readonly DYNAMIC: 2 };
export const Events: {
  readonly CONTACTS_BEGAN: 0; readonly CONTACTS_ENDED: 1; readonly CONTACTS_STAYED: 2; readonly SENSORS_BEGAN: 3; readonly SENSORS_ENDED: 4;
};
export interface Shape { kind: number; radius?: Fx; half_extents?: Vec2 }
export function circle(radius: Fx): Shape;
export function rect(halfWidth: Fx, halfHeight: Fx): Shape;
export interface Material { restitution: Fx; friction: Fx; ground_friction: Fx; damping: Fx }
export interface Filter { layers: number; mask: number }

export interface WorldDef {
  gravity: Vec2; bounds: Box; push_factor: Fx; margin: Fx; restitution_threshold: Fx; max_speed: Fx; sleep_speed: Fx; seed: bigint;
  edge: number; iterations: number; relax_iterations: number; sleep_ms: number; quadtree_leaf_capacity: number; quadtree_depth_max: number; simd: number;
}
export interface BodyDef {
  position: Partial<Vec2>; velocity: Partial<Vec2>; mass: Fx; max_speed: Fx; material: Partial<Material>; filter: Partial<Filter>; user: bigint;
  dominance: number; sensor: boolean; enabled: boolean; can_sleep: boolean; lock_x: boolean; lock_y: boolean;
}
export interface BodyState {
  kind: number; shape: Required<Shape>; position: Vec2; velocity: Vec2; mass: Fx; max_speed: Fx; material: Material; filter: Filter; user: bigint;
  box_around: Box; dominance: number; sensor: boolean; enabled: boolean; can_sleep: boolean; lock_x: boolean; lock_y: boolean; awake: boolean;
  terrain: boolean;
}
export interface TerrainDef {
  restitution: Fx; friction: Fx; radius: Fx; filter: Partial<Filter>; user: bigint; enabled: boolean; closed: boolean; one_sided: boolean;
}
export interface ContactEvent { a: Body; b: Body; user_a: bigint; user_b: bigint }
export interface ContactHit { a: Body; b: Body; point: Vec2; normal: Vec2; approach_speed: Fx }
export interface Contact { a: Body; b: Body; impulse: Fx }
export interface QueryFilter {
  exclude: Body; filter: Filter; has_filter: boolean; solids: boolean; sensors: boolean; statics: boolean; kinematics: boolean; dynamics: boolean;
  both_sides: boolean;
}
export interface RayHit { body: Body; point: Vec2; normal: Vec2; distance: Fx; fraction: Fx }
export interface SweepHit extends RayHit { position: Vec2 }

export class World {
  /** `def` names what is not default. */
  constructor(def?: Partial<WorldDef>);
  free(): void;
  /** A world in a saved state, from bytes of any origin. */
  static fromBytes(bytes: Bytes): World;
  step(framesPerSecond: number): void;
  readonly frame: bigint;
  readonly bodyCount: number;
  checksum(): bigint;
  /** A number below `bound` of the world's own generator, which is a part of its state. */
  randomBelow(bound: number): number;
  gravity(): Vec2;
  setGravity(x: Fx, y: Fx): void;
  bounds(): Box;
  setBounds(bounds: Box): void;

  /** Appends the state. */
  saveTo(buffer: Buffer): void;
  save(): Uint8Array;
  /** Bytes of any origin. If they are refused, the world stays as it was. */
  load(bytes: Bytes): void;
  /** In words; "" if both worlds are in the same state. */
  firstDifference(other: World): string;

  createBody(kind: number, form: Shape, def?: Partial<BodyDef>): Body;
  removeBody(body: Body): void;
  hasBody(body: Body): boolean;
  body(body: Body): BodyState;
  position(body: Body): Vec2;
  velocity(body: Body): Vec2;
  user(body: Body): bigint;
  setPosition(body: Body, x: Fx, y: Fx): void;
  setVelocity(body: Body, x: Fx, y: Fx): void;
  applyImpulse(body: Body, x: Fx, y: Fx): void;
  applyForce(body: Body, x: Fx, y: Fx): void;
  moveKinematic(body: Body, x: Fx, y: Fx, framesPerSecond: number): void;
  setMass(body: Body, mass: Fx): void;
  setDamping(body: Body, damping: Fx): void;
  setMaxSpeed(body: Body, speed: Fx): void;
  setFilter(body: Body, layers: number, mask: number): void;
  setKind(body: Body, kind: number): void;
  setDominance(body: Body, dominance: number): void;
  setUser(body: Body, user: bigint): void;
  setSensor(body: Body, yes: boolean): void;
  setEnabled(body: Body, yes: boolean): void;
  setCanSleep(body: Body, yes: boolean): void;
  setLockedAxes(body: Body, x: boolean, y: boolean): void;
  setMaterial(body: Body, values: Partial<Material>): void;
  setShape(body: Body, form: Shape): void;
  wakeBody(body: Body): void;
  sleepBody(body: Body): void;
  setPairIgnored(a: Body, b: Body, yes: boolean): void;
  isPairIgnored(a: Body, b: Body): boolean;

  createPolygon(points: Vec2[], def?: Partial<TerrainDef>): Body;
  /** The handles of its segments. */
  createChain(points: Vec2[], def?: Partial<TerrainDef>): Body[];
  terrainPoints(body: Body): Vec2[];

  bodies(): Body[];
  positions(): { body: Body; position: Vec2 }[];
  /** For drawing between the last two frames; `alpha` of a match, 0 to 65,536. */
  interpolated(alpha: number): { body: Body; x: number; y: number }[];
  movedBodies(): Body[];
  ignoredPairs(): { a: Body; b: Body }[];
  /** Of the last step: `Events.CONTACTS_BEGAN` and so on. */
  events(which: number): ContactEvent[];
  contactHits(): ContactHit[];
  listContactHits(yes: boolean): void;
  listStayedContacts(yes: boolean): void;
  contacts(): Contact[];
  contactsOf(body: Body): Contact[];

  queryArea(area: Box, filter?: Partial<QueryFilter>): Body[];
  queryAreaExact(area: Box, filter?: Partial<QueryFilter>): Body[];
  queryPoint(point: Vec2, filter?: Partial<QueryFilter>): Body[];
  queryShape(form: Shape, position: Vec2, filter?: Partial<QueryFilter>): Body[];
  /** The `count` nearest bodies, the nearest first. Infinity: all. */
  nearest(point: Vec2, distance: Fx, count: number, filter?: Partial<QueryFilter>): { body: Body; distance: Fx }[];
  rayCast(from: Vec2, to: Vec2, filter?: Partial<QueryFilter>): RayHit | null;
  rayCastAll(from: Vec2, to: Vec2, filter?: Partial<QueryFilter>): RayHit[];
  sweep(form: Shape, from: Vec2, to: Vec2, filter?: Partial<QueryFilter>): SweepHit | null;
  sweepAll(form: Shape, from: Vec2, to: Vec2, filter?: Partial<QueryFilter>): SweepHit[];
}

// ---- Movement

export const MoveKind: {
  readonly ARRIVED: 0; readonly UNREACHABLE: 1; readonly GAVE_UP: 2; readonly GONE: 3; readonly PREY_GONE: 4; readonly OTHER: 255;
};
export const Formation: { readonly DISC: 0; readonly ROWS: 1 };
export interface CrowdDef {
  cell: Fx; sizes: Fx[]; size_count: number; fields_max: number; cells_per_frame: number; whole_up_to: number; obstacles: Partial<QueryFilter>;
  slow_ground: boolean;
}
export interface MoveOrder { formation: number; files: number; facing: number; together: boolean }
export interface UnitState { post: Vec2; prey: Body; going: boolean; waiting: boolean }
export interface MoveEvent { unit: Body; kind: number }

/** Units that find their way: dynamic bodies of one world. In each frame `step`, then that of the world. */
export class Crowd {
  /** `def` names what is not default. */
  constructor(area: Box, def?: Partial<CrowdDef>);
  free(): void;
  step(world: World, framesPerSecond: number): void;
  checksum(): bigint;
  saveTo(buffer: Buffer): void;
  save(): Uint8Array;
  /** Bytes of any origin, with the world of the same moment. If they are refused, the crowd stays as it was. */
  load(world: World, bytes: Bytes): void;
  firstDifference(other: Crowd): string;

  add(world: World, body: Body, speed: Fx, acceleration: Fx): void;
  remove(world: World, body: Body): boolean;
  order(world: World, units: Body[], goal: Vec2, order?: Partial<MoveOrder>): void;
  send(unit: Body, goal: Vec2, place: Vec2): void;
  pursue(world: World, unit: Body, prey: Body, reach: Fx): void;
  stop(world: World, units: Body[]): void;
  unit(body: Body): UnitState;
  events(): MoveEvent[];

  /** Looks at all obstacles: before the first order. */
  survey(world: World): void;
  surveyArea(world: World, area: Box): void;
  setCost(world: World, area: Box, cost: number): void;
  isOpen(point: Vec2, radius: Fx): boolean;
  nearestOpen(point: Vec2, radius: Fx): Vec2 | null;
  findPath(from: Vec2, to: Vec2, radius: Fx, cellsMax: number): { at: Vec2; left: Fx }[];
  drawGround(radius: Fx): { cell: Box; cost: number }[];
  drawFlow(unit: Body): { from: Vec2; to: Vec2; left: Fx }[];
  drawUnits(): { unit: Body; post: Vec2; aim: Vec2; has_aim: boolean }[];
}

// ---- Lockstep

export const WATCHER: number;
export const NOBODY: number;
export const NO_PEER: number;
/** A time in settings that never comes. */
export const NEVER: number;
// Numbers in settings: `topology`, `turns.pace`, `controls.who`; and of `resign`.
export const Topology: { readonly HOST: 0; readonly RELAY: 1; readonly MESH: 2 };
export const Pace: { readonly FIXED: 0; readonly ADAPTIVE: 1; readonly ARTICLE: 2 };
export const Controls: { readonly EVERYBODY: 0; readonly MAJORITY: 1; readonly HOST: 2 };
export const Successor: { readonly AS_CONFIGURED: 0; readonly NOBODY: 1; readonly BOT: 2 };
export const Phase: {
  readonly LOBBY: 0; readonly RUNNING: 1; readonly ENDING: 2; readonly FINISHED: 3; readonly LEFT: 4; readonly FAILED: 5; readonly NONE: 255;
};
export const To: { readonly EVERYBODY: 256; readonly MIDDLE: 257 };
/** Numbers of events: `EventKind.DESYNC` and so on, as in testudo.h. */
export const EventKind: { readonly [name: string]: number };

/** The game: what TestudoGame in testudo.h says of its functions holds here. What one throws comes out of the call that ran it. None may be async. */
export interface Game {
  /** Greatest number of bits of an order, 1 to 4,096. */
  actionBits: number;
  /** Left out: every order has exactly `actionBits`. The bytes may be a stranger's: answer 0 if they are no order, and do not throw. */
  actionLength?(data: Uint8Array, bits: number): number;
  apply(player: number, data: Uint8Array, bits: number): void;
  step(framesPerSecond: number): void;
  checksum(): bigint;
  turnStarted?(turn: number, frames: number): void;
  turnEnded?(turn: number, checksum: bigint): void;
  playerGone?(player: number, turn: number): void;
  playerSurrendered?(player: number, turn: number): void;
  playerTakenOver?(player: number, turn: number): void;
  playerReturned?(player: number, turn: number): void;
  playFor?(player: number, turn: number): void;
  /** Appends the whole state to a buffer, which is of no use afterwards. False: it could not. */
  save?(buffer: Buffer): boolean | void;
  /**
   * The bytes are a stranger's. False: they are no state of this game, and nothing has changed. A TestudoError says the same, as of `World.load`; do not
   * throw anything else.
   */
  load?(bytes: Uint8Array): boolean | void;
  savePoint?(turn: number): void;
  result?(): number | null | undefined;
  isOver?(): boolean;
  /** Names the numbers of the state, all of them in an order that follows from the state. Call `messages`, also if the game has none. */
  visit?(numbers: Visit): void;
}

/** To whom a game shows its numbers, within its function `visit` only: afterwards it refuses them. */
export interface Visit {
  /** The following numbers belong to this object: unit 17. */
  object(kind: string, index: number): void;
  number(name: string, value: bigint | number): void;
  world(world: World): void;
  crowd(crowd: Crowd): void;
}

/** TestudoConfig in testudo.h. All but the number of players has a default. */
export interface Settings {
  session_id?: bigint; content_hash?: bigint; game_data?: Bytes; rules_version?: number; engine_version?: number; topology?: number;
  sides: { players: number; host_player?: number; teams?: number[]; bots_take_over?: boolean; rotate_players?: boolean };
  turns?: {
    frames_per_second?: number; frames_per_turn?: number; turns_ahead?: number; count?: number; pace?: number; actions_max?: number; bytes_max?: number;
    checksum_interval?: number;
  };
  controls?: { who?: number; pauses_max?: number; pause_max_ms?: number; speed_changes_max?: number };
  arrivals?: {
    watchers_max?: number; late_watchers?: number; late_joins_ms?: number; watch_delay_ms?: number; watchers_min?: number; state_bytes_max?: number;
    state_rate?: number; join_timeout_ms?: number;
  };
  waits?: {
    drop_after_ms?: number; connect_timeout_ms?: number; lobby_timeout_ms?: number; silence_timeout_ms?: number; waiting_notice_ms?: number;
    linger_ms?: number;
  };
  own?: {
    entropy?: ArrayLike<number>; place_secret?: ArrayLike<number>; saved?: Bytes; queue_max?: number; catch_up_frames?: number; playout_ms?: number;
    records?: boolean;
  };
}

/** `values` of `DIFFERENCE` have a sign: `BigInt.asIntN(64, values[0])`. */
export interface MatchEvent {
  kind: number; turn: number; peer: number; player: number; other: number; players: number; number: bigint; values: bigint[];
  /** The same in English. */
  words: string;
}

/** One peer's part of a match. */
export class Match {
  private constructor();
  /** Of one player alone, without a network. */
  static single(settings: Settings, game: Game, nowUs?: bigint): Match;
  static host(settings: Settings, game: Game, nowUs?: bigint): Match;
  /** `peer`: the number that packets from the host have in `handlePacket`. */
  static join(settings: Settings, game: Game, player: number, peer?: number, nowUs?: bigint): Match;
  static watch(settings: Settings, game: Game, peer?: number, nowUs?: bigint): Match;
  /** Throws within a function of its own game. */
  free(): void;

  connect(peer: number): void;
  /** `packet`: bytes that have come. Any value is allowed, as a text message of a stranger: what is no packet is counted in `stats().packets_malformed`. */
  handlePacket(peer: number, packet: unknown, nowUs?: bigint): void;
  /** Runs the frames that are due. */
  advance(nowUs?: bigint): { frames: number; turns: number; stalled: boolean };
  /** The packets that are to be sent now. */
  packets(nowUs?: bigint): { peer: number; bytes: Uint8Array }[];
  /** At the end of a round: microseconds of work in it, without waits. */
  noteWork(simulatedUs: number | bigint, drawnUs: number | bigint): void;
  /** When to run the next round unless a packet comes before. */
  nextCall(): bigint | null;
  events(): MatchEvent[];

  submit(bytes: Bytes, bits: number): void;
  maySubmit(): boolean;

  readonly phase: number;
  readonly isOver: boolean;
  readonly player: number;
  /** The next turn to run. */
  readonly turn: number;
  readonly frame: number;
  readonly isPaused: boolean;
  readonly isCatchingUp: boolean;
  readonly missingPlayers: number[];
  readonly presentPlayers: number[];
  readonly readyPlayers: number[];
  /** Between the last two frames, 0 to 65,536: for drawing. */
  alpha(nowUs?: bigint): number;
  /** TestudoMatchStats in testudo.h. */
  stats(): { [name: string]: bigint };

  pause(yes: boolean): void;
  setSpeed(percent: number): void;
  setReady(yes: boolean): void;
  profile(player: number): Uint8Array;
  setProfile(player: number, bytes: Bytes): void;
  sendMessage(to: number, message: string | Bytes): void;
  messages(): { from: number; bytes: Uint8Array; text: string }[];
  voteOut(player: number, yes?: boolean): void;
  kick(player: number): void;
  /** `successor`: one of `Successor`. */
  resign(successor?: number): void;
  leave(): void;
  save(): void;
  takeSaved(): Uint8Array;
  /** Append it to the file. Look at `replayFile` before: another number, another file. */
  takeReplay(): Uint8Array;
  /** Which file the next piece belongs to: 0, and one more each time that a state was loaded. */
  readonly replayFile: number;
  finishReplay(): void;
}
