// SPDX-License-Identifier: MIT
#include "weft/effects/detail/replay/log_path.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::detail {

log_path::log_path(log_segment const& tail, std::uint32_t length) {
  for (auto const* s = tail.before(); s; s = s->before()) ++size_;
  if (size_ > few_.size()) many_.resize(size_);
  log_stretch* const all = size_ > few_.size() ? many_.data() : few_.data();
  std::size_t i = size_;
  for (auto const* s = &tail; s; length = s->length_before(), s = s->before())
    all[--i] = {s->first(), s->first() + length};
}

std::size_t log_path::operations_before(log_stretch const* part,
                                        log_entry const* e) const noexcept {
  std::size_t n = 0;
  for (auto const* p = begin(); p <= part; ++p)
    for (auto const* x = p->first; x != (p == part ? e : p->last); ++x) n += x->count();
  return n;
}

}  // namespace weft::detail
