// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Resumptions that coroutines keep: the order in which they are unwound when the coroutine is
/// dropped.

// ---- parameters

TEST_CASE(
    "a resumption that is a parameter is unwound after the locals and before the frames outside") {
  every_frame_dies const check;
  std::string out;
  struct clause {
    std::string& to;
    eff<int, tick> on(ask::get, resumption<int, int> k) {
      leaves const first(to, '1');
      leaves const second(to, '2');
      co_await tick::now{};
      co_return co_await std::move(k)(0);
    }
  };
  auto const body = [&out]() -> eff<int, ask> {
    leaves const at_the_end(out, 'b');
    co_return co_await ask::get{};
  };
  parks p;
  run(handle(p, [&]() -> eff<void, tick> {
    leaves const at_the_end(out, 'o');
    co_await handle<ask>(clause{out}, body);
  }));
  p.k = {};
  CHECK(out == "21bo");
}

TEST_CASE(
    "nested resumptions are unwound in the order in which they were captured, the last one last") {
  every_frame_dies const check;
  std::string out;
  struct nests {
    static eff<int, tick> at(int depth, std::string& to) {
      leaves const at_the_end(to, static_cast<char>('a' + depth));
      if (depth == 0) {
        co_await tick::now{};
        co_return 0;
      }
      struct clause {
        std::string& to;
        int depth;
        eff<int, tick> on(tick::now, resumption<void, int> k) {
          leaves const in_clause(to, static_cast<char>('A' + depth));
          co_await tick::now{};
          co_return co_await std::move(k)();
        }
      };
      co_return co_await handle<tick>(clause{to, depth}, at(depth - 1, to));
    }
  };
  struct keeps_ticks : region, handler<tick> {
    resumption<void, int> k;
    int on(tick::now, resumption<void, int> r) {
      k = std::move(r);
      return -1;
    }
  };
  keeps_ticks h;
  run(handle(h, nests::at(3, out)));
  CHECK(out.empty());
  h.k = {};
  CHECK(out == "DCBabcd");
}

/// Suspends a body, which writes a letter when it is unwound, and returns its resumption.
template <class Keeper = keeps>
auto suspended(Keeper& k, std::string& out, char letter) {
  run(handle(k, [&out, letter]() -> eff<int, ask> {
    leaves const at_the_end(out, letter);
    co_return co_await ask::get{};
  }));
  return std::move(k.k);
}

TEST_CASE("a region says what is suspended in it") {
  every_frame_dies const check;
  struct keeps_all : region, handler<tick> {
    std::vector<resumption<void>> waiting;
    void on(tick::now, resumption<void> k) { waiting.push_back(std::move(k)); }
  };
  keeps_all h;
  CHECK(h.suspended().empty());
  auto const waits_once = []() -> eff<void, tick> { co_await tick::now{}; };
  run(handle(h, waits_once));
  run(handle(h, waits_once));
  std::string const both = h.suspended();
  CHECK(std::count(both.begin(), both.end(), '\n') == 2);
  CHECK(both.find("tick::now at ") != std::string::npos);
  CHECK(both.find("kept_resumptions_test.cpp:") != std::string::npos);
  h.waiting.pop_back();
  resume(std::move(h.waiting.back()));
  CHECK(h.suspended().empty());
}

TEST_CASE("all parameters that are resumptions are unwound, in an unspecified order") {
  every_frame_dies const check;
  std::string out;
  keeps k;
  auto const both = [&out](resumption<int, int>, resumption<int, int>,
                           resumption<int, int>) -> eff<void, tick> {
    leaves const at_the_end(out, 'l');
    co_await tick::now{};
  };
  auto one = suspended(k, out, 'x');
  auto other = suspended(k, out, 'y');
  auto third = suspended(k, out, 'z');
  parks p;
  run(handle(p, both(std::move(one), std::move(other), std::move(third))));
  p.k = {};
  REQUIRE(out.size() == 4);
  CHECK(out.front() == 'l');
  CHECK(out.find_first_not_of("lxyz") == out.npos);
}

TEST_CASE("a coroutine that was never started drops the resumption that is its parameter") {
  every_frame_dies const check;
  std::string out;
  keeps k;
  auto const waits = [](resumption<int, int>) -> eff<void, tick> { co_await tick::now{}; };
  {
    auto const never_awaited = waits(suspended(k, out, 'x'));
    CHECK(out.empty());
  }
  CHECK(out == "x");
}

TEST_CASE("a coroutine that ends drops a resumption that it did not use") {
  every_frame_dies const check;
  std::string out;
  keeps k;
  bool const throws = GENERATE(false, true);
  auto const ends = [&out, throws](resumption<int, int>) -> eff<void> {
    leaves const at_the_end(out, 'l');
    if (throws) throw throws;
    co_return;
  };
  try {
    run(ends(suspended(k, out, 'x')));
    CHECK_FALSE(throws);
  } catch (bool) {
    CHECK(throws);
  }
  CHECK(out == "lx");
}

TEST_CASE("the region of a resumption that is a parameter may end before or during its unwinding") {
  every_frame_dies const check;
  std::string out;
  auto k = std::make_unique<keeps>();
  struct ends_a_region {
    std::unique_ptr<keeps>& k;
    ~ends_a_region() { k.reset(); }
  };
  bool const is_in_a_local = GENERATE(false, true);
  auto const waits = [is_in_a_local](resumption<int, int>,
                                     std::shared_ptr<ends_a_region> r) -> eff<void, tick> {
    std::shared_ptr<ends_a_region> local;
    if (is_in_a_local) local = std::move(r);
    co_await tick::now{};
  };
  parks p;
  auto rest = suspended(*k, out, 'x');
  auto region_end = std::make_shared<ends_a_region>(k);
  run(handle(p, waits(std::move(rest), std::move(region_end))));
  p.k = {};
  CHECK(out == "x");
  CHECK_FALSE(k);
}

TEST_CASE("a resumption that is a parameter may have expired") {
  every_frame_dies const check;
  std::string out;
  parks p;
  auto const waits = [&out](resumption<int, int>) -> eff<void, tick> {
    leaves const at_the_end(out, 'l');
    co_await tick::now{};
  };
  {
    keeps k;
    run(handle(p, waits(suspended(k, out, 'x'))));
  }
  CHECK(out == "x");
  p.k = {};
  CHECK(out == "xl");
}

TEMPLATE_TEST_CASE("the last owner of a multi-shot resumption unwinds it", "", replay, bitwise) {
  every_frame_dies const check;
  std::string out;
  std::string* const to = &out;
  auto const picks = [to]() -> eff<int, pick> {
    struct leaves_x {
      std::string* to;
      ~leaves_x() { *to += 'x'; }
    } const at_the_end{to};
    co_return co_await pick::one{};
  };
  auto const waits = [&out](multi_resumption<int, int>) -> eff<void, tick> {
    leaves const at_the_end(out, 'l');
    co_await tick::now{};
  };
  auto const waits_as_const = [&out](multi_resumption<int, int> const) -> eff<void, tick> {
    leaves const at_the_end(out, 'l');
    co_await tick::now{};
  };
  bool const is_shared = GENERATE(false, true);
  bool const is_const = GENERATE(false, true);
  keeps_picks<int> k;
  run(handle<pick>(k, picks, TestType()));
  multi_resumption<int, int> const other = is_shared ? k.waiting.back() : decltype(other)();
  parks p;
  auto only = std::move(k.waiting.back());
  k.waiting.clear();
  run(handle(p, is_const ? waits_as_const(std::move(only)) : waits(std::move(only))));
  p.k = {};
  CHECK(out == (is_shared ? "l" : "lx"));
  if (!is_shared) return;
  CHECK(resume(other, 5) == 5);
  CHECK(out == "lx");
}

// ---- locals

TEST_CASE(
    "a resumption in a local is unwound where the local stands, while earlier locals are alive") {
  every_frame_dies const check;
  struct stream {
    resumption<void, stream> rest;
  };
  struct streams : handler<tick> {
    stream on(tick::now, resumption<void, stream> k) const { return {std::move(k)}; }
    stream on_return() const { return {}; }
  };
  std::string out;
  auto const borrows = [](std::string* text) -> eff<void, tick> {
    struct writes {
      std::string* text;
      ~writes() { *text += "written to, "; }
    } const at_the_end{text};
    co_await tick::now{};
  };
  struct shows {
    std::string& text;
    std::string& to;
    ~shows() { to = text; }
  };
  keeps k;
  run(handle(k, [&]() -> eff<int, ask> {
    std::string text;
    shows const at_the_end{text, out};
    stream const mine = co_await handle(streams(), borrows(&text));
    leaves const after(text, '!');
    co_return co_await ask::get{};
  }));
  k.k = {};
  CHECK(out == "!written to, ");
}
