// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace weft::detail {

/// The page of a trace, around its data: style, frame and script.  The data are one JSON object
/// (trace_page.cpp).
extern std::string_view const page_head;
extern std::string_view const page_script;

}  // namespace weft::detail
