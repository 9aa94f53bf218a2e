// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/durable/engine.hpp"
#include "weft/durable/memory_store.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/testing.hpp"
#include "weft/testing/explore.hpp"

/// Every crash point of every schedule: a crash is a decision at each change of the store.  A
/// program must end as it does without a crash.
using namespace weft;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// The outside: what a service has done, by key.  It survives crashes.
struct bank {
  struct pay : op<int> {
    pay(std::string k, int n) : key(std::move(k)), amount(n) {}
    std::string key;
    int amount;
  };
  using operations = op_list<pay>;
};
struct ledger : handler<bank> {
  std::map<std::string, int> paid;
  int on(bank::pay p) { return paid[p.key] = p.amount; }
  [[nodiscard]] int sum() const {
    int n = 0;
    for (auto const& [key, amount] : paid) n += amount;
    return n;
  }
};
eff<int, bank> pay(durable::idempotency_key const& key, int amount) {
  co_return co_await bank::pay(key.text, amount);
}
using row = durable::all<bank>;

template <class... Fs>
struct world {
  world(std::size_t crashes, Fs... fs)
      : store({.crashes = crashes}),
        e({.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler},
          store, fs...) {}
  durable::memory_store store;
  durable::engine<Fs...> e;
  ledger outside;
};
/// Runs the engine, and again after each crash.
template <class... Fs>
auto restarting(world<Fs...>& w) -> decltype(w.e.run()) {
  for (bool is_over = false; !is_over;) {
    try {
      co_await w.e.run();
      is_over = true;
    } catch (durable::simulated_crash const&) {
    }
    w.store.restart();
  }
}

/// Explores a program with that many crashes.  `id` names the process whose end is compared.
template <class Begin, class... Fs>
exploration explored(std::size_t crashes, std::string const& id, Begin begin, Fs... fs) {
  auto const make = [=] {
    auto w = std::make_unique<world<Fs...>>(crashes, fs...);
    begin(w->e);
    return w;
  };
  using state = std::unique_ptr<world<Fs...>>;
  return explore(
      {.max_schedules = 30'000, .reduce = true}, make, [](state& w) { return restarting(*w); },
      [id](state const& w) {
        auto const p = *w->e.find(id);
        return std::string(durable::name_of(p.status)) + " " + durable::readable(p.result) +
               ", paid " + std::to_string(w->outside.sum());
      },
      [](state& w) -> auto& { return w->outside; });
}
void require_one_outcome(exploration const& found, std::string const& end) {
  UNSCOPED_INFO(found.summary());
  if (std::getenv("WEFT_COUNT")) WARN(found.summary());
  INFO(found.report());
  CHECK(found.complete);
  REQUIRE(found.outcomes.size() == 1);
  CHECK(found.outcomes.front().result.text == end);
}

// ---- programs

eff<int, row> pays_twice() {
  int const a = co_await durable::step("first", pay, 1);
  co_return a + 2;
}
constexpr durable::function pays_twice_process{"pays twice", 1, pays_twice};

TEST_CASE("steps survive crashes at any point") {
  auto const begin = [](auto& e) { e.start("p", pays_twice_process); };
  require_one_outcome(explored(GENERATE(0U, 1U, 2U), "p", begin, pays_twice_process),
                      "completed 3, paid 1");
}

eff<int, row> sleeps() {
  co_await timing::sleep_for{1h};
  int const a = co_await durable::step("awake", pay, 1);
  co_await timing::sleep_for{1h};
  co_return a;
}
constexpr durable::function sleeps_process{"sleeps", 1, sleeps};

TEST_CASE("timers survive crashes at any point") {
  auto const begin = [](auto& e) { e.start("p", sleeps_process); };
  require_one_outcome(explored(GENERATE(0U, 1U, 2U), "p", begin, sleeps_process),
                      "completed 1, paid 1");
}

eff<int, row> receives() {
  auto const a = co_await durable::receive<int>();
  co_return a.message;
}
constexpr durable::function receives_process{"receives", 1, receives};
eff<void, row> sends() { co_await durable::send("r", 12); }
constexpr durable::function sends_process{"sends", 1, sends};

TEST_CASE("messages arrive once, whatever crashes") {
  auto const begin = [](auto& e) {
    e.start("r", receives_process);
    e.start("s", sends_process);
  };
  require_one_outcome(explored(GENERATE(0U, 1U), "r", begin, receives_process, sends_process),
                      "completed 12, paid 112");
}

eff<int, row> parent() {
  auto const c = co_await durable::start("c", pays_twice_process);
  co_return co_await c.outcome();
}
constexpr durable::function parent_process{"parent", 1, parent};

TEST_CASE("a child is started once, and its result arrives, whatever crashes") {
  auto const begin = [](auto& e) { e.start("p", parent_process); };
  require_one_outcome(explored(GENERATE(0U, 1U), "p", begin, parent_process, pays_twice_process),
                      "completed 3, paid 3");
}

eff<int, row> takes_back() {
  int const n = co_await durable::step("pay", pay, 5);
  bool was_cancelled = false;
  try {
    co_await timing::sleep_for{1000h};
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  if (was_cancelled) co_await durable::step("take back", pay, -5);
  co_return n;
}
constexpr durable::function takes_back_process{"takes back", 1, takes_back};

TEST_CASE("a cancelled process takes back what it did, whatever crashes") {
  auto const begin = [](auto& e) {
    e.start("p", takes_back_process);
    e.cancel("p");
  };
  auto const found = explored(GENERATE(0U, 1U), "p", begin, takes_back_process);
  INFO(found.report());
  CHECK(found.complete);
  // It is cancelled before it begins, since the message is there from the beginning.
  REQUIRE(found.outcomes.size() == 1);
  CHECK_THAT(found.outcomes.front().result.text, Contains("cancelled") && Contains("paid 0"));
}

eff<int, row> again(int n, int sum) {
  int const a = co_await durable::step("pay", pay, n);
  if (n > 0) co_await durable::continue_as_new(n - 1, sum + a);
  co_return sum;
}
constexpr durable::function again_process{"again", 1, again};

TEST_CASE("a process continues as new once, whatever crashes") {
  auto const begin = [](auto& e) { e.start("p", again_process, 2, 0); };
  require_one_outcome(explored(GENERATE(0U, 1U, 2U), "p", begin, again_process),
                      "completed 3, paid 3");
}

}  // namespace
