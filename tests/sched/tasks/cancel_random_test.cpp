// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/processes.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/running.hpp"
#include "tests/support/random_programs/world.hpp"

/// Random programs in scopes that are cancelled: by one another, by failures, at deadlines.

BACKENDS_TEST_CASE("a wait in a scope that is cancelled ends at that instant", "", on_one_thread,
                   in_random_order) {
  std::size_t cancelled = 0;
  seeds const some(4'000);
  check_law(some, dialect_of_cancellations(), [&](program_of_acts const& p, unsigned) {
    shared_world w(p);
    w.is_timed = true;
    try {
      run_on(chosen, virtual_time(), w);
    } catch (std::exception const&) {
    }
    cancelled += w.cancelled_while_waiting;
    return w.too_early_or_late;
  });
  if (!some.only_some()) CHECK(cancelled > 0);
}

// Where one thread runs all processes, a cancellation queries the processes in the scope only
// (sched/tasks/detail/task_cancelling.hpp); elsewhere it queries all waiting processes
// (sched/runtime/detail/wait_registry.hpp).

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

/// Everything that the processes do, and when.
template <class Backend>
std::string seen_on(program_of_acts const& p, unsigned seed) {
  shared_world w(p);
  w.is_timed = true;
  typename scheduler<Backend>::options how;
  how.virtual_time = true;
  how.seed = seed;
  std::string thrown;
  try {
    schedule<Backend>(
        how, [&w] { return starts_all(w); }, synchronized(console_to_string(w.out)),
        synchronized(counts_up(w.asked)));
  } catch (std::exception const& e) {
    thrown = e.what();
  }
  return text(w) + thrown;
}

TEST_CASE(
    "a cancellation that queries the scope only has the same effect as one that queries all") {
  dialect d = dialect_of_cancellations();
  // If several tasks have handles, it depends on the way of asking which of them begin.
  std::erase_if(d.always,
                [](act a) { return a == act::starts_with_handle || a == act::awaits_all; });
  d.accepts = [](program_of_acts const& p) {
    return !p.has(
        [](statement const& s) { return s.what == act::awaits_each && s.parts.size() != 1; });
  };
  check_law(seeds(2'000), d, [](program_of_acts const& p, unsigned seed) {
    auto const narrow = seen_on<asks_some>(p, seed);
    auto const wide = seen_on<asks_all>(p, seed);
    return narrow == wide ? "" : narrow + "\nand\n" + wide;
  });
}
