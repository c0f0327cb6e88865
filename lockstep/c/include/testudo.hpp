// Testudo for C++17: owners of the handles of testudo.h, exceptions for its failures, and the game as a class. Header only.
//
// An owner converts to the pointer that the functions of testudo.h take, so all of them can be called with it:
//
//     testudo::World world;
//     testudo::check(testudo_world_set_gravity(world, 0, -10 * TESTUDO_ONE));
#ifndef TESTUDO_HPP
#define TESTUDO_HPP

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testudo.h"

namespace testudo {

/// A call has failed: its status, and the words of the library.
class Error : public std::runtime_error {
public:
    explicit Error(TestudoStatus status) : std::runtime_error(testudo_error()), status(status) {}
    TestudoStatus status;
};

/// Throws unless the status is TESTUDO_OK.
inline void check(TestudoStatus status) {
    if (status != TESTUDO_OK) throw Error(status);
}

/// Throws unless the library has the interface of this header: structures of another one have other fields.
inline void check_interface() {
    const uint32_t found = testudo_interface_version();
    if (found == TESTUDO_INTERFACE_VERSION) return;
    throw std::runtime_error("the library testudo has the interface " + std::to_string(found) + ", this header is for " + std::to_string(TESTUDO_INTERFACE_VERSION));
}

/// What a function that fills a list gives: `list<TestudoContactEvent>([&](auto *out, auto room) { return testudo_world_events(world, 0, out, room); })`
/// Not for testudo_world_nearest, which finds no more than there is room for (`World::nearest`), nor for testudo_world_create_chain, which makes a chain in
/// each call (`World::create_chain`).
template <class T, class Fill> std::vector<T> list(Fill fill) {
    std::vector<T> out(16);
    for (;;) {
        const auto count = static_cast<int64_t>(fill(out.data(), static_cast<uint32_t>(out.size())));
        if (count < 0) throw Error(static_cast<TestudoStatus>(-count));
        const bool fits = static_cast<size_t>(count) <= out.size();
        out.resize(static_cast<size_t>(count));
        if (fits) return out;
    }
}

/// The one owner of a handle. It can be moved, not copied.
template <class T, void (*Free)(T *)> class Owner {
public:
    explicit Owner(T *handle = nullptr) : handle_(handle) {}
    operator T *() const { return handle_.get(); }
    T *get() const { return handle_.get(); }
    explicit operator bool() const { return handle_ != nullptr; }

private:
    struct Deleter {
        void operator()(T *handle) const { Free(handle); }
    };
    std::unique_ptr<T, Deleter> handle_;
};

/// The handle that a function writes: `made<TestudoWorld>([&](auto **out) { return testudo_world_new(nullptr, out); })`
template <class T, class Make> T *made(Make make) {
    T *handle = nullptr;
    check(make(&handle));
    return handle;
}

/// Bytes that the library writes.
class Buffer : public Owner<TestudoBuffer, testudo_buffer_free> {
public:
    Buffer() : Owner(testudo_buffer_new()) {}
    const uint8_t *data() const { return testudo_buffer_data(*this); }
    size_t size() const { return testudo_buffer_length(*this); }
    std::vector<uint8_t> bytes() const { return {data(), data() + size()}; }
    /// As a text: without the zero at its end.
    std::string text() const {
        std::string text(reinterpret_cast<const char *>(data()), size());
        if (!text.empty() && text.back() == 0) text.pop_back();
        return text;
    }
};

/// A world of the physics. One of a match belongs to the thread that runs the match: a call in another thread at the same time is refused, and a refused
/// `step` is a desync.
class World : public Owner<TestudoWorld, testudo_world_free> {
public:
    World() : World(static_cast<const TestudoWorldDef *>(nullptr)) {}
    explicit World(const TestudoWorldDef &def) : World(&def) {}
    /// A world in a saved state, from bytes of any origin.
    static World from_bytes(const uint8_t *data, size_t length) {
        return World(made<TestudoWorld>([&](auto **out) { return testudo_world_from_bytes(data, length, out); }));
    }

    TestudoBody create(const TestudoBodyDef &def) {
        TestudoBody body = TESTUDO_NO_BODY;
        check(testudo_world_create_body(*this, &def, &body));
        return body;
    }
    /// A handle for each segment. The definition may be NULL: defaults.
    std::vector<TestudoBody> create_chain(const std::vector<TestudoVec2> &points, const TestudoTerrainDef *def = nullptr) {
        // A chain of n points has n segments at most.
        const auto count = static_cast<uint32_t>(points.size());
        std::vector<TestudoBody> out(points.size());
        const int32_t made = testudo_world_create_chain(*this, def, points.data(), count, out.data(), count);
        if (made < 0) throw Error(-made);
        out.resize(static_cast<size_t>(made));
        return out;
    }
    void step(uint32_t frames_per_second) { check(testudo_world_step(*this, frames_per_second)); }
    uint64_t checksum() const {
        const uint64_t sum = testudo_world_checksum(*this);
        if (sum != 0) return sum;
        // It was refused: no world has this one.
        const int32_t reason = -testudo_world_has_body(*this, TESTUDO_NO_BODY);
        throw Error(reason > 0 ? reason : TESTUDO_BUSY);
    }
    TestudoVec2 position(TestudoBody body) const {
        TestudoVec2 out{};
        check(testudo_world_position(*this, body, &out));
        return out;
    }
    /// One of the lists of events of the last step: TESTUDO_CONTACTS_BEGAN and so on.
    std::vector<TestudoContactEvent> events(uint32_t which) const {
        return list<TestudoContactEvent>([&](auto *out, auto room) { return testudo_world_events(*this, which, out, room); });
    }
    /// The nearest bodies within a distance, at most so many, the nearest first. The filter may be NULL: all but sensors.
    std::vector<TestudoNear> nearest(const TestudoVec2 &point, TestudoFx distance, uint32_t count, const TestudoQueryFilter *filter = nullptr) const {
        std::vector<TestudoNear> out(std::min(count, testudo_world_body_count(*this)));
        const int32_t found = testudo_world_nearest(*this, &point, distance, filter, out.data(), static_cast<uint32_t>(out.size()));
        if (found < 0) throw Error(-found);
        out.resize(static_cast<size_t>(found));
        return out;
    }

private:
    explicit World(TestudoWorld *world) : Owner(world) {}
    explicit World(const TestudoWorldDef *def) : Owner(made<TestudoWorld>([&](auto **out) {
        check_interface();
        return testudo_world_new(def, out);
    })) {}
};

/// The default settings of a crowd.
inline TestudoCrowdDef crowd_def(const TestudoBox &area) {
    TestudoCrowdDef def{};
    check(testudo_crowd_def_default(&area, &def));
    return def;
}

/// An order to go to a place and to stand there as a disc.
inline TestudoMoveOrder go(TestudoFx x, TestudoFx y) {
    TestudoMoveOrder order{};
    check(testudo_move_order_go(x, y, &order));
    return order;
}

/// Units that find their way: dynamic bodies of one world, which every call gets beside the crowd. In each frame `step`, then that of the world.
class Crowd : public Owner<TestudoCrowd, testudo_crowd_free> {
public:
    explicit Crowd(const TestudoCrowdDef &def) : Owner(made<TestudoCrowd>([&](auto **out) { return testudo_crowd_new(&def, out); })) {}

    /// Looks at all obstacles: before the first order.
    void survey(const World &world) { check(testudo_crowd_survey(*this, world)); }
    void survey_area(const World &world, const TestudoBox &area) { check(testudo_crowd_survey_area(*this, world, &area)); }
    void add(const World &world, TestudoBody body, TestudoFx speed, TestudoFx acceleration) {
        check(testudo_crowd_add(*this, world, body, speed, acceleration));
    }
    void order(const World &world, const std::vector<TestudoBody> &units, const TestudoMoveOrder &order) {
        check(testudo_crowd_order(*this, world, units.data(), static_cast<uint32_t>(units.size()), &order));
    }
    void pursue(const World &world, TestudoBody unit, TestudoBody prey, TestudoFx reach) { check(testudo_crowd_pursue(*this, world, unit, prey, reach)); }
    void stop(const World &world, const std::vector<TestudoBody> &units) {
        check(testudo_crowd_stop(*this, world, units.data(), static_cast<uint32_t>(units.size())));
    }
    void step(World &world, uint32_t frames_per_second) { check(testudo_crowd_step(*this, world, frames_per_second)); }
    uint64_t checksum() const {
        const uint64_t sum = testudo_crowd_checksum(*this);
        if (sum == 0) events(); // It was refused: no crowd has this one.
        return sum;
    }
    TestudoUnitState state(TestudoBody unit) const {
        TestudoUnitState out{};
        check(testudo_crowd_unit_state(*this, unit, &out));
        return out;
    }
    /// Of the last step.
    std::vector<TestudoMoveEvent> events() const {
        return list<TestudoMoveEvent>([&](auto *out, auto room) { return testudo_crowd_events(*this, out, room); });
    }
};

inline TestudoShape circle(TestudoFx radius) {
    TestudoShape shape{};
    check(testudo_circle(radius, &shape));
    return shape;
}

inline TestudoShape rect(TestudoFx half_width, TestudoFx half_height) {
    TestudoShape shape{};
    check(testudo_rect(half_width, half_height, &shape));
    return shape;
}

/// The defaults of a body: TESTUDO_STATIC, TESTUDO_KINEMATIC or TESTUDO_DYNAMIC.
inline TestudoBodyDef body_def(uint32_t kind, const TestudoShape &shape) {
    TestudoBodyDef def{};
    check(testudo_body_def_default(kind, &shape, &def));
    return def;
}

/// The game: derive from it. What TestudoGame of testudo.h says of its functions holds here. It must live longer than the matches that are made of it.
/// None of its functions may destroy its match or its player of a replay, nor the transport whose round runs it: they would stay for ever.
/// An exception does not pass through the library: the call of `Match` that ran the function throws it. After other calls `rethrow` does.
class Game {
public:
    Game() = default;
    Game(const Game &) = delete;
    Game &operator=(const Game &) = delete;
    virtual ~Game() = default;

    virtual uint32_t action_bits() const = 0;
    virtual void apply(uint32_t player, const uint8_t *data, uint32_t bits) = 0;
    virtual void step(uint32_t frames_per_second) = 0;
    virtual uint64_t checksum() = 0;
    /// The bytes may be a stranger's: answer 0 if they are no action. An `Error` of the library is that answer, too; throw nothing else. Default: every action
    /// has exactly `action_bits`.
    virtual uint32_t action_length(const uint8_t *, uint32_t bits) const { return bits < action_bits() ? 0 : action_bits(); }
    virtual void turn_started(uint32_t, uint32_t) {}
    virtual void turn_ended(uint32_t, uint64_t) {}
    virtual void player_gone(uint32_t, uint32_t) {}
    virtual void player_surrendered(uint32_t player, uint32_t turn) { player_gone(player, turn); }
    virtual void player_taken_over(uint32_t player, uint32_t turn) { player_gone(player, turn); }
    virtual void player_returned(uint32_t, uint32_t) {}
    virtual void play_for(uint32_t, uint32_t) {}
    /// Whether it has `save` and `load`. Asked once, when a match is made.
    virtual bool has_state() const { return false; }
    virtual bool save(TestudoBuffer *) { return false; }
    /// The bytes are a stranger's. False: they are no state of this game, and nothing has changed. An `Error` of the library, as of `World::from_bytes`, is that
    /// answer, too; throw nothing else.
    virtual bool load(const uint8_t *, size_t) { return false; }
    virtual void save_point(uint32_t) {}
    virtual std::optional<uint32_t> result() { return std::nullopt; }
    virtual bool is_over() { return false; }
    /// Whether it has `visit`. Asked once, when a match is made.
    virtual bool names_numbers() const { return false; }
    /// Names the numbers of the state: `check(testudo_visit_number(visit, "gold", gold))` and so on. Take messages, also if the game has none.
    virtual void visit(TestudoVisit *) {}

    /// Throws what one of the functions above has thrown. The state may be half changed then: the match must be given up.
    void rethrow() {
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

    /// As the library takes it.
    TestudoGame table() {
        TestudoGame table{};
        table.context = this;
        table.action_bits = action_bits();
        table.action_length = [](void *it, const uint8_t *data, uint32_t bits) -> uint32_t { return read(it, [&](Game &game) { return game.action_length(data, bits); }); };
        table.apply = [](void *it, uint32_t player, const uint8_t *data, uint32_t bits) { call(it, [&](Game &game) { game.apply(player, data, bits); }); };
        table.step = [](void *it, uint32_t frames_per_second) { call(it, [&](Game &game) { game.step(frames_per_second); }); };
        table.checksum = [](void *it) -> uint64_t { return call(it, [&](Game &game) { return game.checksum(); }); };
        table.turn_started = [](void *it, uint32_t turn, uint32_t frames) { call(it, [&](Game &game) { game.turn_started(turn, frames); }); };
        table.turn_ended = [](void *it, uint32_t turn, uint64_t checksum) { call(it, [&](Game &game) { game.turn_ended(turn, checksum); }); };
        table.player_gone = [](void *it, uint32_t player, uint32_t turn) { call(it, [&](Game &game) { game.player_gone(player, turn); }); };
        table.player_surrendered = [](void *it, uint32_t player, uint32_t turn) { call(it, [&](Game &game) { game.player_surrendered(player, turn); }); };
        table.player_taken_over = [](void *it, uint32_t player, uint32_t turn) { call(it, [&](Game &game) { game.player_taken_over(player, turn); }); };
        table.player_returned = [](void *it, uint32_t player, uint32_t turn) { call(it, [&](Game &game) { game.player_returned(player, turn); }); };
        table.play_for = [](void *it, uint32_t player, uint32_t turn) { call(it, [&](Game &game) { game.play_for(player, turn); }); };
        if (has_state()) table.save = [](void *it, TestudoBuffer *out) -> TestudoBool { return call(it, [&](Game &game) { return game.save(out); }); };
        if (has_state()) table.load = [](void *it, const uint8_t *data, size_t length) -> TestudoBool { return read(it, [&](Game &game) { return game.load(data, length); }); };
        table.save_point = [](void *it, uint32_t turn) { call(it, [&](Game &game) { game.save_point(turn); }); };
        table.result = [](void *it, uint32_t *out) -> TestudoBool {
            const auto result = call(it, [](Game &game) { return game.result(); });
            if (result) *out = *result;
            return result.has_value();
        };
        table.is_over = [](void *it) -> TestudoBool { return call(it, [](Game &game) { return game.is_over(); }); };
        if (names_numbers()) table.visit = [](void *it, TestudoVisit *visit) { call(it, [&](Game &game) { game.visit(visit); }); };
        return table;
    }

private:
    template <class Run> static auto call(void *it, Run run) noexcept -> decltype(run(*static_cast<Game *>(it))) {
        auto &game = *static_cast<Game *>(it);
        try {
            return run(game);
        } catch (...) {
            if (!game.thrown_) game.thrown_ = std::current_exception();
            return decltype(run(game))();
        }
    }

    /// What reads bytes of strangers: that the library refuses them is the answer "no".
    template <class Run> static auto read(void *it, Run run) noexcept -> decltype(run(*static_cast<Game *>(it))) {
        return call(it, [&](Game &game) -> decltype(run(game)) {
            try {
                return run(game);
            } catch (const Error &) {
                return {};
            }
        });
    }

    std::exception_ptr thrown_;
};

/// The default settings of a match.
inline TestudoConfig config(uint32_t players) {
    check_interface();
    TestudoConfig config{};
    check(testudo_config_default(players, &config));
    return config;
}

/// One peer's part of a match.
class Match : public Owner<TestudoMatch, testudo_match_free> {
public:
    Match(TestudoMatch *match, Game &game) : Owner(match), game_(&game) {}

    static Match single(const TestudoConfig &config, Game &game, uint64_t now_us) {
        return make(game, [&](auto *table, auto **out) { return testudo_match_single(&config, table, now_us, out); });
    }
    static Match host(const TestudoConfig &config, Game &game, uint64_t now_us) {
        return make(game, [&](auto *table, auto **out) { return testudo_match_host(&config, table, now_us, out); });
    }
    static Match join(const TestudoConfig &config, Game &game, uint32_t player, uint32_t peer, uint64_t now_us) {
        return make(game, [&](auto *table, auto **out) { return testudo_match_join(&config, table, player, peer, now_us, out); });
    }
    static Match watch(const TestudoConfig &config, Game &game, uint32_t peer, uint64_t now_us) {
        return make(game, [&](auto *table, auto **out) { return testudo_match_watch(&config, table, peer, now_us, out); });
    }

    void advance(uint64_t now_us) { done(testudo_match_advance(*this, now_us, nullptr)); }
    /// At the end of a round: microseconds of work in it, without waits.
    void note_work(uint64_t simulated_us, uint64_t drawn_us) { check(testudo_match_note_work(*this, simulated_us, drawn_us)); }
    bool is_over() const { return testudo_match_is_over(*this) != 0; }
    uint32_t turn() const { return testudo_match_turn(*this); }
    void submit(const std::vector<uint8_t> &data, uint32_t bits) {
        if (bits > 8 * data.size()) throw std::out_of_range("there are fewer than " + std::to_string(bits) + " bits of this action");
        done(testudo_match_submit(*this, data.data(), bits));
    }
    std::optional<TestudoEvent> poll_event() {
        if (told_) return std::exchange(told_, std::nullopt);
        TestudoEvent event{};
        const int32_t count = testudo_match_poll_event(*this, &event);
        // What the game throws meanwhile does not take the event away: the next call has it.
        if (count == 1) told_ = event;
        done(count < 0 ? -count : TESTUDO_OK);
        return std::exchange(told_, std::nullopt);
    }
    std::string event_words() const { return testudo_match_event_words(*this); }
    Game &game() const { return *game_; }
    /// After a call that runs the game: throws what the game has thrown, or what the library says.
    void done(TestudoStatus status) const {
        game_->rethrow();
        check(status);
    }

private:
    template <class Make> static Match make(Game &game, Make make) {
        const TestudoGame table = game.table();
        TestudoMatch *handle = nullptr;
        const TestudoStatus status = make(&table, &handle);
        Match match(handle, game);
        match.done(status);
        return match;
    }

    Game *game_;
    std::optional<TestudoEvent> told_;
};

#ifndef TESTUDO_NO_UDP
/// Plain UDP.
class Udp : public Owner<TestudoUdp, testudo_udp_free> {
public:
    explicit Udp(const std::string &address) : Owner(made<TestudoUdp>([&](auto **out) { return testudo_udp_bind(address.c_str(), out); })) {}
    std::string address() const {
        Buffer text;
        check(testudo_udp_address(*this, text));
        return text.text();
    }
    uint32_t add_peer(const std::string &address) {
        uint32_t peer = TESTUDO_NO_PEER;
        check(testudo_udp_add_peer(*this, address.c_str(), &peer));
        return peer;
    }
    void round(Match &match, uint64_t now_us) { match.done(testudo_udp_round(*this, match, now_us)); }
    void pump(Match &match, uint64_t now_us) { match.done(testudo_udp_pump(*this, match, now_us)); }
};
#endif

#ifndef TESTUDO_NO_SEALED
/// The host of a match over the internet, by codes. Make it with testudo_host_open.
using Host = Owner<TestudoHost, testudo_host_free>;
/// A guest who comes by a code. Make it with testudo_guest_join.
using Guest = Owner<TestudoGuest, testudo_guest_free>;
#endif

/// A recorded match. Make it with testudo_replay_read.
using Replay = Owner<TestudoReplay, testudo_replay_free>;

} // namespace testudo

#endif
