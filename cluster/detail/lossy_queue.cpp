// SPDX-License-Identifier: MIT
#include "weft/cluster/detail/lossy_queue.hpp"

#include <new>
#include <stdexcept>
#include <utility>

#include "weft/cluster/router.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft::cluster::detail {

/// A wait of the receiver.  When it ends, also by a cancellation, `bell_` is emptied.
class lossy_queue::waiting {
 public:
  explicit waiting(lossy_queue& q, completion<void> c) noexcept : rings(std::move(c)), of_(q) {}
  waiting(waiting const&) = delete;
  waiting& operator=(waiting const&) = delete;
  ~waiting() { of_.ring(); }
  completion<void> rings;

 private:
  lossy_queue& of_;
};

/// Wakes the receiver if it waits.  Unlocks first: the woken receiver takes the lock.
void lossy_queue::ring() noexcept {
  std::optional<completer<void>> bell;
  {
    std::scoped_lock const locked(lock_);
    bell.swap(bell_);
  }
  if (bell) bell->complete();
}

void lossy_queue::put(std::string_view message) noexcept {
  {
    std::scoped_lock const locked(lock_);
    if (is_closed_) return;
    if (!message.starts_with(prefix_)) {
      ++unreadable_;
      return;
    }
    message.remove_prefix(prefix_.size());
    if (messages_.size() == capacity_) {
      messages_.pop_front();
      ++overflowed_;
    }
    try {
      messages_.emplace_back(message);
    } catch (std::bad_alloc const&) {
      ++overflowed_;
      return;
    }
  }
  ring();
}

void lossy_queue::close(std::string why) noexcept {
  {
    std::scoped_lock const locked(lock_);
    if (std::exchange(is_closed_, true)) return;
    why_closed_ = std::move(why);
  }
  ring();
}

std::optional<std::string> lossy_queue::take_locked() {
  if (messages_.empty()) {
    if (is_closed_) throw routing_error(why_closed_);
    return std::nullopt;
  }
  std::optional<std::string> first(std::move(messages_.front()));
  messages_.pop_front();
  return first;
}

std::optional<std::string> lossy_queue::try_take() {
  std::scoped_lock const locked(lock_);
  return take_locked();
}

eff<std::optional<std::string>, completions> lossy_queue::take_until(
    std::shared_ptr<lossy_queue> from, instant t) {
  static constexpr unsigned most_in_a_row = 64;
  if (from->in_a_row_ == most_in_a_row) {
    // Waits for an open event: other processes get a turn, and a cancellation is noticed.
    from->in_a_row_ = 0;
    external_event over;
    over.open();
    co_await completions::wait{over};
  }
  for (;;) {
    std::optional<completion<void>> rings;
    {
      std::scoped_lock const locked(from->lock_);
      if (auto first = from->take_locked()) {
        ++from->in_a_row_;
        co_return first;
      }
      if (from->bell_)
        throw std::logic_error("weft: another process already waits at this lossy_inbox");
      rings = from->bell_.emplace().get_completion();
    }
    waiting now(*from, std::move(*rings));
    from->in_a_row_ = 0;
    if (t == instant::max()) {
      co_await now.rings.wait();
    } else {
      bool const rang = co_await now.rings.wait_until(t);
      if (!rang) co_return from->try_take();  // a message may have come at the same time
    }
  }
}

void lossy_queue::note_unreadable() noexcept {
  std::scoped_lock const locked(lock_);
  ++unreadable_;
}
std::uint64_t lossy_queue::overflowed() const noexcept {
  std::scoped_lock const locked(lock_);
  return overflowed_;
}
std::uint64_t lossy_queue::unreadable() const noexcept {
  std::scoped_lock const locked(lock_);
  return unreadable_;
}

}  // namespace weft::cluster::detail
