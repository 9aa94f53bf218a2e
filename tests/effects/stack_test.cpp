// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/last_words.hpp"
#include "tests/support/small_stack.hpp"

/// No chain of calls, performs and resumes uses native stack, in either compiler, at any level of
/// optimization, with or without a sanitizer.  tests/effects/BUILD builds this test in each of
/// these ways.

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif
#if defined(__OPTIMIZE__)
constexpr bool optimized = true;
#else
constexpr bool optimized = false;
#endif

constexpr std::size_t kb = 1024;
constexpr std::size_t small_stack = sanitized ? 512 * kb : 256 * kb;

/// So many that 16 bytes each would not fit on the small stack.
constexpr int many = 100'000;

/// The result of `f` on a stack of `bytes`.  Checks that every frame is destroyed.
template <class F>
int on_stack(std::size_t bytes, F f) {
  tests::every_frame_dies const check;
  int result = 0;
  tests::on_small_stack(bytes, [&] { result = f(); });
  return result;
}

eff<int> nested(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await nested(depth - 1);
}
eff<int> calls(int n) {
  int sum = 0;
  for (int i = 0; i != n; ++i) sum += 1 + co_await nested(0);
  co_return sum;
}

TEST_CASE("a hundred thousand calls in sequence use no native stack") {
  CHECK(on_stack(small_stack, [] { return run(calls(many)); }) == many);
}

TEST_CASE("a hundred thousand nested calls use no native stack") {
  CHECK(on_stack(small_stack, [] { return run(nested(many)); }) == many);
}

struct tick {
  struct now : op<void> {};
  using operations = op_list<now>;
};

eff<int, tick> ticks(int n) {
  for (int i = 0; i != n; ++i) co_await tick::now{};
  co_return n;
}

TEST_CASE("a hundred thousand operations of a value clause use no native stack") {
  CHECK(on_stack(small_stack, [] {
          int n = 0;
          run(handle<tick>([&n](tick::now) { ++n; }, ticks(many)));
          return n;
        }) == many);
}

struct count {
  struct next : op<int> {};
  using operations = op_list<next>;
};

TEST_CASE("a hundred thousand operations of a value clause that asks outward use no native stack") {
  CHECK(on_stack(small_stack, [] {
          int n = 0;
          auto const counting = [&n](count::next) { return ++n; };
          auto const asking = [](tick::now, outer<count> up) { up(count::next{}); };
          run(handle<count>(counting, handle<tick>(asking, ticks(many))));
          return n;
        }) == many);
}

eff<void, tick> only_ticks(int n) {
  for (int i = 0; i != n; ++i) co_await tick::now{};
}

TEST_CASE("a hundred thousand operations of a control clause that jumps use no native stack") {
  CHECK(
      on_stack(small_stack, [] {
        return run(handle<tick>(
            [](tick::now, resumption<void, int> k) -> outcome<int> { return std::move(k).last(); },
            ticks(many)));
      }) == many);
  CHECK(on_stack(small_stack, [] {
          run(handle<tick>(
              [](tick::now, resumption<void> k) -> outcome<void> { return std::move(k).last(); },
              only_ticks(many)));
          return 1;
        }) == 1);
}

/// Keeps the resumptions of ticks.
struct keeper : region, handler<tick> {
  std::deque<resumption<void, int>> kept;
  int on(tick::now, resumption<void, int> k) {
    kept.push_back(std::move(k));
    return -1;
  }
  int resume_all() {
    int last = -1;
    while (!kept.empty()) {
      auto k = std::move(kept.front());
      kept.pop_front();
      last = resume(std::move(k));
    }
    return last;
  }
};

TEST_CASE(
    "a hundred thousand operations of a control clause that keeps its resumption use no native "
    "stack") {
  CHECK(on_stack(small_stack, [] {
          keeper k;
          run(handle(k, ticks(many)));
          return k.resume_all();
        }) == many);
}

TEST_CASE(
    "a hundred thousand operations of a coroutine clause that awaits its resumption use no native "
    "stack") {
  auto const waiting = [](tick::now, resumption<void, int> k) -> eff<int> {
    co_return co_await std::move(k)();
  };
  CHECK(on_stack(small_stack, [&] { return run(handle<tick>(waiting, ticks(many))); }) == many);
}

TEST_CASE(
    "a hundred thousand operations of a coroutine clause that performs outward use no native "
    "stack") {
  auto const asking = [](tick::now, resumption<void, int> k) -> eff<int, count> {
    co_await count::next{};
    co_return co_await std::move(k)();
  };
  CHECK(on_stack(small_stack, [&] {
          int n = 0;
          run(handle<count>([&n](count::next) { return ++n; },
                            handle<tick>(clauses{asking}, ticks(many))));
          return n;
        }) == many);
}

TEST_CASE("a hundred thousand nested handlers use no native stack") {
  struct nests {
    static eff<int> handlers(int depth) {
      if (depth == 0) co_return 0;
      co_return 1 + co_await handle<tick>([](tick::now) {}, handlers(depth - 1));
    }
  };
  CHECK(on_stack(small_stack, [] { return run(nests::handlers(many)); }) == many);
}

TEST_CASE("an exception through a hundred thousand frames uses no native stack") {
  struct throws {
    static eff<int> at(int depth) {
      if (depth == 0) throw depth;
      co_return co_await at(depth - 1);
    }
  };
  CHECK(on_stack(small_stack, [] {
          try {
            return run(throws::at(many));  // each frame rethrows, which is slow
          } catch (int) {
            return 1;
          }
        }) == 1);
}

eff<int, tick> ticks_at(int depth) {
  if (depth == 0) {
    co_await tick::now{};
    co_return 0;
  }
  co_return 1 + co_await ticks_at(depth - 1);
}

TEST_CASE(
    "a resumption a hundred thousand frames deep is dropped, resumed and abandoned without native "
    "stack") {
  CHECK(on_stack(small_stack, [] {
          keeper k;
          run(handle(k, ticks_at(many)));
          k.kept.clear();
          return 1;
        }) == 1);
  CHECK(on_stack(small_stack, [] {
          keeper k;
          run(handle(k, ticks_at(many)));
          return k.resume_all();
        }) == many);
  CHECK(on_stack(small_stack, [] {
          keeper k;
          return run(handle(k, ticks_at(many)));  // the region ends
        }) == -1);
}

/// For the two cases that nest: 1000 forwards, 1000 resumptions in locals.
constexpr std::size_t nesting_stack = optimized ? small_stack : (sanitized ? 2048 * kb : 1024 * kb);

TEST_CASE(
    "a thousand value clauses that forward a question nest on the native stack, within a bound") {
  struct passes {
    static eff<int, tick> through(int depth) {
      if (depth == 0) co_return co_await ticks(10);
      co_return co_await handle<tick>([](tick::now, outer<tick> up) { up(tick::now{}); },
                                      through(depth - 1));
    }
  };
  CHECK(on_stack(nesting_stack, [] {
          int n = 0;
          run(handle<tick>([&n](tick::now) { ++n; }, passes::through(1000)));
          return n;
        }) == 10);
}

// ---- resumptions inside resumptions

/// Each clause has its resumption as a parameter, and waits for an answer from outside.
struct asks_outward_first : handler<tick> {
  eff<int, tick> on(tick::now, resumption<void, int> k) const {
    co_await tick::now{};
    co_return co_await std::move(k)();
  }
};

template <class Handler>
eff<int, tick> under(int handlers) {
  if (handlers == 0) {
    co_await tick::now{};
    co_return 0;
  }
  auto const inside = [handlers] { return under<Handler>(handlers - 1); };
  co_return 1 + co_await handle(Handler(), inside);
}

template <class Handler>
void drop_and_resume(int handlers) {
  CHECK(on_stack(small_stack, [handlers] {
          keeper k;
          run(handle(k, under<Handler>(handlers)));
          k.kept.clear();
          return 1;
        }) == 1);
  CHECK(on_stack(small_stack, [handlers] {
          keeper k;
          run(handle(k, under<Handler>(handlers)));
          return k.resume_all();
        }) == handlers);
  CHECK(on_stack(small_stack, [handlers] {
          keeper k;
          return run(handle(k, under<Handler>(handlers)));  // the region ends
        }) == -1);
}

TEST_CASE(
    "a hundred thousand clauses that each hold the resumption of the next inside are dropped and "
    "resumed") {
  drop_and_resume<asks_outward_first>(many);
}

struct asks_outward_and_may_resume_twice : handler<tick> {
  eff<int, tick> on(tick::now, multi_resumption<void, int> k) const {
    co_await tick::now{};
    co_return co_await std::move(k)();
  }
};

TEST_CASE(
    "a thousand clauses that may resume twice and hold the next resumption inside use no native "
    "stack") {
  drop_and_resume<asks_outward_and_may_resume_twice>(1000);  // each operation passes all handlers
}

template <class Rest>
eff<int, tick> keeps_as_parameter(Rest other) {
  co_await tick::now{};
  co_return other ? 1 : 0;
}

/// `n` resumptions; the coroutine of each keeps the one before.
resumption<void, int> nested_resumptions(keeper& h, int n,
                                         eff<int, tick> (*keeps)(resumption<void, int>)) {
  resumption<void, int> last;
  for (int i = 0; i != n; ++i) {
    run(handle(h, keeps(std::move(last))));
    last = std::move(h.kept.back());
    h.kept.clear();
  }
  return last;
}

TEST_CASE(
    "a hundred thousand resumptions that are each a parameter of the next are dropped without "
    "native "
    "stack") {
  CHECK(on_stack(small_stack, [] {
          keeper k;
          resumption<void, int> last = nested_resumptions(k, many, keeps_as_parameter);
          last = {};
          return 1;
        }) == 1);
}

template <class Rest>
eff<int, tick> keeps_in_local(Rest other) {
  Rest const mine = std::move(other);
  co_await tick::now{};
  co_return mine ? 1 : 0;
}

TEST_CASE("a thousand resumptions that are each a local of the next are dropped within a bound") {
  CHECK(on_stack(nesting_stack, [] {
          keeper k;
          resumption<void, int> last = nested_resumptions(k, 1000, keeps_in_local);
          last = {};
          return 1;
        }) == 1);
}

TEST_CASE("the program ends with a message when nested resumptions in locals use up the stack") {
  auto const said = tests::last_words([] {
    tests::on_small_stack(nesting_stack, [] {
      keeper k;
      resumption<void, int> last = nested_resumptions(k, 100'000, keeps_in_local);
      last = {};
    });
  });
  CHECK_THAT(said, Catch::Matchers::StartsWith("weft: ") &&
                       Catch::Matchers::Contains("keep a resumption as a parameter"));
}

TEST_CASE("nested resumptions use no native stack after a scope was opened") {
  detail::note_pinning();  // each unwinding now checks for open tasks
  drop_and_resume<asks_outward_first>(many);
  CHECK(on_stack(small_stack, [] {
          keeper k;
          resumption<void, int> last = nested_resumptions(k, many, keeps_as_parameter);
          last = {};
          return 1;
        }) == 1);
}
