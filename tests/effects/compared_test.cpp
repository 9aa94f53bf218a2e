// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// handle(h, body, compared()): both ways to resume, one beside the other.

using numbers = std::vector<int>;

eff<int, pick> two_digits() {
  int const a = co_await pick::one{};
  int const b = co_await pick::one{};
  co_return 10 * a + b;
}

TEST_CASE("if both ways agree, their answer is the answer") {
  every_frame_dies const check;
  CHECK(run(handle<pick>(tries_picks<>{3}, two_digits, compared())) ==
        numbers{0, 1, 2, 10, 11, 12, 20, 21, 22});
  auto const pairs = []() -> eff<int, choose> {
    int const a = co_await one_of(1, 2, 3);
    int const b = co_await one_of(1, 2, 3);
    co_await guard(a < b);
    co_return 10 * a + b;
  };
  CHECK(run(handle(all_solutions(), pairs, compared())) == numbers{12, 13, 23});
  CHECK(run(handle(first_solution(), pairs, compared())) == 12);
}

/// Resumes each pick with 0 and 1, and counts the ways that reach the end.
struct counts_ways {
  eff<int> on(pick::one, multi_resumption<int, int> k) const {
    int const first = co_await k(0);
    int const second = co_await k(1);
    co_return first + second;
  }
  int on_return() const { return 1; }
};
/// Resumes each pick with 0 and 1, and gives no answer.
struct tries_both {
  eff<void> on(pick::one, multi_resumption<int, void> k) const {
    co_await k(0);
    co_await k(1);
  }
};

TEST_CASE("a comparison takes an answer of void, and a body of void") {
  every_frame_dies const check;
  int runs = 0;
  auto const nothing = [&runs]() -> eff<void, pick> {
    int const a = co_await pick::one{};
    int const b = co_await pick::one{};
    runs += a + b;
  };
  CHECK(run(handle<pick>(counts_ways(), nothing, compared())) == 4);
  CHECK(runs == 2 * 4);
  run(handle<pick>(tries_both(), nothing, compared()));
  CHECK(runs == 4 * 4);
}

TEST_CASE("a comparison that is awaited in a computation answers at once") {
  every_frame_dies const check;
  auto const body = []() -> eff<numbers, ask> {
    int const before = co_await ask::get{};
    numbers all = co_await handle<pick>(tries_picks<>{2}, two_digits, compared());
    int const after = co_await ask::get{};
    all.push_back(before + after);
    co_return all;
  };
  CHECK(run(handle<ask>(answers{3}, body)) == numbers{0, 1, 10, 11, 6});
}

TEMPLATE_TEST_CASE(
    "a comparison may stand inside a body that is resumed many times, by either policy", "", replay,
    bitwise) {
  every_frame_dies const check;
  struct last {
    static eff<int> of_all() {
      numbers const all = co_await handle<pick>(tries_picks<>{2}, two_digits, compared());
      co_return all.back();
    }
  };
  auto const body = []() -> eff<int, pick> {
    int const a = co_await pick::one{};
    int const n = co_await last::of_all();
    int const b = co_await pick::one{};
    co_return 1000 * a + 100 * b + n;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, TestType())) == numbers{11, 111, 1011, 1111});
}

TEST_CASE("a composition is compared as a whole") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, state<int>, pick, ask> {
    int const asked = co_await ask::get{};
    int const picked = co_await pick::one{};
    co_await modify<int>([picked](int s) { return s + picked; });
    int const more = co_await pick::one{};
    int const s = co_await state<int>::get{};
    co_return 100 * asked + 10 * s + more;
  };
  CHECK(run(handle(with<pick>(tries_picks<>{2}) | state_of(5) | with<ask>(answers{3}), body,
                   compared())) == numbers{350, 351, 360, 361});
}

// ---- different outcomes

TEST_CASE("a body that counts its runs is found, and the message names its place") {
  every_frame_dies const check;
  int runs = 0;
  auto const counts_runs = [&runs]() -> eff<int, pick> {
    ++runs;
    int const mine = runs;
    int const a = co_await pick::one{};
    co_return 10 * mine + a;
  };
  auto const text = text_of<outcomes_differ>(
      [&] { run(handle<pick>(tries_picks<>{2}, counts_runs, compared())); });
  CHECK_THAT(text, Contains("compared_test.cpp:") &&
                       Contains("by replay an answer, bitwise an answer, another one"));
}

TEST_CASE("sharing between clones by a pointer that is alive across a capture is found") {
  every_frame_dies const check;
  struct shares {
    static eff<int, pick> body(int* shared) {
      int const a = co_await pick::one{};
      *shared += a + 1;
      int const b = co_await pick::one{};
      co_return 10 * *shared + b;
    }
  };
  // By replay each run has a variable of its own; bitwise all runs share one.
  std::vector<int*> made;
  auto const kept = [&made]() -> eff<int, pick> {
    made.push_back(new int(0));
    int* const mine = made.back();
    int const n = co_await shares::body(mine);
    co_return n;
  };
  CHECK_THAT(
      text_of<outcomes_differ>([&] { run(handle<pick>(tries_picks<>{2}, kept, compared())); }),
      Contains("compared_test.cpp:"));
  for (int const* const p : made) delete p;
}

TEST_CASE("an awaited comparison throws outcomes_differ to its caller, which may catch it") {
  every_frame_dies const check;
  int runs = 0;
  auto const counts_runs = [&runs]() -> eff<int, pick> {
    int const mine = ++runs;
    int const a = co_await pick::one{};
    co_return 10 * mine + a;
  };
  auto const body = [counts_runs]() -> eff<std::string> {
    std::string text = "nothing was thrown";
    try {
      (void)co_await handle<pick>(tries_picks<>{2}, counts_runs, compared());
    } catch (outcomes_differ const& e) {
      text = e.what();
    }
    co_return text;
  };
  CHECK_THAT(run(body()), Contains("compared_test.cpp:") && Contains("another one"));
}

// ---- exceptions

struct thrown_number {
  int n;
};
/// A body that throws `make` of the number of its runs so far.
template <class Make>
auto throws(int& runs, Make make) {
  return [&runs, make]() -> eff<int, pick> {
    int const mine = ++runs;
    int const a = co_await pick::one{};
    if (a == 1) throw make(mine);
    co_return a;
  };
}

TEST_CASE("an exception that both ways throw is thrown with its type") {
  every_frame_dies const check;
  int runs = 0;
  auto const same = throws(runs, [](int) { return std::out_of_range("one"); });
  CHECK_THROWS_AS(run(handle<pick>(tries_picks<>{2}, same, compared())), std::out_of_range);
  auto const number = throws(runs, [](int) { return thrown_number{7}; });
  CHECK_THROWS_AS(run(handle<pick>(tries_picks<>{2}, number, compared())), thrown_number);
}

TEST_CASE("exceptions with different texts differ, and so do an answer and an exception") {
  every_frame_dies const check;
  int runs = 0;
  auto const other =
      throws(runs, [](int mine) { return std::runtime_error(std::to_string(mine)); });
  CHECK_THAT(
      text_of<outcomes_differ>([&] { run(handle<pick>(tries_picks<>{2}, other, compared())); }),
      Contains("compared_test.cpp:") &&
          Contains("by replay an exception, 2, bitwise an exception, 3"));
  runs = 0;
  auto const at_times = [&runs]() -> eff<int, pick> {
    int const mine = ++runs;
    int const a = co_await pick::one{};
    if (mine == 3) throw std::runtime_error("the third");
    co_return a;
  };
  CHECK_THAT(
      text_of<outcomes_differ>([&] { run(handle<pick>(tries_picks<>{2}, at_times, compared())); }),
      Contains("by replay an answer, bitwise an exception, the third"));
  runs = 1;
  CHECK_THAT(
      text_of<outcomes_differ>([&] { run(handle<pick>(tries_picks<>{2}, at_times, compared())); }),
      Contains("by replay an exception, the third, bitwise an answer"));
}

TEST_CASE("the message gives the reason if one way refuses") {
  every_frame_dies const check;
  struct keeps_text {
    static eff<int, pick> with(std::string text) {
      int const a = co_await pick::one{};
      co_return a + static_cast<int>(text.size());
    }
  };
  auto const body = []() -> eff<int, pick> {
    std::string text(3, 'x');
    int const n = co_await keeps_text::with(std::move(text));
    co_return n;
  };
  CHECK_THAT(
      text_of<outcomes_differ>([&] { run(handle<pick>(tries_picks<>{2}, body, compared())); }),
      Contains("by replay an answer, bitwise an exception, weft: ") &&
          Contains("has a parameter that is not trivially copyable"));
}
