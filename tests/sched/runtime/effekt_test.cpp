// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/effekt_model.hpp"
#include "tests/support/random_programs/effekt_programs.hpp"
#include "tests/support/random_programs/effekt_text.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"

/// `schedule` prints the output of the scheduler in Effekt that docs/14_the_queue_that_remembers.md
/// shows.  There a fork puts two thunks into the queue, the one that resumes with true first, and
/// neither continues at once; nor does a process that yields; an exit puts no thunk; and the
/// longest-waiting process runs next.
///
/// Each program stands here three times: in Effekt, by hand with weft, and as data.  Its output is
/// derived by hand, and equals that of both and of the model (effekt_model.hpp).
/// Then random programs are run under weft and by the model.

using namespace weft::tests::effekt;
using enum weft::tests::act;

// scheduler {
//   fork {
//     println("h"); do yield(); println(1); do yield(); println(2); do exit(); println(3)
//   } {
//     println("H"); do yield(); println(4); do yield(); println(5); do yield(); println(6)
//   }
// }
TEST_CASE("the first program: two processes take turns until one exits") {
  auto const first = []() -> saying {
    co_await say("h");
    co_await proc::yield{};
    co_await say(1);
    co_await proc::yield{};
    co_await say(2);
    co_await proc::exit{};
    co_await say(3);
  };
  auto const second = []() -> saying {
    co_await say("H");
    co_await proc::yield{};
    co_await say(4);
    co_await proc::yield{};
    co_await say(5);
    co_await proc::yield{};
    co_await say(6);
  };
  block const as_data{
      {forks_into,
       {{prints, 'h'}, yields, {prints, '1'}, yields, {prints, '2'}, exits, {prints, '3'}},
       {{prints, 'H'}, yields, {prints, '4'}, yields, {prints, '5'}, yields, {prints, '6'}}}};
  all_show({"h\nH\n1\n4\n2\n5\n6\n"}, [=] { return fork(first, second); }, as_data);
}

// scheduler {
//   fork { println("o"); fork { println("t") } { println("T") } } { println("f") }
// }
TEST_CASE("both processes of a fork go to the back of the queue, and neither continues at once") {
  auto const by_hand = []() -> saying {
    co_await fork(
        []() -> saying {
          co_await say("o");
          co_await fork([] { return say("t"); }, [] { return say("T"); });
        },
        [] { return say("f"); });
  };
  all_show({"o\nf\nt\nT\n"}, by_hand,
           {{forks_into,
             {{prints, 'o'}, {forks_into, {{prints, 't'}}, {{prints, 'T'}}}},
             {{prints, 'f'}}}});
}

saying yields_between(char const* before, char const* after) {
  co_await say(before);
  co_await proc::yield{};
  co_await say(after);
}

// scheduler {
//   fork {
//     println("l")
//     fork { println("a"); do yield(); println("b") } { println("c"); do yield(); println("d") }
//   } {
//     println("r")
//     fork { println("e"); do yield(); println("f") } { println("g"); do yield(); println("h") }
//   }
//   println("A")
// }
TEST_CASE("the innermost of nested forks are four processes, and all run what follows") {
  auto const by_hand = []() -> saying {
    auto const left = []() -> saying {
      co_await say("l");
      co_await fork([] { return yields_between("a", "b"); },
                    [] { return yields_between("c", "d"); });
    };
    auto const right = []() -> saying {
      co_await say("r");
      co_await fork([] { return yields_between("e", "f"); },
                    [] { return yields_between("g", "h"); });
    };
    co_await fork(left, right);
    co_await say("A");
  };
  auto const leaves = [](int a, int b, int c, int d) -> statement {
    return {forks_into, {{prints, a}, yields, {prints, b}}, {{prints, c}, yields, {prints, d}}};
  };
  all_show({"l\nr\na\nc\ne\ng\nb\nA\nd\nA\nf\nA\nh\nA\n"}, by_hand,
           {{forks_into,
             {{prints, 'l'}, leaves('a', 'b', 'c', 'd')},
             {{prints, 'r'}, leaves('e', 'f', 'g', 'h')}},
            {prints, 'A'}});
}

// scheduler {
//   println("B")
//   do yield()
//   println(if (do fork()) "T" else "T'")
//   do yield()
//   println(if (do fork()) "t" else "t'")
// }
TEST_CASE("operations before a fork in the middle of a program happen once") {
  auto const by_hand = []() -> saying {
    co_await say("B");
    co_await proc::yield{};
    bool const upper = co_await proc::fork{};
    co_await say(upper ? "T" : "T'");
    co_await proc::yield{};
    bool const lower = co_await proc::fork{};
    co_await say(lower ? "t" : "t'");
  };
  all_show({"B\nT\nT'\nt\nt'\nt\nt'\n"}, by_hand,
           {{prints, 'B'}, yields, {prints_which, 'T'}, yields, {prints_which, 't'}});
}

// scheduler {
//   fork { println("s"); do yield() } { println("g"); do exit() }
//   println("S")
// }
TEST_CASE("an exit ends its own process, the rest of the program included, and no other") {
  auto const by_hand = []() -> saying {
    co_await fork(
        []() -> saying {
          co_await say("s");
          co_await proc::yield{};
        },
        []() -> saying {
          co_await say("g");
          co_await proc::exit{};
        });
    co_await say("S");
  };
  all_show({"s\ng\nS\n"}, by_hand,
           {{forks_into, {{prints, 's'}, yields}, {{prints, 'g'}, exits}}, {prints, 'S'}});
}

// scheduler { println("L"); do exit(); fork { println("a") } { println("b") } }
TEST_CASE("after an exit at the top of the program nothing happens") {
  auto const by_hand = []() -> saying {
    co_await say("L");
    co_await proc::exit{};
    co_await fork([] { return say("a"); }, [] { return say("b"); });
  };
  all_show({"L\n"}, by_hand,
           {{prints, 'L'}, exits, {forks_into, {{prints, 'a'}}, {{prints, 'b'}}}});
}

constexpr variable x = variable::outside;

// var x = 0
// scheduler {
//   if (do fork()) { x = x + 1 } else { x = x + 10 }
//   do yield()
//   println(x)
// }
// println(x)
TEST_CASE("a variable outside the scheduler is shared by all processes: 11, 11, 11") {
  auto const by_hand = []() -> saying_with_variable {
    bool const first = co_await proc::fork{};
    co_await modify<int>([first](int n) { return n + (first ? 1 : 10); });
    co_await proc::yield{};
    int const seen = co_await state<int>::get{};
    co_await say(seen);
  };
  all_show(
      {"11\n11\n", 11}, by_hand,
      {{forks_into, {{adds, with(x, 1)}}, {{adds, with(x, 10)}}}, yields, {shows_variable, x}});
}

constexpr variable y = variable::handled;
constexpr variable z = variable::local;

// scheduler {
//   var y = 0
//   if (do fork()) { y = y + 1 } else { y = y + 10 }
//   do yield()
//   println(y)
// }
TEST_CASE("a variable inside the scheduler is copied by a fork: 1, 10") {
  auto const local = []() -> saying {
    int n = 0;
    bool const first = co_await proc::fork{};
    n += first ? 1 : 10;
    co_await proc::yield{};
    co_await say(n);
  };
  all_show(
      {"1\n10\n"}, local,
      {{forks_into, {{adds, with(z, 1)}}, {{adds, with(z, 10)}}}, yields, {shows_variable, z}});

  auto const handled = []() -> saying {
    co_await handle<state<int>>(state_of(0), []() -> saying_with_variable {
      bool const first = co_await proc::fork{};
      co_await modify<int>([first](int n) { return n + (first ? 1 : 10); });
      co_await proc::yield{};
      int const seen = co_await state<int>::get{};
      co_await say(seen);
    });
  };
  all_show(
      {"1\n10\n"}, handled,
      {{forks_into, {{adds, with(y, 1)}}, {{adds, with(y, 10)}}}, yields, {shows_variable, y}});
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
  auto const by_hand = []() -> saying_with_variable {
    co_await proc::fork{};
    int const seen = co_await state<int>::get{};
    co_await proc::yield{};
    co_await state<int>::put{seen + 1};
    int const now = co_await state<int>::get{};
    co_await say(now);
  };
  all_show({"1\n1\n", 1}, by_hand,
           {{forks_into, block(), block()},
            {copies_variable, with(z, x)},
            yields,
            {adds, with(z, 1)},
            {copies_variable, with(x, z)},
            {shows_variable, x}});
}

// scheduler {
//   var z = 0
//   each(0, 3) { i =>
//     z = z + 1
//     fork { println(z); do yield(); println(z); do exit() } { () }
//   }
//   println("P")
// }
TEST_CASE("a loop that forks off children, which exit, continues in the parent alone") {
  auto const by_hand = []() -> saying {
    for (int i = 1; i != 4; ++i) {
      bool const child = co_await proc::fork{};
      if (!child) continue;
      co_await say(i);
      co_await proc::yield{};
      co_await say(i);
      co_await proc::exit{};
    }
    co_await say("P");
  };
  all_show({"1\n1\n2\n2\n3\nP\n3\n"}, by_hand,
           {{repeats,
             3,
             {{adds, with(z, 1)},
              {forks_into, {{shows_variable, z}, yields, {shows_variable, z}, exits}, {}}}},
            {prints, 'P'}});
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
  auto const by_hand = []() -> saying {
    int n = 0;
    for (int i = 0; i != 2; ++i) {
      bool const first = co_await proc::fork{};
      n += first ? 1 : 10;
      co_await proc::yield{};
    }
    co_await say(n);
  };
  all_show({"2\n11\n11\n20\n"}, by_hand,
           {{repeats, 2, {{forks_into, {{adds, with(y, 1)}}, {{adds, with(y, 10)}}}, yields}},
            {shows_variable, y}});
}

eff<int, proc, console> flip() {
  co_await say("F");
  bool const first = co_await proc::fork{};
  co_await proc::yield{};
  co_return first ? 1 : 10;
}

// def flip(): Int / Proc = {
//   println("F")
//   val n = if (do fork()) 1 else 10
//   do yield()
//   n
// }
// scheduler { val a = flip(); val b = flip(); println(a + b) }
TEST_CASE("a called function that forks returns in both processes") {
  auto const by_hand = []() -> saying {
    int const a = co_await flip();
    int const b = co_await flip();
    co_await say(a + b);
  };
  statement const flipping{
      calls, {{prints, 'F'}, {forks_into, {{adds, with(y, 1)}}, {{adds, with(y, 10)}}}, yields}};
  all_show({"F\nF\nF\n2\n11\n11\n20\n"}, by_hand, {flipping, flipping, {shows_variable, y}});
}

// interface Fail { def fail(): Unit }
// scheduler {
//   try {
//     if (do fork()) { do fail() }
//     println("w")
//   } with Fail { def fail() = println("x") }
//   println("A")
// }
TEST_CASE("a handler inside the scheduler handles the operations of both processes of a fork") {
  auto const by_hand = []() -> saying {
    auto const body = []() -> eff<void, proc, console, failure<int>> {
      bool const first = co_await proc::fork{};
      if (first) co_await failure<int>::fail{0};
      co_await say("w");
    };
    bool const went_well = co_await handle(failure_to_optional<int>(), body());
    if (!went_well) co_await say("x");
    co_await say("A");
  };
  all_show({"x\nA\nw\nA\n"}, by_hand,
           {{attempts_else, {{forks_into, {fails}, {}}, {prints, 'w'}}, {{prints, 'x'}}},
            {prints, 'A'}});
}

TEST_CASE("random programs print under weft what the model prints") {
  std::set<std::string> printed;
  seeds const some(4000);
  check_law(some, dialect_of_effekt(), [&](program_of_acts const& p, unsigned) -> std::string {
    block const& acts = p.all[0].acts;
    output const expected = model::run(acts);
    printed.insert(expected.printed);
    return under_weft(acts) == expected
               ? ""
               : "another output than in Effekt:\n" + in_effekt::text_of(acts);
  });
  if (!some.only_some()) CHECK(printed.size() > 4000 / 2);  // else they show little
}
