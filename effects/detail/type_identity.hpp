// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <typeinfo>

#include "weft/effects/detail/names.hpp"

/// The identity of types that are not known where they are compared: effects, operations, messages.
namespace weft::detail {

/// Tells a type from others.  Each type has one: identity_of<T>, or the base of another object that
/// exists once for the type.  A type with hidden visibility has one in each module of a program:
/// these have different addresses, and compare equal.
///
/// O(1) if the addresses are equal; else O(length of the names).
struct type_identity {
  constexpr type_identity(std::string_view n, std::type_info const* t) noexcept
      : name(n), type(t) {}
  type_identity(type_identity const&) = delete;
  type_identity& operator=(type_identity const&) = delete;

  std::string_view const name;
  std::type_info const* const type;  // null without RTTI: then only addresses are compared

  [[nodiscard]] friend bool operator==(type_identity const& a, type_identity const& b) noexcept {
    return &a == &b || a.is_same_slow(b);
  }

 private:
  [[nodiscard, gnu::cold, gnu::noinline]] bool is_same_slow(
      type_identity const& other) const noexcept {
    return type && other.type && *type == *other.type && !is_of_one_file(type->name());
  }
  /// Whether another file may have another type of that name: the type has internal linkage, or is
  /// local to a function that may have internal linkage.  g++ marks such names, and std::type_info
  /// then compares addresses; clang does not.
  static bool is_of_one_file(std::string_view mangled) noexcept {
    return mangled.starts_with('Z') ||                     // local to a function
           mangled.find("_GLOBAL__N_") != mangled.npos ||  // in an unnamed namespace
           mangled.find('$') != mangled.npos;              // a closure outside of functions
  }
};

template <class T>
constexpr std::type_info const* type_info_of() noexcept {
#if defined(__cpp_rtti)
  return &typeid(T);
#else
  return nullptr;
#endif
}
template <class T>
inline constexpr type_identity identity_of{name_of<T>, type_info_of<T>()};

}  // namespace weft::detail
