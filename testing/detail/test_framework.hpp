// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "weft/testing/detail/assertion_notes.hpp"

namespace weft::detail {

/// A framework whose assertions are kept as notes while schedules are visited.  Each framework has
/// one object, which is never destroyed, and which its header registers.
class test_framework {
 public:
  test_framework() = default;
  test_framework(test_framework const&) = delete;
  test_framework& operator=(test_framework const&) = delete;

  /// Whether one of its tests is running.
  [[nodiscard]] virtual bool is_running() const = 0;
  /// From here on assertions are kept as notes (NOTES-1), until as many calls of end_search.
  virtual void begin_search() = 0;
  virtual void end_search() noexcept = 0;
  /// Reports the assertion that a search is.  If it has failed and is to end the test, throws.
  virtual void report(assertion_place const& at, bool has_passed, std::string const& text) = 0;

  /// The one whose test is running; null if none is.
  [[nodiscard]] static test_framework* running();
  /// The one whose test is running; else the one that was registered first.  Throws
  /// std::logic_error if there is none.
  [[nodiscard]] static test_framework& current();
  /// Called before main, by the header of a framework; more than once if several modules have it.
  static bool enlist(test_framework& f);

 protected:
  ~test_framework() = default;
};

/// Keeps assertions as notes while this object lives.  May be nested.
class kept_assertions {
 public:
  explicit kept_assertions(test_framework& f);
  kept_assertions(kept_assertions const&) = delete;
  kept_assertions& operator=(kept_assertions const&) = delete;
  ~kept_assertions();

 private:
  test_framework& framework_;
  assertion_notes outer_;
};

}  // namespace weft::detail
