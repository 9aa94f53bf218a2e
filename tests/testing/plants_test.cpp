// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Thirty mistakes, each planted in a copy of something that processes share, are found by
/// check_schedules without an option, in programs drawn at random; and the copies without a mistake
/// pass.

namespace {

using works = eff<void, syncing>;
using script = std::vector<unsigned>;

/// A variable whose accesses are operations.
template <class T = int>
struct cell {
  T value{};
  eff<T, syncing> get() {
    co_await syncing::touch(this, false);
    co_return value;
  }
  works set(T to) {
    co_await syncing::touch(this, true);
    value = to;
  }
};

/// A mutex.
template <int plant>
class lock_of {
 public:
  works lock() {
    for (;;) {
      co_await syncing::touch(&freed_, true);
      auto const seen = freed_.epoch();
      if (!is_taken_) {
        if constexpr (plant == 1) co_await syncing::touch(&is_taken_, true);  // looks, then takes
        is_taken_ = true;
        co_return;
      }
      if constexpr (plant == 2)
        co_await syncing::wait(freed_);  // an unlock in between is lost
      else
        co_await syncing::wait(freed_, seen);
      if constexpr (plant == 3) {  // does not look again
        is_taken_ = true;
        co_return;
      }
    }
  }
  works unlock() {
    if constexpr (plant == 4) co_await syncing::wake(freed_);  // wakes too early
    co_await syncing::touch(&freed_, true);
    is_taken_ = false;
    if constexpr (plant != 4 && plant != 5) co_await syncing::wake(freed_);  // 5: wakes nobody
  }

 private:
  bool is_taken_ = false;
  gate freed_;
};
template <int plant>
struct locking {
  static constexpr int plants = 5;
  lock_of<plant> lock;
  int inside = 0;
  bool is_right = true;

  works does(unsigned, unsigned) {
    co_await lock.lock();
    is_right &= ++inside == 1;
    co_await syncing::touch(&inside, true);
    --inside;
    co_await lock.unlock();
  }
  [[nodiscard]] bool holds() const { return is_right; }
};

/// Permits.
template <int plant>
struct permitting {
  static constexpr int plants = 4;
  int left = plant == 1 ? 3 : 2;  // 1: one too many
  gate freed;
  int inside = 0;
  bool is_right = true;

  works acquire() {
    for (;;) {
      co_await syncing::touch(&freed, true);
      auto const seen = freed.epoch();
      int const n = left;
      if (n != 0) {
        if constexpr (plant == 2) co_await syncing::touch(&left, true);  // what n was may be old
        left = n - 1;
        co_return;
      }
      co_await syncing::wait(freed, seen);
    }
  }
  works release() {
    co_await syncing::touch(&freed, true);
    ++left;
    if (plant == 3 && left != 1) co_return;  // those that wait for the second one sleep on
    if constexpr (plant != 4) co_await syncing::wake(freed);  // 4: wakes nobody
  }
  works does(unsigned, unsigned) {
    co_await acquire();
    is_right &= ++inside <= 2;
    co_await syncing::touch(&inside, true);
    --inside;
    co_await release();
  }
  [[nodiscard]] bool holds() const { return is_right && left == 2; }
};

/// A bounded queue.
template <int plant>
struct queueing {
  static constexpr int plants = 6;
  mutex m;
  condition not_full, not_empty;
  std::deque<unsigned> all;
  std::size_t most = 0;
  unsigned put = 0, got = 0;

  works puts(unsigned n) {
    auto held = co_await m.lock();
    if constexpr (plant == 1) {  // looks once
      if (!all.empty()) co_await not_full.wait(held);
    } else {
      while (all.size() > (plant == 2 ? 1 : 0)) co_await not_full.wait(held);  // 2: one too many
    }
    if constexpr (plant == 3) held.unlock();  // the queue is changed without the lock
    co_await syncing::touch(&all, true);
    all.push_back(n);
    most = std::max(most, all.size());
    put += n;
    if constexpr (plant == 4)
      not_full.notify_one();  // the wrong one
    else
      not_empty.notify_one();
  }
  works gets() {
    auto held = co_await m.lock();
    while (all.empty()) co_await not_empty.wait(held);
    unsigned const n = all.front();
    if constexpr (plant == 5) {  // what was read may be read by another one
      held.unlock();
      held = co_await m.lock();
      if (all.empty()) co_return;
    }
    all.pop_front();
    got += n;
    if constexpr (plant != 6) not_full.notify_one();  // 6: tells nobody
  }
  /// Two processes put, and two get.
  works does(unsigned process, unsigned n) { return process < 2 ? puts(n + 1) : gets(); }
  [[nodiscard]] bool holds() const { return most <= 1 && put == got; }
};

/// Readers and writers.
template <int plant>
struct reading {
  static constexpr int plants = 4;
  mutex m;
  condition changed;
  int readers = 0, writers = 0;
  bool is_right = true;

  works reads() {
    {
      auto held = co_await m.lock();
      while (writers != 0) co_await changed.wait(held);
      ++readers;
    }
    co_await syncing::touch(&is_right, false);
    is_right &= writers == 0;
    if constexpr (plant == 1) {  // two readers leave at once, and one is not seen
      int const n = readers;
      co_await syncing::touch(&readers, true);
      readers = n - 1;
      changed.notify_all();
      co_return;
    }
    auto const held = co_await m.lock();
    --readers;
    if constexpr (plant != 2) changed.notify_all();  // 2: writers sleep on
  }
  works writes() {
    {
      auto held = co_await m.lock();
      while (writers != 0 || (plant != 3 && readers != 0))  // 3: does not wait for readers
        co_await changed.wait(held);
      ++writers;
    }
    co_await syncing::touch(&is_right, true);
    is_right &= writers == 1 && readers == 0;
    auto const held = co_await m.lock();
    --writers;
    if constexpr (plant != 4) changed.notify_all();  // 4: all others sleep on
  }
  works does(unsigned, unsigned n) { return n % 2 == 0 ? reads() : writes(); }
  [[nodiscard]] bool holds() const { return is_right && readers == 0 && writers == 0; }
};

/// A barrier of two, which is used again and again.
template <int plant>
struct meeting {
  static constexpr int plants = 3;
  static constexpr unsigned processes = 2;
  int arrived = 0, round = 0;
  gate over;

  works meets() {
    co_await syncing::touch(&over, true);
    auto const seen = over.epoch();
    int const mine = round;
    int const n = arrived + 1;
    if constexpr (plant == 1) co_await syncing::touch(&arrived, true);  // n may be old
    arrived = n;
    if (arrived == 2) {
      arrived = 0;
      if constexpr (plant != 2) ++round;  // 2: the others do not see that it is over
      if constexpr (plant != 3) over.release_all();
      co_return;  // 3: wakes nobody
    }
    for (auto at = seen; round == mine; at = over.epoch()) co_await syncing::wait(over, at);
  }
  works does(unsigned, unsigned) { return meets(); }
  [[nodiscard]] bool holds() const { return arrived == 0; }
};

/// A value that is made once, by the first one that needs it.
template <int plant>
struct making {
  static constexpr int plants = 3;
  mutex m;
  cell<bool> is_made;
  cell<> value;
  int made = 0;
  bool is_right = true;

  works makes() {
    ++made;
    if constexpr (plant == 1) co_await is_made.set(true);  // says so too early
    co_await value.set(7);
    if constexpr (plant != 1) co_await is_made.set(true);
  }
  works does(unsigned, unsigned) {
    bool const was_made = co_await is_made.get();
    if (!was_made) {
      if constexpr (plant == 2) {  // without a lock
        co_await makes();
      } else {
        auto const held = co_await m.lock();
        bool const is_there = co_await is_made.get();
        if (!is_there || plant == 3) co_await makes();  // 3: as if it had not looked again
      }
    }
    int const v = co_await value.get();
    is_right &= v == 7;
  }
  [[nodiscard]] bool holds() const { return is_right && made <= 1; }
};

/// A sum.
template <int plant>
struct counting {
  static constexpr int plants = 2;
  cell<> number;
  shared<int> sum{0};
  int added = 0, last = 0;

  works does(unsigned, unsigned n) {
    int const by = static_cast<int>(n) + 1;
    added += by;
    if constexpr (plant == 1) {  // reads, then writes
      int const before = co_await number.get();
      co_await number.set(last = before + by);
    } else if constexpr (plant == 2) {  // the same
      int const before = co_await sum.get();
      last = before + by;
      co_await sum.set(before + by);
    } else {
      last = co_await sum.update([by](int& v) { return v += by; });
    }
  }
  [[nodiscard]] bool holds() const { return plant == 1 ? number.value == added : last == added; }
};

/// A flag that one process raises and others wait for.
template <int plant>
struct flagging {
  static constexpr int plants = 3;
  cell<bool> flag;
  gate raised;

  works does(unsigned, unsigned n) {
    if (n == 0) {
      if constexpr (plant == 1) raised.release_all();  // too early
      co_await flag.set(true);
      if constexpr (plant == 2) co_await syncing::wake(raised);  // wakes one of those that wait
      if constexpr (plant != 1 && plant != 2) raised.release_all();
    } else {
      for (;;) {
        co_await syncing::touch(&raised, true);
        auto const seen = raised.epoch();
        if (flag.value) co_return;
        if constexpr (plant == 3)
          co_await syncing::wait(raised);
        else
          co_await syncing::wait(raised, seen);
      }
    }
  }
  [[nodiscard]] bool holds() const { return true; }
};

// ---- programs drawn at random

template <class Copy>
constexpr unsigned processes_of = 4;
template <class Copy>
  requires requires { Copy::processes; }
constexpr unsigned processes_of<Copy> = Copy::processes;

/// The numbers that each of some processes passes to Copy::does().
template <class Copy>
struct drawn_program {
  std::vector<script> all;

  explicit drawn_program(unsigned seed) {
    std::minstd_rand draw(seed);
    auto const below = [&](unsigned n) { return static_cast<unsigned>(draw() / 7 % n); };
    unsigned const acts = 1 + below(2);
    for (unsigned process = 0; process != processes_of<Copy>; ++process) {
      script s;
      for (unsigned i = 0; i != acts; ++i) s.push_back(all.empty() && i == 0 ? 0 : below(4));
      all.push_back(s);
    }
  }
  static works runs(Copy& c, unsigned process, script s) {
    for (unsigned const n : s) co_await c.does(process, n);
  }
  [[nodiscard]] exploration checked(std::chrono::nanoseconds time) const {
    return check_schedules(
        {.time = time}, [] { return std::make_unique<Copy>(); },
        [this](std::unique_ptr<Copy>& c) -> eff<void, spawning<syncing>> {
          for (unsigned p = 0; p != all.size(); ++p) co_await spawn(runs, std::ref(*c), p, all[p]);
        },
        [](std::unique_ptr<Copy>& c) { return c->holds(); });
  }
};
constexpr unsigned programs = 8;

/// How many programs it took to find the mistake; 0 if none does.
template <class Copy>
unsigned found_after() {
  for (unsigned seed = 1; seed <= programs; ++seed)
    if (!drawn_program<Copy>(seed).checked(1min).ok()) return seed;
  return 0;
}
template <template <int> class Shared, int... plants>
int number_found(std::integer_sequence<int, plants...>) {
  unsigned const after[] = {found_after<Shared<plants + 1>>()...};
  for (std::size_t i = 0; i != std::size(after); ++i) {
    INFO("plant " << i + 1);
    CHECK(after[i] != 0);
  }
  return static_cast<int>(std::ranges::count_if(after, [](unsigned n) { return n != 0; }));
}
template <template <int> class Shared>
int found_in() {
  for (unsigned seed = 1; seed <= programs; ++seed) {
    auto const found = drawn_program<Shared<0>>(seed).checked(20ms);
    INFO(found.report());
    CHECK(found.ok());
  }
  return number_found<Shared>(std::make_integer_sequence<int, Shared<0>::plants>());
}

}  // namespace

TEST_CASE("thirty planted mistakes are found, and nothing is found where there is none") {
  every_frame_dies const here;
  int const found = found_in<locking>() + found_in<permitting>() + found_in<queueing>() +
                    found_in<reading>() + found_in<meeting>() + found_in<making>() +
                    found_in<counting>() + found_in<flagging>();
  CHECK(found == 30);
}
