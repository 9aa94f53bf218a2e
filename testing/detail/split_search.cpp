// SPDX-License-Identifier: MIT
#include "weft/testing/detail/split_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/testing/detail/dpor_strategy.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/exploration.hpp"

namespace weft::detail {

namespace {

/// Moves to the first schedule of the part.  False if it has none.
template <class Strategy>
bool begin_part(Strategy& c, typename Strategy::part const& p) {
  c.begin_at(p);
  return p.nodes.empty() || c.next();
}

}  // namespace

template <class Strategy>
split_search<Strategy>::split_search(subject& s, search_limits const& l, unsigned threads)
    : subject_(s), limits_(l), threads_(threads), line_(l.progress), seen_(threads) {}

template <class Strategy>
bool split_search<Strategy>::visit(bounds const& within) {
  for (std::size_t i = known_.size(); i != found_.outcomes.size(); ++i)
    known_.insert(search::key_of(found_.outcomes[i].result));
  parts_.clear();
  open_.clear();
  idle_ = 0;
  part& all = parts_.emplace_back(typename Strategy::part());
  all.place = parts_.begin();
  open_.push_back(&all);
  working_ = threads_;
  std::vector<std::thread> others;
  try {
    others.reserve(threads_ - 1);
    for (unsigned i = 1; i != threads_; ++i)
      others.emplace_back([this, i, &within] { work(i, within); });
  } catch (...) {  // goes on with as many threads as the system allows
    std::lock_guard const lock(mutex_);
    working_ = static_cast<unsigned>(others.size()) + 1;
  }
  work(0, within);
  for (auto& t : others) t.join();
  if (failure_) std::rethrow_exception(failure_);
  return add_results(within);
}

template <class Strategy>
void split_search<Strategy>::work(unsigned thread, bounds const& within) noexcept {
  try {
    search by(subject_, limits_of_part(limits_.max_schedules - found_.schedules), start_, &known_);
    while (part* const p = take_part()) {
      visit_part(*p, by, within, &seen_[thread]);
      note_visited(*p);
    }
    by.end();
  } catch (...) {
    fail(std::current_exception());
    while (take_part()) {  // until all threads are idle: the others wait for that
    }
  }
}
template <class Strategy>
typename split_search<Strategy>::part* split_search<Strategy>::take_part() {
  std::unique_lock lock(mutex_);
  ++idle_;
  while (open_.empty()) {
    if (idle_ == working_) {  // no thread visits a part, so none will be given away
      changed_.notify_all();
      return nullptr;
    }
    // Relaxed: a thread that sees is_part_wanted_ late gives a part away later.
    is_part_wanted_.store(true, std::memory_order_relaxed);
    changed_.wait(lock);
  }
  part* const p = open_.back();
  open_.pop_back();
  --idle_;
  is_part_wanted_.store(idle_ > open_.size(), std::memory_order_relaxed);  // relaxed: a hint
  return p;
}
template <class Strategy>
void split_search<Strategy>::visit_part(part& p, search& by, bounds const& within, counts* seen) {
  Strategy c(within);
  std::array<std::size_t, 3> before{};
  if (seen) before = {(*seen)[0], (*seen)[1], (*seen)[2]};
  if (begin_part(c, p.begin)) do {
      // Relaxed: a thread that sees was_ended late only visits the part further in vain.
      if (p.was_ended.load(std::memory_order_relaxed)) break;
      std::size_t const counted = by.found().schedules;
      bool const goes_on = by.run(c);
      p.ends_uncounted = goes_on && by.found().schedules == counted;
      if (!c.what_differed().empty()) by.differs(c.what_differed());
      if (!goes_on || !c.what_differed().empty()) {
        p.is_late = by.is_late();
        p.ends_search = !p.is_late;
        break;
      }
      if (!seen) continue;
      if (line_.is_on()) {
        auto const& now = by.found();
        seen->set({before[0] + now.schedules, before[1] + now.failed, before[2] + now.deadlocks});
        if (seen == &seen_.front()) tell();
      }
      if (is_part_wanted_.load(std::memory_order_relaxed)) give_part(p, c);  // relaxed: a hint
    } while (c.next());
  if (c.leaves_spins()) by.found().leave_out_spins();
  p.found = by.take_found();
  p.is_pruned = c.is_pruned();
}
template <class Strategy>
void split_search<Strategy>::give_part(part& from, Strategy& c) {
  auto given = c.give();
  if (!given) return;
  std::lock_guard const lock(mutex_);
  auto const place = parts_.emplace(std::next(from.place), std::move(*given));
  place->place = place;
  // Relaxed: was_ended is set only under the lock, which this thread holds.
  place->was_ended.store(from.was_ended.load(std::memory_order_relaxed), std::memory_order_relaxed);
  open_.push_back(&*place);
  is_part_wanted_.store(idle_ > open_.size(), std::memory_order_relaxed);  // relaxed: a hint
  changed_.notify_one();
}
/// Notes that a part was visited, and ends the parts that are not needed any more (SPLIT-3).
template <class Strategy>
void split_search<Strategy>::note_visited(part& p) {
  std::lock_guard const lock(mutex_);
  p.was_visited = true;
  if (p.ends_search) end_parts_from(std::next(p.place));
  if (limits_.max_schedules == search_limits::no_limit) return;
  std::size_t left = limits_.max_schedules - found_.schedules;
  for (auto i = parts_.begin(); i != parts_.end() && i->was_visited; ++i) {
    if (i->found.schedules >= left) return end_parts_from(std::next(i));
    left -= i->found.schedules;
  }
}
template <class Strategy>
void split_search<Strategy>::end_parts_from(typename std::list<part>::iterator first) noexcept {
  for (auto i = first; i != parts_.end(); ++i)
    i->was_ended.store(true, std::memory_order_relaxed);  // relaxed: visit_part() may see it late
}
template <class Strategy>
void split_search<Strategy>::fail(std::exception_ptr error) noexcept {
  std::lock_guard const lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  end_parts_from(parts_.begin());
}

template <class Strategy>
bool split_search<Strategy>::add_results(bounds const& within) {
  is_pruned_ = false;
  bool is_late = false;
  for (part& p : parts_) {
    std::size_t const left = limits_.max_schedules - found_.schedules;
    Strategy c(within);
    if (left == 0 && begin_part(c, p.begin)) {
      found_.leave_out(search::at_max_schedules);
      return false;
    }
    if (p.found.schedules > left || (p.found.schedules == left && p.ends_uncounted)) {
      p.was_ended.store(false, std::memory_order_relaxed);  // relaxed: no other thread is left
      search by(subject_, limits_of_part(left), start_, &known_);
      visit_part(p, by, within, nullptr);
    }
    is_pruned_ |= p.is_pruned;
    is_late |= p.is_late;
    found_.add(std::move(p.found));
    if (p.ends_search) return false;
  }
  return !is_late;
}
template <class Strategy>
search_limits split_search<Strategy>::limits_of_part(std::size_t max_schedules) const noexcept {
  search_limits limits = limits_;
  limits.max_schedules = max_schedules;
  limits.progress = progress::never;
  return limits;
}
template <class Strategy>
void split_search<Strategy>::tell() {
  exploration all;
  for (auto const& s : seen_) {
    all.schedules += s[0];
    all.failed += s[1];
    all.deadlocks += s[2];
  }
  line_.tell(all, search::clock::now() - start_);
}

exploration visited_reduced(subject& s, search_limits const& l, unsigned threads) {
  // With several threads the search has so many beginnings that no part has most of the schedules.
  // One thread needs no parts, so races alone make candidates wanted.
  constexpr std::size_t tried_in_full_by_several = 64;
  split_search<dpor_strategy> all(s, l, threads);
  (void)all.visit({.tried_in_full = threads == 1 ? 0 : tried_in_full_by_several});
  return all.end();
}

template class split_search<every_schedule>;
template class split_search<dpor_strategy>;

}  // namespace weft::detail
