// SPDX-License-Identifier: MIT

/// `schedule` prints the output of the scheduler in Effekt that docs/14_the_queue_that_remembers.md
/// shows.  There a fork puts two thunks into the queue, the one that resumes with true first, and
/// neither continues at once; nor does a process that yields; an exit puts no thunk; and the
/// longest-waiting process runs next.
///
/// Each program stands here three times: in Effekt, by hand with weft, and as data.  Its output is
/// derived by hand, and equals that of both and of the model (tests/support/effekt_model.hpp).
/// Then random programs are run under weft and by the model.

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <variant>

#include "tests/support/effekt_model.hpp"
#include "tests/support/effekt_random.hpp"
#include "tests/support/frames.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using namespace weft;
using namespace weft::tests::effekt;

namespace {

// ---- programs as data, under weft

struct own;        // the label of a variable that each process has for itself
struct failed {};  // the failure that fails{} performs
using own_state = tagged<own, state<int>>;
using walking = eff<void, proc, console, state<int>, own_state, failure<failed>>;

eff<int, state<int>, own_state> read(variable v, int const& local) {
  if (v == variable::outside) co_return co_await state<int>::get{};
  if (v == variable::handled) co_return co_await in<own>(state<int>::get{});
  co_return local;
}
eff<void, state<int>, own_state> write(variable v, int n, int& local) {
  if (v == variable::outside)
    co_await state<int>::put{n};
  else if (v == variable::handled)
    co_await in<own>(state<int>::put{n});
  else
    local = n;
}

walking walk(block const& b, int& local);

walking step(prints const& s, int&) { co_await console::print_line{s.text}; }
walking step(yields const&, int&) { co_await proc::yield{}; }
walking step(exits const&, int&) { co_await proc::exit{}; }
walking step(forks const& s, int& local) {
  auto const first = [&] { return walk(s.first, local); };
  auto const second = [&] { return walk(s.second, local); };
  co_await fork(first, second);
}
walking step(prints_which const& s, int&) {
  bool const first = co_await proc::fork{};
  co_await console::print_line{first ? s.first : s.second};
}
walking step(sets const& s, int& local) { co_await write(s.v, s.n, local); }
walking step(adds const& s, int& local) {
  int const n = co_await read(s.v, local);
  co_await write(s.v, n + s.n, local);
}
walking step(copies const& s, int& local) {
  int const n = co_await read(s.from, local);
  co_await write(s.to, n, local);
}
walking step(shows const& s, int& local) {
  int const n = co_await read(s.v, local);
  co_await console::print_line{std::to_string(n)};
}
walking step(repeats const& s, int& local) {
  for (int i = 0; i != s.times; ++i) co_await walk(s.body, local);
}
walking step(calls const& s, int& local) { co_await walk(s.body, local); }
walking step(declares const& s, int&) {
  int local = 0;
  co_await handle<own_state>(state_of(0), walk(s.body, local));
}
walking step(attempts const& s, int& local) {
  bool const done =
      co_await handle<failure<failed>>(failure_to_optional<failed>(), walk(s.body, local));
  if (!done) co_await walk(s.otherwise, local);
}
walking step(fails const&, int&) { co_await failure<failed>::fail{failed()}; }

walking walk(block const& b, int& local) {
  for (statement const& s : b)
    co_await std::visit([&](auto const& is) { return step(is, local); }, s);
}

eff<void, proc, console, state<int>> whole(block const& program) {
  int local = 0;
  co_await handle<own_state>(
      state_of(0), handle<failure<failed>>(failure_to_optional<failed>(), walk(program, local)));
}

// ---- their output

template <class Program>
output under_weft(Program program) {
  tests::every_frame_dies const check;
  output seen;
  schedule(program, console_to_string(seen.printed), state_in(seen.outside));
  return seen;
}
output under_weft(block const& program) {
  return under_weft([&program] { return whole(program); });
}

void check_same(output const& seen, output const& expected) {
  CHECK(seen.printed == expected.printed);
  CHECK(seen.outside == expected.outside);
}
template <class Program>
void all_show(output const& expected, Program by_hand, block const& as_data) {
  check_same(under_weft(by_hand), expected);
  check_same(under_weft(as_data), expected);
  check_same(model::run(as_data), expected);
}

using program = eff<void, proc, console>;
using program_and_variable = eff<void, proc, console, state<int>>;

program say(char const* text) { co_await console::print_line{text}; }
program say(int n) { co_await console::print_line{std::to_string(n)}; }

program yields_between(char const* before, char const* after) {
  co_await say(before);
  co_await proc::yield{};
  co_await say(after);
}
eff<int, proc, console> flip() {
  co_await say("flipped");
  bool const first = co_await proc::fork{};
  co_await proc::yield{};
  co_return first ? 1 : 10;
}

constexpr variable x = variable::outside;
constexpr variable y = variable::handled;
constexpr variable z = variable::local;

}  // namespace

// scheduler {
//   fork {
//     println("hello 1"); do yield(); println(1); do yield(); println(2); do exit(); println(3)
//   } {
//     println("hello 2"); do yield(); println(4); do yield(); println(5); do yield(); println(6)
//   }
// }
TEST_CASE("the first program: two processes take turns until one exits") {
  auto const first = []() -> program {
    co_await say("hello 1");
    co_await proc::yield{};
    co_await say(1);
    co_await proc::yield{};
    co_await say(2);
    co_await proc::exit{};
    co_await say(3);
  };
  auto const second = []() -> program {
    co_await say("hello 2");
    co_await proc::yield{};
    co_await say(4);
    co_await proc::yield{};
    co_await say(5);
    co_await proc::yield{};
    co_await say(6);
  };
  block const as_data{forks{
      {prints{"hello 1"}, yields{}, prints{"1"}, yields{}, prints{"2"}, exits{}, prints{"3"}},
      {prints{"hello 2"}, yields{}, prints{"4"}, yields{}, prints{"5"}, yields{}, prints{"6"}}}};
  all_show({"hello 1\nhello 2\n1\n4\n2\n5\n6\n"}, [=] { return fork(first, second); }, as_data);
}

// scheduler {
//   fork { println("one"); fork { println("two") } { println("three") } } { println("four") }
// }
TEST_CASE("both processes of a fork go to the back of the queue, and neither continues at once") {
  auto const by_hand = []() -> program {
    co_await fork(
        []() -> program {
          co_await say("one");
          co_await fork([] { return say("two"); }, [] { return say("three"); });
        },
        [] { return say("four"); });
  };
  all_show({"one\nfour\ntwo\nthree\n"}, by_hand,
           {forks{{prints{"one"}, forks{{prints{"two"}}, {prints{"three"}}}}, {prints{"four"}}}});
}

// scheduler {
//   fork {
//     println("left")
//     fork { println("a"); do yield(); println("b") } { println("c"); do yield(); println("d") }
//   } {
//     println("right")
//     fork { println("e"); do yield(); println("f") } { println("g"); do yield(); println("h") }
//   }
//   println("after")
// }
TEST_CASE("the innermost of nested forks are four processes, and all run what follows") {
  auto const by_hand = []() -> program {
    auto const left = []() -> program {
      co_await say("left");
      co_await fork([] { return yields_between("a", "b"); },
                    [] { return yields_between("c", "d"); });
    };
    auto const right = []() -> program {
      co_await say("right");
      co_await fork([] { return yields_between("e", "f"); },
                    [] { return yields_between("g", "h"); });
    };
    co_await fork(left, right);
    co_await say("after");
  };
  auto const leaves = [](char const* a, char const* b, char const* c, char const* d) {
    return forks{{prints{a}, yields{}, prints{b}}, {prints{c}, yields{}, prints{d}}};
  };
  all_show({"left\nright\na\nc\ne\ng\nb\nafter\nd\nafter\nf\nafter\nh\nafter\n"}, by_hand,
           {forks{{prints{"left"}, leaves("a", "b", "c", "d")},
                  {prints{"right"}, leaves("e", "f", "g", "h")}},
            prints{"after"}});
}

// scheduler {
//   println("before")
//   do yield()
//   println(if (do fork()) "T" else "F")
//   do yield()
//   println(if (do fork()) "t" else "f")
// }
TEST_CASE("operations before a fork in the middle of a program happen once") {
  auto const by_hand = []() -> program {
    co_await say("before");
    co_await proc::yield{};
    bool const upper = co_await proc::fork{};
    co_await say(upper ? "T" : "F");
    co_await proc::yield{};
    bool const lower = co_await proc::fork{};
    co_await say(lower ? "t" : "f");
  };
  all_show({"before\nT\nF\nt\nf\nt\nf\n"}, by_hand,
           {prints{"before"}, yields{}, prints_which{"T", "F"}, yields{}, prints_which{"t", "f"}});
}

// scheduler {
//   fork { println("stays"); do yield() } { println("goes"); do exit() }
//   println("still here")
// }
TEST_CASE("an exit ends its own process, the rest of the program included, and no other") {
  auto const by_hand = []() -> program {
    co_await fork(
        []() -> program {
          co_await say("stays");
          co_await proc::yield{};
        },
        []() -> program {
          co_await say("goes");
          co_await proc::exit{};
        });
    co_await say("still here");
  };
  all_show({"stays\ngoes\nstill here\n"}, by_hand,
           {forks{{prints{"stays"}, yields{}}, {prints{"goes"}, exits{}}}, prints{"still here"}});
}

// scheduler { println("alone"); do exit(); fork { println("a") } { println("b") } }
TEST_CASE("after an exit at the top of the program nothing happens") {
  auto const by_hand = []() -> program {
    co_await say("alone");
    co_await proc::exit{};
    co_await fork([] { return say("a"); }, [] { return say("b"); });
  };
  all_show({"alone\n"}, by_hand, {prints{"alone"}, exits{}, forks{{prints{"a"}}, {prints{"b"}}}});
}

// var x = 0
// scheduler {
//   if (do fork()) { x = x + 1 } else { x = x + 10 }
//   do yield()
//   println(x)
// }
// println(x)
TEST_CASE("a variable outside the scheduler is shared by all processes: 11, 11, 11") {
  auto const by_hand = []() -> program_and_variable {
    bool const first = co_await proc::fork{};
    co_await modify<int>([first](int n) { return n + (first ? 1 : 10); });
    co_await proc::yield{};
    int const seen = co_await state<int>::get{};
    co_await say(seen);
  };
  all_show({"11\n11\n", 11}, by_hand, {forks{{adds{x, 1}}, {adds{x, 10}}}, yields{}, shows{x}});
}

// scheduler {
//   var y = 0
//   if (do fork()) { y = y + 1 } else { y = y + 10 }
//   do yield()
//   println(y)
// }
TEST_CASE("a variable inside the scheduler is copied by a fork: 1, 10") {
  auto const local = []() -> program {
    int n = 0;
    bool const first = co_await proc::fork{};
    n += first ? 1 : 10;
    co_await proc::yield{};
    co_await say(n);
  };
  all_show({"1\n10\n"}, local, {forks{{adds{z, 1}}, {adds{z, 10}}}, yields{}, shows{z}});

  auto const handled = []() -> program {
    co_await handle<state<int>>(state_of(0), []() -> program_and_variable {
      bool const first = co_await proc::fork{};
      co_await modify<int>([first](int n) { return n + (first ? 1 : 10); });
      co_await proc::yield{};
      int const seen = co_await state<int>::get{};
      co_await say(seen);
    });
  };
  all_show({"1\n10\n"}, handled, {forks{{adds{y, 1}}, {adds{y, 10}}}, yields{}, shows{y}});
}

// var x = 0
// scheduler {
//   var z = 0
//   do fork()
//   z = x
//   do yield()
//   z = z + 1
//   x = z
//   println(x)
// }
TEST_CASE("of two increments that yield between read and write one is lost") {
  auto const by_hand = []() -> program_and_variable {
    co_await proc::fork{};
    int const seen = co_await state<int>::get{};
    co_await proc::yield{};
    co_await state<int>::put{seen + 1};
    int const now = co_await state<int>::get{};
    co_await say(now);
  };
  all_show({"1\n1\n", 1}, by_hand,
           {forks{{}, {}}, copies{z, x}, yields{}, adds{z, 1}, copies{x, z}, shows{x}});
}

// scheduler {
//   var z = 0
//   each(0, 3) { i =>
//     z = z + 1
//     fork { println(z); do yield(); println(z); do exit() } { () }
//   }
//   println("parent")
// }
TEST_CASE("a loop that forks off children, which exit, continues in the parent alone") {
  auto const by_hand = []() -> program {
    for (int i = 1; i != 4; ++i) {
      bool const child = co_await proc::fork{};
      if (!child) continue;
      co_await say(i);
      co_await proc::yield{};
      co_await say(i);
      co_await proc::exit{};
    }
    co_await say("parent");
  };
  all_show({"1\n1\n2\n2\n3\nparent\n3\n"}, by_hand,
           {repeats{3, {adds{z, 1}, forks{{shows{z}, yields{}, shows{z}, exits{}}, {}}}},
            prints{"parent"}});
}

// scheduler {
//   var y = 0
//   each(0, 2) { i =>
//     if (do fork()) { y = y + 1 } else { y = y + 10 }
//     do yield()
//   }
//   println(y)
// }
TEST_CASE("both processes of a fork in a loop continue the loop, each with its variables") {
  auto const by_hand = []() -> program {
    int n = 0;
    for (int i = 0; i != 2; ++i) {
      bool const first = co_await proc::fork{};
      n += first ? 1 : 10;
      co_await proc::yield{};
    }
    co_await say(n);
  };
  all_show({"2\n11\n11\n20\n"}, by_hand,
           {repeats{2, {forks{{adds{y, 1}}, {adds{y, 10}}}, yields{}}}, shows{y}});
}

// def flip(): Int / Proc = {
//   println("flipped")
//   val n = if (do fork()) 1 else 10
//   do yield()
//   n
// }
// scheduler { val a = flip(); val b = flip(); println(a + b) }
TEST_CASE("a called function that forks returns in both processes") {
  auto const by_hand = []() -> program {
    int const a = co_await flip();
    int const b = co_await flip();
    co_await say(a + b);
  };
  calls const flipping{{prints{"flipped"}, forks{{adds{y, 1}}, {adds{y, 10}}}, yields{}}};
  all_show({"flipped\nflipped\nflipped\n2\n11\n11\n20\n"}, by_hand, {flipping, flipping, shows{y}});
}

// interface Fail { def fail(): Unit }
// scheduler {
//   try {
//     if (do fork()) { do fail() }
//     println("went well")
//   } with Fail { def fail() = println("failed") }
//   println("after")
// }
TEST_CASE("a handler inside the scheduler handles the operations of both processes of a fork") {
  auto const by_hand = []() -> program {
    auto const body = []() -> eff<void, proc, console, failure<int>> {
      bool const first = co_await proc::fork{};
      if (first) co_await failure<int>::fail{0};
      co_await say("went well");
    };
    bool const went_well = co_await handle(failure_to_optional<int>(), body());
    if (!went_well) co_await say("failed");
    co_await say("after");
  };
  all_show(
      {"failed\nafter\nwent well\nafter\n"}, by_hand,
      {attempts{{forks{{fails{}}, {}}, prints{"went well"}}, {prints{"failed"}}}, prints{"after"}});
}

TEST_CASE("random programs print under weft what the model prints") {
  constexpr unsigned programs = 4000;
  std::set<std::string> printed;
  for (unsigned seed = 0; seed != programs; ++seed) {
    block const program = random_program::of(seed);
    INFO("seed " << seed << ", in Effekt:\n" << in_effekt::text_of(program));
    output const expected = model::run(program);
    check_same(under_weft(program), expected);
    printed.insert(expected.printed);
  }
  CHECK(printed.size() > programs / 2);  // else they show little
}
