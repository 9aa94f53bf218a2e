// SPDX-License-Identifier: MIT
#include "weft/sched/base/process_id.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace weft {

namespace {
/// Removes a number from the front of the text, and returns it; nullopt if no number is there.
std::optional<std::uint64_t> read_number(std::string_view& text) noexcept {
  std::uint64_t n = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return n;
}
}  // namespace

std::string process_id::text() const {
  if (is_hash()) return '#' + std::to_string(path_ & ~hash_mark);
  std::uint64_t rest = path_ << 1;
  bool const is_from_outside = rest && rest >> 60 == 0;
  std::string all = is_from_outside ? "0" : "1";
  if (is_from_outside) rest = after(rest);
  for (; rest; rest = after(rest)) all += '.' + std::to_string(number_of(rest));
  return all;
}

std::optional<process_id> process_id::read(std::string_view text) {
  std::optional<process_id> const id = text.starts_with('#') ? read_hash(text) : read_path(text);
  return id && id->text() == text ? id : std::nullopt;
}
std::optional<process_id> process_id::read_hash(std::string_view text) noexcept {
  text.remove_prefix(1);
  auto const n = read_number(text);
  if (!n) return {};
  return process_id(*n | hash_mark);
}
/// Reads a path from the front of the text.  The caller checks whether all of the text was read.
std::optional<process_id> process_id::read_path(std::string_view text) noexcept {
  auto const first = read_number(text);
  if (!first) return {};
  process_id id;
  int free = *first == 0 ? 63 - 4 : 63;
  for (bool may_be_zero = *first == 0; text.starts_with('.');) {
    text.remove_prefix(1);
    auto const n = read_number(text);
    if (!n) return {};
    if (*n == 0) {
      if (!std::exchange(may_be_zero, false)) return {};
      free -= 4;
      continue;
    }
    id = id.child(*n, free);
    free = id.free_bits();
    may_be_zero = false;
  }
  return id;
}

}  // namespace weft
