// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// How a process is run again from its log, and when it no longer can be.

using program = eff<void, proc, console>;

/// The message of the exception that a fork throws, or an empty string.
eff<std::string, proc> refusal_of_a_fork() {
  std::string what;
  try {
    co_await proc::fork{};
  } catch (unforkable const& e) {
    what = e.what();
  }
  co_return what;
}

// ---- which process keeps a log

template <class E>
eff<void, E, console> takes_turns(char const* name) {
  co_await console::print{name};
  co_await typename E::yield{};
  co_await console::print{name};
  co_await typename E::exit{};
  co_await console::print{"never"};
}
template <class E>
eff<void, spawning<E, console>> two_take_turns() {
  co_await spawn(takes_turns<E>, "a");
  co_await spawn(takes_turns<E>, "b");
}
/// Takes a checkpoint after the first step.
void keeps_a_log(schedule_options how, auto program) {
  std::string said;
  scheduler<> s;
  s.start(how, [=] { return program("a"); }, console_to_string(said));
  s.step();
  (void)s.checkpoint();
}

TEST_CASE("a first process keeps a log if its row says that it may fork, or if it is asked to") {
  CHECK_NOTHROW(keeps_a_log({}, takes_turns<proc>));
  CHECK_THROWS_AS(keeps_a_log({.forkable = false}, takes_turns<proc>), unforkable);
  CHECK_THROWS_AS(keeps_a_log({}, takes_turns<yielding>), unforkable);
  CHECK_NOTHROW(keeps_a_log({.forkable = true}, takes_turns<yielding>));
}

TEST_CASE("processes that cannot fork take the turns of those that may") {
  CHECK(printed_by(two_take_turns<yielding>) == "abab");
  CHECK(printed_by(two_take_turns<proc>) == "abab");
  for (std::uint64_t seed = 0; seed != 20; ++seed) {
    std::string by_yielding;
    std::string by_proc;
    schedule<random_order>({.seed = seed}, two_take_turns<yielding>,
                           console_to_string(by_yielding));
    schedule<random_order>({.seed = seed}, two_take_turns<proc>, console_to_string(by_proc));
    CHECK(by_yielding == by_proc);
  }
  auto const schedules = [](auto program) {
    return explore([] { return std::string(); }, [=](auto&) { return program(); },
                   [](std::string const& said) { return said.size() == 4; },
                   [](std::string& said) { return console_to_string(said); });
  };
  auto const by_yielding = schedules(two_take_turns<yielding>);
  CHECK(by_yielding.ok());
  CHECK(by_yielding.schedules == schedules(two_take_turns<proc>).schedules);
}

// ---- the limit

TEST_CASE("a process whose log would exceed its limit can no longer fork, and continues") {
  auto const p = []() -> program {
    for (int i = 0; i != 5; ++i) {
      co_await proc::yield{};
      co_await console::print{"."};
    }
    std::string const what = co_await refusal_of_a_fork();
    co_await proc::yield{};
    co_await console::print{what};
  };
  auto const text = printed_by({.log_limit = 6}, p);
  CHECK_THAT(
      text, Contains(".....weft: weft::proc::fork at tests/sched/base/forkable_process_test.cpp") &&
                Contains("the limit of 6 entries (.log_limit)"));
  CHECK_THAT(printed_by({.log_limit = 10}, p), Contains("the limit of 10 entries"));
  CHECK(printed_by({.log_limit = 11}, p) == ".....");
}

TEST_CASE("any number of yields at one site takes one entry of the log") {
  auto const p = []() -> program {
    for (int i = 0; i != 1000; ++i) co_await proc::yield{};
    bool const first = co_await proc::fork{};
    for (int i = 0; i != 1000; ++i) co_await proc::yield{};
    bool const second = co_await proc::fork{};
    co_await console::print{std::to_string(2 * first + second)};
  };
  CHECK(printed_by({.log_limit = 4}, p) == "3210");
}

std::int64_t alive() { return detail::frames_so_far().alive(); }

TEST_CASE("a million yields of a process that may fork leave no memory allocated") {
  std::vector<std::int64_t> seen;
  schedule([&seen]() -> eff<void, proc> {
    for (int i = 1; i != 1'000'001; ++i) {
      co_await proc::yield{};
      if (i == 10 || i == 1'000'000) seen.push_back(alive());
    }
  });
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("a log that exceeded its limit is freed") {
  std::vector<std::int64_t> seen;
  schedule({.log_limit = 10'000}, [&seen]() -> eff<void, proc> {
    co_await proc::yield{};
    seen.push_back(alive());
    for (int i = 0; i != 20'000; ++i) {
      co_await proc::yield{};
      co_await proc::yield{};
    }
    seen.push_back(alive());
  });
  REQUIRE(seen.size() == 2);
  CHECK(seen[1] < seen[0]);
}

TEST_CASE("without a log a fork throws, and the message says how to keep a log") {
  auto const p = []() -> program {
    std::string const what = co_await refusal_of_a_fork();
    co_await console::print{what};
  };
  CHECK_THAT(printed_by({.forkable = false}, p),
             Contains("weft::proc::fork at tests/sched/base/forkable_process_test.cpp") &&
                 Contains("spawn(forkable, f)") && Contains("{.forkable = false}"));
}

/// Hands out tickets, each of them once.
struct tickets {
  struct take : op<int, seals> {};
  using operations = op_list<take>;
};
struct sells {
  int left;
  int on(tickets::take) {
    if (left == 0) throw std::runtime_error("sold out");
    return left--;
  }
};

// ---- sealing

TEST_CASE(
    "a sealing operation ends forking, both operations are named, and the process continues") {
  auto const p = []() -> eff<void, proc, console, tickets> {
    bool const first = co_await proc::fork{};
    int const ticket = co_await tickets::take{};
    std::string const what = co_await refusal_of_a_fork();
    co_await proc::yield{};
    co_await console::print{(first ? "true " : "false ") + std::to_string(ticket) + ": " + what};
  };
  auto const text = printed_by(p, sells{2});
  CHECK_THAT(
      text,
      Contains("true 2: weft: weft::proc::fork at tests/sched/base/forkable_process_test.cpp:"));
  CHECK_THAT(text, Contains("the answer of ") &&
                       Contains("tickets::take at tests/sched/base/forkable_process_test"));
  CHECK_THAT(text, Contains("false 1: "));
}

TEST_CASE("a sealing operation that throws does not seal the log") {
  auto const p = []() -> eff<void, proc, console, tickets> {
    std::string what;
    try {
      co_await tickets::take{};
    } catch (std::runtime_error const& e) {
      what = e.what();
    }
    bool const first = co_await proc::fork{};
    co_await console::print{what + (first ? " 1 " : " 0 ")};
  };
  CHECK(printed_by(p, sells{0}) == "sold out 1 sold out 0 ");
}

TEST_CASE(
    "a process that sealed its log is in no checkpoint from its next operation until it ends") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start(
      []() -> eff<void, proc, console, tickets> {
        bool const first = co_await proc::fork{};
        if (first) co_await tickets::take{};
        co_await proc::yield{};
        co_await console::print{first ? "true " : "false "};
      },
      sells{1}, console_to_string(text));
  s.step();
  auto const before = s.checkpoint();
  s.step();
  CHECK_THROWS_AS(s.checkpoint(), unforkable);
  s.step();
  s.step();
  CHECK(std::exchange(text, {}) == "true ");
  auto const after = s.checkpoint();
  s.run();
  s.run(after);
  CHECK(std::exchange(text, {}) == "false false ");
  CHECK_THROWS_WITH(s.run(before), "sold out");
}

/// Throws at every third question.
struct moody {
  int n = 0;
  int on(ask::get) {
    if (++n % 3 == 0) throw std::runtime_error("no " + std::to_string(n));
    return n;
  }
};

// ---- replay

TEST_CASE(
    "exceptions of handlers outside are thrown again in a replay, and caught at the same place") {
  auto const p = []() -> eff<void, proc, console, ask> {
    std::string all;
    for (int i = 0; i != 4; ++i) {
      try {
        int const n = co_await ask::get{};
        all += std::to_string(n) + ' ';
      } catch (std::runtime_error const& e) {
        all += std::string(e.what()) + ' ';
      }
    }
    bool const first = co_await proc::fork{};
    co_await console::print{all + (first ? "t " : "f ")};
  };
  CHECK(printed_by(p, moody()) == "1 2 no 3 4 t 1 2 no 3 4 f ");
}

TEST_CASE("a program whose call throws fails as a process: at first, and in a replay") {
  int calls = 0;
  int fatal = 0;
  auto const p = [&calls, &fatal]() -> eff<void, proc> {
    if (++calls == fatal) throw std::runtime_error("call " + std::to_string(calls));
    return []() -> eff<void, proc> { co_await proc::fork{}; }();
  };
  for (fatal = 1; fatal != 3; ++fatal) {
    every_frame_dies const check;
    calls = 0;
    CHECK_THROWS_WITH(schedule(p), "call " + std::to_string(fatal));
  }
  calls = 0;
  fatal = 1;
  CHECK_THROWS_WITH(schedule({.forkable = false}, p), "call 1");
}

// ---- divergence

TEST_CASE(
    "a divergence names both operations, and is thrown even if the program catches everything") {
  bool again = false;
  auto const p = [&again]() -> program {
    bool const second = std::exchange(again, true);
    for (int i = 0; i != 3; ++i) {
      try {
        if (second) co_await console::print{"x"};
        co_await proc::yield{};
      } catch (...) {
      }
    }
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(printed_by(p), Contains("at operation 1, performed weft::console::print at") &&
                                       Contains("the first time it performed weft::proc::yield"));
}

TEST_CASE(
    "a program that ends, exits, spawns or wakes in its replay, and did not before, diverges") {
  for (int const which : {0, 1, 2, 3}) {
    bool again = false;
    auto const p = [&again, which]() -> eff<void, proc, console, syncing, spawning<>> {
      gate g;
      if (std::exchange(again, true)) {
        if (which == 0) co_return;
        if (which == 1) co_await proc::exit{};
        if (which == 2) co_await spawn([]() -> eff<void> { co_return; });
        if (which == 3) co_await syncing::wake{g};
      }
      co_await proc::yield{};
      co_await proc::fork{};
    };
    CHECK_THROWS_AS(printed_by(p), replay_divergence);
  }
}

TEST_CASE("the process that diverges fails, and the other processes are cancelled") {
  every_frame_dies const check;
  bool again = false;
  std::string text;
  auto const p = [&again]() -> eff<void, spawning<proc, console>, proc, console> {
    co_await spawn([]() -> program {
      bool found = false;
      try {
        for (;;) co_await proc::yield{};
      } catch (cancelled const&) {
        found = true;
      }
      co_await console::print{found ? "cancelled" : "?"};
    });
    bool const second = std::exchange(again, true);
    co_await proc::yield{};
    if (second) co_await proc::yield{};
    co_await proc::fork{};
    co_await proc::yield{};
    co_await proc::yield{};
  };
  CHECK_THROWS_AS(schedule(p, console_to_string(text)), replay_divergence);
  CHECK(text == "cancelled");
}

// ---- the name of a process

TEST_CASE("a process is named by the path of starts that led to it, also as the child of a fork") {
  every_frame_dies const check;
  gate g;
  std::string what;
  auto const p = [&g]() -> eff<void, spawning<syncing>, proc, syncing> {
    auto const waits = [](gate& at) -> eff<void, syncing> { co_await syncing::wait{at}; };
    co_await spawn(waits, std::ref(g));  // 1.1
    co_await proc::fork{};               // 1.2
    co_await spawn(waits, std::ref(g));  // 1.3 and 1.2.1
    co_await proc::fork{};               // 1.4 and 1.2.2
    co_await syncing::wait{g};
  };
  try {
    schedule(p);
  } catch (deadlock const& e) {
    for (auto const& w : e.all) what += w.process.text() + ' ';
  }
  CHECK(what == "1 1.1 1.2 1.2.1 1.2.2 1.3 1.4 ");
}

TEST_CASE("an id prints as a path of numbers, and ids are ordered as the processes were started") {
  process_id const first;
  CHECK(first.text() == "1");
  CHECK(first.child(3).child(1).text() == "1.3.1");
  CHECK(first.child(7).child(8).child(63).child(64).text() == "1.7.8.63.64");
  CHECK(first < first.child(1));
  CHECK(first.child(7) < first.child(8));
  CHECK(first.child(63) < first.child(64));
  CHECK(first.child(1).child(1000) < first.child(2));
  CHECK(first.child(511) < first.child(512));
  process_id deep = first;
  for (int i = 0; i != 15; ++i) deep = deep.child(1);
  CHECK(deep.text() == "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1");
  process_id const hashed = deep.child(1);
  CHECK(hashed.text().starts_with('#'));
  CHECK_FALSE(hashed == deep.child(2));
  CHECK_FALSE(hashed.child(1) == hashed.child(2));
}

TEST_CASE("an id of a few steps prints its steps, and ids are ordered as their steps are") {
  std::vector<std::uint64_t> const steps{1, 2, 7, 8, 9, 63, 64, 511, 512, 4095, 4096, 1 << 20};
  std::vector<std::pair<std::vector<std::uint64_t>, process_id>> all;
  for (auto const a : steps)
    for (auto const b : steps) {
      all.push_back({{a}, process_id().child(a)});
      all.push_back({{a, b}, process_id().child(a).child(b)});
    }
  int wrong = 0;
  for (auto const& [path, id] : all) {
    std::string text = "1";
    for (auto const n : path) text += '.' + std::to_string(n);
    if (id.text() != text) ++wrong;
    for (auto const& [other_path, other] : all)
      if ((path < other_path) != (id < other) || (path == other_path) != (id == other)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("of two threads that claim the frames of a fork exactly one gets them") {
  every_frame_dies const check;
  constexpr int rounds = 2000;
  std::array<std::atomic<int>, rounds> got{};
  std::vector<weft::detail::shared_continuation*> rests(rounds);
  for (auto& r : rests) {
    r = new weft::detail::shared_continuation();
    r->keep();  // one reference for each thread
  }
  std::barrier together(2);
  auto const racer = [&] {
    for (std::size_t i = 0; i != rounds; ++i) {
      together.arrive_and_wait();
      // Relaxed: the join below orders it.
      if (rests[i]->claim()) got[i].fetch_add(1, std::memory_order_relaxed);
      rests[i]->release();
    }
  };
  std::thread other(racer);
  racer();
  other.join();
  CHECK(std::ranges::all_of(got, [](auto const& n) { return n.load() == 1; }));
}
