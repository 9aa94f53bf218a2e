// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/trace_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

struct trace_buffer::noted_handlers {
  using stack = std::vector<std::string_view const*>;  // the names of handlers, which are constants

  [[nodiscard]] std::string_view keep(std::string_view text) {
    auto const known = texts.find(text);
    return known != texts.end() ? *known : *texts.emplace(text).first;
  }

  std::set<std::string, std::less<>> texts;
  std::map<stack, std::string_view> stacks;  // the stacks that were noted, with their texts
  std::map<stack, std::string_view>::iterator last = stacks.end();
  stack now;
};

trace_buffer::trace_buffer(trace const& home, std::uint16_t worker, std::size_t most_events,
                           std::size_t most_text, clock::time_point begin)
    : home_(home),
      begin_(begin),
      events_left_(most_events),
      text_left_(most_text),
      handlers_(std::make_unique<noted_handlers>()),
      worker_(worker) {}
trace_buffer::~trace_buffer() = default;

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

std::string_view trace_buffer::keep_name(process_id id, std::string_view function) noexcept {
  try {
    named_.insert(id.hash());
    return keep(short_name_of_function(function));
  } catch (std::bad_alloc const&) {
    return {};
  }
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
  noted_handlers& noted = *handlers_;
  try {
    if (!given.empty()) {
      e.under = noted.keep(given);
      return;
    }
    noted.now.clear();
    std::size_t depth = std::string_view::npos;
    auto const add = [&](prompt const& p) {
      if (depth == std::string_view::npos && by.is(p)) depth = noted.now.size() + by.further_out;
      noted.now.push_back(&p.handler_name());
    };
    if (by.has_captured) {
      for (prompt const* p = by.at->innermost_inside(); p != by.at; p = p->up()) add(*p);
      add(*by.at);
    }
    for (prompt const* p = prompt::innermost(); p; p = p->up()) add(*p);
    if (noted.last == noted.stacks.end() || noted.last->first != noted.now)
      noted.last = noted.stacks.try_emplace(noted.now).first;
    std::string_view& names = noted.last->second;
    if (names.empty()) {
      std::string text;
      for (std::string_view const* const name : noted.now) {
        if (!text.empty()) text += '\n';
        text += *name;
      }
      names = noted.keep(text);
    }
    e.under = names;
    e.depth = static_cast<std::uint16_t>(std::min<std::size_t>(depth, trace_event::unknown));
  } catch (std::bad_alloc const&) {  // the event has no handlers
  }
}

void trace_buffer::copy_to(std::vector<trace_event>& to) const {
  for (auto const& b : blocks_) {
    auto const* const first = reinterpret_cast<trace_event const*>(b->bytes);
    bool const is_last = b == blocks_.back();
    to.insert(to.end(), first, is_last ? next_ : first + events_in_block);
  }
}

}  // namespace weft::detail
