// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/small_stack.hpp"

/// Resumptions as values, under a handler that keeps them.

struct ask {
  struct once : op<int> {};
  struct often : op<int> {};
  struct jump : op<void> {};
  using operations = op_list<once, often, jump>;
};

struct keeper : region {
  std::optional<resumption<int>> once;
  std::optional<multi_resumption<int>> often;
  bool fails = false;

  void on(ask::once, resumption<int> k) { once = std::move(k); }
  void on(ask::often, multi_resumption<int> k) {
    if (fails) throw std::runtime_error("the clause failed");
    often = std::move(k);
  }
  void on(ask::jump, resumption<void> k) { resume(std::move(k)); }  // from inside its clause
};

struct witness {
  static inline int alive = 0;
  witness() { ++alive; }
  witness(witness const&) = delete;
  ~witness() { --alive; }
};

TEST_CASE("a resumption is resumed once") {
  int answer = 0;
  keeper k;
  run(handle<ask>(k, [&answer]() -> eff<void, ask> {
    witness w;
    answer = co_await ask::once{};
  }));
  REQUIRE(k.once);
  CHECK(witness::alive == 1);
  resume(std::move(*k.once), 7);
  CHECK(answer == 7);
  CHECK(witness::alive == 0);
  CHECK_THROWS_AS(resume(std::move(*k.once), 8), resumption_empty);
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<resumption<int>>);
}

TEST_CASE("a resumption that is dropped unwinds its frames, the innermost first") {
  std::string order;
  struct says {
    std::string& to;
    char what;
    ~says() { to += what; }
  };
  {
    keeper k;
    run(handle<ask>(k, [&order]() -> eff<void, ask> {
      says const outer{order, 'o'};
      co_await [](std::string& to) -> eff<void, ask> {
        says const inner{to, 'i'};
        co_await ask::once{};
      }(order);
    }));
    CHECK(order.empty());
  }
  CHECK(order == "io");
}

TEST_CASE("every resume of a multi-shot resumption finds the state of the body at the capture") {
  std::vector<std::string> runs;
  keeper k;
  auto const program = [&runs]() -> eff<void, ask> {
    witness w;
    int local = 1;
    int const a = co_await ask::often{};
    local += a;
    int const b = co_await ask::often{};
    runs.push_back(std::to_string(local) + "," + std::to_string(b));
  };
  {
    run(handle<ask>(k, program));
    auto const first = *k.often;
    resume(first, 10);
    auto const second_of_10 = *k.often;
    resume(first, 20);
    auto const second_of_20 = *k.often;
    resume(second_of_20, 1);
    resume(second_of_10, 2);
    resume(second_of_20, 3);
    resume(first, 30);
    k.often.reset();
  }
  CHECK(runs == std::vector<std::string>{"21,1", "11,2", "21,3"});
  CHECK(witness::alive == 0);
}

TEST_CASE("a multi-shot resumption may be resumed any number of times, or never") {
  auto const times = GENERATE(0, 1, 2, 5);
  std::vector<int> answers;
  auto const before = detail::frames_so_far();
  {
    keeper k;
    run(handle<ask>(k, [&answers]() -> eff<void, ask> {
      witness w;
      answers.push_back(co_await ask::often{});
    }));
    for (int i = 0; i != times; ++i) resume(*k.often, i);
  }
  CHECK(answers.size() == static_cast<std::size_t>(times));
  CHECK(witness::alive == 0);
  CHECK(detail::frames_so_far().alive() == before.alive());
}

TEST_CASE("a resumption may be resumed from inside its own clause") {
  int steps = 0;
  keeper k;
  run(handle<ask>(k, [&steps]() -> eff<void, ask> {
    for (; steps != 3; ++steps) co_await ask::jump{};
  }));
  CHECK(steps == 3);
}

TEST_CASE("dropping a past of many captures takes no native stack") {
  weft::tests::on_small_stack(256 * 1024, [] {
    keeper k;
    run(handle<ask>(k, []() -> eff<void, ask> {
      int i = 0;
      while (i != 20'000) i = co_await ask::often{};
    }));
    for (int i = 1; i != 20'000; ++i) resume(*k.often, i);
  });
  SUCCEED("the stack was enough");
}

TEST_CASE("an exception of the body goes to the caller that resumed") {
  keeper k;
  run(handle<ask>(k, []() -> eff<void, ask> {
    int const n = co_await ask::often{};
    throw std::out_of_range(std::to_string(n));
  }));
  CHECK_THROWS_WITH(resume(*k.often, 1), "1");
  CHECK_THROWS_WITH(resume(*k.often, 2), "2");
}

TEST_CASE("an exception of a control clause goes to the caller of run(), and unwinds the program") {
  keeper k;
  k.fails = true;
  bool arose_at_the_operation = false;
  auto const program = [&arose_at_the_operation]() -> eff<void, ask> {
    witness w;
    try {
      co_await ask::often{};
    } catch (...) {
      arose_at_the_operation = true;
    }
  };
  CHECK_THROWS_WITH(run(handle<ask>(k, program)), "the clause failed");
  CHECK_FALSE(arose_at_the_operation);
  CHECK(witness::alive == 0);
}

TEST_CASE("a computation that is never awaited does nothing") {
  auto const before = detail::frames_so_far();
  bool ran = false;
  {
    auto const lazy = [](bool& r) -> eff<void, ask> {
      r = true;
      co_return;
    }(ran);
    auto moved = [](bool& r) -> eff<int> {
      r = true;
      co_return 1;
    }(ran);
    auto const other = std::move(moved);
  }
  CHECK_FALSE(ran);
  CHECK(detail::frames_so_far().alive() == before.alive());
}
