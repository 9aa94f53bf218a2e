// SPDX-License-Identifier: MIT
#include "weft/io/detail/memory_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

#include "weft/io/socket.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft::detail {

void watched_place::enter(external_event& g, direction d) {
  if (gate_)
    throw std::logic_error(
        d == direction::reading
            ? "weft: a process already waits to read from, or accept at, this socket: one at a "
              "time may"
            : "weft: a process already waits to write to this socket: one at a time may");
  gate_ = &g;
}
void watched_place::open() {
  if (gate_) std::exchange(gate_, nullptr)->open();
}

memory_stream::memory_stream(std::size_t capacity) : capacity_(capacity) { note_created(this); }
memory_stream::~memory_stream() { note_destroyed(this); }

void memory_stream::touch(bool writes) const noexcept { note_access(this, writes); }

void memory_stream::put(std::span<std::byte const> from) {
  touch(true);
  bytes_.insert(bytes_.end(), from.begin(), from.end());
  tell(reader);
}
void memory_stream::take(std::span<std::byte> into) {
  touch(true);
  auto const at = bytes_.begin() + static_cast<std::ptrdiff_t>(first_);
  std::copy_n(at, into.size(), into.begin());
  first_ += into.size();
  if (first_ >= capacity_ || first_ == bytes_.size()) {  // so erase() moves each byte at most once
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  tell(writer);
}

void memory_stream::finish() {
  touch(true);
  is_finished = true;
  tell(reader);
}
void memory_stream::desert() {
  touch(true);
  is_deserted = true;
  tell(writer);
}
void memory_stream::break_off() {
  touch(true);
  is_broken_ = true;
  bytes_.clear();
  first_ = 0;
  tell(reader);
  tell(writer);
}
void memory_stream::fall_silent() noexcept {
  touch(true);
  is_silent = true;
}
void memory_stream::tell(watched_place& who) {
  if (!is_silent) who.open();  // a silent stream wakes no process (MEMNET-3)
}

memory_link::memory_link(std::size_t capacity) : there(capacity), back(capacity) {}
void memory_link::reset() {
  there.break_off();
  back.break_off();
}
void memory_link::fall_silent() noexcept {
  there.fall_silent();
  back.fall_silent();
}
void memory_link::become(state s) {
  there.touch(true);
  is = s;
  there.writer.open();
}

}  // namespace weft::detail
