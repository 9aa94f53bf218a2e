// SPDX-License-Identifier: MIT
#include "weft/testing/googletest.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using namespace weft;

// A program of GoogleTest, with a main of its own: the tests beside it are of Catch2.

namespace {

using process = eff<void, proc>;
using parent = eff<void, spawning<proc>>;

int zero() { return 0; }
bool always(int const&) { return true; }

process increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
process adds(int& n) {
  ++n;
  co_return;
}
process expects_two(int& n) {
  co_await increment(n);
  EXPECT_EQ(n, 2) << "after an increment";
}
void asserts_two(int n) {
  ASSERT_EQ(n, 2);
  ADD_FAILURE() << "is reached only with 2";
}
process asserts_in_a_call(int& n) {
  co_await increment(n);
  asserts_two(n);
}
process throws_after_expecting(int&) {
  EXPECT_TRUE(false) << "first";
  EXPECT_TRUE(false) << "second";
  throw std::runtime_error("third");
  co_return;
}
void skips() { GTEST_SKIP() << "not today"; }
process skips_in_a_call(int&) {
  skips();
  co_return;
}
process expects_in_a_scope(int& n) {
  {
    SCOPED_TRACE("the outer step");
    EXPECT_EQ(n, 7);
  }
  co_await proc::yield{};
}
template <process (*F)(int&)>
parent two_of(int& n) {
  co_await spawn(F, std::ref(n));
  co_await spawn(F, std::ref(n));
}

/// The results that GoogleTest would have reported while `f` runs.
template <class F>
std::vector<testing::TestPartResult> reported_by(F f) {
  testing::TestPartResultArray all;
  {
    testing::ScopedFakeTestPartResultReporter const here(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &all);
    f();
  }
  std::vector<testing::TestPartResult> list;
  for (int i = 0; i != all.size(); ++i) list.push_back(all.GetTestPartResult(i));
  return list;
}
bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST(check_every_schedule, passes_and_reports_nothing_if_all_schedules_are_right) {
  exploration found;
  auto const all = reported_by([&found] {
    found = check_every_schedule(zero, two_of<adds>, [](int& n) {
      SUCCEED();
      EXPECT_EQ(n, 2);
    });
  });
  EXPECT_TRUE(found.ok());
  EXPECT_EQ(found.schedules, 2u);
  EXPECT_TRUE(all.empty());
}

TEST(check_every_schedule, has_the_text_of_an_expectation_of_a_process) {
  auto const all = reported_by([] { check_every_schedule(zero, two_of<expects_two>, always); });
  ASSERT_EQ(all.size(), 1u);
  auto const& one = all.front();
  EXPECT_TRUE(one.nonfatally_failed());
  EXPECT_TRUE(has(one.file_name(), "googletest_test.cpp"));
  std::string_view const text = one.message();
  EXPECT_TRUE(has(text, "check_every_schedule: "));
  EXPECT_TRUE(has(text, "the first failure: an assertion at "));
  EXPECT_TRUE(has(text, "Expected equality of these values:"));
  EXPECT_TRUE(has(text, "Which is: 1"));
  EXPECT_TRUE(has(text, "after an increment"));
  EXPECT_TRUE(has(text, "to see it again:\ncheck_schedule(\""));
}

TEST(check_every_schedule, has_the_text_of_an_assertion_in_a_call_and_in_the_check) {
  auto all = reported_by([] { check_every_schedule(zero, asserts_in_a_call, always); });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(has(all.front().message(), "Which is: 1"));
  EXPECT_FALSE(has(all.front().message(), "is reached only with 2"));
  all = reported_by(
      [] { check_every_schedule(zero, two_of<increment>, [](int& n) { ASSERT_GE(n, 2); }); });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(has(all.front().message(), "Expected: (n) >= (2), actual: 1 vs 2"));
}

TEST(check_every_schedule, reports_the_first_of_several_failures_and_no_exception_after_it) {
  auto const all = reported_by([] { check_every_schedule(zero, throws_after_expecting, always); });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(has(all.front().message(), "first"));
  EXPECT_FALSE(has(all.front().message(), "second"));
  EXPECT_FALSE(has(all.front().message(), "third"));
}

TEST(check_every_schedule, has_the_trace_of_a_failed_expectation) {
  auto const all = reported_by([] { check_every_schedule(zero, expects_in_a_scope, always); });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(has(all.front().message(), "the outer step"));
}

TEST(check_every_schedule, refuses_to_skip_inside) {
  auto const all = reported_by([] { check_every_schedule(zero, skips_in_a_call, always); });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all.front().nonfatally_failed());
  EXPECT_TRUE(has(all.front().message(), "weft: GTEST_SKIP at "));
}

TEST(check_every_schedule, leaves_the_test_untouched_by_what_fails_in_a_schedule) {
  auto const all = reported_by([] {
    check_every_schedule(
        zero, [](int& n) { return increment(n); },
        [](int& n) {
          EXPECT_EQ(n, 2);
          EXPECT_FALSE(testing::Test::HasFailure());
        });
  });
  EXPECT_EQ(all.size(), 1u);
  EXPECT_FALSE(HasFailure());
}

TEST(require_every_schedule, ends_the_test_by_an_exception_that_is_reported_once) {
  bool has_thrown = false;
  auto const all = reported_by([&has_thrown] {
    try {
      require_every_schedule(zero, two_of<increment>, [](int& n) { return n == 2; });
    } catch (testing::AssertionException const&) {
      has_thrown = true;
    }
  });
  EXPECT_TRUE(has_thrown);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all.front().fatally_failed());
}

TEST(check_schedules, is_an_assertion_of_the_running_test) {
  auto const right = reported_by([] {
    exploration const found = check_schedules(zero, increment, [](int& n) { EXPECT_EQ(n, 1); });
    EXPECT_TRUE(found.complete);
  });
  EXPECT_EQ(right.size(), 0u);
  bool has_thrown = false;
  auto const all = reported_by([&has_thrown] {
    check_schedules(zero, two_of<increment>, [](int& n) { EXPECT_EQ(n, 2); });
    try {
      require_schedules(zero, two_of<increment>, [](int& n) { return n == 2; });
    } catch (testing::AssertionException const&) {
      has_thrown = true;
    }
  });
  EXPECT_TRUE(has_thrown);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(
      has(all.front().message(), "check_schedules: failure in a schedule of several threads"));
  EXPECT_TRUE(has(all.front().message(), "Which is: 1"));
}

TEST(check_random_schedules, finds_what_is_wrong_and_its_path_leads_there_again) {
  auto const is_two = [](int& n) { EXPECT_EQ(n, 2); };
  std::string path;
  auto const drawn = reported_by([&] {
    exploration const found = check_random_schedules(zero, two_of<increment>, is_two);
    path = found.first_failure()->path.text();
  });
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_NONFATAL_FAILURE(
      check_schedule(
          exploration(explore([] { return 0; }, two_of<increment>, [](int& n) { return n == 2; }))
              .first_failure()
              ->path.text(),
          [] { return 0; }, two_of<increment>, [](int& n) { EXPECT_EQ(n, 2); }),
      "Which is: 1");
  auto const again = reported_by([&] { check_schedule(path, zero, two_of<increment>, is_two); });
  EXPECT_EQ(again.size(), 1u);
}

TEST(a_search_inside_of_a_search, has_the_failures_of_the_inner_one_only) {
  auto const all = reported_by([] {
    check_every_schedule(zero, increment, [](int& outer) {
      check_every_schedule(zero, increment, [](int& n) { EXPECT_EQ(n, 3); });
      EXPECT_EQ(outer, 1);
    });
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(has(all.front().message(),
                  "check_every_schedule: failure in a schedule of one thread with 0 preemptions\n1 "
                  "schedule, 1 failed"));
  EXPECT_TRUE(has(all.front().message(), "the first failure: an assertion at "));
}

namespace {

/// A framework whose test is running.
class other_framework final : public detail::test_framework {
 public:
  [[nodiscard]] bool is_running() const override { return true; }
  void begin_search() override { ++searches; }
  void end_search() noexcept override {}
  void report(detail::assertion_place const&, bool, std::string const&) override { ++reports; }
  int searches = 0, reports = 0;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // No test of GoogleTest is running, so the other framework has the assertion.
  static other_framework other;
  detail::test_framework::enlist(other);
  check_every_schedule(zero, increment, always);
  if (other.searches != 1 || other.reports != 1) return 2;
  return RUN_ALL_TESTS();
}
