// SPDX-License-Identifier: MIT

/// Where one thread runs all processes, a cancellation queries the processes in the scope only
/// (sched/runtime/detail/task_tree.hpp); elsewhere it queries all waiting processes
/// (sched/runtime/detail/wait_registry.hpp).  Random programs do the same either way, and each wait ends
/// when it should.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/seeds.hpp"
#include "weft/effects/effects.hpp"
#include "weft/effects/state.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/when_all.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

// ---- a backend that cancels in either way

enum class asks { those_in_the_scope, all_who_wait };

/// A backend of one thread, which claims to be one of several if a cancellation is to query all
/// processes.  The next process depends on the set of ready processes, not on the order in which
/// they became ready.
template <asks Whom>
class by_number {
 public:
  static constexpr unsigned wakes = ~0U;
  static constexpr bool hands_over = false;
  using options = random_order_options;

  class worker {
   public:
    worker(by_number& home, unsigned) noexcept : home_(home) {}
    void put(thunk&& t, put_reason w) { home_.put(std::move(t), w); }
    thunk take(instant until, quiescence_test quiescent) {
      for (;;) {
        // Before the look at ready_: an event that is due puts its process first.
        bool const nothing_is_due = quiescent();
        if (home_.stopped_) return thunk::reason::stopped;
        if (!home_.ready_.empty()) return home_.next();
        if (nothing_is_due) return thunk::reason::quiescent;
        if (until != instant::max()) return thunk::reason::deadline;
      }
    }
    void on_wait_begin(process&) noexcept {}
    void on_waiting(process&, wait_kind) noexcept {}
    void on_wait_cancelled(process&) noexcept {}
    void on_handover(process&) noexcept {}

   private:
    by_number& home_;
  };

  explicit by_number(options const& o) noexcept : dice_(static_cast<unsigned>(o.seed)) {}
  by_number(by_number const&) = delete;
  by_number& operator=(by_number const&) = delete;

  void put(thunk&& t, put_reason) {
    auto const is_later = [&t](thunk const& other) { return other.get()->id() > t.get()->id(); };
    ready_.insert(std::ranges::find_if(ready_, is_later), std::move(t));
  }
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() noexcept { stopped_ = true; }

 private:
  thunk next() {
    auto const it = ready_.begin() + dice_(static_cast<unsigned>(ready_.size()));
    thunk t = std::move(*it);
    ready_.erase(it);
    return t;
  }

  std::vector<thunk> ready_;
  dice dice_;
  bool stopped_ = false;
};
class asks_all : public by_number<asks::all_who_wait> {
 public:
  using by_number::by_number;
  struct alignas(16) header {};
  [[nodiscard]] unsigned threads() const noexcept { return 1; }
};
using asks_some = by_number<asks::those_in_the_scope>;
static_assert(backend<asks_some> && !concurrent_backend<asks_some> && concurrent_backend<asks_all>);

// ---- random programs

struct failed : std::runtime_error {
  failed() : runtime_error("failed") {}
};
using effects = row<proc, syncing, timing, mail, completions,
                    tasking<proc, syncing, timing, mail, completions>>;
template <class T = void>
using job = eff<T, effects>;

/// A scope or a join, with the time of its cancellation, if that is known.
struct group {
  instant cancelled_at = instant::max();
  std::function<void()> cancel{};  // for a scope
};
/// The groups around a process: those that cancel it, and those that it may cancel.
struct surroundings {
  std::vector<std::shared_ptr<group>> told_by{};
  std::vector<std::shared_ptr<group>> scopes{};
  bool is_shielded = false;   // so each wait has to end by itself
  bool has_handlers = false;  // how they are cancelled, and when, is not modelled

  [[nodiscard]] instant cancelled_at() const noexcept {
    instant first = instant::max();
    for (auto const& g : told_by) first = std::min(first, g->cancelled_at);
    return first;
  }
  [[nodiscard]] surroundings inside(std::shared_ptr<group> g) const {
    surroundings s = *this;
    if (g->cancel) s.scopes.push_back(g);
    s.told_by.push_back(std::move(g));
    return s;
  }
  [[nodiscard]] surroundings shielded() const {
    surroundings s = *this;
    s.told_by.clear();
    s.is_shielded = true;
    return s;
  }
};

/// A program whose actions are drawn at random, in nested scopes; it logs each wait.
class random_program {
 public:
  random_program(unsigned seed, bool with_handlers) : dice_(seed), with_handlers_(with_handlers) {}

  job<> run() {
    auto const outermost = std::make_shared<group>();
    instant const at = co_await timing::now{};
    outermost->cancelled_at = at + end_of_all;
    try {
      co_await with_scope({.timeout = end_of_all}, [&](auto&) -> job<> {
        surroundings const in = surroundings().inside(outermost);
        co_await in_group(outermost, works(5, in));
      });
    } catch (std::exception const& e) {
      (log_ += e.what()) += '\n';
    }
  }
  /// Each wait: when it began and ended, and how.
  [[nodiscard]] std::string const& log() const noexcept { return log_; }
  /// The waits that did not end when they should have; empty if there are none.
  [[nodiscard]] std::string const& wrong() const noexcept { return wrong_; }
  [[nodiscard]] std::size_t cancelled_while_waiting() const noexcept { return cancelled_; }

 private:
  static constexpr auto end_of_all = 1000s;
  static eff<instant, timing> now() {
    instant const t = co_await timing::now{};
    co_return t;
  }
  std::chrono::milliseconds some(unsigned most) { return std::chrono::milliseconds(dice_(most)); }
  static std::string text(instant t) {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count());
  }

  /// Waits.  A wait that is cancelled ends at that instant.
  template <class Wait>
  job<> waits(surroundings const& in, char const* what, Wait wait) {
    std::string const name = std::to_string(++waits_) + ": " + what;
    instant const began = co_await shielded(now);
    std::exception_ptr error;
    bool was_cancelled = false;
    try {
      (void)co_await wait();
    } catch (cancelled const&) {
      was_cancelled = true;
    } catch (...) {
      error = std::current_exception();
    }
    instant const ended = co_await shielded(now);
    instant const should_end = in.cancelled_at();
    std::string const line = name + " from " + text(began) + " to " + text(ended) +
                             (was_cancelled ? ", cancelled" : "") + '\n';
    log_ += line;
    cancelled_ += was_cancelled && ended != began;
    bool const is_late = ended != began && should_end < ended;
    bool const is_for_nothing = was_cancelled && should_end > ended;
    if (!in.has_handlers && (is_late || is_for_nothing))
      wrong_ += line + "  and is cancelled at " + text(should_end) + '\n';
    if (was_cancelled) throw cancelled();
    if (error) std::rethrow_exception(error);
  }
  /// An exception of `body` cancels its group.
  job<> in_group(std::shared_ptr<group> g, job<> body) {
    std::exception_ptr error;
    try {
      co_await std::move(body);
    } catch (cancelled const&) {
      throw;
    } catch (...) {
      error = std::current_exception();
    }
    if (!error) co_return;
    instant const failed_at = co_await shielded(now);
    g->cancelled_at = std::min(g->cancelled_at, failed_at);
    std::rethrow_exception(error);
  }

  job<> works(int depth, surroundings in) {
    for (unsigned n = 1 + dice_(3); n != 0 && left_ != 0; --n) {
      --left_;
      bool const goes_on = dice_(2) != 0;
      bool was_cancelled = false;
      try {
        if (depth != 0 && dice_(2) != 0)
          co_await goes_deeper(depth - 1, in);
        else
          co_await does_one(in);
      } catch (cancelled const&) {
        was_cancelled = true;
      } catch (failed const&) {
        if (!goes_on) throw;
      } catch (exceptions const&) {
        if (!goes_on) throw;
      }
      if (!was_cancelled) continue;
      instant const t = co_await shielded(now);
      if (in.cancelled_at() <= t) throw cancelled();  // else it came from inside
    }
  }
  job<> does_one(surroundings const& in) {
    gate& g = gates_[dice_(2)];
    auto const long_enough = some(90);
    switch (dice_(in.is_shielded ? 8 : 11)) {
      case 0:
        co_await waits(in, "sleeps", [=] { return timing::sleep_for{long_enough}; });
        break;
      case 1:
        co_await proc::yield{};
        break;
      case 2: {
        instant const until = co_await timing::now{} + long_enough;
        co_await waits(in, "waits at a gate for some time",
                       [&] { return syncing::wait_until{g, g.epoch(), until}; });
        break;
      }
      case 3:
        dice_(2) != 0 ? g.release() : g.release_all();
        break;
      case 4: {
        instant const until = co_await timing::now{} + long_enough;
        co_await waits(in, "waits at an outside gate for some time",
                       [&] { return completions::wait_until{outside_, until}; });
        break;
      }
      case 5: {
        auto [inbox, to] = co_await open<int>();
        instant const until = co_await timing::now{} + long_enough;
        co_await waits(in, "receives for some time",
                       [&, &from = inbox] { return from.receive_until(until); });
        break;
      }
      case 6:
        if (!in.scopes.empty()) {
          group& one = *in.scopes[dice_(static_cast<unsigned>(in.scopes.size()))];
          instant const t = co_await timing::now{};
          one.cancelled_at = std::min(one.cancelled_at, t);
          one.cancel();
        }
        break;
      case 7:
        if (dice_(4) == 0) throw failed();
        break;
      case 8:
        co_await waits(in, "waits at a gate", [&] { return syncing::wait{g}; });
        break;
      case 9: {
        auto [inbox, to] = co_await open<int>();
        co_await waits(in, "receives", [&from = inbox] { return from.receive(); });
        break;
      }
      default: {
        auto [inbox, to] = co_await open<int>({.capacity = 1});
        (void)co_await to.send(1);
        co_await waits(in, "sends to a full port", [&there = to] { return there.send(2); });
      }
    }
  }
  job<> goes_deeper(int depth, surroundings const& in) {
    switch (dice_(with_handlers_ ? 7 : 6)) {
      case 0:
      case 1:
        co_await with_scope([&](auto& s) { return in_a_scope(s, depth, in, instant::max()); });
        break;
      case 2: {
        auto const timeout = some(40);
        instant const until = co_await timing::now{} + timeout;
        co_await with_scope({.timeout = timeout},
                            [&](auto& s) { return in_a_scope(s, depth, in, until); });
        break;
      }
      case 3:
        co_await with_scope(
            [&](auto& s) { return with_handles(s, depth, in, task_handle<int>()); });
        break;
      case 4: {
        auto const join = std::make_shared<group>();
        surroundings const inside = in.inside(join);
        co_await when_all(in_group(join, works(depth, inside)),
                          in_group(join, works(depth, inside)));
        break;
      }
      case 5:
        co_await shielded([&] { return works(depth, in.shielded()); });
        break;
      default: {
        surroundings inside = in;
        inside.has_handlers = true;
        int n = 0;
        co_await handle<state<int>>(
            clauses([&](state<int>::get) { return n; }, [&](state<int>::put p) { n = p.value; }),
            works(depth, inside));
      }
    }
  }
  template <class Scope>
  static std::shared_ptr<group> group_of(Scope& s, instant until) {
    auto g = std::make_shared<group>();
    g->cancelled_at = until;
    g->cancel = [&s] { s.cancel(); };
    return g;
  }
  template <class Scope>
  job<> in_a_scope(Scope& s, int depth, surroundings in, instant until) {
    auto const g = group_of(s, until);
    surroundings const inside = in.inside(g);
    for (unsigned n = dice_(4); n != 0; --n)
      s.start([this, g, inside, depth] { return in_group(g, works(depth, inside)); });
    if (dice_(2) != 0) co_await in_group(g, works(depth, inside));
  }
  template <class Scope>
  job<> with_handles(Scope& s, int depth, surroundings in, task_handle<int> h) {
    auto const g = group_of(s, instant::max());
    surroundings const inside = in.inside(g);
    // An exception of that task goes to the process that waits for it: the scope continues.
    s.start(h, [this, inside, depth]() -> job<int> {
      co_await works(depth, inside);
      co_return 1;
    });
    co_await in_group(g, waits_for_handle(inside, h));
  }
  job<> waits_for_handle(surroundings in, task_handle<int>& h) {
    co_await works(1, in);
    co_await waits(in, "waits for a task", [&]() -> job<> { (void)co_await h; });
  }

  dice dice_;
  bool with_handlers_;
  int left_ = 60;
  int waits_ = 0;
  std::size_t cancelled_ = 0;
  std::string log_;
  std::string wrong_;
  std::array<gate, 2> gates_{};
  external_event outside_;
};

template <class Backend>
void run_on(random_program& p, unsigned seed) {
  if constexpr (configurable_backend<Backend>)
    schedule<Backend>({.seed = seed, .forkable = false, .virtual_time = true},
                      [&] { return p.run(); });
  else
    schedule<Backend>({.forkable = false, .virtual_time = true}, [&] { return p.run(); });
}

}  // namespace

TEST_CASE(
    "a cancellation that queries the scope only has the same effect as one that queries all") {
  every_frame_dies const check;
  std::size_t cancelled = 0;
  seeds const some(2'000);
  some.for_each([&](unsigned seed) {
    INFO("seed " << seed);
    random_program narrow(seed, true);
    random_program wide(seed, true);
    run_on<asks_some>(narrow, seed);
    run_on<asks_all>(wide, seed);
    if (narrow.log() != wide.log()) CHECK(narrow.log() == wide.log());
    if (!narrow.wrong().empty()) FAIL(narrow.wrong());
    cancelled += narrow.cancelled_while_waiting();
  });
  if (!some.only_some()) CHECK(cancelled > 0);
}

TEMPLATE_TEST_CASE("a wait in a scope that is cancelled ends at that instant", "", one_thread,
                   random_order) {
  every_frame_dies const check;
  std::size_t cancelled = 0;
  seeds const some(4'000);
  some.for_each([&](unsigned seed) {
    INFO("seed " << seed);
    random_program p(seed, seed % 2 != 0);
    run_on<TestType>(p, seed);
    if (!p.wrong().empty()) FAIL(p.wrong());
    cancelled += p.cancelled_while_waiting();
  });
  if (!some.only_some()) CHECK(cancelled > 0);
}
