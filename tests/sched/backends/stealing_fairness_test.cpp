// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/stealing_workers.hpp"

/// The fairness that sched/backends/stealing.hpp states: its workers, driven from one thread.

using workers = stealing_workers;
constexpr std::uint64_t wanted = 1'000'000;
constexpr std::uint64_t busy = 1;  // all others are 0

/// The number of steps until `wanted` runs, while busy processes start new ones, or yield.  A
/// process that is not busy ends after a step.
template <class Busy>
unsigned steps_until_wanted(workers& w, unsigned at, unsigned most, Busy goes_on) {
  for (unsigned taken = 1; taken != most; ++taken) {
    std::uint64_t const n = w.take(at);
    if (n == wanted) return taken;
    if (n == busy) goes_on();
  }
  return most;
}

TEST_CASE(
    "a process behind others in a deque has its turn within the bound, whatever is pushed on it") {
  every_frame_dies const check;
  auto const k = GENERATE(0u, 1u, 5u, 40u);
  workers w(1);
  w.put(0, 0, put_reason::started, k);
  w.put(0, wanted);
  w.put(0, busy);
  unsigned const bound = 320 * (k + 1);
  unsigned const taken = steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy); });
  CAPTURE(k, taken);
  CHECK(taken <= bound);
  CHECK(taken > bound - 320);  // the bound is tight
}

TEST_CASE("a process that yielded behind others has its turn within the bound, with any deque") {
  every_frame_dies const check;
  auto const k = GENERATE(0u, 1u, 5u, 40u);
  workers w(1);
  w.put(0, 0, put_reason::yielded, k);
  w.put(0, wanted, put_reason::yielded);
  w.put(0, busy);
  unsigned const bound = 320 * (k + 1);
  unsigned const taken = steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy); });
  CAPTURE(k, taken);
  CHECK(taken <= bound);
  CHECK(taken > bound - 320);
}

TEST_CASE("a process behind others in the global queue has its turn within the bound") {
  every_frame_dies const check;
  auto const k = GENERATE(0u, 1u, 5u, 40u);
  // How the processes that keep the worker busy are put.
  auto const why = GENERATE(put_reason::started, put_reason::yielded);
  workers w(1);
  w.put(0, busy, why);
  w.put_outside(0, k);
  w.put_outside(wanted);
  unsigned const bound = 320 * (k + 1);
  unsigned const taken = steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy, why); });
  CAPTURE(k, taken);
  CHECK(taken == bound);
}

TEST_CASE(
    "a worker that exchanges takes from the global queue as soon as one that puts and takes") {
  every_frame_dies const check;
  auto const k = GENERATE(0u, 1u, 5u);
  auto const yielding = GENERATE(1u, 2u, 10u);
  workers w(1);
  w.put(0, busy, put_reason::yielded, yielding);
  w.put_outside(0, k);
  w.put_outside(wanted);
  unsigned taken = 1;
  thunk t = w[0].take(instant::max(), quiescence_test());
  for (; t.answer() != wanted && taken != 10'000; ++taken) {
    if (t.answer() == busy && w[0].can_exchange()) {
      t = w[0].exchange(std::move(t));
    } else {
      if (t.answer() == busy) w[0].put(std::move(t), put_reason::yielded);
      t = w[0].take(instant::max(), quiescence_test());
    }
  }
  CHECK(taken == 320 * (k + 1));
}

TEST_CASE("a process taken along from the global queue is behind fewer than 32 in the deque") {
  every_frame_dies const check;
  auto const position = GENERATE(1u, 2u, 16u, 32u);  // in the batch; the first is 0
  workers w({.threads = 1, .batch = 1000});
  w.put_outside(busy);
  w.put_outside(0, position - 1);
  w.put_outside(wanted);
  w.put_outside(0, 64 - position);
  unsigned const bound = 320 * 32;
  unsigned const taken = steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy); });
  CAPTURE(position, taken);
  CHECK(taken <= bound);
}

TEST_CASE("a turn of the global queue takes no batch along into a full deque") {
  every_frame_dies const check;
  workers w(1);
  w.put(0, 0, put_reason::started, 1000);
  w.put(0, busy);
  w.put_outside(0);
  w.put_outside(wanted);
  unsigned const bound = 320 * 2;
  CHECK(steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy); }) == bound);
}

constexpr std::uint64_t also_wanted = 2'000'000;

TEST_CASE("a process that is ready at a stuck thread is taken by any other within the bound") {
  every_frame_dies const check;
  auto const n = GENERATE(2u, 3u, 5u);
  auto const k = GENERATE(0u, 1u, 5u, 20u);
  auto const other = GENERATE(1u, 0u);  // the index decides which worker it visits first
  auto const why = GENERATE(put_reason::started, put_reason::yielded);
  unsigned const stuck = other == 0 ? n - 1 : 0;
  workers w(n);
  w.put(stuck, 0, put_reason::started, k);
  w.put(stuck, wanted);
  w.put(stuck, 0, put_reason::yielded, k);
  w.put(stuck, also_wanted, put_reason::yielded);
  w.put(other, busy, why, 2);
  unsigned const bound = 960 * (n - 1) * (k + 1);
  unsigned taken = 0;
  unsigned first = 0;
  unsigned second = 0;
  while (taken != 2 * bound && (first == 0 || second == 0)) {
    ++taken;
    std::uint64_t const got = w.take(other);
    if (got == wanted) first = taken;
    if (got == also_wanted) second = taken;
    if (got == busy) w.put(other, busy, why);
  }
  CAPTURE(n, k, other, first, second);
  CHECK(first != 0);
  CHECK(second != 0);
  CHECK(taken <= bound);
  CHECK(taken > bound - 960 * (n - 1));
}

TEST_CASE("a thief looks at all other workers, and takes a step of each one's processes") {
  every_frame_dies const check;
  workers w(5);
  for (unsigned i = 0; i != 4; ++i) w.put(i, i + 10);
  std::uint64_t sum = 0;
  for (unsigned i = 0; i != 4; ++i) sum += w.take(4);
  CHECK(sum == 10 + 11 + 12 + 13);
  CHECK(w.backend().counts(4).stolen == 4);
}
