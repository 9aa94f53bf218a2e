// SPDX-License-Identifier: MIT

/// The fairness that sched/backends/stealing.hpp states: its workers, driven from one thread.

#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>

#include "sched/backends/stealing.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/stealing_workers.hpp"
#include "tests/support/thunks.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

using workers = stealing_workers;

constexpr std::uint64_t wanted = 1'000'000;
constexpr std::uint64_t also_wanted = 2'000'000;
constexpr std::uint64_t busy = 1;  // others are 0

/// The steps of a worker up to the one of `wanted`, others being busy: they start new ones, or
/// yield.  Those that are not busy are no more after a step.
template <class Busy>
unsigned steps_until_wanted(workers& w, unsigned at, unsigned most, Busy goes_on) {
  for (unsigned taken = 1; taken != most; ++taken) {
    std::uint64_t const n = w.take(at);
    if (n == wanted) return taken;
    if (n == busy) goes_on();
  }
  return most;
}

}  // namespace

TEST_CASE("what is in a deque behind others has its turn within the bound, whatever is put on it") {
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
  CHECK(taken > bound - 320);  // it is no less
}

TEST_CASE(
    "what has yielded behind others has its turn within the bound, whatever is in the deque") {
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

TEST_CASE("what is in the global queue behind others has its turn within the bound") {
  every_frame_dies const check;
  auto const k = GENERATE(0u, 1u, 5u, 40u);
  auto const why = GENERATE(put_reason::started, put_reason::yielded);  // who keeps the worker busy
  workers w(1);
  w.put(0, busy, why);
  w.put_outside(0, k);
  w.put_outside(wanted);
  unsigned const bound = 320 * (k + 1);
  unsigned const taken = steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy, why); });
  CAPTURE(k, taken);
  CHECK(taken == bound);
}

TEST_CASE("who exchanges takes what is in the global queue as soon as who puts and takes") {
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

TEST_CASE("what was taken along from the global queue is behind fewer than 32 in the deque") {
  every_frame_dies const check;
  auto const header = GENERATE(1u, 2u, 16u, 32u);  // in the batch, the first being 0
  workers w({.threads = 1, .batch = 1000});
  w.put_outside(busy);
  w.put_outside(0, header - 1);
  w.put_outside(wanted);
  w.put_outside(0, 64 - header);
  unsigned const bound = 320 * 32;
  unsigned const taken = steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy); });
  CAPTURE(header, taken);
  CHECK(taken <= bound);
}

TEST_CASE(
    "what is taken from the global queue in its turn brings nothing along into a full deque") {
  every_frame_dies const check;
  workers w(1);
  w.put(0, 0, put_reason::started, 1000);
  w.put(0, busy);
  w.put_outside(0);
  w.put_outside(wanted);
  unsigned const bound = 320 * 2;
  CHECK(steps_until_wanted(w, 0, 2 * bound, [&] { w.put(0, busy); }) == bound);
}

TEST_CASE("what is ready at a thread that is stuck is got by any other one within the bound") {
  every_frame_dies const check;
  auto const n = GENERATE(2u, 3u, 5u);
  auto const k = GENERATE(0u, 1u, 5u, 20u);
  auto const other = GENERATE(1u, 0u);  // the index decides whom it visits first
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

TEST_CASE("who steals looks at all others, and has a step of each") {
  every_frame_dies const check;
  workers w(5);
  for (unsigned i = 0; i != 4; ++i) w.put(i, i + 10);
  std::uint64_t sum = 0;
  for (unsigned i = 0; i != 4; ++i) sum += w.take(4);
  CHECK(sum == 10 + 11 + 12 + 13);
  CHECK(w.backend().counts(4).stolen == 4);
}
