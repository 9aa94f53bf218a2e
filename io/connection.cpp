// SPDX-License-Identifier: MIT
#include "weft/io/connection.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
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

bool detail::fair_share::spend() noexcept {
  static constexpr std::uint8_t most = 64;
  // Atomic, since two processes may use one direction at once, against the contract: the count may
  // then be wrong, and the network refuses the second one that waits.
  std::atomic_ref const n(in_a_row_);
  // Relaxed, both: the count orders no other access.
  auto const now = static_cast<std::uint8_t>(n.load(std::memory_order_relaxed) + 1);
  n.store(now == most ? std::uint8_t{} : now, std::memory_order_relaxed);  // relaxed: a mere count
  return now == most;
}
void detail::fair_share::reset() noexcept {
  // Relaxed: the count orders no other access.
  std::atomic_ref(in_a_row_).store(0, std::memory_order_relaxed);
}

namespace {

/// The operation `o`, which reports show at `where`, the caller's line.
template <class O>
detail::located<O> called_from(std::source_location where, O o) {
  return detail::located(std::move(o), where);
}

/// An event that a network may open until this object is destroyed.
class watched_gate {
 public:
  watched_gate(socket_home& h, socket_id s, direction d) noexcept : home_(h), id_(s), what_(d) {}
  watched_gate(watched_gate const&) = delete;
  watched_gate& operator=(watched_gate const&) = delete;
  ~watched_gate() {
    // If the event is open, the network has forgotten it already.
    if (!gate.is_open()) home_.unwatch(id_, what_, gate);
  }

  external_event gate;

 private:
  socket_home& home_;
  socket_id id_;
  direction what_;
};

/// Waits until another attempt may succeed.  Throws io_error when `until` has passed.
eff<void, io, completions> ready(owned_socket const& s, direction d, instant until,
                                 std::string_view what, std::source_location where) {
  watched_gate w(s.home(), s.id(), d);
  co_await called_from(where, io::watch(s.id(), d, w.gate));
  if (until == instant::max()) {
    co_await called_from(where, completions::wait(w.gate));
    co_return;
  }
  bool const is_in_time = co_await called_from(where, completions::wait_until(w.gate, until));
  if (!is_in_time)
    throw io_error(std::make_error_code(std::errc::timed_out),
                   std::string(what) + s.home().peer(s.id()).text());
}

/// Lets the ready processes run.  The call comes before the attempt of the network, so a process
/// that is cancelled here loses no data.
eff<void, completions> let_others_go_first(std::source_location where) {
  external_event here;
  here.open();
  co_await called_from(where, completions::wait(here));
}

owned_socket const& required(owned_socket const& s, char const* message) {
  if (!s) throw std::logic_error(message);
  return s;
}
constexpr char const* moved_connection = "weft: a connection was used after it was moved from";
constexpr char const* moved_listener = "weft: a listener was used after it was moved from";

}  // namespace

eff<std::size_t, io, completions> connection::read(std::span<std::byte> into, instant until,
                                                   std::source_location where) {
  owned_socket const& s = required(socket_, moved_connection);
  if (into.empty()) co_return std::size_t{0};
  if (reading_.spend()) co_await let_others_go_first(where);
  for (;;) {
    std::optional<std::size_t> const n = co_await called_from(where, io::read(s.id(), into));
    if (n) co_return *n;
    co_await ready(s, direction::reading, until, "read from ", where);
    reading_.reset();
  }
}
eff<void, io, completions> connection::read_all(std::span<std::byte> into, instant until,
                                                std::source_location where) {
  while (!into.empty()) {
    std::size_t const n = co_await read(into, until, where);
    if (n == 0)
      throw io_error(std::make_error_code(std::errc::connection_aborted),
                     "read to the end from " + peer().text());
    into = into.subspan(n);
  }
}
eff<std::size_t, io, completions> connection::write_some(std::span<std::byte const> from,
                                                         instant until,
                                                         std::source_location where) {
  owned_socket const& s = required(socket_, moved_connection);
  if (from.empty()) co_return std::size_t{0};
  if (writing_.spend()) co_await let_others_go_first(where);
  for (;;) {
    std::optional<std::size_t> const n = co_await called_from(where, io::write(s.id(), from));
    if (n) co_return *n;
    co_await ready(s, direction::writing, until, "write to ", where);
    writing_.reset();
  }
}
eff<void, io, completions> connection::write(std::span<std::byte const> from, instant until,
                                             std::source_location where) {
  while (!from.empty()) {
    std::size_t const n = co_await write_some(from, until, where);
    from = from.subspan(n);
  }
}
eff<void, io, completions> connection::write(std::string_view text, instant until,
                                             std::source_location where) {
  return write(std::as_bytes(std::span(text)), until, where);
}
eff<void, io> connection::finish(std::source_location where) {
  co_await called_from(where, io::finish(required(socket_, moved_connection).id()));
}
eff<void, io> connection::close(std::source_location where) {
  co_await called_from(where, io::close(required(socket_, moved_connection).id()));
}
endpoint connection::peer() const {
  return required(socket_, moved_connection).home().peer(socket_.id());
}

eff<connection, io, completions> listener::accept(instant until, std::source_location where) {
  owned_socket const& here = required(socket_, moved_listener);
  if (accepting_.spend()) co_await let_others_go_first(where);
  for (;;) {
    std::optional<owned_socket> s = co_await called_from(where, io::accept(here.id()));
    if (s) co_return connection(std::move(*s));
    co_await ready(here, direction::reading, until, "accept at ", where);
    accepting_.reset();
  }
}
eff<void, io> listener::close(std::source_location where) {
  co_await called_from(where, io::close(required(socket_, moved_listener).id()));
}
endpoint listener::local() const {
  return required(socket_, moved_listener).home().local(socket_.id());
}

eff<listener, io> listen(endpoint here, std::source_location where) {
  owned_socket s = co_await called_from(where, io::listen(std::move(here)));
  co_return listener(std::move(s));
}
eff<connection, io, completions> connect(endpoint to, instant until, std::source_location where) {
  owned_socket s = co_await called_from(where, io::connect(std::move(to)));
  for (;;) {
    bool const is_there = co_await called_from(where, io::finish_connect(s.id()));
    if (is_there) co_return connection(std::move(s));
    co_await ready(s, direction::writing, until, "connect to ", where);
  }
}

}  // namespace weft
