// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/handle.hpp"

/// Programs: the functions that processes are started from.
namespace weft::detail {

/// A row whose type is erased: its effects, in the order of their evidence.
struct row_info {
  std::size_t size;
  type_identity const* const* effects;
  bool is_light;
};
/// Whether code that is no process of its own, such as a light task, may perform the effect: true
/// of all effects except those that a scheduler handles for a process.
template <class E>
constexpr bool is_light_effect = true;
template <class E>
  requires requires { requires E::performed_by_processes; }
constexpr bool is_light_effect<E> = false;
template <class Row>
struct row_info_of;
template <class... Es>
struct row_info_of<row<Es...>> {
  static constexpr type_identity const* effects[sizeof...(Es) + 1] = {&identity_of<Es>..., nullptr};
  static constexpr row_info value{sizeof...(Es), effects, (is_light_effect<Es> && ...)};
};

/// The first frame of a computation that has not started, an eff<void, ...>; the caller owns it.
struct first_frame {
  std::coroutine_handle<> handle;
  row_info const* row;
};
template <class... Es>
first_frame first_frame_of(eff<void, Es...> e) {
  return {e.release(internal()), &row_info_of<typename eff<void, Es...>::effects>::value};
}

/// A program that can be run again.  The processes that run it share it, by a reference count.
class program : public pooled {
 public:
  program(program const&) = delete;
  program& operator=(program const&) = delete;

  virtual first_frame start() const = 0;
  void keep() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds a count already
  }
  void release() noexcept {
    // acq_rel, pairs with itself: every drop of a count is a release, and the last one also an
    // acquire.  So the program is destroyed after every call of it.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  program() = default;
  virtual ~program() = default;

 private:
  std::atomic<unsigned> owners_ = 1;
};
/// A program made from a function.  The function is called as const: else the clones of a process
/// would share the changes that one of them makes.
template <class F>
class program_of final : public program {
 public:
  explicit program_of(F f) : function_(std::move(f)) {}
  first_frame start() const override { return first_frame_of(function_()); }

 private:
  F const function_;
};

template <class T>
constexpr bool is_computation = false;
template <class... Es>
constexpr bool is_computation<eff<void, Es...>> = true;

/// Whether schedule and spawn(forkable, ...) accept a `Program`.
template <class Program>
constexpr bool is_program = false;
template <class Program>
  requires std::is_invocable_v<Program const&>
constexpr bool is_program<Program> =
    std::copy_constructible<Program> && is_computation<std::invoke_result_t<Program const&>>;

}  // namespace weft::detail
