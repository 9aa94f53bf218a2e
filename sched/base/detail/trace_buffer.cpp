// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/trace_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
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

void trace_buffer::note_handlers(trace_event& e, answering const& by) noexcept {
  std::string_view const given = std::exchange(e.under, {});
  try {
    if (!given.empty()) {
      e.under = keep_names(given);
      return;
    }
    stack_.clear();
    std::size_t depth = std::string_view::npos;
    auto const add = [&](prompt const& p) {
      if (depth == std::string_view::npos && by.is(p)) depth = stack_.size() + by.further_out;
      stack_.push_back(&p.handler_name());
    };
    if (by.has_captured) {
      for (prompt const* p = by.at->innermost_inside(); p != by.at; p = p->up()) add(*p);
      add(*by.at);
    }
    for (prompt const* p = prompt::innermost(); p; p = p->up()) add(*p);
    if (last_ == stacks_.end() || last_->first != stack_) last_ = stacks_.try_emplace(stack_).first;
    std::string_view& names = last_->second;
    if (names.empty()) {
      std::string text;
      for (std::string_view const* const name : stack_) {
        if (!text.empty()) text += '\n';
        text += *name;
      }
      names = keep_names(text);
    }
    e.under = names;
    e.depth = static_cast<std::uint16_t>(std::min<std::size_t>(depth, trace_event::unknown));
  } catch (std::bad_alloc const&) {  // then the event has none
  }
}

std::string_view trace_buffer::keep_names(std::string_view names) {
  auto const known = names_.find(names);
  return known != names_.end() ? *known : *names_.emplace(names).first;
}

void trace_buffer::copy_to(std::vector<trace_event>& to) const {
  for (auto const& b : blocks_) {
    auto const* const first = reinterpret_cast<trace_event const*>(b->bytes);
    bool const is_last = b == blocks_.back();
    to.insert(to.end(), first, is_last ? next_ : first + events_in_block);
  }
}

}  // namespace weft::detail
