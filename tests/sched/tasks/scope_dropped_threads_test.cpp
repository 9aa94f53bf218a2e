// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/dropping.hpp"

/// The tests of scope_dropped_test where the last task may end on another thread.

using namespace weft::tests::dropping;
using dropping::ask;

TEST_CASE("the caller of handle continues when tasks on other threads have ended") {
  is_waited_for(place_of<on_sharing<2>>("shared_by<2>"));
  is_waited_for(place_of<on_stealing<2>>("stolen_by<2>"));
}

using counts = state<int>;
template <class T, class... Es>
using counting = eff<T, Es..., counts, tasks, proc, syncing, mail, timing, completions>;

struct keeps_it : region {
  resumption<int, int> kept;
  int on(ask, resumption<int, int> k) {
    kept = std::move(k);
    return 1;
  }
};

/// Drops the kept resumption when no caller waits for its clause any more; and continues under the
/// handler that the resumption uses as well, while another thread unwinds it.
counting<int> keeps_and_drops() {
  keeps_it keeper;
  int n = co_await handle<asking>(keeper, []() -> counting<int, asking> {
    co_return co_await with_scope([](tasks_scope& s) -> counting<int, asking> {
      s.start([]() -> job { co_await yields_often(1000); });
      int const start = co_await counts::get{};
      co_await yields_often(2);
      int const more = co_await ask{};
      co_return start + more;
    });
  });
  keeper.kept = {};
  for (int i = 0; i != 200; ++i)
    n += co_await handle<asking>(clauses{[](ask, resumption<int, int>) { return 1; }},
                                 []() -> counting<int, asking> {
                                   int const from = co_await counts::get{};
                                   int const more = co_await ask{};
                                   co_return from + more;
                                 });
  co_return n;
}

TEST_CASE("a kept resumption that is dropped while pinned may be unwound by another thread") {
  for (auto const& where :
       {place_of<on_sharing<2>>("shared_by<2>"), place_of<on_stealing<2>>("stolen_by<2>")}) {
    CAPTURE(where.name);
    for (int round = 0; round != rounds(2000); ++round) {
      every_frame_dies const check;
      int n = 0;
      where.run([&]() -> job { n = co_await handle<counts>(state_of(0), keeps_and_drops); });
      REQUIRE(n == 201);
    }
  }
}
