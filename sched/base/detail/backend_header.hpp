// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace weft::detail {

/// Describes the header that a backend keeps with each process.  The header lies directly in front
/// of the process and lives as long as the process.
struct header_layout {
  std::size_t bytes;
  void (*make)(void*) noexcept;
};
inline constexpr header_layout no_header{0, nullptr};
template <class Header>
constexpr header_layout make_header_layout() {
  static_assert(std::is_trivially_destructible_v<Header> && alignof(Header) == 16 &&
                std::is_nothrow_default_constructible_v<Header> && sizeof(Header) < 128 * 16);
  return {sizeof(Header), [](void* at) noexcept { ::new (at) Header; }};
}
template <class Header>
inline constexpr header_layout header_layout_of = make_header_layout<Header>();

/// The header of the backend `B`; no_header if it declares none.
template <class B>
constexpr header_layout const& header_layout_for() {
  if constexpr (requires { typename B::header; })
    return header_layout_of<typename B::header>;
  else
    return no_header;
}

}  // namespace weft::detail

namespace weft {

class process;

/// The header that the backend keeps with the process `p`.
template <class Header>
Header& header_of(process& p) noexcept {
  return *std::launder(
      reinterpret_cast<Header*>(reinterpret_cast<std::byte*>(&p) - sizeof(Header)));
}

}  // namespace weft
