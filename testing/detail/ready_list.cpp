// SPDX-License-Identifier: MIT
#include "weft/testing/detail/ready_list.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::detail {

void ready_list::make_room() {
  std::size_t const before = static_cast<std::size_t>(first_ - room_.data());
  if (before > size_) {
    std::copy(first_, first_ + size_, room_.data());
  } else {
    std::vector<slot> larger(room_.empty() ? 8 : 2 * room_.size());
    std::copy(first_, first_ + size_, larger.data());
    room_.swap(larger);
  }
  first_ = room_.data();
}

}  // namespace weft::detail
