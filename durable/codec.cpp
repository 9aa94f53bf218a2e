// SPDX-License-Identifier: MIT
#include "weft/durable/codec.hpp"

#include <sstream>
#include <utility>

namespace weft::durable {

namespace {
// Kept for the values that come next: most fit into it.
thread_local msgpack::zone zone_of_thread(1024);
thread_local bool is_taken = false;
}  // namespace

detail::reading::reading() noexcept
    : memory_(std::exchange(is_taken, true) ? nullptr : &zone_of_thread) {}
detail::reading::~reading() {
  if (!memory_) return;
  memory_->clear();
  is_taken = false;
}
msgpack::object detail::reading::value(std::string_view bytes) {
  msgpack::zone& memory = memory_ ? *memory_ : own_.emplace(256);
  bool refers = false;
  std::size_t end = 0;
  auto const o = msgpack::unpack(
      memory, bytes.data(), bytes.size(), end, refers,
      [](msgpack::type::object_type, std::size_t, void*) { return true; });
  if (end != bytes.size()) throw msgpack::type_error();
  return o;
}

void detail::throw_not_readable(std::string_view type, char const* why) {
  throw not_readable("weft: a stored value cannot be read as " + std::string(type) + ": " + why);
}

std::string readable(std::string_view bytes) {
  std::ostringstream text;
  try {
    std::size_t end = 0;
    msgpack::zone memory;
    msgpack::object const o = msgpack::unpack(memory, bytes.data(), bytes.size(), end);
    if (end == bytes.size()) {
      text << o;
      return text.str();
    }
  } catch (msgpack::unpack_error const&) {
  }
  text << msgpack::object(std::string(bytes).c_str());
  return text.str();
}

}  // namespace weft::durable
