// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/completions.hpp"

/// Processes that wait for an external event when another process fails, or on a stop request.

using program = eff<void, spawning<proc, completions>, proc, completions>;

BACKENDS_TEST_CASE("a process that waits for a completion is cancelled when another process fails",
                   "", on_one_thread, on_locked_queue, in_random_order, on_sharing<1>,
                   on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(3000); ++round) {
    completer<int> never_comes;
    std::string got;
    std::atomic<bool> is_there = false;
    auto const p = [&]() -> program {
      co_await spawn(
          [](completion<int> from, std::string& to,
             std::atomic<bool>& there) -> eff<void, proc, completions> {
            there = true;
            co_await takes<int>(std::move(from), to);
          },
          never_comes.get_completion(), std::ref(got), std::ref(is_there));
      while (!is_there) co_await proc::yield{};
      throw std::runtime_error("the other one failed");
    };
    std::string thrown;
    try {
      run_on(chosen, p);
    } catch (std::runtime_error const& e) {
      thrown = e.what();
    }
    if (thrown != "the other one failed") FAIL(thrown);
    if (got != "cancelled") FAIL(got);
    never_comes.complete(1);  // too late, and harmless
  }
}

BACKENDS_TEST_CASE("a process that waits for a completion is cancelled by a stop request", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(300); ++round) {
    completer<int> never_comes;
    std::stop_source stop;
    std::string got;
    std::atomic<bool> is_there = false;
    std::thread outside([&] {
      until([&] { return is_there.load(); });
      stop.request_stop();
    });
    bool was_cancelled = false;
    try {
      run_on(chosen, options(false, stop.get_token()), [&]() -> program {
        is_there = true;
        co_await takes<int>(never_comes.get_completion(), got);
      });
    } catch (cancelled const&) {
      was_cancelled = true;
    }
    outside.join();
    if (!was_cancelled || got != "cancelled") FAIL("round " << round << ": " << got);
  }
}

BACKENDS_TEST_CASE(
    "a completion that comes while another process fails is either taken or cancelled", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(1000); ++round) {
    completer<int> source;
    auto result = source.get_completion();
    std::string got;
    std::atomic<bool> is_there = false;
    std::thread outside([&] {
      until([&] { return is_there.load(); });
      source.complete(3);
    });
    auto const p = [&]() -> program {
      co_await spawn(takes<int>, std::move(result), std::ref(got));
      co_await proc::yield{};
      is_there = true;
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, p), "as asked");
    outside.join();
    // Empty: the process was cancelled before it had begun.
    if (got != "3" && got != "cancelled" && !got.empty()) FAIL(got);
  }
}
