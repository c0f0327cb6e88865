/// Testudo: deterministic physics and lockstep matches. Made by cbindgen from lockstep/c/src; see lockstep/c/README.md.
///
/// A handle (TestudoWorld *, ...) is for one call at a time. What can fail returns a TestudoStatus; testudo_error() has the words. A
/// function that returns int32_t says how many there are, or 0 or 1; negative is minus a TestudoStatus. Numbers of the simulation
/// (TestudoFx) have 16 fraction bits. Structures are read and written by pointer, and need no alignment. out pointers are not written
/// when a call fails.

#ifndef TESTUDO_H
#define TESTUDO_H

#include <stddef.h>
#include <stdint.h>

/// 1 as a `TestudoFx`.
#define TESTUDO_ONE ((int64_t)65536)
/// A quarter of a turn.
#define TESTUDO_QUARTER_TURN ((uint32_t)1073741824)

/// Version of this header: functions, structures, numbers. A program whose header has another one than its library has
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

/// Bytes that the library writes: saved states, packets, words. It grows as needed.
typedef struct TestudoBuffer TestudoBuffer;

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

/// Done.
#define TESTUDO_OK 0

/// A pointer is NULL that may not be.
#define TESTUDO_NULL 1

/// A number, a length, a text or an enumerator is out of its range.
#define TESTUDO_OUT_OF_RANGE 2

/// The body is not in this world (any more).
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

/// No speed limit of a body's own.
#define TESTUDO_NO_LIMIT -1

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

/// The bytes, `testudo_buffer_length` of them, to read and to write; valid until the buffer grows or is freed. NULL for NULL; if
/// the buffer is empty, any pointer.
uint8_t *testudo_buffer_data(struct TestudoBuffer *buffer);

/// Number of bytes. 0 for NULL.
size_t testudo_buffer_length(const struct TestudoBuffer *buffer);

/// The library's `TESTUDO_INTERFACE_VERSION`.
uint32_t testudo_interface_version(void);

/// Version of the physics: two builds with the same number compute the same bits.
uint32_t testudo_sim_version(void);

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
/// without an end: "bodies: body 0.0, position.x: 0 here, 16 there". It replaces what the buffer held.
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
/// less.
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
/// (`testudo_match_alpha_at`). These numbers are for drawing: no rule of a game may read them.
int32_t testudo_world_interpolated(const struct TestudoWorld *world,
                                   uint32_t alpha,
                                   struct TestudoDrawn *out,
                                   uint32_t capacity);

/// All bodies, oldest first.
int32_t testudo_world_bodies(const struct TestudoWorld *world, TestudoBody *out, uint32_t capacity);

/// The centre of every body, oldest first.
int32_t testudo_world_positions(const struct TestudoWorld *world, struct TestudoPosition *out, uint32_t capacity);

/// The bodies whose position the last step changed. Read it before other calls that change the world.
int32_t testudo_world_moved_bodies(const struct TestudoWorld *world, TestudoBody *out, uint32_t capacity);

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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TESTUDO_H */
