// SPDX-License-Identifier: MIT

/// What does a call cost a computation?  Recursive fibonacci does nothing but call.  ns a call.
///
///   eff         It performs nothing.  The rival is the same recursion in a plain function, the
///               cheapest call that there is.  The compiler may know neither result: else it turns
///               one of the two calls into a loop.
///   deep row/n  It may perform n effects, whose handlers stand around it.  In the rival it may
///               perform one.
///   throw/10    An exception that passes ten frames, recorded (effects/async_stack.hpp).  In the
///               rival it is not.
///
/// A call in weft creates a frame, so that the callee can be suspended: the first ratio is the
/// price of that.  Frames share their evidence, so the other ratios should be 1, however long the
/// row.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "bench/harness.hpp"
#include "weft/effects/async_stack.hpp"
#include "weft/effects/effects.hpp"

namespace {

using weft::eff;
using weft::handle;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::run;
using weft::bench::launder;

/// A step computes fibonacci(argument).
constexpr unsigned argument = 15;
constexpr std::size_t calls_of(unsigned n) {
  return n < 2 ? 1 : 1 + calls_of(n - 1) + calls_of(n - 2);
}

template <class... Effects>
eff<std::uint64_t, Effects...> fibonacci(unsigned n) {
  if (n < 2) co_return n;
  std::uint64_t const a = co_await fibonacci<Effects...>(n - 1);
  std::uint64_t const b = co_await fibonacci<Effects...>(n - 2);
  co_return a + b;
}

template <class... Effects>
eff<std::uint64_t, Effects...> fibonaccis(std::size_t steps) {
  std::uint64_t answer = 0;
  for (std::size_t i = 0; i != steps; ++i) {
    std::uint64_t const f = co_await fibonacci<Effects...>(argument);
    answer = answer * 31 + f;
  }
  co_return answer;
}

weft::bench::work effectful() {
  return [](std::size_t steps) { return run(fibonaccis<>(steps)); };
}

// ---- rows

template <int>
struct idle {
  struct nothing : op<void> {};
  using operations = op_list<nothing>;
};
template <int I>
struct idling : handler<idle<I>> {
  void on(typename idle<I>::nothing) const {}
};

template <int... I>
weft::bench::work under(std::integer_sequence<int, I...>) {
  return [](std::size_t steps) {
    return run(handle((idling<I>() | ...), fibonaccis<idle<I>...>(steps)));
  };
}
template <int Effects>
weft::bench::work with_row_of() {
  return under(std::make_integer_sequence<int, Effects>());
}

// ---- plain

[[gnu::noinline]] std::uint64_t plain_fibonacci(unsigned n) {
  if (n < 2) return n;
  std::uint64_t const a = launder(plain_fibonacci(n - 1));
  std::uint64_t const b = launder(plain_fibonacci(n - 2));
  return a + b;
}

weft::bench::work plain() {
  return [f = launder(&plain_fibonacci)](std::size_t steps) {
    std::uint64_t answer = 0;
    for (std::size_t i = 0; i != steps; ++i) answer = answer * 31 + f(argument);
    return answer;
  };
}

// ---- exceptions

eff<void> throws_below(unsigned frames) {
  if (frames == 0) throw frames;
  co_await throws_below(frames - 1);
}
weft::bench::work throwing(bool is_recorded) {
  return [is_recorded](std::size_t steps) {
    weft::record_async_stacks(is_recorded);
    std::uint64_t caught = 0;
    for (std::size_t i = 0; i != steps; ++i) try {
        run(throws_below(10));
      } catch (unsigned n) {
        caught = caught * 31 + n + i;
      }
    weft::record_async_stacks(false);
    return caught;
  };
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("call", argc, argv);
  constexpr std::size_t calls = calls_of(argument);
  bench.compare("eff", effectful, "plain", plain, calls);
  bench.compare("deep row/2", with_row_of<2>, "row of 1", with_row_of<1>, calls);
  bench.compare("deep row/6", with_row_of<6>, "row of 1", with_row_of<1>, calls);
  bench.compare(
      "throw/10", [] { return throwing(true); }, "not recorded", [] { return throwing(false); });
  return bench.run();
}
