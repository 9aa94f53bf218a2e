// SPDX-License-Identifier: MIT

/// Programs at random: they install handlers of every kind, perform, park, resume, drop and end
/// regions, from bodies, clauses, destructors and on_return; much of it is wrong.  Whatever they
/// do, each frame and each thing in it dies once, and what cannot be done is refused.
///
/// A seed that fails is printed.  WEFT_SEED=123 in the environment runs that one alone, and with
/// WEFT_SEEDS=1000 as many from there on (bazel: --test_env=WEFT_SEED=123).

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tests/support/frames.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/support/random_world.hpp"

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

/// A number from the environment.
unsigned setting(char const* name, unsigned otherwise) {
  char const* const given = std::getenv(name);
  return given ? static_cast<unsigned>(std::stoul(given)) : otherwise;
}

}  // namespace

TEST_CASE("whoever parks, resumes, jumps, drops and ends regions, from anywhere: all die once") {
  constexpr unsigned usual = 3000;
  bool const only_some = std::getenv("WEFT_SEED") != nullptr;
  unsigned const first = setting("WEFT_SEED", 0);
  unsigned const seeds = setting("WEFT_SEEDS", only_some ? 1 : usual);
  tally happened;
  for (unsigned i = 0; i != seeds; ++i) run_seed(first + i, happened);
  if (only_some) return;

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
