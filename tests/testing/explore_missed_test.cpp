// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Programs that a search once called right although threads broke them, or for which the reduction
/// missed an outcome, or which ended the test.

constexpr auto in_parallel = granularity::parallel;
using tasks = tasking<proc>;
using doing = eff<void, tasks, proc>;

doing yields_and_fails() {
  co_await proc::yield{};
  throw std::runtime_error("fails");
}

// Each limit leaves the processes at another place, also at the end of a scope with open tasks.
TEST_CASE("a run that is cut at any step leaves nothing open and leaks nothing") {
  auto const program = [](std::string&) -> doing {
    task_handle<void> h;
    co_await with_scope([&h](auto& s) -> doing {
      s.start(h, [&s]() -> doing {
        co_await with_scope([](auto& inner) -> doing {
          inner.start(yields_and_fails);
          co_return;
        });
        s.cancel();
      });
      s.start(h, [&s]() -> doing {
        co_await proc::yield{};
        s.start([]() -> doing { co_await proc::yield{}; });
      });
      co_return;
    });
  };
  for (auto const grain : {granularity::cooperative, in_parallel})
    for (std::size_t most = 1; most != 30; ++most) {
      weft::tests::every_frame_dies const check;
      auto const found = explore(
          {.max_schedules = 200,
           .max_steps = most,
           .granularity = grain,
           .max_shrinking_runs = 0,
           .progress = progress::never},
          [] { return std::string(); }, program, [](std::string const&) { return true; });
      CHECK(found.leaked == 0);
      CHECK_FALSE(found.nondeterminism);
    }
}

std::set<std::string> texts_of(exploration const& e) {
  std::set<std::string> all;
  for (auto const& o : e.outcomes) all.insert(o.result.text);
  return all;
}
/// The outcomes of the full and of the reduced search, which must be the same.
template <class State, class Program, class Text>
std::set<std::string> outcomes_of(granularity grain, Program program, Text text) {
  weft::tests::every_frame_dies const check;
  auto const search = [&](bool reduce) {
    return explore(
        {.granularity = grain,
         .reduce = reduce,
         .max_shrinking_runs = 0,
         .progress = progress::never},
        [] { return State(); }, program, text);
  };
  auto const full = search(false);
  auto const reduced = search(true);
  CHECK(full.complete);
  CHECK(reduced.complete);
  CHECK(reduced.schedules <= full.schedules);
  CHECK(texts_of(full) == texts_of(reduced));
  return texts_of(full);
}

struct counted {
  mutex key;
  int n = 0;
};
eff<void, syncing> adds_if_free(counted& c) {
  auto const held = co_await c.key.try_lock();
  if (held) ++c.n;
}
eff<void, spawning<syncing>> two_add_if_free(counted& c) {
  co_await spawn(adds_if_free, std::ref(c));
  co_await spawn(adds_if_free, std::ref(c));
}

TEST_CASE("a try_lock fails while the other process still holds the mutex after its last step") {
  auto const all = outcomes_of<counted>(in_parallel, two_add_if_free,
                                        [](counted const& c) { return std::to_string(c.n); });
  CHECK(all == std::set<std::string>{"1", "2"});
}

struct deliveries {
  std::vector<int> got;
  int sent = 0;
};
eff<void, mail> sends_one(address<int> to, deliveries& l) {
  bool const sent = co_await to.send(7);
  l.sent += sent;
}
eff<void, mail> takes_all(inbox<int> in, deliveries& l) {
  for (;;) {
    auto const m = co_await in.try_receive();
    if (!m) break;
    l.got.push_back(*m);
  }
}
eff<void, spawning<mail>, mail> sends_and_closes(deliveries& l) {
  auto [in, to] = co_await open<int>();
  co_await spawn(sends_one, std::move(to), std::ref(l));
  co_await spawn(takes_all, std::move(in), std::ref(l));
}

TEST_CASE("a message may be sent between the last look into an inbox and its end") {
  auto const all = outcomes_of<deliveries>(in_parallel, sends_and_closes, [](deliveries const& l) {
    return std::to_string(l.sent) + " sent, " + std::to_string(l.got.size()) + " got";
  });
  CHECK(all == std::set<std::string>{"0 sent, 0 got", "1 sent, 0 got", "1 sent, 1 got"});
}

struct two_semaphores {
  semaphore a{0}, b{0};
  bool is_late = false;
};
eff<void, syncing> frees_both(two_semaphores& s) {
  s.a.release();
  s.b.release();
  co_return;
}
eff<void, syncing> takes_both(two_semaphores& s) {
  co_await s.a.acquire();
  bool const had = co_await s.b.try_acquire();
  s.is_late = !had;
}
eff<void, spawning<syncing>> frees_and_takes(two_semaphores& s) {
  co_await spawn(takes_both, std::ref(s));
  co_await spawn(frees_both, std::ref(s));
}

TEST_CASE("another process may see the first of two consecutive releases alone") {
  auto const all = outcomes_of<two_semaphores>(
      in_parallel, frees_and_takes,
      [](two_semaphores const& s) { return std::string(s.is_late ? "late" : "in time"); });
  CHECK(all == std::set<std::string>{"in time", "late"});
}

doing fails() {
  throw std::runtime_error("fails");
  co_return;
}

TEST_CASE("the end of a scope's body decides whether a handle's waiter gets a task's exception") {
  struct world {
    std::string saw, body = "the body is cancelled";
  };
  auto const program = [](world& w) -> doing {
    try {
      co_await with_scope([&w](auto& s) -> doing {
        s.start([&w, &s]() -> doing {
          task_handle<void> h;
          s.start(h, fails);
          try {
            co_await h;
          } catch (cancelled const&) {
            w.saw += "cancelled, ";
            throw;
          } catch (std::runtime_error const&) {
            w.saw += "told, ";
            throw;
          }
        });
        co_await proc::yield{};
        w.body = "the body comes to its end";
      });
    } catch (std::exception const&) {
    }
  };
  for (auto const grain : {granularity::cooperative, in_parallel}) {
    auto const all =
        outcomes_of<world>(grain, program, [](world const& w) { return w.saw + w.body; });
    CHECK(all == std::set<std::string>{"cancelled, the body comes to its end",
                                       "told, the body comes to its end",
                                       "told, the body is cancelled"});
  }
}

TEST_CASE(
    "a handle that was read outside the scope keeps the scope from throwing the task's exception") {
  struct world {
    std::string inner;
    bool is_told = false;
  };
  auto const program = [](world& w) -> doing {
    task_handle<void> h;
    co_await with_scope([&](auto& outer) -> doing {
      try {
        co_await with_scope([&](auto& s) -> doing {
          s.start(h, yields_and_fails);
          outer.start([&]() -> doing {
            try {
              co_await h;
            } catch (std::runtime_error const&) {
              w.is_told = true;
            }
          });
          co_return;
        });
        w.inner = "well";
      } catch (std::exception const& e) {
        w.inner = std::string("throws: ") + e.what();
      }
    });
  };
  for (auto const grain : {granularity::cooperative, in_parallel}) {
    auto const all = outcomes_of<world>(grain, program, [](world const& w) {
      return w.inner + (w.is_told ? ", told" : ", not told");
    });
    CHECK(all == std::set<std::string>{"throws: fails, told", "well, told"});
  }
}

// One may take its ticket first and return it second.
TEST_CASE("when_any's winner need not be the alternative whose last operation came first") {
  using alternative = eff<int, syncing>;
  struct world {
    int tickets = 0, first_ticket = 0;
  };
  auto const takes_ticket = [](int& tickets) -> alternative {
    co_await syncing::touch{&tickets, true};
    co_return ++tickets;
  };
  auto const program = [takes_ticket](world& w) -> eff<void, tasking<syncing>, syncing> {
    auto const first = co_await when_any(takes_ticket(w.tickets), takes_ticket(w.tickets));
    w.first_ticket = first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
  };
  auto const all = outcomes_of<world>(
      in_parallel, program, [](world const& w) { return std::to_string(w.first_ticket); });
  CHECK(all == std::set<std::string>{"1", "2"});
}
