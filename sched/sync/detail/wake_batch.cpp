// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/wake_batch.hpp"

#include <vector>

#include "weft/sched/base/process.hpp"

namespace weft::detail {

bool wake_batch::grow() noexcept {
  try {
    more_.reserve(2 * (more_.size() + few_.size()));
  } catch (...) {
    return false;
  }
  return true;
}
void wake_batch::add_slow(process& p) noexcept { more_.push_back(&p); }

}  // namespace weft::detail
