// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/assertion_subject.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/test_framework.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/explore.hpp"
#include "weft/testing/path.hpp"
#include "weft/testing/random_walk.hpp"

/// Schedules as assertions of a test framework.  A test includes the header of its framework:
/// catch2.hpp (Catch2 2), catch2_v3.hpp or googletest.hpp.  That header includes this one, and
/// check_schedules, the call to begin with, and says what differs.
///
///     check_every_schedule([] { return 0; }, two_increments, [](int& n) { CHECK(n == 2); });
///
/// Each of the types below is used like a function, and is one assertion, at the place of the call,
/// however many schedules it visits.  It passes, or fails with a report, which has the schedule
/// step by step and a line that runs it again.  If a `require_` form fails, it ends the test.  The
/// object that is constructed is the result: an `exploration`.
///
/// The program, the check, the handlers and make_state may contain assertions of the framework.
/// The first one that fails in a schedule makes the schedule fail, with the assertion as its text.
/// The schedule fails even if the program goes on, or catches what the assertion throws.  Nothing
/// else of these assertions is reported or counted.
///
///   * An assertion's text that contains an address differs in each run, which the report calls
///     nondeterminism.
///   * No thread safety is needed: schedules are visited on the calling thread, whatever `.threads`
///     says.  Only one thread at a time may search.
///   * A program may have tests of several frameworks: the one whose test is running is used.
///
/// The constructors throw what explore, random_walk and follow throw.
namespace weft {

namespace detail {

inline exploration visited(explore_options o, subject& s) {
  o.threads = 1;
  return explore(o, s);
}
inline exploration visited(random_walk_options const& o, subject& s) { return random_walk(o, s); }
inline exploration visited(schedule_path const& p, subject& s) { return follow(p, s); }

/// Why a search proves too little, whatever its verdicts: no schedule was run to its end, or some
/// were cut although no max_steps was chosen.  Empty if there is no such reason.
template <class How>
std::string objection_to(How const& how, exploration const& found) {
  if (found.schedules == found.cut) return "no schedule was run to its end\n";
  if constexpr (std::is_same_v<How, explore_options>)
    if (found.cut != 0 && how.max_steps == explore_options().max_steps)
      return "not every schedule was run to its end: choose a max_steps if that will do\n";
  return {};
}

/// Reports the search as an assertion, and returns its result.
exploration reported(test_framework& framework, assertion_place const& at, exploration found,
                     std::string const& objection);

/// Runs a search, as one assertion.
template <class How>
exploration assert_search(assertion_place const& at, How const& how, subject& s) {
  auto& framework = test_framework::current();
  exploration found = [&] {
    watched_subject watched(s);
    kept_assertions const here(framework);
    return visited(how, watched);
  }();
  auto const objection = objection_to(how, found);
  return reported(framework, at, std::move(found), objection);
}
template <class How, class... Subject>
exploration assert_schedules(assertion_place const& at, How const& how, Subject&... s) {
  return with_subject([&](subject& runs) { return assert_search(at, how, runs); }, s...);
}

}  // namespace detail

// These are classes with constructors, where one expects functions: after a pack of handlers, a
// function template cannot have a parameter with a default argument, such as the place of its call.
// A constructor can, since a deduction guide says what the pack is.

/// Visits every schedule, as explore does.  Fails if a schedule fails or deadlocks; if anything
/// leaks; if a schedule goes another way when it is run again; if schedules are cut although no
/// `max_steps` was chosen; or if all are cut.  Costs what explore() does; allocates what it does;
/// throws what it does.
///
/// Code between two operations is one step: a plain ++n never fails here; ThreadSanitizer finds
/// data races.  By default schedules are those of one thread; `{.granularity =
/// granularity::parallel}` has those of several.
template <class... Args>
struct check_every_schedule : exploration {
  explicit check_every_schedule(explore_options const& options, Args... args,
                                std::source_location where = std::source_location::current())
      : exploration(
            detail::assert_schedules({"check_every_schedule", false, where}, options, args...)) {}
  explicit check_every_schedule(Args... args,
                                std::source_location where = std::source_location::current())
      : check_every_schedule(explore_options(), std::move(args)..., where) {}
};
template <class... Args>
check_every_schedule(Args...) -> check_every_schedule<Args...>;
template <class... Args>
check_every_schedule(explore_options, Args...) -> check_every_schedule<Args...>;

/// Visits every schedule, as check_every_schedule does; if the assertion fails, the test ends.
/// Costs what explore() does; allocates what explore() does.  Throws what explore() does; if the
/// assertion fails, the exception that ends a test of the framework.
template <class... Args>
struct require_every_schedule : exploration {
  explicit require_every_schedule(explore_options const& options, Args... args,
                                  std::source_location where = std::source_location::current())
      : exploration(
            detail::assert_schedules({"require_every_schedule", true, where}, options, args...)) {}
  explicit require_every_schedule(Args... args,
                                  std::source_location where = std::source_location::current())
      : require_every_schedule(explore_options(), std::move(args)..., where) {}
};
template <class... Args>
require_every_schedule(Args...) -> require_every_schedule<Args...>;
template <class... Args>
require_every_schedule(explore_options, Args...) -> require_every_schedule<Args...>;

/// Visits some schedules, as random_walk draws them.  Fails as check_every_schedule does, but
/// schedules may be cut, as long as at least one is not.  Costs what random_walk() does; allocates
/// what it does; throws what it does.
template <class... Args>
struct check_random_schedules : exploration {
  explicit check_random_schedules(random_walk_options const& options, Args... args,
                                  std::source_location where = std::source_location::current())
      : exploration(
            detail::assert_schedules({"check_random_schedules", false, where}, options, args...)) {}
  explicit check_random_schedules(Args... args,
                                  std::source_location where = std::source_location::current())
      : check_random_schedules(random_walk_options(), std::move(args)..., where) {}
};
template <class... Args>
check_random_schedules(Args...) -> check_random_schedules<Args...>;
template <class... Args>
check_random_schedules(random_walk_options, Args...) -> check_random_schedules<Args...>;

/// Visits some schedules, as check_random_schedules does; if the assertion fails, the test ends.
/// Costs what random_walk() does; allocates what random_walk() does.  Throws what random_walk()
/// does; if the assertion fails, the exception that ends a test of the framework.
template <class... Args>
struct require_random_schedules : exploration {
  explicit require_random_schedules(random_walk_options const& options, Args... args,
                                    std::source_location where = std::source_location::current())
      : exploration(detail::assert_schedules({"require_random_schedules", true, where}, options,
                                             args...)) {}
  explicit require_random_schedules(Args... args,
                                    std::source_location where = std::source_location::current())
      : require_random_schedules(random_walk_options(), std::move(args)..., where) {}
};
template <class... Args>
require_random_schedules(Args...) -> require_random_schedules<Args...>;
template <class... Args>
require_random_schedules(random_walk_options, Args...) -> require_random_schedules<Args...>;

/// Runs the one schedule that is written in `path`, as follow does; the path is one from a report.
/// Also fails if the path does not fit the program: once a program is changed, it may have other
/// paths.  Costs what follow() does; allocates what it does; throws what it does.
template <class... Args>
struct check_schedule : exploration {
  explicit check_schedule(std::string_view path, Args... args,
                          std::source_location where = std::source_location::current())
      : exploration(detail::assert_schedules({"check_schedule", false, where}, schedule_path(path),
                                             args...)) {}
};
template <class... Args>
check_schedule(std::string_view, Args...) -> check_schedule<Args...>;

/// Runs the one schedule of `path`, as check_schedule does; if the assertion fails, the test ends.
/// Costs what follow() does; allocates what follow() does.  Throws what follow() does; if the
/// assertion fails, the exception that ends a test of the framework.
template <class... Args>
struct require_schedule : exploration {
  explicit require_schedule(std::string_view path, Args... args,
                            std::source_location where = std::source_location::current())
      : exploration(detail::assert_schedules({"require_schedule", true, where}, schedule_path(path),
                                             args...)) {}
};
template <class... Args>
require_schedule(std::string_view, Args...) -> require_schedule<Args...>;

}  // namespace weft
