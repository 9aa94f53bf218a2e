// SPDX-License-Identifier: MIT
#include <any>

#include "tests/prelude.hpp"
#include "tests/support/law_programs.hpp"
#include "tests/support/small_stack.hpp"

using weft::tests::printed_by;
using program = eff<void, proc, console>;

TEST_CASE("a program that never forks runs to its end") {
  auto const p = []() -> program {
    co_await console::print{"a"};
    co_await proc::yield{};
    co_await console::print{"b"};
  };
  CHECK(printed_by(p) == "ab");
}

using weft::tests::nested_forks;

TEST_CASE("processes take turns, the longest waiting first") {
  CHECK(printed_by(nested_forks) == "a b d f c d f e f ");
}

using weft::tests::copies_its_locals;

TEST_CASE("both processes of a fork run what follows it, with copies of its locals") {
  CHECK(printed_by(copies_its_locals) == "1 10 ");
}

/// Counts the objects that are alive.
struct witness {
  static inline int alive = 0;
  witness() { ++alive; }
  witness(witness const&) { ++alive; }
  ~witness() { --alive; }
};

program fork_in_a_callee() {
  co_await console::print{"once "};
  co_await []() -> program {
    witness w;
    co_await proc::fork{};
  }();
  co_await console::print{"twice "};
}

TEST_CASE("a replay does not print again, and returns from the calls that the process was in") {
  CHECK(printed_by(fork_in_a_callee) == "once twice twice ");
  CHECK(witness::alive == 0);
}

using weft::tests::says_bits;

TEST_CASE("n forks in a row make 2 to the n processes, each with its own answers") {
  auto const text = printed_by([] { return says_bits(4); });
  CHECK(text == "1111 1110 1101 1100 1011 1010 1001 1000 0111 0110 0101 0100 0011 0010 0001 0000 ");
}

struct dice {  // an effect of these tests
  struct roll : op<int> {};
  using operations = op_list<roll>;
};
struct counting {
  int rolls = 0;
  int on(dice::roll) { return ++rolls; }
};

TEST_CASE("a process that is run again gets the old answers of the handlers outside") {
  counting rolls;
  auto const text = printed_by(
      []() -> eff<void, proc, console, dice> {
        int const before = co_await dice::roll{};
        co_await proc::fork{};
        int const after = co_await dice::roll{};
        co_await console::print{std::to_string(before) + std::to_string(after) + " "};
      },
      rolls);
  CHECK(text == "12 13 ");
  CHECK(rolls.rolls == 3);
}

TEST_CASE("exit ends the process there, however deep in calls, and destroys its frames") {
  auto const p = []() -> program {
    witness outer;
    co_await []() -> program {
      witness inner;
      co_await console::print{"before"};
      co_await proc::exit{};
    }();
    co_await console::print{"after"};
  };
  CHECK(printed_by(p) == "before");
  CHECK(witness::alive == 0);
}

program throws_after(int yields) {
  witness w;
  for (int i = 0; i != yields; ++i) co_await proc::yield{};
  throw std::runtime_error("the process failed");
}

program yields_for_ever() {
  witness w;
  for (;;) co_await proc::yield{};
}

TEST_CASE("an exception of a process ends the schedule, and the other processes are unwound") {
  auto const p = []() -> program {
    co_await fork([]() -> program { co_await throws_after(3); }, yields_for_ever);
  };
  CHECK_THROWS_WITH(printed_by(p), "the process failed");
  CHECK(witness::alive == 0);
}

TEST_CASE("an exception passes through calls, and may be caught there") {
  auto const p = []() -> program {
    std::string what;
    try {
      co_await throws_after(2);
    } catch (std::runtime_error const& e) {
      what = e.what();
    }
    co_await console::print{what};
  };
  CHECK(printed_by(p) == "the process failed");
}

TEST_CASE("an exception of a handler arises at the operation, in a replay too") {
  std::ostringstream closed;
  closed.setstate(std::ios::failbit);
  int caught = 0;
  schedule(
      [&caught]() -> program {
        try {
          co_await console::print{"x"};
        } catch (std::runtime_error const&) {
          ++caught;
        }
        co_await proc::fork{};
      },
      console_to_stream(closed));
  CHECK(caught == 2);  // once at first, once when the process was run again
}

TEST_CASE(
    "a program that performs other operations when it is run again throws replay_divergence") {
  using Catch::Matchers::Contains;
  int runs = 0;
  bool caught = false;
  auto const unsteady = [&runs, &caught]() -> program {
    bool const again = ++runs > 1;
    try {
      if (again) co_await proc::yield{};
      co_await console::print{"x"};
    } catch (...) {
      caught = true;
    }
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(printed_by(unsteady),
                    Contains("proc::yield at tests/sched/runtime/schedule_test.cpp:") &&
                        Contains("console::print at tests/sched/runtime/schedule_test.cpp:"));
  CHECK_FALSE(caught);  // the program cannot catch it

  runs = 0;
  auto const impatient = [&runs]() -> program {
    bool const again = ++runs > 1;
    if (again) co_return;
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(printed_by(impatient), Contains("ended") && Contains("proc::fork at"));

  runs = 0;
  auto const failing = [&runs]() -> program {
    if (++runs > 1) throw std::runtime_error("the second run failed");
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(printed_by(failing), "the second run failed");
}

TEST_CASE("an eff is awaited once, whichever object holds it") {
  auto const twice = []() -> program {
    auto child = []() -> program { co_await proc::yield{}; }();
    co_await std::move(child);
    co_await std::move(child);  // NOLINT: on purpose
  };
  CHECK_THROWS_AS(printed_by(twice), eff_empty);

  auto stored = [](bool& first) -> program { first = co_await proc::fork{}; };
  bool first = false;
  auto once = stored(first);
  std::string text;
  CHECK_THROWS_AS(schedule([&once] { return std::move(once); }, console_to_string(text)),
                  eff_empty);  // the second run
}

TEST_CASE("an eff that was assigned from is empty, and the one assigned to is dropped") {
  auto const before = detail::frames_so_far();
  auto const p = []() -> program {
    auto target = []() -> program { co_await console::print{"dropped"}; }();
    auto source = []() -> program { co_await console::print{"moved"}; }();
    target = std::move(source);
    co_await std::move(target);
    co_await std::move(source);  // NOLINT: on purpose
  };
  std::string text;
  CHECK_THROWS_AS(schedule(p, console_to_string(text)), eff_empty);
  CHECK(text == "moved");
  CHECK(detail::frames_so_far().alive() == before.alive());
}

TEST_CASE("an answer may be of any type that can be copied, even std::any") {
  struct anything {
    struct get : op<std::any> {};
    using operations = op_list<get>;
  };
  struct sevens {
    std::any on(anything::get) { return 7; }
  };
  std::vector<int> got;
  schedule(
      [&got]() -> eff<void, proc, anything> {
        std::any const a = co_await anything::get{};
        co_await proc::fork{};
        got.push_back(std::any_cast<int>(a));
      },
      sevens());
  CHECK(got == std::vector{7, 7});
}

TEST_CASE("an answer whose copy throws is replaced by the exception, in each run") {
  struct fragile {
    fragile() = default;
    fragile(fragile&&) = default;
    fragile(fragile const&) { throw std::runtime_error("the copy failed"); }
  };
  struct glass {
    struct get : op<fragile> {};
    using operations = op_list<get>;
  };
  struct blower {
    fragile on(glass::get) { return {}; }
  };
  std::vector<std::string> caught;
  schedule(
      [&caught]() -> eff<void, proc, glass> {
        std::string what;
        try {
          co_await glass::get{};
        } catch (std::runtime_error const& e) {
          what = e.what();
        }
        co_await proc::fork{};
        caught.push_back(what);
      },
      blower());
  CHECK(caught == std::vector<std::string>(2, "the copy failed"));
}

TEST_CASE("a value clause of an operation that never returns throws") {
  struct failing {
    struct fail : op<never> {};
    using operations = op_list<fail>;
  };
  struct throws {
    [[noreturn]] void on(failing::fail) { throw std::runtime_error("as asked"); }
  };
  struct returns {
    void on(failing::fail) {}
  };
  auto const p = []() -> eff<void, failing> { co_await failing::fail{}; };
  CHECK_THROWS_WITH(schedule(p, throws()), "as asked");
  CHECK_THROWS_AS(schedule(p, returns()), std::logic_error);
}

/// A backend that runs the newest process first.
struct newest_first {
  static constexpr unsigned wakes = 1;
  class worker {
   public:
    worker(newest_first&, unsigned) {}
    void put(thunk t, put_reason) { waiting_.push_back(std::move(t)); }
    thunk take(instant, quiescence_test) {
      if (waiting_.empty()) return thunk::reason::quiescent;
      thunk t = std::move(waiting_.back());
      waiting_.pop_back();
      return t;
    }

   private:
    std::vector<thunk> waiting_;
  };
  void put(thunk, put_reason) {}
  thunk claim(process*) { return thunk::reason::quiescent; }
  void stop() {}
};

TEST_CASE("another backend gives another order") {
  CHECK(printed_by(nested_forks) == "a b d f c d f e f ");
  std::string text;
  schedule<newest_first>(nested_forks, console_to_string(text));
  CHECK(text == "e f a c d f b d f ");
}

TEST_CASE("the result of a computation may be braced, and may be move-only") {
  std::string text;
  schedule([&text]() -> eff<void, proc> {
    auto const pair = co_await []() -> eff<std::pair<int, std::string>> { co_return {1, "one"}; }();
    auto const owned =
        co_await []() -> eff<std::unique_ptr<int>> { co_return std::make_unique<int>(2); }();
    text = pair.second + std::to_string(*owned);
  });
  CHECK(text == "one2");
}

using weft::tests::on_small_stack;

eff<int, proc> deep(int depth) {
  if (depth == 0) {
    co_await proc::yield{};
    co_return 0;
  }
  co_return 1 + co_await deep(depth - 1);
}

TEST_CASE("neither calls, nor yields, nor a deep process that is dropped take native stack") {
  on_small_stack(256 * 1024, [] {
    schedule([]() -> eff<void, proc> {
      for (int i = 0; i != 100'000; ++i) co_await proc::yield{};
      int const depth = co_await deep(100'000);
      if (depth != 100'000) throw std::logic_error("the call lost count");
      co_await proc::fork{};
      co_await []() -> eff<void, proc> {
        for (int i = 0; i != 100'000; ++i) co_await deep(0);
      }();
    });
  });
  on_small_stack(256 * 1024, [] {
    struct give_up : std::exception {};
    auto const program = []() -> eff<void, proc> {
      bool const deeper = co_await proc::fork{};
      if (deeper) {
        int const n = co_await deep(100'000);
        if (n == 0) co_return;
      }
      co_await proc::yield{};
      throw give_up();
    };
    try {
      schedule(program);
    } catch (give_up const&) {
    }
  });
  SUCCEED("the stack was enough");
}

TEST_CASE("a row is a set: order, repetition and names for rows do not matter") {
  using both = row<proc, console>;
  auto const p = []() -> eff<void, both, console> {
    co_await []() -> eff<void, console, proc, proc> {
      co_await proc::yield{};
      co_await console::print{"x"};
    }();
  };
  CHECK(printed_by(p) == "x");
}

TEST_CASE("console prints to a stream as given, and print_line adds the newline") {
  std::ostringstream out;
  schedule(
      []() -> program {
        co_await console::print{"a"};
        co_await console::print_line{"b"};
      },
      console_to_stream(out));
  CHECK(out.str() == "ab\n");
}
