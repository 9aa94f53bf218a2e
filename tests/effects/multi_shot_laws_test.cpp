// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Laws of resuming more than once.
///
/// Laws that do not mention a log are written over a list of policies.  Their programs keep across
/// a capture only data that may be copied byte by byte.

/// Counts the questions; each kind of clause derives from it.
struct asked {
  int times = 0;
};
struct by_value : asked {
  int on(ask::get) { return ++times; }
};

struct say {
  struct number : op<void> {
    explicit number(int v) noexcept : n(v) {}
    int n;
  };
  struct text : op<void> {
    explicit text(std::string v) : s(std::move(v)) {}
    std::string s;
    [[maybe_unused]] friend std::size_t hash_value(text const& t) { return t.s.size(); }
  };
  using operations = op_list<number, text>;
};
struct silent : handler<say> {
  void on(say::number) {}
  void on(say::text const&) {}
};

/// The text of the divergence when `body` is resumed for the second time.
template <class Body>
std::string second_run_of(Body body) {
  every_frame_dies const check;
  by_value outermost;
  keeps_picks<int> h;
  std::string text;
  run(handle<ask>(outermost, handle(silent(), [&]() -> eff<void, say, ask> {
                    co_await handle<pick>(h, body);
                    co_await [](keeps_picks<int>& kept) -> eff<void> {
                      co_await kept.waiting.at(0)(1);
                    }(h);
                    text = text_of<replay_divergence>([&] { resume(h.waiting.at(0), 2); });
                  })));
  return text;
}

#ifndef NDEBUG
TEST_CASE("debug builds compare the data of operations, by bytes or by hash_value") {
  int runs = 0;
  auto const by_bytes = second_run_of([&runs]() -> eff<int, pick, say> {
    co_await say::number(++runs);
    co_return co_await pick::one{};
  });
  CHECK_THAT(by_bytes, Contains("say::number"));
  runs = 0;
  auto const by_hash = second_run_of([&runs]() -> eff<int, pick, say> {
    std::string text(static_cast<std::size_t>(++runs), 'x');
    co_await say::text(std::move(text));
    co_return co_await pick::one{};
  });
  CHECK_THAT(by_hash, Contains("say::text"));
}
#endif

TEMPLATE_TEST_CASE("the code after a capture runs once for each resume, and never without one", "",
                   replay, bitwise) {
  every_frame_dies const check;
  int const times = GENERATE(0, 1, 2, 7);
  int after = 0;
  {
    keeps_picks h;
    run(handle<pick>(
        h,
        [&after]() -> eff<void, pick> {
          co_await pick::one{};
          ++after;
        },
        TestType()));
    for (int i = 0; i != times; ++i) resume(h.waiting[0], i);
  }
  CHECK(after == times);
}

using numbers = std::vector<int>;

// ---- laws of every policy

TEMPLATE_TEST_CASE("every resume finds the state of the body at the capture", "", replay, bitwise) {
  every_frame_dies const check;
  numbers seen;
  keeps_picks h;
  run(handle<pick>(
      h,
      [&seen]() -> eff<void, pick> {
        int local = 1;
        int const a = co_await pick::one{};
        local += a;
        int const b = co_await pick::one{};
        seen.push_back(10 * local + b);
      },
      TestType()));
  auto const first = h.waiting[0];
  resume(first, 1);
  resume(first, 2);
  REQUIRE(h.waiting.size() == 3);
  auto const after_1 = h.waiting[1];
  auto const after_2 = h.waiting[2];
  resume(after_2, 5);
  resume(after_1, 6);
  resume(after_2, 7);
  resume(after_1, 8);
  CHECK(seen == numbers{35, 26, 37, 28});
}

TEMPLATE_TEST_CASE("each resume has copies of the locals of every frame in the chain", "", replay,
                   bitwise) {
  every_frame_dies const check;
  struct calls {
    static eff<int, pick> inner(int n) {
      int mine = n;
      mine += co_await pick::one{};
      mine += co_await pick::one{};
      co_return mine;
    }
    static eff<int, pick> outer() {
      int mine = 100;
      mine += co_await inner(1000);
      mine += 10000 * co_await pick::one{};
      co_return mine;
    }
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, calls::outer, TestType())) ==
        numbers{1100, 11100, 1101, 11101, 1101, 11101, 1102, 11102});
}

TEMPLATE_TEST_CASE("resumes in any order give the results of their answers", "", replay, bitwise) {
  every_frame_dies const check;
  unsigned const seed = GENERATE(range(1u, 21u));
  CAPTURE(seed);
  std::mt19937 dice(seed);
  constexpr int depth = 4;
  struct known {
    multi_resumption<int, int> k;
    int path;
    int length;
  };
  keeps_picks<int> h;
  auto const digits = []() -> eff<int, pick> {
    int n = 0;
    for (int i = 0; i != depth; ++i) n = 10 * n + co_await pick::one{};
    co_return n;
  };
  int const started = run(handle<pick>(h, digits, TestType()));
  CHECK(started == 0);
  std::vector<known> all{{h.waiting.back(), 0, 0}};
  int ended = 0;
  for (int step = 0; step != 60; ++step) {
    known const from = all[dice() % all.size()];
    int const answer = static_cast<int>(dice() % 9) + 1;
    int const path = 10 * from.path + answer;
    int const result = resume(from.k, answer);
    if (from.length + 1 == depth) {
      ++ended;
      CHECK(result == path);
    } else {
      CHECK(result == 0);
      all.push_back({h.waiting.back(), path, from.length + 1});
    }
    if (dice() % 8 == 0 && all.size() > 1) {  // drop one
      std::swap(all[dice() % all.size()], all.back());
      all.pop_back();
    }
  }
  CHECK(h.waiting.size() + static_cast<std::size_t>(ended) == 61);
}

TEMPLATE_TEST_CASE("a clause may resume its own resumption twice, by a call or by an await", "",
                   replay, bitwise) {
  every_frame_dies const check;
  struct by_call {
    int on(pick::one, multi_resumption<int, int> k) { return resume(k, 1) + 100 * resume(k, 2); }
  };
  struct awaited {
    eff<int> on(pick::one, multi_resumption<int, int> k) {
      int const one = co_await k(1);
      int const two = co_await k(2);
      co_return one + 100 * two;
    }
  };
  auto const sum = []() -> eff<int, pick> {
    int const a = co_await pick::one{};
    int const b = co_await pick::one{};
    co_return 10 * a + b;
  };
  CHECK(run(handle<pick>(by_call(), sum, TestType())) == 11 + 1200 + 2100 + 220000);
  CHECK(run(handle<pick>(awaited(), sum, TestType())) == 11 + 1200 + 2100 + 220000);
}

TEMPLATE_TEST_CASE("a capture may be resumed after an earlier run of its body has ended", "",
                   replay, bitwise) {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(
      h,
      []() -> eff<int, pick> {
        int const a = co_await pick::one{};
        co_return a* a;
      },
      TestType()));
  CHECK(resume(h.waiting[0], 3) == 9);
  CHECK(resume(h.waiting[0], 4) == 16);
  CHECK(resume(h.waiting[0], 3) == 9);
}

TEMPLATE_TEST_CASE(
    "an exception of a resumed body goes to the caller that resumed it, and to no other", "",
    replay, bitwise) {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(
      h,
      []() -> eff<int, pick> {
        int const a = co_await pick::one{};
        if (a % 2 != 0) throw std::runtime_error("odd");
        int const b = co_await pick::one{};
        if (b % 2 != 0) throw std::runtime_error("odd again");
        co_return a + b;
      },
      TestType()));
  auto const first = h.waiting[0];
  CHECK_THROWS_WITH(resume(first, 1), "odd");
  CHECK(resume(first, 2) == 0);
  auto const second = h.waiting[1];
  CHECK_THROWS_WITH(resume(first, 3), "odd");
  CHECK_THROWS_WITH(resume(second, 1), "odd again");
  CHECK(resume(second, 4) == 6);

  struct forgives {  // also in a clause
    eff<int> on(pick::one, multi_resumption<int, int> k) {
      int caught = 0;
      for (int i = 0; i != 4; ++i) {
        try {
          caught += co_await k(i);
        } catch (std::runtime_error const&) {
          caught += 1000;
        }
      }
      co_return caught;
    }
  };
  auto const odd_throws = []() -> eff<int, pick> {
    int const a = co_await pick::one{};
    if (a % 2 != 0) throw std::runtime_error("odd");
    co_return a;
  };
  CHECK(run(handle<pick>(forgives(), odd_throws, TestType())) == 2002);
}

TEMPLATE_TEST_CASE("an exception as the answer is part of the past of later captures", "", replay,
                   bitwise) {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(
      h,
      []() -> eff<int, pick> {
        int caught = 0;
        try {
          co_await pick::one{};
        } catch (std::runtime_error const&) {
          caught = 1;
        }
        int const b = co_await pick::one{};
        co_return 10 * b + caught;
      },
      TestType()));
  auto const first = h.waiting[0];
  CHECK(resume(first, raising{std::make_exception_ptr(std::runtime_error("x"))}) == 0);
  auto const after_throw = h.waiting[1];
  CHECK(resume(first, 5) == 0);
  auto const after_five = h.waiting[2];
  CHECK(resume(after_throw, 1) == 11);
  CHECK(resume(after_throw, 2) == 21);
  CHECK(resume(after_five, 3) == 30);
  CHECK(resume(after_five, 4) == 40);
}

TEMPLATE_TEST_CASE("an owned handler is destroyed with the last resumption of its body", "", replay,
                   bitwise) {
  every_frame_dies const check;
  struct step {
    int value = 0;
    multi_resumption<int, step> rest;
  };
  struct hands_out {
    std::shared_ptr<int> alive;
    step on(pick::one, multi_resumption<int, step> k) { return {*alive, std::move(k)}; }
    step on_return(int n) { return {n, {}}; }
  };
  auto const counted = std::make_shared<int>(7);
  auto const body = []() -> eff<int, pick> { co_return co_await pick::one{}; };
  {
    step const s = run(handle<pick>(hands_out{counted}, body, TestType()));
    CHECK(s.value == 7);
    CHECK(counted.use_count() == 2);
    CHECK(resume(s.rest, 1).value == 1);
    CHECK(counted.use_count() == 2);
    CHECK(resume(s.rest, 2).value == 2);
  }
  CHECK(counted.use_count() == 1);
}

TEMPLATE_TEST_CASE("an operation without an answer may be resumed many times at one place", "",
                   replay, bitwise) {
  every_frame_dies const check;
  struct keeps_again : region {
    std::vector<multi_resumption<void, int>> waiting;
    int on(tick::now, multi_resumption<void, int> k) {
      waiting.push_back(std::move(k));
      return -1;
    }
  };
  keeps_again h;
  run(handle<tick>(
      h,
      []() -> eff<int, tick> {
        int n = 0;
        for (; n != 3; ++n) co_await tick::now{};
        co_return n;
      },
      TestType()));
  std::vector<multi_resumption<void, int>> at{h.waiting.back()};  // the three captures
  for (std::size_t i = 0; i != 3; ++i) {
    int const expected = i == 2 ? 3 : -1;
    CHECK(resume(at[i]) == expected);
    at.push_back(h.waiting.back());
    CHECK(resume(at[i]) == expected);
    for (std::size_t earlier = 0; earlier != i; ++earlier) CHECK(resume(at[earlier]) == -1);
  }
}

TEMPLATE_TEST_CASE("each run has its own handlers inside, with their state", "", replay, bitwise) {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick> {
    co_return co_await handle(state_of(0), []() -> eff<int, pick, state<int>> {
      for (int i = 0; i != 2; ++i) {
        int const n = co_await pick::one{};
        co_await modify<int>([n](int s) { return 10 * s + n; });
      }
      co_return co_await state<int>::get{};
    });
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, TestType())) == numbers{0, 1, 10, 11});
}

// ---- laws of replay: no handler hears an operation again

struct by_jump : asked {
  outcome<numbers> on(ask::get, resumption<int, numbers> k) { return std::move(k).last(++times); }
};
struct by_resume : asked {
  numbers on(ask::get, resumption<int, numbers> k) { return resume(std::move(k), ++times); }
};
struct by_coroutine : asked {
  eff<numbers> on(ask::get, resumption<int, numbers> k) {
    ++times;
    co_return co_await std::move(k)(times);
  }
};

eff<int, pick, ask> asks_between() {
  int const a = co_await ask::get{};
  int const p = co_await pick::one{};
  int const b = co_await ask::get{};
  int const q = co_await pick::one{};
  co_return 1000 * a + 100 * p + 10 * b + q;
}

TEMPLATE_TEST_CASE("a replay asks neither a value clause nor a clause that suspends again", "",
                   by_value, by_jump, by_resume, by_coroutine) {
  every_frame_dies const check;
  TestType h;
  CHECK(run(handle<ask>(h, handle<pick>(tries_picks<>{2}, asks_between))) ==
        numbers{1020, 1021, 1130, 1131});
  CHECK(h.times == 3);  // not 6, which is the number of times that the body passes the question
}

TEST_CASE("a replay never prints again") {
  every_frame_dies const check;
  std::string text;
  auto const body = []() -> eff<int, pick, console> {
    co_await console::print{"("};
    int const a = co_await pick::one{};
    for (int i = 0; i != 3; ++i) co_await console::print{std::to_string(a)};  // one site, thrice
    int const b = co_await pick::one{};
    co_await console::print{")"};
    co_return 10 * a + b;
  };
  CHECK(run(handle(with<pick>(tries_picks<>{2}) | console_to_string(text), body)) ==
        numbers{0, 1, 10, 11});
  CHECK(text == "(000))111))");
}

TEST_CASE("code between operations runs again, once for each resume after the first") {
  every_frame_dies const check;
  int before = 0;
  int const times = GENERATE(1, 2, 5);
  keeps_picks h;
  run(handle<pick>(h, [&before]() -> eff<void, pick> {
    ++before;
    co_await pick::one{};
  }));
  for (int i = 0; i != times; ++i) resume(h.waiting[0], i);
  CHECK(before == times);
}

TEST_CASE(
    "constructors and destructors balance in bodies that are resumed, dropped or thrown through") {
  every_frame_dies const check;
  struct witness {
    explicit witness(int& n) : alive(n) { ++alive; }
    witness(witness const&) = delete;
    witness& operator=(witness const&) = delete;
    ~witness() { --alive; }
    int& alive;
  };
  int alive = 0;
  int const times = GENERATE(0, 1, 2, 3);
  {
    keeps_picks<int> h;
    run(handle<pick>(h, [&alive]() -> eff<int, pick> {
      witness const outer(alive);
      auto const inner = [](int& n) -> eff<int, pick> {
        witness const mine(n);
        int const a = co_await pick::one{};
        witness const late(n);
        if (a == 1) throw std::runtime_error("one");
        co_return a;
      };
      int const a = co_await inner(alive);
      co_return a + co_await pick::one{};
    }));
    for (int i = 0; i < times; ++i) {
      if (i == 1)
        CHECK_THROWS_AS(resume(h.waiting[0], i), std::runtime_error);
      else
        resume(h.waiting[0], i);
    }
    CHECK(alive == (times == 0 ? 2 : times <= 2 ? 1 : 2));  // in the bodies that wait
  }
  CHECK(alive == 0);
}

TEST_CASE("an answer that owns something is copied for each run") {
  every_frame_dies const check;
  auto const body = []() -> eff<std::string, pick, reader<std::string>> {
    std::string text = co_await reader<std::string>::ask{};
    int const n = co_await pick::one{};
    text += std::to_string(n);
    co_return text;
  };
  struct joins {
    eff<std::string> on(pick::one, multi_resumption<int, std::string> k) {
      std::string all;
      for (int i = 0; i != 3; ++i) all += co_await k(i);
      co_return all;
    }
  };
  std::string const a_long_one(40, 'x');
  CHECK(run(handle(with<pick>(joins()) | reader_of(a_long_one), body)) ==
        a_long_one + "0" + a_long_one + "1" + a_long_one + "2");
}

TEST_CASE("value clauses of the handler itself are recorded, also those that ask outward") {
  every_frame_dies const check;
  struct mixed : tries_picks<> {
    int own = 0;
    using tries_picks<>::on;
    void on(tick::now) { ++own; }
    int on(ask::get, outer<ask> up) { return 10 * up(ask::get{}); }
  };
  by_value outermost;
  auto const body = []() -> eff<int, pick, tick, ask> {
    co_await tick::now{};
    int const a = co_await ask::get{};
    int const p = co_await pick::one{};
    co_await tick::now{};
    int const b = co_await ask::get{};
    co_return 100 * a + b + p;
  };
  mixed h{{2}, 0};
  CHECK(run(handle<ask>(outermost, handle<pick, tick, ask>(h, body))) == numbers{1020, 1031});
  CHECK(h.own == 3);
  CHECK(outermost.times == 3);
}

TEST_CASE(
    "a value clause inside runs again in a replay, but its questions to handlers outside do not") {
  every_frame_dies const check;
  by_value outermost;
  int inner_asked = 0;
  auto const body = [&inner_asked]() -> eff<int, pick, ask> {
    auto const doubles = [&inner_asked](ask::get, outer<ask> up) {
      ++inner_asked;
      return 2 * up(ask::get{});
    };
    co_return co_await handle<ask>(doubles, asks_between);
  };
  CHECK(run(handle<ask>(outermost, handle<pick>(tries_picks<>{2}, body))) ==
        numbers{2040, 2041, 2160, 2161});
  CHECK(outermost.times == 3);
  CHECK(inner_asked == 4 * 2);  // the handler stands inside, and runs again
}

TEST_CASE("an exception that arose at an operation in the first run arises in each later run") {
  every_frame_dies const check;
  struct throws : asked {
    int on(ask::get) {
      ++times;
      throw std::runtime_error("no answer");
    }
  };
  throws h;
  auto const body = []() -> eff<int, pick, ask> {
    int n = 0;
    try {
      n = co_await ask::get{};
    } catch (std::runtime_error const& e) {
      n = std::string(e.what()) == "no answer" ? 100 : 0;
    }
    co_return n + co_await pick::one{};
  };
  CHECK(run(handle<ask>(h, handle<pick>(tries_picks<>{3}, body))) == numbers{100, 101, 102});
  CHECK(h.times == 1);
}

// ---- outer_of

TEST_CASE("outer_of inside a recorded body is recorded") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick, ask> {
    int const a = co_await outer_of<ask>(ask::get{});
    int const p = co_await pick::one{};
    int const b = co_await outer_of<ask>(ask::get{});
    co_return 100 * a + 10 * b + p;
  };
  auto const expected = numbers{120, 131};
  by_value outermost;
  by_value nearest;

  SECTION("both handlers stand outside") {
    CHECK(run(handle<ask>(outermost, handle<ask>(nearest, handle<pick>(tries_picks<>{2}, body)))) ==
          expected);
    CHECK(nearest.times == 0);
  }
  SECTION("the nearest handler stands inside") {
    auto const inside = [&nearest, body]() -> eff<int, pick, ask> {
      co_return co_await handle<ask>(nearest, body);
    };
    CHECK(run(handle<ask>(outermost, handle<pick>(tries_picks<>{2}, inside))) == expected);
    CHECK(nearest.times == 0);
  }
  SECTION("the nearest handler is the one that records") {
    struct both : tries_picks<> {
      using tries_picks<>::on;
      int on(ask::get) { return -1; }
    };
    CHECK(run(handle<ask>(outermost, handle<pick, ask>(both{{2}}, body))) == expected);
  }
  SECTION("there is no handler further out") {
    CHECK_THROWS_AS(run(handle<ask>(outermost, handle<pick>(tries_picks<>{2}, body))),
                    no_outer_handler);
    outermost.times = 3;
  }
  CHECK(outermost.times == 3);
}

// ---- a recording handler inside another

struct flip {
  struct coin : op<bool> {};
  using operations = op_list<coin>;
};
struct both_sides {
  eff<int> on(flip::coin, multi_resumption<bool, int> k) {
    int const heads = co_await k(true);
    int const tails = co_await k(false);
    co_return heads + tails;
  }
};

/// Asks outside before and after each choice, inner or outer.
eff<int, flip, pick, ask> flips_and_picks() {
  int sum = co_await ask::get{};
  bool const heads = co_await flip::coin{};
  sum += 10 * co_await ask::get{};
  if (heads) sum += 1000 * co_await pick::one{};
  sum += 100 * co_await ask::get{};
  co_return sum;
}
eff<int, pick, ask> flips_inside() {
  co_return co_await handle<flip>(both_sides(), flips_and_picks);
}

TEST_CASE(
    "an operation that crosses two recording handlers is heard once, and replayed with its "
    "answer") {
  every_frame_dies const check;
  by_value outermost;
  auto const all = run(handle<ask>(outermost, handle<pick>(tries_picks<>{2}, flips_inside)));
  // Asked: 1 at the start, 2 for heads; with pick 0: 3 for heads, 4 and 5 for tails; with pick 1: 6
  // for heads, 7 and 8 for tails.
  CHECK(all == numbers{(1 + 20 + 300) + (1 + 40 + 500), (1 + 20 + 1000 + 600) + (1 + 70 + 800)});
  CHECK(outermost.times == 8);
}

TEST_CASE("an operation that crosses two recording handlers may be suspended and kept outside") {
  every_frame_dies const check;
  struct parks_ask : region {
    std::optional<resumption<int, numbers>> k;
    numbers on(ask::get, resumption<int, numbers> r) {
      k = std::move(r);
      return {};
    }
  };
  parks_ask h;
  numbers all = run(handle<ask>(h, handle<pick>(tries_picks<>{2}, flips_inside)));
  int answers_given = 0;
  while (h.k) {
    auto k = std::move(*h.k);
    h.k.reset();
    all = resume(std::move(k), ++answers_given);
  }
  CHECK(all == numbers{(1 + 20 + 300) + (1 + 40 + 500), (1 + 20 + 1000 + 600) + (1 + 70 + 800)});
  CHECK(answers_given == 8);
}

TEST_CASE("an inner resumption that was kept expires when the handler of its run has answered") {
  every_frame_dies const check;
  struct keeps_flip : region {
    std::vector<multi_resumption<bool, int>> waiting;
    int on(flip::coin, multi_resumption<bool, int> k) {
      waiting.push_back(std::move(k));
      return -1;
    }
  };
  keeps_flip inner;
  by_value outermost;
  auto const body = [&inner]() -> eff<int, pick, ask> {
    int const p = co_await pick::one{};
    int const f = co_await handle<flip>(inner, flips_and_picks);
    co_return 10 * p + f;
  };
  CHECK(run(handle<ask>(outermost, handle<pick>(tries_picks<>{2}, body))) == numbers{-1, 9});
  REQUIRE(inner.waiting.size() == 2);
  CHECK_THROWS_AS(resume(inner.waiting[0], false), resumption_expired);  // `outermost` has answered
  CHECK_THROWS_AS(resume(inner.waiting[0], false), resumption_expired);
}

TEST_CASE("an inner resumption can be resumed after its run has ended, but cannot pick again") {
  every_frame_dies const check;
  struct keeps_flip : region {
    std::vector<multi_resumption<bool, int>> waiting;
    int on(flip::coin, multi_resumption<bool, int> k) {
      waiting.push_back(std::move(k));
      return -1;
    }
  };
  keeps_flip inner;
  by_value outermost;
  auto const body = [&inner]() -> eff<int, pick, ask> {
    co_return co_await handle<flip>(inner, flips_and_picks);
  };
  auto const kept = [&]() -> eff<void, ask> {
    numbers const all = co_await handle<pick>(tries_picks<>{2}, body);
    CHECK(all == numbers{-1});
    CHECK(resume(inner.waiting[0], false) == 1 + 20 + 300);
    CHECK(resume(inner.waiting[0], false) == 1 + 40 + 500);
    CHECK_THROWS_AS(resume(inner.waiting[0], true), needs_control);  // that body has ended
  };
  run(handle<ask>(outermost, kept));
}

// ---- operations that seal

struct port {
  struct open : op<int, seals> {};
  struct own : op<std::unique_ptr<int>> {};
  struct fails : op<int, seals> {};
  using operations = op_list<open, own, fails>;
};
struct opens : handler<port> {
  int on(port::open) { return 1; }
  std::unique_ptr<int> on(port::own) { return std::make_unique<int>(2); }
  int on(port::fails) { throw std::runtime_error("closed"); }
};

TEST_CASE(
    "a choice after an answer that cannot be copied throws unforkable, which names the operation") {
  every_frame_dies const check;
  auto const opens_one = []() -> eff<int, pick, port> {
    int n = co_await port::open{};
    try {
      n += co_await pick::one{};  // throws
    } catch (unforkable const&) {
      n += 100;
      throw;
    }
    co_return n;
  };
  auto const owns_one = []() -> eff<int, pick, port> {
    auto const owned = co_await port::own{};
    co_return *owned + co_await pick::one{};
  };
  auto const opened =
      text_of<unforkable>([&] { run(handle(opens(), handle<pick>(tries_picks<>{2}, opens_one))); });
  CHECK_THAT(opened, Contains("pick::one at ") && Contains("port::open at ") &&
                         Contains("multi_shot_laws_test.cpp:"));
  auto const owned =
      text_of<unforkable>([&] { run(handle(opens(), handle<pick>(tries_picks<>{2}, owns_one))); });
  CHECK_THAT(owned, Contains("port::own at "));

  auto const at_most_one = []() -> eff<int, pick, port> {  // a program may catch it and continue
    int n = co_await port::open{};
    try {
      n += co_await pick::one{};
    } catch (unforkable const&) {
      n += 100;
    }
    n += co_await port::open{};
    co_return n;
  };
  CHECK(run(handle(opens(), handle<pick>(tries_picks<>{2}, at_most_one))) == numbers{102});
}

TEST_CASE("a capture before an answer that seals may be resumed many times") {
  every_frame_dies const check;
  auto const seals_later = []() -> eff<int, pick, port> {
    int const a = co_await pick::one{};
    int const b = co_await port::open{};
    co_return 10 * a + b;
  };
  CHECK(run(handle(opens(), handle<pick>(tries_picks<>{3}, seals_later))) == numbers{1, 11, 21});
}

TEST_CASE("an operation that throws, or that is handled inside, does not seal") {
  every_frame_dies const check;
  auto const fails_once = []() -> eff<int, pick, port> {
    int n = 0;
    try {
      n = co_await port::fails{};
    } catch (std::runtime_error const&) {
      n = 10;
    }
    co_return n + co_await pick::one{};
  };
  CHECK(run(handle(opens(), handle<pick>(tries_picks<>{2}, fails_once))) == numbers{10, 11});

  auto const inside = []() -> eff<int, pick> {
    co_return co_await handle(opens(), []() -> eff<int, pick, port> {
      auto const owned = co_await port::own{};
      int const n = co_await port::open{};
      co_return *owned + n + co_await pick::one{};
    });
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, inside)) == numbers{3, 4});
}

TEST_CASE("an operation that seals further out seals every recording handler that it crosses") {
  every_frame_dies const check;
  struct nested {
    static eff<int, flip, pick, port> body() {
      int const n = co_await port::open{};
      bool const heads = co_await flip::coin{};
      co_return heads ? n : 0;
    }
    static eff<int, pick, port> inside() {
      int n = 0;
      try {
        n = co_await handle<flip>(both_sides(), body);
      } catch (unforkable const&) {
        n = 10;
      }
      try {
        n += co_await pick::one{};
      } catch (unforkable const&) {
        n += 100;
      }
      co_return n;
    }
  };
  CHECK(run(handle(opens(), handle<pick>(tries_picks<>{2}, nested::inside))) == numbers{110});
}

TEST_CASE("the refusal of a choice is an answer, which all handlers that record on the way log") {
  every_frame_dies const check;
  struct nested {
    static eff<int, flip, pick> body() {
      int n = 0;
      try {
        n = co_await pick::one{};
      } catch (unforkable const&) {
        n = 5;
      }
      bool const heads = co_await flip::coin{};
      co_return heads ? 10 * n : n;
    }
    static eff<int, flip, pick> inside() { co_return co_await handle<flip>(both_sides(), body); }
    static eff<int, pick, port> outside() {
      co_await port::open{};
      co_return co_await handle<flip>(both_sides(), inside);
    }
  };
  CHECK(run(handle(opens(), handle<pick>(tries_picks<>{2}, nested::outside))) == numbers{55});
}

TEST_CASE("a sealed body may still be suspended by a clause that resumes once") {
  every_frame_dies const check;
  struct once_or_often : tries_picks<> {
    using tries_picks<>::on;
    outcome<numbers> on(ask::get, resumption<int, numbers> k) { return std::move(k).last(5); }
  };
  auto const body = []() -> eff<int, pick, ask, port> {
    int const n = co_await port::open{};
    co_return n + co_await ask::get{};
  };
  CHECK(run(handle(opens(), handle<pick, ask>(once_or_often{{2}}, body))) == numbers{6});
}

// ---- the limit of a log

TEST_CASE("a log over its limit is dropped, and its error names the limit") {
  detail::replay_log log(2);
  auto const at = [](auto o, std::source_location here = std::source_location::current()) {
    return detail::site_of(o, here);
  };
  detail::result_slot<int> number;
  number.set(1);
  log.record(at(ask::get{}), number);
  auto const ticked = at(tick::now{});
  for (int i = 0; i != 1000; ++i) log.record_void(ticked);  // one entry
  CHECK_FALSE(log.is_over());
  log.record(at(ask::get{}), number);
  CHECK(log.is_over());
  CHECK_THAT(text_of<unforkable>([&] { log.throw_unforkable(at(pick::one{})); }),
             Contains("pick::one at ") && Contains("limit of 2 "));

  detail::replay_log none(0);
  none.record_void(ticked);
  CHECK(none.is_over());
}

TEST_CASE("each log has its own limit: a copy counts on from the entries that it shares") {
  detail::replay_log log(3);
  detail::result_slot<int> number;
  number.set(1);
  auto const asked_here = detail::site_of(ask::get{}, std::source_location::current());
  log.record(asked_here, number);
  log.record(asked_here, number);
  detail::replay_log copy(log);
  log.record(asked_here, number);
  CHECK_FALSE(log.is_over());
  CHECK_FALSE(copy.is_over());
  log.record(asked_here, number);
  CHECK(log.is_over());
  copy.record(asked_here, number);
  CHECK_FALSE(copy.is_over());
  copy.rewind();
  detail::result_slot<int> again;
  for (int i = 0; i != 3; ++i) {
    REQUIRE(copy.replaying());
    CHECK(copy.replay(asked_here, again));
  }
  CHECK_FALSE(copy.replaying());
}

// ---- divergence

TEST_CASE(
    "a run that performs another operation is a divergence, which names both and their places") {
  int runs = 0;
  auto const text = second_run_of([&runs]() -> eff<int, pick, say, ask> {
    ++runs;
    if (runs == 1)
      co_await say::number(1);
    else
      co_await ask::get{};
    co_return co_await pick::one{};
  });
  CHECK_THAT(text, Contains("operation 1,") && Contains("performed ") && Contains("ask::get at ") &&
                       Contains("the first time it performed ") && Contains("say::number at "));
}

TEST_CASE("a run that performs the same operation at another place is a divergence") {
  int runs = 0;
  auto const text = second_run_of([&runs]() -> eff<int, pick, say> {
    co_await say::number(0);
    ++runs;
    if (runs == 1)
      co_await say::number(1);
    else
      co_await say::number(1);
    co_return co_await pick::one{};
  });
  CHECK_THAT(text, Contains("operation 2,"));
}

TEST_CASE("a run that ends before it reaches the capture is a divergence") {
  int runs = 0;
  auto const text = second_run_of([&runs]() -> eff<int, pick, say> {
    ++runs;
    if (runs == 1) co_await say::number(1);
    if (runs == 2) co_return 0;
    co_return co_await pick::one{};
  });
  CHECK_THAT(text, Contains("operation 1, ended") && Contains("say::number"));
}

TEST_CASE("a program cannot catch its own divergence") {
  int runs = 0;
  bool caught = false;
  auto const text = second_run_of([&]() -> eff<int, pick, say, ask> {
    ++runs;
    try {
      if (runs == 1)
        co_await say::number(1);
      else
        co_await ask::get{};
    } catch (...) {
      caught = true;
    }
    int n = 0;
    try {
      n = co_await pick::one{};
    } catch (...) {
      caught = true;
    }
    co_return n;
  });
  CHECK_THAT(text, Contains("ask::get") && Contains("say::number"));
  CHECK_FALSE(caught);
}

TEST_CASE("a divergence of a clause that asks outward is reported even if the program catches it") {
  int runs = 0;
  auto const text = second_run_of([&runs]() -> eff<int, pick, say, ask> {
    ++runs;
    auto const says_or_asks = [&runs](tick::now, outer<say, ask> up) {
      if (runs == 1)
        up(say::number(1));
      else
        (void)up(ask::get{});
    };
    auto const ticks = []() -> eff<int, tick, pick> {
      try {
        co_await tick::now{};
      } catch (...) {
      }
      co_return co_await pick::one{};
    };
    auto const ends = []() -> eff<int, tick> {
      try {
        co_await tick::now{};
      } catch (...) {
      }
      co_return 0;
    };
    int n = 0;
    if (runs == 1)
      n = co_await handle<tick>(says_or_asks, ticks);
    else
      n = co_await handle<tick>(says_or_asks, ends);
    co_return n;
  });
  CHECK_THAT(text, Contains("say::number"));
}

TEST_CASE("a divergence unwinds the frames of its run, and other captures are as they were") {
  every_frame_dies const check;
  std::string out;
  bool astray = false;
  keeps_picks<int> h;
  auto const body = [&]() -> eff<int, pick, ask> {
    leaves const here(out, 'd');
    if (astray) co_await ask::get{};
    int const a = co_await pick::one{};
    int const b = co_await pick::one{};
    co_return 10 * a + b;
  };
  by_value outermost;
  run(handle<ask>(outermost, [&]() -> eff<void, ask> {
    co_await handle<pick>(h, body);
    auto const first = h.waiting[0];
    resume(first, 1);
    auto const second = h.waiting[1];
    astray = true;
    CHECK_THROWS_AS(resume(second, 2) + resume(second, 2), replay_divergence);
    CHECK(out == "dd");
    astray = false;
    CHECK(resume(second, 3) == 13);
    CHECK(resume(first, 4) == 0);
    CHECK(out == "ddd");
  }));
  CHECK(outermost.times == 0);
}

TEST_CASE("a divergence of an inner body that runs again inside an outer replay is one for both") {
  every_frame_dies const check;
  int runs = 0;
  by_value outermost;
  auto const body = [&runs]() -> eff<int, flip, pick, ask, say> {
    ++runs;
    if (runs < 3)
      co_await ask::get{};
    else
      co_await say::number(1);
    bool const heads = co_await flip::coin{};
    co_return co_await pick::one{} + heads;
  };
  auto const inside = [&body]() -> eff<int, pick, ask, say> {
    int n = 0;
    try {
      n = co_await handle<flip>(both_sides(), body);
    } catch (replay_divergence const&) {
      n = 1000;  // may catch the inner divergence, since it resumed there
    }
    co_return n;
  };
  auto const all = [&] {
    return run(handle(silent(), handle<ask>(outermost, handle<pick>(tries_picks<>{1}, inside))));
  };
  CHECK(all() == numbers{1});  // heads 1 and tails 0: two runs, no third
  runs = 1;
  CHECK(all() == numbers{1000});
}

// ---- threads

TEST_CASE("of two threads that resume one capture, exactly one gets the waiting frames") {
  struct step {
    int value = 0;
    multi_resumption<int, step> rest;
  };
  struct hands_out {
    step on(pick::one, multi_resumption<int, step> k) const { return {0, std::move(k)}; }
    step on_return(int n) const { return {n, {}}; }
  };
  constexpr int rounds = 200;
  int wrong = 0;
  for (int round = 0; round != rounds; ++round) {
    std::atomic<int> starts = 0;
    auto const body = [&starts]() -> eff<int, pick> {
      starts.fetch_add(1, std::memory_order_relaxed);
      int n = 0;
      for (int i = 0; i != 3; ++i) n = 10 * n + co_await pick::one{};
      co_return n;
    };
    step first = run(handle<pick>(hands_out(), body));
    step const second = resume(first.rest, 1);
    std::atomic<int> ready = 0;
    std::array<int, 2> results{};
    auto const racer = [&ready, &results](multi_resumption<int, step> k, int me) {
      ready.fetch_add(1, std::memory_order_acq_rel);
      while (ready.load(std::memory_order_acquire) != 2) std::this_thread::yield();
      step const next = resume(k, me);
      step const last = resume(next.rest, 5);
      step const other = resume(next.rest, 6);
      results[static_cast<std::size_t>(me)] = 100 * last.value + other.value;
    };
    std::thread a(racer, second.rest, 0);
    std::thread b(racer, second.rest, 1);
    a.join();
    b.join();
    wrong += results != std::array{100 * 105 + 106, 100 * 115 + 116};
    wrong += starts.load() != 4;  // the first run, one of the two racers, and a second end for each
  }
  CHECK(wrong == 0);
}
