// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/stealing_workers.hpp"

/// The order in which the workers of sched/backends/stealing.hpp run processes: driven from one
/// thread.

using numbers = std::vector<std::uint64_t>;
using workers = stealing_workers;

numbers operator+(numbers a, numbers const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_CASE("processes that are started, woken or handed over on a thread are last in, first out") {
  every_frame_dies const check;
  auto const why = GENERATE(put_reason::started, put_reason::woken, put_reason::handed_over);
  workers w(1);
  w.put_numbers(0, 0, 5, why);
  CHECK(w.take(0, 5) == numbers{4, 3, 2, 1, 0});
}

/// The numbers from `from` to `to`, excluding `to`.
numbers from_to(std::uint64_t from, std::uint64_t to) {
  numbers all(to - from);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST_CASE("processes that yield are first in, first out") {
  every_frame_dies const check;
  workers w(1);
  w.put_numbers(0, 0, 5, put_reason::yielded);
  CHECK(w.take(0, 5) == from_to(0, 5));
}

TEST_CASE("a process that is spawned while 128 are in the deque goes to those that have yielded") {
  every_frame_dies const check;
  workers w(2);
  w.put_numbers(0, 0, 138, put_reason::started);
  // Worker 1 steals half of the ten, the oldest first; worker 0 runs its deque, the newest first.
  CHECK(w.take(1) == 128);
  CHECK(w.take(0, 2) == numbers{127, 126});
  w.put_numbers(0, 200, 202, put_reason::started);
  CHECK(w.take(0, 3) == numbers{201, 200, 125});
  CHECK(w.take(1, 6) == from_to(129, 135));
}

TEST_CASE("with local_order::fifo all processes that are put on a thread are first in, first out") {
  every_frame_dies const check;
  workers w({.threads = 1, .order = local_order::fifo});
  w.put_numbers(0, 0, 2, put_reason::started);
  w.put_numbers(0, 2, 4, put_reason::yielded);
  w.put_numbers(0, 4, 6, put_reason::woken);
  CHECK(w.take(0, 6) == from_to(0, 6));
}

TEST_CASE("processes that are put from outside are first in, first out") {
  every_frame_dies const check;
  auto const batch = GENERATE(0u, 1u, 16u, 1000u);
  workers w({.threads = 1, .batch = batch});
  for (std::uint64_t i = 0; i != 50; ++i) w.put_outside(i);
  CHECK(w.take(0, 50) == from_to(0, 50));
}

TEST_CASE(
    "a worker takes from its deque, its yielded processes, the global queue, then from others") {
  every_frame_dies const check;
  workers w(2);
  w.put(1, 5, put_reason::yielded);
  w.put(1, 6);
  w.put_outside(4);
  w.put(0, 3, put_reason::yielded);
  w.put(0, 2);
  CHECK(w.take(0, 5) == from_to(2, 7));
}

TEST_CASE("a worker takes one process from the global queue, and up to 16 more") {
  every_frame_dies const check;
  workers w(2);
  for (std::uint64_t i = 0; i != 100; ++i) w.put_outside(i);
  CHECK(w.take(0) == 0);
  CHECK(w.take(1) == 17);
  CHECK(w.take(0, 17) == from_to(1, 17) + numbers{34});
}

TEST_CASE("the option batch says how many more processes a worker takes along, at most 32") {
  every_frame_dies const check;
  auto const batch = GENERATE(0u, 1u, 5u, 32u, 33u, 1000u);
  workers w({.threads = 2, .batch = batch});
  for (std::uint64_t i = 0; i != 100; ++i) w.put_outside(i);
  CHECK(w.take(0) == 0);
  CHECK(w.take(1) == 1 + std::min(batch, 32u));
}

TEST_CASE("a worker takes along no more than its share of the global queue") {
  every_frame_dies const check;
  auto const there = GENERATE(1u, 2u, 3u, 4u, 7u, 12u);
  workers w(3);
  for (std::uint64_t i = 0; i != there; ++i) w.put_outside(i);
  std::uint64_t const share = 1 + (there - 1) / 3;
  CHECK(w.take(0) == 0);
  if (share != there) CHECK(w.take(1) == share);
}

TEST_CASE("a worker without work steals the oldest half of a deque, 256 at most") {
  every_frame_dies const check;
  auto const there = GENERATE(1u, 2u, 3u, 10u, 64u, 1000u);
  workers w(2);
  w.put_numbers(0, 0, there, put_reason::woken);
  std::uint64_t const half = std::clamp(there / 2, 1u, 256u);
  CHECK(w.take(1) == 0);
  CHECK(w.backend().counts(1).stolen == half);
  CHECK(w.backend().counts(0).stolen == 0);
  if (half > 1) CHECK(w.take(1) == half - 1);  // in its deque, in their order
  if (half != there) CHECK(w.take(0) == there - 1);
}

TEST_CASE(
    "a worker without work steals half of the yielded processes, 32 at most, in their order") {
  every_frame_dies const check;
  auto const there = GENERATE(1u, 2u, 3u, 10u, 62u, 1000u);
  workers w(2);
  w.put_numbers(0, 0, there, put_reason::yielded);
  unsigned const half = std::clamp(there / 2, 1u, 32u);
  CHECK(w.take(1, half) == from_to(0, half));
  CHECK(w.backend().counts(1).stolen == half);
  if (half != there) CHECK(w.take(0) == half);
}

TEST_CASE("a process that yields alone runs again; beside others it lets them go first") {
  every_frame_dies const check;
  workers w(1);
  w.put(0, 0);
  int wrong = 0;
  for (int i = 0; i != 200; ++i) wrong += w.take_and_yield(0) != 0;
  w.put(0, 1, put_reason::yielded);
  for (std::uint64_t i = 0; i != 200; ++i) wrong += w.take_and_yield(0) != i % 2;
  thunk t = w[0].take(instant::max(), quiescence_test());
  for (std::uint64_t i = 0; i != 200; ++i) {
    wrong += t.answer() != i % 2;
    if (w[0].can_exchange()) {
      t = w[0].exchange(std::move(t));
    } else {
      w[0].put(std::move(t), put_reason::yielded);
      t = w[0].take(instant::max(), quiescence_test());
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a process that yielded alone, and is not taken back at once, wakes a sleeping worker") {
  every_frame_dies const check;
  for (int round = 0; round != 20; ++round) {
    // The last two workers are driven here; the first one sleeps, on a thread of its own.
    stealing b({.threads = 3, .looks = 0});
    stealing::worker here(b, 1);
    stealing::worker other(b, 2);
    std::atomic<std::uint64_t> got = 0;
    std::thread sleeper([&] {
      stealing::worker w(b, 0);
      if (thunk const t = w.take(instant::max(), quiescence_test())) got = t.answer();
    });
    while (here.can_exchange()) std::this_thread::yield();  // as long as no worker sleeps
    other.put(numbered<stealing>(2), put_reason::yielded);
    // `here` comes to look at the oldest process of the others, and takes it: its own is left.
    thunk t = numbered<stealing>(1);
    while (t.answer() != 2 && got == 0) {
      here.put(std::move(t), put_reason::yielded);
      t = here.take(instant::max(), quiescence_test());
    }
    bool const was_told = got != 0 || here.can_exchange();
    if (!was_told) b.stop();
    sleeper.join();
    CHECK(was_told);
    if (was_told) CHECK(got != 0);
  }
}

TEST_CASE("the options looks and spins say how often a worker looks again before it sleeps") {
  every_frame_dies const check;
  auto const looks = GENERATE(0u, ~0U);
  auto const spins = GENERATE(0u, ~0U);
  stealing b({.threads = 2, .spins = spins, .looks = looks});
  stealing::worker here(b, 0);
  std::thread other([&b] {
    stealing::worker w(b, 1);
    (void)w.take(instant::max(), quiescence_test());
  });
  bool has_slept = false;  // then can_exchange() is false
  for (int i = 0; looks == 0 ? !has_slept : i != 1000; ++i) {
    std::this_thread::yield();
    has_slept |= !here.can_exchange();
  }
  here.put(numbered<stealing>(0), put_reason::started);
  other.join();
  auto const counts = b.counts(1);
  CHECK(has_slept == (looks == 0));
  CHECK(counts.run == 1);
  CHECK(counts.stolen == 1);
  CHECK(counts.parked <= (looks == 0 ? 1 : 0));  // it may have found it when it was about to sleep
  CHECK(counts.woken == counts.parked);
}

TEST_CASE("a worker that sleeps until its deadline counts as parked, and not as woken") {
  every_frame_dies const check;
  stealing b({.threads = 1, .looks = 0});
  stealing::worker w(b, 0);
  quiescence_test const never([](void const*) { return false; }, nullptr);
  CHECK(w.take(instant(), never).why_empty() == thunk::reason::deadline);
  CHECK(b.counts(0).parked == 1);
  CHECK(b.counts(0).woken == 0);
  CHECK(b.counts(0).run == 0);
}

TEST_CASE(
    "a worker with 16384 ready processes is crowded after as many spawns, and then not at once") {
  every_frame_dies const check;
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  constexpr unsigned enough = 16'384;
  workers w({.threads = 1, .order = order});
  CHECK_FALSE(w[0].count_spawn());
  w.put(0, 0, put_reason::started, enough);
  unsigned spawns = 2;
  while (!w[0].count_spawn() && spawns != 2 * enough) ++spawns;
  CHECK(spawns == enough);
  CHECK_FALSE(w[0].count_spawn());
}

TEST_CASE("one process does not fill the memory with processes before any of them has run") {
  every_frame_dies const check;
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  workers w({.threads = 1, .order = order});
  unsigned alive = 0;
  unsigned most = 0;
  w.put(0, 1);
  for (unsigned spawned = 0; spawned != 200'000;) {
    thunk t = w[0].take(instant::max(), quiescence_test());
    if (t.answer() == 0) {
      --alive;
      continue;
    }
    while (spawned != 200'000 && !w[0].count_spawn()) {
      w.put(0, 0);
      ++spawned;
      most = std::max(most, ++alive);
    }
    w[0].put(std::move(t), put_reason::yielded);
  }
  CHECK(most < 3 * 16'384);
}
