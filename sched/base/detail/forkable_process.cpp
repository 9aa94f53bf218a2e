// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/forkable_process.hpp"

#include <cstddef>
#include <string>

namespace weft::detail {

std::string shared_continuation::text() const { return "a process that forked"; }

void forkable_process::destroy() noexcept {
  std::size_t const before = place_.bytes;
  this->forkable_process::~forkable_process();
  free(this, sizeof(forkable_process), before);
}

}  // namespace weft::detail
