/// Testudo: deterministic physics and lockstep matches. Made by cbindgen from lockstep/c/src; see lockstep/c/README.md.
///
/// A handle (TestudoWorld *, ...) is for one call at a time. What can fail returns a TestudoStatus; testudo_error() has the words. A
/// function that returns int32_t says how many there are, or 0 or 1; negative is minus a TestudoStatus. Numbers of the simulation
/// (TestudoFx) have 16 fraction bits. Structures are read and written by pointer, and need no alignment. A call that
/// fails writes no out pointer, but for those of handles, which get NULL.

#ifndef TESTUDO_H
#define TESTUDO_H

#include <stddef.h>
#include <stdint.h>

/// 1 as a `TestudoFx`.
#define TESTUDO_ONE ((int64_t)65536)
/// A quarter of a turn.
#define TESTUDO_QUARTER_TURN ((uint32_t)1073741824)
/// No speed limit of a body's own.
#define TESTUDO_NO_LIMIT ((int64_t)-1)

/// Version of this header: functions, structures, numbers. It grows when one of these is changed or taken away, and when a structure gets a
/// field: the library reads and writes structures in the size that it knows. A program whose header has another one than its library has
/// (`testudo_interface_version`) must not go on.
#define TESTUDO_INTERFACE_VERSION 1

/// A field for `testudo_world_flip_bit`: the centre, 32 bits.
#define TESTUDO_FIELD_POSITION_X 0

/// The centre, 32 bits.
#define TESTUDO_FIELD_POSITION_Y 1

/// The velocity, 32 bits.
#define TESTUDO_FIELD_VELOCITY_X 2

/// The velocity, 32 bits.
#define TESTUDO_FIELD_VELOCITY_Y 3

/// The game's own value, 64 bits.
#define TESTUDO_FIELD_USER 4

/// The centre of a body stops at the edge of the world, and the velocity across it becomes zero.
#define TESTUDO_EDGE_STOP 0

/// The velocity across the edge is reversed and multiplied by the body's restitution.
#define TESTUDO_EDGE_BOUNCE 1

/// What every machine of the target has.
#define TESTUDO_SIMD_PLAIN 0

/// Registers of at most 128 bits.
#define TESTUDO_SIMD_BITS128 1

/// Registers of at most 256 bits.
#define TESTUDO_SIMD_BITS256 2

/// The widest registers of the machine.
#define TESTUDO_SIMD_WIDEST 3

/// The body never moves: ground, walls, buildings.
#define TESTUDO_STATIC 0

/// It moves with the velocity that the game sets. It pushes dynamic bodies, and nothing pushes it.
#define TESTUDO_KINEMATIC 1

/// It moves by velocity, contacts, forces, gravity, friction and damping.
#define TESTUDO_DYNAMIC 2

/// A circle.
#define TESTUDO_CIRCLE 0

/// An axis-aligned rectangle.
#define TESTUDO_RECT 1

/// Contacts that began in the last step.
#define TESTUDO_CONTACTS_BEGAN 0

/// Contacts that ended in the last step.
#define TESTUDO_CONTACTS_ENDED 1

/// Contacts of moving bodies that went on; empty unless `testudo_world_list_stayed_contacts` is on.
#define TESTUDO_CONTACTS_STAYED 2

/// Overlaps with sensors that began in the last step.
#define TESTUDO_SENSORS_BEGAN 3

/// Overlaps with sensors that ended in the last step.
#define TESTUDO_SENSORS_ENDED 4

/// As close to the goal as there is room.
#define TESTUDO_FORMATION_DISC 0

/// Rows across the facing, the goal in the middle.
#define TESTUDO_FORMATION_ROWS 1

/// It stands at its place, or as near as the others let it.
#define TESTUDO_MOVE_ARRIVED 0

/// No path leads from it to its goal; it stands.
#define TESTUDO_MOVE_UNREACHABLE 1

/// It did not get nearer to its goal for 20 s; it stands.
#define TESTUDO_MOVE_GAVE_UP 2

/// Its body is gone; it is no unit any more.
#define TESTUDO_MOVE_GONE 3

/// The body that it pursued is gone; it stands.
#define TESTUDO_MOVE_PREY_GONE 4

/// Anything else.
#define TESTUDO_MOVE_OTHER 255

/// Greatest number of players.
#define TESTUDO_PLAYERS_MAX 16

/// A time that never comes, and what is never done, where the docs allow it.
#define TESTUDO_NEVER UINT32_MAX

/// Everybody has one link to the host, which forwards.
#define TESTUDO_TOPOLOGY_HOST 0

/// Everybody has one link to a relay, which forwards and does not play.
#define TESTUDO_TOPOLOGY_RELAY 1

/// Everybody has a link to everybody.
#define TESTUDO_TOPOLOGY_MESH 2

/// Turns and frames stay as set.
#define TESTUDO_PACE_FIXED 0

/// Turns are as long as the network needs.
#define TESTUDO_PACE_ADAPTIVE 1

/// As in the articles "Lockstep Implementation in Unity3D".
#define TESTUDO_PACE_ARTICLE 2

/// Every player may pause and set the speed, within its budget.
#define TESTUDO_CONTROLS_EVERYBODY 0

/// More than half of the players must ask for the same.
#define TESTUDO_CONTROLS_MAJORITY 1

/// Only the host's player may.
#define TESTUDO_CONTROLS_HOST 2

/// Instead of a player: a relay.
#define TESTUDO_RELAY 253

/// Instead of a player: a watcher.
#define TESTUDO_WATCHER 254

/// Instead of a player: nobody.
#define TESTUDO_NOBODY 255

/// Instead of the number of a link: none.
#define TESTUDO_NO_PEER UINT32_MAX

/// Events were lost because nobody took them: `number`. Those that a program needs are never lost.
#define TESTUDO_EVENT_LOST 1

/// A peer is here: `peer`, and `player` says who (or `TESTUDO_WATCHER`, ...).
#define TESTUDO_EVENT_CONNECTED 2

/// A peer was refused: `peer`; the words say why.
#define TESTUDO_EVENT_REFUSED 3

/// A packet over the link `peer` claims to be from `player`, but the link is that of `other`. A host by codes has closed it. A link
/// of your own: close it, and take no more of its packets.
#define TESTUDO_EVENT_FORGED 4

/// `player` shows something else of itself (`testudo_match_profile`).
#define TESTUDO_EVENT_PROFILE 5

/// A message has not reached `players`.
#define TESTUDO_EVENT_UNDELIVERED 6

/// All are here; the match begins.
#define TESTUDO_EVENT_STARTED 7

/// `turn` cannot begin: actions of `players` are missing. `number`: microseconds until they are dropped, `UINT64_MAX` for never.
#define TESTUDO_EVENT_WAITING_FOR 8

/// `turn` cannot begin, and nothing comes from the host or relay.
#define TESTUDO_EVENT_CUT_OFF 9

/// `turn`, which was late, has begun.
#define TESTUDO_EVENT_WAITING_OVER 10

/// The others wait for `player` again and again, now in `turn`. `number`: microseconds of waiting until it is dropped.
#define TESTUDO_EVENT_OFTEN_LATE 11

/// `player` sends actions of turns that are further ahead than anybody honest can be.
#define TESTUDO_EVENT_TOO_FAR_AHEAD 12

/// In `turn`, `other` votes `player` out (`number` 1), or no longer does (0).
#define TESTUDO_EVENT_VOTE 13

/// From `turn` on frames pass at `number` percent of real time, as `player` asked.
#define TESTUDO_EVENT_SPEED 14

/// The checksums of `turn` differ. `values` are those of `players`, folded to 32 bits; `number` is this peer's. `player`: the one that
/// differs from all others, if it is one. Only the first such turn is told.
#define TESTUDO_EVENT_DESYNC 15

/// `player` sent no checksum of `turn`.
#define TESTUDO_EVENT_CHECKSUM_MISSING 16

/// From `turn` on `player` gives no more actions. `number`: a `TESTUDO_GONE_...`.
#define TESTUDO_EVENT_PLAYER_GONE 17

/// From `turn` on the game plays for `player`.
#define TESTUDO_EVENT_TAKEN_OVER 18

/// From `turn` on nobody of team `number` is in the match.
#define TESTUDO_EVENT_TEAM_OUT 19

/// The result as `players` have it: `values`, first found in `turn`. `number`: 1 if all agree.
#define TESTUDO_EVENT_RESULT 20

/// From `turn` on the game is paused (`number` 1) or goes on (0), as `player` asked.
#define TESTUDO_EVENT_PAUSED 21

/// The match is saved before `turn`, as `player` asked (`TestudoGame.save_point`).
#define TESTUDO_EVENT_SAVE_POINT 22

/// `testudo_match_take_saved` has the match as it was before `turn`.
#define TESTUDO_EVENT_SAVED 23

/// From `turn` on turns have `values[0]` frames, a frame is 1/`values[1]` s of the game, and `values[2]` frames pass in 1,000 s.
#define TESTUDO_EVENT_PLAN 24

/// This player's part ends, or the match does for this peer, and `number` of its actions may run nowhere. None is counted twice. Not in input mode.
#define TESTUDO_EVENT_CANCELLED 25

/// The watcher on link `peer` is gone.
#define TESTUDO_EVENT_WATCHER_GONE 26

/// `values[0]` of `values[1]` bytes of the running match's state are here.
#define TESTUDO_EVENT_STATE_PROGRESS 27

/// The state before `turn` was damaged or wrong; another one is asked for.
#define TESTUDO_EVENT_STATE_REFUSED 28

/// Too few players confirm the state before `turn`; `players` are suspects.
#define TESTUDO_EVENT_WRONG_STATE 29

/// This peer has the state of the running match before `turn`.
#define TESTUDO_EVENT_JOINED 30

/// This peer has run all turns before `turn`.
#define TESTUDO_EVENT_CAUGHT_UP 31

/// From `turn` on `player` is back.
#define TESTUDO_EVENT_PLAYER_RETURNED 32

/// The peer on link `peer` did not manage to come to the running match.
#define TESTUDO_EVENT_JOIN_FAILED 33

/// All turns have run, and everybody has everything.
#define TESTUDO_EVENT_FINISHED 34

/// The match ended early here; the words say why.
#define TESTUDO_EVENT_FAILED 35

/// The search after a desync is over, of a game with `visit`; the words name the number. `number`: whether it was found; then both copies were different
/// before the turn `turn`, for the first time unless the words say "or earlier", and `values[0]` is the number here, `values[1]` that of the peer that was
/// asked: numbers with a sign (`int64_t`), 0 where the words say that it is missing. Go on for some seconds: others ask, too. With `number` 0 the words
/// may also say that the game has refused its own present state when the search returned to it: leave the match then.
#define TESTUDO_EVENT_DIFFERENCE 36

/// Anything else; see the words.
#define TESTUDO_EVENT_OTHER 255

/// The player left in good order.
#define TESTUDO_GONE_LEFT 0

/// The others went on without the player.
#define TESTUDO_GONE_DROPPED 1

/// The player gave up.
#define TESTUDO_GONE_SURRENDERED 2

/// The player handed over to a bot.
#define TESTUDO_GONE_HANDED_OVER 3

/// Instead of a player: everybody else.
#define TESTUDO_EVERYBODY 256

/// Instead of a player: the host, or whoever runs the relay.
#define TESTUDO_MIDDLE 257

/// Waits for the others; or gets the state of the running match.
#define TESTUDO_PHASE_LOBBY 0

/// Turns run.
#define TESTUDO_PHASE_RUNNING 1

/// All turns have run here; some peers lack something.
#define TESTUDO_PHASE_ENDING 2

/// Everybody has everything.
#define TESTUDO_PHASE_FINISHED 3

/// This player has left in good order.
#define TESTUDO_PHASE_LEFT 4

/// Ended early (`TESTUDO_EVENT_FAILED` has the reason).
#define TESTUDO_PHASE_FAILED 5

/// Not an answer: the handle is bad.
#define TESTUDO_PHASE_NONE 255

/// What `sides.bots_take_over` says follows.
#define TESTUDO_SUCCESSOR_AS_CONFIGURED 0

/// Nobody follows: the player has lost and cannot come back.
#define TESTUDO_SUCCESSOR_NOBODY 1

/// A bot follows.
#define TESTUDO_SUCCESSOR_BOT 2

/// Bytes that the library writes: saved states, packets, words. It grows as needed.
typedef struct TestudoBuffer TestudoBuffer;

/// Units that find their way: the ground, the paths to their goals, and what each unit is about.
///
/// A unit is a dynamic body of one world, which every call gets beside the crowd. In each frame `testudo_crowd_step` tells the bodies their velocities, and
/// then `testudo_world_step` moves them. The same calls in the same order give the same bits on every machine.
typedef struct TestudoCrowd TestudoCrowd;

/// A guest's way to its place, and back to it whenever the connection was lost.
typedef struct TestudoGuest TestudoGuest;

/// The sealed socket of a host: it lets in whoever has the code of a place. All packets are encrypted.
typedef struct TestudoHost TestudoHost;

/// A peer's part of a match: its session, and the game that it drives. It has neither sockets nor a clock. Times are microseconds of
/// any clock that does not go back.
typedef struct TestudoMatch TestudoMatch;

/// A recorded match.
typedef struct TestudoReplay TestudoReplay;

/// A game that plays a recorded match.
typedef struct TestudoReplayPlayer TestudoReplayPlayer;

/// A UDP socket, for networks that are trusted: anybody on the way can read and forge packets.
typedef struct TestudoUdp TestudoUdp;

/// What a game shows its numbers to, in its function `visit`; it belongs to that call.
typedef struct TestudoVisit TestudoVisit;

/// A world: bodies that collide, rest and sleep. The same calls in the same order give the same bits on every machine.
typedef struct TestudoWorld TestudoWorld;

/// What a call came to: 0, or the kind of failure. `testudo_error()` has the words. Numbers never change their meaning.
typedef int32_t TestudoStatus;

/// A number of the simulation: a whole number of 1/65,536. So `3 * TESTUDO_ONE` is 3, and `TESTUDO_ONE / 2` a half.
typedef int64_t TestudoFx;

/// An angle: 2^32 to a turn, from the x axis towards the y axis. Adding and subtracting wrap around.
typedef uint32_t TestudoAngle;

/// A vector or a point, units.
typedef struct TestudoVec2 {
  /// To the right.
  TestudoFx x;
  /// Up.
  TestudoFx y;
} TestudoVec2;

/// A seeded random generator (PCG32). Both numbers are its state: a game that uses one saves and hashes them.
typedef struct TestudoRandom {
  /// Any number.
  uint64_t state;
  /// Any number.
  uint64_t stream;
} TestudoRandom;

/// An axis-aligned box, units.
typedef struct TestudoBox {
  /// Its smallest coordinates.
  struct TestudoVec2 min;
  /// Its greatest coordinates.
  struct TestudoVec2 max;
} TestudoBox;

/// Settings of a world. `testudo_world_def_default` fills in what suits a strategy game seen from above, with bodies about one unit
/// large.
typedef struct TestudoWorldDef {
  /// Acceleration of every dynamic body, units/s^2, each axis within +-1,024. Default 0.
  struct TestudoVec2 gravity;
  /// Bounds for the centres of bodies that can move, within +-16,384 units, which is the default.
  struct TestudoBox bounds;
  /// Part of a shallow overlap that is separated per frame without gravity, 0..=1. Default 0.2.
  TestudoFx push_factor;
  /// Bodies within this distance are solved before they touch, 0..=16 units. Default 0.2.
  TestudoFx margin;
  /// Closing speed up to which restitution is ignored, units/s, 0..=1,024. Default 1.
  TestudoFx restitution_threshold;
  /// Greatest speed per axis of any body, units/s, above 0 and at most 1,024, which is the default.
  TestudoFx max_speed;
  /// A body that is not faster on either axis counts as still, units/s, 0..=1,024. Default 1/16.
  TestudoFx sleep_speed;
  /// Seed of the world's random numbers. Default 0.
  uint64_t seed;
  /// What happens at the bounds: a `TESTUDO_EDGE_...`. Default `TESTUDO_EDGE_STOP`.
  uint32_t edge;
  /// Solver passes per step, 1..=64. Default 7.
  uint32_t iterations;
  /// Passes after positions were advanced, 0..=16. Default 1.
  uint32_t relax_iterations;
  /// How long bodies must be still before they fall asleep, milliseconds, 0..=60,000; 0 = never. Default 500.
  uint32_t sleep_ms;
  /// A quadrant of the tree with more bodies splits, 1..=64. Default 8.
  uint32_t quadtree_leaf_capacity;
  /// Levels of the tree below its root, 0..=15. Default 15.
  uint32_t quadtree_depth_max;
  /// The widest instructions: a `TESTUDO_SIMD_...`. They do not affect the bits. Default `TESTUDO_SIMD_WIDEST`.
  uint32_t simd;
} TestudoWorldDef;

/// The handle of a body. Any number may be given; the world refuses those that name no body as stale. All peers have the same
/// handles, so a game may send them in orders and hash them. A removed body's handle never comes back for another body.
typedef uint64_t TestudoBody;

/// A shape. `testudo_circle` and `testudo_rect` fill it in.
typedef struct TestudoShape {
  /// Of a circle, units, 1/1,024..=4,096. A rectangle has 0.
  TestudoFx radius;
  /// Half of the width and of the height of a rectangle, units, each 1/1,024..=4,096. A circle has 0.
  struct TestudoVec2 half_extents;
  /// `TESTUDO_CIRCLE` or `TESTUDO_RECT`.
  uint32_t kind;
} TestudoShape;

/// Restitution, frictions and damping of a body.
typedef struct TestudoMaterial {
  /// Speed after a collision divided by the speed before, 0..=1. A contact uses the larger value of its two bodies.
  TestudoFx restitution;
  /// Coefficient of contact friction, 0..=4. A contact uses the geometric mean of its two bodies.
  TestudoFx friction;
  /// Deceleration by the ground in a world seen from above, units/s^2, 0..=1,024.
  TestudoFx ground_friction;
  /// Part of the velocity that is lost per second, 1/s, 0..=1,024.
  TestudoFx damping;
} TestudoMaterial;

/// Collision layers. Two bodies collide if each is in a layer of the other's mask.
typedef struct TestudoFilter {
  /// The layers that the body is in, one bit each.
  uint32_t layers;
  /// The layers that it collides with, one bit each.
  uint32_t mask;
} TestudoFilter;

/// A truth value: 0 or 1. Any other number counts as 1.
typedef uint8_t TestudoBool;

/// The definition of a body. `testudo_body_def_default` fills in defaults; one definition can create any number of bodies.
typedef struct TestudoBodyDef {
  /// Its shape.
  struct TestudoShape shape;
  /// Centre, units, each axis within +-16,384. Default 0.
  struct TestudoVec2 position;
  /// Units per second, each axis within +-1,024. Default 0.
  struct TestudoVec2 velocity;
  /// Mass of a dynamic body, 1/256..=16,384; others ignore it. Default 1.
  TestudoFx mass;
  /// Greatest speed after a step, units per second, 0..=1,024. Default `TESTUDO_NO_LIMIT`: only the world's limit per axis.
  TestudoFx max_speed;
  /// Default all 0.
  struct TestudoMaterial material;
  /// Default layer 0, all layers in the mask.
  struct TestudoFilter filter;
  /// A value of the game's own; events carry it. Default 0.
  uint64_t user;
  /// `TESTUDO_STATIC`, `TESTUDO_KINEMATIC` or `TESTUDO_DYNAMIC`.
  uint32_t kind;
  /// Rank in contacts: of two dynamic bodies the one of higher rank moves as if the other had no mass. Default 0.
  int8_t dominance;
  /// Whether it is a sensor, which reports overlaps and pushes nothing. Default 0.
  TestudoBool sensor;
  /// Whether it takes part in steps and queries. Default 1.
  TestudoBool enabled;
  /// Whether it may fall asleep. Default 1.
  TestudoBool can_sleep;
  /// Whether contacts do not move it along x. Default 0.
  TestudoBool lock_x;
  /// Whether contacts do not move it along y. Default 0.
  TestudoBool lock_y;
} TestudoBodyDef;

/// Everything about a body, as it is now.
typedef struct TestudoBodyState {
  /// Its shape; of terrain the box around it.
  struct TestudoShape shape;
  /// Centre, units.
  struct TestudoVec2 position;
  /// Units per second.
  struct TestudoVec2 velocity;
  /// Mass of a dynamic body; others have 0.
  TestudoFx mass;
  /// Greatest speed, units per second, or `TESTUDO_NO_LIMIT`.
  TestudoFx max_speed;
  /// Restitution, frictions and damping.
  struct TestudoMaterial material;
  /// Layers and mask.
  struct TestudoFilter filter;
  /// The game's own value.
  uint64_t user;
  /// The box around its shape, units.
  struct TestudoBox box_around;
  /// `TESTUDO_STATIC`, `TESTUDO_KINEMATIC` or `TESTUDO_DYNAMIC`.
  uint32_t kind;
  /// Rank in contacts.
  int8_t dominance;
  /// Whether it is a sensor.
  TestudoBool sensor;
  /// Whether it takes part in steps and queries.
  TestudoBool enabled;
  /// Whether it may fall asleep.
  TestudoBool can_sleep;
  /// Whether contacts do not move it along x.
  TestudoBool lock_x;
  /// Whether contacts do not move it along y.
  TestudoBool lock_y;
  /// Whether it is awake.
  TestudoBool awake;
  /// Whether it is a polygon or a segment of a chain.
  TestudoBool terrain;
} TestudoBodyState;

/// What polygons and chains have beside their points. `testudo_terrain_def_default` fills in defaults.
typedef struct TestudoTerrainDef {
  /// Coefficient of restitution, 0..=1. Default 0.
  TestudoFx restitution;
  /// Coefficient of contact friction, 0..=4. Default 0.
  TestudoFx friction;
  /// Of a polygon: how far the surface lies outside of the corners and edges, units, 0..=4,096. Default 0. Chains ignore it.
  TestudoFx radius;
  /// Layers and mask. Default layer 0, all layers in the mask.
  struct TestudoFilter filter;
  /// A value of the game's own; events carry it. Default 0.
  uint64_t user;
  /// Whether it takes part in steps and queries. Default 1.
  TestudoBool enabled;
  /// Of a chain: whether a last segment leads back to the first point. Default 0. Polygons ignore it.
  TestudoBool closed;
  /// Of a chain: whether only its right side, seen along the chain, is solid. Default 0. Polygons ignore it.
  TestudoBool one_sided;
} TestudoTerrainDef;

/// Where to draw a body.
typedef struct TestudoDrawn {
  /// The body.
  TestudoBody body;
  /// Units.
  float x;
  /// Units.
  float y;
} TestudoDrawn;

/// A body and its centre.
typedef struct TestudoPosition {
  /// The body.
  TestudoBody body;
  /// Its centre, units.
  struct TestudoVec2 position;
} TestudoPosition;

/// Two bodies.
typedef struct TestudoPair {
  /// One of them.
  TestudoBody a;
  /// The other one.
  TestudoBody b;
} TestudoPair;

/// Two bodies that began or ceased to touch.
typedef struct TestudoContactEvent {
  /// The body with the lower slot (the lower 32 bits of its handle).
  TestudoBody a;
  /// The other body.
  TestudoBody b;
  /// The game's own value of `a`; of a removed body the value that it had.
  uint64_t user_a;
  /// The game's own value of `b`, likewise.
  uint64_t user_b;
} TestudoContactEvent;

/// How a contact began.
typedef struct TestudoContactHit {
  /// The body with the lower slot.
  TestudoBody a;
  /// The other body.
  TestudoBody b;
  /// Where they touch, units.
  struct TestudoVec2 point;
  /// From `a` to `b`, length 1.
  struct TestudoVec2 normal;
  /// Closing speed along the normal before the step, units per second; not negative.
  TestudoFx approach_speed;
} TestudoContactHit;

/// Two bodies that touch now.
typedef struct TestudoContact {
  /// The body with the lower slot.
  TestudoBody a;
  /// The other body.
  TestudoBody b;
  /// The change of the closing speed by the contact, units per second; not negative.
  TestudoFx impulse;
} TestudoContact;

/// Which bodies a query finds. `testudo_query_filter_default` fills in: all but sensors. Disabled bodies are never found.
typedef struct TestudoQueryFilter {
  /// A body that is not found, as the one that casts a ray. Default `TESTUDO_NO_BODY`.
  TestudoBody exclude;
  /// If `has_filter`: only bodies whose filter and this one accept each other are found.
  struct TestudoFilter filter;
  /// Whether `filter` counts. Default 0.
  TestudoBool has_filter;
  /// Whether bodies other than sensors are found. Default 1.
  TestudoBool solids;
  /// Whether sensors are found. Default 0.
  TestudoBool sensors;
  /// Whether static bodies are found. Default 1.
  TestudoBool statics;
  /// Whether kinematic bodies are found. Default 1.
  TestudoBool kinematics;
  /// Whether dynamic bodies are found. Default 1.
  TestudoBool dynamics;
  /// Whether rays and sweeps hit one-sided terrain from behind, too. Default 0.
  TestudoBool both_sides;
} TestudoQueryFilter;

/// A body and its distance.
typedef struct TestudoNear {
  /// The body.
  TestudoBody body;
  /// From the point to its surface, units; 0 inside.
  TestudoFx distance;
} TestudoNear;

/// A straight path: a ray, or the way of a moving shape's centre, units.
typedef struct TestudoSegment {
  /// Where it begins.
  struct TestudoVec2 from;
  /// Where it ends.
  struct TestudoVec2 to;
} TestudoSegment;

/// Where a ray hits a body.
typedef struct TestudoRayHit {
  /// The body.
  TestudoBody body;
  /// The point on its surface, or the start of the ray if that lies inside.
  struct TestudoVec2 point;
  /// Outward normal, length 1; zero if the start lies inside.
  struct TestudoVec2 normal;
  /// From the start, units, rounded down.
  TestudoFx distance;
  /// `distance` divided by the length of the ray, 0..=1, rounded down.
  TestudoFx fraction;
} TestudoRayHit;

/// Where a moving shape hits a body.
typedef struct TestudoSweepHit {
  /// The body.
  TestudoBody body;
  /// Centre of the moving shape then, or its start if the two overlap there.
  struct TestudoVec2 position;
  /// Where the two touch; `position` if they overlap at the start.
  struct TestudoVec2 point;
  /// Outward normal of the body, length 1; zero if they overlap at the start.
  struct TestudoVec2 normal;
  /// Distance moved, units, rounded down.
  TestudoFx distance;
  /// `distance` divided by the length of the path, 0..=1, rounded down.
  TestudoFx fraction;
} TestudoSweepHit;

/// Settings of a crowd. `testudo_crowd_def_default` fills in all but the area.
typedef struct TestudoCrowdDef {
  /// Where units walk, within +-16,384 units; at most 2,048 cells along a side.
  struct TestudoBox area;
  /// Width of a cell, units: a power of two, 1/8..=16. Default 1. Once or twice the radius of the smallest units is right: larger cells miss paths between
  /// obstacles that stand close, smaller ones cost time and memory.
  TestudoFx cell;
  /// Radii of the units, units, ascending, 1/1,024..=16 cells; the first `size_count` count. A unit uses the smallest one that is not below its own radius.
  /// Default 1/2.
  TestudoFx sizes[4];
  /// How many of `sizes` count, 1..=4. Default 1.
  uint32_t size_count;
  /// Greatest number of fields at a time, 1..=1,024: goals that several units share. A field takes four bytes per cell. Default 64.
  uint32_t fields_max;
  /// How many cells all searches look at in a frame, at least 1. Default 16,384.
  uint32_t cells_per_frame;
  /// On ground of more cells than this, fields cover only corridors to their goals. Default 262,144.
  uint32_t whole_up_to;
  /// Which bodies are obstacles. Default: static ones that are no sensors.
  struct TestudoQueryFilter obstacles;
  /// Whether ground of a cost slows the units on it, to one part in so many of their speed. Default 0: it makes paths longer and nothing else.
  TestudoBool slow_ground;
} TestudoCrowdDef;

/// A cell of the ground that is closed, or has a cost other than 1.
typedef struct TestudoGroundCell {
  /// The cell, units.
  struct TestudoBox cell;
  /// 0 for a closed cell.
  uint32_t cost;
} TestudoGroundCell;

/// Where a unit in the middle of a cell would go.
typedef struct TestudoFlowArrow {
  /// The middle of the cell.
  struct TestudoVec2 from;
  /// Where it would go straight.
  struct TestudoVec2 to;
  /// Length of its whole path, units.
  TestudoFx left;
} TestudoFlowArrow;

/// Where a unit goes.
typedef struct TestudoUnitWay {
  /// The unit.
  TestudoBody unit;
  /// Where it stands or wants to stand, units.
  struct TestudoVec2 post;
  /// Where it goes straight now, units; `post` if it does not go around anything.
  struct TestudoVec2 aim;
  /// Whether `aim` is another place than its post.
  TestudoBool has_aim;
} TestudoUnitWay;

/// A corner of a path.
typedef struct TestudoCorner {
  /// Where it is, units.
  struct TestudoVec2 at;
  /// Length of the path from here to its end, units.
  TestudoFx left;
} TestudoCorner;

/// An order to some units. `testudo_move_order_go` fills it in.
typedef struct TestudoMoveOrder {
  /// Where they go, units, each axis within +-16,384.
  struct TestudoVec2 goal;
  /// How they stand there: a `TESTUDO_FORMATION_...`. Default `TESTUDO_FORMATION_DISC`.
  uint32_t formation;
  /// Units in a row, at least 1; a disc has none. Default 0.
  uint32_t files;
  /// Where rows look. Default 0: along the x axis.
  TestudoAngle facing;
  /// Whether all go at the pace of the slowest. Default 0.
  TestudoBool together;
} TestudoMoveOrder;

/// What a unit is about.
typedef struct TestudoUnitState {
  /// Where it stands or wants to stand, units.
  struct TestudoVec2 post;
  /// Whom it pursues, or `TESTUDO_NO_BODY`.
  TestudoBody prey;
  /// Whether it is on its way.
  TestudoBool going;
  /// Whether it is on its way and stands, because the search for its path has not come to it yet.
  TestudoBool waiting;
} TestudoUnitState;

/// What happened to a unit in the last step of its crowd. A unit ends each order to go somewhere with one event, unless another order comes first.
typedef struct TestudoMoveEvent {
  /// The unit.
  TestudoBody unit;
  /// A `TESTUDO_MOVE_...`.
  uint32_t kind;
} TestudoMoveEvent;

/// The players. All peers agree on them.
typedef struct TestudoSides {
  /// Number of players, 1..=16, the host included.
  uint32_t players;
  /// The player in the middle of a star of players. Default 0.
  uint32_t host_player;
  /// Teams of the players in order, 0..=15. Default: each player is a team.
  uint8_t teams[16];
  /// The game plays on for players who left or were dropped (`TestudoGame.play_for`). Default 0.
  TestudoBool bots_take_over;
  /// Another player's actions run first in each turn. Default 0: player 0 is always first.
  TestudoBool rotate_players;
} TestudoSides;

/// Turns. All peers agree on them.
typedef struct TestudoTurns {
  /// Frames per second, 1..=1,000. Default 20.
  uint32_t frames_per_second;
  /// Frames of a turn at the start, 1..=250. Default 4.
  uint32_t frames_per_turn;
  /// Whole turns between giving an action and running it, 1..=8. Default 2.
  uint32_t turns_ahead;
  /// Number of turns of the match, at most 4,000,000,000. 0, the default: no end but `TestudoGame.is_over`.
  uint32_t count;
  /// How the length of turns is chosen: a `TESTUDO_PACE_...`. Default `TESTUDO_PACE_FIXED`.
  uint32_t pace;
  /// Greatest number of actions of a player in a turn, 1..=255. Default 1. Further ones wait for later turns.
  uint32_t actions_max;
  /// Greatest number of bytes of a player's actions in a turn, 1..=512. Default 256.
  uint32_t bytes_max;
  /// Turns from one exchanged checksum to the next, 1..=600. Default 1.
  uint32_t checksum_interval;
} TestudoTurns;

/// Pauses and speed. All peers agree on them.
typedef struct TestudoControls {
  /// Who pauses the match and sets its speed: a `TESTUDO_CONTROLS_...`. Default `TESTUDO_CONTROLS_EVERYBODY`.
  uint32_t who;
  /// Number of pauses that each player may ask for, 0..=65,535. Default 16.
  uint32_t pauses_max;
  /// How long the pauses of each player may last in all, milliseconds, at most a day. Default 600,000.
  uint32_t pause_max_ms;
  /// Number of changes of speed that each player may ask for, 0..=65,535. Default 100.
  uint32_t speed_changes_max;
} TestudoControls;

/// Who comes late, and who watches. What the middle of a star has decides; the last three each peer chooses for itself.
typedef struct TestudoArrivals {
  /// Greatest number of watchers, 0..=256. Default 16.
  uint32_t watchers_max;
  /// Watchers may come to the running match. Default 0.
  uint32_t late_watchers;
  /// Strangers may take the place of a player who has been away for this long, milliseconds. Default `TESTUDO_NEVER`.
  uint32_t late_joins_ms;
  /// How much later than players watchers get everything, milliseconds, at most a day. Default 0.
  uint32_t watch_delay_ms;
  /// Number of watchers that the middle waits for before the start. Default 0.
  uint32_t watchers_min;
  /// Greatest size of a state that it sends or receives, bytes, at most 256 MiB. Default 16 MiB; 0: nobody comes late.
  uint32_t state_bytes_max;
  /// Bytes per second for states, 1,000..=1,000,000,000. Default 500,000.
  uint32_t state_rate;
  /// Time for coming to a running match, milliseconds. 0, the default: a minute, or more where checksums are rare.
  uint32_t join_timeout_ms;
} TestudoArrivals;

/// How long is waited, milliseconds, at most a day. Each peer chooses for itself; of `drop_after_ms` what the middle of a star has decides.
/// 0 stands for the default, but not in `drop_after_ms`.
typedef struct TestudoWaits {
  /// A stall after which missing players are dropped. Default 20,000. `TESTUDO_NEVER`: nobody is ever dropped.
  uint32_t drop_after_ms;
  /// An attempt to connect without an answer. Default 10 s.
  uint32_t connect_timeout_ms;
  /// How long the host waits for the others. Default 10 s; ten minutes for `testudo_host_open`.
  uint32_t lobby_timeout_ms;
  /// Silence of a peer that is connected. Default 20 s; 80 s for guests with a code.
  uint32_t silence_timeout_ms;
  /// A stall after which `TESTUDO_EVENT_WAITING_FOR` comes. Default 500 ms.
  uint32_t waiting_notice_ms;
  /// At the end of the match: silence after which a peer counts as done. Default 2 s.
  uint32_t linger_ms;
} TestudoWaits;

/// What this peer chooses for itself.
typedef struct TestudoOwn {
  /// Random bytes, new ones for each match, secret. Zeros, the default: the library draws them, which it can do with its feature `sealed`.
  uint8_t entropy[16];
  /// Random bytes that are kept where they survive a crash: by them a player gets its place in the running match back. Zeros, the default: none. A
  /// guest with a code has them already.
  uint8_t place_secret[16];
  /// A saved match to go on with: what `testudo_match_take_saved` gave. The game is in the state that was saved. NULL: none.
  const uint8_t *saved;
  /// Number of its bytes.
  size_t saved_length;
  /// Number of actions that wait for their turn, 1..=4,096. Default 64.
  uint32_t queue_max;
  /// Frames that one call runs at most to catch up with a running match, 1..=10,000. Default 16.
  uint32_t catch_up_frames;
  /// A watcher shows everything this much later, so that late packets do not freeze its picture, milliseconds, at most 128 turns of the length at
  /// the start. 0, the default: no delay. A delay against watchers who tell players what they see is `arrivals.watch_delay_ms` of the host.
  uint32_t playout_ms;
  /// Keep a replay (`testudo_match_take_replay`). Default 0.
  TestudoBool records;
} TestudoOwn;

/// Settings of a match. `testudo_config_default` fills in the defaults.
typedef struct TestudoConfig {
  /// Number of the match, which the host draws at random and tells the others. Default 0, with which nobody comes over a network.
  /// Guests with a code get it with their place.
  uint64_t session_id;
  /// Hash of all that must be equal at the start: map, rules, their version. Default 0. Take `testudo_hash`.
  uint64_t content_hash;
  /// The game's own bytes: map, seed, whatever all must know, at most 512 bytes. Guests with a code get them (`testudo_guest_game_data`), and
  /// replays have them. NULL: none.
  const uint8_t *game_data;
  /// Number of these bytes.
  uint32_t game_length;
  /// Version of the game's rules, for replays. Default 0.
  uint32_t rules_version;
  /// Version of physics and movement, which all peers compare. Default: this library's, which a peer in Rust has with the feature `movement`.
  uint32_t engine_version;
  /// The links: a `TESTUDO_TOPOLOGY_...`. Default `TESTUDO_TOPOLOGY_HOST`.
  uint32_t topology;
  /// The players.
  struct TestudoSides sides;
  /// Turns.
  struct TestudoTurns turns;
  /// Pauses and speed.
  struct TestudoControls controls;
  /// Who comes late, and who watches.
  struct TestudoArrivals arrivals;
  /// How long is waited.
  struct TestudoWaits waits;
  /// What this peer chooses for itself.
  struct TestudoOwn own;
} TestudoConfig;

/// A game: its state behind `context`, and functions that the library calls in the thread that called the library.
///
/// The library copies this structure when it makes a match or a replay's player of it. `context` must stay valid as long as
/// that. No function fills in its defaults: write `TestudoGame game = {0}` and then what the game has, so that all else is NULL.
///
/// A turn calls `turn_started`, then `apply` for each action (players in order, each player's actions in the order in which
/// they were given), then `step` for each frame, then `checksum`, then `turn_ended`.
///
/// These call the functions of a game: what makes a match or a player of it, `testudo_match_handle_packet`, `_advance`, `_poll_packet`, `_submit`,
/// `_leave`, `_checksum`, `_take_replay` and `_finish_replay`, the rounds and pumps of transports, `testudo_replay_verify`, and
/// `testudo_replay_player_step` and `_seek`. After a desync `_advance`, `_checksum`, `_take_replay`, `_finish_replay` and the rounds call `save`
/// (`own.records`).
///
/// Functions may be NULL unless the docs say that they are needed. They must return: no exception, no `longjmp`. They may use
/// worlds and buffers. The match (or the replay's player) that calls them answers `TESTUDO_BUSY`, a getter what it has for a bad handle, and `_free`
/// does nothing. Whatever a world answers in `step` must be looked at: a call that one peer's world refuses (`TESTUDO_BUSY`, because another thread
/// draws it) is a desync.
///
/// Bits of actions: the first one is the lowest of the first byte, and unused high bits of the last byte are zero.
typedef struct TestudoGame {
  /// Given to every function. May be NULL.
  void *context;
  /// Greatest number of bits of an action, 1..=4,096. The same on all peers: `Action::MAX_BITS` of a peer in Rust.
  uint32_t action_bits;
  /// The number of bits of the action at the start of these, at most `bits`; 0 if they do not begin with an action. `bits` is how many are left,
  /// at most `action_bits`. They come from the network. The answer depends on the bits of that action alone, and is the same on all peers: where
  /// a peer in Rust has `Action::decode`, it accepts the same bits. NULL: every action has exactly `action_bits` bits, and all such
  /// bits are an action.
  uint32_t (*action_length)(void *context, const uint8_t *data, uint32_t bits);
  /// Needed. Applies a player's action. What is impossible (a unit that is gone) is ignored in the same way on every peer.
  void (*apply)(void *context, uint32_t player, const uint8_t *data, uint32_t bits);
  /// Needed. Advances by one frame of 1/`frames_per_second` seconds.
  void (*step)(void *context, uint32_t frames_per_second);
  /// Needed. A hash of the whole state, computed from the state as it is now; changes nothing. See `testudo_hash`.
  uint64_t (*checksum)(void *context);
  /// A turn begins, with so many frames; 0 in a pause. Changes nothing.
  void (*turn_started)(void *context, uint32_t turn, uint32_t frames);
  /// A turn is over, and this is its checksum. Changes nothing.
  void (*turn_ended)(void *context, uint32_t turn, uint64_t checksum);
  /// From this turn on the player gives no more actions: it left or was dropped.
  void (*player_gone)(void *context, uint32_t player, uint32_t turn);
  /// The same for a player who has given up. NULL: `player_gone`.
  void (*player_surrendered)(void *context, uint32_t player, uint32_t turn);
  /// The same for a player for whom a bot plays on. NULL: `player_gone`.
  void (*player_taken_over)(void *context, uint32_t player, uint32_t turn);
  /// From this turn on a player who was gone is back.
  void (*player_returned)(void *context, uint32_t player, uint32_t turn);
  /// Plays a turn for a player who was taken over. What the bot does follows from the state alone, because every peer computes it.
  void (*play_for)(void *context, uint32_t player, uint32_t turn);
  /// Writes the whole state into `out`, which is empty and lent for this call: the library frees it. Needed to let somebody into a running match,
  /// and to jump in replays.
  /// Returns whether it did; if not, what it has written is dropped.
  TestudoBool (*save)(void *context, struct TestudoBuffer *out);
  /// Goes to a saved state, whose bytes are not trusted. Returns whether they are a state of this game; if not, the game stays as it is. Needed to
  /// come to a running match.
  TestudoBool (*load)(void *context, const uint8_t *data, size_t length);
  /// The match is saved: keep a copy of the present state. `testudo_match_take_saved` has the rest, soon after. Changes nothing.
  void (*save_point)(void *context, uint32_t turn);
  /// Once the match is decided: puts the result into `out`, a number that the game defines, and returns 1. Asked after each turn. The peers
  /// compare it (`TESTUDO_EVENT_RESULT`). The match goes on.
  TestudoBool (*result)(void *context, uint32_t *out);
  /// Whether the next turn is the last one. It follows from the state alone. Asked before each turn.
  TestudoBool (*is_over)(void *context);
  /// Names the numbers of the state, all of them in an order that follows from the state: `testudo_visit_object`, `_number`, `_world`, `_crowd`. Changes
  /// nothing. With it, `save` and `load` the peers search after a desync for the first number that differs (`TESTUDO_EVENT_DIFFERENCE`). For that the
  /// match saves its state before each turn and keeps the last 64 of them, or fewer, so that they have at most 64 MiB together. After a desync the search
  /// loads some of them into the game, and then the present state again, all between two turns within `testudo_match_advance`. The program has to take
  /// messages (`testudo_match_poll_message`), also if the game has none: the search comes to a halt while 256 wait.
  void (*visit)(void *context, struct TestudoVisit *visit);
} TestudoGame;

/// What a replay says of itself. Turns of a replay are counted from the first one of the file, here and in all functions of replays. With `first_turn` added
/// they are those of the match, which its events have, and which the game gets while it plays.
typedef struct TestudoReplayInfo {
  /// `TestudoConfig.content_hash` of the match.
  uint64_t content_hash;
  /// Number of players, 1..=16. A file of any origin may have more than a game takes: look at it before it is played.
  uint32_t players;
  /// Number of whole turns.
  uint32_t turns;
  /// The turn of the match with which it begins, with the state in the file; 0: with the first one.
  uint32_t first_turn;
  /// The first turn of the file in which the peers disagreed; `TESTUDO_NEVER`: none was told.
  uint32_t desync_turn;
  /// The recording was ended, not cut off.
  TestudoBool complete;
  /// A part of the file was changed or is missing; turns behind it are lost.
  TestudoBool damaged;
} TestudoReplayInfo;

/// What `testudo_replay_verify` found.
typedef struct TestudoVerification {
  /// Number of turns that were played.
  uint32_t turns;
  /// The first turn of the file that differs from the recording; `TESTUDO_NEVER`: none.
  uint32_t first_difference;
  /// The replay is complete, not damaged, and every checksum was reproduced.
  TestudoBool sound;
} TestudoVerification;

/// Something that happened in a match.
typedef struct TestudoEvent {
  /// What: a `TESTUDO_EVENT_...`, whose docs say which of these fields mean something.
  uint32_t kind;
  /// A turn.
  uint32_t turn;
  /// A link, or `TESTUDO_NO_PEER`.
  uint32_t peer;
  /// A player, `TESTUDO_WATCHER`, `TESTUDO_RELAY` or `TESTUDO_NOBODY`.
  uint32_t player;
  /// Another one.
  uint32_t other;
  /// Bit n for player n.
  uint32_t players;
  /// A number.
  uint64_t number;
  /// A value of each player in `players`.
  uint64_t values[16];
} TestudoEvent;

/// Counters since the start of a match.
typedef struct TestudoMatchStats {
  /// Packets that were sent.
  uint64_t packets_sent;
  /// Their bytes.
  uint64_t bytes_sent;
  /// Valid packets that came.
  uint64_t packets_received;
  /// Their bytes.
  uint64_t bytes_received;
  /// Packets that were damaged or of another match.
  uint64_t packets_malformed;
  /// Packets from strangers, or that were not expected.
  uint64_t packets_unexpected;
  /// New entries of other peers.
  uint64_t entries_received;
  /// Entries that were here already.
  uint64_t entries_repeated;
  /// Entries with actions that are none, or of players for whom the sender may not speak.
  uint64_t entries_invalid;
  /// Frames in which the game waited.
  uint64_t stalled_frames;
  /// Turns that have begun.
  uint64_t turns_begun;
  /// Players whom this peer has dropped.
  uint64_t drops;
  /// Events that nobody took in time.
  uint64_t events_lost;
} TestudoMatchStats;

/// What a call of `testudo_match_advance` did.
typedef struct TestudoAdvance {
  /// Number of frames that passed, also in a pause.
  uint32_t frames;
  /// Number of turns that began.
  uint32_t turns;
  /// The game waits, because the next turn is not ready.
  TestudoBool stalled;
} TestudoAdvance;

/// Done.
#define TESTUDO_OK 0

/// A pointer is NULL that may not be.
#define TESTUDO_NULL 1

/// A number, a length, a text or an enumerator is out of its range.
#define TESTUDO_OUT_OF_RANGE 2

/// The body is not in this world (any more), or no unit of this crowd.
#define TESTUDO_STALE 3

/// This cannot be done now, or not with this object.
#define TESTUDO_REFUSED 4

/// A limit is reached: a queue or a table is full.
#define TESTUDO_FULL 5

/// Bytes are not what they should be.
#define TESTUDO_DAMAGED 6

/// Bytes were written by another version.
#define TESTUDO_VERSION 7

/// The handle is in use: by the call that called back, or by another thread.
#define TESTUDO_BUSY 8

/// A fault of this library. The handle takes no further calls but `_free`.
#define TESTUDO_PANICKED 9

/// The system refused: a socket, its randomness.
#define TESTUDO_IO 10

/// A callback of the game said that it failed.
#define TESTUDO_GAME_FAILED 11

/// No body.
#define TESTUDO_NO_BODY UINT64_MAX

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// The words of this thread's last failure (UTF-8), for a person to read; "" if there was none. Valid until the thread's next
/// failure or its end. Calls that succeed leave them alone, so ask the status first.
const char *testudo_error(void);

/// The name of a status, as `TESTUDO_STALE`; "unknown" for other numbers.
const char *testudo_status_name(TestudoStatus status);

/// A new, empty buffer; free it with `testudo_buffer_free`.
struct TestudoBuffer *testudo_buffer_new(void);

/// Frees a buffer. NULL is allowed.
void testudo_buffer_free(struct TestudoBuffer *buffer);

/// Makes the buffer empty. It keeps its memory.
TestudoStatus testudo_buffer_clear(struct TestudoBuffer *buffer);

/// Adds bytes at the end. `data` may be NULL if `length` is 0; it may not point into the same buffer.
TestudoStatus testudo_buffer_append(struct TestudoBuffer *buffer, const uint8_t *data, size_t length);

/// Gives the buffer this length: it loses bytes at the end, or gets zeros there. Whoever cannot pass pointers of its own writes
/// into `testudo_buffer_data` then.
TestudoStatus testudo_buffer_resize(struct TestudoBuffer *buffer,
                                    size_t length);

/// The bytes, `testudo_buffer_length` of them, to read and to write; valid until the next call that gets this buffer to write into, or
/// frees it. NULL for NULL; if the buffer is empty, any pointer.
uint8_t *testudo_buffer_data(struct TestudoBuffer *buffer);

/// Number of bytes. 0 for NULL.
size_t testudo_buffer_length(const struct TestudoBuffer *buffer);

/// The library's `TESTUDO_INTERFACE_VERSION`.
uint32_t testudo_interface_version(void);

/// Version of the physics: two builds with the same number compute the same bits.
uint32_t testudo_sim_version(void);

/// Version of the movement: crowds of two builds compute the same bits if both this number and `testudo_sim_version` are the same.
uint32_t testudo_movement_version(void);

/// Version of the bytes between peers, which compare it before they play.
uint32_t testudo_protocol_version(void);

/// Version of the layout of saved worlds.
uint32_t testudo_snapshot_version(void);

/// 64-bit hash (XXH3) of bytes, the same on every machine: for the checksum of a game's own numbers. Write numbers little-endian
/// before. `data` may be NULL if `length` is 0. 0 if it is NULL otherwise.
uint64_t testudo_hash(const uint8_t *data,
                      size_t length);

/// a * b, rounded down. At the ends of the range it stays there, as all functions here.
TestudoFx testudo_mul(TestudoFx a, TestudoFx b);

/// a * b, rounded to the nearest number, ties away from zero.
TestudoFx testudo_mul_nearest(TestudoFx a, TestudoFx b);

/// a / b, rounded down. By zero: the greatest number for a positive one, the smallest for a negative one, zero for zero.
TestudoFx testudo_div(TestudoFx a,
                      TestudoFx b);

/// Square root, rounded down; 0 for negative numbers.
TestudoFx testudo_sqrt(TestudoFx number);

/// Square root of a whole number, rounded down.
uint64_t testudo_isqrt(uint64_t number);

/// Length of a vector, rounded down.
TestudoFx testudo_length(TestudoFx x, TestudoFx y);

/// Sine: within 0.501 steps of the resolution. Exact at quarters of a turn.
TestudoFx testudo_sin(TestudoAngle angle);

/// Cosine, as precise as the sine.
TestudoFx testudo_cos(TestudoAngle angle);

/// The direction of a vector; 0 for the zero vector. `y` comes first.
TestudoAngle testudo_atan2(TestudoFx y, TestudoFx x);

/// Turns by the shorter way towards another angle, by at most `step` (up to half a turn), and stops there.
TestudoAngle testudo_turn_toward(TestudoAngle angle, TestudoAngle target, TestudoAngle step);

/// Gives a vector the length 1; the zero vector stays zero.
TestudoStatus testudo_normalize(struct TestudoVec2 *vector);

/// Shortens a vector that is longer than this, units; it keeps its direction.
TestudoStatus testudo_clamp_length(struct TestudoVec2 *vector, TestudoFx length);

/// Rotates a vector by an angle.
TestudoStatus testudo_rotate(struct TestudoVec2 *vector, TestudoAngle angle);

/// A generator that starts at `seed` in one of 2^63 streams (the topmost bit of `stream` is ignored). Use one for the map, one for
/// combat, and so on.
TestudoStatus testudo_random_new(uint64_t seed,
                                 uint64_t stream,
                                 struct TestudoRandom *out);

/// The next 32 random bits. 0 for NULL, as all functions here.
uint32_t testudo_random_next_u32(struct TestudoRandom *random);

/// The next 64 random bits.
uint64_t testudo_random_next_u64(struct TestudoRandom *random);

/// A number below `bound`, each as likely; 0 if `bound` is 0.
uint32_t testudo_random_below(struct TestudoRandom *random, uint32_t bound);

/// A number from `low` to `high`, both included; `low` if that is empty.
TestudoFx testudo_random_range(struct TestudoRandom *random, TestudoFx low, TestudoFx high);

/// The next 32 bits of the world's own generator, which is a part of its state.
uint32_t testudo_world_random_next_u32(struct TestudoWorld *world);

/// A number below `bound` of the world's own generator, each as likely; 0 if `bound` is 0.
uint32_t testudo_world_random_below(struct TestudoWorld *world, uint32_t bound);

/// A new, empty world. `def` may be NULL: then it has the default settings. Free it with `testudo_world_free`.
TestudoStatus testudo_world_new(const struct TestudoWorldDef *def, struct TestudoWorld **out);

/// A copy of a world, which goes on by itself.
TestudoStatus testudo_world_clone(const struct TestudoWorld *world, struct TestudoWorld **out);

/// Frees a world. NULL is allowed.
void testudo_world_free(struct TestudoWorld *world);

/// One frame of 1/`frames_per_second` seconds, 1..=1,000.
TestudoStatus testudo_world_step(struct TestudoWorld *world, uint32_t frames_per_second);

/// Number of steps so far.
uint64_t testudo_world_frame(const struct TestudoWorld *world);

/// 64-bit hash of the whole state. Two worlds with the same checksum evolve alike under the same calls.
uint64_t testudo_world_checksum(const struct TestudoWorld *world);

/// Number of bodies.
uint32_t testudo_world_body_count(const struct TestudoWorld *world);

/// Name of the instruction set that this world uses, for logs: "avx2", "neon", ... It does not affect the bits. Valid for ever.
const char *testudo_world_instruction_set(const struct TestudoWorld *world);

/// Acceleration of every dynamic body, units/s^2.
TestudoStatus testudo_world_gravity(const struct TestudoWorld *world, struct TestudoVec2 *out);

/// Where the centres of bodies that can move are held, units.
TestudoStatus testudo_world_bounds(const struct TestudoWorld *world, struct TestudoBox *out);

/// Sets the acceleration of every dynamic body, units/s^2, each axis within +-1,024. Wakes all bodies if it changes.
TestudoStatus testudo_world_set_gravity(struct TestudoWorld *world, TestudoFx x, TestudoFx y);

/// Sets where the centres of bodies that can move are held, within +-16,384 units. Bodies beyond are placed at the nearest point
/// inside.
TestudoStatus testudo_world_set_bounds(struct TestudoWorld *world,
                                       const struct TestudoBox *bounds);

/// Adds the whole state to a buffer. In the restored world handles stay valid, and new bodies get the same handles.
TestudoStatus testudo_world_save(const struct TestudoWorld *world, struct TestudoBuffer *buffer);

/// Goes to a saved state, from bytes of any origin. A world that refuses them (`TESTUDO_DAMAGED`, `TESTUDO_VERSION`) stays as it
/// is. Lists of events are empty afterwards, and drawing does not interpolate across it.
TestudoStatus testudo_world_load(struct TestudoWorld *world,
                                 const uint8_t *data,
                                 size_t length);

/// Like `testudo_world_load`, but only for bytes that this program itself has saved: it is faster, because it verifies nothing but
/// their checksum.
TestudoStatus testudo_world_restore(struct TestudoWorld *world,
                                    const uint8_t *data,
                                    size_t length);

/// A new world in a saved state, from bytes of any origin. It lists neither hits nor contacts that stay.
TestudoStatus testudo_world_from_bytes(const uint8_t *data, size_t length, struct TestudoWorld **out);

/// Checks that the state keeps all limits and invariants, as loading does. It can only fail after `testudo_world_restore` or
/// `testudo_world_flip_bit`.
TestudoStatus testudo_world_validate(const struct TestudoWorld *world);

/// Whether two worlds differ: 0 or 1. If they do, `words` (may be NULL) gets the first number in which they do, as UTF-8 text
/// with a 0 at its end: "bodies: body 0.0, position.x: 0 here, 16 there". It replaces what the buffer held.
int32_t testudo_world_first_difference(const struct TestudoWorld *here,
                                       const struct TestudoWorld *there,
                                       struct TestudoBuffer *words);

/// Flips a bit of a body's field, as broken memory or a differing compiler would: to try how a game tells of a desync.
///
/// `field`: a `TESTUDO_FIELD_...`. `bit`: counted from 0.
TestudoStatus testudo_world_flip_bit(struct TestudoWorld *world, TestudoBody body, uint32_t field, uint32_t bit);

/// Fills in the defaults.
TestudoStatus testudo_world_def_default(struct TestudoWorldDef *out);

/// Creates a body. `out` (may be NULL) gets its handle.
TestudoStatus testudo_world_create_body(struct TestudoWorld *world, const struct TestudoBodyDef *def, TestudoBody *out);

/// Removes a body. Its contacts end in the next step.
TestudoStatus testudo_world_remove_body(struct TestudoWorld *world, TestudoBody body);

/// Whether the body exists: 0 or 1.
int32_t testudo_world_has_body(const struct TestudoWorld *world, TestudoBody body);

/// Everything about a body.
TestudoStatus testudo_world_body_state(const struct TestudoWorld *world,
                                       TestudoBody body,
                                       struct TestudoBodyState *out);

/// The centre of a body, units.
TestudoStatus testudo_world_position(const struct TestudoWorld *world, TestudoBody body, struct TestudoVec2 *out);

/// The velocity of a body, units per second.
TestudoStatus testudo_world_velocity(const struct TestudoWorld *world, TestudoBody body, struct TestudoVec2 *out);

/// The game's own value of a body.
TestudoStatus testudo_world_user(const struct TestudoWorld *world, TestudoBody body, uint64_t *out);

/// Distance from a point (within +-20,480 units) to the surface of a body, units; 0 inside.
TestudoStatus testudo_world_distance(const struct TestudoWorld *world,
                                     TestudoBody body,
                                     const struct TestudoVec2 *point,
                                     TestudoFx *out);

/// A circle with this radius in units. Its range is checked where it is used.
TestudoStatus testudo_circle(TestudoFx radius, struct TestudoShape *out);

/// A rectangle with this half width and half height in units. Their ranges are checked where it is used.
TestudoStatus testudo_rect(TestudoFx half_width, TestudoFx half_height, struct TestudoShape *out);

/// A definition with defaults: a body of this kind and shape at the origin that does not move.
TestudoStatus testudo_body_def_default(uint32_t kind, const struct TestudoShape *shape, struct TestudoBodyDef *out);

/// Places a body, units, each axis within +-16,384. Bodies that can move are held inside the world's bounds. Terrain never moves.
TestudoStatus testudo_world_set_position(struct TestudoWorld *world,
                                         TestudoBody body,
                                         TestudoFx x,
                                         TestudoFx y);

/// Sets the velocity, units per second, each axis within +-1,024. Static bodies ignore it.
TestudoStatus testudo_world_set_velocity(struct TestudoWorld *world, TestudoBody body, TestudoFx x, TestudoFx y);

/// Changes the velocity of a dynamic body by impulse / mass at once; each component within +-16,777,216.
TestudoStatus testudo_world_apply_impulse(struct TestudoWorld *world, TestudoBody body, TestudoFx x, TestudoFx y);

/// Accelerates a dynamic body by force / mass during the next step; several forces add up. Each component within +-16,777,216.
TestudoStatus testudo_world_apply_force(struct TestudoWorld *world,
                                        TestudoBody body,
                                        TestudoFx x,
                                        TestudoFx y);

/// Gives a kinematic body the velocity with which it is at (x, y) after the next step with this number of frames per second.
TestudoStatus testudo_world_move_kinematic(struct TestudoWorld *world,
                                           TestudoBody body,
                                           TestudoFx x,
                                           TestudoFx y,
                                           uint32_t frames_per_second);

/// Sets the mass of a dynamic body, 1/256..=16,384. Others ignore it.
TestudoStatus testudo_world_set_mass(struct TestudoWorld *world, TestudoBody body, TestudoFx mass);

/// Sets the damping alone, 1/s, 0..=1,024.
TestudoStatus testudo_world_set_damping(struct TestudoWorld *world, TestudoBody body, TestudoFx damping);

/// Sets the greatest speed after a step, units per second, 0..=1,024, or `TESTUDO_NO_LIMIT`.
TestudoStatus testudo_world_set_max_speed(struct TestudoWorld *world, TestudoBody body, TestudoFx max_speed);

/// Sets restitution, frictions and damping.
TestudoStatus testudo_world_set_material(struct TestudoWorld *world,
                                         TestudoBody body,
                                         const struct TestudoMaterial *material);

/// Sets layers and mask from the next step on; queries see them at once.
TestudoStatus testudo_world_set_filter(struct TestudoWorld *world, TestudoBody body, uint32_t layers, uint32_t mask);

/// Gives the body another shape with the same centre. Terrain keeps its own.
TestudoStatus testudo_world_set_shape(struct TestudoWorld *world, TestudoBody body, const struct TestudoShape *shape);

/// Makes it another kind of body. Its contacts end and begin again in the next step. A body that becomes dynamic has mass 1; one that
/// becomes static loses its velocity.
TestudoStatus testudo_world_set_kind(struct TestudoWorld *world,
                                     TestudoBody body,
                                     uint32_t kind);

/// Sets the rank in contacts, -128..=127.
TestudoStatus testudo_world_set_dominance(struct TestudoWorld *world, TestudoBody body, int32_t dominance);

/// Sets the game's own value.
TestudoStatus testudo_world_set_user(struct TestudoWorld *world, TestudoBody body, uint64_t user);

/// Makes it a sensor, which only reports overlaps, or a solid body again. Terrain is always solid.
TestudoStatus testudo_world_set_sensor(struct TestudoWorld *world, TestudoBody body, TestudoBool sensor);

/// Takes it out of steps and queries, or puts it back. It keeps its velocity; waiting forces are dropped.
TestudoStatus testudo_world_set_enabled(struct TestudoWorld *world, TestudoBody body, TestudoBool enabled);

/// Whether it may fall asleep.
TestudoStatus testudo_world_set_can_sleep(struct TestudoWorld *world, TestudoBody body, TestudoBool can_sleep);

/// Sets the axes along which contacts do not move it.
TestudoStatus testudo_world_set_locked_axes(struct TestudoWorld *world,
                                            TestudoBody body,
                                            TestudoBool lock_x,
                                            TestudoBool lock_y);

/// Wakes a sleeping body.
TestudoStatus testudo_world_wake_body(struct TestudoWorld *world, TestudoBody body);

/// Stops a body and puts it to sleep at once, with all that it touches, directly or through others. It reads all contacts: not for
/// thousands of bodies per frame.
TestudoStatus testudo_world_sleep_body(struct TestudoWorld *world,
                                       TestudoBody body);

/// Whether two bodies pass through each other from the next step on. At most 65,536 pairs (`TESTUDO_FULL`); a pair ends with either
/// of its bodies.
TestudoStatus testudo_world_set_pair_ignored(struct TestudoWorld *world,
                                             TestudoBody a,
                                             TestudoBody b,
                                             TestudoBool ignored);

/// Whether two bodies pass through each other by `testudo_world_set_pair_ignored`: 0 or 1.
int32_t testudo_world_is_pair_ignored(const struct TestudoWorld *world, TestudoBody a, TestudoBody b);

/// Fills in the defaults.
TestudoStatus testudo_terrain_def_default(struct TestudoTerrainDef *out);

/// Creates a solid convex polygon that never moves: rocks, ramps, buildings. 3 to 8 corners in either direction, units, each axis
/// within +-16,384; neighbours at least 1/1,024 apart. `def` may be NULL: defaults. `out` (may be NULL) gets the handle.
TestudoStatus testudo_world_create_polygon(struct TestudoWorld *world,
                                           const struct TestudoTerrainDef *def,
                                           const struct TestudoVec2 *points,
                                           uint32_t point_count,
                                           TestudoBody *out);

/// Creates a chain of segments that form one surface: ground, cliffs, the outline of a map. 2 to 16,384 points (3 if it is closed),
/// units, each axis within +-16,384; neighbours at least 1/1,024 and on each axis at most 8,192 apart. `def` may be NULL: defaults.
/// Returns how many segments there are; `out` gets the handle of each, in order. They are `point_count` if it is closed, else one
/// less. Each call makes a chain, also one with a `capacity` of 0.
int32_t testudo_world_create_chain(struct TestudoWorld *world,
                                   const struct TestudoTerrainDef *def,
                                   const struct TestudoVec2 *points,
                                   uint32_t point_count,
                                   TestudoBody *out,
                                   uint32_t capacity);

/// The corners of a polygon (counter-clockwise) or the two ends of a chain's segment, units. None for other bodies.
int32_t testudo_world_terrain_points(const struct TestudoWorld *world,
                                     TestudoBody body,
                                     struct TestudoVec2 *out,
                                     uint32_t capacity);

/// Where to draw every body, oldest first. `alpha`: 0 is the position before the last step, 65,536 the present one
/// (`testudo_match_alpha`). These numbers are for drawing: no rule of a game may read them. Call it in the thread that runs the match of this world: while this
/// call runs, `testudo_world_step` in another thread is refused, and that is a desync.
int32_t testudo_world_interpolated(const struct TestudoWorld *world,
                                   uint32_t alpha,
                                   struct TestudoDrawn *out,
                                   uint32_t capacity);

/// All bodies, oldest first.
int32_t testudo_world_bodies(const struct TestudoWorld *world, TestudoBody *out, uint32_t capacity);

/// The centre of every body, oldest first.
int32_t testudo_world_positions(const struct TestudoWorld *world, struct TestudoPosition *out, uint32_t capacity);

/// The bodies whose position the last step changed. Read it before other calls that change the world. What is drawn between two steps
/// depends on the last two: copy the bodies of both lists, and those of every step since the last picture. A body that a setter has placed
/// is in none, and after a load all may have moved.
int32_t testudo_world_moved_bodies(const struct TestudoWorld *world,
                                   TestudoBody *out,
                                   uint32_t capacity);

/// The pairs of bodies that pass through each other.
int32_t testudo_world_ignored_pairs(const struct TestudoWorld *world, struct TestudoPair *out, uint32_t capacity);

/// What began and ended in the last step, in ascending order of the two slots. `list`: `TESTUDO_CONTACTS_BEGAN`, ...
int32_t testudo_world_events(const struct TestudoWorld *world,
                             uint32_t list,
                             struct TestudoContactEvent *out,
                             uint32_t capacity);

/// Point, normal and approach speed of each of `TESTUDO_CONTACTS_BEGAN`, in the same order; empty unless
/// `testudo_world_list_contact_hits` is on.
int32_t testudo_world_contact_hits(const struct TestudoWorld *world, struct TestudoContactHit *out, uint32_t capacity);

/// Whether `testudo_world_contact_hits` is filled from the next step on. Off by default. It is no part of the state: loading keeps
/// it, and a world of `testudo_world_from_bytes` has it off.
TestudoStatus testudo_world_list_contact_hits(struct TestudoWorld *world,
                                              TestudoBool list);

/// Whether `TESTUDO_CONTACTS_STAYED` is filled from the next step on. Off by default, because a crowd has many. It is no part of the
/// state, as `testudo_world_list_contact_hits`.
TestudoStatus testudo_world_list_stayed_contacts(struct TestudoWorld *world,
                                                 TestudoBool list);

/// What touches now, also at rest; each pair once.
int32_t testudo_world_contacts(const struct TestudoWorld *world, struct TestudoContact *out, uint32_t capacity);

/// What touches a body now; none if it does not exist. It looks at each contact of the world: for many bodies, read
/// `testudo_world_contacts` once.
int32_t testudo_world_contacts_of(const struct TestudoWorld *world,
                                  TestudoBody body,
                                  struct TestudoContact *out,
                                  uint32_t capacity);

/// Fills in the defaults.
TestudoStatus testudo_query_filter_default(struct TestudoQueryFilter *out);

/// The bodies whose boxes overlap an area, in ascending order of their slots. `filter` may be NULL: all but sensors.
int32_t testudo_world_query_area(const struct TestudoWorld *world,
                                 const struct TestudoBox *area,
                                 const struct TestudoQueryFilter *filter,
                                 TestudoBody *out,
                                 uint32_t capacity);

/// The bodies whose shapes overlap an area, in ascending order of their slots. `filter` may be NULL: all but sensors.
int32_t testudo_world_query_area_exact(const struct TestudoWorld *world,
                                       const struct TestudoBox *area,
                                       const struct TestudoQueryFilter *filter,
                                       TestudoBody *out,
                                       uint32_t capacity);

/// The bodies that contain a point, surfaces included, in ascending order of their slots. `filter` may be NULL: all but sensors.
int32_t testudo_world_query_point(const struct TestudoWorld *world,
                                  const struct TestudoVec2 *point,
                                  const struct TestudoQueryFilter *filter,
                                  TestudoBody *out,
                                  uint32_t capacity);

/// The bodies that overlap a shape at a position (within +-20,480 units; extents 0..=4,096), in ascending order of their slots.
/// `filter` may be NULL: all but sensors.
int32_t testudo_world_query_shape(const struct TestudoWorld *world,
                                  const struct TestudoShape *shape,
                                  const struct TestudoVec2 *position,
                                  const struct TestudoQueryFilter *filter,
                                  TestudoBody *out,
                                  uint32_t capacity);

/// The `capacity` bodies nearest to a point (within +-20,480 units) that are at most `distance` units away, nearest first. Returns how
/// many were found, so never more than `capacity`: meant for a few. `filter` may be NULL: all but sensors.
int32_t testudo_world_nearest(const struct TestudoWorld *world,
                              const struct TestudoVec2 *point,
                              TestudoFx distance,
                              const struct TestudoQueryFilter *filter,
                              struct TestudoNear *out,
                              uint32_t capacity);

/// The first body that a ray hits (both ends within +-20,480 units): returns 1 and writes the hit, or 0. A body that contains the
/// start is hit there. `filter` may be NULL: all but sensors.
int32_t testudo_world_ray_cast(const struct TestudoWorld *world,
                               const struct TestudoSegment *ray,
                               const struct TestudoQueryFilter *filter,
                               struct TestudoRayHit *out);

/// All bodies that a ray hits (both ends within +-20,480 units), nearest first. `filter` may be NULL: all but sensors.
int32_t testudo_world_ray_cast_all(const struct TestudoWorld *world,
                                   const struct TestudoSegment *ray,
                                   const struct TestudoQueryFilter *filter,
                                   struct TestudoRayHit *out,
                                   uint32_t capacity);

/// The first body that a shape hits whose centre moves along a path (both ends within +-20,480 units; extents 0..=4,096): returns 1
/// and writes the hit, or 0. `filter` may be NULL: all but sensors.
int32_t testudo_world_sweep(const struct TestudoWorld *world,
                            const struct TestudoShape *shape,
                            const struct TestudoSegment *path,
                            const struct TestudoQueryFilter *filter,
                            struct TestudoSweepHit *out);

/// All bodies that a moving shape hits, nearest first; otherwise like `testudo_world_sweep`.
int32_t testudo_world_sweep_all(const struct TestudoWorld *world,
                                const struct TestudoShape *shape,
                                const struct TestudoSegment *path,
                                const struct TestudoQueryFilter *filter,
                                struct TestudoSweepHit *out,
                                uint32_t capacity);

/// A new crowd without units. When the world has its walls, also if it has none, `testudo_crowd_survey` follows; before that the crowd takes no orders. Free
/// it with `testudo_crowd_free`.
TestudoStatus testudo_crowd_new(const struct TestudoCrowdDef *def,
                                struct TestudoCrowd **out);

/// A copy of a crowd, which goes on by itself: beside a copy of its world.
TestudoStatus testudo_crowd_clone(const struct TestudoCrowd *crowd, struct TestudoCrowd **out);

/// Frees a crowd. NULL is allowed.
void testudo_crowd_free(struct TestudoCrowd *crowd);

/// Tells all units their velocities for the next step of the world: call it once before each `testudo_world_step`, with the same `frames_per_second`,
/// 1..=1,000.
TestudoStatus testudo_crowd_step(struct TestudoCrowd *crowd,
                                 struct TestudoWorld *world,
                                 uint32_t frames_per_second);

/// 64-bit hash of the whole state and of the definition: beside `testudo_world_checksum` for the checksum of a game.
uint64_t testudo_crowd_checksum(const struct TestudoCrowd *crowd);

/// Adds the whole state to a buffer.
TestudoStatus testudo_crowd_save(const struct TestudoCrowd *crowd, struct TestudoBuffer *buffer);

/// Goes to a saved state, from bytes of any origin. `world` is in the state of the same moment, so it is loaded before. A crowd that refuses the bytes
/// (`TESTUDO_DAMAGED`, `TESTUDO_VERSION`), as those of a crowd with another definition, stays as it is. Takes as long as the survey of the ground and the
/// searches for paths took. Lists of events are empty afterwards.
TestudoStatus testudo_crowd_load(struct TestudoCrowd *crowd,
                                 const struct TestudoWorld *world,
                                 const uint8_t *data,
                                 size_t length);

/// Whether two crowds differ: 0 or 1. If they do, `words` (may be NULL) gets the first number in which they do, as UTF-8 text with a 0 at its end. It replaces
/// what the buffer held.
int32_t testudo_crowd_first_difference(const struct TestudoCrowd *here,
                                       const struct TestudoCrowd *there,
                                       struct TestudoBuffer *words);

/// Fills in the defaults for an area.
TestudoStatus testudo_crowd_def_default(const struct TestudoBox *area, struct TestudoCrowdDef *out);

/// The cells that are closed to units of this radius (units), and those that cost more or less than 1. It looks at the whole ground: for pictures.
int32_t testudo_crowd_draw_ground(const struct TestudoCrowd *crowd,
                                  TestudoFx radius,
                                  struct TestudoGroundCell *out,
                                  uint32_t capacity);

/// Where the field leads that a unit follows, from every cell that it knows; none if it follows none: a unit that stands, pursues, or goes alone. It looks at
/// the whole ground: for pictures.
int32_t testudo_crowd_draw_flow(const struct TestudoCrowd *crowd,
                                TestudoBody unit,
                                struct TestudoFlowArrow *out,
                                uint32_t capacity);

/// All units with where they go, in ascending order of their bodies' slots.
int32_t testudo_crowd_draw_units(const struct TestudoCrowd *crowd, struct TestudoUnitWay *out, uint32_t capacity);

/// Looks at all obstacles of the world: call it when the walls stand, also if there are none.
TestudoStatus testudo_crowd_survey(struct TestudoCrowd *crowd, const struct TestudoWorld *world);

/// Looks again at the obstacles in and around an area: call it with the box around a building that came or went, in the same frame. Nothing changes if the
/// area is empty, its `min` above its `max`.
TestudoStatus testudo_crowd_survey_area(struct TestudoCrowd *crowd,
                                        const struct TestudoWorld *world,
                                        const struct TestudoBox *area);

/// Sets the cost of all cells whose middles lie in an area: 0 closes them, 1 is ordinary ground, more makes paths through them that many times as long, up to
/// 15.
TestudoStatus testudo_crowd_set_cost(struct TestudoCrowd *crowd,
                                     const struct TestudoWorld *world,
                                     const struct TestudoBox *area,
                                     uint32_t cost);

/// Whether a unit of this radius (units) can be in the cell of a point and leave it: 0 or 1. A point outside of the area counts as the nearest cell.
int32_t testudo_crowd_is_open(const struct TestudoCrowd *crowd,
                              const struct TestudoVec2 *point,
                              TestudoFx radius);

/// Where a unit of this radius (units) can be, nearest to a point: returns 1 and writes it, or 0 if nothing is open within 32 cells.
int32_t testudo_crowd_nearest_open(const struct TestudoCrowd *crowd,
                                   const struct TestudoVec2 *point,
                                   TestudoFx radius,
                                   struct TestudoVec2 *out);

/// A path for a unit of this radius (units) that is hardly longer than the shortest one, as its corners: first the start, last the end. Returns how many there
/// are, 0 if no path exists. The search looks at no more than `cells_max` cells; if there is more ground it is `TESTUDO_FULL`. Orders need no such call: it is
/// for what a game decides, as where to build. Ends in closed cells count as the nearest open ones, at most 32 cells away.
int32_t testudo_crowd_find_path(struct TestudoCrowd *crowd,
                                const struct TestudoSegment *ends,
                                TestudoFx radius,
                                uint32_t cells_max,
                                struct TestudoCorner *out,
                                uint32_t capacity);

/// An order to go to a place and to stand around it as a disc, each unit at its own pace.
TestudoStatus testudo_move_order_go(TestudoFx x, TestudoFx y, struct TestudoMoveOrder *out);

/// Sends units to a place, at most 1,048,576 in a call. Each gets a place of its own in the formation; the order in which they are named does not matter, and
/// one that is named twice counts once. Nobody goes if one of them is no unit (`TESTUDO_STALE`), if no open ground is near the goal or the ground was never
/// surveyed (`TESTUDO_REFUSED`), or if too many goals are in use (`TESTUDO_FULL`).
TestudoStatus testudo_crowd_order(struct TestudoCrowd *crowd,
                                  const struct TestudoWorld *world,
                                  const TestudoBody *units,
                                  uint32_t count,
                                  const struct TestudoMoveOrder *order);

/// Sends one unit to a place of its own beside a goal that it shares with others, at its own pace: for games that decide who stands where. All units that are
/// sent to the same goal are one group.
TestudoStatus testudo_crowd_send(struct TestudoCrowd *crowd,
                                 TestudoBody unit,
                                 const struct TestudoVec2 *goal,
                                 const struct TestudoVec2 *place);

/// A unit goes at a body from now on, wherever that goes, around obstacles, and stands while its middle is no further than `reach` (units, 0..=65,536) from
/// the body's surface. Nothing ends it but another order, `testudo_crowd_stop`, or that the body is removed (`TESTUDO_MOVE_PREY_GONE`).
TestudoStatus testudo_crowd_pursue(struct TestudoCrowd *crowd,
                                   const struct TestudoWorld *world,
                                   TestudoBody unit,
                                   TestudoBody prey,
                                   TestudoFx reach);

/// Units stop where they are, at most 1,048,576 in a call. Nobody does if one of them is no unit (`TESTUDO_STALE`).
TestudoStatus testudo_crowd_stop(struct TestudoCrowd *crowd,
                                 const struct TestudoWorld *world,
                                 const TestudoBody *units,
                                 uint32_t count);

/// Makes a dynamic body a unit; it stands. `speed`: its greatest speed, units/s, above 0..=1,024; 3 suits a unit of one unit across. `acceleration`: the
/// greatest change of its velocity, units/s^2, above 0..=1,024; ten times its speed is usual. A unit that is one already gets the new numbers, and loses its
/// order without an event.
TestudoStatus testudo_crowd_add(struct TestudoCrowd *crowd,
                                const struct TestudoWorld *world,
                                TestudoBody body,
                                TestudoFx speed,
                                TestudoFx acceleration);

/// A body is no unit any more; it keeps its velocity. Returns whether it was one: 0 or 1. Units whose bodies are removed leave by themselves.
int32_t testudo_crowd_remove(struct TestudoCrowd *crowd,
                             struct TestudoWorld *world,
                             TestudoBody body);

/// What a unit is about. `TESTUDO_STALE` if the body is no unit (any more).
TestudoStatus testudo_crowd_unit_state(const struct TestudoCrowd *crowd,
                                       TestudoBody unit,
                                       struct TestudoUnitState *out);

/// What happened in the last `testudo_crowd_step`: first who is gone, then whose prey is gone, then all else, in ascending order of the bodies' slots.
/// Empty after `testudo_crowd_load`: what follows from them is to be done in the frame of that step.
int32_t testudo_crowd_events(const struct TestudoCrowd *crowd,
                             struct TestudoMoveEvent *out,
                             uint32_t capacity);

/// Fills in the defaults for a match of so many players.
TestudoStatus testudo_config_default(uint32_t players, struct TestudoConfig *out);

/// Asks for the place that a code opens. `token`: 16 bytes by which the host tells this machine from others with the same code, the
/// same again after a crash, others for other hosts; NULL: none. Free it with `testudo_guest_free`.
TestudoStatus testudo_guest_join(const char *code,
                                 const uint8_t *token,
                                 uint64_t now_us,
                                 struct TestudoGuest **out);

/// Opens a room at a relay, whose code this is, to play in it as player 0: nobody of the players is the middle then, and all of them may have crashed and come
/// back: whoever opened the room by `testudo_guest_join` with the code of its own place, `testudo_guest_code(guest, 0)`, as a second call opens another room.
/// `config`: the settings of the match, with `game_data`; `action_bits` as in the game; `token` as in `testudo_guest_join`. A relay has its own
/// `arrivals.watch_delay_ms` and `watchers_min`: `TESTUDO_REFUSED` if they are not 0 here. The rest is as after `testudo_guest_join`, with
/// `testudo_guest_code` for the others. Free it with `testudo_guest_free`.
TestudoStatus testudo_guest_open(const char *relay,
                                 const uint8_t *token,
                                 const struct TestudoConfig *config,
                                 uint32_t action_bits,
                                 uint64_t now_us,
                                 struct TestudoGuest **out);

/// The code that opens a place of the room that this guest has opened, as text with a 0 at its end: that of a player, or of all who watch (`TESTUDO_WATCHER`).
/// `TESTUDO_REFUSED` before the place is open, and to whoever has opened none. It replaces the content of the buffer.
TestudoStatus testudo_guest_code(const struct TestudoGuest *guest,
                                 uint32_t place,
                                 struct TestudoBuffer *out);

/// Whoever has opened a room at a relay removes a player for good: any but itself. The relay does it soon. Before the match has begun, `testudo_guest_code`
/// then has a new code for the place, also if nobody was there. Whoever came back by its own code removes players, too, but has no codes.
TestudoStatus testudo_guest_remove(struct TestudoGuest *guest,
                                   struct TestudoMatch *handle,
                                   uint32_t player);

/// Closes the connection, and waits up to a quarter of a second until the last packets are sent. Free the match by itself. NULL is allowed. A callback of
/// a game in its round cannot: nothing happens then.
void testudo_guest_free(struct TestudoGuest *guest);

/// A round: packets in, frames, packets out. `handle`: the match of the newest arrival; NULL before the first one.
///
/// Returns whether the place was opened, at first or again: 0 or 1. If so, free the match before, and make a game and its match
/// (`testudo_guest_match`): in a running match it gets the state from the others. A failure other than `TESTUDO_BUSY` says that there is no place, or
/// none any more, and why.
int32_t testudo_guest_round(struct TestudoGuest *guest,
                            struct TestudoMatch *handle,
                            uint64_t now_us);

/// Sleeps until a packet comes, at most so many milliseconds: 1. Give 20 at most: a guest also calls again by itself. Without a connection it is 0 at
/// once: sleep yourself then.
int32_t testudo_guest_wait(const struct TestudoGuest *guest,
                           uint32_t ms);

/// What the host has given as `game_data`: map, seed, ... It replaces the content of the buffer.
TestudoStatus testudo_guest_game_data(const struct TestudoGuest *guest, struct TestudoBuffer *out);

/// The place: a player's number, or `TESTUDO_WATCHER`; `TESTUDO_NOBODY` before it is open.
uint32_t testudo_guest_place(const struct TestudoGuest *guest);

/// Number of players of the match; 0 before the place is open.
uint32_t testudo_guest_players(const struct TestudoGuest *guest);

/// Makes the match of the newest arrival, with the host's settings. Of `config` it takes what this peer chooses for itself, and
/// `engine_version`, `content_hash` (unless it is 0) and `rules_version`, so that other versions refuse each other. `config` may be NULL: the defaults.
TestudoStatus testudo_guest_match(const struct TestudoGuest *guest,
                                  const struct TestudoConfig *config,
                                  const struct TestudoGame *game,
                                  uint64_t now_us,
                                  struct TestudoMatch **out);

/// From now on the place is not asked for again when it is lost. Call `testudo_match_leave`, too.
TestudoStatus testudo_guest_leave(struct TestudoGuest *guest);

/// Whether the connection is broken and is being made again.
TestudoBool testudo_guest_is_cut_off(const struct TestudoGuest *guest);

/// Why the place is not open yet, while it is asked for again, as text with a 0 at its end; "" if there is no such reason.
TestudoStatus testudo_guest_delay(const struct TestudoGuest *guest,
                                  struct TestudoBuffer *out);

/// Fills in random bytes of the operating system, at most 256.
TestudoStatus testudo_random_bytes(uint8_t *out, uint32_t length);

/// Hosts a match on the internet: makes the match and a socket at the address `bind` ("0.0.0.0:0", port 0 takes a free one). `addresses`:
/// where guests find it, one to four, separated by commas; NULL: where it is bound. Port 0 in them is that of the socket. In the place of "0.0.0.0" or "[::]"
/// codes get the address of this machine that leads outside, for "[::]" also a second one if there is room. Behind a router these lead guests of the same house
/// only: for others the router passes the port on, and its address belongs into `addresses`, as in "203.0.113.5:0,0.0.0.0:0". Where no route leads to the
/// internet, as between two machines at a cable, codes get the address of loopback, by which other machines call themselves: name that of this machine then.
/// A `session_id` of 0 is drawn.
///
/// Free both, `*host` with `testudo_host_free`, `*handle` with `testudo_match_free`.
TestudoStatus testudo_host_open(const struct TestudoConfig *config,
                                const struct TestudoGame *game,
                                const char *bind,
                                const char *addresses,
                                uint64_t now_us,
                                struct TestudoHost **host,
                                struct TestudoMatch **handle);

/// Closes the socket, and waits up to a quarter of a second until the last packets are sent. Free the match by itself. NULL is allowed. A callback of
/// a game in its round cannot: nothing happens then.
void testudo_host_free(struct TestudoHost *host);

/// The socket's address, as text with a 0 at its end: with it the port, where `bind` left it open. It replaces the content of the buffer.
TestudoStatus testudo_host_address(const struct TestudoHost *host,
                                   struct TestudoBuffer *out);

/// The code that opens a place, as text with a 0 at its end: that of a player, or of all who watch (`TESTUDO_WATCHER`). Give each
/// player its own. It replaces the content of the buffer.
TestudoStatus testudo_host_code(const struct TestudoHost *host,
                                uint32_t place,
                                struct TestudoBuffer *out);

/// Removes a player for good: any but the host's own. Before the match has begun, `testudo_host_code` then has a new code for the place, also if nobody
/// was there.
TestudoStatus testudo_host_remove(struct TestudoHost *host,
                                  struct TestudoMatch *handle,
                                  uint32_t player,
                                  uint64_t now_us);

/// A round: packets in and guests, frames, packets out. Then take the events. `TESTUDO_IO`: the socket is lost, and nobody can come any more.
TestudoStatus testudo_host_round(struct TestudoHost *host,
                                 struct TestudoMatch *handle,
                                 uint64_t now_us);

/// Sleeps until a packet comes, at most so many milliseconds.
TestudoStatus testudo_host_wait(const struct TestudoHost *host, uint32_t ms);

/// Binds a socket to an address as "127.0.0.1:4000" or "[::]:4000". Port 0 takes a free one. Free it with `testudo_udp_free`.
TestudoStatus testudo_udp_bind(const char *address,
                               struct TestudoUdp **out);

/// Closes a socket. NULL is allowed. A callback of a game in its round cannot: nothing happens then.
void testudo_udp_free(struct TestudoUdp *udp);

/// The socket's address, as text with a 0 at its end. It replaces the content of the buffer.
TestudoStatus testudo_udp_address(const struct TestudoUdp *udp, struct TestudoBuffer *out);

/// The number of the link to the peer at an address, for `testudo_match_join` and others. The same for the same address.
TestudoStatus testudo_udp_add_peer(struct TestudoUdp *udp,
                                   const char *address,
                                   uint32_t *peer);

/// Moves packets both ways. Call it before and after `testudo_match_advance`, or call `testudo_udp_round`.
TestudoStatus testudo_udp_pump(struct TestudoUdp *udp, struct TestudoMatch *handle, uint64_t now_us);

/// A round: packets in, frames, packets out. Then take the events.
TestudoStatus testudo_udp_round(struct TestudoUdp *udp, struct TestudoMatch *handle, uint64_t now_us);

/// Reads a replay. `TESTUDO_VERSION`: it is of another `rules_version`, or of another version of the library. A file that is damaged
/// later on is read up to there. Free it with `testudo_replay_free`.
TestudoStatus testudo_replay_read(const uint8_t *data,
                                  size_t length,
                                  uint32_t rules_version,
                                  struct TestudoReplay **out);

/// Frees a replay; its players go on. NULL is allowed.
void testudo_replay_free(struct TestudoReplay *replay);

/// What the replay says of itself.
TestudoStatus testudo_replay_info(const struct TestudoReplay *replay, struct TestudoReplayInfo *out);

/// `TestudoConfig.game_data` of the match. It replaces the content of the buffer.
TestudoStatus testudo_replay_game_data(const struct TestudoReplay *replay, struct TestudoBuffer *out);

/// Plays the whole replay with a game in its state before the first turn, and compares every checksum, and every recorded state if the game has
/// `save` and `load`. If `words` is not NULL, it gets the finding as text with a 0 at its end.
///
/// `TESTUDO_DAMAGED`: an action in it is none of this game, by `action_bits` and `action_length`. Nothing is played then.
TestudoStatus testudo_replay_verify(const struct TestudoReplay *replay,
                                    const struct TestudoGame *game,
                                    struct TestudoBuffer *words,
                                    struct TestudoVerification *out);

/// A player of a replay, with a game in its state before the first turn. It goes forwards without `save` and `load` of the game, too. Free it with
/// `testudo_replay_player_free`. `TESTUDO_DAMAGED`: as `testudo_replay_verify` says.
TestudoStatus testudo_replay_player_new(const struct TestudoReplay *replay,
                                        const struct TestudoGame *game,
                                        struct TestudoReplayPlayer **out);

/// Frees a player. NULL is allowed. A callback of its own game cannot: nothing happens then, and `testudo_error()` says so.
void testudo_replay_player_free(struct TestudoReplayPlayer *player);

/// Runs one frame; of a pause the whole turn. Returns whether there was one: 0 or 1.
int32_t testudo_replay_player_step(struct TestudoReplayPlayer *player);

/// Goes to the start of a turn of the file, forwards or backwards. Backwards needs `save` and `load` of the game, and far forwards is faster with them. If
/// they are missing or refuse, it is `TESTUDO_GAME_FAILED`, and the player stays where it was.
TestudoStatus testudo_replay_player_seek(struct TestudoReplayPlayer *player,
                                         uint32_t turn);

/// The turn of the file that is running, or runs next.
uint32_t testudo_replay_player_turn(const struct TestudoReplayPlayer *player);

/// Number of frames of that turn that have run.
uint32_t testudo_replay_player_frame(const struct TestudoReplayPlayer *player);

/// The first turn of the file whose checksum or state was another one than the recorded, of those seen so far; `TESTUDO_NEVER`: none.
uint32_t testudo_replay_player_difference(const struct TestudoReplayPlayer *player);

/// A match of one player alone, without a network: nobody can come. `topology` and `arrivals.watchers_min` mean nothing. Free it with
/// `testudo_match_free`.
TestudoStatus testudo_match_single(const struct TestudoConfig *config,
                                   const struct TestudoGame *game,
                                   uint64_t now_us,
                                   struct TestudoMatch **out);

/// The match of the host, player `sides.host_player`, which waits for the others.
TestudoStatus testudo_match_host(const struct TestudoConfig *config,
                                 const struct TestudoGame *game,
                                 uint64_t now_us,
                                 struct TestudoMatch **out);

/// The match of a player who joins, also one that runs, over the link `peer` to the host or relay. `TESTUDO_NO_PEER`:
/// `testudo_match_connect` follows.
TestudoStatus testudo_match_join(const struct TestudoConfig *config,
                                 const struct TestudoGame *game,
                                 uint32_t player,
                                 uint32_t peer,
                                 uint64_t now_us,
                                 struct TestudoMatch **out);

/// The match of somebody who watches, over the link `peer` to the host or relay.
TestudoStatus testudo_match_watch(const struct TestudoConfig *config,
                                  const struct TestudoGame *game,
                                  uint32_t peer,
                                  uint64_t now_us,
                                  struct TestudoMatch **out);

/// Frees a match; the others are told nothing (`testudo_match_leave`). NULL is allowed. A callback of its own game cannot: nothing happens then, and
/// `testudo_error()` says so.
void testudo_match_free(struct TestudoMatch *handle);

/// Opens a link to a peer and asks to be let in. In a mesh everybody does so for all others.
TestudoStatus testudo_match_connect(struct TestudoMatch *handle, uint32_t peer);

/// Whether something has happened: 0 or 1. If so, it is in `out`. Call it until it returns 0.
int32_t testudo_match_poll_event(struct TestudoMatch *handle, struct TestudoEvent *out);

/// The last event that `testudo_match_poll_event` gave, in English, for a person or a log. "" if there was none. Valid until its next call.
const char *testudo_match_event_words(const struct TestudoMatch *handle);

/// Before the start: what a player shows of itself, a name or colours, at most 64 bytes. Each player sets its own. In a star of players
/// the host sets those of all, for the names of bots.
TestudoStatus testudo_match_set_profile(struct TestudoMatch *handle,
                                        uint32_t player,
                                        const uint8_t *data,
                                        size_t length);

/// What a player shows of itself. It replaces the content of the buffer.
TestudoStatus testudo_match_profile(const struct TestudoMatch *handle, uint32_t player, struct TestudoBuffer *out);

/// Sends a message beside the match, at most 1,024 bytes: reliable, in order, never part of the game. `to` is a player, `TESTUDO_EVERYBODY`, or
/// `TESTUDO_MIDDLE`. In a match of games with `visit` the first byte is 2 or more: others are those of the search.
/// Say nothing to the middle that is a relay: what it takes is `testudo_guest_remove`.
TestudoStatus testudo_match_send_message(struct TestudoMatch *handle,
                                         uint32_t to,
                                         const uint8_t *data,
                                         size_t length);

/// Answers a watcher over its link, as `testudo_match_poll_message` has named it. Only the middle of a star can.
TestudoStatus testudo_match_send_to_link(struct TestudoMatch *handle,
                                         uint32_t peer,
                                         const uint8_t *data,
                                         size_t length);

/// Whether there is a message: 0 or 1. If so, it replaces the content of `out`; `*from` is who says it (a player, `TESTUDO_WATCHER`,
/// `TESTUDO_RELAY`), and `*peer` the link over which it came. Both may be NULL. At most 256 messages and 128 KiB wait here, and
/// twice as many during the search of games with `visit`; others wait where they come from, and `TESTUDO_EVENT_UNDELIVERED` tells there of those that get lost.
int32_t testudo_match_poll_message(struct TestudoMatch *handle,
                                   uint32_t *from,
                                   uint32_t *peer,
                                   struct TestudoBuffer *out);

/// The phase: a `TESTUDO_PHASE_...`.
uint32_t testudo_match_phase(const struct TestudoMatch *handle);

/// Whether it has finished, was left or has failed, and nothing more will run. 1 for a bad handle.
TestudoBool testudo_match_is_over(const struct TestudoMatch *handle);

/// The local player; or `TESTUDO_WATCHER`.
uint32_t testudo_match_player(const struct TestudoMatch *handle);

/// The next turn to begin.
uint32_t testudo_match_turn(const struct TestudoMatch *handle);

/// Number of frames that were simulated.
uint32_t testudo_match_frame(const struct TestudoMatch *handle);

/// How much of the time from the last frame to the next has passed, 0..=65,536: for drawing between them (`testudo_world_interpolated`).
uint32_t testudo_match_alpha(const struct TestudoMatch *handle,
                             uint64_t now_us);

/// Whether the game is paused.
TestudoBool testudo_match_is_paused(const struct TestudoMatch *handle);

/// Whether it came to a running match and has turns to make up for: draw no picture of each frame.
TestudoBool testudo_match_is_catching_up(const struct TestudoMatch *handle);

/// Players for whom the next turn waits: bit n for player n.
uint32_t testudo_match_missing_players(const struct TestudoMatch *handle);

/// Players who are here, as far as this peer knows: bit n for player n.
uint32_t testudo_match_present_players(const struct TestudoMatch *handle);

/// Before the start: players who want to begin, as far as this peer knows. Bit n for player n.
uint32_t testudo_match_ready_players(const struct TestudoMatch *handle);

/// Number of turns whose checksums have been compared.
uint32_t testudo_match_compared_turns(const struct TestudoMatch *handle);

/// The counters.
TestudoStatus testudo_match_stats(const struct TestudoMatch *handle, struct TestudoMatchStats *out);

/// Takes a packet that has come over the link `peer`. Any bytes are allowed: bad ones change nothing but a counter.
///
/// Call in every round of the program's loop: this for every packet, `testudo_match_advance`, `testudo_match_poll_packet` until there
/// is none, `testudo_match_poll_event` until there is none, `testudo_match_note_work`; then sleep until `testudo_match_next_call` or the next
/// packet (`testudo_host_wait`, `testudo_guest_wait`). The functions of the transports (`testudo_udp_round`, ...) do all but the events, the sleep and
/// `testudo_match_note_work`.
TestudoStatus testudo_match_handle_packet(struct TestudoMatch *handle,
                                          uint64_t now_us,
                                          uint32_t peer,
                                          const uint8_t *data,
                                          size_t length);

/// Passes time, and simulates the frames that are due, at most four; more to catch up with a running match. `out` may be NULL.
TestudoStatus testudo_match_advance(struct TestudoMatch *handle,
                                    uint64_t now_us,
                                    struct TestudoAdvance *out);

/// Tells how long this round kept the machine at work, in microseconds: `simulated_us` in `testudo_match_advance` or the transport's round,
/// `drawn_us` in everything else, drawing first of all; no waits. Call it at the end of each round. From this the others learn that a machine cannot
/// keep up: with `TESTUDO_PACE_ADAPTIVE` everybody's frames take longer then.
TestudoStatus testudo_match_note_work(struct TestudoMatch *handle,
                                      uint64_t simulated_us,
                                      uint64_t drawn_us);

/// Whether there is a packet to send: 0 or 1. If so, it replaces the content of `packet`, and is for the link `*peer`. Call it until
/// it returns 0, also for a moment after the match is over.
int32_t testudo_match_poll_packet(struct TestudoMatch *handle,
                                  uint64_t now_us,
                                  struct TestudoBuffer *packet,
                                  uint32_t *peer);

/// Whether there is a time at which the match has something to do, unless a packet comes before: 0 or 1. If so, `*at_us` is that time.
int32_t testudo_match_next_call(const struct TestudoMatch *handle,
                                uint64_t *at_us);

/// The game's checksum of its present state (`TestudoGame.checksum`).
uint64_t testudo_match_checksum(struct TestudoMatch *handle);

/// Asks for a save: at the same turn on every peer the library calls `TestudoGame.save_point`; soon after,
/// `testudo_match_take_saved` has the rest (`TESTUDO_EVENT_SAVED`).
/// `TESTUDO_REFUSED` where no save would follow: this program does not play, the match ends before, or a save was complete less than
/// two seconds ago.
TestudoStatus testudo_match_save(struct TestudoMatch *handle);

/// Takes the save that is complete; it replaces the content of the buffer. Store it with the state that the game kept in
/// `save_point`. To go on: bring the game to that state, and make the match with `own.saved` and the same other settings.
TestudoStatus testudo_match_take_saved(struct TestudoMatch *handle,
                                       struct TestudoBuffer *out);

/// Adds what has been recorded since the last call to the buffer: append it to a file, for example once per second
/// (`own.records`). When the match is over, the last piece comes. Look at `testudo_match_replay_file` before: another number, another file.
TestudoStatus testudo_match_take_replay(struct TestudoMatch *handle,
                                        struct TestudoBuffer *out);

/// Ends the replay here. `testudo_match_take_replay` has the last piece.
TestudoStatus testudo_match_finish_replay(struct TestudoMatch *handle);

/// Which file the next piece belongs to: 0, and one more each time that a state was loaded. Then begin a new file.
uint32_t testudo_match_replay_file(const struct TestudoMatch *handle);

/// Gives an action of the local player: the first `bits` bits of `data`, the lowest one of each byte first. It runs
/// `turns.turns_ahead` turns later, in the same turn on every peer, or fails here and runs nowhere.
TestudoStatus testudo_match_submit(struct TestudoMatch *handle, const uint8_t *data, uint32_t bits);

/// Whether the local player may give an action now; if not, the words of the failure say why. The queue may be full all the same.
TestudoStatus testudo_match_may_submit(const struct TestudoMatch *handle);

/// Asks for a pause, or for its end.
TestudoStatus testudo_match_pause(struct TestudoMatch *handle, TestudoBool paused);

/// Asks for another speed, percent of real time, 10..=250. The length of a step stays.
TestudoStatus testudo_match_set_speed(struct TestudoMatch *handle, uint32_t percent);

/// Before the start: whether this player is ready. Everybody is unless this says otherwise.
TestudoStatus testudo_match_set_ready(struct TestudoMatch *handle, TestudoBool ready);

/// Votes a player out, or takes the vote back.
TestudoStatus testudo_match_vote_out(struct TestudoMatch *handle, uint32_t player, TestudoBool out);

/// The host removes a player. `testudo_host_remove` also closes its connection and its place. Behind a relay it is `testudo_guest_remove`.
TestudoStatus testudo_match_kick(struct TestudoMatch *handle,
                                 uint32_t player);

/// The player gives up, or lets a bot play, and watches: `successor` is a `TESTUDO_SUCCESSOR_...`. Actions that wait run nowhere
/// (`TESTUDO_EVENT_CANCELLED`).
TestudoStatus testudo_match_resign(struct TestudoMatch *handle,
                                   uint32_t successor);

/// The player goes away in good order. Go on with rounds until the match is over here. Actions that wait run nowhere (`TESTUDO_EVENT_CANCELLED`).
TestudoStatus testudo_match_leave(struct TestudoMatch *handle);

/// The following numbers belong to this object, as unit 17: a kind of 1..=64 bytes, and which one of them.
TestudoStatus testudo_visit_object(struct TestudoVisit *visit, const char *kind, uint32_t index);

/// A number of the state, and its name of 1..=64 bytes. A game has few names, 4,096 at most: what there are many of has an index (`testudo_visit_object`).
TestudoStatus testudo_visit_number(struct TestudoVisit *visit,
                                   const char *name,
                                   int64_t value);

/// All numbers of a world.
TestudoStatus testudo_visit_world(struct TestudoVisit *visit, const struct TestudoWorld *world);

/// All numbers of a crowd.
TestudoStatus testudo_visit_crowd(struct TestudoVisit *visit, const struct TestudoCrowd *crowd);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TESTUDO_H */
