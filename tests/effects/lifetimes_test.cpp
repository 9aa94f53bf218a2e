// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Ownership and destruction: everything is destroyed once, and a use of something that has ended
/// is refused with a message.

/// A round-robin scheduler: keeps the resumptions of processes that yield.
struct queue : region, handler<proc> {
  std::deque<resumption<void>> waiting;
  void on(proc::yield, resumption<void> k) { waiting.push_back(std::move(k)); }
  void on(proc::fork, resumption<bool>) {}
  void on(proc::exit, resumption<never>) {}
  void run_all() {
    while (!waiting.empty()) {
      auto k = std::move(waiting.front());
      waiting.pop_front();
      resume(std::move(k));
    }
  }
};

eff<void, proc> yields_and_ends(std::string& out, char name, int yields, bool leaves_early) {
  leaves const at_the_end(out, '~');
  for (int i = 0; i != yields; ++i) {
    out += name;
    co_await proc::yield{};
  }
  if (leaves_early) co_await proc::exit{};
  out += '.';
}

// ---- resumptions that are stored, and resumed after handle has returned

TEST_CASE("a resumption may be resumed after `handle` has returned") {
  every_frame_dies const check;
  std::string out;
  queue q;
  run(handle(q, yields_and_ends(out, 'a', 2, false)));
  run(handle(q, yields_and_ends(out, 'b', 1, true)));
  CHECK(out == "ab");
  q.run_all();
  CHECK(out == "aba~.~");
}

TEST_CASE("a function object that is a body is kept as long as the frames that it started") {
  every_frame_dies const check;
  keeps k;
  {
    auto const owned = std::make_shared<int>(40);
    auto const adds = [owned]() -> eff<int, ask> {  // its frame refers to the captures
      int const more = co_await ask::get{};
      co_return *owned + more;
    };
    run(handle(k, adds));
  }
  CHECK(resume(std::move(k.k), 2) == 42);
}

eff<int, ask> asks_with(std::string& out, char letter) {
  leaves const at_the_end(out, letter);
  co_return co_await ask::get{};
}

// ---- regions

TEST_CASE("frames that are still suspended when their region ends are unwound at once") {
  every_frame_dies const check;
  std::string out;
  resumption<int, int> outlives;
  {
    keeps k;
    run(handle(k, asks_with(out, 'x')));
    outlives = std::move(k.k);
    CHECK(out.empty());
  }
  CHECK(out == "x");
  CHECK_THROWS_AS(resume(std::move(outlives), 1), resumption_expired);
  CHECK_THROWS_WITH(resume(std::move(outlives), 1),
                    Contains("keeps") && Contains("ask::get") && Contains("lifetimes_test.cpp:"));
}

TEST_CASE("a resume that throws while it makes its answer leaves the resumption as it was") {
  every_frame_dies const check;
  keeps k;
  run(handle(k, asks()));
  struct fragile {
    operator int() const { throw std::string("no answer"); }
  };
  CHECK_THROWS_AS(resume(std::move(k.k), fragile()), std::string);
  CHECK(resume(std::move(k.k), 9) == 9);
}

TEST_CASE("a region that ends inside a body captured further out unwinds its own part") {
  every_frame_dies const check;
  std::string out;
  keeps outer_keeper;
  {
    parks inner;
    auto const inside = [&out]() -> eff<void, tick, ask> {
      leaves const at_the_end(out, 'i');
      co_await ask::get{};
    };
    auto const outside = [&out, &inner, inside]() -> eff<int, ask> {
      leaves const at_the_end(out, 'o');
      co_await handle(inner, inside);
      co_return 1;
    };
    CHECK(run(handle(outer_keeper, outside)) == -1);
    CHECK(out.empty());
  }
  CHECK(out == "i");  // the other frames can only be dropped
  CHECK_THROWS_AS(resume(std::move(outer_keeper.k), 3), resumption_expired);
  outer_keeper.k = {};
  CHECK(out == "io");
}

TEST_CASE("a region that ends while its body runs answers later operations with an exception") {
  every_frame_dies const check;
  std::optional<parks> p(std::in_place);
  bool told = false;
  run(handle(*p, [&]() -> eff<void, tick> {
    p.reset();
    try {
      co_await tick::now{};
    } catch (resumption_expired const&) {
      told = true;
    }
  }));
  CHECK(told);
}

TEST_CASE("a region may end in a clause of its own") {
  every_frame_dies const check;
  struct leaves_at_once : region {
    std::unique_ptr<leaves_at_once>* self = nullptr;
    resumption<int, int> k;
    int on(ask::get, resumption<int, int> r) {
      auto const dying = std::move(*self);  // ends with this clause
      k = std::move(r);
      return 5;
    }
  };
  std::string out;
  auto h = std::make_unique<leaves_at_once>();
  h->self = &h;
  CHECK(run(handle<ask>(*h, asks_with(out, 'x'))) == 5);
  CHECK(out == "x");
}

TEST_CASE("resumptions of a region that lie in frames of the same region are destroyed once") {
  every_frame_dies const check;
  std::string out;
  {
    parks p;
    run(handle(p, [&out]() -> eff<void, tick> {
      leaves const at_the_end(out, 'a');
      co_await tick::now{};
    }));
    auto held = std::make_shared<resumption<void>>(std::move(p.k));
    auto const holds = [&out, held]() -> eff<void, tick> {
      leaves const at_the_end(out, 'b');
      co_await tick::now{};
    };
    run(handle(p, holds));
    held.reset();
    auto second = std::move(p.k);
    run(handle(p, [&out]() -> eff<void, tick> {
      leaves const at_the_end(out, 'c');
      co_await tick::now{};
    }));
  }
  CHECK(out.size() == 3);
}

// ---- owned and borrowed

TEST_CASE("an owned handler lives as long as any frame can perform to it") {
  every_frame_dies const check;
  std::string out;
  struct answers_and_leaves {
    std::shared_ptr<leaves> at_the_end;
    int on(ask::get) const { return 42; }
  };
  queue q;
  auto const body = [&q]() -> eff<void, ask> {
    co_await handle(q, []() -> eff<void, proc, ask> {
      co_await proc::yield{};
      int const n = co_await ask::get{};
      if (n != 42) throw n;
    });
  };
  run(handle<ask>(answers_and_leaves{std::make_shared<leaves>(out, 'h')}, body));
  CHECK(out.empty());  // its `handle` has returned, but the process may still ask
  q.run_all();
  CHECK(out == "h");
}

TEST_CASE("a resumption that could perform to a borrowed handler that has ended is refused") {
  every_frame_dies const check;
  queue q;
  auto const body = [&q]() -> eff<void, ask> {
    co_await handle(q, []() -> eff<void, proc, ask> {
      co_await proc::yield{};
      co_await ask::get{};
    });
  };
  {
    answers const borrowed{42};
    run(handle<ask>(borrowed, body));
  }
  CHECK_THROWS_AS(q.run_all(), resumption_expired);
  CHECK_THROWS_WITH(
      [&] {
        answers const borrowed{42};
        run(handle<ask>(borrowed, body));
        q.run_all();
      }(),
      Contains("answers") && Contains("proc::yield"));
}

TEST_CASE("a borrowed handler that is no region must not keep a resumption") {
  every_frame_dies const check;
  std::string out;
  struct keeps_on_the_sly {
    resumption<int, int> k;
    int on(ask::get, resumption<int, int> r) {
      k = std::move(r);
      return 1;
    }
  };
  struct keeps_in_a_coroutine {
    resumption<int, int> k;
    eff<int> on(ask::get, resumption<int, int> r) {
      k = std::move(r);
      co_return 1;
    }
  };
  keeps_on_the_sly h;
  CHECK_THROWS_AS(run(handle<ask>(h, asks_with(out, 'x'))), not_a_region);
  CHECK(out == "x");
  CHECK_THROWS_AS(resume(std::move(h.k), 1), resumption_expired);

  keeps_in_a_coroutine c;
  auto const inside = [&c, &out]() -> eff<int> {
    co_return co_await handle<ask>(c, asks_with(out, 'y'));
  };
  CHECK_THROWS_WITH(run(inside()), Contains("keeps_in_a_coroutine") && Contains("ask::get") &&
                                       Contains("lifetimes_test.cpp:"));
  CHECK(out == "xy");
  CHECK_THROWS_AS(resume(std::move(c.k), 1), resumption_expired);

  // In a composition, the borrowed handler would have to be a region of the whole expression.
  keeps_on_the_sly inner;
  CHECK_THROWS_AS(run(handle(with<ask>(inner) | with<tick>([](tick::now) {}), asks())),
                  not_a_region);
}

TEST_CASE("a borrowed handler that is no region may use its resumption before it answers") {
  every_frame_dies const check;
  struct resumes_at_once {
    int on(ask::get, resumption<int, int> k) { return resume(std::move(k), 20) + 1; }
  };
  resumes_at_once h;
  CHECK(run(handle<ask>(h, asks())) == 21);
}

/// An effect with two operations, for rows of two.
struct clock_and_log {
  struct read : op<int> {};
  struct write : op<void> {
    explicit write(int l) : line(l) {}
    int line;
  };
};
struct reads {
  using operations = op_list<clock_and_log::read>;
};
struct writes {
  using operations = op_list<clock_and_log::write>;
};

// ---- coroutine clauses

TEST_CASE("a coroutine clause performs outward after its body has ended, with a row of two") {
  every_frame_dies const check;
  struct reads_and_writes {
    int offset;  // owned: the clause refers to it
    eff<int, reads, writes> on(ask::get, resumption<int, int> k) {
      int const first = co_await clock_and_log::read{};
      int const rest = co_await std::move(k)(first);  // the body ends in here
      co_await clock_and_log::write{rest};
      int const second = co_await clock_and_log::read{};
      co_return rest * 100 + second + offset;
    }
  };
  int now = 0;
  std::vector<int> log;
  auto const around = [](int offset) -> eff<int, reads, writes> {
    co_return co_await handle<ask>(reads_and_writes{offset}, asks());
  };
  auto const handlers = clauses{[&now](clock_and_log::read) { return ++now; },
                                [&log](clock_and_log::write w) { log.push_back(w.line); }};
  CHECK(run(handle<reads, writes>(handlers, around(5))) == 107);
  CHECK(log == std::vector{1});
}

TEST_CASE(
    "a coroutine clause may be captured further out, and resumed when its handler has ended") {
  every_frame_dies const check;
  parks p;
  int answer = 0;
  run(handle(p, [&answer]() -> eff<void, tick> {
    struct waits {
      int factor;
      eff<int, tick> on(ask::get, resumption<int, int> k) {
        int const rest = co_await std::move(k)(7);
        co_await tick::now{};
        co_return factor* rest;
      }
    };
    answer = co_await handle<ask>(waits{3}, asks());
  }));
  CHECK(answer == 0);
  resume(std::move(p.k));
  CHECK(answer == 21);

  run(handle(p, [&answer]() -> eff<void, tick> {
    struct waits {
      int factor;
      eff<int, tick> on(ask::get, resumption<int, int> k) {
        co_await tick::now{};
        co_return factor* co_await std::move(k)(7);
      }
    };
    answer = co_await handle<ask>(waits{4}, asks());
  }));
  p.k = {};  // and dropped there, with the body still suspended in the clause
  CHECK(answer == 21);
}

TEST_CASE(
    "a clause that drops its resumption unwinds the body at once, the innermost frame first") {
  every_frame_dies const check;
  std::string out;
  struct drops {
    int on(ask::get, resumption<int, int>) { return 7; }
  };
  auto const nested = [&out]() -> eff<int, ask> {
    leaves const at_the_end(out, 'o');
    co_return co_await asks_with(out, 'i');
  };
  CHECK(run(handle<ask>(drops(), nested)) == 7);
  CHECK(out == "io");
}

// ---- last

TEST_CASE(
    "`last` may jump to a resumption that was kept; dropping its outcome drops the resumption") {
  every_frame_dies const check;
  struct second_chance : region {
    std::vector<resumption<int, int>> kept;
    outcome<int> on(ask::get, resumption<int, int> k) {
      kept.push_back(std::move(k));
      if (kept.size() < 2) return -1;
      auto first = std::move(kept.front());
      return std::move(first).last(10);
    }
  };
  std::string out;
  second_chance h;
  CHECK(run(handle<ask>(h, asks_with(out, 'a'))) == -1);
  CHECK(run(handle<ask>(h, asks_with(out, 'b'))) == 10);
  CHECK(out == "a");

  struct changes_its_mind {
    outcome<int> on(ask::get, resumption<int, int> k) {
      {
        auto const dropped = std::move(k).last(1);
      }
      return 2;
    }
  };
  CHECK(run(handle<ask>(changes_its_mind(), asks_with(out, 'c'))) == 2);
  CHECK(out == "ac");
}

// ---- answers that hold a resumption

TEST_CASE("an answer may hold the resumption") {
  every_frame_dies const check;
  struct numbers {
    struct next : op<void> {
      explicit next(int v) : value(v) {}
      int value;
    };
    using operations = op_list<next>;
  };
  struct stream {
    std::optional<int> value;
    resumption<void, stream> rest;
  };
  struct streams {
    stream on_return() { return {}; }
    stream on(numbers::next n, resumption<void, stream> k) { return {n.value, std::move(k)}; }
  };
  auto const count = []() -> eff<void, numbers> {
    for (int i = 1; i != 4; ++i) co_await numbers::next{i};
  };
  int sum = 0;
  stream s = run(handle<numbers>(streams(), count));
  while (s.value) {
    sum += *s.value;
    s = resume(std::move(s.rest));
  }
  CHECK(sum == 6);
  s = run(handle<numbers>(streams(), count));  // and dropped half way
}

// ---- threads

TEST_CASE("a resumption may be moved to another thread and resumed there") {
  every_frame_dies const check;
  keeps k;
  run(handle(k, asks()));
  int answer = 0;
  std::thread([&answer, rest = std::move(k.k)]() mutable {
    answer = resume(std::move(rest), 12);
  }).join();
  CHECK(answer == 12);
}

TEST_CASE("frames that one thread created may be destroyed on another") {
  every_frame_dies const check;
  constexpr int rounds = 200;
  std::vector<std::unique_ptr<keeps>> regions(rounds);
  for (auto& r : regions) {
    r = std::make_unique<keeps>();
    run(handle(*r, asks()));
  }
  for (int thread = 0; thread != 2; ++thread)
    std::thread([&, thread] {
      for (int i = thread; i < rounds; i += 2) {
        if (i % 3 != 0) resume(std::move(regions[static_cast<std::size_t>(i)]->k), i);
        regions[static_cast<std::size_t>(i)].reset();
      }
    }).join();
}

// ---- ordinary code in between

TEST_CASE("an operation that would suspend ordinary code is refused, and the message names both") {
  every_frame_dies const check;
  keeps k;
  auto const drives = []() -> eff<int, ask> {
    parks p;  // drives as ordinary code between the question and `k`
    std::string said;
    co_await handle(p, [&said]() -> eff<void, tick, ask> {
      co_await tick::now{};
      try {
        co_await ask::get{};
      } catch (needs_control const& e) {
        said = e.what();
      }
    });
    resume(std::move(p.k));  // ordinary code, inside the body of `k`
    CHECK_THAT(said, Contains("ask::get") && Contains("keeps") && Contains("lifetimes_test.cpp:"));
    co_return 8;
  };
  CHECK(run(handle(k, drives)) == 8);
  CHECK_FALSE(k.k);
}

TEST_CASE("run() inside a computation is an ordinary call") {
  every_frame_dies const check;
  struct runs_another {
    int on(ask::get) const { return run(handle<ask>(answers{3}, asks())); }
  };
  CHECK(run(handle<ask>(runs_another(), asks())) == 3);
}
