// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include "effects/detail/prompt.hpp"

/// The two awaitables: performing an operation, and calling another computation.
namespace weft::detail {

/// `co_await operation`
template <class O>
class performing {
  using R = typename O::result;
  static_assert(std::is_void_v<R> || std::is_same_v<R, never> || std::is_copy_constructible_v<R>,
                "weft: the answer of an operation must be copyable: a program that is run again is "
                "given it again");

 public:
  performing(O o, prompt& within, std::source_location where)
      : operation_(std::move(o)), within_(within), where_(where) {}
  performing(performing const&) = delete;
  performing& operator=(performing const&) = delete;

  bool await_ready() {
    if (within_.log().replaying()) return within_.log().replay(here(), answer_);
    if (!handler().answers_at_once(operation_, answer_)) return false;
    within_.log().record(here(), answer_);
    return true;
  }
  void await_suspend(std::coroutine_handle<> me) {
    if (within_.log().replaying()) return within_.end_diverged(me, here());
    within_.suspend(me, std::move(operation_), here(), answer_, handler());  // P2
  }
  R await_resume() { return answer_.take(); }

 private:
  [[nodiscard]] site here() const noexcept { return {&name_of<O>, where_}; }
  [[nodiscard]] clause<O>& handler() const noexcept { return within_.template clause_for<O>(); }

  O operation_;
  prompt& within_;
  std::source_location where_;
  answer<R> answer_;
};

/// Converts to anything.
struct anything {
  template <class T>
  operator T() const {
    std::terminate();
  }
};
/// Stands where a static_assert has spoken, so that it is the only one who does.
template <class R = anything>
struct refused {
  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  R await_resume() const { std::terminate(); }
};

/// `co_await computation`
template <class T, class Promise>
class calling {
 public:
  explicit calling(std::coroutine_handle<Promise> child) noexcept : child_(child) {}
  calling(calling const&) = delete;
  calling& operator=(calling const&) = delete;
  ~calling() {
    if (child_) child_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Caller>
  transfer await_suspend(std::coroutine_handle<Caller> me) noexcept {
    auto const child = std::exchange(child_, {});  // F1
    child.promise().parent = me;
    child.promise().within = me.promise().within;
    child.promise().to = &answer_;
    return go_on(child);
  }
  T await_resume() { return answer_.take(); }

 private:
  std::coroutine_handle<Promise> child_;
  answer<T> answer_;
};

}  // namespace weft::detail
