// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/durable/engine.hpp"
#include "weft/durable/memory_store.hpp"
#include "weft/effects/effects.hpp"
#include "weft/testing/explore.hpp"
#include "weft/testing/testing.hpp"

/// Programs whose every crash point in every schedule is explored: a crash is a decision at each
/// change of the store.
namespace weft::tests {

/// The outside: a service that knows what it has done, by key, and survives crashes.
struct bank {
  struct pay : op<int> {
    pay(std::string k, int n) : key(std::move(k)), amount(n) {}
    std::string key;
    int amount;
  };
  using operations = op_list<pay>;
};
struct ledger : handler<bank> {
  std::map<std::string, int> paid;   // by key
  std::map<std::string, int> calls;  // by key
  int failures = 0;                  // how many calls of a key fail
  int on(bank::pay p) {
    if (calls[p.key]++ < failures) throw std::runtime_error("the bank is closed");
    return paid[p.key] = p.amount;
  }
  [[nodiscard]] int sum() const {
    int n = 0;
    for (auto const& [key, amount] : paid) n += amount;
    return n;
  }
  [[nodiscard]] int most_calls() const {
    int n = 0;
    for (auto const& [key, times] : calls) n = std::max(n, times);
    return n;
  }
};
inline eff<int, bank> pay(durable::idempotency_key const& key, int amount) {
  co_return co_await bank::pay(key.text, amount);
}
using bank_row = durable::all<bank>;

/// An engine on a store that may crash, and the outside.
template <class Store, class... Fs>
struct crash_world {
  crash_world(std::size_t crashes, durable::engine_options const& how, Fs... fs)
      : store({.crashes = crashes}), e(how, store, fs...) {}
  Store store;
  durable::engine<Fs...> e;
  ledger outside;
  std::function<void(crash_world&)> at_begin{};  // of each run, as a client that tries again
};
/// Runs the engine, and again after each crash.
template <class World>
auto restarting(World& w) -> decltype(w.e.run()) {
  for (bool is_over = false; !is_over;) {
    try {
      if (w.at_begin) w.at_begin(w);
      co_await w.e.run();
      is_over = true;
    } catch (durable::simulated_crash const&) {
    }
    w.store.restart();
  }
}

/// How a program is explored.
struct crash_options {
  std::size_t crashes = 0;
  std::string id = "p";  ///< The process whose end is compared.
  std::string end{};     ///< How a run has to end; empty: in any way.
  bool stops = false;    ///< At the first run that ends in another way.
  std::size_t max_schedules = 100'000;
  std::chrono::nanoseconds keep_waiting = std::chrono::seconds(10);
  std::size_t max_batch = 1;
  std::size_t max_running = 10;
  int failures = 0;
};
inline durable::engine_options engine_options_of(crash_options const& o) {
  return {.until = durable::run_until::all_ended,
          .clock = durable::clock_source::scheduler,
          .keep_waiting = o.keep_waiting,
          .max_running = o.max_running,
          .max_batch = o.max_batch,
          .listens = false};
}
template <class World>
std::string end_of(World& w, std::string const& id) {
  auto const p = w.store.find(id).value();
  std::string left;
  if (p.messages != 0) left = ", " + std::to_string(p.messages) + " messages left";
  return std::string(durable::name_of(p.status)) + " " + durable::readable(p.result) + ", paid " +
         std::to_string(w.outside.sum()) + left;
}

/// Explores a program on `Store`.  `begin` starts the processes; `at_begin` is called before each
/// run of the engine, also after a crash.
template <class Store, class Begin, class AtBegin, class... Fs>
exploration explore_crashes(crash_options const& o, Begin begin, AtBegin at_begin, Fs... fs) {
  using world = crash_world<Store, Fs...>;
  using state = std::unique_ptr<world>;
  auto const make = [=] {
    auto w = std::make_unique<world>(o.crashes, engine_options_of(o), fs...);
    w->outside.failures = o.failures;
    begin(w->e);
    w->at_begin = at_begin;
    return w;
  };
  return explore(
      {.max_schedules = o.max_schedules,
       .reduce = true,
       .stop_at_failure = o.stops,
       .max_shrinking_runs = 200},
      make, [](state& w) { return restarting(*w); },
      [o](state const& w) -> run_result {
        std::string const end = end_of(*w, o.id);
        return {o.end.empty() || end == o.end ? verdict::ok : verdict::failed, end};
      },
      [](state& w) -> auto& { return w->outside; });
}
template <class Begin, class... Fs>
exploration explore_crashes(crash_options const& o, Begin begin, Fs... fs) {
  return explore_crashes<durable::memory_store>(o, begin, nullptr, fs...);
}

// A process that receives two numbers, and one that sends them to it, as "p".
inline eff<int, durable::all<bank>> receives() {
  auto const a = co_await durable::receive<int>();
  auto const b = co_await durable::receive<int>();
  co_return 10 * a.message + b.message;
}
inline constexpr durable::function receives_process{"receives", 1, receives};
inline eff<void, durable::all<bank>> sends() {
  co_await durable::send("p", 1);
  co_await durable::send("p", 2);
}
inline constexpr durable::function sends_process{"sends", 1, sends};

/// Shows the counts, if the environment asks for them.
inline void show_counts(std::string const& of, std::size_t crashes, exploration const& found) {
  if (!std::getenv("WEFT_COUNT")) return;
  WARN(of << ", " << crashes << " crashes: " << found.schedules << " schedules, " << found.redundant
          << " redundant" << (found.complete ? "" : ", incomplete"));
}
inline void require_one_end(crash_options const& o, exploration const& found,
                            std::string const& of) {
  show_counts(of, o.crashes, found);
  INFO(found.report());
  CHECK(found.complete);
  CHECK(found.ok());
  REQUIRE(found.outcomes.size() == 1);
  CHECK(found.outcomes.front().result.text == o.end);
}

}  // namespace weft::tests
