// SPDX-License-Identifier: MIT
#include "tests/durable/weakened_store.hpp"

#include "tests/durable/crashes.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"

/// The sound store passes completely; the weakened one is found.
template <class Weakened, class Begin, class AtBegin, class... Fs>
void require_found(std::string const& mistake, crash_options o, Begin begin, AtBegin at_begin,
                   Fs... fs) {
  require_one_end(o, explore_crashes<sound_store>(o, begin, at_begin, fs...),
                  "sound, for " + mistake);
  o.stops = true;
  auto const found = explore_crashes<Weakened>(o, begin, at_begin, fs...);
  show_counts(mistake, o.crashes, found);
  INFO(mistake << '\n' << found.report());
  CHECK(found.first_failure());
  CHECK_FALSE(found.nondeterminism);
}

// ---- messages

constexpr auto begin_both = [](auto& e) {
  e.start("p", receives_process);
  e.start("s", sends_process);
};
crash_options const one_at_a_time{
    .crashes = 1, .end = "completed 12, paid 0", .keep_waiting = 0h, .max_running = 1};

TEST_CASE("a store that stores entries after messages is found") {
  require_found<entries_after_messages>("entries after messages", one_at_a_time, begin_both,
                                        nullptr, receives_process, sends_process);
}

TEST_CASE("a store whose commits are torn is found") {
  require_found<torn_commits>("torn commits", one_at_a_time, begin_both, nullptr, receives_process,
                              sends_process);
}

/// Stores with a mistake each are found by exploring crashes; the store without one passes.

using row = bank_row;

eff<void, row> sends_later() {
  co_await durable::send("p", 1);
  co_await durable::step("pay", pay, 0);
  co_await durable::send("p", 2);
}
constexpr durable::function sends_later_process{"sends later", 1, sends_later};

TEST_CASE("a store that keeps messages that were taken out is found, without a crash") {
  auto o = one_at_a_time;
  o.crashes = 0;
  auto const begin = [](auto& e) {
    e.start("p", receives_process);
    e.start("s", sends_later_process);
  };
  require_found<messages_stay>("messages stay", o, begin, nullptr, receives_process,
                               sends_later_process);
}

TEST_CASE("a store that ignores the keys of messages is found") {
  crash_options const o{.crashes = 1, .end = "completed 12, paid 0", .keep_waiting = 0h};
  auto const begin = [](auto& e) { e.start("p", receives_process); };
  auto const client = [](auto& w) {  // tries again after each crash
    w.e.send("p", 1, "first");
    w.e.send("p", 2, "second");
  };
  require_found<keys_ignored>("keys ignored", o, begin, client, receives_process);
}

eff<int, row> receives_one() {
  auto const a = co_await durable::receive<int>();
  co_return a.message;
}
constexpr durable::function receives_one_process{"receives one", 1, receives_one};
eff<void, row> sends_one() { co_await durable::send("p", 1); }
constexpr durable::function sends_one_process{"sends one", 1, sends_one};

TEST_CASE("a store that lets a process wait over a message is found") {
  crash_options const o{.crashes = 1, .end = "completed 1, paid 0"};
  auto const begin = [](auto& e) {
    e.start("p", receives_one_process);
    e.start("s", sends_one_process);
  };
  require_found<wakes_lost>("wake-ups lost", o, begin, nullptr, receives_one_process,
                            sends_one_process);
}

// ---- time

eff<int, row> sleeps() {
  co_await timing::sleep_for{1h};
  co_return co_await durable::step("awake", pay, 1);
}
constexpr durable::function sleeps_process{"sleeps", 1, sleeps};

TEST_CASE("a store that loses the time of a wait is found, without a crash") {
  crash_options const o{.crashes = 0, .end = "completed 1, paid 1", .keep_waiting = 0h};
  auto const begin = [](auto& e) { e.start("p", sleeps_process); };
  require_found<times_lost>("times lost", o, begin, nullptr, sleeps_process);
}

// ---- steps

eff<void, row> pays_at_most_once() {
  try {
    co_await durable::step({.name = "pay", .at_most_once = true}, pay, 1);
  } catch (durable::step_interrupted const&) {
  }
}
constexpr durable::function at_most_once_process{"pays at most once", 1, pays_at_most_once};

/// Whether a step that runs at most once does so on that store.
template <class Store>
exploration explore_at_most_once(bool stops) {
  using world = crash_world<Store, std::remove_const_t<decltype(at_most_once_process)>>;
  using state = std::unique_ptr<world>;
  auto const make = [] {
    auto w = std::make_unique<world>(1, engine_options_of({}), at_most_once_process);
    w->e.start("p", at_most_once_process);
    return w;
  };
  return explore(
      {.reduce = true, .stop_at_failure = stops}, make, [](state& w) { return restarting(*w); },
      [](state const& w) { return w->outside.most_calls() <= 1; },
      [](state& w) -> auto& { return w->outside; });
}

TEST_CASE("a store that acknowledges what is not stored yet is found") {
  auto const sound = explore_at_most_once<sound_store>(false);
  CHECK(sound.complete);
  CHECK(sound.ok());
  auto const found = explore_at_most_once<late_commits>(true);
  show_counts("late commits", 1, found);
  INFO(found.report());
  CHECK(found.first_failure());
  CHECK_FALSE(found.nondeterminism);
}

// ---- two engines

eff<int, row> pays_and_sends() {
  int const a = co_await durable::step("pay", pay, 1);
  co_await durable::send("q", a);
  co_return a;
}
constexpr durable::function pays_and_sends_process{"pays and sends", 1, pays_and_sends};

template <class Store, class F>
struct two_engines {
  static durable::engine_options how() {
    return {.until = durable::run_until::idle,
            .clock = durable::clock_source::scheduler,
            .max_batch = 1,
            .listens = false};
  }
  explicit two_engines(F f) : first(how(), store, f), second(how(), store, f) {}
  Store store{durable::memory_store_options{}};
  durable::engine<F> first;
  durable::engine<F> second;
  ledger outside;
};
template <class Row>
struct spawning_row;
template <class... Es>
struct spawning_row<weft::row<Es...>> {
  using type = spawning<Es...>;
};
template <class Engine>
auto run_it(Engine& e) -> decltype(e.run()) {
  co_await e.run();
}
template <class Store, class F>
auto run_two(two_engines<Store, F>& w)
    -> eff<void, typename spawning_row<typename decltype(w.first.run())::effects>::type> {
  co_await spawn(run_it<durable::engine<F>>, std::ref(w.first));
  co_await spawn(run_it<durable::engine<F>>, std::ref(w.second));
}
template <class Store, class F>
exploration explore_two_engines(F f, explore_options const& how) {
  using state = std::unique_ptr<two_engines<Store, F>>;
  auto const make = [f] {
    auto w = std::make_unique<two_engines<Store, F>>(f);
    w->store.start(f.start("p"));
    return w;
  };
  return explore(
      how, make, [](state& w) { return run_two(*w); },
      [](state const& w) -> run_result {
        std::string const end =
            end_of(*w, "p") + ", sent " + std::to_string(w->store.find("q").value().messages);
        return {end == "completed 1, paid 1, sent 1" ? verdict::ok : verdict::failed, end};
      },
      [](state& w) -> auto& { return w->outside; });
}

TEST_CASE("two engines on one store do what one does") {
  auto const found = explore_two_engines<sound_store>(pays_and_sends_process, {.reduce = true});
  show_counts("two engines", 0, found);
  INFO(found.report());
  CHECK(found.complete);
  CHECK(found.ok());
  CHECK(found.outcomes.size() == 1);
}

eff<int, row> sends_and_pays() {
  co_await durable::send("q", 1);  // which is stored before the step begins
  co_return co_await durable::step("pay", pay, 1);
}
constexpr durable::function sends_and_pays_process{"sends and pays", 1, sends_and_pays};

TEST_CASE("a store that fences no part is found") {
  auto const sound = explore_two_engines<sound_store>(sends_and_pays_process,
                                                      {.max_schedules = 5'000, .reduce = true});
  CHECK(sound.ok());
  CHECK(sound.outcomes.size() == 1);
  auto const found = explore_two_engines<no_fence>(sends_and_pays_process,
                                                   {.reduce = true, .stop_at_failure = true});
  show_counts("no fence", 0, found);
  INFO(found.report());
  CHECK(found.first_failure());
}
