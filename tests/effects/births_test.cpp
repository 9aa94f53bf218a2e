// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Each call of a coroutine that performs creates a frame of its own, at every level of
/// optimization.  A bitwise resume finds the frames of a chain by their blocks and counts them, so
/// it could not see a frame that a compiler has merged into another.
///
/// Clang merges the frame of a coroutine only if that performs nothing and its caller, which sees
/// its body, destroys it on every path.  Nothing can be captured while such a frame exists.
///
/// tests/table.bzl has this test with optimization, too.

eff<int> one() { co_return 1; }

eff<int> length_of(std::string text) { co_return static_cast<int>(text.size()); }

TEST_CASE(
    "the frame of a computation that was not awaited exists across a capture, and is not copied") {
  every_frame_dies const check;
  auto const waits = []() -> eff<int, pick> {
    auto later = length_of("a string that is too long for its own bytes");
    int const picked = co_await pick::one{};
    int const n = co_await std::move(later);
    co_return n + picked;
  };
  CHECK_THROWS_AS(run(handle<pick>(tries_picks<>{2}, waits, bitwise())), uncopyable);
  auto const owns_nothing = []() -> eff<int, pick> {
    auto later = one();
    int const picked = co_await pick::one{};
    int const n = co_await std::move(later);
    co_return n + picked;
  };
  CHECK_THROWS_AS(run(handle<pick>(tries_picks<>{2}, owns_nothing, bitwise())), uncopyable);
}

/// The number of frames and prompts that `f` creates.  Checks that all of them are destroyed.
template <class F>
std::int64_t births_in(F f) {
  every_frame_dies const check;
  std::int64_t const before = detail::frames_so_far().births;
  f();
  return detail::frames_so_far().births - before;
}
constexpr std::int64_t prompt = 1;

/// Runs `body` under a handler that answers at once, so nothing is ever suspended.
template <class F>
std::int64_t births_under_answers(F body) {
  return births_in([&] { run(handle<ask>(answers{1}, body)); }) - prompt;
}

eff<int, ask> asks_twice() {
  int const a = co_await asks();
  int const b = co_await asks();
  co_return a + b;
}
eff<int, ask> calls(int n) {
  int sum = 0;
  for (int i = 0; i != n; ++i) sum += co_await asks_twice();
  co_return sum;
}
eff<int, ask> asks_below(int depth) {
  if (depth == 0) co_return co_await ask::get{};
  int const below = co_await asks_below(depth - 1);
  co_return below + 1;
}
template <class F>
eff<int, ask> calls_what_it_is_given(F f) {
  int const a = co_await f();
  auto second = f();
  int const b = co_await std::move(second);
  co_return a + b;
}
eff<int, ask> makes_one_for_nothing() {
  (void)asks();
  co_return 0;
}
eff<int, ask> asks_if(bool it_does) {
  int n = 0;
  if (it_does) n = co_await ask::get{};
  co_return n;
}
eff<int, ask> asks_at_times() {
  int const a = co_await asks_if(false);
  int const b = co_await asks_if(true);
  co_return a + b;
}

TEST_CASE(
    "each call of a performing coroutine creates one frame, even if the compiler sees all of it") {
  CHECK(births_under_answers(asks) == 1);
  CHECK(births_under_answers(asks_twice) == 3);
  CHECK(births_under_answers([] { return calls(1); }) == 4);
  CHECK(births_under_answers([] { return calls(100); }) == 301);
  CHECK(births_under_answers([] { return asks_below(100); }) == 101);
  CHECK(births_under_answers([] { return calls_what_it_is_given(asks); }) == 3);
  auto const asks_itself = []() -> eff<int, ask> { co_return co_await ask::get{}; };
  CHECK(births_under_answers([&] { return calls_what_it_is_given(asks_itself); }) == 3);
  CHECK(births_under_answers(makes_one_for_nothing) == 2);
  CHECK(births_under_answers(asks_at_times) == 3);
}

eff<int, stop> goes_on_if(bool holds) {
  if (!holds) co_await stop::here{1};
  co_return 1;
}
eff<int, stop> stops_at_last() {
  int const a = co_await goes_on_if(true);
  int const b = co_await goes_on_if(false);
  co_return a + b;
}
struct stops {
  int on(stop::here s, resumption<never, int>) const { return -s.why; }
};

TEST_CASE(
    "a coroutine that never returns, or does not suspend on this call, has a frame of its own") {
  CHECK(births_in([] { CHECK(run(handle<stop>(stops(), stops_at_last)) == -1); }) == prompt + 3);
}

TEST_CASE("each handler and each coroutine clause has a frame of its own") {
  auto const inside = []() -> eff<int, ask> {
    int const sum = co_await handle<ask>(answers{2}, calls(10));
    co_return sum;
  };
  CHECK(births_under_answers(inside) == 1 + prompt + 31);
  struct awaits_the_rest {
    eff<int> on(ask::get, resumption<int, int> k) const { co_return co_await std::move(k)(1); }
  };
  CHECK(births_in([] { run(handle<ask>(awaits_the_rest(), calls(10))); }) == prompt + 31 + 20);
}

// ---- coroutines that perform nothing

eff<int> two() {
  int const a = co_await one();
  int const b = co_await one();
  co_return a + b;
}

TEST_CASE(
    "a coroutine that performs nothing need not have a frame; a frame that it has is destroyed") {
  CHECK(births_in([] { CHECK(run(two()) == 2); }) <= 3);
  auto const body = []() -> eff<int, pick> {
    int const a = co_await two();
    int const b = co_await pick::one{};
    int const c = co_await length_of("a string that is too long for its own bytes");
    co_return 100 * a + b + c;
  };
  CHECK(births_in([&] {
          CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) ==
                tries_picks<>::list{243, 244});
        }) >= prompt + 1 + 1);
}

// ---- in an arena

eff<int, pick> picks() { co_return co_await pick::one{}; }
eff<int, pick> picks_below(int depth) {
  int n = 0;
  if (depth == 0)
    n = co_await picks();
  else
    n = co_await picks_below(depth - 1);
  co_return n;
}
/// Calls asks_twice() `n` times, then picks from `depth` calls down, and does both again.
eff<int, pick, ask> calls_and_picks(int n, int depth) {
  int sum = co_await calls(n);
  sum += co_await picks_below(depth);
  sum += co_await calls(n);
  sum += co_await picks_below(depth);
  co_return sum;
}
constexpr std::int64_t frames_of_calls(int n) { return 1 + 3 * n; }
constexpr std::int64_t frames_of_picks(int depth) { return 2 + depth; }

struct resumes_with_one {
  int times;
  int on(pick::one, multi_resumption<int, int> k) const {
    int sum = 0;
    for (int i = 0; i != times; ++i) sum += resume(k, 1);
    return sum;
  }
};
std::int64_t births_of_search(int times, int n, int depth) {
  return births_in([=] {
    run(handle<ask>(answers{1}, handle<pick>(
                                    resumes_with_one{times},
                                    [=] { return calls_and_picks(n, depth); }, bitwise())));
  });
}

TEST_CASE(
    "a body that is resumed once in its arena creates the frames of its calls and no others") {
  int const n = GENERATE(0, 1, 50);
  int const depth = GENERATE(0, 1, 50);
  CHECK(births_of_search(1, n, depth) ==
        2 * prompt + 1 + 2 * (frames_of_calls(n) + frames_of_picks(depth)));
}

TEST_CASE(
    "frames that are put back count as created again, frames that are replaced as destroyed") {
  int const n = GENERATE(0, 1, 50);
  int const depth = GENERATE(0, 1, 50);
  // The chain of the first pick is put back once, so the code after it runs twice; each time the
  // chain of the second pick is put back once.
  std::int64_t const part = frames_of_calls(n) + frames_of_picks(depth);
  std::int64_t const chain = 1 + frames_of_picks(depth);
  CHECK(births_of_search(2, n, depth) == 2 * prompt + 1 + part + chain + 2 * (part + chain));
}

TEST_CASE("of several captures in one place only the frames that are in the place count as alive") {
  every_frame_dies const check;
  auto const alive = [] { return detail::frames_so_far().alive(); };
  auto const body = []() -> eff<int, pick> {
    int const a = co_await picks_below(7);
    int const b = co_await picks_below(7);
    co_return 10 * a + b;
  };
  std::int64_t const before = alive();
  keeps_picks<int> h;
  run(handle<pick>(h, body, bitwise()));
  std::int64_t const waiting = before + prompt + 1 + frames_of_picks(7);
  CHECK(alive() == waiting);
  auto const k = h.waiting[0];
  for (int i = 0; i != 5; ++i) {
    resume(k, i);
    CHECK(alive() == waiting);
  }
  auto const second = h.waiting[1];
  h.waiting.clear();
  CHECK(resume(second, 1) == 1);
  CHECK(alive() == before + prompt);
  resume(k, 6);
  CHECK(alive() == waiting);
  h.waiting.clear();
  CHECK(alive() == before + prompt);
}
