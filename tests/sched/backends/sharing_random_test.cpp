// SPDX-License-Identifier: MIT

/// Random programs of everything a scheduler does, on several threads: all end, everything is
/// unwound, and every event that a process waited for has happened.

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/frames.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/gate.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

using step = eff<void, proc, syncing, completions>;
using program = eff<void, spawning<proc, syncing, completions>, proc, syncing, completions>;
using dice = std::minstd_rand;

/// State that the processes of a run share with a thread outside.
struct world {
  std::array<gate, 3> gates;
  std::stop_source stop;
  counter alive = 0;
  counter wrong = 0;

  [[nodiscard]] gate& some_gate(dice& d) { return gates[d() % gates.size()]; }
  /// Keeps c for another process or thread to complete.
  void put(completer<int> c) {
    std::lock_guard const lock(mutex_);
    open_.push_back(std::move(c));
  }
  [[nodiscard]] std::optional<completer<int>> take() {
    std::lock_guard const lock(mutex_);
    if (open_.empty()) return std::nullopt;
    std::optional<completer<int>> last = std::move(open_.back());
    open_.pop_back();
    return last;
  }

 private:
  std::mutex mutex_;
  std::vector<completer<int>> open_;
};

eff<void, proc, completions> awaits(world& w) {
  completer<int> source;
  auto result = source.get_completion();
  w.put(std::move(source));
  try {
    int const n = co_await result.wait();
    if (n != 7) ++w.wrong;
  } catch (completion_dropped const&) {
  }
}

eff<void, proc> counts_inside(world& w) {
  auto const body = []() -> eff<int, state<int>, proc> {
    for (int i = 0; i != 3; ++i) {
      int const n = co_await state<int>::get{};
      co_await proc::yield{};
      co_await state<int>::put{n + 1};
    }
    co_return co_await state<int>::get{};
  };
  int const n = co_await handle<state<int>>(state_of(0), body);
  if (n != 3) ++w.wrong;
}

step does_something(std::reference_wrapper<world> in, unsigned seed, lives) {
  world& w = in;
  dice d(seed);
  for (int i = 0; i != 12; ++i) {
    auto const what = d() % 17;
    if (what < 5) {
      co_await proc::yield{};
    } else if (what < 8) {
      co_await syncing::wake{w.some_gate(d), 1 + d() % 3};
    } else if (what < 9) {
      gate& g = w.some_gate(d);
      auto const seen = g.epoch();
      co_await proc::yield{};
      co_await syncing::wait{g, seen};
    } else if (what < 12) {
      co_await awaits(w);
    } else if (what < 13) {
      co_await counts_inside(w);
    } else if (what < 15) {
      auto c = w.take();
      if (c && d() % 4 != 0) c->complete(7);  // else it is dropped
    } else if (what == 15 && d() % 40 == 0) {
      throw std::runtime_error("a process failed");
    } else if (what == 16 && d() % 60 == 0) {
      w.stop.request_stop();
    }
  }
}

struct endings {
  int well = 0;
  int deadlocks = 0;
  int stopped = 0;
  int failed = 0;
};

/// Completes, or drops, the completers that it finds.
void completes_until(std::atomic<bool> const& over, world& w, bool drops) {
  while (!over) {
    auto c = w.take();
    if (!c)
      std::this_thread::yield();
    else if (!drops)
      c->complete(7);
  }
}

template <class Where>
void run_once(unsigned seed, endings& all) {
  every_frame_dies const check;
  world w;
  std::atomic<bool> over = false;
  std::thread outside([&] { completes_until(over, w, seed % 3 == 0); });
  auto const p = [&w, seed]() -> program {
    unsigned mine = 20 * seed;
    for (unsigned i = 0; i != seed % 3; ++i) {
      bool const first = co_await proc::fork{};
      mine += first ? 0 : 10;
    }
    for (unsigned i = 0; i != 10; ++i)
      co_await spawn(does_something, std::ref(w), mine + i, lives(w.alive));
    for (std::size_t i = 0; i != 5; ++i) {
      co_await proc::yield{};
      co_await syncing::wake{w.gates[i % 3], 2};
    }
  };
  try {
    run_on<Where>(Where::how(true, w.stop.get_token()), p);
    ++all.well;
  } catch (deadlock const&) {
    ++all.deadlocks;
  } catch (cancelled const&) {
    ++all.stopped;
  } catch (std::runtime_error const&) {
    ++all.failed;
  }
  over = true;
  outside.join();
  if (w.alive != 0 || w.wrong != 0)
    FAIL("WEFT_SEED=" << seed << ": " << w.alive << " alive, " << w.wrong << " wrong");
}

}  // namespace

TEMPLATE_TEST_CASE("random programs end, whatever they do, and leave nothing", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<3>, on_sharing<4>) {
  endings all;
  seeds const tried(static_cast<unsigned>(rounds(3000)));
  tried.for_each([&all](unsigned seed) { run_once<TestType>(seed, all); });
  if (tried.only_some()) return;
  CHECK(all.well > 0);
  CHECK(all.deadlocks > 0);
  CHECK(all.stopped > 0);
  CHECK(all.failed > 0);
}
