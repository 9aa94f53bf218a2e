// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/io/io.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft {

/// The row of a function that uses connections.
using networking = row<io, completions>;

namespace detail {

/// Waits until another attempt may succeed.  Throws io_error when `until` has passed.
inline eff<void, io, completions> ready(owned_socket const& s, direction d, instant until,
                                        std::string_view what) {
  watched_gate w(s.home(), s.id(), d);
  co_await io::watch(s.id(), d, w.gate);
  if (until == instant::max()) {
    co_await completions::wait(w.gate);
    co_return;
  }
  bool const is_in_time = co_await completions::wait_until(w.gate, until);
  if (!is_in_time)
    throw io_error(std::make_error_code(std::errc::timed_out),
                   std::string(what) + s.home().peer(s.id()).text());
}

/// Counts operations in a row that need not wait; every 64th lets other processes run first.  The
/// yield comes before the operation, so a process that is cancelled there loses no data.
class fair_share {
 public:
  static constexpr std::uint8_t most = 64;

  [[nodiscard]] bool spend() noexcept {
    // Two processes may do so at once, against the contract: one of them is refused later, and the
    // count may be wrong.
    std::atomic_ref const n(in_a_row_);
    // Relaxed, both: a count, which orders nothing.
    auto const now = static_cast<std::uint8_t>(n.load(std::memory_order_relaxed) + 1);
    n.store(now == most ? std::uint8_t{} : now, std::memory_order_relaxed);  // relaxed: as above
    return now == most;
  }
  void reset() noexcept {
    std::atomic_ref(in_a_row_).store(0, std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  std::uint8_t in_a_row_ = 0;
};
inline eff<void, completions> let_others_go_first() {
  external_event here;
  here.open();
  co_await completions::wait(here);
}

}  // namespace detail

/// A stream of bytes in both directions.  One process may read and one may write at a time.  The
/// destructor closes it.
///
/// An operation that cannot proceed waits, until `until` at the latest: then it throws io_error
/// with std::errc::timed_out, and may be tried again.  Other failures are an io_error too.  A
/// waiting operation can be cancelled, as everywhere.  Every 64th operation in a row that need not
/// wait lets other processes run first.
///
/// This object and the buffer must outlive the operation.
class [[nodiscard]] connection {
 public:
  /// Takes over a connected socket.
  explicit connection(owned_socket s) noexcept : socket_(std::move(s)) {}

  /// Reads the bytes that have arrived and fit, and yields how many, at least one; 0 if the other
  /// side has finished writing, or if `into` is empty.
  eff<std::size_t, io, completions> read(std::span<std::byte> into,
                                         instant until = instant::max()) {
    owned_socket& s = required();
    if (into.empty()) co_return std::size_t{0};
    if (reading_.spend()) co_await detail::let_others_go_first();
    for (;;) {
      std::optional<std::size_t> const n = co_await io::read(s.id(), into);
      if (n) co_return *n;
      co_await detail::ready(s, direction::reading, until, "read from ");
      reading_.reset();
    }
  }
  /// Reads until `into` is full.  Throws io_error with std::errc::connection_aborted if the stream
  /// ends before that.
  eff<void, io, completions> read_all(std::span<std::byte> into, instant until = instant::max()) {
    while (!into.empty()) {
      std::size_t const n = co_await read(into, until);
      if (n == 0)
        throw io_error(std::make_error_code(std::errc::connection_aborted),
                       "read to the end from " + peer().text());
      into = into.subspan(n);
    }
  }
  /// Writes as many bytes as there is room for, and yields how many, at least one; 0 if `from` is
  /// empty.
  eff<std::size_t, io, completions> write_some(std::span<std::byte const> from,
                                               instant until = instant::max()) {
    owned_socket& s = required();
    if (from.empty()) co_return std::size_t{0};
    if (writing_.spend()) co_await detail::let_others_go_first();
    for (;;) {
      std::optional<std::size_t> const n = co_await io::write(s.id(), from);
      if (n) co_return *n;
      co_await detail::ready(s, direction::writing, until, "write to ");
      writing_.reset();
    }
  }
  /// Writes all bytes.  If it throws, some may have been written; to continue after an error, use
  /// write_some.
  eff<void, io, completions> write(std::span<std::byte const> from,
                                   instant until = instant::max()) {
    while (!from.empty()) {
      std::size_t const n = co_await write_some(from, until);
      from = from.subspan(n);
    }
  }
  eff<void, io, completions> write(std::string_view text, instant until = instant::max()) {
    return write(std::as_bytes(std::span(text)), until);
  }
  /// Ends the outgoing stream: the other side reads the end, and may still write.
  eff<void, io> finish() { co_await io::finish(required().id()); }
  /// Closes the connection now, even if another process waits on it.  Waiting and later operations
  /// throw io_error with std::errc::bad_file_descriptor.
  eff<void, io> close() { co_await io::close(required().id()); }

  [[nodiscard]] endpoint peer() const { return required().home().peer(socket_.id()); }

 private:
  [[nodiscard]] owned_socket& required() {
    if (!socket_) throw std::logic_error("weft: a connection was used after it was moved from");
    return socket_;
  }
  [[nodiscard]] owned_socket const& required() const {
    return const_cast<connection&>(*this).required();
  }

  owned_socket socket_;
  detail::fair_share reading_;
  detail::fair_share writing_;
};

/// Accepts connections.  One process may wait in accept at a time.  The destructor closes it.
class [[nodiscard]] listener {
 public:
  explicit listener(owned_socket s) noexcept : socket_(std::move(s)) {}

  /// Yields the next connection.  Waits and throws as the operations of a connection do.  With too
  /// many open files it throws std::errc::too_many_files_open; the peer then stays first in the
  /// queue.
  eff<connection, io, completions> accept(instant until = instant::max()) {
    if (!socket_) throw std::logic_error("weft: a listener was used after it was moved from");
    if (accepting_.spend()) co_await detail::let_others_go_first();
    for (;;) {
      std::optional<owned_socket> s = co_await io::accept(socket_.id());
      if (s) co_return connection(std::move(*s));
      co_await detail::ready(socket_, direction::reading, until, "accept at ");
      accepting_.reset();
    }
  }
  /// Closes the listener, as connection::close does a connection.
  eff<void, io> close() {
    if (!socket_) throw std::logic_error("weft: a listener was used after it was moved from");
    co_await io::close(socket_.id());
  }
  /// The address at which it listens, with the actual port if that was given as 0.
  [[nodiscard]] endpoint local() const {
    if (!socket_) throw std::logic_error("weft: a listener was used after it was moved from");
    return socket_.home().local(socket_.id());
  }

 private:
  owned_socket socket_;
  detail::fair_share accepting_;
};

/// Yields a listener at an address.  Throws io_error, or std::invalid_argument if the address is
/// not valid.
inline eff<listener, io> listen(endpoint at) {
  owned_socket s = co_await io::listen(std::move(at));
  co_return listener(std::move(s));
}

/// Yields a connection to the listener at `to`.  Waits and throws as the operations of a connection
/// do; the error is connection_refused if there is no listener.
inline eff<connection, io, completions> connect(endpoint to, instant until = instant::max()) {
  owned_socket s = co_await io::connect(std::move(to));
  for (;;) {
    bool const is_there = co_await io::finish_connect(s.id());
    if (is_there) co_return connection(std::move(s));
    co_await detail::ready(s, direction::writing, until, "connect to ");
  }
}

}  // namespace weft
