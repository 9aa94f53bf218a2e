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
  /// `prefix`: how messages of its type begin.
  lossy_queue(std::string prefix, std::size_t capacity)
      : prefix_(std::move(prefix)), capacity_(capacity) {}
  lossy_queue(lossy_queue const&) = delete;
  lossy_queue& operator=(lossy_queue const&) = delete;

  /// Stores what comes behind the prefix, in place of the oldest if the queue is full, and wakes
  /// the receiver.  O(size of the message).
  void put(std::string_view message) noexcept;
  /// From now on no message comes; `why` is what the receiver is thrown after the last one.
  void close(std::string why) noexcept;

  /// Throws routing_error if no message will come any more.
  [[nodiscard]] std::optional<std::string> try_take();
  /// The next message; empty if none has come by `t`.  Ends the step at the latest with the 64th
  /// message for which it did not have to wait.  Throws as try_take(); std::logic_error if another
  /// process waits.
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
  unsigned in_a_row_ = 0;  // messages without a wait; of the receiver

  std::mutex mutable lock_;  // for what follows
  std::deque<std::string> messages_;
  std::optional<completer<void>> bell_;  // while the receiver waits
  std::uint64_t overflowed_ = 0;
  std::uint64_t unreadable_ = 0;
  bool is_closed_ = false;
  std::string why_closed_;
};

}  // namespace weft::cluster::detail
