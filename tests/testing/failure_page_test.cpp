// SPDX-License-Identifier: MIT
#include <filesystem>

#include "tests/prelude.hpp"

/// Pages of failing schedules: `.page` of explore, random_walk and follow.

eff<void, proc> adds_one(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> two_add(int& n) {
  co_await spawn(adds_one, std::ref(n));
  co_await spawn(adds_one, std::ref(n));
}
int zero() { return 0; }
bool is_two(int const& n) { return n == 2; }

/// A file for a page, which does not exist, and is removed at the end.
class page_file {
 public:
  explicit page_file(char const* name)
      : name_((std::filesystem::temp_directory_path() / name).string()) {
    std::filesystem::remove(name_);
  }
  page_file(page_file const&) = delete;
  page_file& operator=(page_file const&) = delete;
  ~page_file() { std::filesystem::remove(name_); }
  [[nodiscard]] std::string const& name() const { return name_; }
  [[nodiscard]] bool exists() const { return std::filesystem::exists(name_); }
  [[nodiscard]] std::string text() const {
    std::ifstream from(name_);
    return {std::istreambuf_iterator<char>(from), {}};
  }

 private:
  std::string name_;
};

TEST_CASE("explore writes a page of the first failure, and its report names the page") {
  page_file const file("weft_explore_page.html");
  auto const found = explore({.page = file.name()}, zero, two_add, is_two);
  CHECK_FALSE(found.ok());
  CHECK(found.page == file.name());
  CHECK(found.report().find("page: " + file.name() + '\n') != std::string::npos);
  std::string const page = file.text();
  CHECK(page.find("schedule, failed") != page.npos);
  auto const& o = *found.first_failure();
  for (auto const& step : o.trace) {
    INFO(step.text());
    CHECK(page.find(step.text()) != page.npos);
  }
  for (auto const& each : found.outcomes) CHECK(page.find(each.path.text()) != page.npos);
}

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("a page of a failure that was shrunk has both schedules") {
  page_file const file("weft_walk_page.html");
  // A seed whose first failure is not the smallest.
  for (std::uint64_t seed = 1; seed != 100; ++seed) {
    auto const found = random_walk(
        {.seed = seed, .by = walk_strategy::uniform, .page = file.name()}, zero, two_add, is_two);
    REQUIRE_FALSE(found.ok());
    auto const& o = *found.first_failure();
    std::string const page = file.text();
    CHECK(count(page, "\"title\"") == (o.path == o.found ? 1 : 2));
    if (o.path == o.found) continue;
    CHECK(page.find("the smallest schedule") != page.npos);
    CHECK(page.find("the schedule as it was found") != page.npos);
    return;
  }
  FAIL("each first failure is the smallest one");
}

bool is_any(int const&) { return true; }

TEST_CASE("follow writes a page of the schedule, whatever its end") {
  page_file const file("weft_follow_page.html");
  auto const found = explore(zero, two_add, is_two);
  auto const path = found.outcomes.front().path.text();
  auto const again = follow({.path = path, .page = file.name()}, zero, two_add, is_any);
  CHECK(again.ok());
  CHECK(again.page == file.name());
  CHECK(file.text().find("the schedule, right") != std::string::npos);
}

TEST_CASE("without a failure no page is written") {
  page_file const file("weft_no_page.html");
  auto const found = explore({.page = file.name()}, zero, two_add, is_any);
  CHECK(found.ok());
  CHECK(found.page.empty());
  CHECK_FALSE(file.exists());
}

TEST_CASE("a page that cannot be written is an exception") {
  CHECK_THROWS_AS(explore({.page = "/nowhere/page.html"}, zero, two_add, is_two),
                  std::runtime_error);
}
