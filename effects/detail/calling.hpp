// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>

#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/transfer.hpp"

namespace weft::detail {

/// `co_await computation`, of a child whose row is `Callee`, in a caller whose row is `Caller`.
template <class T, class Promise, class Callee, class Caller>
class calling {
 public:
  calling(std::coroutine_handle<Promise> child, std::source_location where) noexcept
      : child_(child), answer_(where) {}
  calling(calling const&) = delete;
  calling& operator=(calling const&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Frame>
  transfer await_suspend(std::coroutine_handle<Frame> me) noexcept {
    auto& child = child_.promise();  // from here on the frame owns itself (FRAME-1)
    child.parent = continuation(me);
    if constexpr (!std::is_same_v<Callee, row<>>)
      child.evidence = evidence_.view(me.promise().evidence);
    child.to = &answer_;
    return go_on(child_);
  }
  T await_resume() { return answer_.take(); }

 private:
  std::coroutine_handle<Promise> child_;
  [[no_unique_address]] projection<Callee, Caller> evidence_;
  result_slot<T> answer_;
};

}  // namespace weft::detail
