// SPDX-License-Identifier: MIT
#include "weft/durable/codec.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace weft::durable {

std::optional<msgpack::object> detail::short_value(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  auto const head = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  if (head >= 0xa0 && head <= 0xbf && bytes.size() == (head & 0x1fU)) {
    msgpack::object text;
    text.type = msgpack::type::STR;
    text.via.str = {static_cast<std::uint32_t>(bytes.size()), bytes.data()};
    return text;
  }
  if (bytes.empty()) {
    if (head <= 0x7f) return msgpack::object(head);
    if (head >= 0xe0) return msgpack::object(static_cast<signed char>(head));
    if (head == 0xc2 || head == 0xc3) return msgpack::object(head == 0xc3);
  }
  // 0xcc to 0xcf: a number without a sign, of 1, 2, 4 or 8 bytes; 0xd0 to 0xd3: one with a sign.
  if (head < 0xcc || head > 0xd3 || bytes.size() != 1U << (head & 3U)) return std::nullopt;
  std::uint64_t bits = 0;
  for (char const b : bytes) bits = bits << 8 | static_cast<unsigned char>(b);
  if (head <= 0xcf) return msgpack::object(bits);
  auto const unused = static_cast<int>(64 - 8 * bytes.size());
  return msgpack::object(static_cast<std::int64_t>(bits << unused) >> unused);
}

namespace {
// The zone is kept for the values that are read next: most fit into it.
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
msgpack::object detail::reading::first(std::string_view bytes, std::size_t& end) {
  if (!memory_) own_ = std::make_unique<msgpack::zone>(256);
  msgpack::zone& memory = memory_ ? *memory_ : *own_;
  bool refers = false;
  end = 0;
  // A damaged value that claims to have more elements than there are bytes, or too many levels, is
  // refused before memory is allocated for it.
  static constexpr std::size_t most_levels = 1'000;
  std::size_t const n = bytes.size();
  return msgpack::unpack(
      memory, bytes.data(), n, end, refers,
      [](msgpack::type::object_type, std::size_t, void*) { return true; }, nullptr,
      msgpack::unpack_limit(n, n, n, n, n, most_levels));
}
msgpack::object detail::reading::value(std::string_view bytes) {
  std::size_t end = 0;
  auto const o = first(bytes, end);
  if (end != bytes.size()) throw msgpack::type_error();
  return o;
}

void detail::throw_not_readable(std::string_view type, char const* why) {
  throw not_readable("weft: a stored value cannot be read as " + std::string(type) + ": " + why);
}

std::string readable(std::string_view bytes) {
  std::ostringstream text;
  try {
    detail::reading in;
    text << in.value(bytes);
    return text.str();
  } catch (msgpack::type_error const&) {
  } catch (msgpack::unpack_error const&) {
  }
  text << msgpack::object(std::string(bytes).c_str());
  return text.str();
}

}  // namespace weft::durable
