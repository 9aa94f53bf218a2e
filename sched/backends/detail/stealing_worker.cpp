// SPDX-License-Identifier: MIT
#include "weft/sched/backends/detail/stealing_worker.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "weft/effects/detail/platform.hpp"
#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

void stealing_worker::reserve_lazy(std::size_t n) { own_.lazy.reserve(n); }

bool stealing_worker::sleep_to_deadline(instant until, quiescence_test quiescent) {
  if (unsigned const told = rechecks(); told != rechecks_seen_) {
    rechecks_seen_ = told;
    return true;
  }
  auto const nothing_new = [this] { return all_.all_are_empty() && rechecks() == rechecks_seen_; };
  using slept = idle_threads::slept;
  slept const how =
      all_.idle.sleep(index_, until, quiescent, idle_threads::queue_test(nothing_new));
  if (how != slept::not_at_all) add(own_.parked, 1);
  if (how == slept::until_woken) add(own_.woken, 1);
  return how == slept::until_deadline;
}

/// Adds a process to `in`, the worker's own deque or queue, without publishing it; if there is no
/// memory for that, to the global queue.
void stealing_worker::keep(auto& in, header& p) noexcept {
  try {
    in.push(&p);
  } catch (...) {
    all_.global.push(p);
  }
}
/// Publishes the processes that the worker does not run next, and wakes another worker for them.
void stealing_worker::share_more() noexcept {
  own_.deque.publish();
  own_.yielded.publish();
  all_.idle.wake_one();
}

// ---- the next process

/// Takes a process from the global queue or from other workers.  Null if there is none, after
/// looking several times.
stealing_header* stealing_worker::find_slow() noexcept {
  for (unsigned looks = 0;; ++looks) {
    if (header* const p = take_global(all_.options.batch)) return p;
    bool was_lost = false;
    if (header* const p = steal(was_lost)) return p;
    if (was_lost) continue;
    if (looks >= all_.options.looks || all_.idle.all_others_sleep()) return nullptr;
    if (looks < all_.options.spins)
      pause_for(8);
    else
      std::this_thread::yield();
  }
}
/// Takes a process from the global queue, the deque or the yielded processes, before the lazy tasks
/// have their turn (BACKEND-8).
stealing_header* stealing_worker::find_other_work() noexcept {
  if (header* const p = take_global(0)) return p;
  if (auto const p = own_.deque.try_pop()) return *p;
  return take_yielded();
}
stealing_header* stealing_worker::find_oldest() noexcept {
  until_oldest_ = steps_to_oldest;
  header* const p = oldest();
  // This also publishes a process that yielded without being published, and is not taken back now
  // (WORKER-2).
  if (p && (own_.deque.size() != 0 || own_.yielded.size() != 0)) share_more();
  return p;
}
/// Returns the longest-waiting process of one place, by turns.  Null if there is none.
stealing_header* stealing_worker::oldest() noexcept {
  turn_ = (turn_ + 1) % 5;
  // Takes no others along: they would be the newest in the deque, from which this search takes the
  // oldest.
  if (turn_ == 0) return take_global(0);
  if (turn_ == 1) return take_yielded();
  if (turn_ == 2) {
    auto const p = thief_of_deque(own_.deque).steal();
    return p ? *p : nullptr;
  }
  bool was_lost = false;
  return turn_ == 3 ? steal_lazy(own_, was_lost) : visit(was_lost);
}
/// Returns the first process of the global queue; takes up to `most_others` more.  Those go to
/// the deque, in such an order that they come out as they stood in the global queue.
stealing_header* stealing_worker::take_global(std::size_t most_others) noexcept {
  std::array<header*, 1 + most_taken> taken;
  std::size_t const most = 1 + std::min<std::size_t>(most_others, most_taken);
  std::size_t n = all_.global.take({taken.data(), most}, all_.count);
  if (n == 0) return nullptr;
  if (n == 1) return taken[0];
  while (--n != 0) keep(own_.deque, *taken[n]);
  share_more();
  return taken[0];
}

// ---- thefts

/// Steals from the other workers, beginning with a random one.
stealing_header* stealing_worker::steal(bool& was_lost) noexcept {
  unsigned const first = random_below(all_.count);
  for (unsigned i = 0; i != all_.count; ++i) {
    unsigned const victim = (first + i) % all_.count;
    if (victim == index_) continue;
    if (header* const p = steal_from(all_.homes[victim], was_lost)) return p;
  }
  return nullptr;
}
/// Takes the oldest process of the next worker in turn: in one round from its deque, in the next
/// from its yielded processes, in the third from its lazy tasks.
stealing_header* stealing_worker::visit(bool& was_lost) noexcept {
  last_victim_ = (last_victim_ + 1) % all_.count;
  if (last_victim_ == index_) {
    last_victim_ = (last_victim_ + 1) % all_.count;
    victim_place_ = (victim_place_ + 1) % 3;
  }
  if (last_victim_ == index_) return nullptr;  // there is no other worker
  stealing_shared::home& from = all_.homes[last_victim_];
  if (victim_place_ == 2) return steal_lazy(from, was_lost);
  header* p = nullptr;
  if (victim_place_ == 1) {
    auto const n = thief_of_yielded(from.yielded).take({&p, 1});
    was_lost |= n.is_lost();
    if (!n) return nullptr;
  } else {
    auto const found = thief_of_deque(from.deque).steal();
    was_lost |= found.is_lost();
    if (!found) return nullptr;
    p = *found;
  }
  note_theft(from, 1);
  return p;
}
stealing_header* stealing_worker::steal_from(stealing_shared::home& from, bool& was_lost) noexcept {
  std::array<header*, most_taken> batch;
  auto const n = thief_of_yielded(from.yielded).take_half(batch);
  was_lost |= n.is_lost();
  if (n) {
    for (std::size_t i = 1; i != *n; ++i) keep(own_.yielded, *batch[i]);
    return note_stolen(from, *batch[0], *n - 1);
  }
  auto const half = steal_half(from.deque);
  was_lost |= half.first.is_lost();
  if (half.first) return note_stolen(from, **half.first, half.others);
  return steal_lazy(from, was_lost);
}
/// Promotes the oldest lazy task of `from`, which may be this worker's own part.  Where work is
/// divided again and again, the oldest task is the largest.
stealing_header* stealing_worker::steal_lazy(stealing_shared::home& from, bool& was_lost) noexcept {
  auto const found = &from == &own_ ? own_.lazy.take_oldest()
                                    : stealing_shared::lazy_deque::thief(from.lazy).steal();
  was_lost |= found.is_lost();
  if (!found) return nullptr;
  if (&from != &own_) {
    note_theft(from, 1);
    // If more tasks are left, wakes the next thief (BACKEND-6).
    if (!from.lazy.is_empty()) all_.idle.wake_one();
  }
  return promote(**found);
}
stealing_worker::thief_of_deque::half stealing_worker::steal_half(
    chase_lev<header*>& from) noexcept {
  try {
    return thief_of_deque(from).steal_half(own_.deque, most_stolen);
  } catch (...) {  // no memory for half: takes one
    return {thief_of_deque(from).steal()};
  }
}
/// Counts, and adds to the trace, `n` processes or tasks that were taken from another worker.
void stealing_worker::note_theft(stealing_shared::home const& from, std::uint64_t n) noexcept {
  add(own_.stolen, n);
  note_traced({.value = n,
               .kind = trace_kind::steal,
               .other_worker = static_cast<std::uint16_t>(&from - &all_.homes[0])});
}
stealing_header* stealing_worker::note_stolen(stealing_shared::home const& from, header& first,
                                              std::size_t others) noexcept {
  note_theft(from, 1 + others);
  if (others != 0) share_more();
  return &first;
}
unsigned stealing_worker::random_below(unsigned n) noexcept {
  // Marsaglia's xorshift, of 32 bits.  The numbers choose the first victim.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return static_cast<unsigned>((std::uint64_t{random_} * n) >> 32);
}

}  // namespace weft::detail
