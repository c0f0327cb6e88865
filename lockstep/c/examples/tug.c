/* Tug in C: the host or a guest of a match over plain UDP. TUG.md has the rules.
 *
 *   cc -std=c11 tug.c -I../include -L../target/release -ltestudo -o tug     (with the static library: add -lpthread -ldl -lm)
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "testudo.h"

#define HALF (TESTUDO_ONE / 2)

typedef struct Tug {
    TestudoWorld *world;
    TestudoCrowd *crowd;
    TestudoBody wall, discs[16], runners[16];
    uint32_t players;
    uint64_t frames, orders, points[8];
} Tug;

static void must(TestudoStatus status, const char *what) {
    if (status == TESTUDO_OK) return;
    fprintf(stderr, "%s: %s\n", what, testudo_error());
    exit(1);
}

/* ---- The rules */

static void tug_runners(Tug *tug) {
    const TestudoBox area = {{-32 * TESTUDO_ONE, -32 * TESTUDO_ONE}, {32 * TESTUDO_ONE, 32 * TESTUDO_ONE}};
    TestudoShape shape;
    TestudoBodyDef body;
    TestudoCrowdDef crowd;
    must(testudo_circle(HALF, &shape), "runner");
    must(testudo_body_def_default(TESTUDO_DYNAMIC, &shape, &body), "runner");
    for (uint32_t n = 0; n < 2 * tug->players; n++) {
        body.position.x = (n % 2 == 0 ? -20 : -24) * TESTUDO_ONE;
        body.position.y = (4 * (int64_t)(n / 2) - 2 * ((int64_t)tug->players - 1)) * TESTUDO_ONE;
        must(testudo_world_create_body(tug->world, &body, &tug->runners[n]), "runner");
    }
    must(testudo_crowd_def_default(&area, &crowd), "crowd");
    must(testudo_crowd_new(&crowd, &tug->crowd), "crowd");
    must(testudo_crowd_survey(tug->crowd, tug->world), "crowd");
    for (uint32_t n = 0; n < 2 * tug->players; n++)
        must(testudo_crowd_add(tug->crowd, tug->world, tug->runners[n], 16 * TESTUDO_ONE, 64 * TESTUDO_ONE), "runner");
}

static Tug tug_new(uint32_t players) {
    Tug tug = {.players = players};
    TestudoShape shape;
    TestudoBodyDef body;
    must(testudo_world_new(NULL, &tug.world), "world");
    must(testudo_rect(1 * TESTUDO_ONE, 20 * TESTUDO_ONE, &shape), "wall");
    must(testudo_body_def_default(TESTUDO_STATIC, &shape, &body), "wall");
    must(testudo_world_create_body(tug.world, &body, &tug.wall), "wall");
    must(testudo_circle(TESTUDO_ONE, &shape), "disc");
    must(testudo_body_def_default(TESTUDO_DYNAMIC, &shape, &body), "disc");
    body.material.restitution = body.material.damping = HALF;
    for (uint32_t n = 0; n < 2 * players; n++) {
        body.position.x = (n % 2 == 0 ? -10 : 10) * TESTUDO_ONE;
        body.position.y = (4 * (int64_t)(n / 2) - 2 * ((int64_t)players - 1)) * TESTUDO_ONE;
        must(testudo_world_create_body(tug.world, &body, &tug.discs[n]), "disc");
    }
    tug_runners(&tug);
    return tug;
}

/* Ten bits in two's complement. */
static int64_t signed10(uint32_t bits) {
    return (int64_t)(bits & 1023) - ((bits & 512) != 0 ? 1024 : 0);
}

static void tug_apply(void *context, uint32_t player, const uint8_t *data, uint32_t bits) {
    Tug *tug = context;
    if (bits != 24) return;
    uint32_t order = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16, disc = order & 15;
    if (disc / 2 != player || disc >= 2 * tug->players) return;
    tug->orders++;
    int64_t x = signed10(order >> 4) * 4096, y = signed10(order >> 14) * 4096;
    testudo_world_apply_impulse(tug->world, tug->discs[disc], x, y);
    TestudoMoveOrder go;
    if (x % TESTUDO_ONE == 0 && testudo_move_order_go(x, y, &go) == TESTUDO_OK)
        testudo_crowd_order(tug->crowd, tug->world, &tug->runners[2 * player], 2, &go);
}

static void tug_step(void *context, uint32_t frames_per_second) {
    Tug *tug = context;
    TestudoContactEvent touched[64]; /* at most 16 discs touch the wall, and each other */
    TestudoMoveEvent moves[64];
    tug->frames++;
    must(testudo_crowd_step(tug->crowd, tug->world, frames_per_second), "crowd");
    must(testudo_world_step(tug->world, frames_per_second), "step");
    int32_t count = testudo_world_events(tug->world, TESTUDO_CONTACTS_BEGAN, touched, 64);
    for (int32_t i = 0; i < count && i < 64; i++)
        for (uint32_t n = 0; n < 2 * tug->players; n++)
            if (touched[i].a == tug->wall && touched[i].b == tug->discs[n]) tug->points[n / 2]++;
    count = testudo_crowd_events(tug->crowd, moves, 64);
    for (int32_t i = 0; i < count && i < 64; i++)
        for (uint32_t n = 0; n < 2 * tug->players; n++)
            if (moves[i].kind == TESTUDO_MOVE_ARRIVED && moves[i].unit == tug->runners[n]) tug->points[n / 2] += 100;
}

static void tug_gone(void *context, uint32_t player, uint32_t turn) {
    (void)turn;
    ((Tug *)context)->points[player] = 0;
}

static uint8_t *put(uint8_t *at, uint64_t number) {
    for (int i = 0; i < 8; i++) *at++ = (uint8_t)(number >> (8 * i));
    return at;
}

static uint64_t get(const uint8_t *at) {
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--) number = number << 8 | at[i];
    return number;
}

/* The game's own numbers; returns where they end. */
static uint8_t *tug_numbers(const Tug *tug, uint8_t *at) {
    at = put(put(at, tug->frames), tug->orders);
    for (uint32_t player = 0; player < tug->players; player++) at = put(at, tug->points[player]);
    return at;
}

static uint64_t tug_checksum(void *context) {
    Tug *tug = context;
    uint8_t bytes[12 * 8], *end = put(tug_numbers(tug, bytes), testudo_world_checksum(tug->world));
    end = put(end, testudo_crowd_checksum(tug->crowd));
    return testudo_hash(bytes, (size_t)(end - bytes));
}

static TestudoBool tug_save(void *context, TestudoBuffer *out) {
    Tug *tug = context;
    TestudoBuffer *world = testudo_buffer_new();
    int done = testudo_world_save(tug->world, world) == TESTUDO_OK;
    size_t length = testudo_buffer_length(world);
    uint8_t bytes[11 * 8], *end = put(tug_numbers(tug, bytes), length);
    done = done && testudo_buffer_append(out, bytes, (size_t)(end - bytes)) == TESTUDO_OK;
    done = done && testudo_buffer_append(out, testudo_buffer_data(world), length) == TESTUDO_OK;
    testudo_buffer_free(world);
    return done && testudo_crowd_save(tug->crowd, out) == TESTUDO_OK;
}

static TestudoBool tug_load(void *context, const uint8_t *data, size_t length) {
    Tug *tug = context;
    size_t own = (3 + tug->players) * 8;
    TestudoWorld *world;
    if (length < own || get(data + own - 8) > length - own) return 0;
    size_t bytes = (size_t)get(data + own - 8);
    /* A new world, so that nothing has changed if the crowd's bytes are refused. */
    if (testudo_world_from_bytes(data + own, bytes, &world) != TESTUDO_OK) return 0;
    if (testudo_crowd_load(tug->crowd, world, data + own + bytes, length - own - bytes) != TESTUDO_OK) {
        testudo_world_free(world);
        return 0;
    }
    testudo_world_free(tug->world);
    tug->world = world;
    tug->frames = get(data);
    tug->orders = get(data + 8);
    for (uint32_t player = 0; player < tug->players; player++) tug->points[player] = get(data + 16 + 8 * player);
    return 1;
}

static void tug_visit(void *context, TestudoVisit *visit) {
    Tug *tug = context;
    must(testudo_visit_number(visit, "frames", (int64_t)tug->frames), "visit");
    must(testudo_visit_number(visit, "orders", (int64_t)tug->orders), "visit");
    for (uint32_t player = 0; player < tug->players; player++) {
        must(testudo_visit_object(visit, "player", player), "visit");
        must(testudo_visit_number(visit, "points", (int64_t)tug->points[player]), "visit");
    }
    must(testudo_visit_world(visit, tug->world), "visit");
    must(testudo_visit_crowd(visit, tug->crowd), "visit");
}

/* ---- Who plays */

static void give_order(TestudoMatch *match, uint32_t player, uint32_t turn) {
    if (turn % 4 == 3) return;
    int32_t x = 150 + (int32_t)((53 * turn + 17 * player) % 300), y = (int32_t)((29 * turn + 71 * player) % 201) - 100;
    if (turn % 2 == 1) x = -x;
    uint32_t order = (2 * player + turn % 2) | ((uint32_t)x & 1023) << 4 | ((uint32_t)y & 1023) << 14;
    uint8_t data[3] = {(uint8_t)order, (uint8_t)(order >> 8), (uint8_t)(order >> 16)};
    testudo_match_submit(match, data, 24); /* refused before the start, and in the last turns: no matter */
}

/* ---- The program */

static uint64_t now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static int play(Tug *tug, TestudoUdp *udp, TestudoMatch *match, uint32_t player, int flips) {
    TestudoEvent event;
    int result = 0;
    for (uint32_t next = 0; !testudo_match_is_over(match);) {
        must(testudo_udp_round(udp, match, now_us()), "round");
        uint32_t turn = testudo_match_turn(match);
        for (; turn >= next; next = turn + 1) {
            if (player < tug->players) give_order(match, player, turn);
            if (next > 20 || turn < 20) continue;
            if (flips) tug->points[0] ^= 1;
            printf("turn 20\n");
            fflush(stdout);
        }
        while (testudo_match_poll_event(match, &event) == 1) {
            if (event.kind == TESTUDO_EVENT_DESYNC) {
                printf("desync: %s\n", testudo_match_event_words(match));
                result = 3;
            }
            if (event.kind == TESTUDO_EVENT_DIFFERENCE) printf("difference: %s\n", testudo_match_event_words(match));
            if (event.kind == TESTUDO_EVENT_FAILED || event.kind == TESTUDO_EVENT_PLAYER_GONE) {
                fprintf(stderr, "%s\n", testudo_match_event_words(match));
                result = 1;
            }
        }
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    }
    must(testudo_udp_pump(udp, match, now_us()), "the last packets");
    return result;
}

int main(int count, char **arguments) {
    int flips = strcmp(arguments[count - 1], "flip") == 0, given = count - flips;
    int hosts = given == 4 && strcmp(arguments[1], "host") == 0, watches = given == 5 && strcmp(arguments[1], "watch") == 0;
    if (!hosts && !watches && (given != 6 || strcmp(arguments[1], "join") != 0)) {
        fprintf(stderr, "tug host PLAYERS TURNS, tug join PORT PLAYER PLAYERS TURNS, or tug watch PORT PLAYERS TURNS\n");
        return 2;
    }
    uint32_t players = (uint32_t)atoi(arguments[given - 2]), player = hosts ? 0 : watches ? TESTUDO_WATCHER : (uint32_t)atoi(arguments[3]), link;
    if (players < 2 || players > 8) return 2;
    Tug tug = tug_new(players);
    TestudoGame game = {
        .context = &tug, .action_bits = 24, .apply = tug_apply, .step = tug_step, .checksum = tug_checksum,
        .player_gone = tug_gone, .save = tug_save, .load = tug_load, .visit = tug_visit,
    };
    TestudoConfig config;
    must(testudo_config_default(players, &config), "settings");
    config.session_id = 1; /* a game draws it at random, and its host tells it to the guests */
    config.content_hash = testudo_hash((const uint8_t *)"tug 2", 5);
    config.turns.frames_per_second = 20;
    config.turns.frames_per_turn = 2;
    config.turns.count = (uint32_t)atoi(arguments[given - 1]);
    config.arrivals.late_watchers = 1;
    config.waits.drop_after_ms = config.waits.silence_timeout_ms = 120000; /* the machine may have other things to do */

    TestudoUdp *udp;
    TestudoMatch *match;
    must(testudo_udp_bind("127.0.0.1:0", &udp), "socket");
    if (hosts) {
        TestudoBuffer *address = testudo_buffer_new();
        must(testudo_udp_address(udp, address), "address");
        printf("port %s\n", strrchr((const char *)testudo_buffer_data(address), ':') + 1);
        fflush(stdout);
        testudo_buffer_free(address);
        must(testudo_match_host(&config, &game, now_us(), &match), "match");
    } else {
        char address[64];
        snprintf(address, sizeof address, "127.0.0.1:%s", arguments[2]);
        must(testudo_udp_add_peer(udp, address, &link), "address");
        if (watches) must(testudo_match_watch(&config, &game, link, now_us(), &match), "match");
        else must(testudo_match_join(&config, &game, player, link, now_us(), &match), "match");
    }
    int result = play(&tug, udp, match, player, flips);
    printf("turns %" PRIu32 " checksum %016" PRIx64 " frames %" PRIu64 " orders %" PRIu64 " points", testudo_match_turn(match), tug_checksum(&tug), tug.frames, tug.orders);
    for (uint32_t n = 0; n < players; n++) printf(" %" PRIu64, tug.points[n]);
    printf("\n");
    testudo_match_free(match);
    testudo_udp_free(udp);
    testudo_crowd_free(tug.crowd);
    testudo_world_free(tug.world);
    return result;
}
