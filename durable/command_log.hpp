// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::durable {

/// A log to which several programs write, and which all of them read in the same order.  A
/// replicated_store is made of one.
///
///  ENTRY-1  Entries have the numbers 1, 2, 3, ... in the order of the log, the same for all
///           programs.
///  ENTRY-2  When append() has returned, the entry is in the log, and a crash does not undo it.
///  ENTRY-3  An entry may stand in the log twice, if append() had to write it again.
class command_log {
 public:
  command_log() = default;
  command_log(command_log const&) = delete;
  command_log& operator=(command_log const&) = delete;
  virtual ~command_log() = default;

  /// An entry, as all programs find it.
  struct entry {
    std::uint64_t number = 0;  ///< From 1 on, without a gap.
    std::string bytes{};       ///< The bytes that append() was given.
  };
  /// Appends an entry of at most max_size() bytes, blocks until it is in the log, and returns its
  /// number.  Throws store_error if after some time it is not known whether the entry is in the
  /// log; the entry may get into the log later.
  virtual std::uint64_t append(std::string const& bytes) = 0;
  [[nodiscard]] virtual std::size_t max_size() const = 0;
  /// Blocks until all entries up to this number have arrived in this program.  Throws store_error
  /// if they have not after some time.
  virtual void wait_for(std::uint64_t number) = 0;
  /// The entries after number `after` that have arrived in this program, in their order.  The
  /// caller does not ask for earlier entries again.  Allocates what it returns.
  [[nodiscard]] virtual std::vector<entry> take(std::uint64_t after) = 0;
  /// The number of the last entry that any program has appended.
  [[nodiscard]] virtual std::uint64_t last() = 0;
  /// Sets the function that is called, by any thread and without a lock, when entries have arrived.
  /// Not null.  When on_arrival() returns, the previous function is not called any more.
  virtual void on_arrival(std::function<void()> f) = 0;
};

}  // namespace weft::durable
