// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/handlers_programs.hpp"
#include "tests/support/random_programs/handlers_world.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"

/// Random programs: they install handlers of every kind, perform, park, resume, drop and end
/// regions, from bodies, clauses, destructors and on_return.  Many of these actions are invalid.
/// Each frame and each object in it must be destroyed once, and each invalid action must be
/// refused.
///
/// A seed that fails is printed; tests/support/seeds.hpp explains how to run it alone.

using namespace weft::tests::handlers;

/// The sanitizers read these options.  They abort, so that Catch notices and prints the seed, and
/// they keep no native stack for inspection, which with every exception would take most of the
/// time.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() {
  return "abort_on_error=1:detect_stack_use_after_return=0";
}
extern "C" char const* __ubsan_default_options();
extern "C" char const* __ubsan_default_options() { return "abort_on_error=1"; }

TEST_CASE(
    "a random program that parks, resumes, jumps, drops and ends regions destroys each frame "
    "once") {
  seeds const tried(3000);
  tally happened;
  check_law(tried, dialect_of_choices(),
            [&](program_of_acts const& p, unsigned) { return left_by(p, happened); });
  if (tried.only_some()) return;

  CHECK(happened.resumed > 0);
  CHECK(happened.awaited > 0);
  CHECK(happened.raised > 0);
  CHECK(happened.jumped > 0);
  CHECK(happened.jumped_to_parked > 0);
  CHECK(happened.dropped > 0);
  CHECK(happened.ended_suspended > 0);
  CHECK(happened.ended_inside > 0);
  CHECK(happened.ended_before_clause > 0);
  CHECK(happened.expired > 0);
  CHECK(happened.empty > 0);
  CHECK(happened.needed_control > 0);
  CHECK(happened.no_region > 0);
  CHECK(happened.no_outer > 0);
}

// The last test in this file: from now on each drop checks whether a scope pins the frames.
TEST_CASE("a random program destroys each frame once where tasks might pin frames, but none does") {
  weft::detail::note_pinning();
  tally happened;
  check_law(seeds(3000), dialect_of_choices(),
            [&](program_of_acts const& p, unsigned) { return left_by(p, happened); });
  CHECK(thing::births == thing::deaths);
}
