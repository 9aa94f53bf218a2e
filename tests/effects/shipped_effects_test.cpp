// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The effects that the library provides, and for_each.

eff<int, failure<std::string>> half(int n) {
  if (n % 2 != 0) co_await failure<std::string>::fail{std::to_string(n) + " is odd"};
  co_return n / 2;
}
eff<void, failure<std::string>> must_be_even(int n) { co_await half(n); }

TEST_CASE("a failure becomes an optional, a variant or an exception, with or without a result") {
  every_frame_dies const check;
  CHECK(run(handle(failure_to_optional<std::string>(), half(4))) == 2);
  CHECK(run(handle(failure_to_optional<std::string>(), half(3))) == std::nullopt);
  CHECK(run(handle(failure_to_optional<std::string>(), must_be_even(4))));
  CHECK_FALSE(run(handle(failure_to_optional<std::string>(), must_be_even(3))));

  CHECK(std::get<0>(run(handle(failure_to_variant<std::string>(), half(4)))) == 2);
  CHECK(std::get<1>(run(handle(failure_to_variant<std::string>(), half(3)))) == "3 is odd");
  CHECK(run(handle(failure_to_variant<std::string>(), must_be_even(4))).index() == 0);
  CHECK(run(handle(failure_to_variant<std::string>(), must_be_even(3))).index() == 1);

  CHECK(run(handle(failure_to_exception<std::string>(), half(4))) == 2);
  CHECK_THROWS_AS(run(handle(failure_to_exception<std::string>(), half(3))), std::string);
}

TEST_CASE("a failure unwinds the frames up to its handler, the innermost first") {
  every_frame_dies const check;
  std::string out;
  auto const body = [&out]() -> eff<int, failure<int>> {
    leaves const outermost(out, 'o');
    co_return co_await [](std::string& to) -> eff<int, failure<int>> {
      leaves const innermost(to, 'i');
      co_await failure<int>::fail{1};
    }(out);
  };
  CHECK(run(handle(failure_to_optional<int>(), body)) == std::nullopt);
  CHECK(out == "io");
}

eff<int, reader<int>, reader<std::string>> measures() {
  int const n = co_await reader<int>::ask{};
  std::string const s = co_await reader<std::string>::ask{};
  co_return n + static_cast<int>(s.size());
}

TEST_CASE("each reader gives one value, and readers are distinguished by type") {
  every_frame_dies const check;
  CHECK(run(handle(reader_of(38) | reader_of(std::string("four")), measures())) == 42);
}

TEST_CASE("console prints to a string or to a stream, with or without a newline") {
  every_frame_dies const check;
  auto const prints = []() -> eff<void, console> {
    co_await console::print{"a"};
    co_await console::print_line{"b"};
  };
  std::string text;
  run(handle(console_to_string(text), prints));
  CHECK(text == "ab\n");
  std::ostringstream stream;
  run(handle(console_to_stream(stream), prints));
  CHECK(stream.str() == "ab\n");
  stream.setstate(std::ios::failbit);
  CHECK_THROWS_AS(run(handle(console_to_stream(stream), prints)), std::runtime_error);
}

TEST_CASE("for_each has the row of its function, and works on any range") {
  every_frame_dies const check;
  int sum = 0;
  auto const add = [](int n) -> eff<void, state<int>> {
    co_await modify<int>([n](int s) { return s + n; });
  };
  std::vector<int> const named{1, 2, 3};
  run(handle(state_in(sum), for_each(named, add)));
  run(handle(state_in(sum), for_each(std::list{10, 20}, add)));  // keeps the temporary
  run(handle(state_in(sum), for_each(std::views::iota(100, 102), add)));
  run(handle(state_in(sum), for_each(std::vector<int>(), add)));
  CHECK(sum == 237);

  run(for_each(named, [&sum](int n) -> eff<void> {  // the empty row
    sum -= n;
    co_return;
  }));
  CHECK(sum == 231);

  std::string text;
  std::vector<std::string> words{"a", "b"};
  auto const shout = [](std::string& w) -> eff<void, console, failure<int>> {
    w += "!";
    if (w == "c!") co_await failure<int>::fail{1};
    co_await console::print{w};
  };
  run(handle(failure_to_optional<int>() | console_to_string(text), for_each(words, shout)));
  CHECK(text == "a!b!");
  CHECK(words[1] == "b!");
}

TEST_CASE("for_each stops where its function fails") {
  every_frame_dies const check;
  int seen = 0;
  bool const all =
      run(handle(failure_to_optional<int>(),
                 for_each(std::views::iota(0, 10), [&seen](int n) -> eff<void, failure<int>> {
                   ++seen;
                   if (n == 4) co_await failure<int>::fail{n};
                 })));
  CHECK_FALSE(all);
  CHECK(seen == 5);
}

TEST_CASE("describe draws a suspended computation: operation, calls, handlers and clauses") {
  every_frame_dies const check;
  using Catch::Matchers::Contains;
  struct waits {
    int factor;
    eff<int, tick> on(ask::get, resumption<int, int> k) {
      co_await tick::now{};
      co_return factor* co_await std::move(k)(7);
    }
  };
  struct calls {
    static eff<void, tick> twice(int depth) {
      if (depth != 0) co_return co_await twice(depth - 1);
      co_await handle<ask>(waits{2}, asks());
    }
  };
  parks p;
  CHECK(describe(p.k) == "an empty resumption\n");
  run(handle(p, calls::twice(2)));
  std::string const drawn = describe(p.k);
  CHECK_THAT(drawn, Contains("tick::now at ") && Contains("shipped_effects_test.cpp:"));
  CHECK_THAT(drawn, Contains("under a clause of") && Contains("waits"));
  CHECK_THAT(drawn, Contains("under weft::tests::parks at "));
  CHECK(std::ranges::count(drawn, '\n') == 5);
  CHECK_THAT(describe(p.k, 3), Contains("and more"));

  resumption<void> expired;
  {
    parks q;
    run(handle(q, calls::twice(0)));
    expired = std::move(q.k);
  }
  CHECK_THAT(describe(expired), Contains("can no longer be resumed"));
}
