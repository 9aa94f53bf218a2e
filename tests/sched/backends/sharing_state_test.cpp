// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/state_threads.hpp"

/// sched/backends/sharing_state.hpp.

constexpr sharing_state all[] = {sharing_state::sleeping, sharing_state::queued,
                                 sharing_state::running, sharing_state::yielding};

static_assert(is_legal_move(sharing_state::queued, sharing_state::running));

TEST_CASE("of the sixteen moves eight are legal") {
  std::string table;
  for (auto const from : all) {
    for (auto const to : all) table += is_legal_move(from, to) ? 'x' : '.';
    table += ' ';
  }
  //             sleeping queued running yielding
  CHECK(table == ".xx. ..x. .x.x xxx. ");
}

TEST_CASE("a state is the one that it was moved to") {
  for (auto const from : all)
    for (auto const to : all)
      if (is_legal_move(from, to)) {
        sharing_state_word s(from);
        CHECK(s.now() == from);
        s.move(to);
        CHECK(s.now() == to);
      }
}

TEST_CASE(
    "wake moves a sleeping process to queued or running, and leaves any other state unchanged") {
  for (auto const to : {sharing_state::queued, sharing_state::running}) {
    sharing_state_word sleeper(sharing_state::sleeping);
    CHECK(sleeper.wake(to));
    CHECK(sleeper.now() == to);
    CHECK_FALSE(sleeper.wake(sharing_state::queued));
    CHECK(sleeper.now() == to);
  }
}

TEST_CASE("wake waits until a yielding process has fallen asleep, or continues") {
  auto const then =
      GENERATE(sharing_state::sleeping, sharing_state::queued, sharing_state::running);
  int wrong = 0;
  for (int round = 0; round != 200; ++round) {
    sharing_state_word s(sharing_state::yielding);
    std::atomic<bool> comes = false;
    std::atomic<bool> is_back = false;
    bool woke = false;
    std::thread other([&] {
      comes = true;
      woke = s.wake(sharing_state::running);
      is_back = true;
    });
    while (!comes) std::this_thread::yield();
    for (int i = 0; i != 5; ++i) std::this_thread::yield();
    wrong += is_back || s.now() != sharing_state::yielding;
    s.move(then);
    other.join();
    bool const slept = then == sharing_state::sleeping;
    wrong += woke != slept || s.now() != (slept ? sharing_state::running : then);
  }
  CHECK(wrong == 0);
}

TEST_CASE(
    "of several threads that wake a process one succeeds, and sees all writes before its sleep") {
  auto const wakers = GENERATE(1u, 2u, 3u, 7u);
  CHECK(wrong_wakes_on_threads(wakers, 2000) == 0);
}
