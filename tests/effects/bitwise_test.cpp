// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Bitwise resumption, which puts the frames of a body back.  Laws of every policy are in
/// multi_shot_laws_test.cpp, refusals in bitwise_refused_test.cpp.

using numbers = std::vector<int>;

/// Picks each of the `n` digits of a number.
eff<int, pick> digits(int n) {
  int all = 0;
  for (int i = 0; i != n; ++i) {
    int const digit = co_await pick::one{};
    all = 10 * all + digit;
  }
  co_return all;
}
/// All numbers of `n` digits below `base`.
numbers all_digits(int n, int base) {
  numbers all{0};
  for (int i = 0; i != n; ++i) {
    numbers longer;
    for (int const start : all)
      for (int digit = 0; digit != base; ++digit) longer.push_back(10 * start + digit);
    all = std::move(longer);
  }
  return all;
}

template <class Body>
numbers all_of(int n, Body body) {
  return run(handle<pick>(tries_picks<>{n}, body, bitwise()));
}

// ---- captures inside captures

TEST_CASE("captures nest as deep as a search goes, in a coroutine clause or in ordinary code") {
  every_frame_dies const check;
  struct by_calls {
    numbers on(pick::one, multi_resumption<int, numbers> k) {
      numbers all;
      for (int i = 0; i != 3; ++i) {
        numbers const some = resume(k, i);
        all.insert(all.end(), some.begin(), some.end());
      }
      return all;
    }
    numbers on_return(int n) { return {n}; }
  };
  auto const body = [] { return digits(6); };
  CHECK(all_of(3, body) == all_digits(6, 3));
  CHECK(run(handle<pick>(by_calls(), body, bitwise())) == all_digits(6, 3));
}

TEST_CASE("a search inside a search may end before the outer one picks again") {
  every_frame_dies const check;
  auto const inner = []() -> eff<int, pick> {
    numbers const all =
        co_await handle<pick>(tries_picks<>{3}, [] { return digits(2); }, bitwise());
    int sum = 0;
    for (int const n : all) sum += n;
    co_return sum;
  };
  auto const body = [inner]() -> eff<int, pick> {
    int const a = co_await pick::one{};
    int const sum = co_await inner();
    int const b = co_await pick::one{};
    co_return sum + 1000 * a + 2000 * b;
  };
  CHECK(all_of(2, body) == numbers{99, 2099, 1099, 3099});
}

TEST_CASE("a clause of one search may resume a resumption of another, each in its own place") {
  every_frame_dies const check;
  keeps_picks<int> first;
  auto const body = [] { return digits(2); };
  run(handle<pick>(first, body, bitwise()));
  REQUIRE(first.waiting.size() == 1);
  struct resumes_both {
    multi_resumption<int, int> other;
    int on(pick::one, multi_resumption<int, int> k) {
      int sum = 0;
      for (int i = 1; i != 4; ++i) {
        resume(other, i);
        sum += resume(k, i);
      }
      return sum;
    }
  };
  int const sum =
      run(handle<pick>(resumes_both{first.waiting[0]}, [] { return digits(2); }, bitwise()));
  CHECK(sum == 3 * 10 * (1 + 2 + 3) + 3 * (1 + 2 + 3));
  CHECK(first.waiting.size() == 1 + 3 + 9);
  CHECK(resume(first.waiting[1], 5) == 15);
}

TEST_CASE(
    "in breadth-first order each waiting capture is saved when the next is resumed, and put back") {
  every_frame_dies const check;
  keeps_picks<int> h;
  constexpr int length = 4;
  run(handle<pick>(h, [] { return digits(length); }, bitwise()));
  numbers seen;
  std::deque<std::pair<multi_resumption<int, int>, int>> queue{{h.waiting[0], 0}};
  while (!queue.empty()) {
    auto const [k, depth] = queue.front();
    queue.pop_front();
    for (int i = 0; i != 3; ++i) {
      h.waiting.clear();
      int const result = resume(k, i);
      if (depth + 1 == length)
        seen.push_back(result);
      else
        queue.emplace_back(h.waiting.at(0), depth + 1);
    }
  }
  CHECK(seen == all_digits(length, 3));
}

// ---- ways to end

eff<int, pick> throws_below(int depth, int when) {
  if (depth == 0) {
    int const picked = co_await pick::one{};
    if (picked == when) throw std::runtime_error("thrown " + std::to_string(picked));
    co_return picked;
  }
  int const below = co_await throws_below(depth - 1, when);
  co_return below + 10;
}
eff<int, pick> catches_above(int depth, int below, int when) {
  if (depth == 0) {
    int caught = 0;
    try {
      int const n = co_await throws_below(below, when);
      co_return n;
    } catch (std::runtime_error const&) {
      caught = 1000;
    }
    int const more = co_await pick::one{};
    co_return caught + more;
  }
  int const n = co_await catches_above(depth - 1, below, when);
  co_return n;
}

TEST_CASE("an exception deep in a clone is caught at its depth, or by the caller that resumed it") {
  every_frame_dies const check;
  int const above = GENERATE(0, 1, 5, 40);
  int const below = GENERATE(0, 1, 3, 30);
  CAPTURE(above, below);
  int const deep = 10 * below;
  auto const caught = [above, below] { return catches_above(above, below, 1); };
  CHECK(all_of(3, caught) == numbers{deep, 1000, 1001, 1002, deep + 2});

  struct forgives {
    eff<numbers> on(pick::one, multi_resumption<int, numbers> k) const {
      numbers all;
      for (int i = 0; i != 4; ++i) {
        try {
          numbers const some = co_await k(i % 3);
          all.insert(all.end(), some.begin(), some.end());
        } catch (std::runtime_error const&) {
          all.push_back(-1);
        }
      }
      co_return all;
    }
    numbers on_return(int n) const { return {n}; }
  };
  auto const uncaught = [below] { return throws_below(below, 1); };
  CHECK(run(handle<pick>(forgives(), uncaught, bitwise())) == numbers{deep, -1, deep + 2, deep});
}

TEST_CASE(
    "raising into a resumption unwinds its clone, and does not change what the next resume finds") {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(h, [] { return throws_below(20, 1); }, bitwise()));
  auto const k = h.waiting[0];
  auto const raised = raising{std::make_exception_ptr(std::logic_error("raised"))};
  CHECK_THROWS_WITH(resume(k, raised), "raised");
  CHECK(resume(k, 5) == 205);
  CHECK_THROWS_WITH(resume(k, raised), "raised");
  CHECK_THROWS_WITH(resume(k, 1), "thrown 1");
  CHECK(resume(k, 6) == 206);
}

/// Picks from `depth` calls down, and stops at once if a pick is odd.
eff<int, pick, stop> stops_if_odd(int depth) {
  int sum = depth;
  if (depth != 0) {
    sum += co_await stops_if_odd(depth - 1);
    co_return sum;
  }
  for (int i = 0; i != 3; ++i) {
    int const picked = co_await pick::one{};
    if (picked % 2 != 0) co_await stop::here{picked};
    sum = 10 * sum + picked;
  }
  co_return sum;
}

TEST_CASE("a clone that exits early is dropped by the clause of its exit") {
  every_frame_dies const check;
  struct tries_and_stops : tries_picks<> {
    using tries_picks<>::on;
    numbers on(stop::here s, resumption<never, numbers>) const { return {-s.why}; }
  };
  int const depth = GENERATE(0, 1, 7, 50);
  int const below = depth * (depth + 1) / 2;
  numbers expected{0, -1, 2, -1, 20, -1, 22, -1, 200, -1, 202, -1, 220, -1, 222};
  for (int& n : expected)
    if (n != -1) n += below;
  CHECK(run(handle<pick, stop>(
            tries_and_stops{{3}}, [depth] { return stops_if_odd(depth); }, bitwise())) == expected);
}

TEST_CASE("a clone may exit to a handler inside the search or to one outside") {
  every_frame_dies const check;
  struct stops {
    int on(stop::here s, resumption<never, int>) const { return -s.why; }
  };
  auto const inside = []() -> eff<int, pick> {
    int const n = co_await handle<stop>(stops(), [] { return stops_if_odd(2); });
    int const more = co_await pick::one{};
    co_return 10 * n + more;
  };
  CHECK(all_of(2, inside) == numbers{30, 31, -10, -9, -10, -9, -10, -9});

  struct ends_all {
    numbers on(stop::here s, resumption<never, numbers>) const { return {-s.why}; }
  };
  auto const to_outside = []() -> eff<numbers, stop> {
    co_return co_await handle<pick>(tries_picks<>{2}, [] { return stops_if_odd(2); }, bitwise());
  };
  CHECK(run(handle<stop>(ends_all(), to_outside)) == numbers{-1});
}

TEST_CASE("waiting captures may be dropped at every point, in every order") {
  every_frame_dies const check;
  int const rounds = GENERATE(1, 2, 3);
  bool const newest_first = GENERATE(false, true);
  bool const resumes_between = GENERATE(false, true);
  CAPTURE(rounds, newest_first, resumes_between);
  keeps_picks<int> h;
  run(handle<pick>(h, [] { return digits(4); }, bitwise()));
  for (int i = 0; i != rounds; ++i) {
    std::size_t const known = h.waiting.size();
    for (std::size_t j = 0; j != known; ++j) {
      auto const k = h.waiting[j];
      resume(k, i);
    }
  }
  while (!h.waiting.empty()) {
    if (newest_first)
      h.waiting.pop_back();
    else
      h.waiting.erase(h.waiting.begin());
    if (!resumes_between || h.waiting.empty()) continue;
    auto const k = h.waiting[h.waiting.size() / 2];
    numbers const results{resume(k, 7), resume(k, 8)};
    bool const are_ends = results[0] != 0;
    if (are_ends) CHECK(results[1] == results[0] + 1);
    if (!are_ends) h.waiting.resize(h.waiting.size() - 2);
  }
}

TEST_CASE(
    "a clause may drop its resumption before the first resume, between two, or after the last") {
  every_frame_dies const check;
  struct drops {
    int when;
    eff<int> on(pick::one, multi_resumption<int, int> k) const {
      int sum = 1000;
      if (when == 0) co_return sum;
      sum += co_await k(1);
      if (when == 1) co_return sum;
      if (when == 2) {
        k = {};
        co_return sum + 1;
      }
      sum += co_await std::move(k)(2);
      co_return sum;
    }
  };
  auto const body = [] { return digits(2); };
  auto const sum_of = [body](int when) { return run(handle<pick>(drops{when}, body, bitwise())); };
  CHECK(sum_of(0) == 1000);
  CHECK(sum_of(1) == 1000 + 1000 + 11);
  CHECK(sum_of(2) == 1001 + 1001 + 11);
  CHECK(sum_of(3) == 1000 + (1000 + 11 + 12) + (1000 + 21 + 22));
}

TEST_CASE("the last of several resumes makes no copy, and leaves nothing behind") {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(h, [] { return digits(2); }, bitwise()));
  auto k = std::move(h.waiting[0]);
  h.waiting.clear();

  SECTION("the only resume") {
    CHECK(resume(std::move(k), 1) == 0);
    CHECK_FALSE(k);
    CHECK_THROWS_AS(resume(k, 2), resumption_empty);
    CHECK(resume(std::move(h.waiting[0]), 2) == 12);
  }
  SECTION("the last resume after others") {
    resume(k, 1);
    resume(k, 2);
    CHECK(resume(std::move(k), 3) == 0);
    CHECK(resume(h.waiting[2], 4) == 34);
    CHECK(resume(h.waiting[0], 5) == 15);
    CHECK(resume(std::move(h.waiting[1]), 6) == 26);
    CHECK(resume(std::move(h.waiting[0]), 7) == 17);
  }
  SECTION(
      "the last resume of one of two that refer to the capture, which the other can still resume") {
    auto const other = k;
    CHECK(resume(std::move(k), 1) == 0);
    CHECK(resume(h.waiting[0], 2) == 12);
    CHECK(resume(other, 3) == 0);
    CHECK(resume(h.waiting[1], 4) == 34);
  }
}

// ---- contents of a frame

struct pair_of_sums {
  int total = 0;
  int last = 0;
};
eff<void, pick> add_through_pointer(pair_of_sums* to) {
  int const picked = co_await pick::one{};
  to->last = picked;
  to->total += picked;
}
eff<void, pick> add_through_reference(int& to, int const& factor) {
  int const picked = co_await pick::one{};
  to += factor * picked;
}
eff<int, pick> sum_of_span(std::span<int> of) {
  for (int& n : of) n += co_await pick::one{};
  int sum = 0;
  for (int const n : of) sum += n;
  co_return sum;
}

TEST_CASE("pointers and references to locals of a caller are valid after each resume") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick> {
    pair_of_sums sums;
    int plain = 0;
    int const factor = 10;
    std::array<int, 2> both{100, 200};
    int* const inside = &both[1];
    co_await add_through_pointer(&sums);
    co_await add_through_reference(plain, factor);
    *inside += 1000;
    int const sum = co_await sum_of_span(both);
    co_return 100'000 * sums.total + 10'000 * (sums.total - sums.last) + plain + sum + *inside;
  };
  numbers expected;
  for (int a = 0; a != 2; ++a)
    for (int b = 0; b != 2; ++b)
      for (int c = 0; c != 2; ++c)
        for (int d = 0; d != 2; ++d)
          expected.push_back(100'000 * a + 10 * b + (1300 + c + d) + (1200 + d));
  CHECK(all_of(2, body) == expected);
}

eff<int, tick, pick> ticks_and_picks(int& ticks_seen) {
  co_await tick::now{};
  ++ticks_seen;
  int const picked = co_await pick::one{};
  co_await tick::now{};
  ++ticks_seen;
  co_return picked;
}
eff<int, ask, tick, pick> reordered() {
  int ticks_seen = 0;
  int const asked = co_await ask::get{};
  int const picked = co_await ticks_and_picks(ticks_seen);
  int const again = co_await ticks_and_picks(ticks_seen);
  int const after = co_await ask::get{};
  co_return 10'000 * asked + 1000 * after + 100 * ticks_seen + 10 * picked + again;
}
eff<int, pick, state<int>, tick, ask> wide_row() {
  co_await state<int>::put{7};
  int const n = co_await reordered();
  int const kept = co_await state<int>::get{};
  co_return kept == 7 ? n : -1;
}

TEST_CASE("operations of a row of several effects find evidence that lies in frames of callers") {
  every_frame_dies const check;
  int ticks = 0;
  auto const counts_ticks = [&ticks](tick::now) { ++ticks; };
  auto const body = []() -> eff<int, tick, ask, pick> {
    co_return co_await handle(state_of(0), wide_row);
  };
  CHECK(run(handle<tick>(counts_ticks, handle<ask>(answers{3}, handle<pick>(tries_picks<>{2}, body,
                                                                            bitwise())))) ==
        numbers{33'400, 33'401, 33'410, 33'411});
  CHECK(ticks == 1 + 2 * (1 + 1 + 2 * 1));
}

template <std::size_t N>
eff<int, pick> wide(int seed) {
  std::array<int, N> much{};
  for (std::size_t i = 0; i != N; ++i) much[i] = seed + static_cast<int>(i);
  int picked = co_await pick::one{};
  much[N / 2] += picked;
  picked += co_await pick::one{};
  int sum = 0;
  for (std::size_t i = 0; i != N; ++i) sum += much[i] - seed - static_cast<int>(i);
  co_return 10 * sum + picked;
}
/// Wide and narrow frames by turns, one inside the other.
eff<int, pick> wide_and_narrow(int depth) {
  if (depth == 0) {
    int const last = co_await wide<3000>(depth);
    co_return last;
  }
  std::array<int, 300> much{};
  much[static_cast<std::size_t>(depth)] = depth;
  int const below = co_await wide_and_narrow(depth - 1);
  int const picked = depth % 20 == 0 ? co_await pick::one{} : 0;
  co_return below + picked + much[static_cast<std::size_t>(depth)] - depth;
}

TEST_CASE("frames over a kilobyte, and over a page, are put back as they were") {
  every_frame_dies const check;
  numbers const expected{0, 1, 11, 12};
  CHECK(all_of(2, [] { return wide<300>(7); }) == expected);
  CHECK(all_of(2, [] { return wide<3000>(7); }) == expected);
  CHECK(all_of(2, [] { return wide<100'000>(7); }) == expected);
  numbers const first = all_of(2, [] { return wide_and_narrow(40); });
  CHECK(first == numbers{0, 1, 1, 2, 1, 2, 2, 3, 11, 12, 12, 13, 12, 13, 13, 14});
}

eff<int, pick> nested(int depth) {
  if (depth == 0) {
    int const picked = co_await pick::one{};
    co_return picked;
  }
  int const below = co_await nested(depth - 1);
  co_return below + 1;
}

TEST_CASE("a chain of a hundred thousand frames is put back, thrown through, and dropped") {
  every_frame_dies const check;
  constexpr int depth = 100'000;
  CHECK(all_of(3, [] { return nested(depth); }) == numbers{depth, depth + 1, depth + 2});
  keeps_picks<int> h;
  auto const twice = []() -> eff<int, pick> {
    int const first = co_await nested(depth);
    int const second = co_await nested(depth);
    co_return 10 * (first - depth) + second - depth;
  };
  run(handle<pick>(h, twice, bitwise()));
  auto const k = h.waiting[0];
  CHECK(resume(k, 1) == 0);
  CHECK_THROWS_WITH(resume(k, raising{std::make_exception_ptr(std::runtime_error("x"))}), "x");
  CHECK(resume(k, 2) == 0);
  CHECK(resume(h.waiting[1], 3) == 13);
  CHECK(resume(h.waiting[2], 4) == 24);
}

TEST_CASE("a clone grows deep after a shallow capture, and shrinks after a deep one") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick> {
    int sum = 0;
    for (int depth : {0, 2000, 3, 500, 0, 1}) sum += co_await nested(depth) - depth;
    co_return sum;
  };
  numbers const all = all_of(2, body);
  REQUIRE(all.size() == 64);
  for (unsigned i = 0; i != 64; ++i) {
    int bits = 0;
    for (unsigned rest = i; rest != 0; rest /= 2) bits += rest % 2 != 0;
    CHECK(all[i] == bits);
  }
}

// ---- handlers inside, and outside

TEST_CASE("a state inside belongs to each clone, a state outside to all of them") {
  every_frame_dies const check;
  auto const counts = []() -> eff<int, pick, state<int>> {
    for (int i = 0; i != 3; ++i) {
      int const picked = co_await pick::one{};
      co_await modify<int>([picked](int s) { return 10 * s + picked + 1; });
    }
    co_return co_await state<int>::get{};
  };
  auto const inside = [counts]() -> eff<int, pick> {
    co_return co_await handle(state_of(0), counts);
  };
  CHECK(all_of(2, inside) == numbers{111, 112, 121, 122, 211, 212, 221, 222});

  auto const once = []() -> eff<int, pick, state<int>> {
    int const picked = co_await pick::one{};
    co_await modify<int>([picked](int s) { return 10 * s + picked + 1; });
    co_return co_await state<int>::get{};
  };
  CHECK(run(handle(state_of(0), handle<pick>(tries_picks<>{3}, once, bitwise()))) ==
        numbers{1, 12, 123});
}

TEST_CASE("each clone begins and ends its handlers inside again") {
  every_frame_dies const check;
  auto const adds = [](int by) {
    return [by]() -> eff<int, pick> {
      auto const part = []() -> eff<int, pick, state<int>> {
        int const picked = co_await pick::one{};
        int const s = co_await state<int>::get{};
        co_return 10 * s + picked;
      };
      co_return co_await handle(state_of(by), part);
    };
  };
  auto const body = [adds]() -> eff<int, pick> {
    auto const first_part = adds(1);
    auto const second_part = adds(2);
    int const first = co_await first_part();
    int const second = co_await second_part();
    co_return 100 * first + second;
  };
  CHECK(all_of(2, body) == numbers{1020, 1021, 1120, 1121});
}

struct counts_questions {
  int n = 0;
  int on(ask::get) { return ++n; }
};
struct counts_and_jumps {
  int n = 0;
  outcome<int> on(ask::get, resumption<int, int> k) { return std::move(k).last(++n); }
};
/// Handles the questions between picks by a handler in its own frame, and reads that at the end.
template <class Handler>
eff<int, pick> asks_its_own() {
  auto const asks_inside = []() -> eff<int, ask, pick> {
    int const a = co_await ask::get{};
    int const p = co_await pick::one{};
    int const b = co_await ask::get{};
    int const q = co_await pick::one{};
    co_return 1000 * a + 100 * p + 10 * b + q;
  };
  Handler mine;
  int const n = co_await handle<ask>(mine, asks_inside);
  int const last = co_await pick::one{};
  co_return 10 * n + mine.n + last;
}

TEMPLATE_TEST_CASE("a handler that the body borrows from its own frame belongs to each clone", "",
                   counts_questions, counts_and_jumps) {
  every_frame_dies const check;
  CHECK(all_of(2, asks_its_own<TestType>) ==
        numbers{10'202, 10'203, 10'212, 10'213, 11'202, 11'203, 11'212, 11'213});
}

TEMPLATE_TEST_CASE(
    "each clone keeps its borrowed handler when clones are saved, raised into and dropped", "",
    counts_questions, counts_and_jumps) {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(h, asks_its_own<TestType>, bitwise()));
  auto const raised = raising{std::make_exception_ptr(std::runtime_error("raised"))};
  auto const k = h.waiting[0];
  resume(k, 1);
  resume(k, 2);
  resume(h.waiting[1], 3);
  resume(h.waiting[2], 4);
  CHECK_THROWS_WITH(resume(k, raised), "raised");
  CHECK_THROWS_WITH(resume(h.waiting[3], raised), "raised");
  CHECK(resume(h.waiting[3], 5) == 11'237);
  CHECK(resume(h.waiting[4], 6) == 12'248);
  h.waiting.erase(h.waiting.begin(), h.waiting.begin() + 2);
  resume(h.waiting[0], 7);
  CHECK(resume(h.waiting.back(), 8) == 12'280);
}

TEST_CASE("a handler that the body borrows from outside is shared by all clones") {
  every_frame_dies const check;
  counts_questions outside;
  auto const body = [&outside]() -> eff<int, pick> {
    auto const asks_then_picks = []() -> eff<int, ask, pick> {
      int const a = co_await ask::get{};
      int const p = co_await pick::one{};
      int const b = co_await ask::get{};
      co_return 100 * a + 10 * b + p;
    };
    int const n = co_await handle<ask>(outside, asks_then_picks);
    co_return n;
  };
  CHECK(all_of(3, body) == numbers{120, 131, 142});
}

/// An owned handler outside, whose destruction shows in the use count.
struct owned_answers {
  std::shared_ptr<int> asked;
  int on(ask::get) { return ++*asked; }
};
struct doubles {
  int on(ask::get, outer<ask> up) const { return 2 * up(ask::get{}); }
};

eff<int, pick, ask> asks_between_picks() {
  int const a = co_await ask::get{};
  int const p = co_await pick::one{};
  int const b = co_await ask::get{};
  int const q = co_await pick::one{};
  co_return 1000 * a + 100 * p + 10 * b + q;
}
eff<int, pick, ask> doubled() { co_return co_await handle<ask>(doubles(), asks_between_picks); }
eff<int, pick, ask> doubled_twice() { co_return co_await handle<ask>(doubles(), doubled); }

TEST_CASE(
    "all clones of a handler that asks outward keep the handler outside, which is destroyed once") {
  every_frame_dies const check;
  auto const asked = std::make_shared<int>(0);
  auto const all = run(
      handle<ask>(owned_answers{asked}, handle<pick>(tries_picks<>{2}, doubled_twice, bitwise())));
  CHECK(all == numbers{4080, 4081, 4000 + 100 + 120, 4000 + 100 + 121});
  CHECK(*asked == 3);
  CHECK(asked.use_count() == 1);
}

TEST_CASE("clones that are kept, swapped and dropped keep the handler outside") {
  every_frame_dies const check;
  auto const asked = std::make_shared<int>(0);
  {
    keeps_picks<int> h;
    auto const kept = [&h]() -> eff<int, ask> {
      co_return co_await handle<pick>(h, doubled_twice, bitwise());
    };
    int const started = run(handle<ask>(owned_answers{asked}, kept));
    CHECK(started == 0);
    CHECK(asked.use_count() == 2);
    auto const k = h.waiting[0];
    resume(k, 1);
    resume(k, 2);
    CHECK(asked.use_count() == 2);
    CHECK(*asked == 3);
    CHECK(resume(h.waiting[1], 3) == 4000 + 100 + 80 + 3);
    CHECK(resume(h.waiting[2], 4) == 4000 + 200 + 120 + 4);
    CHECK(resume(h.waiting[1], 5) == 4000 + 100 + 80 + 5);
    resume(k, 6);
    CHECK(asked.use_count() == 2);
    h.waiting.pop_back();  // the capture that is in place
    resume(k, 7);
    h.waiting.erase(h.waiting.begin());
    CHECK(asked.use_count() == 2);
  }
  CHECK(asked.use_count() == 1);
}

TEST_CASE("a value clause of the search asks outward when the body performs to it") {
  every_frame_dies const check;
  struct tries_and_asks : tries_picks<> {
    using tries_picks<>::on;
    int on(ask::get, outer<ask> up) { return 10 * up(ask::get{}); }
  };
  auto const asked = std::make_shared<int>(0);
  auto const all = run(handle<ask>(
      owned_answers{asked}, handle<pick, ask>(tries_and_asks{{2}}, asks_between_picks, bitwise())));
  CHECK(all == numbers{10'200, 10'201, 10'000 + 100 + 300, 10'000 + 100 + 301});
  CHECK(asked.use_count() == 1);
}

TEST_CASE("in a composition with a search inside, each handler answers its own operations") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, state<int>, pick, ask> {
    int const asked = co_await ask::get{};
    int const picked = co_await pick::one{};
    co_await modify<int>([picked](int s) { return s + picked; });
    int const more = co_await pick::one{};
    int const s = co_await state<int>::get{};
    co_return 100 * asked + 10 * s + more;
  };
  CHECK(run(handle(state_of(5) | with<pick>(tries_picks<>{2}) | with<ask>(answers{3}), body,
                   bitwise())) == numbers{350, 351, 360, 361});
}

TEST_CASE("outer_of passes by a handler inside, in every clone") {
  every_frame_dies const check;
  auto const asks_both = []() -> eff<int, pick, ask> {
    int const near = co_await ask::get{};
    int const picked = co_await pick::one{};
    int const far = co_await outer_of<ask>(ask::get{});
    co_return 100 * near + 10 * far + picked;
  };
  auto const body = [asks_both]() -> eff<int, pick, ask> {
    co_return co_await handle<ask>(answers{1}, asks_both);
  };
  CHECK(run(handle<ask>(answers{2}, handle<pick>(tries_picks<>{3}, body, bitwise()))) ==
        numbers{120, 121, 122});
}

TEST_CASE("an operation may go out through the search to a clause that suspends it") {
  every_frame_dies const check;
  struct by_coroutine {
    int n = 0;
    eff<numbers> on(ask::get, resumption<int, numbers> k) {
      ++n;
      co_return co_await std::move(k)(n);
    }
  };
  struct by_jump {
    int n = 0;
    outcome<numbers> on(ask::get, resumption<int, numbers> k) { return std::move(k).last(++n); }
  };
  struct by_resume {
    int n = 0;
    numbers on(ask::get, resumption<int, numbers> k) { return resume(std::move(k), ++n); }
  };
  auto const search = [] { return handle<pick>(tries_picks<>{2}, asks_between_picks, bitwise()); };
  numbers const expected{1020, 1021, 1130, 1131};
  CHECK(run(handle<ask>(by_coroutine(), search())) == expected);
  CHECK(run(handle<ask>(by_jump(), search())) == expected);
  CHECK(run(handle<ask>(by_resume(), search())) == expected);
}

TEST_CASE("a search that a handler outside has suspended is resumed later, or dropped there") {
  every_frame_dies const check;
  struct parks_ask : region {
    std::optional<resumption<int, numbers>> k;
    numbers on(ask::get, resumption<int, numbers> r) {
      k.emplace(std::move(r));
      return {};
    }
  };
  int const questions = GENERATE(0, 1, 2, 3);
  parks_ask h;
  numbers all = run(handle<ask>(h, handle<pick>(tries_picks<>{2}, asks_between_picks, bitwise())));
  for (int i = 0; i != questions; ++i) {
    auto k = std::move(*h.k);
    h.k.reset();
    all = resume(std::move(k), i + 1);
  }
  CHECK(h.k.has_value() == (questions != 3));
  if (questions == 3) CHECK(all == numbers{1020, 1021, 1130, 1131});
}

// ---- clauses that resume once

TEST_CASE("a handler may resume some operations once and others many times") {
  every_frame_dies const check;
  struct mixed {
    int asked = 0;
    eff<numbers> on(pick::one, multi_resumption<int, numbers> k) {
      numbers all = co_await k(0);
      numbers const more = co_await std::move(k)(1);
      all.insert(all.end(), more.begin(), more.end());
      co_return all;
    }
    eff<numbers> on(ask::get, resumption<int, numbers> k) {
      ++asked;
      numbers all = co_await std::move(k)(asked);
      all.push_back(-1);
      co_return all;
    }
    outcome<numbers> on(tick::now, resumption<void, numbers> k) { return std::move(k).last(); }
    numbers on_return(int n) { return {n}; }
  };
  auto const body = []() -> eff<int, pick, ask, tick> {
    co_await tick::now{};
    int const a = co_await ask::get{};
    int const p = co_await pick::one{};
    co_await tick::now{};
    int const b = co_await ask::get{};
    int const q = co_await pick::one{};
    co_await tick::now{};
    co_return 1000 * a + 100 * p + 10 * b + q;
  };
  mixed h;
  CHECK(run(handle<pick, ask, tick>(h, body, bitwise())) ==
        numbers{1020, 1021, -1, 1130, 1131, -1, -1});
  CHECK(h.asked == 3);
}

TEST_CASE("a one-shot resume inside the body may have captures before and after it") {
  every_frame_dies const check;
  struct later {
    std::optional<resumption<int, later>> rest;
    int value = 0;
  };
  struct hands_out {
    later on(ask::get, resumption<int, later> k) const {
      later l;
      l.rest.emplace(std::move(k));
      return l;
    }
    later on_return(int n) const {
      later l;
      l.value = n;
      return l;
    }
  };
  auto const asks_then_picks = []() -> eff<int, ask, pick> {
    int const a = co_await ask::get{};
    int const p = co_await pick::one{};
    co_return 10 * a + p;
  };
  auto const body = [asks_then_picks]() -> eff<int, pick> {
    int const p = co_await pick::one{};
    int result = 0;
    {
      later waits = co_await handle<ask>(hands_out(), asks_then_picks);
      later const done = co_await std::move(*waits.rest)(p + 3);
      result = done.value;
    }
    co_return 100 * p + result;
  };
  CHECK(all_of(2, body) == numbers{30, 31, 140, 141});
}

// ---- operations with data

std::vector<std::pair<int, double>> const likely{{1, 0.5}, {2, 0.0}, {3, 0.25}};

TEST_CASE("an operation that owns memory leaves nothing in the frame once it is taken") {
  every_frame_dies const check;
  using pairs = std::vector<std::pair<int, int>>;
  auto const weighted = []() -> eff<std::pair<int, int>, choose> {
    int const a = co_await one_of_weighted(likely);
    std::vector<double> weights{0.1, 0, 0.9, 0.5};
    std::size_t const b = co_await choose::among(std::move(weights));
    bool const heads = co_await with_probability(1.0);
    co_await guard(heads && a + static_cast<int>(b) != 3);
    co_return std::pair(a, static_cast<int>(b));
  };
  CHECK(run(handle(all_solutions(), weighted, bitwise())) == pairs{{1, 0}, {1, 3}, {3, 2}, {3, 3}});
  auto const first = run(handle(first_solution(), weighted, bitwise()));
  CHECK(first == std::pair(1, 0));
}

TEST_CASE("one_of takes a few values, or a range that outlives the search") {
  every_frame_dies const check;
  std::vector<int> const odd{1, 3, 5};
  auto const body = [&odd]() -> eff<int, choose> {
    int const tens = co_await one_of(1, 2);
    int const ones = co_await one_of(odd);
    co_await guard(tens + ones != 4);
    co_return 10 * tens + ones;
  };
  CHECK(run(handle(all_solutions(), body, bitwise())) == numbers{11, 15, 21, 23, 25});
}

// ---- beside a scheduler

/// Searches, and yields in the middle.
eff<int, choose, proc, console> names_and_yields(char name) {
  int all = 0;
  for (int i = 0; i != 2; ++i) {
    int const bit = co_await one_of(0, 1);
    all = 2 * all + bit;
    co_await console::print{std::string(1, name) + std::to_string(all) + " "};
    co_await proc::yield{};
  }
  co_return all;
}
eff<void, proc, console> searches(char name) {
  auto const body = [name] { return names_and_yields(name); };
  std::vector<int> const all = co_await handle(all_solutions(), body, bitwise());
  co_await console::print{std::string(1, name) + ":" + std::to_string(all.size()) + " "};
}

TEST_CASE("a search may yield in the middle") {
  auto const p = []() -> eff<void, proc, console> { co_await searches('a'); };
  CHECK(printed_by(p) == "a0 a0 a1 a1 a2 a3 a:4 ");
}

TEST_CASE("two searches are two processes, and take turns") {
  auto const p = []() -> eff<void, spawning<proc, console>, proc, console> {
    co_await spawn([]() -> eff<void, proc, console> { co_await searches('a'); });
    co_await spawn([]() -> eff<void, proc, console> { co_await searches('b'); });
  };
  CHECK(printed_by(p) == "a0 b0 a0 b0 a1 b1 a1 b1 a2 b2 a3 b3 a:4 b:4 ");
}

TEST_CASE("a process that forks before a search or inside it is run again") {
  auto const before = []() -> eff<void, proc, console> {
    bool const first = co_await proc::fork{};
    co_await searches(first ? 'a' : 'b');
  };
  CHECK(printed_by(before) == "a0 b0 a0 b0 a1 b1 a1 b1 a2 b2 a3 b3 a:4 b:4 ");

  auto const forks = []() -> eff<int, choose, proc, console> {
    int const tens = co_await one_of(1, 2);
    int ones = 0;
    if (tens == 2) {
      bool const first = co_await proc::fork{};
      ones = first ? 3 : 4;
    }
    int const more = co_await one_of(100, 200);
    co_await console::print{std::to_string(more + 10 * tens + ones) + " "};
    co_await proc::yield{};
    co_return more;
  };
  auto const inside = [forks]() -> eff<void, proc, console> {
    std::vector<int> const all = co_await handle(all_solutions(), forks, bitwise());
    co_await console::print{":" + std::to_string(all.size()) + " "};
  };
  CHECK(printed_by(inside) == "110 210 123 124 223 224 :4 :4 ");
}

TEST_CASE("a process that exits or fails in the middle of a search destroys the search") {
  auto const exits = []() -> eff<void, proc, console> {
    auto const body = []() -> eff<int, choose, proc> {
      int const a = co_await one_of(1, 2);
      co_await proc::yield{};
      if (a == 2) co_await proc::exit{};
      co_return a;
    };
    std::vector<int> const all = co_await handle(all_solutions(), body, bitwise());
    co_await console::print{"never " + std::to_string(all.size())};
  };
  CHECK(printed_by(exits).empty());
  auto const fails = []() -> eff<void, proc, console> {
    auto const body = []() -> eff<int, choose, proc> {
      int const a = co_await one_of(1, 2);
      co_await proc::yield{};
      if (a == 2) throw std::runtime_error("two");
      co_return a;
    };
    std::vector<int> const all = co_await handle(all_solutions(), body, bitwise());
    co_await console::print{"never " + std::to_string(all.size())};
  };
  CHECK(end_of(fails).find("two") != std::string::npos);
}

// ---- ownership

TEST_CASE("an owned handler is destroyed once, however its body was resumed and dropped") {
  every_frame_dies const check;
  int const resumes = GENERATE(0, 1, 2, 3);
  bool const keeps_the_first = GENERATE(false, true);
  auto const alive = std::make_shared<int>(0);
  struct step {
    int value = 0;
    multi_resumption<int, step> rest;
  };
  struct hands_out {
    std::shared_ptr<int> alive;
    step on(pick::one, multi_resumption<int, step> k) { return {-1, std::move(k)}; }
    step on_return(int n) { return {n, {}}; }
  };
  {
    step first = run(handle<pick>(hands_out{alive}, [] { return digits(3); }, bitwise()));
    std::vector<step> later;
    for (int i = 0; i != resumes; ++i) later.push_back(resume(first.rest, i));
    if (!keeps_the_first) first.rest = {};
    bool const is_kept = keeps_the_first || resumes != 0;
    CHECK(alive.use_count() == (is_kept ? 2 : 1));
    for (step const& s : later) {
      step const third = resume(s.rest, 5);
      CHECK(resume(third.rest, 6).value % 100 == 56);
    }
    CHECK(alive.use_count() == (is_kept ? 2 : 1));
  }
  CHECK(alive.use_count() == 1);
}

TEST_CASE("the answer of a search may hold resumptions of the search, in any shape") {
  every_frame_dies const check;
  struct tree {
    int value = 0;
    std::vector<tree> branches;
    multi_resumption<int, tree> rest;
  };
  struct grows {
    eff<tree> on(pick::one, multi_resumption<int, tree> k) const {
      tree all;
      for (int i = 1; i != 3; ++i) {
        tree branch = co_await k(i);
        all.branches.push_back(std::move(branch));
      }
      all.rest = std::move(k);
      co_return all;
    }
    tree on_return(int n) const {
      tree leaf;
      leaf.value = n;
      return leaf;
    }
  };
  tree const all = run(handle<pick>(grows(), [] { return digits(3); }, bitwise()));
  REQUIRE(all.branches.size() == 2);
  CHECK(all.branches[1].branches[0].branches[1].value == 212);
  tree const again = resume(all.branches[0].branches[1].rest, 7);
  CHECK(again.value == 127);
  tree const whole = resume(all.rest, 8);
  CHECK(whole.branches[0].branches[1].value == 812);
  CHECK(resume(whole.branches[1].rest, 9).value == 829);
}
