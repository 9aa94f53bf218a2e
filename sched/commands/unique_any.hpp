// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"

namespace weft {

/// Thrown if a unique_any is asked for a type that it does not hold.  Names both types.
struct [[gnu::visibility("default")]] bad_unique_any : std::logic_error {
  bad_unique_any(std::string_view holds, std::string_view wanted)
      : logic_error("weft: a unique_any was asked for " + std::string(wanted) + ", and holds " +
                    (holds.empty() ? "nothing" : std::string(holds))) {}
};

/// A value of any type, which is accessed by naming that type, like std::any.  But the value may be
/// move-only, and a unique_any is always move-only.
///
///     unique_any p(std::make_unique<int>(7));
///     auto const seven = p.take<std::unique_ptr<int>>();
///
/// O(1).  Values of up to three words whose move cannot throw are stored in the unique_any itself;
/// other values cost an allocation.
class unique_any {
 public:
  /// Makes a unique_any that holds nothing.
  unique_any() = default;
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, unique_any>)
  explicit unique_any(T&& value) : is_(&kind_of<std::decay_t<T>>) {
    using V = std::decay_t<T>;
    if constexpr (lies_inside<V>)
      ::new (static_cast<void*>(room_)) V(std::forward<T>(value));
    else
      ::new (static_cast<void*>(room_)) V*(new V(std::forward<T>(value)));
  }
  unique_any(unique_any&& other) noexcept : is_(std::exchange(other.is_, nullptr)) {
    if (is_) is_->move(other.room_, room_);
  }
  unique_any& operator=(unique_any&& other) noexcept {
    if (this == &other) return *this;
    reset();
    is_ = std::exchange(other.is_, nullptr);
    if (is_) is_->move(other.room_, room_);
    return *this;
  }
  ~unique_any() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return is_ != nullptr; }
  /// Whether the value is a `T`.
  template <class T>
  [[nodiscard]] bool holds() const noexcept {
    return is_ && *is_ == kind_of<T>;
  }
  /// The value, which stays in the unique_any.  Throws bad_unique_any if the value is no `T`.
  template <class T>
  [[nodiscard]] T& get() {
    if (!holds<T>()) throw bad_unique_any(is_ ? is_->name : "", detail::name_of<T>);
    return value<T>(room_);
  }
  /// Moves the value out; the unique_any is then empty.  Throws bad_unique_any if the value is no
  /// `T`, and what the move throws.
  template <class T>
  T take() {
    T taken = std::move(get<T>());
    reset();
    return taken;
  }
  /// Destroys the value; the unique_any is then empty.
  void reset() noexcept {
    if (is_) std::exchange(is_, nullptr)->destroy(room_);
  }

 private:
  static constexpr std::size_t inside = 3 * sizeof(void*);
  template <class T>
  static constexpr bool lies_inside = sizeof(T) <= inside && alignof(T) <= alignof(void*) &&
                                      std::is_nothrow_move_constructible_v<T>;

  template <class T>
  static T& value(std::byte* room) noexcept {
    if constexpr (lies_inside<T>)
      return *std::launder(reinterpret_cast<T*>(room));
    else
      return **std::launder(reinterpret_cast<T**>(room));
  }
  template <class T>
  static void move_to(std::byte* from, std::byte* to) noexcept {
    if constexpr (lies_inside<T>) {
      ::new (static_cast<void*>(to)) T(std::move(value<T>(from)));
      std::destroy_at(&value<T>(from));
    } else {
      ::new (static_cast<void*>(to)) T*(&value<T>(from));
    }
  }
  template <class T>
  static void destroy_in(std::byte* room) noexcept {
    if constexpr (lies_inside<T>)
      std::destroy_at(&value<T>(room));
    else
      delete &value<T>(room);
  }

  struct kind : detail::type_identity {
    void (*move)(std::byte* from, std::byte* to) noexcept;
    void (*destroy)(std::byte* room) noexcept;
  };
  template <class T>
  static constexpr kind kind_of{
      {detail::name_of<T>, detail::type_info_of<T>()}, move_to<T>, destroy_in<T>};

  kind const* is_ = nullptr;
  alignas(void*) std::byte room_[inside];
};

}  // namespace weft
