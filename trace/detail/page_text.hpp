// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace weft::detail {

/// The HTML page of a trace is page_head(), then its data as one JSON object (trace_page.cpp), then
/// page_script().
[[nodiscard]] std::string_view page_head() noexcept;
[[nodiscard]] std::string_view page_script() noexcept;

}  // namespace weft::detail
