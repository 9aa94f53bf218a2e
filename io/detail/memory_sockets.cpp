// SPDX-License-Identifier: MIT
#include "weft/io/detail/memory_sockets.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "weft/io/detail/memory_stream.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft::detail {

memory_listener::memory_listener(endpoint e, std::size_t backlog)
    : at(std::move(e)), backlog_(backlog) {
  note_created(this);
}
memory_listener::~memory_listener() { note_destroyed(this); }

void memory_listener::touch(bool writes) const noexcept { note_access(this, writes); }

void memory_listener::push(arrival a) {
  touch(true);
  auto& link = *a.link;
  coming_.push_back(std::move(a));
  link.become(coming_.size() <= backlog_ ? memory_link::state::connected
                                         : memory_link::state::waits);
  watched.open();
}
bool memory_listener::check_retry() noexcept {
  touch(false);
  return std::exchange(is_late, false) || !is_empty();
}
void memory_listener::pop() {
  touch(true);
  coming_.pop_front();
  if (coming_.size() >= backlog_) coming_[backlog_ - 1].link->become(memory_link::state::connected);
}
void memory_listener::close() {
  touch(true);
  for (auto const& a : coming_)
    if (a.link->is == memory_link::state::connected)
      a.link->reset();
    else
      a.link->become(memory_link::state::refused);
  coming_.clear();
  watched.open();
}

socket_id memory_sockets::add(socket s) {
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
memory_sockets::socket const* memory_sockets::find(socket_id s) const noexcept {
  if (s.place >= places_.size()) return nullptr;
  place const& p = places_[s.place];
  return p.number == s.number && p.is.index() != 0 ? &p.is : nullptr;
}
memory_sockets::socket memory_sockets::remove(socket_id s) noexcept {
  if (!find(s)) return {};
  free_.push_back(s.place);
  return std::exchange(places_[s.place].is, {});
}

namespace {
bool is_at(memory_listener const& l, endpoint const& to) noexcept {
  if (l.at.port != to.port) return false;
  bool const is_ipv4 = to.address.find(':') == std::string::npos;
  return l.at.address == to.address || l.at.address == "::" ||
         (is_ipv4 && l.at.address == "0.0.0.0");
}
}  // namespace

memory_listener* memory_sockets::find_listener_at(endpoint const& to) const noexcept {
  for (auto const& p : places_)
    if (auto const* const l = std::get_if<listener>(&p.is); l && is_at(**l, to)) return l->get();
  return nullptr;
}

}  // namespace weft::detail
