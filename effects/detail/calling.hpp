// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <source_location>
#include <type_traits>

#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/detail/transfer.hpp"

namespace weft::detail {

/// The awaiter of `co_await computation`.  The computation is the child, with the row `Callee`; its
/// caller has the row `Caller`.
///
///   CALL-1  If the child ends with an exception, the caller is the next frame to run, and
///       await_resume() takes the exception out of the slot.  So the destructor has no exception to
///       release, and does nothing if the value needs no destructor.  Then a frame that only calls
///       is destroyed alike at each of its co_awaits, without a jump table.
template <class T, class Promise, class Callee, class Caller>
class calling {
 public:
  calling(std::coroutine_handle<Promise> child, std::source_location where) noexcept
      : child_(child), answer_(where) {}
  calling(calling const&) = delete;
  calling& operator=(calling const&) = delete;
  ~calling() {
    if constexpr (!std::is_trivially_destructible_v<kept<T>>) std::destroy_at(&answer_);
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Frame>
  transfer await_suspend(std::coroutine_handle<Frame> me) noexcept {
    auto& child = child_.promise();  // from here on the child's frame owns itself (FRAME-1)
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
  union {
    result_slot<T> answer_;
  };
};

}  // namespace weft::detail
