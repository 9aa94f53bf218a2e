// SPDX-License-Identifier: MIT
#include "weft/io/detail/numeric_address.hpp"

#include <cstddef>
#include <string_view>

namespace weft::detail {

bool is_ipv4(std::string_view s) noexcept {
  for (int part = 1;; ++part) {
    std::size_t digits = 0;
    int value = 0;
    for (; digits < s.size() && digits < 4 && '0' <= s[digits] && s[digits] <= '9'; ++digits)
      value = 10 * value + (s[digits] - '0');
    if (digits == 0 || digits > 3 || value > 255 || (digits > 1 && s[0] == '0')) return false;
    s.remove_prefix(digits);
    if (part == 4) return s.empty();
    if (!s.starts_with('.')) return false;
    s.remove_prefix(1);
  }
}
bool is_ipv6(std::string_view s) noexcept {
  unsigned groups = 0;
  bool has_gap = s.starts_with("::");
  if (has_gap) s.remove_prefix(2);
  while (!s.empty()) {
    if (is_ipv4(s)) {  // an IPv4 address in place of the last two groups
      groups += 2;
      break;
    }
    std::size_t const digits = s.substr(0, s.find(':')).size();
    if (digits == 0 || digits > 4) return false;
    if (s.find_first_not_of("0123456789abcdefABCDEF") < digits) return false;
    ++groups;
    s.remove_prefix(digits);
    if (s.starts_with("::")) {
      if (has_gap) return false;
      has_gap = true;
      s.remove_prefix(2);
    } else if (!s.empty()) {
      s.remove_prefix(1);
      if (s.empty()) return false;
    }
  }
  return has_gap ? groups < 8 : groups == 8;
}

}  // namespace weft::detail
