// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/frames.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/effekt_model.hpp"
#include "tests/support/random_programs/program.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// Programs of Effekt that are data, under weft.
namespace weft::tests::effekt {

/// The forks that a process may execute.
inline int forks_of(block const& b) {
  int n = 0;
  for (statement const& s : b) {
    int of_parts = 0;
    for (block const& part : s.parts) {
      int const more = forks_of(part);
      of_parts = s.what == act::forks_into ? std::max(of_parts, more) : of_parts + more;
    }
    n += s.what == act::repeats ? s.n * of_parts : of_parts;
    n += s.what == act::forks_into || s.what == act::prints_which;
  }
  return n;
}
/// Small programs, in which a process forks at most 6 times.
inline dialect dialect_of_effekt() {
  using enum act;
  dialect d;
  d.themes = {{prints,         prints,         prints,       yields,     yields,
               yields,         sets_variable,  adds,         adds,       copies_variable,
               shows_variable, shows_variable, prints_which, exits,      fails,
               calls,          calls,          declares,     repeats,    attempts_else,
               attempts_else,  forks_into,     forks_into,   forks_into, forks_into}};
  d.acts = 12;
  d.part = 5;
  d.depth = 4;
  d.size = 40;
  d.accepts = [](program_of_acts const& p) { return forks_of(p.all[0].acts) <= 6; };
  return d;
}

struct own;        // the label of a variable that each process has for itself
struct failed {};  // the failure that `fails` performs
using own_state = tagged<own, state<int>>;
using walking = eff<void, proc, console, state<int>, own_state, failure<failed>>;

inline eff<int, state<int>, own_state> read(variable v, int const& local) {
  if (v == variable::outside) co_return co_await state<int>::get{};
  if (v == variable::handled) co_return co_await in<own>(state<int>::get{});
  co_return local;
}
inline eff<void, state<int>, own_state> write(variable v, int n, int& local) {
  if (v == variable::outside)
    co_await state<int>::put{n};
  else if (v == variable::handled)
    co_await in<own>(state<int>::put{n});
  else
    local = n;
}

inline walking walk(block const& b, int& local);
inline walking does_with_variable(statement const& s, int& local) {
  variable const v = variable_of(s.n);
  int n = operand_of(s.n);
  if (s.what != act::sets_variable) {
    int const seen = co_await read(s.what == act::copies_variable ? variable_of(n) : v, local);
    n = s.what == act::adds ? seen + n : seen;
  }
  if (s.what == act::shows_variable)
    co_await console::print_line{std::to_string(n)};
  else
    co_await write(v, n, local);
}
inline walking does(statement const& s, int& local) {
  switch (s.what) {
    case act::prints:
      co_await console::print_line{label(s.n)};
      break;
    case act::yields:
      co_await proc::yield{};
      break;
    case act::exits:
      co_await proc::exit{};
      break;
    case act::forks_into: {
      auto const first = [&] { return walk(s.parts[0], local); };
      auto const second = [&] { return walk(s.parts[1], local); };
      co_await fork(first, second);
      break;
    }
    case act::prints_which: {
      bool const first = co_await proc::fork{};
      std::string const text = first ? label(s.n) : other_label(s.n);
      co_await console::print_line{text};
      break;
    }
    case act::repeats:
      for (int i = 0; i != s.n; ++i) co_await walk(s.parts[0], local);
      break;
    case act::calls:
      co_await walk(s.parts[0], local);
      break;
    case act::declares: {
      int mine = 0;
      co_await handle<own_state>(state_of(0), walk(s.parts[0], mine));
      break;
    }
    case act::attempts_else: {
      bool const done =
          co_await handle<failure<failed>>(failure_to_optional<failed>(), walk(s.parts[0], local));
      if (!done) co_await walk(s.parts[1], local);
      break;
    }
    case act::fails:
      co_await failure<failed>::fail{failed()};
      break;
    default:
      co_await does_with_variable(s, local);
  }
}
inline walking walk(block const& b, int& local) {
  for (statement const& s : b) co_await does(s, local);
}
inline eff<void, proc, console, state<int>> whole(block const& program) {
  int local = 0;
  co_await handle<own_state>(
      state_of(0), handle<failure<failed>>(failure_to_optional<failed>(), walk(program, local)));
}

// ---- their output

template <class Program>
output under_weft(Program program) {
  every_frame_dies const check;
  output seen;
  schedule(program, console_to_string(seen.printed), state_in(seen.outside));
  return seen;
}
inline output under_weft(block const& program) {
  return under_weft([&program] { return whole(program); });
}

inline void check_same(output const& seen, output const& expected) {
  CHECK(seen.printed == expected.printed);
  CHECK(seen.outside == expected.outside);
}
/// Checks that a program shows that, by hand, as data, and in the model.
template <class Program>
void all_show(output const& expected, Program by_hand, block const& as_data) {
  check_same(under_weft(by_hand), expected);
  check_same(under_weft(as_data), expected);
  check_same(model::run(as_data), expected);
}

// ---- words of programs by hand

using saying = eff<void, proc, console>;
using saying_with_variable = eff<void, proc, console, state<int>>;

inline saying say(char const* text) { co_await console::print_line{text}; }
inline saying say(int n) { co_await console::print_line{std::to_string(n)}; }

}  // namespace weft::tests::effekt
