// SPDX-License-Identifier: MIT
#include "weft/effects/ready/each_range_v3.hpp"

#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/move.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include "tests/prelude.hpp"

/// each() in pipelines of range-v3.

namespace views = ranges::views;

eff<void, emit<int>> up_to(int n, std::string* out) {
  leaves const end(*out, 'x');
  for (int i = 0; i < n; ++i) co_await emit<int>::value{i};
}
bool odd(int n) { return n % 2 == 1; }
int square(int n) { return n * n; }
static_assert(ranges::input_iterator<emitted<int>::iterator>);
static_assert(ranges::sentinel_for<std::default_sentinel_t, emitted<int>::iterator>);
static_assert(ranges::input_range<emitted<int>>);
static_assert(!ranges::forward_range<emitted<int>>);
static_assert(ranges::view_<emitted<int>>);
static_assert(ranges::view_<emitted<std::unique_ptr<int>>>);
static_assert(ranges::viewable_range<emitted<int>&>);

TEST_CASE("a range of each() can be piped into views of range-v3") {
  every_frame_dies const check;
  std::string out;
  CHECK((each(up_to, 10, &out) | views::filter(odd) | views::transform(square) |
         ranges::to<std::vector>()) == std::vector{1, 9, 25, 49, 81});
  CHECK((each(up_to, 1'000'000'000, &out) | views::filter(odd) | views::take(3) |
         ranges::to<std::vector>()) == std::vector{1, 3, 5});
  CHECK((each(up_to, 1'000'000'000, &out) | views::take(8) | views::filter(odd) |
         views::transform(square) | ranges::to<std::vector>()) == std::vector{1, 9, 25, 49});
  CHECK(ranges::accumulate(each(up_to, 1'000'000'000, &out) | views::take(4), 0) == 6);
  CHECK(out == "xxxx");

  auto const sum = [](auto&& chunk) { return ranges::accumulate(chunk, 0); };
  CHECK((each(up_to, 7, &out) | views::chunk(3) | views::transform(sum) |
         ranges::to<std::vector>()) == std::vector{3, 12, 6});
}

TEST_CASE("ranges of each() can be zipped and enumerated") {
  every_frame_dies const check;
  std::string out;
  auto const words = []() -> eff<void, emit<std::string>> {
    co_await emit<std::string>::value{"a"};
    co_await emit<std::string>::value{"b"};
  };
  std::string said;
  for (auto const& [n, word] : views::zip(each(up_to, 9, &out), each(words)))
    said += std::to_string(n) + word;
  for (auto const& [i, word] : views::enumerate(each(words))) said += std::to_string(i) + word;
  CHECK(said == "0a1b0a1b");
  CHECK(out == "x");
}

TEST_CASE("move-only values can be moved out of a pipeline, and exceptions pass through it") {
  every_frame_dies const check;
  auto const boxes = [](int n) -> eff<void, emit<std::unique_ptr<int>>> {
    for (int i = 0; i != n; ++i)
      co_await emit<std::unique_ptr<int>>::value{std::make_unique<int>(i)};
    if (n == 3) throw std::runtime_error("three");
  };
  auto const all = each(boxes, 2) | views::move | ranges::to<std::vector>();
  REQUIRE(all.size() == 2);
  CHECK(*all[1] == 1);
  CHECK_THROWS_WITH(each(boxes, 3) | views::move | ranges::to<std::vector>(), "three");
}
