// Tug in C++17: the host or a guest of a match over plain UDP. TUG.md has the rules.
//
//   c++ -std=c++17 tug.cpp -I../include -L../target/release -ltestudo -o tug     (with the static library: add -lpthread -ldl -lm)
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "testudo.hpp"

using testudo::check;

// ---- The rules

class Tug : public testudo::Game {
public:
    explicit Tug(uint32_t players) : points(players) {
        wall_ = world.create(testudo::body_def(TESTUDO_STATIC, testudo::rect(1 * TESTUDO_ONE, 20 * TESTUDO_ONE)));
        auto disc = testudo::body_def(TESTUDO_DYNAMIC, testudo::circle(1 * TESTUDO_ONE));
        disc.material.restitution = disc.material.damping = TESTUDO_ONE / 2;
        for (int64_t n = 0; n < 2 * int64_t{players}; n++) {
            disc.position.x = (n % 2 == 0 ? -10 : 10) * TESTUDO_ONE;
            disc.position.y = (4 * (n / 2) - 2 * (int64_t{players} - 1)) * TESTUDO_ONE;
            discs_.push_back(world.create(disc));
        }
        auto runner = testudo::body_def(TESTUDO_DYNAMIC, testudo::circle(TESTUDO_ONE / 2));
        for (int64_t n = 0; n < 2 * int64_t{players}; n++) {
            runner.position.x = (n % 2 == 0 ? -20 : -24) * TESTUDO_ONE;
            runner.position.y = (4 * (n / 2) - 2 * (int64_t{players} - 1)) * TESTUDO_ONE;
            runners_.push_back(world.create(runner));
        }
        crowd.survey(world);
        for (const auto unit : runners_) crowd.add(world, unit, 16 * TESTUDO_ONE, 64 * TESTUDO_ONE);
    }

    uint32_t action_bits() const override { return 24; }

    void apply(uint32_t player, const uint8_t *data, uint32_t bits) override {
        if (bits != 24) return;
        const uint32_t order = data[0] | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16, disc = order & 15;
        if (disc / 2 != player || disc >= discs_.size()) return;
        orders++;
        const int64_t x = signed10(order >> 4) * 4096, y = signed10(order >> 14) * 4096;
        testudo_world_apply_impulse(world, discs_[disc], x, y);
        if (x % TESTUDO_ONE != 0) return;
        const auto go = testudo::go(x, y);
        testudo_crowd_order(crowd, world, &runners_[2 * player], 2, &go);
    }

    void step(uint32_t frames_per_second) override {
        frames++;
        crowd.step(world, frames_per_second);
        world.step(frames_per_second);
        for (const auto &event : world.events(TESTUDO_CONTACTS_BEGAN))
            for (size_t n = 0; n < discs_.size(); n++)
                if (event.a == wall_ && event.b == discs_[n]) points[n / 2]++;
        for (const auto &event : crowd.events())
            for (size_t n = 0; n < runners_.size(); n++)
                if (event.kind == TESTUDO_MOVE_ARRIVED && event.unit == runners_[n]) points[n / 2] += 100;
    }

    void player_gone(uint32_t player, uint32_t) override { points[player] = 0; }

    uint64_t checksum() override {
        auto bytes = numbers();
        put(bytes, world.checksum());
        put(bytes, crowd.checksum());
        return testudo_hash(bytes.data(), bytes.size());
    }

    bool has_state() const override { return true; }
    bool save(TestudoBuffer *out) override {
        testudo::Buffer saved;
        check(testudo_world_save(world, saved));
        auto bytes = numbers();
        put(bytes, saved.size());
        check(testudo_buffer_append(out, bytes.data(), bytes.size()));
        check(testudo_buffer_append(out, saved.data(), saved.size()));
        check(testudo_crowd_save(crowd, out));
        return true;
    }

    bool load(const uint8_t *data, size_t length) override {
        const size_t own = (3 + points.size()) * 8;
        if (length < own || get(data + own - 8) > length - own) return false;
        const auto bytes = static_cast<size_t>(get(data + own - 8));
        try {
            // A new world, so that nothing has changed if the crowd's bytes are refused.
            auto loaded = testudo::World::from_bytes(data + own, bytes);
            check(testudo_crowd_load(crowd, loaded, data + own + bytes, length - own - bytes));
            world = std::move(loaded);
        } catch (const testudo::Error &) {
            return false;
        }
        frames = get(data);
        orders = get(data + 8);
        for (size_t player = 0; player < points.size(); player++) points[player] = get(data + 16 + 8 * player);
        return true;
    }

    bool names_numbers() const override { return true; }
    void visit(TestudoVisit *visit) override {
        check(testudo_visit_number(visit, "frames", static_cast<int64_t>(frames)));
        check(testudo_visit_number(visit, "orders", static_cast<int64_t>(orders)));
        for (size_t player = 0; player < points.size(); player++) {
            check(testudo_visit_object(visit, "player", static_cast<uint32_t>(player)));
            check(testudo_visit_number(visit, "points", static_cast<int64_t>(points[player])));
        }
        check(testudo_visit_world(visit, world));
        check(testudo_visit_crowd(visit, crowd));
    }

    testudo::World world;
    testudo::Crowd crowd{testudo::crowd_def({{-32 * TESTUDO_ONE, -32 * TESTUDO_ONE}, {32 * TESTUDO_ONE, 32 * TESTUDO_ONE}})};
    uint64_t frames = 0, orders = 0;
    std::vector<uint64_t> points;

private:
    // Ten bits in two's complement.
    static int64_t signed10(uint32_t bits) { return int64_t{bits & 1023} - ((bits & 512) != 0 ? 1024 : 0); }
    static void put(std::vector<uint8_t> &out, uint64_t number) {
        for (int i = 0; i < 8; i++) out.push_back(static_cast<uint8_t>(number >> (8 * i)));
    }
    static uint64_t get(const uint8_t *at) {
        uint64_t number = 0;
        for (int i = 7; i >= 0; i--) number = number << 8 | at[i];
        return number;
    }
    // The game's own numbers.
    std::vector<uint8_t> numbers() const {
        std::vector<uint8_t> out;
        put(out, frames);
        put(out, orders);
        for (const auto number : points) put(out, number);
        return out;
    }

    TestudoBody wall_;
    std::vector<TestudoBody> discs_, runners_;
};

// ---- Who plays

static void give_order(testudo::Match &match, uint32_t player, uint32_t turn) {
    if (turn % 4 == 3) return;
    int32_t x = 150 + static_cast<int32_t>((53 * turn + 17 * player) % 300), y = static_cast<int32_t>((29 * turn + 71 * player) % 201) - 100;
    if (turn % 2 == 1) x = -x;
    const uint32_t order = (2 * player + turn % 2) | (static_cast<uint32_t>(x) & 1023) << 4 | (static_cast<uint32_t>(y) & 1023) << 14;
    const uint8_t data[3] = {static_cast<uint8_t>(order), static_cast<uint8_t>(order >> 8), static_cast<uint8_t>(order >> 16)};
    testudo_match_submit(match, data, 24); // refused before the start, and in the last turns: no matter
}

// ---- The program

static uint64_t now_us() {
    using namespace std::chrono;
    return static_cast<uint64_t>(duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count());
}

static int play(Tug &tug, testudo::Udp &udp, testudo::Match &match, uint32_t player, bool flips) {
    int result = 0;
    for (uint32_t next = 0; !match.is_over();) {
        udp.round(match, now_us());
        const uint32_t turn = match.turn();
        for (; turn >= next; next = turn + 1) {
            if (player < tug.points.size()) give_order(match, player, turn);
            if (next > 20 || turn < 20) continue;
            if (flips) tug.points[0] ^= 1;
            std::printf("turn 20\n");
            std::fflush(stdout);
        }
        while (const auto event = match.poll_event()) {
            if (event->kind == TESTUDO_EVENT_DESYNC) {
                std::printf("desync: %s\n", match.event_words().c_str());
                result = 3;
            }
            if (event->kind == TESTUDO_EVENT_DIFFERENCE) std::printf("difference: %s\n", match.event_words().c_str());
            if (event->kind == TESTUDO_EVENT_FAILED || event->kind == TESTUDO_EVENT_PLAYER_GONE) {
                std::fprintf(stderr, "%s\n", match.event_words().c_str());
                result = 1;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    udp.pump(match, now_us());
    return result;
}

static int run(std::vector<std::string> words) {
    const bool flips = !words.empty() && words.back() == "flip";
    if (flips) words.pop_back();
    const bool hosts = words.size() == 3 && words[0] == "host", watches = words.size() == 4 && words[0] == "watch";
    if (!hosts && !watches && (words.size() != 5 || words[0] != "join"))
        throw std::invalid_argument("tug host PLAYERS TURNS, tug join PORT PLAYER PLAYERS TURNS, or tug watch PORT PLAYERS TURNS");
    const auto number = [&](size_t at) { return static_cast<uint32_t>(std::stoul(words[at])); };
    const uint32_t players = number(words.size() - 2), player = hosts ? 0 : watches ? TESTUDO_WATCHER : number(2);
    if (players < 2 || players > 8) throw std::invalid_argument("2 to 8 players");
    Tug tug(players);
    auto config = testudo::config(players);
    config.session_id = 1; // a game draws it at random, and its host tells it to the guests
    config.content_hash = testudo_hash(reinterpret_cast<const uint8_t *>("tug 2"), 5);
    config.turns.frames_per_second = 20;
    config.turns.frames_per_turn = 2;
    config.turns.count = number(words.size() - 1);
    config.arrivals.late_watchers = 1;
    config.waits.drop_after_ms = config.waits.silence_timeout_ms = 120000; // the machine may have other things to do

    testudo::Udp udp("127.0.0.1:0");
    if (hosts) {
        const auto address = udp.address();
        std::printf("port %s\n", address.substr(address.rfind(':') + 1).c_str());
        std::fflush(stdout);
    }
    const uint32_t link = hosts ? TESTUDO_NO_PEER : udp.add_peer("127.0.0.1:" + words[1]);
    auto match = hosts     ? testudo::Match::host(config, tug, now_us())
                 : watches ? testudo::Match::watch(config, tug, link, now_us())
                           : testudo::Match::join(config, tug, player, link, now_us());
    const int result = play(tug, udp, match, player, flips);
    std::printf("turns %u checksum %016llx frames %llu orders %llu points", match.turn(), static_cast<unsigned long long>(tug.checksum()),
                static_cast<unsigned long long>(tug.frames), static_cast<unsigned long long>(tug.orders));
    for (const auto points : tug.points) std::printf(" %llu", static_cast<unsigned long long>(points));
    std::printf("\n");
    return result;
}

int main(int count, char **arguments) {
    try {
        return run({arguments + 1, arguments + count});
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
