// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/lifecycle_threads.hpp"

/// sched/backends/detail/stealing_state.hpp.

constexpr stealing_state all[] = {stealing_state::ready, stealing_state::running,
                                  stealing_state::blocked, stealing_state::idle,
                                  stealing_state::complete};

static_assert(detail::is_legal_move(stealing_state::ready, stealing_state::running));

TEST_CASE("of the twenty-five moves nine are legal") {
  std::string table;
  for (auto const from : all) {
    for (auto const to : all) table += detail::is_legal_move(from, to) ? 'x' : '.';
    table += ' ';
  }
  //             ready running blocked idle complete
  CHECK(table == ".x... x.xxx xx... xx... ..... ");
}

/// Moves w from ready to the given state.
void bring(detail::stealing_state_word& w, stealing_state to) {
  if (to == stealing_state::ready) return;
  w.move(stealing_state::running);
  if (to != stealing_state::running) w.move(to);
}

TEST_CASE("a stealing state is the one that it was moved to, and begins as ready") {
  CHECK(detail::stealing_state_word().now() == stealing_state::ready);
  for (auto const from : all)
    for (auto const to : all)
      if (detail::is_legal_move(from, to)) {
        detail::stealing_state_word w;
        bring(w, from);
        CHECK(w.now() == from);
        w.move(to);
        CHECK(w.now() == to);
      }
}

TEST_CASE("set_ready makes a process ready, whether it has run or not") {
  detail::stealing_state_word w;
  w.set_ready();
  CHECK(w.now() == stealing_state::ready);
  bring(w, stealing_state::running);
  w.set_ready();
  CHECK(w.now() == stealing_state::ready);
}

TEST_CASE("wake makes a waiting process ready, and says that the waker must put it") {
  for (auto const state : {stealing_state::blocked, stealing_state::idle}) {
    detail::stealing_state_word w;
    bring(w, stealing_state::running);
    CHECK(w.wait(state));
    CHECK(w.now() == state);
    CHECK(w.wake());
    CHECK(w.now() == stealing_state::ready);
  }
}

TEST_CASE("wake of a process that has never run says that the waker must put it") {
  detail::stealing_state_word w;
  CHECK(w.wake());
  CHECK(w.now() == stealing_state::ready);
}

TEST_CASE("a process that is woken while it runs finds the wake-up when it would wait, once") {
  for (auto const state : {stealing_state::blocked, stealing_state::idle}) {
    detail::stealing_state_word w;
    bring(w, stealing_state::running);
    CHECK_FALSE(w.wake());
    CHECK(w.now() == stealing_state::running);
    CHECK_FALSE(w.wait(state));
    CHECK(w.now() == stealing_state::ready);

    w.move(stealing_state::running);
    CHECK(w.wait(state));  // the flag is gone
    CHECK(w.now() == state);
  }
}

TEST_CASE("take_over takes a waiting process without a put") {
  for (auto const state : {stealing_state::blocked, stealing_state::idle}) {
    detail::stealing_state_word w;
    bring(w, state);
    w.take_over([] { std::abort(); });
    CHECK(w.now() == stealing_state::running);
  }
}

TEST_CASE("take_over of a process that is about to wait waits until it does") {
  detail::stealing_state_word w;
  bring(w, stealing_state::running);
  int times = 0;
  bool let_go = false;
  w.take_over([&] {
    if (++times == 3) let_go = w.wait(stealing_state::idle);
  });
  CHECK(times == 3);
  CHECK(let_go);
  CHECK(w.now() == stealing_state::running);
}

TEST_CASE("a wake that races with the wait is never lost and never doubled") {
  int flagged = 0;
  constexpr int rounds = 5'000;
  int wrong = 0;
  // Both outcomes occur sooner or later; the operating system decides when.
  while (flagged == 0 || flagged % rounds == 0) wrong += wrong_flags_on_threads(rounds, flagged);
  CHECK(wrong == 0);
}

TEST_CASE("take_over sees all writes before the wait") {
  CHECK(wrong_take_overs_on_threads(5'000) == 0);
}
