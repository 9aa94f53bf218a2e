// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// A process waits, is cancelled by its scope, and is given what it waits for by another process:
/// for each kind of wait, each way to be cancelled and each deadline, the reduced search finds the
/// outcomes of the full one.

using in_groups = row<syncing, mail, completions, timing, proc,
                      tasking<syncing, mail, completions, timing, proc>>;
using grouped = eff<void, in_groups>;

struct waited_for {
  shared<int> value{0};
  semaphore permits{0};
  gate at;
  mutex lock;
  condition changed;
  barrier meet{2};
  completer<int> source;
  completion<int> result = source.get_completion();
  std::optional<inbox<int>> in;
  std::optional<address<int>> to;
  std::string a = "a did not begin";
  std::string first;
};
struct kind_of_wait {
  char const* name;
  grouped (*waits)(waited_for& w);
  grouped (*gives)(waited_for& w);
};
kind_of_wait const kinds[] = {
    {"shared",
     [](waited_for& w) -> grouped { co_await w.value.wait_for([](int v) { return v == 2; }); },
     [](waited_for& w) -> grouped { co_await w.value.set(2); }},
    {"semaphore", [](waited_for& w) -> grouped { co_await w.permits.acquire(); },
     [](waited_for& w) -> grouped {
       w.permits.release();
       co_return;
     }},
    {"gate", [](waited_for& w) -> grouped { co_await syncing::wait{w.at}; },
     [](waited_for& w) -> grouped { co_await syncing::wake{w.at}; }},
    {"mutex", [](waited_for& w) -> grouped { auto const held = co_await w.lock.lock(); },
     [](waited_for& w) -> grouped {
       auto const held = co_await w.lock.lock();
       co_await proc::yield{};
     }},
    {"condition",
     [](waited_for& w) -> grouped {
       auto held = co_await w.lock.lock();
       co_await w.changed.wait(held);
     },
     [](waited_for& w) -> grouped {
       w.changed.notify_one();
       co_return;
     }},
    {"barrier", [](waited_for& w) -> grouped { co_await w.meet.arrive_and_wait(); },
     [](waited_for& w) -> grouped { co_await w.meet.arrive_and_wait(); }},
    {"completion", [](waited_for& w) -> grouped { (void)co_await w.result.wait(); },
     [](waited_for& w) -> grouped {
       w.source.complete(2);
       co_return;
     }},
    {"receive", [](waited_for& w) -> grouped { (void)co_await w.in->receive(); },
     [](waited_for& w) -> grouped { (void)co_await w.to->send(2); }},
    {"send", [](waited_for& w) -> grouped { (void)co_await w.to->send(1); },
     [](waited_for& w) -> grouped { (void)co_await w.in->try_receive(); }},
};
grouped waits_as_a(waited_for& w, kind_of_wait const& k) {
  w.a = "a was cancelled";
  co_await k.waits(w);
  w.a = "a had it";
}

/// How the scope of the waiter is cancelled.
using shape = grouped (*)(waited_for& w, kind_of_wait const& k);
shape const shapes[] = {
    [](waited_for& w, kind_of_wait const& k) -> grouped {
      auto const ends_at_once = []() -> grouped { co_return; };
      auto const r = co_await when_any(waits_as_a(w, k), ends_at_once());
      w.first = r.index() == 0 ? ", a was first" : ", b was first";
    },
    [](waited_for& w, kind_of_wait const& k) -> grouped {
      co_await with_scope([&](auto& s) -> grouped {
        s.start([&]() -> grouped { co_await waits_as_a(w, k); });
        co_await proc::yield{};
        s.cancel();
      });
    },
    [](waited_for& w, kind_of_wait const& k) -> grouped {
      try {
        co_await with_scope([&](auto& s) {
          s.start([&]() -> grouped { co_await waits_as_a(w, k); });
          s.start([]() -> grouped {
            throw std::runtime_error("another task");
            co_return;
          });
        });
      } catch (std::runtime_error const&) {
      }
    },
    [](waited_for& w, kind_of_wait const& k) -> grouped {  // in a scope of its own, further in
      co_await with_scope([&](auto& s) -> grouped {
        s.start([&]() -> grouped {
          co_await with_scope([&](auto&) -> grouped { co_await waits_as_a(w, k); });
        });
        co_await proc::yield{};
        s.cancel();
      });
    },
};
grouped cancelled_or_given(waited_for& w, kind_of_wait const& k, shape cancels) {
  auto [in, to] = co_await open<int>({.capacity = 1});
  w.in.emplace(std::move(in));
  w.to.emplace(std::move(to));
  if (std::string_view(k.name) == "send") (void)co_await w.to->send(0);
  co_await with_scope([&](auto& s) {
    s.start([&]() -> grouped { co_await k.gives(w); });
    s.start([&]() -> grouped { co_await cancels(w, k); });
  });
}

TEST_CASE("the reduced search finds what a cancellation takes from each kind of wait") {
  for (auto const& k : kinds)
    for (shape const& cancels : shapes) {
      std::set<std::string> found[2];
      for (bool const reduce : {false, true}) {
        auto const all = explore(
            {.reduce = reduce, .max_shrinking_runs = 0},
            [] { return std::make_unique<waited_for>(); },
            [&](std::unique_ptr<waited_for>& w) { return cancelled_or_given(*w, k, cancels); },
            [](std::unique_ptr<waited_for>& w) { return w->a + w->first; });
        for (auto const& o : all.outcomes) found[reduce].insert(o.result.text);
      }
      CAPTURE(k.name, &cancels - shapes);
      CHECK(found[false].size() > 1);
      CHECK(found[false] == found[true]);
    }
}

/// A process waits in a scope, and its wait and the scope end at one instant; then it opens a scope
/// inside, which finds the cancellation or not.
grouped late_in_a_scope(waited_for& w) {
  using namespace std::chrono_literals;
  try {
    co_await with_scope({.timeout = 3ns}, [&w](auto&) -> grouped {
      instant const now = co_await timing::now{};
      auto const held = co_await w.lock.try_lock_until(now + 3ns);
      w.a = held ? "had it" : "had it not";
      co_await with_scope([](auto&) {});
      w.first = ", went on";
    });
  } catch (cancelled const&) {
    w.a += ", was cancelled";
  }
}
/// A process comes out of a shield in the step in which it opens a scope.
grouped comes_out_of_a_shield(waited_for& w) {
  using namespace std::chrono_literals;
  try {
    co_await with_scope({.timeout = 1ns}, [&w](auto&) -> grouped {
      co_await shielded([]() -> grouped { co_await timing::sleep_for(1ns); });
      w.a = "began";
      co_await with_scope([](auto&) {});
      w.first = ", went on";
    });
  } catch (cancelled const&) {
    w.a += ", was cancelled";
  }
}
/// A scope is cancelled by a process that is no task of it.
grouped cancelled_by_a_process_outside(waited_for& w) {
  co_await with_scope([&w](auto& outer) {
    outer.start([&w, &outer]() -> grouped {
      co_await with_scope([&w, &outer](auto& s) -> grouped {
        outer.start([&s]() -> grouped {
          s.cancel();
          co_return;
        });
        co_await syncing::touch{&w.at, true};
        w.a = "before";
        co_await with_scope([](auto&) {});
        w.a = "after";
      });
    });
  });
}

/// A process takes its turn for an event; in the same step it asks whether it is cancelled.
grouped owns_after_an_event(waited_for& w) {
  co_await with_scope([&w](auto& s) -> grouped {
    s.start([&w]() -> grouped {
      w.permits.release();
      w.a = "released";
      auto const other = co_await start_task([]() -> grouped { co_return; });
      w.a = "before";
      (void)co_await syncing::own{};
      w.a = "after";
    });
    co_await proc::yield{};
    s.cancel();
  });
}

struct park : op<void> {};
struct parking {
  using operations = op_list<park>;
};
/// A clause keeps the body of a scope; in the step in which the body is resumed it takes a lock.
grouped kept_by_a_clause(waited_for& w) {
  resumption<void, void> k;
  co_await handle<parking>(
      clauses{[&k](park, resumption<void, void> it) { k = std::move(it); }},
      [&w]() -> eff<void, parking, in_groups> {
        mutex m;
        co_await with_scope([&w, &m](auto& s) -> eff<void, parking, in_groups> {
          s.start([&s]() -> grouped {
            co_await proc::yield{};
            co_await proc::yield{};
            s.cancel();
          });
          co_await park{};
          w.a = "before";
          auto const held = co_await m.lock();
          w.a = "after";
          co_await park{};
        });
      });
  co_await proc::yield{};
  co_await std::move(k)();
  co_await proc::yield{};
  if (k) co_await std::move(k)();
}

TEST_CASE("the reduced search finds the cancellation of a scope that no process waits in") {
  for (auto const& program :
       {late_in_a_scope, comes_out_of_a_shield, cancelled_by_a_process_outside, owns_after_an_event,
        kept_by_a_clause})
    for (auto const grain : {granularity::cooperative, granularity::parallel}) {
      std::set<std::string> found[2];
      for (bool const reduce : {false, true}) {
        auto const all = explore(
            {.granularity = grain, .reduce = reduce, .max_shrinking_runs = 0},
            [] { return std::make_unique<waited_for>(); },
            [&](std::unique_ptr<waited_for>& w) -> grouped {
              auto const held = co_await w->lock.lock();
              co_await program(*w);
            },
            [](std::unique_ptr<waited_for>& w) { return w->a + w->first; });
        for (auto const& o : all.outcomes) found[reduce].insert(o.result.text);
      }
      bool const may_differ = grain == granularity::parallel || program == kept_by_a_clause;
      if (may_differ) CHECK(found[false].size() > 1);
      CHECK(found[false] == found[true]);
    }
}
