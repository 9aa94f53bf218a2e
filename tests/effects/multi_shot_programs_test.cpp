// SPDX-License-Identifier: MIT

/// Random searches, by every policy of resuming twice.
///
/// Each search is run by weft and by a model that copies everything
/// (tests/support/random_searches.hpp).  All ways through it must end alike and in the same order,
/// with a result, a failure or an exception, and must have asked the handlers outside equally
/// often.
///
/// A seed that fails is printed; tests/support/seeds.hpp explains how to run it alone.

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/random_searches.hpp"
#include "tests/support/seeds.hpp"
#include "weft/effects/effects.hpp"

using namespace weft;
using namespace weft::tests;
using searches::does;
using searches::ending;
using searches::mix;

namespace {

struct search {
  struct pick : op<int> {
    explicit pick(int count) : n(count) {}
    int n;
  };
  struct fail : op<never> {};
  using operations = op_list<pick, fail>;
};
static_assert(std::is_trivially_copyable_v<search::pick>);
static_assert(std::is_trivially_copyable_v<state_of<int>>);

struct thrown {
  int value;
};

// ---- programs in weft, which keep only numbers and pointers across a pick

eff<int, search> pick_wide(int n) {
  std::array<int, 500> much{};  // larger than any block of the pool
  for (int i = 0; i != 500; ++i) much[static_cast<std::size_t>(i)] = n + i;
  int const picked = co_await search::pick{n};
  for (int i = 0; i != 500; ++i)
    if (much[static_cast<std::size_t>(i)] != n + i) co_return -1;
  co_return picked;
}
eff<void, search> pick_into(int* where, int n) {
  int const picked = co_await search::pick{n};
  *where = mix(*where, picked);
}
eff<int, search> pick_deep(int level, int n) {
  if (level == 0) co_return co_await search::pick{n};
  int const picked = co_await pick_deep(level - 1, n);
  co_return mix(level, picked);
}

using everything = row<search, state<int>, ask>;
eff<int, everything> run_part(searches::program const* p, int value);

eff<int, everything> attempt(searches::program const* p, int value) {
  int caught = 0;
  try {
    co_return co_await run_part(p, value);
  } catch (thrown const& t) {
    caught = t.value;
  }
  co_return mix(caught, 1);
}
eff<int, everything> with_its_own(searches::program const* p, int value) {
  co_return co_await handle(state_of(value), run_part(p, value));
}
eff<int, everything> repeat(searches::statement const* s, int value) {
  for (int i = 0; i != s->n; ++i) {
    int const came_of_it = co_await run_part(&s->part, value);
    value = mix(value, came_of_it);
  }
  co_return value;
}

/// Performs any statement except those that may end the part or that refer to the value.
eff<int, everything> perform(searches::statement const* s, int value) {
  switch (s->what) {
    case does::pick:
      co_return co_await search::pick{s->n};
    case does::pick_wide:
      co_return co_await pick_wide(s->n);
    case does::pick_deep:
      co_return co_await pick_deep(s->n, s->n);
    case does::get:
      co_return co_await state<int>::get{};
    case does::ask:
      co_return co_await ask::get{};
    case does::attempt:
      co_return co_await attempt(&s->part, value);
    case does::own:
      co_return co_await with_its_own(&s->part, value);
    default:
      co_return co_await run_part(&s->part, value);
  }
}
eff<int, everything> run_part(searches::program const* p, int value) {
  for (searches::statement const& s : *p) {
    bool const divides = value % s.n == 0;
    if (s.what == does::fail) {
      if (divides) co_await search::fail{};
    } else if (s.what == does::raise) {
      if (divides) throw thrown{value};
    } else if (s.what == does::end) {
      if (divides) co_return value;
    } else if (s.what == does::put) {
      co_await state<int>::put{value};
    } else if (s.what == does::pick_into) {
      co_await pick_into(&value, s.n);
    } else if (s.what == does::repeat) {
      value = co_await repeat(&s, value);
    } else {
      int const answer = co_await perform(&s, value);
      value = mix(value, answer);
    }
  }
  co_return value;
}
eff<int, everything> result_and_variable(searches::program const* p) {
  int const result = co_await run_part(p, 0);
  int const variable = co_await state<int>::get{};
  co_return mix(result, variable);
}
eff<int, search, ask> whole(searches::program const* p) {
  co_return co_await handle(state_of(0), result_and_variable(p));
}

// ---- handlers

struct counts {
  int* times;
  int on(ask::get) const { return ++*times; }
};

/// Records the endings of a search, for every handler.
class notes {
 public:
  void on(search::fail, resumption<never, void>) { endings.push_back({ending::kind::failed}); }
  void on_return(int value) { endings.push_back({ending::kind::result, value}); }
  /// Calls f, and records an exception of the search.
  template <class F>
  void note(F f) {
    try {
      f();
    } catch (thrown const& t) {
      endings.push_back({ending::kind::thrown, t.value});
    }
  }

  std::vector<ending> endings;
};

/// Resumes at once, one answer after the other: depth first.
class at_once : public notes, public handler<search> {
 public:
  explicit at_once(unsigned seed) : tactics_(seed) {}
  using notes::on;
  eff<void> on(search::pick p, multi_resumption<int, void> k) {
    std::vector<int> const answers = tactics_.answers(p.n);
    for (std::size_t i = 0; i != answers.size(); ++i) {
      bool const says_last = i + 1 == answers.size() && answers[i] != 0;  // not always
      try {
        if (says_last)
          co_await std::move(k)(answers[i]);
        else
          co_await k(answers[i]);
      } catch (thrown const& t) {
        endings.push_back({ending::kind::thrown, t.value});
      }
    }
  }

 private:
  searches::tactics tactics_;
};

/// Keeps the resumptions of several searches, and resumes them later from ordinary code.
class later : public notes, public region, public handler<search> {
 public:
  explicit later(unsigned seed) : waiting(seed), tactics_(seed) {}
  using notes::on;
  void on(search::pick p, multi_resumption<int, void> k) {
    waiting.add(std::move(k), tactics_.answers(p.n));
  }
  searches::agenda<multi_resumption<int, void>> waiting;

 private:
  searches::tactics tactics_;
};

/// Runs a search from its beginning as far as its handler resumes it.
template <class Policy, class Handler>
void start(searches::program const& p, Handler& h, int& asked) {
  auto const body = [program = &p] { return whole(program); };
  h.note([&] { run(handle<ask>(counts{&asked}, handle(h, body, Policy()))); });
}

/// Counts the endings; a test in which one kind did not occur has shown nothing.
class tally {
 public:
  void add(std::vector<ending> const& all) {
    for (ending const& e : all) ++times_.at(static_cast<std::size_t>(e.is));
  }
  void check_all_occurred() const {
    for (int const n : times_) CHECK(n > 100);
  }

 private:
  std::array<int, 3> times_{};
};

}  // namespace

TEMPLATE_TEST_CASE("a search that is resumed at once ends like a model that copies", "", replay,
                   bitwise) {
  seeds const tried(300);
  tally happened;
  tried.for_each([&happened](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    auto const program = searches::a_program(random, 3);

    searches::tactics what_to_do(seed);
    searches::model expected([&what_to_do](int n, searches::model::rest const& k) {
      for (int const answer : what_to_do.answers(n)) k(answer);
    });
    expected.run(program);

    every_frame_dies const check;
    at_once h(seed);
    int asked = 0;
    start<TestType>(program, h, asked);
    CHECK(h.endings == expected.endings);
    CHECK(asked == expected.asked);
    happened.add(h.endings);
  });
  if (!tried.only_some()) happened.check_all_occurred();
}

TEMPLATE_TEST_CASE("searches that are resumed later, in any order, end like a model that copies",
                   "", replay, bitwise) {
  seeds const tried(300);
  tally happened;
  tried.for_each([&happened](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    std::vector<searches::program> programs;
    for (unsigned left = 1 + random(3); left != 0; --left)
      programs.push_back(searches::a_program(random, 3));
    int const steps = random(4) == 0 ? 10 : 1000;  // sometimes leaves resumptions that wait

    searches::tactics what_to_do(seed);
    searches::agenda<searches::model::rest> waiting(seed);
    searches::model expected(
        [&](int n, searches::model::rest k) { waiting.add(std::move(k), what_to_do.answers(n)); });
    for (auto const& p : programs) expected.run(p);
    waiting.work_off(steps, [](auto const& k, int answer) { k(answer); });

    every_frame_dies const check;
    later h(seed);
    int asked = 0;
    for (auto const& p : programs) start<TestType>(p, h, asked);
    h.waiting.work_off(steps,
                       [&h](auto k, int answer) { h.note([&] { resume(std::move(k), answer); }); });
    CHECK(h.endings == expected.endings);
    CHECK(asked == expected.asked);
    happened.add(h.endings);
  });
  if (!tried.only_some()) happened.check_all_occurred();
}
