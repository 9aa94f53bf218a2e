// SPDX-License-Identifier: MIT
#include "weft/effects/detail/installing.hpp"

#include <cstdio>
#include <exception>

#include "weft/effects/errors.hpp"
#include "weft/effects/region.hpp"

namespace weft::detail {

void borrow_scope::require_no_tasks() const noexcept {
  for (auto* kept = first(); kept; kept = kept->next()) {
    if (!kept->has_open_tasks()) continue;
    std::fprintf(stderr, "weft: the borrowed handler %s: and tasks are open in there\n",
                 kept->why_it_stays().c_str());
    std::terminate();
  }
}

void borrow_scope::throw_kept(resident const& kept) {
  throw not_a_region("weft: the borrowed handler " + kept.why_it_stays() +
                     ": let it be owned, or derive it from weft::region");
}

}  // namespace weft::detail
