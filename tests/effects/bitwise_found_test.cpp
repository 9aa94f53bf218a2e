// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Failures that attempts to break bitwise resumption found, reduced: each was a leak, a use after
/// destruction or a wrong report.  The last section holds attempts that found nothing and that no
/// other test makes.

/// Keeps all resumptions that wait for a number, and the last one that waits for a tick.
struct keeper : region, handler<pick, tick> {
  std::vector<multi_resumption<int, int>> waiting;
  resumption<void, int> once;
  int on(pick::one, multi_resumption<int, int> k) {
    waiting.push_back(std::move(k));
    return 0;
  }
  int on(tick::now, resumption<void, int> k) {
    once = std::move(k);
    return -1;
  }
};

// ---- one place

TEST_CASE("a destructor in unwound frames cannot resume the capture of those frames") {
  every_frame_dies const check;
  keeper h;
  struct goes_back {
    keeper& h;
    ~goes_back() { CHECK_THROWS_AS(resume(h.waiting[0], 2), frames_in_use); }
  };
  struct body {
    static eff<int, pick, tick, state<int>> inside(keeper& h) {
      int const n = co_await pick::one{};
      if (n == 1) {
        goes_back const at_end{h};
        co_await tick::now{};
      }
      co_return n;
    }
  };
  auto const with_state = [&h]() -> eff<int, pick, tick> {
    co_return co_await handle(state_of(0), [&h] { return body::inside(h); });
  };
  run(handle(h, with_state, bitwise()));
  CHECK(resume(h.waiting[0], 1) == -1);
  h.once = {};
  CHECK(resume(h.waiting[0], 3) == 3);
}

TEST_CASE("a destructor in unwound frames may drop the capture that they started from") {
  every_frame_dies const check;
  keeper h;
  struct forgets {
    keeper& h;
    ~forgets() { h.waiting.clear(); }
  };
  struct body {
    static eff<int, pick, tick> later(keeper& h) {
      forgets const at_end{h};
      co_await tick::now{};
      co_return 1;
    }
    static eff<int, pick, tick> inside(keeper& h) {
      int const n = co_await pick::one{};
      int const m = co_await later(h);
      co_return n + m;
    }
    static eff<int, pick, tick> outside(keeper& h) {
      int const n = co_await inside(h);
      co_return n + 1;
    }
  };
  run(handle(h, [&h] { return body::outside(h); }, bitwise()));
  CHECK(resume(h.waiting[0], 1) == -1);
  h.once = {};
  CHECK(h.waiting.empty());
}

/// The answer of a body that is suspended: its resumption, for many uses or for one.
struct step {
  int value = 0;
  multi_resumption<int, step> often;
  resumption<void, step> once;
};
struct hands_out : handler<pick, tick> {
  step on(pick::one, multi_resumption<int, step> k) const { return {0, std::move(k), {}}; }
  step on(tick::now, resumption<void, step> k) const { return {0, {}, std::move(k)}; }
  step on_return(int n) const { return {n, {}, {}}; }
};

// ---- frames that wait elsewhere

TEST_CASE("frames are in use while a resumption holds them that a handler inside has handed out") {
  every_frame_dies const check;
  struct hands_out {
    std::vector<resumption<void, int>>& to;
    int on(tick::now, resumption<void, int> k) {
      to.push_back(std::move(k));
      return -1;
    }
  };
  using outside = std::vector<resumption<void, int>>;
  struct body {
    static eff<int, pick, tick> inside() {
      int const n = co_await pick::one{};
      co_await tick::now{};
      co_return n;
    }
    static eff<int, pick> with_ticks(outside& handed_out) {
      co_return co_await handle<tick>(hands_out{handed_out}, inside);
    }
    static eff<int, pick> and_more(outside& handed_out) {
      int const n = co_await with_ticks(handed_out);
      co_return n + 10 * co_await pick::one{};
    }
  };
  outside handed_out;
  struct keeps_picks : region {
    std::vector<multi_resumption<int, int>> waiting;
    int on(pick::one, multi_resumption<int, int> k) {
      waiting.push_back(std::move(k));
      return 0;
    }
  };
  keeps_picks h;
  run(handle<pick>(h, [&handed_out] { return body::and_more(handed_out); }, bitwise()));
  auto const first = h.waiting[0];
  CHECK_THROWS_AS(resume(first, 1), uncopyable);  // at the second pick
  REQUIRE(handed_out.size() == 1);
  CHECK_THROWS_AS(resume(first, 2), frames_in_use);
  CHECK(resume(std::move(handed_out[0])) == 1);
  handed_out.clear();
  CHECK_THROWS_AS(resume(first, 3), uncopyable);
}

TEST_CASE("a handler that would be copied is in use while suspended frames elsewhere refer to it") {
  every_frame_dies const check;
  struct parks_int : region, handler<tick> {
    resumption<void, int> k;
    int on(tick::now, resumption<void, int> r) {
      k = std::move(r);
      return -1;
    }
  };
  struct body {
    static eff<int, tick, state<int>> ticks() {
      co_await tick::now{};
      co_await state<int>::put{5};
      co_return 3;
    }
    static eff<int, pick, state<int>> picks_and_ticks(parks_int& inner, bool before) {
      int n = 0;
      if (before) n += co_await handle(inner, ticks);
      n += co_await pick::one{};
      if (!before) n += co_await handle(inner, ticks);
      co_return n;
    }
  };
  parks_int inner;
  keeper h;
  SECTION("the frames were suspended after the capture") {
    auto const with_state = [&inner]() -> eff<int, pick, tick> {
      co_return co_await handle(state_of(0),
                                [&inner] { return body::picks_and_ticks(inner, false); });
    };
    run(handle(h, with_state, bitwise()));
    CHECK(resume(h.waiting[0], 1) == 0);
    CHECK_THROWS_AS(resume(h.waiting[0], 2), frames_in_use);
    CHECK(resume(std::move(inner.k)) == 3);
    CHECK(resume(h.waiting[0], 2) == 1);
  }
  SECTION("the frames were suspended before the capture") {
    auto const with_state = [&inner]() -> eff<int, pick, tick> {
      co_return co_await handle(state_of(0),
                                [&inner] { return body::picks_and_ticks(inner, true); });
    };
    CHECK_THROWS_AS(run(handle(h, with_state, bitwise())), uncopyable);
  }
}

// ---- frames further out

TEST_CASE("a run that started from a capture is not pinned by frames that pinned an earlier run") {
  every_frame_dies const check;
  struct picks_kept : region {
    std::vector<multi_resumption<int, int>> waiting;
    int on(pick::one, multi_resumption<int, int> k) {
      waiting.push_back(std::move(k));
      return 0;
    }
  };
  using optional_region = std::optional<picks_kept>;
  struct body {
    static eff<int, pick, ask> asks_or_ends(optional_region& h) {
      int const n = co_await pick::one{};
      if (n == 1) co_return n + co_await ask::get{};
      h.reset();
      co_return n;
    }
    static eff<int, ask> resumes(multi_resumption<int, int> k) { co_return co_await k(1); }
    static eff<int, ask> all(optional_region& h) {
      co_await handle<pick>(*h, [&h] { return asks_or_ends(h); }, bitwise());
      int const n = co_await resumes(h->waiting[0]);  // `outer` suspends this and the pick,
      co_return n + co_await ask::get{};              // and then this, without a pick
    }
  };
  optional_region h(std::in_place);
  keeps outer;
  CHECK(run(handle(outer, [&h] { return body::all(h); })) == -1);
  CHECK(resume(std::move(outer.k), 10) == -1);
  auto const first = h->waiting[0];
  CHECK(resume(first, 2) == 2);
  CHECK(resume(std::move(outer.k), 100) == 111);
}

// ---- threads

template <class P>
eff<int, pick, tick> ticks_or_picks(P p, bool ticks) {
  int n = 0;
  if (ticks)
    co_await tick::now{};
  else
    n = co_await pick::one{};
  co_return n + p;
}

TEST_CASE("a block that was freed on another thread is an ordinary block when it is taken again") {
  every_frame_dies const check;
  struct owning {
    int n;
    operator int() const { return n; }
    ~owning() {}  // so the frame cannot be copied
  };
  keeper h;
  auto const picks = [] { return ticks_or_picks(7, false); };
  run(handle(h, picks, bitwise()));
  for (int round = 0; round != 20; ++round) {
    step waits =
        run(handle<pick, tick>(hands_out(), [] { return ticks_or_picks(owning{7}, true); }));
    std::thread([&waits] { waits = {}; }).join();
    run(handle(h, picks, bitwise()));
    CHECK(resume(h.waiting.back(), 1) == 8);
    CHECK(resume(h.waiting.back(), 2) == 9);
  }
}

/// Whether `f` throws an E.  Threads make no assertions.
template <class E, class F>
bool throws(F f) {
  try {
    f();
    return false;
  } catch (E const&) {
    return true;
  }
}

TEST_CASE(
    "a later thread is not the thread that began the body, even if its pool has the same address") {
  static auto& kept = *new step;  // never destroyed: once its thread has ended it can only leak
  std::thread([] {
    kept = run(handle(hands_out(), [] { return ticks_or_picks(0, false); }, bitwise()));
  }).join();
  for (int i = 0; i != 3; ++i) {
    bool refused = false;
    std::thread([&refused] {
      refused = throws<frames_in_use>([] { resume(kept.often, 1); });
    }).join();
    CHECK(refused);
  }
}

TEST_CASE(
    "a body that has run on another thread cannot be resumed bitwise, even on its first thread") {
  struct body {
    static eff<int, pick, tick> inside() {
      int const n = co_await pick::one{};
      co_await tick::now{};
      co_return n;
    }
    static eff<int, pick, tick> outside() {
      int const n = co_await inside();
      co_await tick::now{};
      bool const refused = co_await picks_in_vain();
      co_return refused ? n : -1;
    }
    static eff<bool, pick, tick> picks_in_vain() {
      try {
        co_await pick::one{};
      } catch (uncopyable const&) {
        co_return true;
      }
      co_return false;
    }
  };
  static auto& kept = *new step;  // never destroyed, as above
  bool refused = false;
  int value = 0;
  std::thread([&] {
    kept = run(handle(hands_out(), body::outside, bitwise()));
    step first = resume(kept.often, 5);
    step second;
    std::thread([&] { second = resume(std::move(first.once)); }).join();  // inside() ends there
    refused = throws<frames_in_use>([] { resume(kept.often, 6); });
    value = resume(std::move(second.once)).value;
    refused &= throws<frames_in_use>([] { resume(kept.often, 6); });
  }).join();
  CHECK(refused);
  CHECK(value == 5);
}

// ---- attempts that found nothing

struct choice {
  struct made : op<int> {};
  using operations = op_list<made>;
};
struct adds_picks {
  eff<int> on(pick::one, multi_resumption<int, int> k) {
    int const zero = co_await k(0);
    int const one = co_await k(1);
    co_return zero + one;
  }
};
struct adds_choices {
  eff<int> on(choice::made, multi_resumption<int, int> k) {
    int const one = co_await k(1);
    int const two = co_await k(2);
    co_return one + two;
  }
};

eff<int, choice> chooses() {
  int const a = co_await choice::made{};
  int const b = co_await choice::made{};
  co_return 10 * a + b;
}
eff<int, choice, pick> chooses_and_picks() {
  int const a = co_await choice::made{};
  int const b = co_await pick::one{};
  co_return 10 * a + b;
}

TEST_CASE(
    "a search inside a search has a place of its own, and cannot be captured by the outer search") {
  every_frame_dies const check;
  auto const searches = [](auto inner) {
    return [inner]() -> eff<int, pick> {
      int const a = co_await pick::one{};
      int const all = co_await handle<choice>(adds_choices(), chooses, inner);
      int const b = co_await pick::one{};
      co_return all + 1000 * a + b;
    };
  };
  int const expected = 4 * 66 + 2 * 1000 + 2;
  CHECK(run(handle<pick>(adds_picks(), searches(bitwise()), bitwise())) == expected);
  CHECK(run(handle<pick>(adds_picks(), searches(replay()), bitwise())) == expected);
  CHECK(run(handle<pick>(adds_picks(), searches(bitwise()), replay())) == expected);

  auto const through = []() -> eff<int, pick> {
    co_return co_await handle<choice>(adds_choices(), chooses_and_picks, bitwise());
  };
  CHECK_THROWS_AS(run(handle<pick>(adds_picks(), through, bitwise())), uncopyable);
}

TEST_CASE("a resume that is not awaited occupies the place of its frames until it is dropped") {
  every_frame_dies const check;
  keeper h;
  run(handle(h, [] { return ticks_or_picks(0, false); }, bitwise()));
  auto k = h.waiting[0];
  {
    auto const unawaited = k(1);
    CHECK_THROWS_AS(k(2), frames_in_use);
  }
  CHECK(resume(k, 3) == 3);
  {
    auto const unawaited = std::move(k)(4);
  }
  CHECK_FALSE(k);
  CHECK(resume(h.waiting[0], 5) == 5);
}
