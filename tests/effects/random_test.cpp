// SPDX-License-Identifier: MIT

/// Programs at random: they install handlers of every kind, perform, park, resume, drop and end
/// regions, from bodies, clauses, destructors and on_return; much of it is wrong.  Whatever they
/// do, each frame and each thing in it dies once, and what cannot be done is refused.
///
/// A seed that fails is printed; how to run it alone is in tests/support/seeds.hpp.

#include <catch2/catch.hpp>

#include "effects/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/support/random_world.hpp"
#include "tests/support/seeds.hpp"

using namespace weft::tests;

/// The sanitizers ask for these.  They abort, so that Catch hears of it and prints the seed; and
/// they keep no native stack for inspection, which with every exception would take most of the
/// time.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() {
  return "abort_on_error=1:detect_stack_use_after_return=0";
}
extern "C" char const* __ubsan_default_options();
extern "C" char const* __ubsan_default_options() { return "abort_on_error=1"; }

namespace {

void run_seed(unsigned seed, tally& happened) {
  CAPTURE(seed);
  every_frame_dies const check;
  {
    world w(seed, happened, start);
    w.live();
  }
  CHECK(thing::births == thing::deaths);
}

}  // namespace

TEST_CASE("whoever parks, resumes, jumps, drops and ends regions, from anywhere: all die once") {
  seeds const tried(3000);
  tally happened;
  tried.for_each([&happened](unsigned seed) { run_seed(seed, happened); });
  if (tried.only_some()) return;

  CHECK(happened.resumed > 0);
  CHECK(happened.awaited > 0);
  CHECK(happened.raised > 0);
  CHECK(happened.jumped > 0);
  CHECK(happened.jumped_elsewhere > 0);
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

// Last: from now on who drops something asks whether somebody holds on to it.
TEST_CASE("the same, where tasks might hold on to what is dropped, but none does") {
  weft::detail::note_pinning();
  tally happened;
  seeds(3000).for_each([&happened](unsigned seed) { run_seed(seed, happened); });
  CHECK(thing::births == thing::deaths);
}
