// SPDX-License-Identifier: MIT
#include "weft/effects/outer.hpp"

#include <source_location>
#include <string>
#include <string_view>

#include "weft/effects/detail/names.hpp"
#include "weft/effects/errors.hpp"

namespace weft::detail {

void throw_asked(std::string_view operation, std::source_location where, prompt const& handler) {
  throw needs_control("weft: " + std::string(operation) + " at " + text(where) +
                      " was asked by a value clause, which cannot be suspended; its handler " +
                      std::string(handler.handler_name()) + " takes the resumption");
}

void throw_no_outer(std::string_view operation, std::source_location where, prompt const& nearest) {
  throw no_outer_handler("weft: " + std::string(operation) + " at " + text(where) +
                         " is to pass by the handler " + std::string(nearest.handler_name()) +
                         ", and the row around that one has no further handler of the effect");
}

}  // namespace weft::detail
