// SPDX-License-Identifier: MIT
#include "weft/effects/detail/binding.hpp"

#include <utility>
#include <vector>

namespace weft::detail {

void evidence_slots::rebind(prompt& outermost, shared_binding b) {
  std::vector<prompt*> homes;
  auto const add = [&homes](prompt& p) { homes.push_back(&p); };
  (*b).visit_homes(prompt_visitor(add));
  outermost.require_outers(std::move(homes), this);
  bind(std::move(b));
  outermost.require_outers();
}

}  // namespace weft::detail
