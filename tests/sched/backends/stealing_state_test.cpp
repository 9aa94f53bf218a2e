// SPDX-License-Identifier: MIT

/// sched/backends/stealing_state.hpp.

#include "sched/backends/stealing_state.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tests/support/lifecycle_threads.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

constexpr stealing_state all[] = {stealing_state::ready, stealing_state::running,
                                  stealing_state::blocked, stealing_state::idle,
                                  stealing_state::complete};

static_assert(is_legal_move(stealing_state::ready, stealing_state::running));

/// One that has come to that.
void bring(stealing_state_word& w, stealing_state to) {
  if (to == stealing_state::ready) return;
  w.move(stealing_state::running);
  if (to != stealing_state::running) w.move(to);
}

}  // namespace

TEST_CASE("of the twenty-five moves these nine are legal") {
  std::string table;
  for (auto const from : all) {
    for (auto const to : all) table += is_legal_move(from, to) ? 'x' : '.';
    table += ' ';
  }
  //             ready running blocked idle complete
  CHECK(table == ".x... x.xxx xx... xx... ..... ");
}

TEST_CASE("a lifecycle is what it was moved to, and begins with ready") {
  CHECK(stealing_state_word().now() == stealing_state::ready);
  for (auto const from : all)
    for (auto const to : all)
      if (is_legal_move(from, to)) {
        stealing_state_word w;
        bring(w, from);
        CHECK(w.now() == from);
        w.move(to);
        CHECK(w.now() == to);
      }
}

TEST_CASE("who is put is ready, whether it has run or not") {
  stealing_state_word w;
  w.set_ready();
  CHECK(w.now() == stealing_state::ready);
  bring(w, stealing_state::running);
  w.set_ready();
  CHECK(w.now() == stealing_state::ready);
}

TEST_CASE("who waits is woken, and is to be put by who wakes it") {
  for (auto const state : {stealing_state::blocked, stealing_state::idle}) {
    stealing_state_word w;
    bring(w, stealing_state::running);
    CHECK(w.wait(state));
    CHECK(w.now() == state);
    CHECK(w.wake());
    CHECK(w.now() == stealing_state::ready);
  }
}

TEST_CASE("who has never run is woken, and is to be put by who wakes it") {
  stealing_state_word w;
  CHECK(w.wake());
  CHECK(w.now() == stealing_state::ready);
}

TEST_CASE("who is woken while it is running runs on, and finds it when it would wait: once") {
  for (auto const state : {stealing_state::blocked, stealing_state::idle}) {
    stealing_state_word w;
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

TEST_CASE("who waits is taken over without being put") {
  for (auto const state : {stealing_state::blocked, stealing_state::idle}) {
    stealing_state_word w;
    bring(w, state);
    w.take_over([] { std::abort(); });
    CHECK(w.now() == stealing_state::running);
  }
}

TEST_CASE("who takes over one that is about to wait waits for that") {
  stealing_state_word w;
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
  // Both happen, sooner or later: that is for the system to say.
  while (flagged == 0 || flagged % rounds == 0) wrong += wrong_flags_on_threads(rounds, flagged);
  CHECK(wrong == 0);
}

TEST_CASE("who takes over has all that was written before the wait") {
  CHECK(wrong_take_overs_on_threads(5'000) == 0);
}
