// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The fairness that sched/backends/sharing.hpp states: its workers, driven from one thread.

/// All workers of a backend.
class workers {
 public:
  explicit workers(unsigned n) : backend_({.threads = n}) {
    for (unsigned i = 0; i != n; ++i)
      all_.push_back(std::make_unique<sharing::worker>(backend_, i));
  }
  sharing::worker& operator[](unsigned i) { return *all_[i]; }

  void put(unsigned at, std::uint64_t n, unsigned times = 1) {
    for (unsigned i = 0; i != times; ++i)
      (*this)[at].put(numbered<sharing>(n), put_reason::started);
  }
  /// Takes a process that is ready somewhere, and drops it.
  std::uint64_t take(unsigned at) {
    return (*this)[at].take(instant::max(), quiescence_test()).answer();
  }
  /// Takes one, and lets it yield.
  std::uint64_t take_and_yield(unsigned at) {
    thunk t = (*this)[at].take(instant::max(), quiescence_test());
    std::uint64_t const n = t.answer();
    (*this)[at].put(std::move(t), put_reason::yielded);
    return n;
  }

 private:
  sharing backend_;
  std::vector<std::unique_ptr<sharing::worker>> all_;
};

TEST_CASE("a sharing backend with one thread is first in, first out, however long it runs") {
  every_frame_dies const check;
  workers w(1);
  for (std::uint64_t i = 0; i != 10; ++i) w.put(0, i);
  int wrong = 0;
  for (std::uint64_t step = 0; step != 2000; ++step) wrong += w.take_and_yield(0) != step % 10;
  thunk t = w[0].take(instant::max(), quiescence_test());
  for (std::uint64_t step = 0; step != 2000; ++step) {
    wrong += t.answer() != step % 10;
    if (w[0].can_exchange()) {
      t = w[0].exchange(std::move(t));
    } else {
      w[0].put(std::move(t), put_reason::yielded);
      t = w[0].take(instant::max(), quiescence_test());
    }
  }
  CHECK(wrong == 0);
}

constexpr std::uint64_t wanted = 1'000'000;

TEST_CASE(
    "a process behind others at a stuck thread is taken by any other thread within the bound") {
  every_frame_dies const check;
  auto const n = GENERATE(2u, 3u, 5u);
  auto const k = GENERATE(0u, 1u, 5u, 40u);
  auto const other = GENERATE(1u, 0u);  // the index decides which queue it visits first
  unsigned const stuck = other == 0 ? n - 1 : 0;
  workers w(n);
  w.put(stuck, 0, k);
  w.put(stuck, wanted);
  w.put(other, 1, 100);  // so many that it takes one at a time
  unsigned const bound = 256 * (n - 1) * (k + 1);
  unsigned taken = 1;
  while (taken <= bound && w.take_and_yield(other) != wanted) ++taken;
  CAPTURE(n, k, taken);
  CHECK(taken <= bound);
  if (n == 2) CHECK(taken == bound);  // the bound is tight
}

TEST_CASE("a thread that exchanges visits the others as often as a thread that puts and takes") {
  every_frame_dies const check;
  workers w(2);
  w.put(1, wanted);
  w.put(0, 1, 10);
  unsigned taken = 1;
  thunk t = w[0].take(instant::max(), quiescence_test());
  for (; t.answer() != wanted && taken != 1000; ++taken) {
    if (w[0].can_exchange()) {
      t = w[0].exchange(std::move(t));
    } else {
      w[0].put(std::move(t), put_reason::yielded);
      t = w[0].take(instant::max(), quiescence_test());
    }
  }
  CHECK(taken == 256);
}

TEST_CASE(
    "a thread with an empty queue takes half from the front, 256 at most, and keeps their order") {
  every_frame_dies const check;
  auto const there = GENERATE(1u, 2u, 3u, 10u, 64u, 1000u);
  workers w(2);
  for (std::uint64_t i = 0; i != there; ++i) w.put(0, i);
  unsigned const share = there == 1 ? 1 : std::min(there / 2, 256u);
  int wrong = 0;
  std::uint64_t next_of_0 = share;
  for (std::uint64_t i = 0; i != share; ++i) {
    wrong += w.take(1) != i;
    if (next_of_0 != there) wrong += w.take(0) != next_of_0++;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a process in a queue that receives others gets 31 of them in front of it, once") {
  every_frame_dies const check;
  workers w(2);
  w.put(1, 1);
  for (int i = 0; i != 255; ++i) (void)w.take_and_yield(1);
  w.put(1, wanted);  // behind one other process
  w.put(0, 0, 1000);
  unsigned before = 0;  // the first of those 32 is taken at once
  while (w.take_and_yield(1) != wanted) ++before;
  CHECK(before == 1 + 31 + 1);
  before = 0;
  while (w.take_and_yield(1) != wanted) ++before;
  CHECK(before == 33);  // no more have come
}

TEST_CASE("a process that moved to a thread is not overtaken there by processes that move later") {
  every_frame_dies const check;
  workers w(3);
  // Thread 2 is due to visit another queue when its own becomes empty.
  w.put(2, 1);
  for (int i = 0; i != 254; ++i) (void)w.take_and_yield(2);
  (void)w.take(2);
  w.put(0, 0, 31);
  w.put(0, wanted);
  w.put(0, 0, 100);
  w.put(1, 0, 200);
  // 31 from one, 31 from the other and itself; more if it came behind both.
  unsigned taken = 1;
  while (w.take(2) != wanted && taken != 100) ++taken;
  CHECK(taken <= 64);
}

TEST_CASE("a thread with an empty queue visits all others in turn, even if one always has work") {
  every_frame_dies const check;
  auto const other = GENERATE(0u, 1u, 2u);
  workers w(3);
  w.put((other + 2) % 3, wanted);
  unsigned taken = 1;
  for (;; ++taken) {
    w.put((other + 1) % 3, 0);
    if (w.take(other) == wanted || taken == 10) break;
  }
  CHECK(taken <= 2);
}
