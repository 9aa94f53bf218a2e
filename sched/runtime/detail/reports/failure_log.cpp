// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/reports/failure_log.hpp"

#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/errors.hpp"

namespace weft::detail {

void failure_log::add(exceptions::failure f) noexcept {
  note_access(this, true);
  std::lock_guard const lock(mutex_);
  try {
    all_.push_back(f);
  } catch (...) {
    bool const says_little = !only_.error || is_cancelled(only_.error);
    if (all_.empty() && says_little) only_ = std::move(f);
  }
}
void failure_log::assign(std::vector<exceptions::failure> f) noexcept { all_ = std::move(f); }
void failure_log::throw_all() {
  auto all = std::exchange(all_, {});
  if (only_.error) {
    if (all.empty()) std::rethrow_exception(std::exchange(only_.error, nullptr));
    all.insert(all.begin(), std::exchange(only_, {}));
  }
  if (all.size() == 1) std::rethrow_exception(std::move(all.front().error));
  if (all.size() > 1) throw exceptions(std::move(all));
}

}  // namespace weft::detail
