// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/system_process.hpp"

#include <stdexcept>
#include <string>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace weft::detail {

system_process::system_process() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  [[maybe_unused]] static int const listens = ::pthread_atfork(nullptr, nullptr, []() noexcept {
    forks_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the child has one thread
  });
#endif
  made_in_ = forks_.load(std::memory_order_relaxed);  // relaxed: as in is_here()
}

void system_process::throw_is_elsewhere(char const* what) {
  throw std::logic_error("weft: " + std::string(what) +
                         " is used in a child of the process that made it, after fork(): make one "
                         "in the child");
}

}  // namespace weft::detail
