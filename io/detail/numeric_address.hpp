// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace weft::detail {

/// Whether inet_pton takes `s` for an address of IPv4, such as 127.0.0.1.
[[nodiscard]] bool is_ipv4(std::string_view s) noexcept;
/// Whether inet_pton takes `s` for an address of IPv6, such as ::1.
[[nodiscard]] bool is_ipv6(std::string_view s) noexcept;

}  // namespace weft::detail
