// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "effects/eff.hpp"
#include "io/io.hpp"
#include "io/socket.hpp"
#include "sched/base/backend.hpp"
#include "sched/sync/external_event.hpp"

namespace weft {

/// What who talks to others performs.
using networking = row<io, completions>;

namespace detail {

/// Until another attempt may do better; or it is too late, and then throws io_error.
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

/// Lets the others go first, each time after so many operations in a row that did not wait: before
/// the next one, since nothing may be lost if a process is cancelled where it lets them.
class fair_share {
 public:
  static constexpr std::uint8_t most = 64;

  [[nodiscard]] bool spend() noexcept {
    if (++in_a_row_ != most) return false;
    in_a_row_ = 0;
    return true;
  }
  void reset() noexcept { in_a_row_ = 0; }

 private:
  std::uint8_t in_a_row_ = 0;
};
inline eff<void, completions> let_others_go_first() {
  external_event here;
  here.open();
  co_await completions::wait(here);
}

}  // namespace detail

/// A stream of bytes to somebody and back.  One process may read and one may write at a time.
/// Closed when it goes.
///
/// Each operation waits if it has to, until `until` at the latest: then it throws io_error with
/// std::errc::timed_out, and may be tried again; so it does with what else fails.  Who waits is
/// woken with `cancelled` as everywhere.  An operation that has not had to wait 64 times in a row
/// lets other processes go first.
///
/// This object must be there until the operation ends, and what is read into or written from.
class [[nodiscard]] connection {
 public:
  /// For who has a socket that is connected.
  explicit connection(owned_socket s) noexcept : socket_(std::move(s)) {}

  /// What has come, as much as fits, one byte or more; 0 at the end, when the other side writes no
  /// more, and if nothing fits.
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
  /// As many bytes as that.  Throws io_error with std::errc::connection_aborted if the end comes
  /// first.
  eff<void, io, completions> read_all(std::span<std::byte> into, instant until = instant::max()) {
    while (!into.empty()) {
      std::size_t const n = co_await read(into, until);
      if (n == 0)
        throw io_error(std::make_error_code(std::errc::connection_aborted),
                       "read to the end from " + peer().text());
      into = into.subspan(n);
    }
  }
  /// As much of it as there is room for, one byte or more: how many bytes.
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
  /// All of it.  If it throws, some may have been written: for who wants to go on after that there
  /// is write_some.
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
  /// We write no more: the other side reads an end, and may go on writing.
  eff<void, io> finish() { co_await io::finish(required().id()); }
  /// Before this goes: for who shares it with a process that waits.  What waits here, or is tried
  /// from now on, throws io_error with std::errc::bad_file_descriptor.
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

/// Where others come.  One process may wait there at a time.  Closed when it goes.
class [[nodiscard]] listener {
 public:
  explicit listener(owned_socket s) noexcept : socket_(std::move(s)) {}

  /// The next one who comes.  Waits, and throws, as connection does.  If there are too many open
  /// files, std::errc::too_many_files_open: who has come waits on, and is the next.
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
  /// As connection does.
  eff<void, io> close() {
    if (!socket_) throw std::logic_error("weft: a listener was used after it was moved from");
    co_await io::close(socket_.id());
  }
  /// With the port that it has got.
  [[nodiscard]] endpoint local() const {
    if (!socket_) throw std::logic_error("weft: a listener was used after it was moved from");
    return socket_.home().local(socket_.id());
  }

 private:
  owned_socket socket_;
  detail::fair_share accepting_;
};

/// Throws io_error; std::invalid_argument if the address is none.
inline eff<listener, io> listen(endpoint at) {
  owned_socket s = co_await io::listen(std::move(at));
  co_return listener(std::move(s));
}

/// To who listens there.  Waits, and throws, as connection does; connection_refused if nobody
/// listens.
inline eff<connection, io, completions> connect(endpoint to, instant until = instant::max()) {
  owned_socket s = co_await io::connect(std::move(to));
  for (;;) {
    bool const is_there = co_await io::finish_connect(s.id());
    if (is_there) co_return connection(std::move(s));
    co_await detail::ready(s, direction::writing, until, "connect to ");
  }
}

}  // namespace weft
