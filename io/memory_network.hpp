// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "weft/io/detail/memory_exchange.hpp"
#include "weft/io/detail/memory_faults.hpp"
#include "weft/io/detail/memory_sockets.hpp"
#include "weft/io/detail/memory_stream.hpp"
#include "weft/io/detail/numeric_address.hpp"
#include "weft/io/memory_network_options.hpp"
#include "weft/io/network.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft {

/// A network in memory, for tests of programs that use `io`: without system sockets, and
/// deterministic.
///
///     auto const found = explore([] { return memory_network({.splits = 1, .resets = 1}); },
///                                [](memory_network& net) { return client_and_server(); },
///                                check,
///                                [](memory_network& net) -> auto& { return net; });
///
/// explore, random_walk and the like decide where the faults that the options allow happen
/// (decision.hpp): each possible place is tried in some schedule.  Without an explorer no fault
/// happens, unless there is a random-number seed.
///
/// Bytes of one stream stay in order.  The order between two streams depends on which process runs;
/// with delays, also on which processes run before a delayed attempt is repeated.  Nothing takes
/// time: a deadline passes only if a fault has made the connection silent, or if the other side
/// does not do what this side waits for.
///
/// As with TCP, a write to a closed peer succeeds, and the next one fails with broken_pipe; closing
/// an end with unread bytes resets the connection.  Unlike TCP, a reset always discards the
/// unread bytes, and a port is free again at once.
///
/// Use it from schedulers on one thread.  A search with reduction sees what processes share here:
/// two pairs of processes with streams of their own are independent.  (If the network is passed as
/// a `network&`, all of it is one location.)
///
/// Must outlive its sockets: if some are open, the destructor prints a message and terminates the
/// program.  Finding a listener is O(n) for n sockets; all other operations are O(1), plus
/// O(b) for the b bytes that they move.
class memory_network final : public network {
 public:
  /// Its streams and listeners report their own accesses (MEMNET-2); budgets need not (MEMNET-1).
  static constexpr bool reports_accesses = true;

  /// Throws std::invalid_argument if the capacity or the backlog is 0.
  explicit memory_network(memory_network_options const& o = {})
      : options_(o),
        budgets_({o.splits, o.short_writes, o.delays, o.resets, o.refusals, o.silences}, o.seed) {
    if (o.capacity == 0 || o.backlog == 0)
      throw std::invalid_argument(
          "weft: a network in memory has a capacity, and a backlog, of at least 1");
    detail::note_created(this);
  }
  ~memory_network() override {
    detail::note_destroyed(this);
    if (sockets() == 0) return;
    std::fprintf(
        stderr,
        "weft: a network in memory ends while %zu of its sockets are open: it must outlive "
        "them\n",
        sockets());
    std::terminate();
  }

  /// How many sockets are open.
  [[nodiscard]] std::size_t sockets() const noexcept { return sockets_.size(); }

  // ---- socket_home

  void close(socket_id s) noexcept override {
    auto const gone = sockets_.remove(s);
    if (gone.index() == 0) return;
    if (options_.max_sockets != 0) touch(true);
    if (auto const* const l = std::get_if<listener>(&gone)) {
      touch(true);
      return (*l)->close();
    }
    end const& e = *std::get<std::unique_ptr<end>>(gone);
    e.in().reader.open();
    e.out().writer.open();
    if (e.in().size() != 0) return e.link->reset();
    e.in().desert();
    e.out().finish();
  }
  void unwatch(socket_id s, direction d, external_event& g) noexcept override {
    auto const* const at = sockets_.find(s);
    if (!at) return;
    if (auto const* const l = std::get_if<listener>(at)) {
      (*l)->touch(false);
    } else {
      end const& e = *std::get<std::unique_ptr<end>>(*at);
      (d == direction::reading ? e.in() : e.out()).touch(false);
    }
    place(*at, d).leave(g);
  }
  [[nodiscard]] endpoint peer(socket_id s) const override {
    auto const& at = find(s, "ask for the peer of");
    auto const* const l = std::get_if<listener>(&at);
    return l ? (*l)->at : std::get<std::unique_ptr<end>>(at)->peer;
  }
  [[nodiscard]] endpoint local(socket_id s) const override {
    auto const& at = find(s, "ask for the address of");
    auto const* const l = std::get_if<listener>(&at);
    return l ? (*l)->at : std::get<std::unique_ptr<end>>(at)->local;
  }

 private:
  using end = detail::memory_end;
  using listener = detail::memory_sockets::listener;
  using link = detail::memory_link;
  using io_attempt = detail::io_attempt;
  using fault = detail::fault;
  using fault_menu = detail::fault_menu;
  static constexpr std::uint16_t first_free_port = 49'152;

  /// Notes an access to the listeners, the used ports and the number of sockets, which are one
  /// location.
  void touch(bool writes) const noexcept { detail::note_access(this, writes); }

  // ---- lookup

  /// The socket `s`.  Throws io_error if it is closed; `what` is the operation: "read from", say.
  [[nodiscard]] detail::memory_sockets::socket const& find(socket_id s,
                                                           std::string_view what) const {
    if (auto const* const found = sockets_.find(s)) return *found;
    throw io_error(std::make_error_code(std::errc::bad_file_descriptor),
                   std::string(what) + " a socket that is closed");
  }
  [[nodiscard]] end& find_end(socket_id s, std::string_view what) const {
    auto const& at = find(s, what);
    if (auto const* const l = std::get_if<listener>(&at))
      detail::throw_failed(std::errc::not_connected, std::string(what) + ' ', (*l)->at);
    return *std::get<std::unique_ptr<end>>(at);
  }
  [[nodiscard]] detail::memory_listener& find_listener(socket_id s) const {
    auto const& at = find(s, "accept at");
    if (auto const* const l = std::get_if<listener>(&at)) return **l;
    detail::throw_failed(std::errc::invalid_argument, "accept at ",
                         std::get<std::unique_ptr<end>>(at)->local);
  }
  [[nodiscard]] static detail::watched_place& place(detail::memory_sockets::socket const& at,
                                                    direction d) noexcept {
    if (auto const* const l = std::get_if<listener>(&at)) return (*l)->watched;
    end const& e = *std::get<std::unique_ptr<end>>(at);
    return d == direction::reading ? e.in().reader : e.out().writer;
  }

  // ---- new sockets

  static void require_address(endpoint const& e) {
    if (detail::is_ipv4(e.address) || detail::is_ipv6(e.address)) return;
    throw std::invalid_argument("weft: " + e.address + " is no address of IPv4 or IPv6, in digits");
  }
  void require_room(std::string_view what, endpoint const& at) const {
    if (options_.max_sockets == 0) return;
    touch(true);
    if (sockets() >= options_.max_sockets)
      detail::throw_failed(std::errc::too_many_files_open, what, at);
  }
  /// An unused port, for a connecting socket or a listener at port 0.
  [[nodiscard]] std::uint16_t free_port(std::string const& address) {
    touch(true);
    for (;;) {
      endpoint const e(address, next_port_);
      next_port_ = next_port_ == 65'535 ? first_free_port : next_port_ + 1;
      if (!sockets_.find_listener_at(e)) return e.port;
    }
  }
  [[nodiscard]] owned_socket listen(endpoint const& at) override {
    require_address(at);
    require_room("listen at ", at);
    touch(true);
    if (at.port != 0 && sockets_.find_listener_at(at))
      detail::throw_failed(std::errc::address_in_use, "listen at ", at);
    endpoint const here(at.address, at.port != 0 ? at.port : free_port(at.address));
    return {*this, sockets_.add(std::make_unique<detail::memory_listener>(here, options_.backlog))};
  }
  [[nodiscard]] owned_socket connect(endpoint const& to) override {
    require_address(to);
    require_room("connect to ", to);
    endpoint here(to.address, free_port(to.address));
    auto e = std::make_unique<end>();
    e->link = std::make_shared<link>(options_.capacity);
    e->connects = true;
    e->local = std::move(here);
    e->peer = to;
    return {*this, sockets_.add(std::move(e))};
  }
  [[nodiscard]] bool finish_connect(socket_id s) override {
    end& e = find_end(s, "connect by");
    e.out().touch(false);
    if (e.link->is == link::state::under_way && !e.out().is_silent) arrive(e);
    if (e.link->is == link::state::refused)
      detail::throw_failed(std::errc::connection_refused, "connect to ", e.peer);
    if (e.out().is_broken())
      detail::throw_failed(std::errc::connection_reset, "connect to ", e.peer);
    return e.link->is == link::state::connected;
  }
  /// Enters the connection at its listener, or refuses it if there is none, unless a fault prevents
  /// that.
  void arrive(end& e) {
    fault_menu menu(io_attempt::connecting);
    for (fault const f : {fault::delay, fault::refusal, fault::silence}) budgets_.may(menu, f);
    fault const f = budgets_.decide(menu);
    if (f == fault::delay) e.is_writing_late = true;
    if (f == fault::silence) e.link->fall_silent();
    if (f == fault::refusal) e.link->become(link::state::refused);
    if (f != fault::none) return;
    touch(false);
    if (auto* const l = sockets_.find_listener_at(e.peer))
      l->push({e.link, e.local, e.peer});
    else
      e.link->become(link::state::refused);
  }
  [[nodiscard]] std::optional<owned_socket> accept(socket_id s) override {
    auto& l = find_listener(s);
    l.touch(false);
    if (l.is_empty()) return std::nullopt;
    fault_menu menu(io_attempt::accepting);
    budgets_.may(menu, fault::delay);
    if (budgets_.decide(menu) == fault::delay) {
      l.is_late = true;
      return std::nullopt;
    }
    require_room("accept at ", l.at);
    auto e = std::make_unique<end>();
    e->link = l.front().link;
    e->local = l.front().to;
    e->peer = l.front().from;
    owned_socket accepted(*this, sockets_.add(std::move(e)));
    l.pop();
    return accepted;
  }

  [[nodiscard]] std::optional<std::size_t> read(socket_id s, std::span<std::byte> into) override {
    return detail::read_from(find_end(s, "read from"), budgets_, into);
  }
  [[nodiscard]] std::optional<std::size_t> write(socket_id s,
                                                 std::span<std::byte const> from) override {
    return detail::write_to(find_end(s, "write to"), budgets_, from);
  }
  void finish(socket_id s) override { detail::finish_writing_to(find_end(s, "finish writing to")); }
  void watch(socket_id s, direction d, external_event& g) override {
    auto const& at = find(s, "wait for");
    auto& here = place(at, d);
    here.enter(g, d);
    auto const* const l = std::get_if<listener>(&at);
    bool const may =
        l ? (*l)->check_retry() : detail::check_retry(*std::get<std::unique_ptr<end>>(at), d);
    if (may) here.open();
  }
  memory_network_options const options_;
  detail::fault_budgets budgets_;
  detail::memory_sockets sockets_;
  std::uint16_t next_port_ = first_free_port;
};

}  // namespace weft
