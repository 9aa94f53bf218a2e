// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/completion.hpp"

namespace weft::cluster::detail {

/// The messages that have come for a lossy_inbox, as bytes.  Any thread puts; one process takes.
class lossy_queue {
 public:
  /// `prefix`: the bytes with which each message of the inbox's type begins.
  lossy_queue(std::string prefix, std::size_t capacity)
      : prefix_(std::move(prefix)), capacity_(capacity) {}
  lossy_queue(lossy_queue const&) = delete;
  lossy_queue& operator=(lossy_queue const&) = delete;

  /// Stores the bytes behind the prefix, in place of the oldest message if the queue is full, and
  /// wakes the receiver.  A message without the prefix only counts as unreadable; one for which
  /// there is no memory, as lost by overflow.  Does nothing after close().  O(size of the message).
  void put(std::string_view message) noexcept;
  /// Accepts no message any more.  A receiver that finds none left gets a routing_error with `why`.
  void close(std::string why) noexcept;

  /// Takes the oldest message; empty if there is none.  Throws routing_error if none will come.
  [[nodiscard]] std::optional<std::string> try_take();
  /// Waits for the next message; yields an empty optional if none has come by `t`.  After 64
  /// messages without a wait it ends the step first.  Throws routing_error if no message will come
  /// any more; std::logic_error if another process waits.
  [[nodiscard]] static eff<std::optional<std::string>, completions> take_until(
      std::shared_ptr<lossy_queue> from, instant t);

  void note_unreadable() noexcept;
  [[nodiscard]] std::uint64_t overflowed() const noexcept;
  [[nodiscard]] std::uint64_t unreadable() const noexcept;

 private:
  class waiting;
  [[nodiscard]] std::optional<std::string> take_locked();
  void ring() noexcept;

  std::string const prefix_;
  std::size_t const capacity_;
  unsigned in_a_row_ = 0;  // messages taken without a wait; only the receiver accesses it

  std::mutex mutable lock_;  // guards the members below
  std::deque<std::string> messages_;
  std::optional<completer<void>> bell_;  // wakes the receiver; empty while it does not wait
  std::uint64_t overflowed_ = 0;
  std::uint64_t unreadable_ = 0;
  bool is_closed_ = false;
  std::string why_closed_;
};

}  // namespace weft::cluster::detail
