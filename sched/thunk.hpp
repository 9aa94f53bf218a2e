// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "effects/resumption.hpp"

namespace weft {

/// A boxed resumption: the rest of a process, and the answer to resume it with.  Resumed once, or
/// dropped, which drops the process.  Holds one allocation; moves, does not copy.
class thunk {
 public:
  template <class F>
  explicit thunk(F f) : f_(std::make_unique<boxed_as<F>>(std::move(f))) {}

  /// Throws what the process throws, and resumption_empty.
  void resume() && {
    auto const f = std::move(f_);
    if (!f) throw resumption_empty();
    f->call();
  }

 private:
  struct boxed {
    virtual ~boxed() = default;
    virtual void call() = 0;
  };
  template <class F>
  struct boxed_as final : boxed {
    explicit boxed_as(F f) : f_(std::move(f)) {}
    void call() override { f_(); }
    F f_;
  };
  std::unique_ptr<boxed> f_;
};

/// Seed 002's `box { resume(answer) }`.
template <class K, class... Answer>
thunk box(K k, Answer... answer) {
  return thunk([k = std::move(k), ... a = std::move(answer)]() mutable {
    resume(std::move(k), std::move(a)...);
  });
}

}  // namespace weft
