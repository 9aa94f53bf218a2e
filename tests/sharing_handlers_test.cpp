// SPDX-License-Identifier: MIT

/// Forks, and handlers inside processes, where what is suspended on one thread goes on on another.

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/picks.hpp"
#include "tests/support/threads.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

/// What processes found, on whatever thread.
class findings {
 public:
  void add(std::string s) {
    std::lock_guard const lock(mutex_);
    all_.push_back(std::move(s));
  }
  /// In the order of the alphabet.
  [[nodiscard]] std::vector<std::string> all() const {
    auto sorted = all_;
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

std::vector<std::string> numbers(int n) {
  std::vector<std::string> all;
  for (int i = 0; i != n; ++i) all.push_back(std::to_string(i));
  std::ranges::sort(all);
  return all;
}

struct ask_text {
  struct get : op<std::string> {};
  using operations = op_list<get>;
};

eff<void, proc> yields(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}

/// Steps of a sum that lies in a handler inside the process.
eff<int, state<int>, proc> sums(int n) {
  for (int i = 1; i <= n; ++i) {
    int const so_far = co_await state<int>::get{};
    co_await proc::yield{};
    co_await state<int>::put{so_far + i};
  }
  co_return co_await state<int>::get{};
}

}  // namespace

// ---- forks

TEMPLATE_TEST_CASE("a tree of forks has every leaf once, each with its own answers", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  for (int round = 0; round != rounds(20); ++round) {
    every_frame_dies const check;
    findings leaves;
    fork_on<TestType>([&leaves]() -> eff<void, proc> {
      std::string const name = "a name that is on the heap";
      int n = 0;
      for (int i = 0; i != 7; ++i) {
        bool const bit = co_await proc::fork{};
        n = 2 * n + bit;
        if (i % 2 == 0) co_await proc::yield{};
      }
      leaves.add(name.substr(0, 0) + std::to_string(n));
    });
    CHECK(leaves.all() == numbers(128));
  }
}

TEST_CASE("the two that come of a fork run at once, on two threads") {
  every_frame_dies const check;
  counter here = 0;
  findings threads;
  schedule<sharing>({.threads = 2}, [&]() -> eff<void, proc> {
    co_await proc::fork{};
    ++here;
    until([&here] { return here == 2; });  // in ordinary code: who waits keeps its thread
    std::ostringstream text;
    text << std::this_thread::get_id();
    threads.add(text.str());
  });
  auto const all = threads.all();
  REQUIRE(all.size() == 2);
  CHECK(all[0] != all[1]);
}

TEMPLATE_TEST_CASE("forks inside a handler inside: each process has its own handler", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  for (int round = 0; round != rounds(20); ++round) {
    every_frame_dies const check;
    findings found;
    fork_on<TestType>([&found]() -> eff<void, proc> {
      auto const body = []() -> eff<int, state<int>, proc> {
        for (int i = 0; i != 5; ++i) {
          bool const bit = co_await proc::fork{};
          int const so_far = co_await state<int>::get{};
          co_await state<int>::put{2 * so_far + bit};
          co_await proc::yield{};
        }
        co_return co_await state<int>::get{};
      };
      int const n = co_await handle<state<int>>(state_of(0), body);
      found.add(std::to_string(n));
    });
    CHECK(found.all() == numbers(32));
  }
}

TEMPLATE_TEST_CASE("a process that is run again on another thread gets its old answers", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  struct dice {
    int n = 0;
    std::string on(ask_text::get) { return "answer number " + std::to_string(++n); }
  };
  findings found;
  fork_on<TestType>(
      [&found]() -> eff<void, proc, ask_text> {
        std::string all;
        for (int i = 0; i != 6; ++i) {
          std::string const answer = co_await ask_text::get{};
          all += answer.back();
        }
        for (int i = 0; i != 4; ++i) {
          co_await proc::fork{};
          co_await proc::yield{};
        }
        found.add(all);
      },
      synchronized(dice()));
  CHECK(found.all() == std::vector<std::string>(16, "123456"));
}

TEMPLATE_TEST_CASE("a fork tree in which some fail ends, and everything is unwound", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  counter alive = 0;
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counter failed = 0;
    auto const p = [&]() -> eff<void, proc> {
      lives const here(alive);
      int n = 0;
      for (int i = 0; i != 6; ++i) {
        bool const bit = co_await proc::fork{};
        n = 2 * n + bit;
      }
      co_await proc::yield{};
      if (n % 9 == 4) {
        ++failed;
        throw std::runtime_error("a leaf failed");
      }
      co_await yields(3);
    };
    std::size_t thrown = 0;
    try {
      fork_on<TestType>(p);
    } catch (exceptions const& e) {
      thrown = e.all.size();
    } catch (std::runtime_error const& e) {
      thrown = std::string(e.what()) == "a leaf failed";
    }
    CHECK(thrown == static_cast<std::size_t>(failed.load()));
    CHECK(failed > 0);
    CHECK(alive == 0);
  }
}

TEMPLATE_TEST_CASE("forkable children fork as well, beside others that cannot", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  findings found;
  run_on<TestType>([&found]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 16; ++i) {
      co_await spawn(yields, i);
      co_await spawn(forkable, [&found, i]() -> eff<void, proc> {
        bool const first = co_await proc::fork{};
        bool const second = co_await proc::fork{};
        found.add(std::to_string(4 * i + 2 * first + second));
      });
    }
  });
  CHECK(found.all() == numbers(64));
}

// ---- handlers inside

TEMPLATE_TEST_CASE("state of a handler inside a process goes with it from thread to thread", "",
                   alone, shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  counter right = 0;
  run_on<TestType>([&right]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 50; ++i)
      co_await spawn(
          [](counter& ok, int n) -> eff<void, proc> {
            int const sum = co_await handle<state<int>>(state_of(0), sums(n));
            ok += sum == n * (n + 1) / 2;
          },
          std::ref(right), 10 * i);
  });
  CHECK(right == 50);
}

TEMPLATE_TEST_CASE("a search by replay inside a process, which yields on the way, finds all", "",
                   alone, shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  findings found;
  run_on<TestType>([&found]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 8; ++i)
      co_await spawn(
          [](findings& to, int k) -> eff<void, proc> {
            auto const body = []() -> eff<int, pick, proc> {
              int const a = co_await pick::one{};
              co_await proc::yield{};
              int const b = co_await pick::one{};
              co_await proc::yield{};
              int const c = co_await pick::one{};
              co_return 9 * a + 3 * b + c;
            };
            auto const all = co_await handle<pick>(tries_picks<>{3}, body);
            bool right = all.size() == 27;
            for (std::size_t n = 0; right && n != all.size(); ++n)
              right = all[n] == static_cast<int>(n);
            to.add(right ? std::to_string(k) : "wrong");
          },
          std::ref(found), i);
  });
  CHECK(found.all() == numbers(8));
}

TEMPLATE_TEST_CASE("a resumption that a region inside a process keeps is resumed on any thread", "",
                   alone, shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  counter right = 0;
  run_on<TestType>([&right]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 50; ++i)
      co_await spawn(
          [](counter& ok, int n) -> eff<void, proc> {
            keeps kept;
            auto const body = [](int k) -> eff<int, ask, proc> {
              co_await proc::yield{};
              int const first = co_await ask::get{};
              co_await yields(k % 5);
              int const second = co_await ask::get{};
              co_return 10 * first + second;
            };
            int const waits = co_await handle<ask>(kept, body(n));
            co_await yields(3);
            int const waits_again = co_await std::move(kept.k)(4);
            co_await yields(2);
            int const result = co_await std::move(kept.k)(2);
            ok += waits == -1 && waits_again == -1 && result == 42;
          },
          std::ref(right), i);
  });
  CHECK(right == 50);
}

TEMPLATE_TEST_CASE("what a region keeps at the end of its process is unwound there", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  counter alive = 0;
  counter unwound = 0;
  run_on<TestType>([&]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 50; ++i)
      co_await spawn(
          [](counter& n, counter& gone) -> eff<void, proc> {
            {
              parks kept;
              auto const body = [](lives) -> eff<void, tick, proc> {
                co_await proc::yield{};
                co_await tick::now{};
              };
              co_await handle<tick>(kept, body(lives(n)));
              co_await yields(3);
            }
            ++gone;
          },
          std::ref(alive), std::ref(unwound));
  });
  CHECK(unwound == 50);
  CHECK(alive == 0);
}

TEMPLATE_TEST_CASE("a process is cancelled inside its handlers, which end with it", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  for (int round = 0; round != rounds(50); ++round) {
    every_frame_dies const check;
    counter begun = 0;
    counter found = 0;
    auto const p = [&]() -> eff<void, spawning<proc>, proc> {
      for (int i = 0; i != 8; ++i)
        co_await spawn(
            [](counter& b, counter& f) -> eff<void, proc> {
              auto const body = [&b]() -> eff<int, state<int>, proc> {
                ++b;
                for (;;) {
                  int const n = co_await state<int>::get{};
                  co_await state<int>::put{n + 1};
                  co_await proc::yield{};
                }
              };
              try {
                co_await handle<state<int>>(state_of(0), body);
              } catch (cancelled const&) {
                ++f;
                throw;
              }
            },
            std::ref(begun), std::ref(found));
      while (begun != 8) co_await proc::yield{};
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on<TestType>(p), "as asked");
    CHECK(found == 8);
  }
}

TEMPLATE_TEST_CASE("what a clause inside throws passes through its process only", "", alone,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  every_frame_dies const check;
  struct refuses {
    int on(ask::get) const { throw std::runtime_error("no"); }
  };
  counter caught = 0;
  run_on<TestType>([&caught]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 100; ++i)
      co_await spawn(
          [](counter& n) -> eff<void, proc> {
            auto const body = []() -> eff<int, ask, proc> {
              co_await proc::yield{};
              co_return co_await ask::get{};
            };
            try {
              co_await handle<ask>(refuses(), body);
            } catch (std::runtime_error const&) {
              ++n;
            }
            co_await proc::yield{};
          },
          std::ref(caught));
  });
  CHECK(caught == 100);
}

// ---- what is copied stays

TEST_CASE("a process that yields inside a body that is resumed bitwise is told to stay") {
  every_frame_dies const check;
  counter refused = 0;
  std::string what;
  auto const p = [&]() -> eff<void, proc> {
    auto const body = []() -> eff<int, pick, proc> {
      int const first = co_await pick::one{};
      co_await proc::yield{};
      co_return first;
    };
    try {
      co_await handle<pick>(tries_picks<>{2}, body, bitwise());
    } catch (frames_in_use const& e) {
      ++refused;
      what = e.what();
    }
    co_await proc::yield{};
  };
  for (unsigned const threads : {1U, 2U, 8U})
    schedule<sharing>({.threads = threads, .forkable = false}, p);
  CHECK(refused == 3);
  CHECK_THAT(what, Catch::Matchers::Contains("weft::proc::yield at tests/sharing_handlers_test") &&
                       Catch::Matchers::Contains("its frames must stay on theirs"));
  // Without the yield each runs where it is.
  findings found;
  schedule<sharing>(
      {.threads = 8, .forkable = false}, [&found]() -> eff<void, spawning<proc>, proc> {
        for (int i = 0; i != 16; ++i)
          co_await spawn(
              [](findings& to) -> eff<void, proc> {
                co_await proc::yield{};
                auto const body = []() -> eff<int, pick> {
                  int const a = co_await pick::one{};
                  int const b = co_await pick::one{};
                  co_return 2 * a + b;
                };
                auto const all = co_await handle<pick>(tries_picks<>{2}, body, bitwise());
                co_await proc::yield{};
                to.add(all == std::vector{0, 1, 2, 3} ? "right" : "wrong");
              },
              std::ref(found));
      });
  CHECK(found.all() == std::vector<std::string>(16, "right"));
}
