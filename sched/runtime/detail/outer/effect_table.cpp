// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/outer/effect_table.hpp"

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <new>

namespace weft::detail {

void effect_table::expect(std::size_t effects) { known_.reserve(effects); }
void effect_table::learn(known_effect e) { known_.push_back(e); }

bool effect_table::knows(type_identity const& effect) const noexcept {
  return find(effect) != nullptr;
}
void* effect_table::look_up(row_info const& row, bool recorded) {
  if (row.size == 0) return nullptr;
  if (row.size == 1) return one(*row.effects[0], recorded);
  return array_for(row, recorded).evidence;
}

known_effect const* effect_table::find(type_identity const& effect) const noexcept {
  for (auto const& known : known_)
    if (known.effect == &effect) return &known;
  for (auto const& known : known_)  // an equal effect, of another shared object
    if (*known.effect == effect) return &known;
  return nullptr;
}
void* effect_table::one(type_identity const& effect, bool recorded) const noexcept {
  known_effect const& known = *find(effect);
  return recorded ? known.recorded : known.plain;
}
effect_table::row_array const& effect_table::array_for(row_info const& row, bool recorded) {
  std::lock_guard const lock(mutex_);
  for (auto const* r = rows_; r; r = r->next)
    if (r->row == &row && r->recorded == recorded) return *r;
  std::pmr::polymorphic_allocator<> from(&memory_);
  auto** const all = from.allocate_object<void*>(row.size);
  for (std::size_t i = 0; i != row.size; ++i) all[i] = one(*row.effects[i], recorded);
  rows_ = from.new_object<row_array>(row_array{&row, recorded, all, rows_});
  return *rows_;
}

}  // namespace weft::detail
