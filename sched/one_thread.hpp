// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "deque/persistent_deque.hpp"
#include "sched/backend.hpp"

namespace weft {

/// The default backend: one thread, one persistent deque, the longest waiting first.
/// Deterministic.
class one_thread {
 public:
  void put(thunk t) { waiting_.push_front(std::move(t)); }
  std::optional<thunk> take() { return waiting_.try_pop_back(); }

 private:
  persistent_deque<thunk> waiting_;
};
static_assert(backend<one_thread>);

}  // namespace weft
