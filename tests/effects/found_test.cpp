// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/small_stack.hpp"

/// Failures of the core that random programs and readers found, reduced: each was a leak, a use
/// after destruction, a wrong report or an endless wait.

// ---- clauses

TEST_CASE("a coroutine clause that throws before it has a frame releases its handler") {
  every_frame_dies const check;
  struct throws_at_once {
    std::string owned = "four";  // makes the clause refer to its handler
    eff<int, tick> on(ask::get, resumption<int, int>) { throw owned.size(); }
  };
  auto const inside = []() -> eff<int, tick> {
    co_return co_await handle<ask>(throws_at_once(), asks());
  };
  CHECK_THROWS_AS(run(handle<tick>(clauses{[](tick::now) {}}, inside)), std::size_t);
}

TEST_CASE("a jump is refused if its region ended after last() and before the clause returned") {
  every_frame_dies const check;
  struct jumps_too_late {
    std::unique_ptr<keeps>& other;
    outcome<int> on(ask::get, resumption<int, int>) {
      outcome<int> jump = std::move(other->k).last(5);
      other.reset();
      return jump;
    }
  };
  std::string out;
  auto other = std::make_unique<keeps>();
  auto const body = [&out]() -> eff<int, ask> {
    leaves const at_the_end(out, 'x');
    co_return co_await ask::get{};
  };
  run(handle(*other, body));
  CHECK_THROWS_AS(run(handle<ask>(jumps_too_late{other}, asks())), resumption_expired);
  CHECK(out == "x");
}

/// Keeps the last tick that is performed under a handler of ask.
struct parks_int : region, handler<tick> {
  resumption<void, int> k;
  int on(tick::now, resumption<void, int> r) {
    k = std::move(r);
    return -1;
  }
};

TEST_CASE("a coroutine clause that was captured further out does not outlive its region") {
  every_frame_dies const check;
  struct ticks_first : region, handler<ask> {
    int owned = 7;
    eff<int, tick> on(ask::get, resumption<int, int> k) {
      co_await tick::now{};
      co_return co_await std::move(k)(owned);
    }
  };
  parks_int outside;
  auto inside = std::make_unique<ticks_first>();
  auto const body = [&inside]() -> eff<int, tick> { co_return co_await handle(*inside, asks()); };
  run(handle(outside, body));
  inside.reset();
  CHECK_THROWS_WITH(resume(std::move(outside.k)), Contains("ticks_first"));
  CHECK_THROWS_AS(resume(std::move(outside.k)), resumption_expired);
}

TEST_CASE(
    "a coroutine clause that was captured further out does not outlive its borrowed handler") {
  every_frame_dies const check;
  struct ticks_last {
    int owned = 7;
    eff<int, tick> on(ask::get, resumption<int, int> k) {
      k = {};  // so that only the clause refers to the handler
      co_await tick::now{};
      co_return owned;
    }
  };
  struct parks_outside : handler<tick> {
    resumption<void, int>* to = nullptr;
    int on(tick::now, resumption<void, int> k) {
      *to = std::move(k);
      return -1;
    }
  };
  resumption<void, int> parked;
  {
    ticks_last lent;
    parks_outside outside;
    outside.to = &parked;
    CHECK_THROWS_WITH(run(handle(with<ask>(lent) | std::move(outside), asks())),
                      Contains("ticks_last") && Contains("has a clause that is not done"));
  }
  CHECK_THROWS_AS(resume(std::move(parked)), resumption_expired);
}

eff<int, ask, tick> ticks_and_asks() {
  co_await tick::now{};
  co_return co_await ask::get{};
}

// ---- borrowed handlers

TEST_CASE(
    "a borrowed handler inside frames that a region suspends is refused at once, and by name") {
  every_frame_dies const check;
  parks_int outside;
  struct drops {  // could capture, so it must be alive
    int on(ask::get, resumption<int, int>) { return 0; }
  };
  drops lent;
  CHECK_THROWS_AS(run(handle(with<ask>(lent) | outside, ticks_and_asks())), not_a_region);
  CHECK_THROWS_WITH(run(handle(with<ask>(lent) | outside, ticks_and_asks())),
                    Contains("drops is inside the frames that") &&
                        Contains("parks_int suspended by") && Contains("tick::now at") &&
                        Contains("found_test.cpp:"));
  CHECK_THROWS_AS(resume(std::move(outside.k)), resumption_expired);
}

/// Answers each question by resuming in its clause.
struct resumes : region, handler<ask> {
  int on(ask::get, resumption<int, int> k) { return resume(std::move(k), 1); }
};

// ---- destruction inside destruction

TEST_CASE("a destructor in the part of a chain that is being unwound may drop the chain") {
  every_frame_dies const check;
  struct drops {
    std::shared_ptr<resumption<void, int>> chain;
    drops(std::shared_ptr<resumption<void, int>> c) : chain(std::move(c)) {}
    drops(drops const&) = delete;
    drops& operator=(drops const&) = delete;
    ~drops() { *chain = {}; }
  };
  struct parks_in_slot {
    std::shared_ptr<resumption<void, int>> slot;
    int on(tick::now, resumption<void, int> k) {
      *slot = std::move(k);
      return -1;
    }
  };
  std::string out;
  auto const slot = std::make_shared<resumption<void, int>>();
  auto inside = std::make_unique<resumes>();
  auto const body = [slot]() -> eff<int, ask, tick> {
    drops const at_the_end(slot);
    co_await tick::now{};
    co_return 0;
  };
  auto const around = [&]() -> eff<int, tick> {
    leaves const at_the_end(out, 'o');
    co_return co_await handle(*inside, body);
  };
  run(handle<tick>(parks_in_slot{slot}, around));
  inside.reset();
  CHECK(out == "o");
}

TEST_CASE("a destructor in the part of a chain that is being unwound may end a region") {
  every_frame_dies const check;
  struct ends {
    std::unique_ptr<resumes>& region;
    ends(std::unique_ptr<resumes>& r) : region(r) {}
    ends(ends const&) = delete;
    ends& operator=(ends const&) = delete;
    ~ends() { region.reset(); }
  };
  std::string out;
  parks_int outside;
  auto middle = std::make_unique<resumes>();
  auto inside = std::make_unique<resumes>();
  auto const in_inside = [&]() -> eff<int, ask, tick> {
    ends const at_the_end(middle);
    co_await tick::now{};
    co_return 0;
  };
  auto const in_middle = [&]() -> eff<int, tick> {
    leaves const at_the_end(out, 'm');
    co_return co_await handle(*inside, in_inside);
  };
  auto const in_outside = [&]() -> eff<int, tick> {
    leaves const at_the_end(out, 'o');
    co_return co_await handle(*middle, in_middle);
  };
  run(handle(outside, in_outside));
  inside.reset();
  CHECK(out == "m");  // at once
  outside.k = {};
  CHECK(out == "mo");
}

TEST_CASE("a resumption that is assigned to has its new value while the old one is dropped") {
  every_frame_dies const check;
  struct resumes_what_is_kept {
    keeps& in;
    int& answer;
    resumes_what_is_kept(keeps& k, int& a) : in(k), answer(a) {}
    resumes_what_is_kept(resumes_what_is_kept const&) = delete;
    resumes_what_is_kept& operator=(resumes_what_is_kept const&) = delete;
    ~resumes_what_is_kept() {
      if (in.k) answer = resume(std::move(in.k), 42);
    }
  };
  keeps k;
  int answer = 0;
  auto const first = [&]() -> eff<int, ask> {
    resumes_what_is_kept const at_the_end(k, answer);
    co_return co_await ask::get{};
  };
  run(handle(k, first));
  run(handle(k, asks()));  // assigns to k.k
  CHECK(answer == 42);
}

TEST_CASE("a resume is refused if making the answer ends the region") {
  every_frame_dies const check;
  struct ends_the_region {
    std::unique_ptr<keeps>& region;
    operator int() const {
      region.reset();
      return 1;
    }
  };
  auto k = std::make_unique<keeps>();
  run(handle(*k, asks()));
  auto rest = std::move(k->k);
  CHECK_THROWS_AS(resume(std::move(rest), ends_the_region{k}), resumption_expired);
}

// ---- many handlers, and large ones

TEST_CASE("an over-aligned handler is aligned") {
  every_frame_dies const check;
  struct alignas(64) wide {
    int n = 1;
    int on(ask::get) const {
      return n + static_cast<int>(reinterpret_cast<std::uintptr_t>(this) % 64);
    }
  };
  for (int i = 0; i != 4; ++i) CHECK(run(handle<ask>(wide(), asks())) == 1);
}

using pair_of = row<state<int>, reader<int>>;

eff<void, pair_of, tick> ticks_and_gets() {
  co_await tick::now{};
  co_await state<int>::get{};
}
/// `depth` handlers of the two effects by turns; each can perform to two handlers further out.
eff<void, pair_of> nested(int depth, parks& innermost) {
  if (depth == 0)
    co_await handle(innermost, ticks_and_gets());
  else if (depth % 2 == 0)
    co_await handle(state_of(1), nested(depth - 1, innermost));
  else
    co_await handle(reader_of(1), nested(depth - 1, innermost));
}

/// Runs `depth` handlers under two borrowed ones, and resumes the innermost body there.
bool resumes_inside(int depth) {
  parks innermost;
  state_of number(0);
  reader_of text(0);
  bool resumed = false;
  run(handle(number | text, [&]() -> eff<void, pair_of> {
    co_await nested(depth, innermost);
    resume(std::move(innermost.k));
    resumed = true;
  }));
  return resumed;
}

TEST_CASE(
    "checking that all handlers are alive takes one step for each handler, not for each path") {
  every_frame_dies const check;
  CHECK(resumes_inside(60));  // the number of paths is the 60th Fibonacci number
}

TEST_CASE(
    "a thousand handlers, each kept by the next one inside, are checked and destroyed in a loop") {
  every_frame_dies const check;
  bool resumed = false;
  on_small_stack(256 * 1024, [&] {
    resumed = resumes_inside(1000);

    parks innermost;
    run(handle(state_of(0) | reader_of(0), nested(1000, innermost)));
    innermost.k = {};
  });
  CHECK(resumed);
}

// ---- describing

TEST_CASE("describe names the handler that has ended, even if it is not the resumption's own") {
  every_frame_dies const check;
  parks_int outside;
  {
    resumes inside;
    auto const around = [&inside]() -> eff<int, tick> {
      co_return co_await handle(inside, ticks_and_asks());
    };
    run(handle(outside, around));
  }
  CHECK_THAT(describe(outside.k), Contains("the handler resumes no longer exists") ||
                                      Contains("::resumes no longer exists"));
  CHECK_THROWS_WITH(resume(std::move(outside.k)), Contains("resumes no longer exists"));
  CHECK(outside.k);
}

// ---- a handler that resumes twice around another one

struct coin {
  struct flip : op<bool> {};
  using operations = op_list<flip>;
};
struct both_sides : handler<coin> {
  eff<int> on(coin::flip, multi_resumption<bool, int> k) const {
    co_return co_await k(true) + co_await k(false);
  }
};
eff<int, coin, reader<int>, state<int>> flips() {
  bool const is_up = co_await coin::flip{};
  if (!is_up) co_return 0;
  co_await state<int>::put{co_await state<int>::get{} + 1};
  co_return co_await reader<int>::ask{} + co_await state<int>::get{};
}

TEST_CASE("a handler that resumes twice starts copies of the handlers inside it") {
  every_frame_dies const check;
  CHECK(run(handle(reader_of(10) | state_of(5) | both_sides(), flips)) == 16);
  CHECK(run(handle(reader_of(10) | both_sides() | state_of(5), flips)) == 16);
  CHECK(run(handle(both_sides() | reader_of(10) | state_of(5), flips)) == 16);
  auto const around = []() -> eff<int> {
    co_return co_await handle(reader_of(10) | state_of(5) | both_sides(), flips);
  };
  CHECK(run(around()) == 16);
}

// ---- results with an alignment

template <class T>
eff<T> gives(T value) {
  co_return value;
}
__extension__ typedef __int128 wide_integer;
struct alignas(16) four_floats {
  float x, y, z, w;
};
struct measuring {
  struct width : op<long double> {};
  struct position : op<four_floats> {
    explicit position(four_floats f) : from(f) {}
    four_floats from;
  };
  using operations = op_list<width, position>;
};
struct measures : handler<measuring> {
  long double on(measuring::width) const { return 1.5L; }
  eff<int> on(measuring::position p, multi_resumption<four_floats, int> k) const {
    p.from.w += 1;
    co_return co_await k(p.from) + co_await k(p.from);
  }
};
eff<int, measuring> measures_all() {
  long double const width = co_await measuring::width{};
  wide_integer const many = co_await gives(wide_integer{1} << 100);
  four_floats const at = co_await measuring::position{four_floats{1, 2, 3, 4}};
  co_return static_cast<int>(width * 2) + static_cast<int>(many >> 98) + static_cast<int>(at.w);
}

#if defined(__clang__)
struct alignas(64) line_of_cache {
  int n;
};
TEST_CASE("a result may be aligned more strictly than new aligns") {
  auto const p = []() -> eff<bool> {
    line_of_cache const r = co_await gives(line_of_cache{42});
    co_return r.n == 42 && reinterpret_cast<std::uintptr_t>(&r) % 64 == 0;
  };
  CHECK(run(p()));
}
#endif
TEST_CASE("a result, an answer and an operation may be aligned as new aligns") {
  every_frame_dies const check;
  CHECK(run(handle(measures(), measures_all)) == 2 * (3 + 4 + 5));
}

// ---- resuming twice

struct flipping {
  struct flip : op<bool> {};
  using operations = op_list<flip>;
};
struct flips_both_ways : handler<flipping> {
  eff<std::string> on(flipping::flip, multi_resumption<bool, std::string> k) const {
    std::string const first = co_await k(true);
    std::string const second = co_await std::move(k)(false);
    co_return first + ' ' + second;
  }
};
struct parking {
  struct park : op<void> {};
  using operations = op_list<park>;
};
struct parks : region, handler<parking> {
  resumption<void> kept;
  void on(parking::park, resumption<void> k) { kept = std::move(k); }
};
eff<void, parking, flipping> flips_after_parking(std::string& said) {
  co_await parking::park{};
  try {
    (void)co_await flipping::flip{};
  } catch (needs_control const&) {
    said += "refused ";
  }
}

TEST_CASE("a body that is run again finds the error of an operation that could not be captured") {
  every_frame_dies const check;
  auto const body = []() -> eff<std::string, flipping> {
    std::string said;
    parks p;
    co_await handle<parking>(p, flips_after_parking(said));
    auto const resumes = [&p](ask::get) { return resume(std::move(p.kept)), 0; };
    (void)co_await handle<ask>(resumes, asks());
    bool const is_heads = co_await flipping::flip{};
    said += is_heads ? "heads" : "tails";
    co_return said;
  };
  CHECK(run(handle(flips_both_ways(), body)) == "refused heads refused tails");
}
