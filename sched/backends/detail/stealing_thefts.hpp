// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sched/backends/detail/stealing_worker.hpp"

/// The thefts of a worker of the work-stealing backend.
namespace weft {

/// Steals from the other workers, beginning with a random one.
inline stealing::header* stealing::worker::steal(bool& was_lost) noexcept {
  unsigned const first = random_below(all_.count_);
  for (unsigned i = 0; i != all_.count_; ++i) {
    unsigned const victim = (first + i) % all_.count_;
    if (victim == index_) continue;
    if (header* const p = steal_from(all_.homes_[victim], was_lost)) return p;
  }
  return nullptr;
}
/// Takes the oldest process of the next worker in turn: in one round from its deque, in the next
/// from its yielded processes, in the third from its lazy tasks.
inline stealing::header* stealing::worker::visit(bool& was_lost) noexcept {
  visited_ = (visited_ + 1) % all_.count_;
  if (visited_ == index_) {
    visited_ = (visited_ + 1) % all_.count_;
    visits_ = (visits_ + 1) % 3;
  }
  if (visited_ == index_) return nullptr;  // there is no other worker
  home& from = all_.homes_[visited_];
  if (visits_ == 2) return steal_lazy(from, was_lost);
  header* p = nullptr;
  if (visits_ == 1) {
    auto const n = thief_of_yielded(from.yielded).take({&p, 1});
    was_lost |= n.is_lost();
    if (!n) return nullptr;
  } else {
    auto const found = thief_of_deque(from.deque).steal();
    was_lost |= found.is_lost();
    if (!found) return nullptr;
    p = *found;
  }
  add(own_.stolen, 1);
  return p;
}
inline stealing::header* stealing::worker::steal_from(home& from, bool& was_lost) noexcept {
  std::array<header*, most_taken> batch;
  auto const n = thief_of_yielded(from.yielded).take_half(batch);
  was_lost |= n.is_lost();
  if (n) {
    for (std::size_t i = 1; i != *n; ++i) keep(own_.yielded, *batch[i]);
    return note_stolen(*batch[0], *n - 1);
  }
  auto const half = steal_half(from.deque);
  was_lost |= half.first.is_lost();
  if (half.first) return note_stolen(**half.first, half.others);
  return steal_lazy(from, was_lost);
}
/// Takes the oldest lazy task: where work is divided again and again, the largest.
inline stealing::header* stealing::worker::steal_lazy(home& from, bool& was_lost) noexcept {
  auto const found =
      &from == &own_ ? own_.lazy.take_oldest() : lazy_deque::thief(from.lazy).steal();
  was_lost |= found.is_lost();
  if (!found) return nullptr;
  if (&from != &own_) {
    add(own_.stolen, 1);
    if (!from.lazy.is_empty()) all_.idle_.wake_one();  // BACKEND-6: the next thief
  }
  return begun(**found);
}
inline chase_lev<stealing::header*>::thief::half stealing::worker::steal_half(
    chase_lev<header*>& from) noexcept {
  try {
    return thief_of_deque(from).steal_half(own_.deque, most_stolen);
  } catch (...) {  // no memory for half: takes one
    return {thief_of_deque(from).steal()};
  }
}
inline stealing::header* stealing::worker::note_stolen(header& first, std::size_t others) noexcept {
  add(own_.stolen, 1 + others);
  if (others != 0) share_more();
  return &first;
}
inline unsigned stealing::worker::random_below(unsigned n) noexcept {
  // Marsaglia's xorshift, of 32 bits; it chooses the first victim.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return static_cast<unsigned>((std::uint64_t{random_} * n) >> 32);
}

}  // namespace weft
