// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/printing_programs.hpp"

/// Each allocation of a schedule fails once: the schedule throws, or continues without; in either
/// case nothing is lost and no process is left.

TEST_CASE("one_thread without memory for its inbox still takes each thunk once") {
  every_frame_dies const check;
  int failed = 0;
  for (int n = 0; n != 8; ++n) {
    one_thread b;
    one_thread::worker w(b, 0);
    constexpr std::uint64_t all = 3000;
    for (std::uint64_t i = 0; i != all; ++i) b.put(numbered(i), put_reason::woken);
    std::uint64_t next = 0;
    bool in_order = true;
    until_failure = n;
    for (bool again = true; again;) {
      thunk const t = w.take(instant::max(), quiescence_test());
      again = bool(t);
      in_order &= !t || t.answer() == next++;
    }
    failed += until_failure < 0;
    until_failure = -1;
    CHECK(in_order);
    CHECK(next == all);
  }
  CHECK(failed > 0);
}

/// Every allocation of `f` fails in turn, until a run has none left.  Returns how many failed.
int each_allocation_fails(void (*f)()) {
  for (int n = 0;; ++n) {
    every_frame_dies const check;
    bool failed = false;
    until_failure = n;
    try {
      f();
    } catch (std::bad_alloc const&) {
    } catch (exceptions const&) {
    } catch (std::runtime_error const&) {
    } catch (std::logic_error const&) {
    }
    failed = until_failure < 0;
    until_failure = -1;
    if (!failed) return n;
  }
}

program child(std::reference_wrapper<gate> g) {
  co_await proc::yield{};
  co_await syncing::wait{g};
  co_await console::print{"w"};
}

program parent() {
  gate g;
  co_await spawn(child, std::ref(g));
  co_await spawn(forkable, []() -> program {
    bool const first = co_await proc::fork{};
    co_await proc::yield{};
    co_await console::print{first ? "1" : "0"};
  });
  auto const body = []() -> eff<void, ask, proc, console> {
    int const n = co_await ask::get{};
    co_await proc::yield{};
    co_await proc::fork{};
    co_await console::print{std::to_string(n)};
  };
  co_await handle<ask>(answers{7}, body);
  co_await proc::yield{};
  co_await syncing::wake{g};
}

TEST_CASE("a schedule without memory throws, and every process is unwound") {
  int const failed = each_allocation_fails([] {
    std::string text;
    text.reserve(1000);
    schedule(parent, console_to_string(text));
  });
  CHECK(failed > 3);
}

/// The program of parent(), which catches bad_alloc where it can.
program robust() {
  gate g;
  for (int i = 0; i != 3; ++i) {
    try {
      co_await spawn(child, std::ref(g));
    } catch (std::bad_alloc const&) {
    }
    try {
      co_await proc::fork{};
    } catch (std::bad_alloc const&) {
    } catch (unforkable const&) {
    }
  }
  co_await proc::yield{};
  co_await proc::yield{};
  co_await syncing::wake{g, 100};
}

TEST_CASE("a program that catches bad_alloc continues without memory") {
  int const failed = each_allocation_fails([] {
    std::string text;
    text.reserve(1000);
    schedule(robust, console_to_string(text));
  });
  CHECK(failed > 3);
}

TEST_CASE("a schedule without memory in which processes fail and wait in vain leaves nothing") {
  int const failed = each_allocation_fails([] {
    schedule([]() -> eff<void, proc, syncing> {
      gate g;
      bool const first = co_await proc::fork{};
      if (first) co_await syncing::wait{g};
      co_await proc::yield{};
      throw std::runtime_error("failed");
    });
  });
  CHECK(failed > 1);
  int const waiting = each_allocation_fails([] {
    gate g;
    schedule({.forkable = false}, [&g]() -> eff<void, syncing> { co_await syncing::wait{g}; });
  });
  CHECK(waiting > 1);
}

TEST_CASE("a schedule without memory whose replay diverges leaves nothing") {
  int const failed = each_allocation_fails([] {
    bool again = false;
    schedule([&again]() -> eff<void, proc> {
      if (std::exchange(again, true)) co_await proc::yield{};
      co_await proc::fork{};
    });
  });
  CHECK(failed > 1);
}

TEST_CASE("a scheduler without memory takes and runs checkpoints, or throws") {
  int const failed = each_allocation_fails([] {
    std::string text;
    text.reserve(1000);
    scheduler<> s;
    s.start(
        []() -> eff<void, proc, console> {
          for (int i = 0; i != 2; ++i) {
            co_await proc::fork{};
            co_await console::print{"x"};
          }
        },
        console_to_string(text));
    s.step();
    auto const first = s.checkpoint();
    s.step();
    auto const second = s.checkpoint();
    s.run();
    s.run(first);
    s.run(second);
  });
  CHECK(failed > 1);
}
