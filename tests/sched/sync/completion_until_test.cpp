// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Waiting for a completion until a deadline.

using program = eff<void, spawning<proc, completions, timing>, proc, completions, timing>;

BACKENDS_TEST_CASE(
    "a wait with a deadline yields a value that is ready at once, and nothing if none is", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  every_frame_dies const check;
  bool right = false;
  run_on(chosen, [&right]() -> program {
    completer<int> there;
    completer<std::unique_ptr<int>> missing;
    completer<void> done;
    completer<void> undone;
    auto a = there.get_completion();
    auto b = missing.get_completion();
    auto c = done.get_completion();
    auto d = undone.get_completion();
    there.complete(42);
    done.complete();
    auto const n = co_await a.wait_until(instant());
    auto const none = co_await b.wait_until(instant());
    bool const is_done = co_await c.wait_until(instant::min());
    bool const is_undone = co_await d.wait_until(instant::min());
    right = n == std::optional(42) && !none && is_done && !is_undone;
    // A second wait gets the values after all.
    missing.complete(std::make_unique<int>(1));
    undone.complete();
    auto const one = co_await b.wait();
    bool const is_done_too = co_await d.wait_until(instant());
    right = right && *one == 1 && is_done_too;
  });
  CHECK(right);
}

using waiting = eff<void, proc, completions, timing>;

BACKENDS_TEST_CASE("a completion that came too late can be waited for again, any number of times",
                   "", on_one_thread, in_random_order, on_locked_stack, on_sharing<1>,
                   on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  int got = 0;
  int times = 0;
  std::string refused;
  run_on(chosen, virtual_time(), [&]() -> program {
    completer<int> source;
    auto result = source.get_completion();
    co_await spawn(
        [](completer<int> s) -> waiting {
          co_await timing::sleep_for(35ms);
          s.complete(9);
        },
        std::move(source));
    std::optional<int> n;
    while (!n) {
      instant const now = co_await timing::now{};
      n = co_await result.wait_until(now + 10ms);
      ++times;
    }
    got = *n;
    try {
      (void)co_await result.wait_until(instant::max());
    } catch (std::logic_error const& e) {
      refused = e.what();
    }
  });
  CHECK(got == 9);
  CHECK(times == 4);
  CHECK_THAT(refused, Contains("waited for twice"));
}

BACKENDS_TEST_CASE(
    "a wait with a deadline throws the error of a failed completion, and completion_dropped", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  std::string what;
  run_on(chosen, virtual_time(), [&what]() -> program {
    auto fails = std::make_unique<completer<int>>();
    auto drops = std::make_unique<completer<void>>();
    auto a = fails->get_completion();
    auto b = drops->get_completion();
    co_await spawn(
        [](std::unique_ptr<completer<int>> f, std::unique_ptr<completer<void>> d) -> waiting {
          co_await timing::sleep_for(1ms);
          f->fail(std::make_exception_ptr(std::runtime_error("it failed ")));
          co_await timing::sleep_for(1ms);
          d.reset();
        },
        std::move(fails), std::move(drops));
    try {
      (void)co_await a.wait_until(instant() + 1h);
    } catch (std::runtime_error const& e) {
      what += e.what();
    }
    try {
      (void)co_await b.wait_until(instant() + 1h);
    } catch (completion_dropped const&) {
      what += "it was dropped";
    }
  });
  CHECK(what == "it failed it was dropped");
}

BACKENDS_TEST_CASE("virtual time does not wait for external events, and they may still come", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    completer<int> source;
    auto result = source.get_completion();
    std::atomic<bool> is_later = false;
    std::thread outside([&] {
      until([&] { return is_later.load(); });
      source.complete(5);
    });
    int got = 0;
    run_on(chosen, virtual_time(), [&]() -> program {
      co_await spawn(
          [](std::atomic<bool>& to) -> waiting {
            co_await timing::sleep_for(24h);
            to = true;
          },
          std::ref(is_later));
      got = co_await result.wait();
    });
    outside.join();
    if (got != 5) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE("a completion at its deadline is in time or late, and is not lost", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  int late = 0;
  int in_time = 0;
  // On a busy machine one of the two may be rare: goes on until both were seen.
  int const least = rounds(300);
  auto const goes_on = [&](int round) {
    return round < least || (round < 20 * least && (late == 0 || in_time == 0));
  };
  for (int round = 0; goes_on(round); ++round) {
    every_frame_dies const check;
    constexpr int many = 20;
    std::vector<completer<int>> sources(many);
    std::vector<completion<int>> results;
    for (auto& s : sources) results.push_back(s.get_completion());
    std::vector<int> got(many);
    counter too_late = 0;
    std::atomic<int> begun = 0;
    std::thread outside([&] {
      for (int i = 0; i != many; ++i) {
        until([&] { return begun > i; });
        for (int k = 0; k != (round + i) % 64; ++k)
          std::atomic_signal_fence(std::memory_order_seq_cst);
        auto s = std::move(sources[static_cast<std::size_t>(i)]);
        s.complete(i + 1);
      }
    });
    run_on(chosen, [&]() -> program {
      for (int i = 0; i != many; ++i)
        co_await spawn(
            [](completion<int> from, int& to, counter& n, std::atomic<int>& come,
               int how_late) -> waiting {
              std::optional<int> v;
              instant t = co_await timing::now{};
              ++come;
              for (bool first = true; !v; first = false) {
                v = co_await from.wait_until(t + how_late * 1us);
                if (!v && first) ++n;
                t = co_await timing::now{};
              }
              to = *v;
            },
            std::move(results[static_cast<std::size_t>(i)]),
            std::ref(got[static_cast<std::size_t>(i)]), std::ref(too_late), std::ref(begun),
            std::array{0, 1, 3, 10, 20'000}[static_cast<std::size_t>((7 * round + i) % 5)]);
    });
    outside.join();
    int right = 0;
    for (int i = 0; i != many; ++i) right += got[static_cast<std::size_t>(i)] == i + 1;
    if (right != many) FAIL("round " << round << ": " << right);
    late += too_late;
    in_time += many - too_late;
  }
  CHECK(late > 0);
  CHECK(in_time > 0);
}

BACKENDS_TEST_CASE("a process that waits with a deadline is cancelled when another process fails",
                   "", on_one_thread, on_locked_queue, in_random_order, on_sharing<1>,
                   on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(1000); ++round) {
    completer<int> source;
    counter ended = 0;
    counter alive = 0;
    std::atomic<bool> is_there = false;
    std::thread outside([&] {
      until([&] { return is_there.load(); });
      source.complete(1);
    });
    auto const p = [&]() -> program {
      co_await spawn(
          [](completion<int> from, counter& n, lives, int how_late) -> waiting {
            instant const t = co_await timing::now{};
            try {
              (void)co_await from.wait_until(t + how_late * 1us);
              ++n;
            } catch (cancelled const&) {
              ++n;
              throw;
            }
          },
          source.get_completion(), std::ref(ended), lives(alive), round % 7);
      for (int i = 0; i != round % 3; ++i) co_await proc::yield{};
      is_there = true;
      throw std::runtime_error("as asked");
    };
    std::string thrown;
    try {
      run_on(chosen, p);
    } catch (std::runtime_error const& e) {
      thrown = e.what();
    }
    outside.join();
    if (thrown != "as asked" || alive != 0 || ended > 1) FAIL("round " << round << thrown);
  }
}

TEST_CASE("a scheduler is destroyed at the deadline of an external event that a thread opens") {
  for (int round = 0; round != rounds(3000); ++round) {
    every_frame_dies const check;
    external_event g;
    counter alive = 0;
    std::atomic<bool> go = false;
    std::thread outside([&] {
      until([&] { return go.load(); });
      g.open();
    });
    {
      scheduler<> s;
      s.start({.forkable = false}, [&]() -> program {
        co_await spawn(
            [](external_event& at, lives) -> waiting {
              (void)co_await completions::wait_until(at, instant());
              co_await proc::yield{};
            },
            std::ref(g), lives(alive));
        for (;;) co_await proc::yield{};
      });
      for (int i = 0; i != 3; ++i) s.step();
      go = true;
      // It looks at the clock within these steps.
      for (int i = 0; i != 28 + round % 8; ++i) s.step();
    }
    if (alive != 0) FAIL("round " << round);
    outside.join();
  }
}

BACKENDS_TEST_CASE(
    "an external event that is destroyed cancels a process that waits there with a deadline", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<1>) {
  every_frame_dies const check;
  std::string text;
  run_on(chosen, virtual_time(), [&text]() -> program {
    auto g = std::make_unique<external_event>();
    auto const waits = [](external_event& at, std::string& to) -> waiting {
      try {
        bool const woken = co_await completions::wait_until(at, instant() + 5ms);
        to += woken ? "opened " : "late ";
      } catch (cancelled const&) {
        to += "cancelled ";
      }
    };
    co_await spawn(waits, std::ref(*g), std::ref(text));
    co_await timing::sleep_for(1ms);
    g = std::make_unique<external_event>();
    // The event is destroyed when the deadline of that process has passed, and before the process
    // continues.
    co_await spawn(
        [](std::unique_ptr<external_event>& at) -> waiting {
          co_await timing::sleep_until(instant() + 5ms);
          at.reset();
        },
        std::ref(g));
    co_await spawn(waits, std::ref(*g), std::ref(text));
    co_await timing::sleep_for(1h);
  });
  CHECK(text == "cancelled late ");
}
