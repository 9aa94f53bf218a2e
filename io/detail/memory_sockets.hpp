// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/io/detail/memory_stream.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

/// The sockets of a network in memory.
namespace weft::detail {

/// One end of a connection.
struct memory_end {
  memory_stream& in() const noexcept { return connects ? link->back : link->there; }
  memory_stream& out() const noexcept { return connects ? link->there : link->back; }

  std::shared_ptr<memory_link> link;
  bool connects;  // else it has accepted
  endpoint local;
  endpoint peer;
  // If one of these two is set, the next watch in that direction opens its event at once.
  bool is_reading_late = false;
  bool is_writing_late = false;
  bool has_written_part = false;  // the next attempt to write then yields nothing
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

  memory_listener(endpoint e, std::size_t backlog) : at(std::move(e)), backlog_(backlog) {
    note_created(this);
  }
  memory_listener(memory_listener const&) = delete;
  memory_listener& operator=(memory_listener const&) = delete;
  ~memory_listener() { note_destroyed(this); }

  void touch(bool writes) const noexcept { note_access(this, writes); }

  /// Adds a connection, and connects it, or has it wait until there is room in the backlog.
  void push(arrival a) {
    touch(true);
    auto& link = *a.link;
    coming_.push_back(std::move(a));
    link.become(coming_.size() <= backlog_ ? memory_link::state::connected
                                           : memory_link::state::waits);
    watched.open();
  }
  [[nodiscard]] bool is_empty() const noexcept { return coming_.empty(); }
  /// Whether another attempt may succeed.
  [[nodiscard]] bool check_retry() noexcept {
    touch(false);
    return std::exchange(is_late, false) || !is_empty();
  }
  [[nodiscard]] arrival const& front() const noexcept { return coming_.front(); }
  void pop() {
    touch(true);
    coming_.pop_front();
    if (coming_.size() >= backlog_)
      coming_[backlog_ - 1].link->become(memory_link::state::connected);
  }
  /// Resets the arrivals that are connected, and refuses those that wait for room.
  void close() {
    touch(true);
    for (auto const& a : coming_)
      if (a.link->is == memory_link::state::connected)
        a.link->reset();
      else
        a.link->become(memory_link::state::refused);
    coming_.clear();
    watched.open();
  }

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
  [[nodiscard]] socket_id add(socket s) {
    if (free_.empty()) {
      free_.reserve(places_.size() + 1);  // room for every place, so remove() does not allocate
      places_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    std::uint32_t const i = free_.back();
    free_.pop_back();
    places_[i].is = std::move(s);
    return {i, ++places_[i].number};
  }
  /// Null if the socket is closed.
  [[nodiscard]] socket const* find(socket_id s) const noexcept {
    if (s.place >= places_.size()) return nullptr;
    place const& p = places_[s.place];
    return p.number == s.number && p.is.index() != 0 ? &p.is : nullptr;
  }
  [[nodiscard]] socket remove(socket_id s) noexcept {
    if (!find(s)) return {};
    free_.push_back(s.place);
    return std::exchange(places_[s.place].is, {});
  }
  /// The listener at an address; null if there is none.
  [[nodiscard]] memory_listener* find_listener_at(endpoint const& to) const noexcept {
    for (auto const& p : places_)
      if (auto const* const l = std::get_if<listener>(&p.is); l && is_at(**l, to)) return l->get();
    return nullptr;
  }

 private:
  struct place {
    socket is;
    std::uint32_t number = 0;
  };
  static bool is_at(memory_listener const& l, endpoint const& to) noexcept {
    if (l.at.port != to.port) return false;
    bool const is_ipv4 = to.address.find(':') == std::string::npos;
    return l.at.address == to.address || l.at.address == "::" ||
           (is_ipv4 && l.at.address == "0.0.0.0");
  }

  std::vector<place> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::detail
