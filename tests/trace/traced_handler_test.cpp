// SPDX-License-Identifier: MIT
#include "weft/trace/traced_handler.hpp"

#include "tests/prelude.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/tracing.hpp"

struct counter {
  struct next : op<int> {};
  struct ask : op<int> {};
  using operations = op_list<next, ask>;
};
class counting : public handler<counter> {
 public:
  int on(counter::next) { return ++n_; }
  std::string on(counter::ask, resumption<int, std::string> k) { return resume(std::move(k), 10); }
  static std::string on_return(int n) { return "came to " + std::to_string(n); }

 private:
  int n_ = 0;
};
eff<int, counter> counts() {
  int n = co_await counter::next{};
  n += co_await counter::ask{};
  co_return n + co_await counter::next{};
}

TEST_CASE("a traced handler answers as before, and adds each operation to the trace") {
  trace t;
  CHECK(run(handle(traced(counting(), t), counts())) == "came to 13");
  CHECK(t.events().size() == 5);
  CHECK(t.events()[0].worker == trace_event::outside);
}

TEST_CASE("a traced handler that is borrowed is borrowed") {
  trace t;
  state_of<int> n(5);
  auto const adds = []() -> eff<int, state<int>> {
    co_await state<int>::put{co_await state<int>::get{} + 1};
    co_return co_await state<int>::get{};
  };
  CHECK(run(handle<state<int>>(traced(n, t), adds())) == 6);
  CHECK(n.value() == 6);
  CHECK(t.events().size() == 6);
}

TEST_CASE("a traced handler inside a traced process adds to the lane of the process") {
  trace t;
  auto const program = [&t]() -> eff<void, proc> {
    co_await proc::yield{};
    (void)co_await handle(traced(counting(), t), counts());
  };
  schedule<tracing<>>({.forkable = false, .trace = &t}, program);
  int found = 0;
  for (auto const& e : t.events())
    if (e.operation.ends_with("counter::next")) {
      ++found;
      CHECK(e.worker == 0);
      CHECK(e.process.text() == "1");
    }
  CHECK(found == 4);
}

using weft::tests::every_frame_dies;

/// The operations of a trace, in their order.
std::string operations_of(trace const& t) {
  std::string all;
  for (auto const& e : t.events())
    if (e.kind == trace_kind::perform)
      all += std::string(e.operation.substr(e.operation.rfind(':') + 1)) + ' ';
  return all;
}

/// A region that keeps every resumption, and answers with how many it has kept.
struct keeping : region, handler<counter> {
  std::vector<resumption<int, std::string>> kept;
  static int on(counter::next) { return 1; }
  std::string on(counter::ask, resumption<int, std::string> k) {
    kept.push_back(std::move(k));
    return "kept " + std::to_string(kept.size());
  }
  static std::string on_return(int n) { return "came to " + std::to_string(n); }
};

TEST_CASE("a traced region keeps resumptions, and its clauses answer what they perform later") {
  every_frame_dies const check;
  trace t;
  keeping k;
  CHECK(run(handle(traced(k, t), counts())) == "kept 1");
  CHECK(operations_of(t) == "next ask ");
  CHECK(k.suspended().find("counter::ask at ") != std::string::npos);
  CHECK(k.suspended().find("keeping") != std::string::npos);
  CHECK(k.suspended().find("traced_returning_handler") == std::string::npos);
  CHECK(resume(std::move(k.kept.front()), 5) == "came to 7");
  CHECK(operations_of(t) == "next ask next ");
  CHECK(k.suspended().empty());
}

/// Sets a flag when its frame is destroyed.
struct sets_at_end {
  explicit sets_at_end(bool& f) : flag(f) {}
  sets_at_end(sets_at_end const&) = delete;
  sets_at_end& operator=(sets_at_end const&) = delete;
  ~sets_at_end() { flag = true; }
  bool& flag;
};
eff<int, counter> counts_in(bool& ended) {
  sets_at_end const at_the_end(ended);
  co_return co_await counts();
}

TEST_CASE("the end of a traced region unwinds what is suspended in it") {
  every_frame_dies const check;
  trace t;
  bool ended = false;
  resumption<int, std::string> outlives;
  {
    keeping k;
    CHECK(run(handle(traced(k, t), counts_in(ended))) == "kept 1");
    outlives = std::move(k.kept.front());
    CHECK_FALSE(ended);
  }
  CHECK(ended);
  CHECK_THROWS_AS(resume(std::move(outlives), 1), resumption_expired);
}

TEST_CASE("a traced region may be named, and end before what is suspended in the region") {
  every_frame_dies const check;
  trace t;
  keeping k;
  {
    auto named = traced(k, t);
    CHECK(run(handle(named, counts())) == "kept 1");
    auto const twice = traced(named, t);
    CHECK(run(handle(twice, counts())) == "kept 2");
    CHECK(operations_of(t) == "next ask next next ask ask ");
  }
  CHECK(resume(std::move(k.kept[1]), 5) == "came to 7");
  CHECK(resume(std::move(k.kept[0]), 7) == "came to 9");
  CHECK(operations_of(t) == "next ask next next ask ask next next next ");
}

TEST_CASE("a traced region inside another handler, in a composition") {
  every_frame_dies const check;
  trace t;
  keeping k;
  auto const body = []() -> eff<int, counter, state<int>> {
    int const n = co_await counter::ask{};
    co_await state<int>::put{n};
    co_return n + co_await state<int>::get{};
  };
  CHECK(run(handle(traced(k, t) | with<state<int>>(traced(state_of(3), t)), body)) == "kept 1");
  CHECK(resume(std::move(k.kept.front()), 5) == "came to 10");
  CHECK(operations_of(t) == "ask put get ");
}

TEST_CASE("a traced region that ends while its clause runs") {
  every_frame_dies const check;
  struct ends_itself : region, handler<counter> {
    std::unique_ptr<ends_itself>& self;
    explicit ends_itself(std::unique_ptr<ends_itself>& s) : self(s) {}
    static int on(counter::next) { return 1; }
    int on(counter::ask, resumption<int, int> k) {
      auto const me = std::move(self);
      resumption<int, int> const rest = std::move(k);
      return 9;
    }
  };
  trace t;
  bool ended = false;
  std::unique_ptr<ends_itself> h;
  h = std::make_unique<ends_itself>(h);
  CHECK(run(handle(traced(*h, t), counts_in(ended))) == 9);
  CHECK(ended);
  CHECK(operations_of(t) == "next ask ");
}

TEST_CASE("a traced region with a clause that is a coroutine") {
  every_frame_dies const check;
  struct asks_on : region, handler<counter> {
    resumption<int, int> kept;
    static int on(counter::next) { return 1; }
    eff<int, state<int>> on(counter::ask, resumption<int, int> k) {
      int const n = co_await state<int>::get{};
      if (n > 0) co_return co_await std::move(k)(n);
      kept = std::move(k);
      co_return 0;
    }
  };
  trace t;
  bool ended = false;
  {
    asks_on h;
    auto const goes_on = [&]() -> eff<int, state<int>> {
      co_return co_await handle(traced(h, t), counts);
    };
    auto const stays = [&]() -> eff<int, state<int>> {
      co_return co_await handle(traced(h, t), counts_in(ended));
    };
    CHECK(run(handle<state<int>>(state_of(4), goes_on)) == 6);
    CHECK(run(handle<state<int>>(state_of(0), stays)) == 0);
    CHECK_FALSE(ended);
  }
  CHECK(ended);
  CHECK(operations_of(t) == "next ask next next ask ");
}

TEST_CASE("a traced region that resumes any number of times, by replay and bitwise") {
  every_frame_dies const check;
  struct keeps_often : region, handler<counter> {
    multi_resumption<int, int> kept;
    static int on(counter::next) { return 1; }
    int on(counter::ask, multi_resumption<int, int> k) {
      kept = std::move(k);
      return 0;
    }
  };
  auto const by = [](auto policy) {
    trace t;
    multi_resumption<int, int> outlives;
    {
      keeps_often h;
      CHECK(run(handle(traced(h, t), counts, policy)) == 0);
      CHECK(resume(h.kept, 5) == 7);
      CHECK(resume(h.kept, 6) == 8);
      CHECK(operations_of(t) == "next ask next next ");
      outlives = h.kept;
    }
    CHECK_THROWS_AS(resume(outlives, 1), resumption_expired);
  };
  by(replay());
  by(bitwise());
}

TEST_CASE("a traced handler that is borrowed, and no region, must not keep a resumption") {
  every_frame_dies const check;
  struct keeps : handler<counter> {
    resumption<int, int> kept;
    static int on(counter::next) { return 1; }
    int on(counter::ask, resumption<int, int> k) {
      kept = std::move(k);
      return 0;
    }
  };
  trace t;
  keeps h;
  CHECK_THROWS_AS(run(handle(h, counts)), not_a_region);
  CHECK_THROWS_AS(run(handle(traced(h, t), counts)), not_a_region);
  auto named = traced(h, t);
  CHECK_THROWS_AS(run(handle(named, counts)), not_a_region);
}

TEST_CASE("a traced handler performs outward, as the handler does") {
  every_frame_dies const check;
  struct adds : handler<counter> {
    static int on(counter::next, outer<state<int>> up) { return up(state<int>::get{}); }
    static int on(counter::ask) { return 10; }
  };
  auto const body = []() -> eff<int, counter, state<int>> {
    int n = co_await counter::next{};
    n += co_await counter::ask{};
    co_return n + co_await state<int>::get{};
  };
  trace t;
  CHECK(run(handle(traced(adds(), t) | with<state<int>>(state_of(3)), body)) == 16);
  CHECK(operations_of(t) == "next ask ");
}

TEST_CASE(
    "an event of a traced handler has the handlers around the operation, and which one answers") {
  every_frame_dies const check;
  auto const names = [](trace_event const& e) {
    std::vector<std::string> all;
    for (auto const line : std::views::split(e.under, '\n')) {
      std::string_view const name(line.begin(), line.end());
      all.emplace_back(name.substr(name.rfind(':') + 1));
    }
    return all;
  };
  struct asked : handler<counter> {
    static int on(counter::next) { return 1; }
    static outcome<int> on(counter::ask, resumption<int, int> k) { return std::move(k).last(2); }
  };
  struct often : handler<counter> {
    static int on(counter::next) { return 1; }
    static int on(counter::ask, multi_resumption<int, int> k) { return resume(std::move(k), 2); }
  };
  auto const body = []() -> eff<int, counter, state<int>> {
    (void)co_await state<int>::get{};
    (void)co_await outer_of<state<int>>(state<int>::get{});
    (void)co_await counter::next{};
    co_return co_await counter::ask{};
  };
  auto const under = [&](auto handler, auto policy, std::string const& name) {
    trace t;
    auto const inside = [&]() -> eff<int, counter, state<int>> {
      co_return co_await handle<state<int>>(traced(state_of(1), t), body);
    };
    auto const outside = [&]() -> eff<int, state<int>> {
      co_return co_await handle(traced(handler, t), inside, policy);
    };
    CHECK(run(handle<state<int>>(traced(state_of(2), t), outside)) == 2);
    std::string depths;
    for (auto const& e : t.events()) {
      CHECK(names(e) == std::vector<std::string>{"state_of<int>", name, "state_of<int>"});
      if (e.kind == trace_kind::perform) depths += std::to_string(e.depth);
    }
    CHECK(depths == "0211");
  };
  under(asked(), replay(), "asked");
  under(often(), replay(), "often");
  under(often(), bitwise(), "often");
}

constexpr std::uint32_t line_of_call(std::source_location at = std::source_location::current()) {
  return at.line();
}
constexpr std::uint32_t first_line = line_of_call() + 2;
eff<int, counter, state<int>> in_three_lines() {
  int n = co_await counter::next{};
  n += co_await counter::ask{};
  co_return n + co_await state<int>::get{};
}
/// The lines where operations were performed, counted from the first one above.
std::string places_of(trace const& t) {
  std::string all;
  for (trace_event const& e : t.events()) {
    if (e.kind != trace_kind::perform) continue;
    CHECK(std::string_view(e.file).ends_with("traced_handler_test.cpp"));
    all += std::to_string(e.line - first_line) + " ";
  }
  return all;
}

TEST_CASE("an event of a traced handler has the place where the operation is performed") {
  every_frame_dies const check;
  struct by_value : handler<counter> {
    static int on(counter::next, outer<state<int>> up) { return up(state<int>::get{}); }
    static int on(counter::ask) { return 10; }
  };
  struct control : handler<counter> {
    static outcome<int> on(counter::next, resumption<int, int> k) { return std::move(k).last(1); }
    static int on(counter::ask, resumption<int, int> k) { return resume(std::move(k), 2); }
  };
  struct coroutine : handler<counter> {
    static int on(counter::next) { return 1; }
    static eff<int> on(counter::ask, resumption<int, int> k) { co_return co_await std::move(k)(2); }
  };
  struct twice : handler<counter> {
    static int on(counter::next) { return 1; }
    static eff<int> on(counter::ask, multi_resumption<int, int> k) {
      int const first = co_await k(2);
      co_return first + co_await std::move(k)(3);
    }
  };
  auto const run_under = [](auto h, auto policy) {
    trace t;
    auto const inside = [&]() -> eff<int, state<int>> {
      co_return co_await handle(traced(h, t), in_three_lines, policy);
    };
    (void)run(handle<state<int>>(state_of(4), inside));
    return places_of(t);
  };
  CHECK(run_under(by_value(), replay()) == "0 1 ");
  CHECK(run_under(control(), replay()) == "0 1 ");
  CHECK(run_under(coroutine(), replay()) == "0 1 ");
  CHECK(run_under(twice(), replay()) == "0 1 ");
  CHECK(run_under(twice(), bitwise()) == "0 1 ");
  trace t;
  auto named = traced(by_value(), t);
  (void)run(handle(traced(named, t) | with<state<int>>(traced(state_of(4), t)), in_three_lines));
  CHECK(places_of(t).starts_with("0 0 "));
  CHECK(places_of(t).ends_with("1 1 2 "));
}
