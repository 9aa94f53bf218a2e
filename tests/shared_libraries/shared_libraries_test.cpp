// SPDX-License-Identifier: MIT

/// A program and two shared libraries that it is linked with: computations, resumptions, frames and
/// exceptions of each are run, handled, resumed, dropped and caught by the others.  Built with
/// hidden visibility and without.

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/shared_libraries/library.hpp"
#include "weft/testing/testing.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

std::array<library const*, 3> modules() {
  return {program_library(), first_library(), second_library()};
}
/// Calls f with each pair of modules, also a module with itself.
template <class F>
void for_each_pair(F f) {
  for (auto const* const a : modules())
    for (auto const* const b : modules()) f(*a, *b);
}
/// Whether all modules see the same counts of frames.
bool count_the_same() {
  auto const here = detail::frames_so_far();
  return std::ranges::all_of(modules(), [&here](library const* m) {
    return m->frames().births == here.births && m->frames().deaths == here.deaths;
  });
}
template <class F>
void on_a_thread(F f) {
  std::jthread const other(std::move(f));
}

}  // namespace

TEST_CASE("a computation of one module is handled by another, which may be a library, too") {
  for_each_pair([](library const& a, library const& b) {
    CHECK(a.answers(7, b.sums(5)) == 35);
    CHECK(a.answers(1, b.sums(100)) == 100);
  });
}

TEST_CASE("a resumption that one module receives may be resumed by another") {
  for_each_pair([](library const& a, library const& b) {
    for (auto const* const c : modules()) CHECK(a.answers_by(b, c->sums(5)) == 35);
  });
}

TEST_CASE("an exception that one module throws is caught by its type in another") {
  for_each_pair([](library const& a, library const& b) {
    for (auto const what :
         {thrown::trouble, thrown::eff_empty, thrown::cancelled, thrown::no_senders})
      CHECK(a.catches(b.throws(what)) == what);
  });
}

TEST_CASE("a body of one module is resumed twice by a handler of another") {
  std::vector<int> const all{0, 1, 2, 3, 4, 5, 6, 7};
  for_each_pair([&all](library const& a, library const& b) {
    CHECK(a.tries_all(b, false) == all);
    CHECK(a.tries_all(b, true) == all);
  });
}

TEST_CASE("all modules count the same frames, whichever module creates or destroys them") {
  for_each_pair([](library const& a, library const& b) {
    auto const before = detail::frames_so_far();
    for (int i = 0; i != 100; ++i) {
      a.drops(b.sums(1));
      a.unwinds(b.sums(1));
    }
    auto const after = detail::frames_so_far();
    CHECK(after.births >= before.births + 300);
    CHECK(after.alive() == before.alive());
    CHECK(count_the_same());
  });
}

TEST_CASE(
    "a frame may be created in one module and thread, and destroyed in another module and thread") {
  auto const before = detail::frames_so_far();
  for_each_pair([](library const& a, library const& b) {
    std::vector<eff<int, ask>> all;
    on_a_thread([&] {
      for (int i = 0; i != 20'000; ++i) all.push_back(a.sums(1));
    });
    on_a_thread([&] {
      for (auto& one : all) b.drops(std::move(one));
    });
    CHECK(count_the_same());
  });
  auto const after = detail::frames_so_far();
  CHECK(after.births == before.births + 9 * 20'000);
  CHECK(after.alive() == before.alive());
}

TEST_CASE("a unique_any of one module is recognized by its type in another") {
  for_each_pair([](library const& a, library const& b) {
    unique_any p = a.packs(7);
    CHECK(b.unpacks(p) == 7);
    CHECK_FALSE(p);
  });
}

TEST_CASE("types with internal linkage differ between modules, although their names are equal") {
  for (bool const is_local : {false, true})
    for_each_pair([is_local](library const& a, library const& b) {
      CHECK(b.has_packed_own(a.packs_own(is_local), is_local) == (&a == &b));
    });
}

// ---- processes

TEST_CASE("processes of several modules take turns, each inside a handler of its own") {
  for (auto const* const m : modules()) {
    std::string text;
    m->runs(backends::one_thread, [&text]() -> parent {
      char name = 'a';
      for (auto const* const child : modules())
        co_await spawn([](library const& l, std::string& to, char c) { return l.counts(to, c, 3); },
                       std::cref(*child), std::ref(text), name++);
    });
    CHECK(text == "a7 b7 c7 a14 b14 c14 a21 b21 c21 ");
  }
}

TEST_CASE("a process of one module forks on a scheduler of another, and is replayed") {
  for_each_pair([](library const& a, library const& b) {
    std::string text;
    a.runs(backends::one_thread, [&b, &text] { return b.forks(text); });
    CHECK(text == "14aa 14ab 14ba 14bb ");
  });
}

TEST_CASE("a module spawns processes of another, whose effects a third one handles") {
  for (auto const on : {backends::one_thread, backends::sharing, backends::stealing})
    for (auto const* const m : modules())
      for_each_pair([&](library const& a, library const& b) {
        std::atomic<int> sum = 0;
        m->runs(on, [&] { return a.spawns(b, sum, 20); });
        CHECK(sum == 140);
      });
}

TEST_CASE("modules share a mutex") {
  for (auto const on : {backends::one_thread, backends::sharing, backends::stealing})
    for (auto const* const m : modules()) {
      mutex access;
      long n = 0;
      m->runs(on, [&]() -> parent {
        for (int i = 0; i != 3; ++i)
          for (auto const* const child : modules())
            co_await spawn(
                [](library const& l, mutex& a, long& to) { return l.increments(a, to, 100); },
                std::cref(*child), std::ref(access), std::ref(n));
      });
      CHECK(n == 900);
    }
}

TEST_CASE("a process of one module sends to one of another by its id") {
  for (auto const on : {backends::one_thread, backends::sharing, backends::stealing})
    for_each_pair([on](library const& a, library const& b) {
      int sum = 0;
      b.runs(on, [&]() -> parent {
        process_id const there =
            co_await spawn([](library const& l, int& s) { return l.receives(s, 10); }, std::cref(a),
                           std::ref(sum));
        co_await spawn([](library const& l, process_id to) { return l.sends(to, 10); },
                       std::cref(b), there);
      });
      CHECK(sum == 70);
    });
}

TEST_CASE("a module submits processes to the scheduler of another, from threads of its own") {
  for_each_pair([](library const& a, library const& b) {
    std::atomic<int> sum = 0;
    a.is_submitted_to(b, sum, 200);
    CHECK(sum == 2 * 200 * 7);
  });
}

TEST_CASE("tasks of several modules wait for one another") {
  for (auto const on : {backends::one_thread, backends::sharing, backends::stealing})
    for_each_pair([on](library const& a, library const& b) {
      int result = 0;
      a.runs(on, [&]() -> parent { result = co_await b.fib(a, 12); });
      CHECK(result == 144);
    });
}

TEST_CASE("a handler of one module drops a suspended scope of another module, which is unwound") {
  for (auto const on : {backends::one_thread, backends::sharing, backends::stealing})
    for_each_pair([on](library const& a, library const& b) {
      int ends = 0;
      int result = 0;
      a.runs(on, [&]() -> parent { result = co_await a.gives_up(b.asks_in_scope(ends)); });
      CHECK(result == -1);
      CHECK(ends == 2);
    });
}

// ---- checkpoints, and explored schedules

TEST_CASE("a checkpoint is refused by the schedulers of another module") {
  int schedulers = 0;  // differs by module, as the modules' own counts would
  for (auto const* const a : modules()) {
    schedulers += 100;
    for (int i = 0; i != schedulers; ++i) (void)a->checkpoint();
  }
  for_each_pair([](library const& a, library const& b) {
    auto const here = a.checkpoint();
    // Not so many by the same module that its count would be far from the others' counts.
    CHECK_FALSE(b.run_any(here, &a == &b ? 10 : 1000));
  });
}

TEST_CASE("explore visits the same schedules for processes and decisions of any modules") {
  struct account {
    mutex access;
    long n = 0;
  };
  struct decides {
    library const* who;
    int on(ask::get) const { return static_cast<int>(who->decides()); }
  };
  auto const schedules = [](library const& a, library const& b, bool is_reduced) {
    auto const child = [](library const& l, mutex& m, long& n, int times) {
      return l.increments(m, n, times);
    };
    auto const program = [&](account& of) -> parent {
      co_await spawn(child, std::cref(a), std::ref(of.access), std::ref(of.n), 1);
      co_await spawn(child, std::cref(b), std::ref(of.access), std::ref(of.n), 1 + is_reduced);
      of.n += 10 * co_await ask::get{};
    };
    auto const found = explore(
        {.granularity = granularity::parallel, .reduce = is_reduced}, [] { return account(); },
        program, [](account const& of) { return std::to_string(of.n); },
        [&](account&) { return decides{&a}; });
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.outcomes.size() == 2);  // one for each decision
    return found.schedules;
  };
  for (bool const is_reduced : {false, true}) {
    auto const expected = schedules(*program_library(), *program_library(), is_reduced);
    for_each_pair([&](library const& a, library const& b) {
      CHECK(schedules(a, b, is_reduced) == expected);
    });
  }
}
