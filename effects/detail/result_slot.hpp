// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/operation.hpp"

namespace weft::detail {

struct nothing {};
/// The stored form of an answer `T`.
template <class T>
using kept = std::conditional_t<std::is_void_v<T> || std::is_same_v<T, never>, nothing, T>;

// The next functions are cold and out of line: inlined, they would make the code of
// every frame save registers.
/// Throws `e`, which is null afterwards.
[[noreturn, gnu::cold, gnu::noinline]] inline void rethrow(std::exception_ptr& e) {
  std::rethrow_exception(std::exchange(e, nullptr));
}
[[gnu::cold, gnu::noinline]] inline void forget(std::exception_ptr& e) noexcept {
  std::destroy_at(&e);
}

/// Ends the program: one of its modules has its own copy of a variable that must exist once in a
/// program (docs/portability.md).
[[noreturn, gnu::cold, gnu::noinline]] inline void end_without_answer() noexcept {
  std::fputs(
      "weft: a computation that ordinary code runs has stopped without an answer: a module of this "
      "program has its own copies of variables that a program has once\n",
      stderr);
  std::abort();
}

/// The part of a result_slot that does not depend on its type, with the source line of the waiter.
class result_slot_base {
 public:
  std::source_location where;  // where the waiter waits; line 0: in ordinary code

  [[nodiscard]] bool is_empty() const noexcept { return is_ == state::empty; }
  [[nodiscard]] bool has_failed() const noexcept { return is_ == state::error; }
  /// Sets the answer to the bytes of `word`.  The type of the slot is trivially copyable and fits a
  /// word; if it is void, nothing reads `word`.
  void set_word(std::uint64_t word) noexcept {
    std::memcpy(reinterpret_cast<std::byte*>(this) + sizeof(result_slot_base), &word, sizeof word);
    is_ = state::value;
  }
  /// Keeps a pointer of the waiter in the storage of the answer, which is unused while the slot is
  /// empty.
  void keep(void* p) noexcept {
    std::memcpy(reinterpret_cast<std::byte*>(this) + sizeof(result_slot_base), &p, sizeof p);
  }
  [[nodiscard]] void* kept_pointer() const noexcept {
    void* p;
    std::memcpy(&p, reinterpret_cast<std::byte const*>(this) + sizeof(result_slot_base), sizeof p);
    return p;
  }

 protected:
  // As large as a pointer, so that a store of one word makes the slot empty.
  enum class state : std::uintptr_t { empty, value, error };

  explicit result_slot_base(std::source_location at) noexcept : where(at) {}
  ~result_slot_base() = default;

  state is_ = state::empty;
};

/// The slot in which a waiter receives a value or an exception, which is taken once.  If both are
/// set, the last one counts: a destructor may throw after the value was returned.
template <class T>
class result_slot : public result_slot_base {
 public:
  explicit result_slot(std::source_location at = {}) noexcept : result_slot_base(at) {}
  result_slot(result_slot const&) = delete;  // frames point at it
  result_slot& operator=(result_slot const&) = delete;
  ~result_slot() { destroy(); }

  template <class... Args>
  void set(Args&&... args) {
    if constexpr (!std::is_trivially_destructible_v<kept<T>>)
      if (is_ != state::empty) [[unlikely]]
        clear_slow();
    ::new (static_cast<void*>(std::addressof(at_.value))) kept<T>(std::forward<Args>(args)...);
    is_ = state::value;
  }
  /// Sets the value to f(args...).  If `f` is a named function or class and no lambda, symbols stay
  /// short: a symbol that names a lambda repeats the name of the template in which it stands.
  template <class F, class... Args>
  void set_from(F&& f, Args&&... args) {
    if constexpr (std::is_same_v<kept<T>, nothing>) {
      (void)f(std::forward<Args>(args)...);
      set();
    } else {
      set(f(std::forward<Args>(args)...));
    }
  }
  void fail(std::exception_ptr error) noexcept {
    destroy();
    ::new (static_cast<void*>(&at_.error)) std::exception_ptr(std::move(error));
    is_ = state::error;
  }

  [[nodiscard]] kept<T>* value() noexcept { return is_ == state::value ? &at_.value : nullptr; }
  [[nodiscard]] std::exception_ptr error() const noexcept {
    return is_ == state::error ? at_.error : nullptr;
  }

  /// Makes the slot empty again.
  void clear() noexcept {
    destroy();
    is_ = state::empty;
  }

  /// Gives the value to the caller, or throws the exception.
  T take() {
    if (is_ == state::error) [[unlikely]]
      rethrow(at_.error);
    return take_value();
  }
  /// take() for ordinary code, when nothing is left to run.  Ends the program if the slot is empty.
  T take_at_last() {
    if (is_ != state::value) [[unlikely]]
      fail_at_last();
    return take_value();
  }
  /// Gives the value to the caller; there must be one.
  T take_value() {
    if constexpr (std::is_same_v<T, never>)
      std::terminate();  // there is no `never` to set
    else if constexpr (!std::is_void_v<T>)
      return std::move(at_.value);
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] void fail_at_last() {
    if (is_empty()) end_without_answer();
    rethrow(at_.error);
  }
  /// preserve_most: the call clobbers few registers, so set() need not save any around it.
  [[gnu::cold, gnu::noinline, clang::preserve_most]] void clear_slow() noexcept { clear(); }
  void destroy() noexcept {
    if (is_ == state::error) [[unlikely]]
      forget(at_.error);
    if constexpr (!std::is_trivially_destructible_v<kept<T>>)
      if (is_ == state::value) std::destroy_at(std::addressof(at_.value));
  }

#if defined(__GNUC__) && !defined(__clang__)
  static_assert(alignof(kept<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "weft: g++ aligns the frames of coroutines as new aligns, so a result or an answer "
                "with a stricter alignment has no place there: pass a std::unique_ptr to it");
#endif
  static constexpr std::size_t alignment = alignof(kept<T>) > alignof(std::uint64_t)
                                               ? alignof(kept<T>)
                                               : alignof(std::uint64_t);
  // `at_` lies directly behind the base class: set_word() and keep() write there.
  union alignas(alignment) storage {
    storage() noexcept {}
    ~storage() {}
    kept<T> value;
    std::exception_ptr error;
  } at_;
};

}  // namespace weft::detail
