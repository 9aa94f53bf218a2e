// SPDX-License-Identifier: MIT
#include "weft/testing/detail/outer_watcher.hpp"

#include <algorithm>
#include <vector>

namespace weft::detail {

void add_new_outers(prompt const& p, std::vector<prompt*>& to) {
  std::vector<prompt*> outers;
  p.add_outers(outers);
  for (prompt* const outer : outers)
    if (std::ranges::find(to, outer) == to.end()) to.push_back(outer);
}

}  // namespace weft::detail
