// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/permits.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <source_location>
#include <string>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft::detail {

permits::permits(std::size_t n, kind k) noexcept : left_(n), first_(n), kind_(k) {
  freed_.belongs_to(internal(), *this);
}
std::shared_ptr<permits> permits::make(std::size_t n, kind k) {
  return std::make_shared<permits>(n, k);
}
permits::~permits() = default;

bool permits::try_take(bool is_new) {
  // relaxed: a process that will wait has read the gate's epoch before, by an acquire.  So either
  // the process sees the store of close(), or the release in close() ends its wait, and it looks
  // again.
  if (closed_.load(std::memory_order_relaxed)) throw cancelled();
  std::size_t n = left_.load(std::memory_order_relaxed);  // relaxed: [1] checks the value
  // relaxed: a newcomer that misses an increment has only come a little earlier; one that misses a
  // decrement waits in line, and is woken by pass_on() or give_back().
  if (is_new && owed_.load(std::memory_order_relaxed) != 0) n = 0;
  while (n != 0)
    // [1] acquire: pairs with [2] in give_back(): the process that takes a permit sees what was
    // done before the permit was given back.
    if (left_.compare_exchange_weak(n, n - 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      note_access(&freed_, true);
      return true;
    }
  note_access(&freed_, false);
  return false;
}
void permits::give_back(std::size_t n) noexcept {
  if (n == 1 && holding_) holding_.reset();
  left_.fetch_add(n, std::memory_order_release);  // [2] release: pairs with [1] in try_take()
  if (n == 1)
    freed_.release_now(internal());
  else
    freed_.release_all_now(internal());
}
void permits::pass_on() noexcept {
  // relaxed: a give_back() that this load misses wakes a process itself.
  if (left_.load(std::memory_order_relaxed) != 0) freed_.release_now(internal());
}
/// One process in line, until it has its permit or leaves.
class permits::place_in_line {
 public:
  explicit place_in_line(permits& p) noexcept : of_(p) {}
  place_in_line(place_in_line const&) = delete;
  place_in_line& operator=(place_in_line const&) = delete;
  ~place_in_line() {
    // relaxed: try_take() says why a newcomer may miss this.
    if (is_owed_) of_.owed_.fetch_sub(1, std::memory_order_relaxed);
    // A wake-up may have come to this process, if it has a permit after a wait, or if the epoch has
    // changed since it looked: then it wakes the next process in line.
    if (waits_ != 0 && (has_one_ || of_.freed_.epoch() != seen_)) of_.pass_on();
  }
  /// Takes a permit.  Returns false if there is none: then seen() is the epoch with which to wait.
  [[nodiscard]] bool try_take() {
    seen_ = of_.freed_.epoch();
    if (of_.try_take(waits_ == 0)) return has_one_ = true;
    if (++waits_ == 2) {  // the process was woken, but another one took the permit
      is_owed_ = true;
      of_.owed_.fetch_add(1, std::memory_order_relaxed);  // relaxed: newcomers see it eventually
    }
    return false;
  }
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

 private:
  permits& of_;
  std::uint64_t seen_ = 0;
  unsigned waits_ = 0;
  bool is_owed_ = false;
  bool has_one_ = false;
};
eff<void, syncing> permits::take(std::shared_ptr<permits> from, std::source_location where) {
  place_in_line here(*from);
  while (!here.try_take())
    co_await located(syncing::wait(from->freed_, here.seen(), for_release()), where);
}
eff<bool, syncing> permits::take_until(std::shared_ptr<permits> from, instant until,
                                       std::source_location where) {
  place_in_line here(*from);
  while (!here.try_take()) {
    bool const woken = co_await located(
        syncing::wait_until(from->freed_, here.seen(), until, for_release()), where);
    if (!woken) co_return false;
  }
  co_return true;
}
void permits::close() noexcept {
  closed_.store(true, std::memory_order_relaxed);  // relaxed: try_take() says why
  freed_.release_all_now(internal());
}

void permits::describe(deadlock::waiter& w, std::size_t waiting) const {
  if (kind_ == kind::semaphore)
    w.reason = "a permit of a semaphore, which has " +
               // relaxed: no process runs.
               std::to_string(left_.load(std::memory_order_relaxed)) + " left and was made with " +
               std::to_string(first_) + ": " + text_of_waiters(waiting);
  if (holding_) w.held_by = deadlock::holder{holding_->process, text(holding_->since)};
}

}  // namespace weft::detail
