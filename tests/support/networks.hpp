// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/io/connection.hpp"
#include "weft/sched/schedule.hpp"

/// Programs for tests of connections, on any network.
namespace weft::tests {

using net_children = spawning<proc, io, completions>;
using net_program = eff<void, net_children, proc, io, completions>;
using net_step = eff<void, proc, io, completions>;

template <std::size_t N>
std::string text_of(std::array<std::byte, N> const& bytes, std::size_t n) {
  return {reinterpret_cast<char const*>(bytes.data()), n};
}

/// Sends back all bytes until the end.
inline net_step echo(connection c) {
  std::array<std::byte, 1000> buffer;
  for (;;) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return;
    co_await c.write(std::span(buffer).first(n));
  }
}
/// All bytes until the end.
inline eff<std::string, io, completions> read_to_end(connection& c) {
  std::string all;
  std::array<std::byte, 1000> buffer;
  for (;;) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return all;
    all += text_of(buffer, n);
  }
}
inline eff<std::string, io, completions> read_text(connection& c, std::size_t n) {
  std::string text(n, ' ');
  co_await c.read_all(std::as_writable_bytes(std::span(text)));
  co_return text;
}

/// The result of an operation: "done", or its exception.
enum class found { done, timed_out, closed, reset, refused, files, broken, cancelled, other };
template <class Effects>
eff<found, io, completions> outcome_of(Effects what, std::string* text = nullptr) {
  try {
    (void)co_await std::move(what);
    co_return found::done;
  } catch (io_error const& e) {
    if (text) *text = e.what();
    if (e.code() == std::errc::timed_out) co_return found::timed_out;
    if (e.code() == std::errc::bad_file_descriptor) co_return found::closed;
    if (e.code() == std::errc::connection_reset) co_return found::reset;
    if (e.code() == std::errc::connection_refused) co_return found::refused;
    if (e.code() == std::errc::too_many_files_open) co_return found::files;
    if (e.code() == std::errc::broken_pipe) co_return found::broken;
  } catch (cancelled const&) {
    co_return found::cancelled;
  }
  co_return found::other;
}

/// Bytes of which each differs if it is out of place.
inline std::string pattern(std::size_t n, unsigned from = 1) {
  std::string s(n, ' ');
  std::uint32_t x = from * 2654435761U + 1;
  for (char& c : s) {
    x = x * 1664525U + 1013904223U;
    c = static_cast<char>(x >> 24);
  }
  return s;
}

}  // namespace weft::tests
