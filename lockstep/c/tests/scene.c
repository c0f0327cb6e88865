/* A scene with all that the physics has, written as a game in C would. tests/scene.rs makes the same one with the Rust packages and compares
   every line of the output. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "testudo.h"

#define ROOM 64

/* Stops the program with the words of a call that failed. */
static void must(TestudoStatus status, int line) {
  if (status != TESTUDO_OK) {
    fprintf(stderr, "scene.c:%d: %s: %s\n", line, testudo_status_name(status), testudo_error());
    exit(1);
  }
}
#define MUST(call) must((call), __LINE__)

static TestudoBody bodies[ROOM];
static uint32_t body_count;

/* A heap of discs and boxes, some of them special. */
static void fill(TestudoWorld *world) {
  TestudoRandom random;
  uint32_t at;
  MUST(testudo_random_new(42, 7, &random));
  for (at = 0; at < 40; at++) {
    TestudoShape shape;
    TestudoBodyDef def;
    TestudoFx size = testudo_random_range(&random, TESTUDO_ONE / 4, TESTUDO_ONE);
    if (at % 3 == 0) {
      MUST(testudo_rect(size, TESTUDO_ONE / 2, &shape));
    } else {
      MUST(testudo_circle(size, &shape));
    }
    MUST(testudo_body_def_default(at % 13 == 12 ? TESTUDO_KINEMATIC : TESTUDO_DYNAMIC, &shape, &def));
    def.position.x = testudo_random_range(&random, -8 * TESTUDO_ONE, 8 * TESTUDO_ONE);
    def.position.y = TESTUDO_ONE * (2 + at / 2);
    def.velocity.x = testudo_random_range(&random, -3 * TESTUDO_ONE, 3 * TESTUDO_ONE);
    def.mass = TESTUDO_ONE * (1 + at % 5);
    def.material.restitution = TESTUDO_ONE / 4;
    def.material.friction = TESTUDO_ONE / 2;
    def.filter.layers = 1u << at % 2;
    def.user = 1000 + at;
    def.sensor = at % 11 == 10;
    def.lock_x = at % 17 == 16;
    def.can_sleep = at % 7 != 6;
    def.dominance = (int8_t)(at % 4 == 3 ? -1 : 0);
    if (at == 5) def.max_speed = 2 * TESTUDO_ONE;
    MUST(testudo_world_create_body(world, &def, &bodies[body_count++]));
  }
}

static void ground(TestudoWorld *world) {
  const TestudoVec2 points[4] = {
      {-12 * TESTUDO_ONE, 6 * TESTUDO_ONE}, {-9 * TESTUDO_ONE, 0}, {9 * TESTUDO_ONE, 0}, {12 * TESTUDO_ONE, 6 * TESTUDO_ONE}};
  const TestudoVec2 rock[3] = {{-TESTUDO_ONE, 0}, {TESTUDO_ONE, 0}, {0, TESTUDO_ONE}};
  TestudoVec2 corners[8];
  TestudoBody chain[4], polygon;
  TestudoTerrainDef def;
  int32_t at, segments, count;
  MUST(testudo_terrain_def_default(&def));
  def.friction = TESTUDO_ONE / 2;
  segments = testudo_world_create_chain(world, &def, points, 4, chain, 4);
  def.radius = TESTUDO_ONE / 8;
  MUST(testudo_world_create_polygon(world, &def, rock, 3, &polygon));
  for (at = 0; at < segments; at++) printf("segment %" PRIu64 "\n", chain[at]);
  count = testudo_world_terrain_points(world, polygon, corners, 8);
  for (at = 0; at < count; at++) printf("corner %" PRId64 " %" PRId64 "\n", corners[at].x, corners[at].y);
}

/* What a game does between steps. */
static void play(TestudoWorld *world, uint32_t frame) {
  TestudoBody body = bodies[frame % body_count];
  if (frame == 30) MUST(testudo_world_set_pair_ignored(world, bodies[1], bodies[2], 1));
  if (frame == 40) MUST(testudo_world_set_gravity(world, TESTUDO_ONE, -9 * TESTUDO_ONE));
  if (frame == 60) MUST(testudo_world_remove_body(world, bodies[--body_count]));
  if (frame == 70) MUST(testudo_world_set_kind(world, bodies[3], TESTUDO_STATIC));
  if (frame % 10 == 1) MUST(testudo_world_apply_impulse(world, body, TESTUDO_ONE * (frame % 7), TESTUDO_ONE * 5));
  if (frame % 10 == 2) MUST(testudo_world_apply_force(world, body, -90 * TESTUDO_ONE, 0));
  if (frame % 10 == 3) MUST(testudo_world_set_velocity(world, body, testudo_cos(frame << 24), testudo_sin(frame << 24)));
  MUST(testudo_world_move_kinematic(world, bodies[12], testudo_mul(TESTUDO_ONE * 4, testudo_sin(frame << 26)), TESTUDO_ONE, 60));
}

static void events(const TestudoWorld *world) {
  uint32_t list;
  for (list = TESTUDO_CONTACTS_BEGAN; list <= TESTUDO_SENSORS_ENDED; list++) {
    TestudoContactEvent events[ROOM];
    int32_t at, count = testudo_world_events(world, list, events, ROOM);
    for (at = 0; at < count && at < ROOM; at++) {
      printf("event %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", list, events[at].a, events[at].b, events[at].user_a,
             events[at].user_b);
    }
  }
}

static void hits(const TestudoWorld *world) {
  TestudoContactHit found[ROOM];
  TestudoContact contacts[ROOM];
  int32_t at, count = testudo_world_contact_hits(world, found, ROOM);
  for (at = 0; at < count && at < ROOM; at++) {
    printf("hit %" PRIu64 " %" PRIu64 " at %" PRId64 " %" PRId64 " along %" PRId64 " %" PRId64 " with %" PRId64 "\n", found[at].a, found[at].b,
           found[at].point.x, found[at].point.y, found[at].normal.x, found[at].normal.y, found[at].approach_speed);
  }
  count = testudo_world_contacts(world, contacts, ROOM);
  for (at = 0; at < count && at < ROOM; at++) {
    printf("touching %" PRIu64 " %" PRIu64 " %" PRId64 "\n", contacts[at].a, contacts[at].b, contacts[at].impulse);
  }
}

static void queries(const TestudoWorld *world) {
  const TestudoSegment path = {{-10 * TESTUDO_ONE, TESTUDO_ONE}, {10 * TESTUDO_ONE, TESTUDO_ONE}};
  const TestudoBox area = {{-3 * TESTUDO_ONE, 0}, {3 * TESTUDO_ONE, 3 * TESTUDO_ONE}};
  const TestudoVec2 point = {TESTUDO_ONE, TESTUDO_ONE};
  TestudoQueryFilter filter;
  TestudoShape disc;
  TestudoBody found[ROOM];
  TestudoNear near[3];
  TestudoRayHit rays[ROOM];
  TestudoSweepHit sweeps[ROOM];
  int32_t at, count;
  MUST(testudo_query_filter_default(&filter));
  filter.sensors = 1;
  filter.statics = 0;
  filter.exclude = bodies[4];
  MUST(testudo_circle(TESTUDO_ONE, &disc));
  count = testudo_world_query_area(world, &area, &filter, found, ROOM);
  for (at = 0; at < count; at++) printf("area %" PRIu64 "\n", found[at]);
  count = testudo_world_query_area_exact(world, &area, NULL, found, ROOM);
  for (at = 0; at < count; at++) printf("exactly %" PRIu64 "\n", found[at]);
  count = testudo_world_query_point(world, &point, &filter, found, ROOM);
  for (at = 0; at < count; at++) printf("point %" PRIu64 "\n", found[at]);
  count = testudo_world_query_shape(world, &disc, &point, &filter, found, ROOM);
  for (at = 0; at < count; at++) printf("shape %" PRIu64 "\n", found[at]);
  count = testudo_world_nearest(world, &point, 5 * TESTUDO_ONE, &filter, near, 3);
  for (at = 0; at < count; at++) printf("near %" PRIu64 " %" PRId64 "\n", near[at].body, near[at].distance);
  count = testudo_world_ray_cast_all(world, &path, NULL, rays, ROOM);
  for (at = 0; at < count; at++) {
    printf("ray %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", rays[at].body, rays[at].point.x, rays[at].normal.y,
           rays[at].distance, rays[at].fraction);
  }
  count = testudo_world_sweep_all(world, &disc, &path, &filter, sweeps, ROOM);
  for (at = 0; at < count; at++) {
    printf("sweep %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", sweeps[at].body, sweeps[at].position.x, sweeps[at].point.x,
           sweeps[at].normal.y, sweeps[at].distance);
  }
  if (testudo_world_ray_cast(world, &path, NULL, rays) == 1) printf("first ray %" PRIu64 "\n", rays[0].body);
  if (testudo_world_sweep(world, &disc, &path, &filter, sweeps) == 1) printf("first sweep %" PRIu64 "\n", sweeps[0].body);
}

static void states(const TestudoWorld *world) {
  TestudoDrawn drawn[ROOM];
  uint32_t at;
  int32_t count;
  for (at = 0; at < body_count; at++) {
    TestudoBodyState state;
    MUST(testudo_world_body_state(world, bodies[at], &state));
    printf("body %" PRIu64 " kind %" PRIu32 " shape %" PRIu32 " %" PRId64 " %" PRId64 " at %" PRId64 " %" PRId64 " with %" PRId64 " %" PRId64
           " mass %" PRId64 " limit %" PRId64 " layers %" PRIu32 " user %" PRIu64 " rank %d is %d%d%d%d%d%d\n",
           bodies[at], state.kind, state.shape.kind, state.shape.radius, state.shape.half_extents.x, state.position.x, state.position.y,
           state.velocity.x, state.velocity.y, state.mass, state.max_speed, state.filter.layers, state.user, state.dominance, state.sensor,
           state.enabled, state.can_sleep, state.lock_x, state.lock_y, state.awake);
  }
  count = testudo_world_interpolated(world, 32768, drawn, ROOM);
  for (at = 0; (int32_t)at < count && at < ROOM; at++) printf("drawn %" PRIu64 " %.3f %.3f\n", drawn[at].body, drawn[at].x, drawn[at].y);
}

/* A saved world goes on as the one that was saved. */
static void save(TestudoWorld *world) {
  TestudoBuffer *buffer = testudo_buffer_new(), *words = testudo_buffer_new();
  TestudoWorld *other, *third;
  MUST(testudo_world_save(world, buffer));
  MUST(testudo_world_from_bytes(testudo_buffer_data(buffer), testudo_buffer_length(buffer), &other));
  MUST(testudo_world_clone(world, &third));
  MUST(testudo_world_step(world, 60));
  MUST(testudo_world_step(other, 60));
  printf("saved %zu bytes, hash %016" PRIx64 "\n", testudo_buffer_length(buffer),
         testudo_hash(testudo_buffer_data(buffer), testudo_buffer_length(buffer)));
  printf("differs %" PRId32 "\n", testudo_world_first_difference(world, other, words));
  MUST(testudo_world_flip_bit(other, bodies[0], TESTUDO_FIELD_POSITION_X, 3));
  if (testudo_world_first_difference(world, other, words) == 1) {
    printf("%s\n", (const char *)testudo_buffer_data(words));
  }
  MUST(testudo_world_restore(other, testudo_buffer_data(buffer), testudo_buffer_length(buffer)));
  printf("restored %016" PRIx64 " %016" PRIx64 "\n", testudo_world_checksum(other), testudo_world_checksum(third));
  testudo_world_free(third);
  testudo_world_free(other);
  testudo_buffer_free(words);
  testudo_buffer_free(buffer);
}

#define POINT(x, y) {(x) * TESTUDO_ONE, (y) * TESTUDO_ONE}

static int64_t drawn_sum;

static void add(int64_t number) { drawn_sum = (int64_t)((uint64_t)drawn_sum * 31 + (uint64_t)number); }

static void crowd_reads(TestudoCrowd *crowd, const TestudoBody *units) {
  static TestudoGroundCell cells[5000];
  static TestudoFlowArrow arrows[5000];
  const TestudoVec2 wall = POINT(0, 10);
  const TestudoSegment ends = {POINT(-10, 10), POINT(10, 10)};
  TestudoUnitWay ways[ROOM];
  TestudoCorner corners[ROOM];
  TestudoVec2 open;
  int32_t at, count;
  for (at = 0; at < 24; at++) {
    TestudoUnitState state;
    MUST(testudo_crowd_unit_state(crowd, units[at], &state));
    printf("unit at %" PRId64 " %" PRId64 " prey %" PRIu64 " is %d%d\n", state.post.x, state.post.y, state.prey, state.going, state.waiting);
  }
  count = testudo_crowd_draw_ground(crowd, TESTUDO_ONE, cells, 5000);
  for (at = 0; at < count; at++) add(cells[at].cell.min.x), add(cells[at].cell.max.y), add(cells[at].cost);
  printf("cells %" PRId32 " %" PRId64 "\n", count, drawn_sum);
  drawn_sum = 0;
  count = testudo_crowd_draw_flow(crowd, units[0], arrows, 5000);
  for (at = 0; at < count; at++) add(arrows[at].from.x), add(arrows[at].to.y), add(arrows[at].left);
  printf("arrows %" PRId32 " %" PRId64 "\n", count, drawn_sum);
  drawn_sum = 0;
  count = testudo_crowd_draw_units(crowd, ways, ROOM);
  for (at = 0; at < count; at++) add((int64_t)ways[at].unit), add(ways[at].post.x), add(ways[at].aim.y), add(ways[at].has_aim);
  printf("ways %" PRId32 " %" PRId64 "\n", count, drawn_sum);
  if (testudo_crowd_nearest_open(crowd, &wall, TESTUDO_ONE, &open) == 1) {
    printf("open %" PRId32 " nearest %" PRId64 " %" PRId64 "\n", testudo_crowd_is_open(crowd, &wall, TESTUDO_ONE), open.x, open.y);
  }
  count = testudo_crowd_find_path(crowd, &ends, TESTUDO_ONE, 4000, corners, ROOM);
  for (at = 0; at < count; at++) printf("path %" PRId64 " %" PRId64 " %" PRId64 "\n", corners[at].at.x, corners[at].at.y, corners[at].left);
}

/* A saved crowd goes on as the one that was saved. */
static void save_crowd(TestudoCrowd *crowd, TestudoWorld *world, const TestudoCrowdDef *def, const TestudoBody *units) {
  TestudoBuffer *buffer = testudo_buffer_new();
  TestudoWorld *worlds[2];
  TestudoCrowd *crowds[2];
  TestudoMoveOrder order;
  int copy, frame;
  worlds[0] = world;
  crowds[0] = crowd;
  MUST(testudo_world_clone(world, &worlds[1]));
  MUST(testudo_crowd_new(def, &crowds[1]));
  MUST(testudo_crowd_save(crowd, buffer));
  MUST(testudo_crowd_load(crowds[1], worlds[1], testudo_buffer_data(buffer), testudo_buffer_length(buffer)));
  printf("saved crowd %zu bytes, hash %016" PRIx64 "\n", testudo_buffer_length(buffer),
         testudo_hash(testudo_buffer_data(buffer), testudo_buffer_length(buffer)));
  MUST(testudo_move_order_go(-20 * TESTUDO_ONE, 0, &order));
  for (copy = 0; copy < 2; copy++) {
    MUST(testudo_crowd_order(crowds[copy], worlds[copy], units, 10, &order));
    for (frame = 0; frame < 20; frame++) {
      MUST(testudo_crowd_step(crowds[copy], worlds[copy], 20));
      MUST(testudo_world_step(worlds[copy], 20));
    }
    printf("went on %016" PRIx64 " %016" PRIx64 "\n", testudo_crowd_checksum(crowds[copy]), testudo_world_checksum(worlds[copy]));
  }
  testudo_crowd_free(crowds[1]);
  testudo_world_free(worlds[1]);
  testudo_buffer_free(buffer);
}

static void crowd_play(TestudoCrowd *crowd, TestudoWorld *world, const TestudoBody *units, uint32_t frame) {
  const TestudoVec2 goal = POINT(10, 10), place = POINT(12, 10);
  TestudoMoveOrder order;
  if (frame == 0) {
    MUST(testudo_move_order_go(20 * TESTUDO_ONE, 0, &order));
    order.formation = TESTUDO_FORMATION_ROWS;
    order.files = 6;
    order.facing = TESTUDO_QUARTER_TURN;
    order.together = 1;
    MUST(testudo_crowd_order(crowd, world, units, 18, &order));
  }
  if (frame == 5) {
    MUST(testudo_move_order_go(-20 * TESTUDO_ONE, 20 * TESTUDO_ONE, &order));
    MUST(testudo_crowd_order(crowd, world, units + 18, 4, &order));
  }
  if (frame == 6) MUST(testudo_crowd_pursue(crowd, world, units[22], units[0], 2 * TESTUDO_ONE));
  if (frame == 7) MUST(testudo_crowd_send(crowd, units[23], &goal, &place));
  if (frame == 60) {
    const TestudoBox around = {POINT(7, -1), POINT(9, 3)};
    TestudoShape shape;
    TestudoBodyDef house;
    MUST(testudo_rect(TESTUDO_ONE, 2 * TESTUDO_ONE, &shape));
    MUST(testudo_body_def_default(TESTUDO_STATIC, &shape, &house));
    house.position.x = 8 * TESTUDO_ONE;
    house.position.y = TESTUDO_ONE;
    MUST(testudo_world_create_body(world, &house, NULL));
    MUST(testudo_crowd_survey_area(crowd, world, &around));
    printf("removed %" PRId32 "\n", testudo_crowd_remove(crowd, world, units[17]));
  }
  if (frame == 100) MUST(testudo_crowd_stop(crowd, world, units + 18, 2));
  if (frame == 150) MUST(testudo_world_remove_body(world, units[21]));
}

/* A crowd among a wall with a door: orders, a pursuit, a building that comes, a save. */
static void crowd(void) {
  const TestudoBox area = {POINT(-32, -32), POINT(32, 32)}, marsh = {POINT(-12, 2), POINT(-6, 8)};
  TestudoWorld *world;
  TestudoCrowd *crowd;
  TestudoCrowdDef def;
  TestudoShape shape;
  TestudoBodyDef body;
  TestudoBody units[24];
  TestudoMoveEvent events[ROOM];
  uint32_t frame;
  int64_t n;
  int32_t at, count;
  MUST(testudo_world_new(NULL, &world));
  MUST(testudo_rect(TESTUDO_ONE, 12 * TESTUDO_ONE, &shape));
  MUST(testudo_body_def_default(TESTUDO_STATIC, &shape, &body));
  for (n = -14; n <= 14; n += 28) {
    body.position.y = n * TESTUDO_ONE;
    MUST(testudo_world_create_body(world, &body, NULL));
  }
  MUST(testudo_crowd_def_default(&area, &def));
  def.sizes[1] = TESTUDO_ONE;
  def.size_count = 2;
  def.cells_per_frame = 2000;
  def.fields_max = 8;
  def.slow_ground = 1;
  MUST(testudo_crowd_new(&def, &crowd));
  MUST(testudo_crowd_survey(crowd, world));
  MUST(testudo_crowd_set_cost(crowd, world, &marsh, 3));
  for (n = 0; n < 24; n++) {
    MUST(testudo_circle(n % 5 == 4 ? TESTUDO_ONE : TESTUDO_ONE / 2, &shape));
    MUST(testudo_body_def_default(TESTUDO_DYNAMIC, &shape, &body));
    body.material.damping = 2 * TESTUDO_ONE;
    body.position.x = (-20 + 3 * (n % 4)) * TESTUDO_ONE;
    body.position.y = (3 * (n / 4) - 8) * TESTUDO_ONE;
    MUST(testudo_world_create_body(world, &body, &units[n]));
    MUST(testudo_crowd_add(crowd, world, units[n], (4 + n % 3) * TESTUDO_ONE, 30 * TESTUDO_ONE));
  }
  for (frame = 0; frame < 260; frame++) {
    crowd_play(crowd, world, units, frame);
    MUST(testudo_crowd_step(crowd, world, 20));
    MUST(testudo_world_step(world, 20));
    printf("crowd %016" PRIx64 " %016" PRIx64 "\n", testudo_crowd_checksum(crowd), testudo_world_checksum(world));
    count = testudo_crowd_events(crowd, events, ROOM);
    for (at = 0; at < count; at++) printf("move event %" PRIu32 " of %" PRIu64 "\n", events[at].kind, events[at].unit);
    if (frame == 30) crowd_reads(crowd, units);
  }
  save_crowd(crowd, world, &def, units);
  testudo_crowd_free(crowd);
  testudo_world_free(world);
}

/* The size of every structure, as this compiler lays it out. */
static void sizes(void) {
  printf("sizes %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu\n", sizeof(TestudoWorldDef), sizeof(TestudoBodyDef), sizeof(TestudoBodyState),
         sizeof(TestudoTerrainDef), sizeof(TestudoQueryFilter), sizeof(TestudoContactHit), sizeof(TestudoSweepHit), sizeof(TestudoDrawn),
         sizeof(TestudoCrowdDef), sizeof(TestudoMoveOrder), sizeof(TestudoUnitState), sizeof(TestudoMoveEvent));
}

int main(void) {
  TestudoWorldDef def;
  TestudoWorld *world;
  uint32_t frame;
  if (testudo_interface_version() != TESTUDO_INTERFACE_VERSION) return 2;
  sizes();
  MUST(testudo_world_def_default(&def));
  def.gravity.y = -10 * TESTUDO_ONE;
  def.edge = TESTUDO_EDGE_BOUNCE;
  def.seed = 5;
  MUST(testudo_world_new(&def, &world));
  MUST(testudo_world_list_contact_hits(world, 1));
  MUST(testudo_world_list_stayed_contacts(world, 1));
  ground(world);
  fill(world);
  for (frame = 0; frame < 90; frame++) {
    play(world, frame);
    MUST(testudo_world_step(world, 60));
    printf("frame %" PRIu64 " %016" PRIx64 "\n", testudo_world_frame(world), testudo_world_checksum(world));
    printf("drawn %" PRIu32 "\n", testudo_world_random_below(world, 100));
    if (frame % 30 == 29) {
      events(world);
      hits(world);
      queries(world);
      states(world);
    }
  }
  save(world);
  testudo_world_free(world);
  crowd();
  return 0;
}
