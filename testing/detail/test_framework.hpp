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

  /// Whether a test of this framework is running.
  [[nodiscard]] virtual bool is_running() const = 0;
  /// Keeps assertions as notes (NOTES-1) until end_search() was called as often as begin_search().
  virtual void begin_search() = 0;
  virtual void end_search() noexcept = 0;
  /// Reports a search as an assertion.  Throws if the search has failed and at.ends_test is true.
  virtual void report(assertion_place const& at, bool has_passed, std::string const& text) = 0;

  /// The framework that runs a test now; null if none does.
  [[nodiscard]] static test_framework* running();
  /// The framework that runs a test now; else the one that was registered first.  Throws
  /// std::logic_error if none is registered.
  [[nodiscard]] static test_framework& current();
  /// Registers a framework.  Called before main, by the header of the framework; more than once if
  /// several modules include it.
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
