// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/io/socket.hpp"

/// A connection in memory.
namespace weft::detail {

/// Holds the event of the process that waits to read, to write or to accept, if there is one.
class watched_place {
 public:
  watched_place() = default;
  watched_place(watched_place const&) = delete;
  watched_place& operator=(watched_place const&) = delete;

  void enter(external_event& g, direction d);
  void leave(external_event const& g) noexcept {
    if (gate_ == &g) gate_ = nullptr;
  }
  void open();

 private:
  external_event* gate_ = nullptr;
};

/// The bytes in transit in one direction, and the state of that direction.
///
///   MEMNET-2  To an explorer a stream is one location (location_listener.hpp).  An attempt to read
///       or write bytes counts as a read of the location, and a change of the stream as a write,
///       even if only the other side will notice the change.
///   MEMNET-3  A stream that a fault has made silent opens no event: what one side does wakes no
///       process on the other side.
class memory_stream {
 public:
  explicit memory_stream(std::size_t capacity);
  memory_stream(memory_stream const&) = delete;
  memory_stream& operator=(memory_stream const&) = delete;
  ~memory_stream();

  void touch(bool writes) const noexcept;  // tells an explorer of an access (MEMNET-2)

  // ---- bytes

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - first_; }
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - size(); }
  /// Requires from.size() <= room().
  void put(std::span<std::byte const> from);
  /// Requires into.size() <= size().
  void take(std::span<std::byte> into);

  // ---- state

  /// Ends the stream after the bytes that are in it.
  void finish();
  /// Notes that the reader has closed its end.
  void desert();
  void break_off();
  void fall_silent() noexcept;

  /// Whether the connection was reset, as far as an end can know: a silent stream hides the reset
  /// (MEMNET-3).
  [[nodiscard]] bool is_broken() const noexcept { return is_broken_ && !is_silent; }
  [[nodiscard]] bool has_news_for_reader() const noexcept {
    return !is_silent && (size() != 0 || is_finished || is_broken_);
  }
  [[nodiscard]] bool has_news_for_writer() const noexcept {
    return room() != 0 || (!is_silent && (is_broken_ || is_deserted));
  }

  bool is_finished = false;
  bool is_deserted = false;
  bool is_silent = false;
  watched_place reader;
  watched_place writer;

 private:
  void tell(watched_place& who);

  bool is_broken_ = false;
  std::size_t const capacity_;
  std::vector<std::byte> bytes_;
  std::size_t first_ = 0;
};

/// The two streams of a connection, owned by both ends together.
struct memory_link {
  enum class state : std::uint8_t { under_way, waits, connected, refused };

  explicit memory_link(std::size_t capacity);

  void reset();
  void fall_silent() noexcept;
  /// Changes the state, and wakes the connecting process.
  void become(state s);

  memory_stream there;  // written by the connecting end
  memory_stream back;
  state is = state::under_way;  // part of the location `there` (MEMNET-2)
};

}  // namespace weft::detail
