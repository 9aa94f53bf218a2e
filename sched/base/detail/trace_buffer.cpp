// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/trace_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

bool trace_buffer::grow() noexcept {
  std::size_t const n = std::min(events_left_, events_in_block);
  try {
    if (n == 0) throw std::bad_alloc();
    blocks_.push_back(std::make_unique_for_overwrite<block>());
  } catch (std::bad_alloc const&) {
    ++dropped_;
    return false;
  }
  events_left_ -= n;
  next_ = reinterpret_cast<trace_event*>(blocks_.back()->bytes);
  end_ = next_ + n;
  return true;
}

std::string_view trace_buffer::keep(std::string_view text) noexcept {
  if (text.empty()) return {};
  if (texts_.empty() || texts_.back().size - texts_.back().used < text.size()) {
    std::size_t const n = std::min(text_left_, std::max(text.size(), chars_in_block));
    try {
      if (n < text.size()) throw std::bad_alloc();
      texts_.push_back({std::make_unique_for_overwrite<char[]>(n), 0, n});
    } catch (std::bad_alloc const&) {
      ++texts_dropped_;
      return {};
    }
    text_left_ -= n;
  }
  text_block& b = texts_.back();
  char* const at = b.chars.get() + b.used;
  std::memcpy(at, text.data(), text.size());
  b.used += text.size();
  return {at, text.size()};
}

void trace_buffer::copy_to(std::vector<trace_event>& to) const {
  for (auto const& b : blocks_) {
    auto const* const first = reinterpret_cast<trace_event const*>(b->bytes);
    bool const is_last = b == blocks_.back();
    to.insert(to.end(), first, is_last ? next_ : first + events_in_block);
  }
}

}  // namespace weft::detail
