// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/exploration.hpp"

namespace weft {

/// How long check_schedules searches, and how.
struct check_options {
  /// How long the search takes, without the shrinking of a failure.  If several threads have found
  /// a failure that does not occur on one thread, one thread searches again, for the same time.
  std::chrono::nanoseconds time = std::chrono::seconds(5);
  std::size_t max_steps = 10'000;  ///< A schedule with more steps is cut.
  std::uint64_t seed = 1;          ///< Determines the random schedules.
  /// How many threads visit schedules; 0: one for each processor if the functions capture nothing,
  /// else one.  The objects that the functions refer to must be safe for so many threads.
  unsigned threads = 0;
  std::size_t max_shrinking_runs = 10'000;                ///< Most runs to shrink a failure.
  weft::progress progress = weft::progress::on_terminal;  ///< Whether progress is reported.
  std::string_view page{};                                ///< The file of a failure's page: *.html.
};

namespace detail {

/// Searches for a failure.  `may_share`: whether the program may run on several threads at once.
/// If a test of a framework is running, the search is an assertion of that test.
[[nodiscard]] exploration check_schedules(check_options const& options, subject& program,
                                          bool may_share, assertion_place const& at);
template <class... Fs>
constexpr bool capture_nothing =
    ((std::is_empty_v<Fs> || std::is_function_v<std::remove_pointer_t<Fs>>) && ...);
template <class... Args>
exploration check_schedules(check_options const& options, assertion_place const& at,
                            Args&... args) {
  return with_subject(
      [&](subject& s) { return check_schedules(options, s, capture_nothing<Args...>, at); },
      args...);
}

}  // namespace detail

/// Looks for a failure in the schedules of a program on several threads: the call to begin with.
///
///     auto const found = check_schedules([] { return 0; },
///                                        [](int& n) { return two_increments(n); },
///                                        [](int& n) { return n == 2; });
///     std::cout << found.report();
///
/// The call takes the arguments of explore, and is used like a function; the object is the result,
/// an exploration.  In a test of Catch2 or GoogleTest that includes its header (catch2.hpp,
/// catch2_v3.hpp, googletest.hpp), the call is an assertion as well: it fails if the search finds a
/// failure, a deadlock, a livelock, a leak or nondeterminism, or if no schedule was run to its end.
///
/// Stops at the first failure, when all schedules were visited, or after `.time`.  A schedule costs
/// O(steps * processes); allocates the outcomes, and for each thread the notes of one search.
/// Threads: see check_options::threads; an assertion uses one.  Throws std::bad_alloc if the search
/// has no memory for its notes; std::runtime_error if the page cannot be written.  (Stages:
/// docs/decisions/041-one-call.md; random schedules: Burckhardt, Kothari, Musuvathi, Nagarakatte,
/// ASPLOS 2010; bounds: Musuvathi, Qadeer, PLDI 2007.)
template <class... Args>
struct check_schedules : exploration {
  explicit check_schedules(check_options const& options, Args... args,
                           std::source_location where = std::source_location::current())
      : exploration(detail::check_schedules(options, {"check_schedules", false, where}, args...)) {}
  explicit check_schedules(Args... args,
                           std::source_location where = std::source_location::current())
      : check_schedules(check_options(), std::move(args)..., where) {}
};
template <class... Args>
check_schedules(Args...) -> check_schedules<Args...>;
template <class... Args>
check_schedules(check_options, Args...) -> check_schedules<Args...>;

/// Searches as check_schedules does, in a test of Catch2 or GoogleTest; if the assertion fails, the
/// test ends.  Costs what check_schedules does; allocates what check_schedules does.  Throws what
/// check_schedules does; if the assertion fails, the exception that ends a test of the framework;
/// std::logic_error if no framework is known.
template <class... Args>
struct require_schedules : exploration {
  explicit require_schedules(check_options const& options, Args... args,
                             std::source_location where = std::source_location::current())
      : exploration(detail::check_schedules(options, {"require_schedules", true, where}, args...)) {
  }
  explicit require_schedules(Args... args,
                             std::source_location where = std::source_location::current())
      : require_schedules(check_options(), std::move(args)..., where) {}
};
template <class... Args>
require_schedules(Args...) -> require_schedules<Args...>;
template <class... Args>
require_schedules(check_options, Args...) -> require_schedules<Args...>;

}  // namespace weft
