// SPDX-License-Identifier: MIT
#include "weft/effects/region.hpp"

#include <string>

namespace weft {

std::string region::suspended() const {
  std::string text;
  for (auto const* each = first_; each; each = each->next()) text += each->why_it_stays() + '\n';
  return text;
}

}  // namespace weft
