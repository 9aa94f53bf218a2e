// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/path.hpp"

/// The failures and messages of a test framework's assertions, while schedules are visited.
///
///   NOTES-1  No assertion is passed on to the framework.  The first one that fails in a run is
///       kept, as text.
///   NOTES-2  A message belongs to the process that runs when it comes into scope, or to the part
///       of the run outside of all processes.  It is reported with a failed assertion of that
///       process, or of that part.
namespace weft::detail {

/// The call, in C++, that runs a schedule.  A long path is split into several string literals,
/// since frameworks break lines anywhere.
[[nodiscard]] std::string schedule_recipe(schedule_path const& p);

/// The notes of the current run.
struct assertion_notes {
  struct message {
    unsigned id;  // given by the framework
    std::string text;
    std::optional<process_id> whose;
    bool is_scoped;  // false: the message is dropped after the next assertion
  };

  /// Notes a failed assertion.  `what` is its text, `where` its place, `how` the reason or empty.
  void on_failure(std::string const& what, std::string const& where, std::string const& how);
  /// Drops the messages that are not scoped.  Called after each assertion, passed or failed.
  void forget_unscoped();
  /// Makes the run fail, because of a macro, such as SECTION, that would choose anew in each run.
  /// Returns the text of the failure.
  std::string on_refused(std::string const& what, std::string const& where);

  std::optional<std::string> failure;
  std::vector<message> messages;
  std::optional<process_id> running;
  bool last_has_passed = true;
  /// Returns the schedule so far, for the report if the program dies; null outside of runs.
  schedule_path (*path_so_far)(void const* of) = nullptr;
  void const* of = nullptr;

  /// The notes of the search that is under way; never destroyed.  One thread at a time searches.
  [[nodiscard]] static assertion_notes& now();
};

/// The name of an assertion, whether the test ends if it fails, and the place of the call.
struct assertion_place {
  std::string_view name;
  bool ends_test;
  std::source_location where;
};

}  // namespace weft::detail
