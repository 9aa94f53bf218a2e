// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace weft::detail {

/// What a backend has with each process, in front of it, from birth to death.
struct place_kind {
  std::size_t bytes;
  void (*make)(void*) noexcept;
};
inline constexpr place_kind no_place{0, nullptr};
template <class Place>
constexpr place_kind make_place_kind() {
  static_assert(std::is_trivially_destructible_v<Place> && alignof(Place) == 16 &&
                std::is_nothrow_default_constructible_v<Place> && sizeof(Place) < 128 * 16);
  return {sizeof(Place), [](void* at) noexcept { ::new (at) Place; }};
}
template <class Place>
inline constexpr place_kind place_kind_of = make_place_kind<Place>();

/// What the backend `B` has: nothing, if it says nothing.
template <class B>
constexpr place_kind const& place_for() {
  if constexpr (requires { typename B::place; })
    return place_kind_of<typename B::place>;
  else
    return no_place;
}

}  // namespace weft::detail

namespace weft {

class process;

/// What the backend has with a process.
template <class Place>
Place& process_place(process& p) noexcept {
  return *std::launder(reinterpret_cast<Place*>(reinterpret_cast<std::byte*>(&p) - sizeof(Place)));
}

}  // namespace weft
