// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/cancellation.hpp"

/// Processes that are never woken, and backends that have no memory, or are stopped.

program waits(std::reference_wrapper<gate> g) { co_await syncing::wait{g}; }

// ---- deadlock

TEST_CASE("a deadlock report names every waiting process, its gate, and the place") {
  every_frame_dies const check;
  gate one;
  gate two;
  std::string what;
  std::vector<std::string> who;
  try {
    schedule(
        [&one, &two]() -> program {
          co_await spawn(waits, std::ref(two));
          co_await spawn(waits, std::ref(one));
          co_await proc::fork{};
          co_await syncing::wait{two};
        },
        console_to_stream(std::cout));
  } catch (deadlock const& e) {
    what = e.what();
    for (auto const& w : e.all) {
      who.push_back(w.process.text());
      CHECK_THAT(w.what,
                 Contains("syncing::wait at tests/sched/runtime/scheduler_stuck_test.cpp:"));
    }
  }
  CHECK(who == std::vector<std::string>{"1", "1.1", "1.2", "1.3"});
  CHECK_THAT(what, Contains("\n  process 1.2 (waits #2) in weft::syncing::wait at "));
  CHECK(one.waiting() == 0);
  CHECK(two.waiting() == 0);
}

TEST_CASE("a process that catches its cancellation by a deadlock does not undo the deadlock") {
  gate g;
  auto const p = [&g]() -> program {
    bool found = false;
    try {
      co_await syncing::wait{g};
    } catch (cancelled const&) {
      found = true;
    }
    co_await console::print{found ? "found" : "woken"};
  };
  CHECK_THAT(end_of(p), Contains("found [weft: deadlock"));
}

TEST_CASE("a waiting process that loses a handler around it fails at once, and waits no longer") {
  every_frame_dies const check;
  gate g;
  auto lost = std::make_unique<parks>();
  scheduler<> s;
  std::string text;
  auto const body = [&g]() -> eff<void, tick, syncing> { co_await syncing::wait{g}; };
  s.start({.forkable = false},
          [&lost, body]() -> eff<void, syncing> { co_await handle<tick>(*lost, body); });
  s.step();
  lost.reset();
  CHECK(g.waiting() == 0);
  std::string what;
  try {
    s.run();
  } catch (resumption_expired const& e) {
    what = e.what();
  }
  CHECK_THAT(what, Contains("process 1 was suspended by weft::syncing::wait at"));
  CHECK_THAT(what, Contains("parks, which no longer exists"));
}

TEST_CASE("a gate that is destroyed after its waiter lost a handler cancels no process") {
  every_frame_dies const check;
  auto g = std::make_unique<gate>();
  auto lost = std::make_unique<parks>();
  scheduler<> s;
  auto const body = [&g]() -> eff<void, tick, syncing> { co_await syncing::wait{*g}; };
  s.start({.forkable = false},
          [&lost, body]() -> eff<void, syncing> { co_await handle<tick>(*lost, body); });
  s.step();
  lost.reset();
  g.reset();
  CHECK_THROWS_AS(s.run(), resumption_expired);
}

TEST_CASE(
    "a gate in the frames that a lost handler destroys may be the one that its process waits at") {
  every_frame_dies const check;
  auto lost = std::make_unique<parks>();
  scheduler<> s;
  auto const body = []() -> eff<void, tick, syncing> {
    gate mine;
    co_await syncing::wait{mine};
  };
  s.start({.forkable = false},
          [&lost, body]() -> eff<void, syncing> { co_await handle<tick>(*lost, body); });
  s.step();
  lost.reset();
  CHECK_THROWS_AS(s.run(), resumption_expired);
}

// ---- the backend fails

program busy() {
  gate g;
  co_await spawn(waits, std::ref(g));
  co_await spawn(tells_of_cancellation, std::string("c "));
  co_await proc::yield{};
  co_await syncing::wake{g};
  bool const first = co_await proc::fork{};
  co_await console::print{first ? "t" : "f"};
  co_await proc::yield{};
  throws(first ? "true" : "false");
}

TEST_CASE("a put that throws is a failure of its process, and no thunk is lost silently") {
  int heard = 0;
  for (int n = 1; n != 30; ++n) {
    every_frame_dies const check;
    std::string text;
    scheduler<fails_once> s(n);
    try {
      s.start(busy, console_to_string(text));
      s.run();
    } catch (std::bad_alloc const&) {
      ++heard;
    } catch (exceptions const& e) {
      for (auto const& f : e.all) try {
          std::rethrow_exception(f.error);
        } catch (std::bad_alloc const&) {
          ++heard;
        } catch (std::runtime_error const&) {
        }
    } catch (std::runtime_error const&) {
    }
    CHECK(s.alive() == 0);
  }
  CHECK(heard >= 10);
}

TEST_CASE("a take that throws leaves run with its exception, and run may be called again") {
  auto const expected = end_of<locked_queue>(busy);
  for (int n = 1; n != 20; ++n) {
    every_frame_dies const check;
    std::string text;
    bool thrown = false;
    scheduler<fails_once> s(0, n);
    s.start(busy, console_to_string(text));
    std::string what;
    for (bool again = true; again;) {
      again = false;
      try {
        s.run();
      } catch (std::bad_alloc const&) {
        again = !thrown;
        thrown = true;
      } catch (exceptions const& e) {
        for (auto const& f : e.all) try {
            std::rethrow_exception(f.error);
          } catch (std::runtime_error const& inner) {
            what += " [" + f.process.text() + ": " + inner.what() + ']';
          }
      } catch (std::runtime_error const& e) {
        what += " [" + std::string(e.what()) + ']';
      }
    }
    CHECK(text + what == expected);
  }
}

TEST_CASE("after a take that throws the destructor unwinds the processes") {
  every_frame_dies const check;
  std::string text;
  auto const s = std::make_unique<scheduler<fails_once>>(0, 3);
  s->start(busy, console_to_string(text));
  CHECK_THROWS_AS(s->run(), std::bad_alloc);
  CHECK(s->alive() == 3);
}

TEST_CASE("a stopped backend leaves the processes where they are, and reports no deadlock") {
  every_frame_dies const check;
  gate g;
  std::string text;
  scheduler<locked_queue> s;
  s.start(
      [&g, &s]() -> program {
        co_await spawn(waits, std::ref(g));
        co_await proc::yield{};
        s.base().stop();
        co_await proc::yield{};
        co_await console::print{"never"};
      },
      console_to_string(text));
  s.run();
  CHECK(text.empty());
  CHECK(s.alive() == 2);
  CHECK(g.waiting() == 1);
}

/// Takes its thunks by value, so a thunk is lost when there is no room for it.
struct drops_it {
  static constexpr unsigned wakes = 1;
  int room;
  class worker {
   public:
    worker(drops_it& home, unsigned) noexcept : home_(home) {}
    void put(thunk t, put_reason) {  // NOLINT: on purpose
      if (home_.room-- == 0) throw std::bad_alloc();
      ready_.push_back(std::move(t));
    }
    thunk take(instant, quiescence_test) {
      if (ready_.empty()) return thunk::reason::quiescent;
      thunk t = std::move(ready_.front());
      ready_.pop_front();
      return t;
    }

   private:
    drops_it& home_;
    std::deque<thunk> ready_;
  };
  void put(thunk, put_reason) {}
  thunk claim(process*) { return thunk::reason::quiescent; }
  void stop() {}
};

TEST_CASE("a backend that throws and loses the thunk causes a failure, and no crash") {
  for (int room = 1; room != 12; ++room) {
    every_frame_dies const check;
    std::string text;
    scheduler<drops_it> s(drops_it{room});
    s.start(busy, console_to_string(text));
    try {
      s.run();
    } catch (std::exception const&) {
    }
    CHECK(s.alive() == 0);
  }
}
