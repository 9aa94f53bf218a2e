// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Laws of every handler.

using get = state<int>::get;

/// The kinds of clauses; each answers ask::get with 5.
struct by_value {
  int on(ask::get) { return 5; }
};
struct by_asking {
  int on(ask::get, outer<tick> up) {
    up(tick::now{});
    return 5;
  }
};
template <class A>
struct by_jump {
  outcome<A> on(ask::get, resumption<int, A> k) { return std::move(k).last(5); }
};
template <class A>
struct by_coroutine {
  eff<A> on(ask::get, resumption<int, A> k) { co_return co_await std::move(k)(5); }
};

// ---- identity, forwarding, composition

TEST_CASE("a handler of an effect that is not performed changes nothing") {
  every_frame_dies const check;
  auto const body = []() -> eff<int> { co_return 3; };
  CHECK(run(handle<ask>(by_value(), body)) == run(body()));
  CHECK(run(handle<ask>(by_jump<int>(), body)) == run(body()));
  CHECK(run(handle<ask>(by_coroutine<int>(), body)) == run(body()));
  CHECK(run(handle<tick>([](tick::now) {}, handle<ask>(by_asking(), body))) == run(body()));
}

TEST_CASE("a handler that forwards every question changes nothing") {
  every_frame_dies const check;
  auto const forwards = [](ask::get, outer<ask> up) { return up(ask::get{}); };
  CHECK(run(handle<ask>(answers{8}, handle<ask>(forwards, asks()))) ==
        run(handle<ask>(answers{8}, asks())));

  struct forwards_by_coroutine {
    eff<int, ask> on(ask::get, resumption<int, int> k) {
      int const answer = co_await ask::get{};
      co_return co_await std::move(k)(answer);
    }
  };
  CHECK(run(handle<ask>(answers{8}, handle<ask>(forwards_by_coroutine(), asks()))) == 8);

  keeps k;  // even to a clause that keeps the resumption
  auto const inside = []() -> eff<int, ask> {
    co_return 10 * co_await handle<ask>(forwards_by_coroutine(), asks());
  };
  CHECK(run(handle(k, inside)) == -1);
  CHECK(resume(std::move(k.k), 4) == 40);
}

using put = state<int>::put;
using fail = failure<std::string>::fail;

eff<int, state<int>, failure<std::string>> puts_then_fails() {
  co_await put{1};
  int const n = co_await get{};
  if (n == 1) co_await fail{"gave up"};
  co_return n;
}

TEST_CASE("handlers that are composed nest, with the first one innermost") {
  every_frame_dies const check;
  auto const nested =
      run(handle(failure_to_optional<std::string>(), handle(state_returned(0), puts_then_fails())));
  auto const composed =
      run(handle(state_returned(0) | failure_to_optional<std::string>(), puts_then_fails()));
  CHECK(nested == composed);
  CHECK_FALSE(nested.has_value());

  state_of counter(0);  // a named handler is borrowed, also in a composition
  auto const other = run(handle(failure_to_optional<std::string>() | counter, puts_then_fails()));
  CHECK_FALSE(other.has_value());
  CHECK(counter.value() == 1);

  auto const puts_the_answer = []() -> eff<int, ask, state<int>, failure<std::string>> {
    int const n = co_await ask::get{};
    co_await put{n};
    co_return n + 1;
  };
  auto const three =
      run(handle(with<ask>(answers{2}) | state_returned(1) | failure_to_variant<std::string>(),
                 puts_the_answer));
  CHECK(std::get<0>(three) == std::pair(3, 2));
}

eff<std::string, ask, tick> asks_and_ticks() {
  std::string all;
  for (int i = 0; i != 3; ++i) {
    int const n = co_await ask::get{};
    all += std::to_string(n);
    co_await tick::now{};
  }
  co_return all;
}

template <class A>
struct by_resume {
  A on(ask::get, resumption<int, A> k) { return resume(std::move(k), 5); }
};

TEST_CASE("clauses of every kind that give the same answers give the same result") {
  every_frame_dies const check;
  int ticks = 0;
  auto const ticking = [&ticks](tick::now) { ++ticks; };
  auto const under = [&](auto handler) {
    return run(handle<tick>(ticking, handle<ask>(std::move(handler), asks_and_ticks())));
  };
  CHECK(under(by_value()) == "555");
  CHECK(under(by_jump<std::string>()) == "555");
  CHECK(under(by_coroutine<std::string>()) == "555");
  CHECK(under(by_resume<std::string>()) == "555");
  CHECK(ticks == 12);
  CHECK(under(by_asking()) == "555");
  CHECK(ticks == 18);
}

/// Runs `body` under a state with value `initial`, and gives the result and the last value.
template <class Body>
auto with_state(int initial, Body body) {
  return run(handle(state_returned(initial), std::move(body)));
}

// ---- state

TEST_CASE("state: get gives the value of the last put, and changes nothing") {
  every_frame_dies const check;
  int const a = GENERATE(0, 1, -7);
  auto const put_then_get = [a]() -> eff<int, state<int>> {
    co_await put{a};
    co_return co_await get{};
  };
  auto const put_twice = [a]() -> eff<void, state<int>> {
    co_await put{a + 1};
    co_await put{a};
  };
  auto const get_twice = []() -> eff<int, state<int>> {
    int const first = co_await get{};
    int const second = co_await get{};
    co_return first - second;
  };
  auto const put_what_is_there = []() -> eff<void, state<int>> {
    int const now = co_await get{};
    co_await put{now};
  };
  CHECK(with_state(5, put_then_get) == std::pair(a, a));
  CHECK(with_state(5, put_twice) == a);
  CHECK(with_state(a, get_twice) == std::pair(0, a));
  CHECK(with_state(a, put_what_is_there) == a);
}

TEST_CASE("modify puts the result of a function of the value") {
  every_frame_dies const check;
  int variable = 1;
  run(handle(state_in(variable), modify<int>([](int n) { return n + 1; })));
  CHECK(variable == 2);
  CHECK(with_state(20, modify<int>([](int n) { return 2 * n + 2; })) == 42);
}

// ---- order of handlers

TEST_CASE("a state inside is lost when its body is dropped, a state outside is kept") {
  every_frame_dies const check;
  auto const inside =
      run(handle(state_returned(0) | failure_to_optional<std::string>(), puts_then_fails()));
  CHECK_FALSE(inside.has_value());
  auto const outside =
      run(handle(failure_to_optional<std::string>() | state_returned(0), puts_then_fails()));
  CHECK(outside == std::pair(std::optional<int>(), 1));
}

TEST_CASE("a handler is deep: a resumed body runs under it again, with its state") {
  every_frame_dies const check;
  struct counts {
    int n = 0;
    outcome<std::string> on(ask::get, resumption<int, std::string> k) {
      return std::move(k).last(++n);
    }
  };
  auto const body = []() -> eff<std::string, ask> {
    std::string all;
    for (int i = 0; i != 4; ++i) {
      int const n = co_await ask::get{};
      all += std::to_string(n);
    }
    co_return all;
  };
  CHECK(run(handle<ask>(counts(), body)) == "1234");
}

TEST_CASE("the nearest handler answers, and outer_of goes past it") {
  every_frame_dies const check;
  auto const body = []() -> eff<std::string, ask> {
    int const near = co_await ask::get{};
    int const far = co_await outer_of<ask>(ask::get{});
    co_return std::to_string(near) + std::to_string(far);
  };
  CHECK(run(handle<ask>(answers{1}, handle<ask>(answers{2}, body))) == "21");
  CHECK_THROWS_AS(run(handle<ask>(answers{1}, body)), no_outer_handler);

  auto const masked_twice = [body]() -> eff<std::string, ask> {
    co_return co_await handle<ask>([](ask::get, outer<ask> up) { return 10 * up(ask::get{}); },
                                   body);
  };
  CHECK(run(handle<ask>(answers{1}, handle<ask>(answers{2}, masked_twice))) == "202");
}

// ---- rows

TEST_CASE("a row is a set, and a coroutine may call one with a subset of its row, at any depth") {
  every_frame_dies const check;
  using two = row<ask, tick>;
  struct calls {
    static eff<int, ask> one() { co_return co_await ask::get{}; }
    static eff<int, tick, ask> both() {
      co_await tick::now{};
      co_return co_await one();
    }
    static eff<int, two, two, ask> again() { co_return co_await both() + co_await one(); }
    static eff<int, state<int>, two> wide() {
      int const n = co_await again();
      co_await put{n};
      co_return n + co_await again();
    }
  };
  STATIC_REQUIRE(std::is_same_v<eff<int, ask, tick>::effects, eff<int, two, tick, two>::effects>);
  int ticks = 0;
  auto const answer = run(handle(
      state_returned(0) | with<tick>([&ticks](tick::now) { ++ticks; }) | with<ask>(answers{3}),
      calls::wide()));
  CHECK(answer == std::pair(12, 6));
  CHECK(ticks == 2);
}

TEST_CASE("one handler may discharge several effects, in any order") {
  every_frame_dies const check;
  struct both {
    int ticks = 0;
    int on(ask::get) { return ticks; }
    void on(tick::now) { ++ticks; }
  };
  CHECK(run(handle<ask, tick>(both(), asks_and_ticks())) == "012");
  CHECK(run(handle<tick, ask, tick>(both(), asks_and_ticks())) == "012");
}

TEST_CASE("tagged effects are distinct, and any handler of the effect handles a tagged one") {
  every_frame_dies const check;
  struct left;
  struct right;
  using both = row<tagged<left, state<int>>, tagged<right, state<int>>>;
  auto const swaps = []() -> eff<int, both> {
    int const l = co_await in<left>(get{});
    int const r = co_await in<right>(get{});
    co_await in<left>(put{r});
    co_await in<right>(put{l});
    co_return 10 * l + r;
  };
  state_of l(1);
  state_of r(2);
  CHECK(run(handle<tagged<left, state<int>>>(l, handle<tagged<right, state<int>>>(r, swaps))) ==
        12);
  CHECK(l.value() == 2);
  CHECK(r.value() == 1);

  auto const answer = run(handle<tagged<left, ask>>(
      clauses{[](tagged_operation<left, ask::get>) { return 4; }},
      []() -> eff<int, tagged<left, ask>> { co_return co_await in<left>(ask::get{}); }));
  CHECK(answer == 4);
  auto const passed = run(handle<tagged<left, ask>>(
      answers{6},
      handle<ask>([](ask::get, outer<tagged<left, ask>> up) { return up(in<left>(ask::get{})); },
                  asks())));
  CHECK(passed == 6);
}

// ---- lambdas, return clauses

TEST_CASE("a handler may be made of lambdas, with a return clause") {
  every_frame_dies const check;
  auto const shouted = run(handle<ask>(
      clauses{[](ask::get) { return 4; }, returns{[](int n) { return std::to_string(n) + "!"; }}},
      asks()));
  CHECK(shouted == "4!");
  auto const counted = run(handle<tick>(clauses{[](tick::now) {}, returns{[] { return 1; }}},
                                        []() -> eff<void, tick> { co_await tick::now{}; }));
  CHECK(counted == 1);
}

TEST_CASE("an answer may have another type than the result, in every kind of clause") {
  every_frame_dies const check;
  struct collects {
    std::vector<int> on_return(int last) { return {last}; }
    eff<std::vector<int>> on(ask::get, resumption<int, std::vector<int>> k) {
      std::vector<int> all = co_await std::move(k)(2);
      all.push_back(1);
      co_return all;
    }
  };
  auto const twice = []() -> eff<int, ask> {
    int const a = co_await ask::get{};
    co_return 10 * a + co_await ask::get{};
  };
  CHECK(run(handle<ask>(collects(), twice)) == std::vector{22, 1, 1});
}
