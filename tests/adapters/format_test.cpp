// SPDX-License-Identifier: MIT
#include "weft/adapters/format.hpp"

#if defined(__cpp_lib_format)
#include <catch2/catch.hpp>
#include <string_view>

#include "tests/adapters/formatted.hpp"

using namespace weft::tests;

namespace {

constexpr auto by_std = [](std::string_view text, auto const& value) {
  return std::vformat(text, std::make_format_args(value));
};

}  // namespace

TEST_CASE("an id, a path, a report and a waiter are formatted by std::format as weft writes them") {
  check_formatted_reports(by_std);
}

TEST_CASE("a point of the clock is formatted by std::format in seconds") {
  check_formatted_times(by_std);
}
#endif
