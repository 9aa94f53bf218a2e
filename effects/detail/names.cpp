// SPDX-License-Identifier: MIT
#include "weft/effects/detail/names.hpp"

#include <source_location>
#include <string>

namespace weft::detail {

std::string text(std::source_location where) {
  if (where.line() == 0) return "ordinary code";
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

}  // namespace weft::detail
