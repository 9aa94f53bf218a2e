// SPDX-License-Identifier: MIT
#include "weft/io/detail/memory_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "weft/io/detail/memory_faults.hpp"
#include "weft/io/detail/memory_sockets.hpp"
#include "weft/io/detail/memory_stream.hpp"
#include "weft/io/socket.hpp"

namespace weft::detail {

namespace {
/// Decides whether a fault happens, and returns how many of `n` bytes are read or written; nullopt
/// if a delay, a reset or a silence happens.
std::optional<std::size_t> some_of(std::size_t n, memory_end const& e, io_attempt a,
                                   fault_budgets& budgets) {
  fault_menu menu(a);
  if (n > 1) budgets.may(menu, fault::one_byte);
  if (n > 3) budgets.may(menu, fault::half);  // half of 2 or 3 bytes is one byte
  for (fault const f : {fault::delay, fault::reset, fault::silence}) budgets.may(menu, f);
  switch (budgets.decide(menu)) {
    case fault::one_byte:
      return 1;
    case fault::half:
      return n / 2;
    case fault::reset:
      e.link->reset();
      return std::nullopt;
    case fault::silence:
      e.link->fall_silent();
      return std::nullopt;
    case fault::delay:
      return std::nullopt;
    default:
      return n;
  }
}
}  // namespace

[[noreturn, gnu::cold]] void throw_failed(std::errc why, std::string_view what,
                                          endpoint const& peer) {
  throw io_error(std::make_error_code(why), std::string(what) + peer.text());
}

std::optional<std::size_t> read_from(memory_end& e, fault_budgets& budgets,
                                     std::span<std::byte> into) {
  auto& in = e.in();
  auto const require_whole = [&] {
    if (in.is_broken()) throw_failed(std::errc::connection_reset, "read from ", e.peer);
  };
  in.touch(false);
  if (!in.has_news_for_reader()) return std::nullopt;
  require_whole();
  auto const part = some_of(std::min(in.size(), into.size()), e, io_attempt::reading, budgets);
  require_whole();
  if (!part)
    e.is_reading_late = !in.is_silent;
  else if (*part != 0)
    in.take(into.first(*part));
  return part;
}

std::optional<std::size_t> write_to(memory_end& e, fault_budgets& budgets,
                                    std::span<std::byte const> from) {
  auto& out = e.out();
  auto const require_whole = [&] {
    if (out.is_broken()) throw_failed(std::errc::connection_reset, "write to ", e.peer);
  };
  out.touch(false);
  require_whole();
  if (out.is_finished || e.link->is == memory_link::state::refused)
    throw_failed(std::errc::broken_pipe, "write to ", e.peer);
  if (e.link->is != memory_link::state::connected) return std::nullopt;
  if (out.is_deserted && !out.is_silent) {
    if (std::exchange(e.has_written_to_nobody, true))
      throw_failed(std::errc::broken_pipe, "write to ", e.peer);
    return from.size();
  }
  if (std::exchange(e.has_written_part, false)) {
    e.is_writing_late = true;
    return std::nullopt;
  }
  std::size_t const n = std::min(out.room(), from.size());
  if (n == 0 && !from.empty()) return std::nullopt;
  auto const part = out.is_silent ? std::optional(n) : some_of(n, e, io_attempt::writing, budgets);
  require_whole();
  if (!part) {
    e.is_writing_late = !out.is_silent;
    return part;
  }
  e.has_written_part = *part != n;
  out.put(from.first(*part));
  return part;
}

void finish_writing_to(memory_end const& e) {
  e.out().touch(false);
  if (e.out().is_broken() || e.link->is != memory_link::state::connected)
    throw_failed(std::errc::not_connected, "finish writing to ", e.peer);
  e.out().finish();
}

bool check_retry(memory_end& e, direction d) noexcept {
  if (d == direction::reading) {
    e.in().touch(false);
    return std::exchange(e.is_reading_late, false) || e.in().has_news_for_reader();
  }
  e.out().touch(false);
  if (std::exchange(e.is_writing_late, false)) return true;
  switch (e.link->is) {
    case memory_link::state::waits:
      return false;
    case memory_link::state::under_way:
      return !e.out().is_silent;
    default:
      return e.out().has_news_for_writer();
  }
}

}  // namespace weft::detail
