// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Cycles: an answer in a replay log holds a resumption whose past is that log.  Once no program
/// can resume any of them, all of it is freed.

/// An operation whose answer may hold anything.
using closure = std::function<int()>;
struct closing {
  struct close : op<closure> {};
  using operations = op_list<close>;
};
/// Answers with a closure that holds the resumption of that answer.
struct gives_itself : handler<closing> {
  eff<int> on(closing::close, multi_resumption<closure, int> k) const {
    closure const own = [k] { return k ? 1 : 0; };  // named: g++ 12
    co_return co_await k(own);
  }
};

TEST_CASE("an answer that holds its own resumption is freed with the last run") {
  every_frame_dies const check;
  int const asked_before = GENERATE(0, 1, 2, 3, 4, 5, 200);
  int const closed = GENERATE(1, 2, 3, 200);
  auto const body = [&]() -> eff<int, closing, ask> {
    int sum = 0;
    for (int i = 0; i != asked_before; ++i) sum += co_await ask::get{};
    for (int i = 0; i != closed; ++i) {
      closure const f = co_await closing::close{};
      sum += f();
    }
    co_return sum;
  };
  int const sum = run(handle(gives_itself() | with<ask>(answers{1}), body));
  CHECK(sum == asked_before + closed);
}

using list = std::vector<int>;

TEST_CASE("a replay gives answers that hold their own resumptions again") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, closing, pick> {
    int sum = 0;
    for (int i = 0; i != 3; ++i) {
      closure const f = co_await closing::close{};
      sum += f() + 10 * co_await pick::one{};
    }
    co_return sum;
  };
  struct both : tries_picks<> {
    eff<list> on(closing::close, multi_resumption<closure, list> k) const {
      closure const one = [k] { return k ? 1 : 0; };
      closure const two = [k] { return k ? 2 : 0; };
      list const first = co_await k(one);
      list const second = co_await k(two);
      list all = first;
      all.insert(all.end(), second.begin(), second.end());
      co_return all;
    }
    using tries_picks<>::on;
  };
  auto const all = run(handle<closing, pick>(both{{2}}, body));
  CHECK(all.size() == 64);
  CHECK(all.front() == 3);
  CHECK(all.back() == 36);
}

/// Raises an exception into a tick, which holds the resumption of that tick.
struct thrown {
  multi_resumption<void, int> k;
};
struct fails_with_itself : handler<tick> {
  eff<int> on(tick::now, multi_resumption<void, int> k) const {
    raising const own(std::make_exception_ptr(thrown{k}));  // named: g++ 12
    co_return co_await k(own);
  }
};

TEST_CASE("an exception raised into an operation may hold the resumption of the operation") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, tick, ask> {
    int caught = co_await ask::get{};
    try {
      co_await tick::now{};
    } catch (thrown const& f) {
      caught += f.k ? 10 : 0;
    }
    co_return caught;
  };
  CHECK(run(handle(fails_with_itself() | with<ask>(answers{1}), body)) == 11);
}

/// Answers with the closure that it is given.
struct echoing {
  struct echo : op<closure> {
    explicit echo(closure f) : what(std::move(f)) {}
    closure what;
    friend std::size_t hash_value(echo const&) { return 0; }
  };
  using operations = op_list<echo>;
};
struct echoes : handler<echoing> {
  closure on(echoing::echo e) const { return std::move(e.what); }
};

struct token {
  multi_resumption<int, token> k;
};
/// Answers with the resumption of a pick.
struct hands_out : handler<pick> {
  token on(pick::one, multi_resumption<int, token> k) const { return {std::move(k)}; }
  token on_return(int) const { return {}; }
};

eff<int, pick, ask> asks_and_picks() {
  int const n = co_await ask::get{};
  co_return n + co_await pick::one{};
}

TEST_CASE("an answer may hold a resumption of a body inside the body that receives it") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, closing, echoing, ask> {
    token const inside = co_await handle(hands_out(), asks_and_picks);
    closure const holds = [inside] { return inside.k ? 1 : 0; };
    closure const held = co_await echoing::echo(holds);
    closure const own = co_await closing::close{};
    co_return held() + own() + co_await ask::get{};
  };
  CHECK(run(handle(gives_itself() | echoes() | with<ask>(answers{1}), body)) == 3);
}

TEST_CASE("a body that has received such answers may be dropped") {
  every_frame_dies const check;
  struct drops : gives_itself, echoes {
    using handles = row<closing, echoing, stop>;
    using echoes::on;
    using gives_itself::on;
    int on(stop::here s, resumption<never, int>) const { return s.why; }
  };
  auto const body = []() -> eff<int, closing, echoing, stop, ask> {
    token const inside = co_await handle(hands_out(), asks_and_picks);
    closure const own = co_await closing::close{};
    closure const holds = [inside] { return inside.k ? 1 : 0; };
    closure const held = co_await echoing::echo(holds);
    co_await stop::here(own() + held());
  };
  CHECK(run(handle(drops() | with<ask>(answers{1}), body)) == 2);
}

TEST_CASE("a result or an exception of a body may hold a resumption of a body inside") {
  every_frame_dies const check;
  struct copied_only {  // moving from it changes nothing
    explicit copied_only(token t) : inside(std::move(t)) {}
    copied_only(copied_only const&) = default;
    copied_only& operator=(copied_only const&) = default;
    ~copied_only() = default;
    token inside;
  };
  bool const throws = GENERATE(false, true);
  auto const body = [throws]() -> eff<copied_only, ask, tick> {
    token inside = co_await handle(hands_out(), []() -> eff<int, pick, ask, tick> {
      co_await tick::now{};  // performs to the handler outside
      co_return co_await asks_and_picks();
    });
    if (throws) throw copied_only(inside);
    co_return copied_only(inside);
  };
  auto const ticks = clauses{[](tick::now) {}};
  try {
    auto const result = run(handle(with<tick>(ticks) | with<ask>(answers{1}), body));
    CHECK(bool(result.inside.k));
    CHECK_FALSE(throws);
  } catch (copied_only const& e) {
    CHECK(bool(e.inside.k));
    CHECK(throws);
  }
}

TEST_CASE(
    "a resumption from an answer that was kept outside can be resumed when its body has ended") {
  every_frame_dies const check;
  struct keeps_a_copy : handler<closing> {
    std::vector<multi_resumption<closure, int>>& kept;
    explicit keeps_a_copy(std::vector<multi_resumption<closure, int>>& to) : kept(to) {}
    eff<int> on(closing::close, multi_resumption<closure, int> k) const {
      kept.push_back(k);
      closure const own = [k] { return k ? 1 : 0; };
      co_return co_await k(own);
    }
  };
  std::vector<multi_resumption<closure, int>> kept;
  auto const body = []() -> eff<int, closing, ask> {
    int sum = co_await ask::get{};
    for (int i = 0; i != 3; ++i) {
      closure const f = co_await closing::close{};
      sum = 10 * sum + f();
    }
    co_return sum;
  };
  CHECK(run(handle(keeps_a_copy(kept) | with<ask>(answers{1}), body)) == 1111);
  REQUIRE(kept.size() == 3);
  auto const last = kept[2];
  kept.clear();
  CHECK(resume(last, [last] { return 7; }) == 1117);
  CHECK(resume(last, [] { return 8; }) == 1118);
}

// ---- delimited control, with prompts that are types: R. K. Dybvig, S. Peyton Jones, A. Sabry, "A
// monadic framework for delimited continuations", DOI 10.1017/S0956796807006259

/// Captures up to the handler of `Label`, inclusive, and calls `f` with the captured continuation.
template <class Label, class Answer, class Hole, class... Outside>
struct subcont : op<Hole> {
  using function = std::function<eff<Answer, Outside...>(multi_resumption<Hole, Answer>)>;
  explicit subcont(function g) : f(std::move(g)) {}
  function f;
  friend std::size_t hash_value(subcont const&) { return 0; }
};

struct only {
  using take = subcont<only, list, list>;
  using operations = op_list<take>;
};
struct delimits_only : handler<only> {
  using rest = multi_resumption<list, list>;
  eff<list> on(only::take t, rest k) const { return go(std::move(t.f), std::move(k)); }
  static eff<list> go(only::take::function f, rest k) { co_return co_await f(std::move(k)); }
};
eff<list, only> one_two(only::take::function f) {
  list l = co_await only::take(f);
  l.insert(l.begin(), {1, 2});
  co_return l;
}

struct p1;
struct p2;
struct p3;
using computation = eff<int, p1, p2, p3>;
using thunk = std::function<computation()>;
using rest = multi_resumption<thunk, int>;
template <class Label>
using take_of = subcont<Label, int, thunk, p1, p2, p3>;
struct p1 {
  using operations = op_list<take_of<p1>>;
};
struct p2 {
  using operations = op_list<take_of<p2>>;
};
struct p3 {
  using operations = op_list<take_of<p3>>;
};

template <class Label>
computation take(std::function<computation(rest)> f) {
  thunk const t = co_await take_of<Label>(std::move(f));
  co_return co_await t();
}

TEST_CASE("a subcontinuation is dropped, or pushed back") {
  every_frame_dies const check;
  auto const dropped = [](delimits_only::rest) -> eff<list> { co_return list(); };
  auto const pushed = [](delimits_only::rest k) -> eff<list> { co_return co_await k(list()); };
  CHECK(run(handle(delimits_only(), [&] { return one_two(dropped); })).empty());
  CHECK(run(handle(delimits_only(), [&] { return one_two(pushed); })) == list{1, 2});
}

template <class Label>
struct delimits : handler<Label> {
  computation on(take_of<Label> t, rest k) const { return go(t.f, k); }
  static computation go(std::function<computation(rest)> f, rest k) { co_return co_await f(k); }
};
computation push(rest k, thunk t) { co_return co_await k(t); }
computation constant(int n) { co_return n; }

computation three_twice(rest k) {
  thunk const once = [k] { return push(k, [] { return constant(3); }); };
  co_return co_await push(k, once);
}
computation twice(rest k) {
  thunk const once = [k] { return push(k, [] { return take<p2>(three_twice); }); };
  co_return co_await push(k, once);
}
computation inside_p2() {
  co_return 10 + co_await handle(delimits<p3>(), [] { return take<p1>(twice); });
}
computation inside_p1() { co_return 1 + co_await handle(delimits<p2>(), inside_p2); }
computation outside() { co_return 100 + co_await handle(delimits<p1>(), inside_p1); }

struct nobody : handler<p1, p2, p3> {
  template <class Label>
  int on(take_of<Label>, resumption<thunk, int>) const {
    return -1;
  }
};

TEST_CASE("subcontinuations are pushed twice, inside and outside of one another") {
  every_frame_dies const check;
  // 100 + k(k(take<p2>)), where k = 1 + p2(10 + p3([])): the inner one takes j = 10 + p3([]), so it
  // is 100 + (1 + 10 + (1 + j(j(3))))
  CHECK(run(handle(nobody(), outside)) == 135);
}
