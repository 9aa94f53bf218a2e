// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/ready_sink.hpp"

#include <exception>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

void fail_cancelled(process& p) noexcept {
  if (p.is_suspended())  // else its chain was cut (SUSPENSION-2), and it waits for nothing
    p.fail(std::make_exception_ptr(cancelled()));
}

}  // namespace weft::detail
