// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "weft/io/detail/memory_stream.hpp"
#include "weft/io/socket.hpp"

/// The sockets of a network in memory.
namespace weft::detail {

/// One end of a connection.
struct memory_end {
  memory_stream& in() const noexcept { return connects ? link->back : link->there; }
  memory_stream& out() const noexcept { return connects ? link->there : link->back; }

  std::shared_ptr<memory_link> link;
  bool connects;  // whether this is the connecting end, not the accepted one
  endpoint local;
  endpoint peer;
  // Set after a delayed attempt: the next watch in that direction then opens its event at once.
  bool is_reading_late = false;
  bool is_writing_late = false;
  bool has_written_part = false;  // a fault cut a write short: the next write yields nothing
  bool has_written_to_nobody = false;
};

/// A listener in memory.  It is one location, as a stream is (MEMNET-2).
class memory_listener {
 public:
  struct arrival {
    std::shared_ptr<memory_link> link;
    endpoint from;
    endpoint to;
  };

  memory_listener(endpoint e, std::size_t backlog);
  memory_listener(memory_listener const&) = delete;
  memory_listener& operator=(memory_listener const&) = delete;
  ~memory_listener();

  void touch(bool writes) const noexcept;

  /// Adds a connection, and connects it, or has it wait until there is room in the backlog.
  void push(arrival a);
  [[nodiscard]] bool is_empty() const noexcept { return coming_.empty(); }
  /// Whether another accept may succeed.  The first call after a delayed accept returns true, and
  /// forgets the delay.
  [[nodiscard]] bool check_retry() noexcept;
  [[nodiscard]] arrival const& front() const noexcept { return coming_.front(); }
  void pop();
  /// Resets the arrivals that are connected, and refuses those that wait for room.
  void close();

  endpoint const at;
  watched_place watched;
  bool is_late = false;

 private:
  std::size_t const backlog_;
  std::deque<arrival> coming_;
};

/// Sockets by place and number; a closed socket is not found again.
class memory_sockets {
 public:
  using end = std::unique_ptr<memory_end>;
  using listener = std::unique_ptr<memory_listener>;
  using socket = std::variant<std::monostate, end, listener>;

  /// How many sockets there are.
  [[nodiscard]] std::size_t size() const noexcept { return places_.size() - free_.size(); }
  [[nodiscard]] socket_id add(socket s);
  /// The socket with that id; null if it is closed.
  [[nodiscard]] socket const* find(socket_id s) const noexcept;
  [[nodiscard]] socket remove(socket_id s) noexcept;
  /// The listener at an address; null if there is none.
  [[nodiscard]] memory_listener* find_listener_at(endpoint const& to) const noexcept;

 private:
  struct place {
    socket is;
    std::uint32_t number = 0;
  };

  std::vector<place> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::detail
