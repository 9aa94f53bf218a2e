// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/operator_new.hpp"

/// Searches that resume bitwise, with each allocation failing in turn: a search throws
/// std::bad_alloc or nothing, and loses no frame, handler or block.

namespace {

constexpr long unlimited = -1;
long allocations_left = unlimited;

}  // namespace

bool weft::tests::admit(allocation const&) noexcept {
  return allocations_left == unlimited || allocations_left-- != 0;
}

namespace {

int handlers = 0;
struct counted {
  counted() { ++handlers; }
  counted(counted const&) { ++handlers; }
  counted& operator=(counted const&) = delete;
  ~counted() { --handlers; }
};

struct keeper : region, counted {
  std::deque<multi_resumption<int, int>> waiting;
  resumption<void, int> once;
  int on(pick::one, multi_resumption<int, int> k) {
    waiting.push_back(std::move(k));
    return 0;
  }
  int on(tick::now, resumption<void, int> k) {
    once = std::move(k);
    return 0;
  }
};
struct adds_up : counted {
  eff<int> on(pick::one, multi_resumption<int, int> k) {
    int const zero = co_await k(0);
    int const one = co_await k(1);
    co_return zero + one;
  }
};

eff<int, pick> picks(int more) {
  int n = co_await pick::one{};
  if (more > 0) n += co_await picks(more - 1);
  co_return n;
}
eff<int, pick, state<int>> picks_and_puts() {
  int const a = co_await picks(1);
  co_await state<int>::put{a};
  int const b = co_await pick::one{};
  int const s = co_await state<int>::get{};
  co_return 10 * a + b + s;
}
eff<int, pick> with_state() {
  int const a = co_await pick::one{};
  int const b = co_await handle(state_of(3), picks_and_puts);
  co_return a + b;
}
eff<int, pick, tick> with_ticks() {
  int const a = co_await pick::one{};
  if (a == 1) co_await tick::now{};
  int const b = co_await picks(2);
  co_return 10 * a + b;
}

int depth_first() { return run(handle<pick>(adds_up(), with_state, bitwise())); }
int breadth_first() {
  int sum = 0;
  keeper h;
  run(handle<pick, tick>(h, with_ticks, bitwise()));
  for (bool drop = true; !h.waiting.empty(); drop = !drop) {
    auto const k = std::move(h.waiting.front());
    h.waiting.pop_front();
    for (int i = 0; i != 2; ++i) {
      sum += resume(k, i);
      if (!h.once) continue;
      if (drop)
        h.once = {};
      else
        sum += resume(std::move(h.once));
    }
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "if any one allocation fails, nothing is lost and the next search gives the same result") {
  auto const search = GENERATE(depth_first, breadth_first);
  int const expected = search();
  auto const alive = detail::frames_so_far().alive();
  for (long until = 0;; ++until) {
    CAPTURE(until);
    bool ran_out = false;
    int found = expected;
    allocations_left = until;
    try {
      found = search();
    } catch (std::bad_alloc const&) {
      ran_out = true;
    }
    bool const enough = allocations_left >= 0;
    allocations_left = unlimited;
    REQUIRE(detail::frames_so_far().alive() == alive);
    REQUIRE(handlers == 0);
    REQUIRE(found == expected);
    if (enough) {
      CHECK_FALSE(ran_out);
      break;
    }
  }
  CHECK(search() == expected);
}
