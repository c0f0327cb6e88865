// What the classes for C++ do when a game or a caller is wrong.
#include <cstdio>
#include <cstdlib>

#include "testudo.hpp"

namespace {

void must(bool holds, int line) {
    if (holds) return;
    std::fprintf(stderr, "mistakes.cpp: line %d does not hold\n", line);
    std::exit(1);
}
#define MUST(what) must((what), __LINE__)

/// Whether a call throws such an exception.
template <class E, class Run> bool throws(Run run) {
    try {
        run();
    } catch (const E &) {
        return true;
    }
    return false;
}

struct Mine {};

struct Game : testudo::Game {
    uint32_t bits = 9;
    bool throws_in_step = false, throws_in_length = false, throws_in_bits = false, refuses = false;
    uint32_t action_bits() const override { return throws_in_bits ? throw Mine() : bits; }
    void apply(uint32_t, const uint8_t *, uint32_t) override {}
    void step(uint32_t) override {
        if (throws_in_step) throw Mine();
    }
    uint64_t checksum() override { return 1; }
    uint32_t action_length(const uint8_t *, uint32_t) const override {
        if (refuses) testudo::World::from_bytes(nullptr, 0);
        return throws_in_length ? throw Mine() : 9;
    }
};

/// A game that two peers may have differently.
struct Diverging : Game {
    uint32_t frames = 0;
    bool is_wrong = false, throws_in_save = false;
    void step(uint32_t) override { frames += is_wrong && frames == 20 ? 2 : 1; }
    uint64_t checksum() override { return frames; }
    bool has_state() const override { return true; }
    bool save(TestudoBuffer *out) override {
        if (throws_in_save) throw Mine();
        const uint8_t state = static_cast<uint8_t>(frames);
        return testudo_buffer_append(out, &state, 1) == TESTUDO_OK;
    }
    bool load(const uint8_t *, size_t) override { return false; }
};

testudo::Match begin(Game &game) {
    auto config = testudo::config(1);
    config.turns.count = 4;
    return testudo::Match::single(config, game, 0);
}

void run(testudo::Match &match) {
    for (uint64_t now = 0; !match.is_over(); now += 10'000) {
        match.advance(now);
        match.note_work(100, UINT64_MAX);
        while (match.poll_event()) {}
    }
}

void matches() {
    Game game;
    MUST(game.table().save == nullptr && game.table().load == nullptr);
    auto match = begin(game);
    MUST(throws<std::out_of_range>([&] { match.submit({1}, 9); }));
    MUST(throws<testudo::Error>([&] { match.submit({1, 0}, 8); }));
    match.submit({1, 0}, 9);
    // That the library refuses something within is the answer "no".
    game.refuses = true;
    try {
        match.submit({1, 0}, 9);
    } catch (const testudo::Error &refused) {
        MUST(refused.status == TESTUDO_OUT_OF_RANGE);
        game.refuses = false;
    }
    MUST(!game.refuses);
    game.throws_in_length = true;
    MUST(throws<Mine>([&] { match.submit({1, 0}, 9); }));
    game.throws_in_step = true;
    MUST(throws<Mine>([&] { run(match); }));
    game.throws_in_step = game.throws_in_length = false;
    run(match);
    auto moved = std::move(match);
    MUST(throws<testudo::Error>([&] { match.poll_event(); }));
    game.throws_in_bits = true;
    MUST(throws<Mine>([&] { begin(game); }));
    game.throws_in_bits = false, game.bits = 0;
    MUST(throws<testudo::Error>([&] { begin(game); }));
}

/// At a desync the recording saves the game once more. What that throws comes out of the call in which it happens, and takes no event away.
void desync() {
    Diverging games[2];
    games[1].is_wrong = true;
    auto config = testudo::config(2);
    config.session_id = 1;
    config.own.records = 1;
    testudo::Match peers[] = {testudo::Match::host(config, games[0], 0), testudo::Match::join(config, games[1], 1, 0, 0)};
    testudo::Buffer packet;
    int thrown = 0, told = 0;
    for (uint64_t now = 0; now < 3'000'000; now += 10'000) {
        games[0].throws_in_save = games[0].frames > 0;
        for (int n = 0; n < 2; n++) {
            uint32_t to = 0;
            try {
                peers[n].advance(now);
            } catch (const Mine &) {
                thrown++;
            }
            while (testudo_match_poll_packet(peers[n], now, packet, &to) == 1) {
                peers[1 - n].done(testudo_match_handle_packet(peers[1 - n], now, 0, packet.data(), packet.size()));
            }
        }
    }
    while (const auto event = peers[0].poll_event()) told += event->kind == TESTUDO_EVENT_DESYNC;
    MUST(thrown == 1 && told == 1);
}

void worlds() {
    testudo::World world, other;
    other.step(60);
    testudo::Buffer words;
    MUST(words.text().empty());
    MUST(testudo_world_first_difference(world, other, words) == 1);
    const auto text = words.text();
    MUST(text.size() + 1 == words.size() && text.find('\0') == std::string::npos);
    testudo::check(testudo_buffer_resize(words, 3));
    MUST(words.text() == text.substr(0, 3));
    MUST(world.checksum() != other.checksum());
    // Lists of another size than the first room for them.
    testudo::World crowded;
    for (int n = 0; n < 70; n++) crowded.create(testudo::body_def(TESTUDO_DYNAMIC, testudo::circle(TESTUDO_ONE)));
    const auto found = [&](uint32_t most) { return crowded.nearest(TestudoVec2{}, TESTUDO_ONE, most).size(); };
    MUST(found(100) == 70 && found(5) == 5 && found(UINT32_MAX) == 70 && found(0) == 0);
    // A chain that is longer than the first room for a list was made twice.
    testudo::World terraced;
    std::vector<TestudoVec2> points;
    for (int n = 0; n < 100; n++) points.push_back({n * TESTUDO_ONE, 0});
    MUST(terraced.create_chain(points).size() == 99 && testudo_world_body_count(terraced) == 99);
    TestudoTerrainDef closed{};
    testudo::check(testudo_terrain_def_default(&closed));
    closed.closed = 1;
    points.resize(3), points[1].y = TESTUDO_ONE;
    MUST(terraced.create_chain(points, &closed).size() == 3 && testudo_world_body_count(terraced) == 102);
    MUST(throws<testudo::Error>([&] { terraced.create_chain({}); }));
    auto moved = std::move(world);
    MUST(throws<testudo::Error>([&] { world.checksum(); }));
    MUST(TESTUDO_NO_LIMIT == -TESTUDO_ONE / TESTUDO_ONE);
}

} // namespace

int main() {
    matches();
    desync();
    worlds();
    return 0;
}
