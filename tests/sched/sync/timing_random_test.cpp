// SPDX-License-Identifier: MIT

/// Random programs that sleep, and wait with a deadline for one another and for external events.
/// Every process continues, whichever event is first; or one fails, and all unwind.

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/dice.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

using children = spawning<proc, syncing, completions, timing>;
using program = eff<void, children, proc, syncing, completions, timing>;

constexpr unsigned processes = 6;

struct world {
  std::array<gate, 3> gates;
  counter alive = 0;
  counter steps = 0;
  counter wrong = 0;
  unsigned seed = 0;
  bool somebody_fails = false;
};

eff<void, timing> looks_at_the_clock(world& w, instant& last) {
  instant const now = co_await timing::now{};
  if (now < last) ++w.wrong;
  last = now;
}
/// A child may complete c, drop it, or complete it too late.
program completes(completer<int> c, instant::duration time, int n, lives) {
  co_await timing::sleep_for(time);
  if (n % 3 != 0) c.complete(n);
}
program waits_for_a_child(world& w, instant deadline, instant::duration time, int n) {
  completer<int> c;
  auto result = c.get_completion();
  co_await spawn(completes, std::move(c), time, n, lives(w.alive));
  try {
    auto got = co_await result.wait_until(deadline);
    if (!got && n % 2 == 0) got = co_await result.wait();
    if (got && *got != n) ++w.wrong;
  } catch (completion_dropped const&) {
    if (n % 3 != 0 && !w.somebody_fails) ++w.wrong;  // else the child may have been unwound
  }
}
program acts(std::reference_wrapper<world> to, unsigned me, lives) {
  world& w = to;
  dice random(1000 * w.seed + me);
  instant last = co_await timing::now{};
  for (int i = 0; i != 15; ++i) {
    ++w.steps;
    gate& g = w.gates[random(3)];
    auto const time = random(20) * 1us;
    switch (random(8)) {
      case 0:
        co_await timing::sleep_for(time);
        break;
      case 1:
      case 2: {
        auto const seen = g.epoch();
        (void)co_await syncing::wait_until(g, seen, last + time);
        break;
      }
      case 3:
        g.release();
        break;
      case 4:
        co_await syncing::wake(g, random(3));
        break;
      case 5:
        co_await waits_for_a_child(w, last + time, random(20) * 1us, i);
        break;
      case 6:
        g.release_all();
        co_await proc::yield{};
        break;
      default:
        co_await timing::sleep_until(last + time);
    }
    co_await looks_at_the_clock(w, last);
    if (w.somebody_fails && me == w.seed % processes && i == static_cast<int>(w.seed / 7 % 15))
      throw std::runtime_error("as asked");
  }
}

}  // namespace

BACKENDS_TEST_CASE(
    "every process that waits with a deadline continues, or is unwound when one fails", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  for (bool const is_virtual : {false, true})
    seeds(static_cast<unsigned>(rounds(chosen.threads == 1 ? 500 : 200)))
        .for_each([chosen, is_virtual](unsigned seed) {
          every_frame_dies const check;
          world w;
          w.seed = seed;
          w.somebody_fails = seed % 3 == 0;
          auto how = options();
          how.virtual_time = is_virtual;
          std::string thrown;
          try {
            run_on(chosen, how, [&w]() -> program {
              for (unsigned i = 0; i != processes; ++i)
                co_await spawn(acts, std::ref(w), i, lives(w.alive));
            });
          } catch (std::exception const& e) {
            thrown = e.what();
          }
          std::size_t waiting = 0;
          for (gate const& g : w.gates) waiting += g.waiting();
          bool const right =
              w.somebody_fails ? thrown == "as asked" : thrown.empty() && w.steps == 15 * processes;
          if (!right || w.alive != 0 || w.wrong != 0 || waiting != 0)
            FAIL("seed " << seed << ": " << thrown << ", " << w.alive << " alive, " << w.wrong
                         << " wrong, " << waiting << " waiting");
        });
}
