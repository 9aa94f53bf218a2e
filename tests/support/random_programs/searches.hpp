// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "tests/support/effects.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/searches_model.hpp"
#include "weft/effects/effects.hpp"

/// Random searches in weft, and a handler that resumes them at once.
namespace weft::tests::searches {

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

inline eff<int, search> pick_wide(int n) {
  std::array<int, 500> much{};  // larger than any block of the pool
  for (int i = 0; i != 500; ++i) much[static_cast<std::size_t>(i)] = n + i;
  int const picked = co_await search::pick{n};
  for (int i = 0; i != 500; ++i)
    if (much[static_cast<std::size_t>(i)] != n + i) co_return -1;
  co_return picked;
}
inline eff<void, search> pick_into(int* where, int n) {
  int const picked = co_await search::pick{n};
  *where = mix(*where, picked);
}
inline eff<int, search> pick_deep(int level, int n) {
  if (level == 0) co_return co_await search::pick{n};
  int const picked = co_await pick_deep(level - 1, n);
  co_return mix(level, picked);
}

using everything = row<search, state<int>, ask>;
inline eff<int, everything> run_part(block const* p, int value);

inline eff<int, everything> attempt(block const* p, int value) {
  int caught = 0;
  try {
    co_return co_await run_part(p, value);
  } catch (thrown const& t) {
    caught = t.value;
  }
  co_return mix(caught, 1);
}
inline eff<int, everything> with_its_own(block const* p, int value) {
  co_return co_await handle(state_of(value), run_part(p, value));
}
inline eff<int, everything> repeat(statement const* s, int value) {
  for (int i = 0; i != number(*s); ++i) {
    int const came_of_it = co_await run_part(&s->parts[0], value);
    value = mix(value, came_of_it);
  }
  co_return value;
}

/// Performs any statement except those that may end the part or that refer to the value.
inline eff<int, everything> perform(statement const* s, int value) {
  switch (s->what) {
    case act::picks:
      co_return co_await search::pick{number(*s)};
    case act::picks_wide:
      co_return co_await pick_wide(number(*s));
    case act::picks_deep:
      co_return co_await pick_deep(number(*s), number(*s));
    case act::reads_own:
      co_return co_await state<int>::get{};
    case act::asks:
      co_return co_await ask::get{};
    case act::attempts:
      co_return co_await attempt(&s->parts[0], value);
    case act::declares:
      co_return co_await with_its_own(&s->parts[0], value);
    default:
      co_return co_await run_part(&s->parts[0], value);
  }
}
inline eff<int, everything> run_part(block const* p, int value) {
  for (statement const& s : *p) {
    bool const divides = value % number(s) == 0;
    if (s.what == act::fails) {
      if (divides) co_await search::fail{};
    } else if (s.what == act::throws) {
      if (divides) throw thrown{value};
    } else if (s.what == act::ends_part) {
      if (divides) co_return value;
    } else if (s.what == act::writes_own) {
      co_await state<int>::put{value};
    } else if (s.what == act::picks_into) {
      co_await pick_into(&value, number(s));
    } else if (s.what == act::repeats) {
      value = co_await repeat(&s, value);
    } else {
      int const answer = co_await perform(&s, value);
      value = mix(value, answer);
    }
  }
  co_return value;
}
inline eff<int, everything> result_and_variable(block const* p) {
  int const result = co_await run_part(p, 0);
  int const variable = co_await state<int>::get{};
  co_return mix(result, variable);
}
inline eff<int, search, ask> whole(block const* p) {
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
  tactics tactics_;
};

/// Runs a search from its beginning as far as its handler resumes it.
template <class Policy, class Handler>
void start(block const& p, Handler& h, int& asked) {
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

}  // namespace weft::tests::searches
