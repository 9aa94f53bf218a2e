// SPDX-License-Identifier: MIT
#include "weft/durable/child_scope.hpp"

#include "tests/durable/support.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"

using row = durable::all<world>;

/// Works for some hours, then notes it; fails if it is to.
eff<int, row> works(int hours, bool fails) {
  co_await timing::sleep_for{hours * 1h};
  if (fails) throw std::runtime_error("worker " + std::to_string(hours) + " has failed");
  co_return co_await durable::step("done", act, "done " + std::to_string(hours), hours);
}
constexpr durable::function works_process{"works", 1, works};

/// Workers of 1, 2, ... hours; the one of `failing` hours fails.  Awaits the first one itself.
eff<int, row> employs(int workers, int failing) {
  co_return co_await durable::with_children([=](durable::child_scope& s) -> eff<int, row> {
    auto const first = co_await s.start("w1", works_process, 1, failing == 1);
    for (int i = 2; i <= workers; ++i)
      co_await s.start("w" + std::to_string(i), works_process, i, failing == i);
    co_return co_await s.outcome(first);
  });
}
constexpr durable::function employs_process{"employs", 1, employs};

eff<void, row> throws() {
  co_await durable::with_children([](durable::child_scope& s) -> eff<void, row> {
    co_await s.start("w1", works_process, 1, false);
    co_await s.start("w2", works_process, 2, false);
    throw std::runtime_error("the body has failed");
  });
}
constexpr durable::function throws_process{"throws", 1, throws};

durable::process_status status_of(durable::store& s, std::string const& id) {
  return s.find(id)->status;
}
using durable::process_status;

BACKENDS_TEST_CASE("a scope ends when its children have ended", "", on_one_thread, in_random_order,
                   on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 0s, 100h);
  durable::engine e(o, *s, employs_process, works_process, throws_process);
  auto const run = [&] { run_on(chosen, tests::virtual_time(), [&e] { return e.run(); }, w); };
  SECTION("all of them") {
    e.start("p", employs_process, 3, 0);
    run();
    CHECK(e.result<int>("p") == 1);
    CHECK(w.acts() == std::vector<std::string>{"done 1", "done 2", "done 3"});
  }
  SECTION("and cancels the others when one fails") {
    int const failing = GENERATE(1, 2);
    e.start("p", employs_process, 4, failing);
    run();
    CHECK_THROWS_WITH(e.result<int>("p"),
                      Contains("w" + std::to_string(failing)) && Contains("has failed"));
    CHECK(status_of(*s, "w4") == process_status::cancelled);
    CHECK(w.count("done 4") == 0);
  }
  SECTION("and cancels them when its body throws") {
    e.start("p", throws_process);
    run();
    CHECK_THROWS_WITH(e.result<void>("p"), Contains("the body has failed"));
    CHECK(status_of(*s, "w1") == process_status::cancelled);
    CHECK(status_of(*s, "w2") == process_status::cancelled);
    CHECK(w.acts().empty());
  }
  SECTION("and cancels them when its process is cancelled") {
    e.start("p", employs_process, 3, 0);
    e.cancel("p");
    run();
    CHECK(status_of(*s, "p") == process_status::cancelled);
    for (char const* const id : {"w1", "w2", "w3"}) {
      auto const found = s->find(id);
      CHECK((!found || found->status == process_status::cancelled));
    }
    CHECK(w.acts().empty());
  }
}
