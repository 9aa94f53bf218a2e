// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/test_framework.hpp"

/// Takes the place of GoogleTest's reporter of results while schedules are visited.
namespace weft::detail {

class googletest_framework final : public test_framework {
 public:
  static googletest_framework& instance() {
    static auto& only = *new googletest_framework;
    return only;
  }

  [[nodiscard]] bool is_running() const override {
    return testing::UnitTest::GetInstance()->current_test_info() != nullptr;
  }
  void begin_search() override { reporters_.push_back(std::make_unique<reporter>()); }
  void end_search() noexcept override { reporters_.pop_back(); }
  void report(assertion_place const& at, bool has_passed, std::string const& text) override {
    if (has_passed) return;
    std::string const all = std::string(at.name) + ": " + text;
    auto const line = static_cast<int>(at.where.line());
    if (!at.ends_test) {
      ADD_FAILURE_AT(at.where.file_name(), line) << all;
      return;
    }
    [&] { GTEST_FAIL_AT(at.where.file_name(), line) << all; }();
    // GoogleTest takes this exception for a failure that has been reported.
    throw testing::AssertionException(testing::TestPartResult(
        testing::TestPartResult::kFatalFailure, at.where.file_name(), line, all.c_str()));
  }

 private:
  /// Keeps the results of this thread's assertions as notes (NOTES-1).
  class reporter final : public testing::ScopedFakeTestPartResultReporter {
   public:
    reporter() : ScopedFakeTestPartResultReporter(INTERCEPT_ONLY_CURRENT_THREAD, nullptr) {}
    void ReportTestPartResult(testing::TestPartResult const& r) override {
      auto& notes = assertion_notes::now();
      std::string const where = std::string(r.file_name() ? r.file_name() : "an unknown place") +
                                ':' + std::to_string(r.line_number());
      if (r.skipped())
        (void)notes.on_refused("GTEST_SKIP", where);
      else if (r.failed())
        notes.on_failure("an assertion", where, without_end(r.summary()));
    }

   private:
    static std::string without_end(std::string text) {
      while (text.ends_with('\n')) text.pop_back();
      return text;
    }
  };

  googletest_framework() = default;

  std::vector<std::unique_ptr<reporter>> reporters_;
};

}  // namespace weft::detail
