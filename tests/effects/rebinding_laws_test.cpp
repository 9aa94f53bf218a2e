// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Laws of rebinding: a continuation is resumed under other handlers than those of its capture.
///
/// The laws are written over the ways of resuming: once, by replay, bitwise.

struct stopping {
  struct here : op<int> {};
  using operations = op_list<here>;
};

TEST_CASE("a handler may rebind effects that it handles itself to handlers further in") {
  every_frame_dies const check;
  struct doubles : handler<ask, stopping>, rebinds<ask> {
    int on(ask::get, outer<ask> up) const { return 2 * up(ask::get{}); }
    static eff<int, ask> under(resumption<int, int, ask> k) {
      co_return co_await std::move(k).under(0);
    }
    eff<int> on(stopping::here, resumption<int, int, ask> k) const {
      co_return co_await handle<ask>(answers{7}, under(std::move(k)));
    }
  };
  auto const body = []() -> eff<int, ask, stopping> {
    int const before = co_await outer_of<ask>(ask::get{});
    co_await stopping::here{};
    int const near = co_await ask::get{};  // the clause asks the new handler
    int const far = co_await outer_of<ask>(ask::get{});
    co_return 1000 * before + 100 * near + far;
  };
  auto const inside = [body]() -> eff<int, ask> { co_return co_await handle(doubles(), body); };
  CHECK(run(handle<ask>(answers{1}, inside)) == 1207);
}

/// The ways of resuming.
struct once {
  template <class R, class A, class... Es>
  using rest = resumption<R, A, Es...>;
  using policy = replay;
};
struct by_replay {
  template <class R, class A, class... Es>
  using rest = multi_resumption<R, A, Es...>;
  using policy = replay;
};
struct by_copy : by_replay {
  using policy = bitwise;
};

/// The progress of a body: its result, or its resumption.
template <class Way>
struct step {
  using waiting = typename Way::template rest<int, step, ask>;
  std::optional<int> done;
  waiting rest;
};
template <class Way>
struct hands_out : handler<stopping>, rebinds<ask> {
  step<Way> on(stopping::here, typename step<Way>::waiting k) const { return {{}, std::move(k)}; }
  step<Way> on_return(int n) const { return {n, {}}; }
};
template <class Way>
eff<step<Way>, ask> go_on_as_it_is(typename step<Way>::waiting k, int v) {
  co_return co_await std::move(k)(v);
}

/// Each digit is one answer: three questions, with a stop before the second and the third.
eff<int, ask, stopping> three_digits() {
  int n = co_await ask::get{};
  for (int i = 0; i != 2; ++i) {
    int const more = co_await stopping::here{};
    n = 10 * n + co_await ask::get{} + more;
  }
  co_return n;
}

template <class Way, class Handler, class Body>
step<Way> start(Handler&& h, Body body) {
  return run(handle<ask>(std::forward<Handler>(h), [body]() -> eff<step<Way>, ask> {
    co_return co_await handle(hands_out<Way>(), body, typename Way::policy());
  }));
}

// ---- laws of every way

TEMPLATE_TEST_CASE("a plain resume performs to the handlers of the capture", "", once, by_replay,
                   by_copy) {
  every_frame_dies const check;
  auto s = start<TestType>(answers{1}, three_digits);
  s = run(handle<ask>(answers{2}, [&] { return go_on_as_it_is<TestType>(std::move(s.rest), 0); }));
  s = resume(std::move(s.rest), 0);
  CHECK(s.done == 111);
}

template <class Way>
eff<step<Way>, ask> go_on(typename step<Way>::waiting k, int v) {
  co_return co_await std::move(k).under(v);
}

template <class Way, class Handler>
step<Way> resume_under(Handler&& h, step<Way>& from, int v = 0) {
  return run(
      handle<ask>(std::forward<Handler>(h), [&] { return go_on<Way>(std::move(from.rest), v); }));
}

TEMPLATE_TEST_CASE("a continuation resumed under a handler performs to that handler until it ends",
                   "", once, by_replay, by_copy) {
  every_frame_dies const check;
  auto s = start<TestType>(answers{1}, three_digits);
  s = resume_under<TestType>(answers{2}, s);
  s = resume_under<TestType>(answers{3}, s);
  CHECK(s.done == 123);
}

TEMPLATE_TEST_CASE(
    "a continuation that is captured again keeps the handlers that it was resumed under", "", once,
    by_replay, by_copy) {
  every_frame_dies const check;
  auto s = start<TestType>(answers{1}, three_digits);
  s = resume_under<TestType>(answers{2}, s);
  s = resume(std::move(s.rest), 5);
  CHECK(s.done == 127);
}

TEMPLATE_TEST_CASE("resuming under the handler of the capture is the same as a plain resume", "",
                   once, by_replay, by_copy) {
  every_frame_dies const check;
  struct counting {
    int times = 0;
    int on(ask::get) { return ++times; }
  };
  counting h;
  auto const inside = []() -> eff<std::optional<int>, ask> {
    auto s = co_await handle(hands_out<TestType>(), three_digits, typename TestType::policy());
    s = co_await go_on<TestType>(std::move(s.rest), 0);
    s = co_await go_on<TestType>(std::move(s.rest), 0);
    co_return s.done;
  };
  CHECK(run(handle<ask>(h, inside)) == 123);
  CHECK(h.times == 3);
}

template <class A>
struct jumps {
  int n;
  outcome<A> on(ask::get, resumption<int, A> k) const { return std::move(k).last(n); }
};
template <class A>
struct awaits {
  int n;
  eff<A> on(ask::get, resumption<int, A> k) const { co_return co_await std::move(k)(n); }
};
template <class A>
struct drives {
  int n;
  A on(ask::get, resumption<int, A> k) const { return resume(std::move(k), n); }
};
template <class A>
struct asks_outward {
  int n;
  int on(ask::get, outer<tick> up) const {
    up(tick::now{});
    return n;
  }
};

TEMPLATE_TEST_CASE("the new handler may have any kind of clause", "", once, by_replay, by_copy) {
  every_frame_dies const check;
  using answer = step<TestType>;
  auto s = start<TestType>(awaits<answer>{1}, three_digits);
  s = resume_under<TestType>(jumps<answer>{2}, s);
  s = resume_under<TestType>(awaits<answer>{3}, s);
  CHECK(s.done == 123);

  s = start<TestType>(jumps<answer>{4}, three_digits);
  s = resume_under<TestType>(drives<answer>{5}, s);
  int ticks = 0;
  s = run(handle<tick>([&ticks](tick::now) { ++ticks; },
                       [&s]() -> eff<answer, tick> {
                         co_return co_await handle<ask>(asks_outward<answer>{6},
                                                        go_on<TestType>(std::move(s.rest), 0));
                       }));
  CHECK(s.done == 456);
  CHECK(ticks == 1);
}

TEMPLATE_TEST_CASE("the new handler may keep the resumption, and its caller gets its answer", "",
                   once, by_replay, by_copy) {
  every_frame_dies const check;
  struct keeps_steps : region, handler<ask> {
    resumption<int, step<TestType>> k;
    step<TestType> on(ask::get, resumption<int, step<TestType>> r) {
      k = std::move(r);
      return {-1, {}};
    }
  };
  auto s = start<TestType>(answers{1}, three_digits);
  keeps_steps h;
  auto const at_once = resume_under<TestType>(h, s);
  CHECK(at_once.done == -1);
  s = resume(std::move(h.k), 2);  // the body is now at the next stop
  CHECK_FALSE(s.done);
  s = resume_under<TestType>(answers{3}, s);
  CHECK(s.done == 123);

  s = start<TestType>(answers{1}, three_digits);
  {
    keeps_steps gone;
    (void)resume_under<TestType>(gone, s);
    h.k = std::move(gone.k);
  }
  CHECK_THROWS_AS(resume(std::move(h.k), 2), resumption_expired);
}

TEMPLATE_TEST_CASE("an exception of the new handler arises at the operation", "", once, by_replay,
                   by_copy) {
  every_frame_dies const check;
  auto const careful = []() -> eff<int, ask, stopping> {
    co_await stopping::here{};
    int caught = 0;
    try {
      caught = co_await ask::get{};
    } catch (std::runtime_error const&) {
      caught = 7;
    }
    co_return caught;
  };
  struct fails {
    int on(ask::get) const { throw std::runtime_error("nobody knows"); }
  };
  auto s = start<TestType>(answers{1}, careful);
  s = resume_under<TestType>(fails(), s);
  CHECK(s.done == 7);
}

// ---- handlers inside the continuation

TEMPLATE_TEST_CASE("a handler inside the continuation stays the nearest one", "", once, by_replay,
                   by_copy) {
  every_frame_dies const check;
  auto const body = []() -> eff<int, ask, stopping> {
    auto const inside = []() -> eff<int, ask, stopping> {
      co_await stopping::here{};
      int const near = co_await ask::get{};
      int const far = co_await outer_of<ask>(ask::get{});
      co_return 10 * near + far;
    };
    int const under_its_own = co_await handle<ask>(answers{8}, inside);
    co_return 10 * under_its_own + co_await ask::get{};
  };
  auto s = start<TestType>(answers{1}, body);
  s = resume_under<TestType>(answers{2}, s);
  CHECK(s.done == 822);
}

TEMPLATE_TEST_CASE("a coroutine clause inside the continuation performs outward to the new handler",
                   "", once, by_replay) {
  every_frame_dies const check;
  struct asks_for_each {
    eff<int, ask> on(tick::now, resumption<void, int> k) const {
      int const before = co_await ask::get{};
      int const came = co_await std::move(k)();
      int const after = co_await ask::get{};
      co_return 100 * before + 10 * came + after;
    }
  };
  auto const body = []() -> eff<int, ask, stopping> {
    co_return co_await handle<tick>(asks_for_each(), []() -> eff<int, tick, stopping> {
      co_await tick::now{};
      co_return co_await stopping::here{};
    });
  };
  auto s = start<TestType>(answers{1}, body);
  s = resume_under<TestType>(answers{2}, s, 5);
  CHECK(s.done == 152);
}

TEMPLATE_TEST_CASE("a value clause inside the continuation asks the new handler", "", once,
                   by_replay, by_copy) {
  every_frame_dies const check;
  struct doubles {
    int on(ask::get, outer<ask> up) const { return 2 * up(ask::get{}); }
  };
  auto const body = []() -> eff<int, ask, stopping> {
    co_return co_await handle<ask>(doubles(), three_digits);
  };
  auto s = start<TestType>(answers{1}, body);
  s = resume_under<TestType>(answers{2}, s);
  s = resume_under<TestType>(answers{3}, s);
  CHECK(s.done == 246);
}

TEMPLATE_TEST_CASE(
    "a clause of the handler that rebinds performs to the handlers around that handler", "", once,
    by_replay) {
  every_frame_dies const check;
  using rest = typename TestType::template rest<int, int, ask>;
  struct asks_first : handler<stopping>, rebinds<ask> {
    static eff<int, ask> under_nine(rest k, int v) { co_return co_await std::move(k).under(v); }
    eff<int, ask> on(stopping::here, rest k) const {
      int const own = co_await ask::get{};
      co_return co_await handle<ask>(answers{9}, under_nine(std::move(k), own));
    }
  };
  int n = 0;
  auto const counts = [&n](ask::get) { return ++n; };
  auto const inside = []() -> eff<int, ask> {
    co_return co_await handle(asks_first(), three_digits);
  };
  CHECK(run(handle<ask>(counts, inside)) == 10 * (10 * 1 + 2 + 9) + 3 + 9);
}

TEMPLATE_TEST_CASE(
    "a part of the body that waits elsewhere performs to the handlers that the body has now", "",
    once, by_replay) {
  every_frame_dies const check;
  parks p;  // keeps a part of the body, which performs to the handlers of the body
  int heard = 0;
  auto const body = [&p, &heard]() -> eff<int, ask, stopping> {
    co_await handle(p, [&heard]() -> eff<void, tick, ask> {
      co_await tick::now{};
      heard = co_await ask::get{};
    });
    co_return co_await stopping::here{};
  };
  auto s = start<TestType>(answers{1}, body);
  auto const after = resume_under<TestType>(answers{2}, s, 3);
  CHECK(after.done == 3);
  resume(std::move(p.k));
  CHECK(heard == 2);
}

// ---- nesting

TEMPLATE_TEST_CASE("a continuation may be rebound inside one that is rebound", "", once,
                   by_replay) {
  every_frame_dies const check;
  auto const inner_steps = []() -> eff<int, ask, stopping> {
    auto s = co_await handle(hands_out<once>(), three_digits);
    int const more = co_await stopping::here{};  // a stop of the outer body
    s = co_await go_on_as_it_is<once>(std::move(s.rest), more);
    s = co_await handle<ask>(answers{8}, go_on<once>(std::move(s.rest), 0));
    co_return *s.done;
  };
  auto s = start<TestType>(answers{1}, inner_steps);
  // The body that is suspended inside asks the handlers of the outer body, so it hears 2.
  s = resume_under<TestType>(answers{2}, s);
  CHECK(s.done == 128);
}

struct poke {
  struct at : op<void> {
    explicit at(int v) : value(v) {}
    int value;
  };
  using operations = op_list<at>;
};

TEMPLATE_TEST_CASE("each of many nested resumes may choose a handler", "", once, by_replay) {
  every_frame_dies const check;
  using rest = typename TestType::template rest<void, int, ask>;
  struct pokes : handler<poke>, rebinds<ask> {
    static eff<int, ask> under(rest k) { co_return co_await std::move(k).under(); }
    eff<int, ask> on(poke::at p, rest k) const {
      co_return co_await handle<ask>(answers{p.value}, under(std::move(k)));
    }
  };
  auto const body = []() -> eff<int, ask, poke> {
    int sum = 0;
    for (int i = 1; i != 101; ++i) {
      co_await poke::at(i + co_await ask::get{});
      sum += co_await ask::get{};
    }
    co_return sum;
  };
  auto const inside = [body]() -> eff<int, ask> { co_return co_await handle(pokes(), body); };
  int expected = 0;
  for (int i = 1, now = 1; i != 101; ++i) expected += now += i;
  CHECK(run(handle<ask>(answers{1}, inside)) == expected);
}

// ---- lifetimes

TEMPLATE_TEST_CASE("an owned handler that was chosen at a resume lives as long as the continuation",
                   "", once, by_replay, by_copy) {
  every_frame_dies const check;
  struct answers_and_leaves {
    std::shared_ptr<leaves> at_the_end;
    int n;
    int on(ask::get) const { return n; }
  };
  std::string out;
  {
    auto s =
        start<TestType>(answers_and_leaves{std::make_shared<leaves>(out, 'a'), 1}, three_digits);
    s = resume_under<TestType>(answers_and_leaves{std::make_shared<leaves>(out, 'b'), 2}, s);
    CHECK(out.find('b') == out.npos);
    s = resume(std::move(s.rest), 0);
    CHECK(s.done == 122);
  }
  CHECK(out.size() == 2);
}

TEMPLATE_TEST_CASE("a resume is refused if a borrowed handler that was chosen has ended", "", once,
                   by_replay, by_copy) {
  every_frame_dies const check;
  auto s = start<TestType>(answers{1}, three_digits);
  {
    answers const borrowed{2};
    s = resume_under<TestType>(borrowed, s);
  }
  CHECK_THROWS_AS(resume(std::move(s.rest), 0), resumption_expired);
}

TEMPLATE_TEST_CASE("a borrowed handler of the capture may have ended if another one is chosen", "",
                   once, by_replay, by_copy) {
  every_frame_dies const check;
  std::optional<step<TestType>> s;
  {
    answers const borrowed{1};
    s = start<TestType>(borrowed, three_digits);
  }
  for (int i = 2; i != 4; ++i) {
    answers const borrowed{i};
    s = resume_under<TestType>(borrowed, *s);
  }
  CHECK(s->done == 123);
}

TEMPLATE_TEST_CASE("an expired or empty resumption cannot be resumed under other handlers", "",
                   once, by_replay, by_copy) {
  every_frame_dies const check;
  using rest = typename TestType::template rest<int, int, ask>;
  struct keeps_rests : region, handler<stopping>, rebinds<ask> {
    rest k;
    int on(stopping::here, rest r) {
      k = std::move(r);
      return -1;
    }
    static eff<int, ask> under(rest r) { co_return co_await std::move(r).under(0); }
  };
  rest kept;
  {
    keeps_rests h;
    auto const inside = [&h]() -> eff<int, ask> {
      co_return co_await handle(h, three_digits, typename TestType::policy());
    };
    CHECK(run(handle<ask>(answers{1}, inside)) == -1);
    kept = std::move(h.k);
  }
  CHECK_THROWS_AS(run(handle<ask>(answers{1}, keeps_rests::under(std::move(kept)))),
                  resumption_expired);
  CHECK_THROWS_AS(run(handle<ask>(answers{1}, keeps_rests::under(rest()))), resumption_empty);
}

TEMPLATE_TEST_CASE("dropping a resumption releases the handlers that were chosen for it", "", once,
                   by_replay, by_copy) {
  every_frame_dies const check;
  auto const counted = std::make_shared<int>(2);
  struct answers_by_count {
    std::shared_ptr<int> n;
    int on(ask::get) const { return *n; }
  };
  {
    auto s = start<TestType>(answers{1}, three_digits);
    s = resume_under<TestType>(answers_by_count{counted}, s);
    CHECK(counted.use_count() == 2);
  }
  CHECK(counted.use_count() == 1);
}

TEST_CASE("a body cannot be resumed under a handler that performs to that body") {
  every_frame_dies const check;
  parks p;
  std::string said;
  step<once> s;
  auto const body = [&p, &said, &s]() -> eff<int, ask, stopping> {
    co_await handle(p, [&said, &s]() -> eff<void, tick, ask> {
      co_await tick::now{};  // from here on the body is suspended
      auto const passes = [](ask::get, outer<ask> up) { return up(ask::get{}); };
      try {
        s = co_await handle<ask>(passes, go_on<once>(std::move(s.rest), 0));
      } catch (rebound_to_itself const& e) {
        said = e.what();
      }
    });
    co_return co_await stopping::here{};
  };
  s = start<once>(answers{1}, body);
  resume(std::move(p.k));
  CHECK_THAT(said, Contains("stopping::here") && Contains("rebinding_laws_test.cpp:"));
  CHECK_FALSE(s.rest);
}

// ---- resumed more than once

TEMPLATE_TEST_CASE("each run has handlers of its own", "", by_replay, by_copy) {
  every_frame_dies const check;
  auto const first = start<TestType>(answers{1}, three_digits);
  auto a = first;
  auto b = first;
  a = resume_under<TestType>(answers{2}, a);
  b = resume_under<TestType>(answers{3}, b);
  auto const a_again = a;
  a = resume(std::move(a.rest), 0);
  CHECK(a.done == 122);
  b = resume(std::move(b.rest), 0);
  CHECK(b.done == 133);
  a = a_again;
  a = resume_under<TestType>(answers{4}, a);
  CHECK(a.done == 124);
  a = a_again;
  a = resume(std::move(a.rest), 5);
  CHECK(a.done == 127);
  auto c = first;
  c = resume(std::move(c.rest), 0);
  c = resume_under<TestType>(answers{6}, c);
  CHECK(c.done == 116);
}

TEMPLATE_TEST_CASE(
    "a capture of an earlier run is refused if the borrowed handler of that run has ended", "",
    by_replay, by_copy) {
  every_frame_dies const check;
  auto const first = start<TestType>(answers{1}, three_digits);
  auto a = first;
  {
    answers const borrowed{2};
    a = resume_under<TestType>(borrowed, a);
  }
  auto b = first;
  b = resume_under<TestType>(answers{3}, b);
  b = resume(std::move(b.rest), 0);
  CHECK(b.done == 133);
  CHECK_THROWS_AS(resume(a.rest, 0), resumption_expired);
  a = resume_under<TestType>(answers{4}, a);
  CHECK(a.done == 124);
}

TEST_CASE("a replay asks neither the old handler nor the new one again") {
  every_frame_dies const check;
  struct counting {
    int times = 0;
    int on(ask::get) { return ++times; }
  };
  counting old_one;
  counting new_one;
  auto const first = start<by_replay>(old_one, three_digits);
  auto const borrowed_again = [&](step<by_replay> s) {
    return run(handle<ask>(new_one, [&s] { return go_on<by_replay>(s.rest, 0); }));
  };
  auto const second = borrowed_again(first);
  CHECK(borrowed_again(second).done == 112);
  CHECK(borrowed_again(second).done == 113);
  CHECK(borrowed_again(second).done == 114);
  CHECK(old_one.times == 1);
  CHECK(new_one.times == 4);
}

TEST_CASE("a handler that records around a rebinding answers from its log") {
  every_frame_dies const check;
  int heard = 0;
  auto const counts = [&heard](ask::get) { return ++heard; };
  auto const body = []() -> eff<int, pick, ask> {
    auto s = co_await handle(hands_out<once>(), three_digits);
    int const n = co_await pick::one{};
    auto const adds = [n](ask::get, outer<ask> up) { return 4 * n + up(ask::get{}); };
    s = co_await handle<ask>(adds, go_on<once>(std::move(s.rest), 0));
    int const m = co_await pick::one{};
    s = co_await go_on<once>(std::move(s.rest), m);
    co_return *s.done;
  };
  auto const all = run(handle<ask>(counts, handle<pick>(tries_picks<>{2}, body)));
  CHECK(all == std::vector{123, 125, 196, 198});
  CHECK(heard == 7);
}

// ---- several effects, types

using two = row<ask, reader<int>>;
struct hands_out_two : handler<stopping>, rebinds<reader<int>, ask> {
  using rest = resumption<int, std::string, reader<int>, ask>;
  std::vector<rest>& kept;
  explicit hands_out_two(std::vector<rest>& to) : kept(to) {}
  std::string on(stopping::here, rest k) const {
    kept.push_back(std::move(k));
    return "waits";
  }
};
eff<std::string, two> under_both(hands_out_two::rest k) {
  co_return co_await std::move(k).under(0);
}

TEST_CASE(
    "several effects are rebound together, and effects that are not named keep their handlers") {
  every_frame_dies const check;
  std::vector<hands_out_two::rest> kept;
  auto const body = []() -> eff<std::string, two, stopping, tick> {
    co_await stopping::here{};
    co_await tick::now{};
    int const a = co_await ask::get{};
    int const b = co_await reader<int>::ask{};
    co_return std::to_string(10 * a + b);
  };
  int old_ticks = 0;
  auto ticks = clauses{[&old_ticks](tick::now) { ++old_ticks; }};
  auto const inside = [&kept, body]() -> eff<std::string, two, tick> {
    co_return co_await handle(hands_out_two(kept), body);
  };
  CHECK(run(handle(reader_of(2) | with<ask>(answers{1}) | with<tick>(std::move(ticks)), inside)) ==
        "waits");
  CHECK(run(handle(with<ask>(answers{3}) | reader_of(4), under_both(std::move(kept.back())))) ==
        "34");
  CHECK(old_ticks == 1);
}

TEST_CASE("a resumption converts to one that does not rebind, and to any order of its effects") {
  STATIC_REQUIRE(std::is_convertible_v<resumption<int, int, ask>, resumption<int, int>>);
  STATIC_REQUIRE(
      std::is_convertible_v<resumption<int, int, ask, tick>, resumption<int, int, tick, ask>>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<resumption<int, int, ask>, resumption<int, int>>);
  STATIC_REQUIRE_FALSE(
      std::is_constructible_v<resumption<int, int, ask, tick>, resumption<int, int, ask>>);
  STATIC_REQUIRE(
      std::is_convertible_v<multi_resumption<int, int, ask>, multi_resumption<int, int>>);
  STATIC_REQUIRE_FALSE(
      std::is_constructible_v<multi_resumption<int, int, ask>, multi_resumption<int, int>>);
  STATIC_REQUIRE(sizeof(resumption<int, int, ask, tick>) == sizeof(void*));

  every_frame_dies const check;
  struct forgets : handler<stopping>, rebinds<ask> {  // a clause need not name the effects
    int on(stopping::here, resumption<int, int> k) const { return resume(std::move(k), 5); }
  };
  auto const inside = []() -> eff<int, ask> { co_return co_await handle(forgets(), three_digits); };
  CHECK(run(handle<ask>(answers{1}, inside)) == 166);
}

TEST_CASE("a handler of lambdas may rebind") {
  every_frame_dies const check;
  auto const under_seven = [](resumption<int, int, ask> k) -> eff<int, ask> {
    co_return co_await std::move(k).under(0);
  };
  auto const paused = [under_seven](stopping::here, resumption<int, int, ask> k) -> eff<int, ask> {
    co_return co_await handle<ask>(answers{7}, under_seven(std::move(k)));
  };
  auto const inside = [paused]() -> eff<int, ask> {
    co_return co_await handle<stopping>(clauses{rebinds<ask>(), paused}, three_digits);
  };
  CHECK(run(handle<ask>(answers{1}, inside)) == 177);
}
