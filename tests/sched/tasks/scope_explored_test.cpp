// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Programs with scopes and handles under every schedule, with and without the reduction.

using tasks = tasking<proc, syncing, mail, timing>;
template <class T>
using doing = eff<T, tasks, proc, syncing, mail, timing>;
using job = doing<void>;
using tasks_scope = scope<proc, syncing, mail, timing>;

struct world {
  int shared = 0;
  std::string saw;
};

struct wrong : std::runtime_error {
  wrong() : runtime_error("wrong") {}
};

/// The results of a search.
struct all_ends {
  std::set<std::string> outcomes;
  std::size_t schedules = 0;
  std::size_t wrong = 0;
  [[nodiscard]] bool operator==(all_ends const&) const = default;
};
all_ends ends_of(job (*p)(world&), granularity grain, bool reduce) {
  explore_options how;
  how.granularity = grain;
  how.reduce = reduce;
  how.max_shrinking_runs = 0;
  how.progress = progress::never;
  auto const found = explore(
      how, [] { return world(); }, [p](world& w) { return p(w); },
      [](world const& w) { return w.saw; });
  CHECK(found.complete);
  CHECK(found.leaked == 0);
  INFO(found.what_differed);
  CHECK_FALSE(found.nondeterminism);
  all_ends all;
  all.schedules = found.schedules;
  for (auto const& o : found.outcomes) {
    all.outcomes.insert(o.result.text);
    all.wrong += o.is_wrong();
  }
  return all;
}
/// The outcomes, which all four searches must agree on.
std::set<std::string> outcomes_of(job (*p)(world&)) {
  auto const all = ends_of(p, granularity::cooperative, false);
  auto const reduced = ends_of(p, granularity::cooperative, true);
  CHECK(reduced.outcomes == all.outcomes);
  CHECK(reduced.schedules <= all.schedules);
  auto const parallel = ends_of(p, granularity::parallel, false);
  auto const parallel_reduced = ends_of(p, granularity::parallel, true);
  CHECK(parallel_reduced.outcomes == parallel.outcomes);
  CHECK(parallel_reduced.schedules <= parallel.schedules);
  CHECK(parallel.schedules >= all.schedules);
  for (auto const& o : all.outcomes) CHECK(parallel.outcomes.contains(o));
  return parallel.outcomes;
}

eff<void, syncing> writes(int& to, int n) {
  co_await syncing::touch{&to, true};
  to = n;
}
eff<int, syncing> reads(int const& from) {
  co_await syncing::touch{&from, false};
  co_return from;
}

TEST_CASE("a process that has waited for a task sees its writes, in every schedule") {
  auto const p = [](world& w) -> job {
    co_await with_scope([&](tasks_scope& s) -> job {
      task_handle<int> h;
      s.start(h, [&]() -> doing<int> {
        co_await writes(w.shared, 1);
        co_await proc::yield{};
        co_await writes(w.shared, 2);
        co_return 7;
      });
      s.start([&]() -> job { co_await proc::yield{}; });
      int const n = co_await h;
      int const seen = co_await reads(w.shared);
      w.saw = std::to_string(n) + std::to_string(seen);
    });
  };
  CHECK(outcomes_of(p) == std::set<std::string>{"72"});
}

TEST_CASE("the writes of the tasks of a scope are visible when it is over, and may be before") {
  auto const p = [](world& w) -> job {
    int early = 0;
    co_await with_scope([&](tasks_scope& s) -> job {
      s.start([&]() -> job { co_await writes(w.shared, 1); });
      s.start([&]() -> job { co_await proc::yield{}; });
      early = co_await reads(w.shared);
    });
    int const late = co_await reads(w.shared);
    w.saw = std::to_string(early) + std::to_string(late);
  };
  CHECK(outcomes_of(p) == std::set<std::string>{"01", "11"});
}

struct ask : op<int> {};
struct asking {
  using operations = op_list<ask>;
};

TEST_CASE(
    "the caller of a handler continues after the tasks of a dropped resumption, in every "
    "schedule") {
  struct ask : op<int> {};
  struct asking {
    using operations = op_list<ask>;
  };
  using asks = eff<int, asking, tasks, proc, syncing, mail, timing>;
  auto const p = [](world& w) -> job {
    auto const notes = [&w](char c) -> eff<void, syncing> {
      co_await syncing::touch{&w.saw, true};
      w.saw += c;
    };
    auto clause = [&](ask, resumption<int, int> k) -> eff<int, proc, syncing> {
      {
        auto const dropped = std::move(k);
      }
      co_await proc::yield{};
      co_await notes('c');
      co_return 1;
    };
    (void)co_await handle<asking>(clauses{clause}, [&]() -> asks {
      co_return co_await with_scope([&](tasks_scope& s) -> asks {
        s.start([&]() -> job {
          try {
            co_await proc::yield{};
            co_await proc::yield{};
          } catch (cancelled const&) {
          }
          co_await shielded([&]() -> job { co_await notes('t'); });
        });
        co_await proc::yield{};
        co_return co_await ask{};
      });
    });
    co_await notes('p');
  };
  CHECK(outcomes_of(p) == std::set<std::string>{"cp", "ctp", "tcp"});
}

TEST_CASE("each search finds a race of two tasks") {
  auto const p = [](world& w) -> job {
    auto const adds = [&w]() -> job {
      int const n = co_await reads(w.shared);
      co_await proc::yield{};
      co_await writes(w.shared, n + 1);
    };
    co_await when_all(adds(), adds());
    int const n = co_await reads(w.shared);
    w.saw = std::to_string(n);
  };
  CHECK(outcomes_of(p) == std::set<std::string>{"1", "2"});
}

TEST_CASE("when a task fails, another that waits is cancelled, or had not begun") {
  auto const p = [](world& w) -> job {
    gate never;
    bool begun = false;
    bool heard = false;
    try {
      co_await with_scope([&](tasks_scope& s) -> job {
        s.start([&]() -> job {
          begun = true;
          try {
            co_await syncing::wait{never};
          } catch (cancelled const&) {
            heard = true;
            throw;
          }
        });
        s.start([]() -> job {
          co_await proc::yield{};
          throw wrong();
        });
        co_return;
      });
      w.saw = "well";
    } catch (wrong const&) {
      w.saw = begun == heard ? "wrong" : "did not hear";
    }
    if (begun) w.saw += ", begun";
  };
  auto const found = outcomes_of(p);
  CHECK(found.contains("wrong, begun"));
  for (auto const& o : found) CHECK_THAT(o, Catch::StartsWith("wrong"));
}

TEST_CASE("either of two alternatives may be the first, and exactly one is") {
  auto const p = [](world& w) -> job {
    auto const yields = [](int n) -> job {
      for (int i = 0; i != n; ++i) co_await proc::yield{};
    };
    auto const first = co_await when_any(yields(1), yields(2));
    w.saw = std::to_string(first.index());
  };
  CHECK(outcomes_of(p) == std::set<std::string>{"0", "1"});
}

TEST_CASE("the timeout of a scope passes only when no other process can run") {
  auto const p = [](world& w) -> job {
    try {
      co_await with_scope({.timeout = 1min}, [&](tasks_scope& s) -> job {
        s.start([]() -> job { co_await timing::sleep_for{1h}; });
        co_await timing::sleep_for{30s};
        w.saw = "half, ";
        co_await timing::sleep_for{1h};
        w.saw += "too late";
      });
      w.saw += "well";
    } catch (cancelled const&) {
      w.saw += "cancelled";
    }
  };
  auto const all = ends_of(p, granularity::cooperative, true);
  CHECK(all.outcomes == std::set<std::string>{"half, cancelled"});
}

TEST_CASE("tasks that wait for each other are a deadlock in every schedule") {
  auto const p = [](world& w) -> job {
    (void)w;
    task_handle<void> a;
    task_handle<void> b;
    co_await with_scope([&](tasks_scope& s) -> job {
      s.start(a, [&]() -> job {
        co_await proc::yield{};
        co_await b;
      });
      s.start(b, [&]() -> job { co_await a; });
      co_return;
    });
  };
  for (bool const reduce : {false, true}) {
    auto const all = ends_of(p, granularity::cooperative, reduce);
    CHECK(all.wrong == all.outcomes.size());
    for (auto const& o : all.outcomes) CHECK_THAT(o, Catch::Contains("::await"));
  }
}

TEST_CASE("a resumption dropped across a scope lets its tasks end first, in every schedule") {
  auto const p = [](world& w) -> job {
    using asks = eff<int, asking, tasks, proc, syncing, mail, timing>;
    struct notes {
      world& to;
      char what;
      ~notes() { to.saw += what; }
    };
    co_await handle<asking>(clauses{[](ask, resumption<int, int>) { return 7; }}, [&]() -> asks {
      notes const borrowed{w, 'b'};
      co_return co_await with_scope([&](tasks_scope& s) -> asks {
        s.start([&]() -> job {
          notes const mine{w, 't'};
          co_await proc::yield{};
          co_await proc::yield{};
        });
        co_await proc::yield{};
        co_return co_await ask{};
      });
    });
  };
  auto const found = outcomes_of(p);
  for (auto const& o : found) CHECK((o == "tb" || o == "b"));
  CHECK(found.contains("tb"));
}
