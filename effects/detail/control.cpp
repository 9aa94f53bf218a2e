// SPDX-License-Identifier: MIT
#include "weft/effects/detail/control.hpp"

#include <source_location>
#include <string>
#include <string_view>

#include "weft/effects/detail/names.hpp"
#include "weft/effects/errors.hpp"

namespace weft::detail {

void throw_returned(std::string_view operation, std::source_location where) {
  throw clause_returned("weft: a clause returned for " + std::string(operation) + " at " +
                        detail::text(where) + ", which never returns");
}

}  // namespace weft::detail
