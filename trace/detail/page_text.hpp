// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace weft::detail {

/// The page of a trace, around its data: style, frame and script.  The data are one JSON object
/// (trace_page.cpp).
[[nodiscard]] std::string_view page_head() noexcept;
[[nodiscard]] std::string_view page_script() noexcept;

}  // namespace weft::detail
