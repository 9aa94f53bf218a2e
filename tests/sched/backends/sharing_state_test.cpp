// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/state_threads.hpp"

/// sched/backends/detail/sharing_state.hpp.

constexpr detail::sharing_state all[] = {
    detail::sharing_state::sleeping, detail::sharing_state::queued, detail::sharing_state::running,
    detail::sharing_state::yielding};

static_assert(detail::is_legal_move(detail::sharing_state::queued, detail::sharing_state::running));

TEST_CASE("of the sixteen moves eight are legal") {
  std::string table;
  for (auto const from : all) {
    for (auto const to : all) table += detail::is_legal_move(from, to) ? 'x' : '.';
    table += ' ';
  }
  //             sleeping queued running yielding
  CHECK(table == ".xx. ..x. .x.x xxx. ");
}

TEST_CASE("a state is the one that it was moved to") {
  for (auto const from : all)
    for (auto const to : all)
      if (detail::is_legal_move(from, to)) {
        detail::sharing_state_word s(from);
        CHECK(s.now() == from);
        s.move(to);
        CHECK(s.now() == to);
      }
}

TEST_CASE(
    "wake moves a sleeping process to queued or running, and leaves any other state unchanged") {
  for (auto const to : {detail::sharing_state::queued, detail::sharing_state::running}) {
    detail::sharing_state_word sleeper(detail::sharing_state::sleeping);
    CHECK(sleeper.wake(to));
    CHECK(sleeper.now() == to);
    CHECK_FALSE(sleeper.wake(detail::sharing_state::queued));
    CHECK(sleeper.now() == to);
  }
}

TEST_CASE("wake waits until a yielding process has fallen asleep, or continues") {
  auto const then = GENERATE(detail::sharing_state::sleeping, detail::sharing_state::queued,
                             detail::sharing_state::running);
  int wrong = 0;
  for (int round = 0; round != 200; ++round) {
    detail::sharing_state_word s(detail::sharing_state::yielding);
    std::atomic<bool> comes = false;
    std::atomic<bool> is_back = false;
    bool woke = false;
    std::thread other([&] {
      comes = true;
      woke = s.wake(detail::sharing_state::running);
      is_back = true;
    });
    while (!comes) std::this_thread::yield();
    for (int i = 0; i != 5; ++i) std::this_thread::yield();
    wrong += is_back || s.now() != detail::sharing_state::yielding;
    s.move(then);
    other.join();
    bool const slept = then == detail::sharing_state::sleeping;
    wrong += woke != slept || s.now() != (slept ? detail::sharing_state::running : then);
  }
  CHECK(wrong == 0);
}

TEST_CASE(
    "of several threads that wake a process one succeeds, and sees all writes before its sleep") {
  auto const wakers = GENERATE(1u, 2u, 3u, 7u);
  CHECK(wrong_wakes_on_threads(wakers, 2000) == 0);
}
