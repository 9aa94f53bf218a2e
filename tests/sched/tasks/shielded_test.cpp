// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/shielded.hpp"

#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// A shielded computation is not cancelled with a scope outside, until it is over.

TEST_CASE(
    "a shielded computation is not cancelled with a scope outside, and the code after it is") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    for (int round = 0; round != rounds(50); ++round) {
      every_frame_dies const check;
      counter inside = 0, heard_inside = 0, heard_behind = 0, went_on = 0;
      bool was_done = false;
      std::atomic<bool> is_cancelled = false;
      where.run([&]() -> job {
        gate opens;
        co_await with_scope([&](tasks_scope& s) -> job {
          s.start([&]() -> job {
            try {
              co_await shielded([&]() -> job {
                try {
                  ++inside;
                  co_await syncing::wait{opens};  // the cancellation does not wake it
                  // Tasks in the shield begin, and a scope there is like any other.
                  co_await when_all(yields_often(2), yields_often(1));
                  co_await with_scope([&](tasks_scope& in) -> job {
                    in.start([&] { was_done = true; });
                    co_await proc::yield{};
                  });
                } catch (cancelled const&) {
                  ++heard_inside;
                }
              });
              co_await proc::yield{};
              ++went_on;
            } catch (cancelled const&) {
              ++heard_behind;
              throw;
            }
          });
          while (inside == 0) co_await proc::yield{};
          co_await yields_often(round % 3);
          s.cancel();
          is_cancelled = true;
          co_await shielded([&]() -> job {
            co_await yields_often(round % 5);
            while (opens.waiting() == 0) co_await proc::yield{};
            co_await syncing::wake{opens};
          });
        });
      });
      REQUIRE(inside == 1);
      REQUIRE(heard_inside == 0);
      REQUIRE(heard_behind == 1);
      REQUIRE(went_on == 0);
      REQUIRE(was_done);
      REQUIRE(is_cancelled);
    }
  }
}

TEST_CASE("a shield yields the result of its computation, and throws its exceptions") {
  every_frame_dies const check;
  std::string text;
  std::string thrown;
  schedule([&]() -> job {
    text = co_await shielded([]() -> doing<std::string> {
      co_await proc::yield{};
      co_return std::string("as a call does, in more letters than fit in a few words");
    });
    try {
      co_await shielded([]() -> job {
        co_await proc::yield{};
        throw wrong("out of it");
      });
    } catch (wrong const& e) {
      thrown = e.what();
    }
  });
  CHECK(text == "as a call does, in more letters than fit in a few words");
  CHECK(thrown == "out of it");
}

TEST_CASE("a scope in a shield is cancelled by its own tasks, and with the whole run") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    every_frame_dies const check;
    std::string own;
    counter heard = 0;
    counter waits = 0;
    auto const p = [&]() -> job {
      gate never;
      co_await shielded([&]() -> job {
        try {
          co_await with_scope([&](tasks_scope& s) -> job {
            s.start([&]() -> job { co_await syncing::wait{never}; });
            s.start([]() -> job {
              co_await proc::yield{};
              throw wrong("own");
            });
            co_return;
          });
        } catch (wrong const& e) {
          own = e.what();
        }
      });
      (void)co_await start_task([]() -> eff<void, proc> {
        co_await yields_often(3);
        throw wrong("everybody");
      });
      co_await shielded([&]() -> job {
        try {
          ++waits;
          co_await syncing::wait{never};
        } catch (cancelled const&) {
          ++heard;
          throw;
        }
      });
    };
    CHECK_THROWS_AS(where.run(p), wrong);
    CHECK(own == "own");
    CHECK(heard == waits);
    CHECK(waits == 1);
  }
}
