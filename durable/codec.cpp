// SPDX-License-Identifier: MIT
#include "weft/durable/codec.hpp"

#include <sstream>

namespace weft::durable {

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
