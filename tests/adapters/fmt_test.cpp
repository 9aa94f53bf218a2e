// SPDX-License-Identifier: MIT
#include "weft/adapters/fmt.hpp"

#include "tests/adapters/formatted.hpp"
#include "tests/prelude.hpp"

constexpr auto by_fmt = [](std::string_view text, auto const& value) {
  return fmt::vformat(text, fmt::make_format_args(value));
};

TEST_CASE("an id, a path, a report and a waiter are formatted by fmt as weft writes them") {
  check_formatted_reports(by_fmt);
}

TEST_CASE("a point of the clock is formatted in seconds") { check_formatted_times(by_fmt); }
