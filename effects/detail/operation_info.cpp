// SPDX-License-Identifier: MIT
#include "weft/effects/detail/operation_info.hpp"

#include <string>

#include "weft/effects/detail/names.hpp"

namespace weft::detail {

std::string site::text() const {
  return std::string(operation->name) + " at " + detail::text(where);
}

}  // namespace weft::detail
