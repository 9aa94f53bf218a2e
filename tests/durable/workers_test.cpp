// SPDX-License-Identifier: MIT
#include "tests/durable/crashes.hpp"
#include "tests/durable/memory_log.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/replicated_store.hpp"

/// Two engines on one log, in every order: workers claim, crash, are said to be dead though they live,
/// and a program ends as it does on one.
using durable::replicated_store;

constexpr std::chrono::milliseconds lease = 10s;

/// A log whose program may crash at each append: before the entry is in it, or after.
class crashing_log final : public memory_log {
 public:
  crashing_log(log_medium& m, std::size_t crashes) : memory_log(m), crashes_(crashes) {}
  std::uint64_t append(std::string const& bytes) override {
    if (has_crashed_) throw durable::simulated_crash();
    static constexpr std::array<std::string_view, 3> ways{"append", "crash before", "crash after"};
    std::size_t const way = crashes_ == 0 ? 0 : decide(ways);
    has_crashed_ = way != 0;
    if (way == 1) throw durable::simulated_crash();
    auto const number = memory_log::append(bytes);
    if (way == 2) throw durable::simulated_crash();
    return number;
  }

 private:
  std::size_t crashes_;
  bool has_crashed_ = false;
};

template <class... Fs>
struct some_worker {
  some_worker(log_medium& m, std::string name, std::size_t crashes, Fs... fs)
      : log(m, crashes),
        store(log, {.lease = lease, .has_thread = false}),
        e({.until = durable::run_until::all_ended,
           .clock = durable::clock_source::scheduler,
           .keep_waiting = 0h,
           .max_batch = 1,
           .worker = std::move(name)},
          store, fs...) {}
  /// Says that the others are dead: time passes in which nothing is heard of them.
  void judge() {
    for (replicated_store::time_point now(100s);
         now <= 100s + lease + replicated_store::time_point(); now += lease / 10)
      store.tick(now);
  }
  crashing_log log;
  replicated_store store;
  durable::engine<Fs...> e;
};

/// Two workers; the first may crash.
template <class... Fs>
struct two_workers {
  two_workers(std::size_t crashes, Fs... fs)
      : first(medium, "first", crashes, fs...), second(medium, "second", 0, fs...) {}
  log_medium medium;
  some_worker<Fs...> first;
  some_worker<Fs...> second;
  ledger outside;
};

struct worker_options {
  std::size_t crashes = 0;
  bool misjudges = false;  ///< The second worker says, at any moment, that the first is dead.
  std::string end{};
  std::size_t max_schedules = 100'000;
};

template <class World, class Row>
struct programs;
template <class World, class... Es>
struct programs<World, row<Es...>> {
  static eff<void, Es...> first(World& w) {
    bool has_crashed = false;
    try {
      co_await w.first.e.run();
    } catch (durable::simulated_crash const&) {
      has_crashed = true;
    }
    if (has_crashed) w.second.judge();
  }
  static eff<void, Es...> second(World& w) { co_await w.second.e.run(); }
  static eff<void> judge(World& w) {
    w.second.judge();
    co_return;
  }
  static eff<void, spawning<Es...>, Es...> all(World& w, bool misjudges) {
    co_await spawn(first, std::ref(w));
    co_await spawn(second, std::ref(w));
    if (misjudges) co_await spawn(judge, std::ref(w));
  }
};

template <class Begin, class... Fs>
exploration explore_workers(worker_options const& o, Begin begin, Fs... fs) {
  using world = two_workers<Fs...>;
  using state = std::unique_ptr<world>;
  using effects = typename decltype(std::declval<world&>().first.e.run())::effects;
  auto const make = [=] {
    auto w = std::make_unique<world>(o.crashes, fs...);
    begin(w->second.e);
    w->second.store.join("second", [] {});  // so that it judges from the beginning
    return w;
  };
  return explore(
      {.max_schedules = o.max_schedules, .reduce = true}, make,
      [o](state& w) { return programs<world, effects>::all(*w, o.misjudges); },
      [o](state const& w) -> run_result {
        auto const p = w->second.store.find("p").value();
        std::string const end = std::string(durable::name_of(p.status)) + " " +
                                durable::readable(p.result) + ", paid " +
                                std::to_string(w->outside.sum());
        return {end == o.end ? verdict::ok : verdict::failed, end};
      },
      [](state& w) -> auto& { return w->outside; });
}

eff<int, bank_row> pays_once() { co_return co_await durable::step("pay", pay, 1); }
constexpr durable::function pays_once_process{"pays once", 1, pays_once};

template <class Begin, class... Fs>
void require_one_end(worker_options const& o, Begin begin, Fs... fs) {
  auto const found = explore_workers(o, begin, fs...);
  show_counts(o.end + (o.misjudges ? ", misjudged" : ""), o.crashes, found);
  INFO(found.report());
  if (!o.misjudges) CHECK(found.complete);
  CHECK(found.ok());
}

TEST_CASE("two workers, one of which may crash, run a process to its end") {
  worker_options const o{.crashes = GENERATE(0U, 1U), .end = "completed 1, paid 1"};
  require_one_end(o, [](auto& e) { e.start("p", pays_once_process); }, pays_once_process);
}

TEST_CASE("a worker that lives is said to be dead, and nothing is done twice") {
  // There are too many schedules to visit all.
  worker_options const o{.misjudges = true, .end = "completed 1, paid 1", .max_schedules = 4'000};
  require_one_end(o, [](auto& e) { e.start("p", pays_once_process); }, pays_once_process);
}

eff<int, bank_row> receives_one() {
  auto const a = co_await durable::receive<int>();
  co_return a.message;
}
constexpr durable::function receives_one_process{"receives one", 1, receives_one};

TEST_CASE("a message from outside reaches a process, whichever worker has it") {
  worker_options const o{.crashes = GENERATE(0U, 1U), .end = "completed 7, paid 0"};
  auto const begin = [](auto& e) {
    e.start("p", receives_one_process);
    e.send("p", 7);
  };
  require_one_end(o, begin, receives_one_process);
}
