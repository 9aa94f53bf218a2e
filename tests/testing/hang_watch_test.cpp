// SPDX-License-Identifier: MIT
#include "weft/testing/detail/hang_watch.hpp"

#include "tests/prelude.hpp"

/// A search in which one step never ends says so.

TEST_CASE("a watch says once that no run begins any more") {
  std::atomic<int> said = 0;
  {
    detail::hang_watch watch(1ms, [&] { ++said; });
    watch.note_run();
    while (said == 0) std::this_thread::yield();
  }
  CHECK(said == 1);
}

TEST_CASE("a watch ends before its time is up, and then says nothing") {
  std::atomic<int> said = 0;
  {
    detail::hang_watch const watch(24h, [&] { ++said; });
  }
  CHECK(said == 0);
}
