// SPDX-License-Identifier: MIT
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/sliding.hpp>
#include <range/v3/view/transform.hpp>

#include "tests/prelude.hpp"

using ints = persistent_deque<int>;

// std
static_assert(std::regular<ints>);
static_assert(std::random_access_iterator<ints::iterator>);
static_assert(std::ranges::random_access_range<ints>);
static_assert(std::ranges::common_range<ints>);
static_assert(std::ranges::sized_range<ints>);
static_assert(!std::ranges::borrowed_range<ints>);  // iterators refer to the deque object
static_assert(std::is_nothrow_copy_constructible_v<ints>);
static_assert(std::is_nothrow_move_constructible_v<ints>);

// range-v3
static_assert(ranges::regular<ints>);
static_assert(ranges::random_access_iterator<ints::iterator>);
static_assert(ranges::random_access_range<ints>);
static_assert(ranges::common_range<ints>);
static_assert(ranges::sized_range<ints>);
static_assert(!ranges::borrowed_range<ints>);

TEST_CASE("ranges::to makes a persistent deque from a pipeline") {
  auto const even_squares =
      ranges::views::iota(0, 200) | ranges::views::filter([](int i) { return i % 2 == 0; }) |
      ranges::views::transform([](int i) { return i * i; }) | ranges::to<persistent_deque>();
  static_assert(std::same_as<decltype(even_squares), ints const>);
  CHECK(even_squares.size() == 100);
  CHECK(even_squares.front() == 0);
  CHECK(even_squares[99] == 198 * 198);
  CHECK((ranges::views::iota(0, 3) | ranges::to<ints>()) == ints{0, 1, 2});
}

TEST_CASE("a persistent deque can be piped into range-v3 views") {
  ints const d{1, 2, 3, 4};
  auto const sums = d | ranges::views::sliding(2) |
                    ranges::views::transform([](auto pair) { return pair[0] + pair[1]; }) |
                    ranges::to<std::vector>();
  CHECK(sums == std::vector{3, 5, 7});
  CHECK((d | ranges::views::reverse | ranges::to<ints>()) == ints{4, 3, 2, 1});
  CHECK(ranges::distance(ranges::views::cartesian_product(d, d)) == 16);
}

TEST_CASE("a persistent deque can be piped into std views and searched by std algorithms") {
  ints d(std::views::iota(0, 1000));
  auto odd = d | std::views::filter([](int i) { return i % 2 == 1; }) | std::views::reverse;
  CHECK(*odd.begin() == 999);
  CHECK(std::ranges::lower_bound(d, 700) - d.begin() == 700);
  CHECK(std::ranges::equal(d | std::views::drop(990), std::views::iota(990, 1000)));
}

TEST_CASE("a persistent deque can be made from std containers and input iterators") {
  std::deque<std::string> const words{"to", "be", "or"};
  persistent_deque const d(words.begin(), words.end());
  static_assert(std::same_as<decltype(d), persistent_deque<std::string> const>);
  CHECK(d.back() == "or");
  persistent_deque const e(words);
  CHECK(d == e);
}

TEST_CASE("iterators obey the laws of random access across segments") {
  ints const d(std::views::iota(0, 300));
  for (std::ptrdiff_t i = 0; i <= 300; i += 7) {
    auto const at = d.begin() + i;
    CHECK(at - d.begin() == i);
    CHECK(d.end() - at == 300 - i);
    for (std::ptrdiff_t j = 0; j < 300; j += 31) {
      CHECK(*(at + (j - i)) == j);
      CHECK(at[j - i] == j);
      CHECK((at < d.begin() + j) == (i < j));
    }
  }
  auto forward = d.begin();
  for (int i = 0; i != 300; ++i) CHECK(*forward++ == i);
  CHECK(forward == d.end());
  for (int i = 300; i-- != 0;) CHECK(*--forward == i);
  CHECK(forward == d.begin());
}
