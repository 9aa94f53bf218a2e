// SPDX-License-Identifier: MIT

/// Does an operation cost more the further out its handler is?  The same program under the same
/// handler, with n handlers of another effect in between; in the rival with one.
///
///   value/n    A get and a put of state, answered by value clauses.  ns a pair.  They find their
///              clauses without a search, so the ratio should be 1.
///   control/n  A clause keeps the resumption, and ordinary code resumes it.  ns a round.  Both
///              walk the handlers in between, so it grows with n: no bar, but look at the
///              difference of the two values, divided by n - 1.  A thousand handlers do not fit in
///              the nearest cache.
///   each/n     Calls stand in between too: here n of them.  A loop pulls the values that the
///              innermost call emits; in the rival there is one call.  ns an element.  The calls
///              are not walked, so the ratio should be 1.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"

namespace {

using weft::eff;
using weft::handle;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::region;
using weft::resumption;
using weft::run;
using weft::state;
using weft::bench::make_work;

/// The effect of the handlers in between.
struct idle {
  struct nothing : op<void> {};
  using operations = op_list<nothing>;
};
struct idling : handler<idle> {
  void on(idle::nothing) const {}
};

// ---- value

/// Pairs a step.  The handlers are installed anew every thousand steps: with ten million pairs the
/// installation of a thousand handlers does not count.
constexpr std::size_t many = 10'000;

using counting = eff<std::uint64_t, state<long>, idle>;

counting count_down() {
  for (std::uint64_t pairs = 0;; ++pairs) {
    long const i = co_await state<long>::get{};
    if (i == 0) co_return pairs;
    co_await state<long>::put{i - 1};
  }
}
counting count_down_under(std::size_t handlers) {
  if (handlers == 0) co_return co_await count_down();
  co_return co_await handle(idling(), count_down_under(handlers - 1));
}

make_work answering_at_once(std::size_t depth) {
  return [=] {
    return [=](std::size_t steps) {
      return run(handle(idling() | weft::state_of(static_cast<long>(steps * many)),
                        count_down_under(depth - 1)));
    };
  };
}

// ---- control

struct pausing {
  struct pause : op<void> {};
  using operations = op_list<pause>;
};
struct parking : region, handler<pausing> {
  resumption<void> parked;
  void on(pausing::pause, resumption<void> rest) { parked = std::move(rest); }
};

using pausing_for_ever = eff<void, pausing, idle>;

pausing_for_ever pause_for_ever(std::uint64_t& rounds) {
  for (;;) {
    co_await pausing::pause{};
    ++rounds;
  }
}
pausing_for_ever pause_under(std::size_t handlers, std::uint64_t& rounds) {
  if (handlers == 0)
    co_await pause_for_ever(rounds);
  else
    co_await handle(idling(), pause_under(handlers - 1, rounds));
}

/// Installed once; it has paused once.
struct paused_program {
  explicit paused_program(std::size_t depth) {
    run(handle(idling() | lot, pause_under(depth - 1, rounds)));
  }
  std::uint64_t rounds = 0;
  parking lot;
};

make_work resuming(std::size_t depth) {
  return [=] {
    return [program = std::make_shared<paused_program>(depth)](std::size_t n) {
      for (std::size_t i = 0; i != n; ++i) resume(std::move(program->lot.parked));
      return program->rounds;
    };
  };
}

// ---- each

using counting_up = eff<void, weft::emit<std::uint64_t>>;

counting_up count_up() {
  for (std::uint64_t i = 1;; ++i) co_await weft::emit<std::uint64_t>::value{i};
}
counting_up count_up_under(std::size_t calls) {
  if (calls == 1)
    co_await count_up();
  else
    co_await count_up_under(calls - 1);
}

make_work pulling(std::size_t depth) {
  return [=] {
    auto const numbers = weft::each(count_up_under, depth);
    return [at = numbers.begin(), sum = std::uint64_t{0}](std::size_t n) mutable {
      for (std::size_t i = 0; i != n; ++i, ++at) sum += *at;
      return sum;
    };
  };
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("depth", argc, argv);
  for (std::size_t const n : {10u, 1000u})
    bench.compare("value/" + std::to_string(n), answering_at_once(n), "depth 1",
                  answering_at_once(1), many);
  for (std::size_t const n : {10u, 1000u})
    bench.compare("control/" + std::to_string(n), resuming(n), "depth 1", resuming(1));
  for (std::size_t const n : {10u, 1000u})
    bench.compare("each/" + std::to_string(n), pulling(n), "depth 1", pulling(1));
  return bench.run();
}
