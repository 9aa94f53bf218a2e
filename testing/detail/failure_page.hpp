// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/exploration.hpp"

namespace weft::detail {

/// Writes a page (trace/trace_files.hpp) that shows the outcome `o` of `found`: its schedule,
/// beside it the schedule by which the outcome was found, if that is another one; and all outcomes.
/// Runs the program again.  Notes the page in `found`.  Does nothing if `file` is empty.  Throws
/// std::runtime_error if the file cannot be written.
void write_page_of(std::string_view file, subject& program, run_limits const& each,
                   exploration::outcome const& o, exploration& found);
/// Writes a page of the first failure of `found`, as write_page_of() does.  Does nothing if there
/// is no failure, or if `found` reports nondeterminism.
void write_page_of_failure(std::string_view file, subject& program, run_limits const& each,
                           exploration& found);

}  // namespace weft::detail
