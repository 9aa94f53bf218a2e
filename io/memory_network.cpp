// SPDX-License-Identifier: MIT
#include "weft/io/memory_network.hpp"

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
#include "weft/io/socket.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft {

/// The sockets, the faults, and the ports.
class memory_network::inside {
 public:
  using end = detail::memory_end;
  using listener = detail::memory_sockets::listener;
  using socket = detail::memory_sockets::socket;

  inside(memory_network const& n, memory_network_options const& o)
      : options(o),
        budgets({o.splits, o.short_writes, o.delays, o.resets, o.refusals, o.silences}, o.seed),
        home_(n) {
    if (o.capacity == 0 || o.backlog == 0)
      throw std::invalid_argument(
          "weft: a network in memory has a capacity, and a backlog, of at least 1");
  }

  /// Notes an access to the listeners, the used ports and the number of sockets, which are one
  /// location.
  void touch(bool writes) const noexcept { detail::note_access(&home_, writes); }

  // ---- lookup

  /// The socket `s`.  Throws io_error if it is closed; `what` is the operation: "read from", say.
  [[nodiscard]] socket const& find(socket_id s, std::string_view what) const {
    if (auto const* const found = sockets.find(s)) return *found;
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
  [[nodiscard]] static detail::watched_place& place(socket const& at, direction d) noexcept {
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
    if (options.max_sockets == 0) return;
    touch(true);
    if (sockets.size() >= options.max_sockets)
      detail::throw_failed(std::errc::too_many_files_open, what, at);
  }
  /// An unused port, for a connecting socket or a listener at port 0.
  [[nodiscard]] std::uint16_t free_port(std::string const& address) {
    touch(true);
    for (;;) {
      endpoint const e(address, next_port_);
      next_port_ = next_port_ == 65'535 ? first_free_port : next_port_ + 1;
      if (!sockets.find_listener_at(e)) return e.port;
    }
  }
  /// Enters the connection at its listener, or refuses it if there is none, unless a fault prevents
  /// that.
  void arrive(end& e) {
    using detail::fault;
    using state = detail::memory_link::state;
    detail::fault_menu menu(detail::io_attempt::connecting);
    for (fault const f : {fault::delay, fault::refusal, fault::silence}) budgets.may(menu, f);
    fault const f = budgets.decide(menu);
    if (f == fault::delay) e.is_writing_late = true;
    if (f == fault::silence) e.link->fall_silent();
    if (f == fault::refusal) e.link->become(state::refused);
    if (f != fault::none) return;
    touch(false);
    if (auto* const l = sockets.find_listener_at(e.peer))
      l->push({e.link, e.local, e.peer});
    else
      e.link->become(state::refused);
  }

  memory_network_options const options;
  detail::fault_budgets budgets;
  detail::memory_sockets sockets;

 private:
  static constexpr std::uint16_t first_free_port = 49'152;

  memory_network const& home_;
  std::uint16_t next_port_ = first_free_port;
};

memory_network::memory_network(memory_network_options const& o)
    : in_(std::make_unique<inside>(*this, o)) {
  detail::note_created(this);
}
memory_network::~memory_network() {
  detail::note_destroyed(this);
  if (sockets() == 0) return;
  std::fprintf(stderr,
               "weft: a network in memory ends while %zu of its sockets are open: it must outlive "
               "them\n",
               sockets());
  std::terminate();
}

std::size_t memory_network::sockets() const noexcept { return in_->sockets.size(); }

// ---- socket_home

void memory_network::close(socket_id s) noexcept {
  auto const gone = in_->sockets.remove(s);
  if (gone.index() == 0) return;
  if (in_->options.max_sockets != 0) in_->touch(true);
  if (auto const* const l = std::get_if<inside::listener>(&gone)) {
    in_->touch(true);
    return (*l)->close();
  }
  auto const& e = *std::get<std::unique_ptr<inside::end>>(gone);
  e.in().reader.open();
  e.out().writer.open();
  if (e.in().size() != 0) return e.link->reset();
  e.in().desert();
  e.out().finish();
}
void memory_network::unwatch(socket_id s, direction d, external_event& g) noexcept {
  auto const* const at = in_->sockets.find(s);
  if (!at) return;
  if (auto const* const l = std::get_if<inside::listener>(at)) {
    (*l)->touch(false);
  } else {
    auto const& e = *std::get<std::unique_ptr<inside::end>>(*at);
    (d == direction::reading ? e.in() : e.out()).touch(false);
  }
  inside::place(*at, d).leave(g);
}
endpoint memory_network::peer(socket_id s) const {
  auto const& at = in_->find(s, "ask for the peer of");
  auto const* const l = std::get_if<inside::listener>(&at);
  return l ? (*l)->at : std::get<std::unique_ptr<inside::end>>(at)->peer;
}
endpoint memory_network::local(socket_id s) const {
  auto const& at = in_->find(s, "ask for the address of");
  auto const* const l = std::get_if<inside::listener>(&at);
  return l ? (*l)->at : std::get<std::unique_ptr<inside::end>>(at)->local;
}

// ---- the operations (io.hpp)

owned_socket memory_network::listen(endpoint const& at) {
  inside::require_address(at);
  in_->require_room("listen at ", at);
  in_->touch(true);
  if (at.port != 0 && in_->sockets.find_listener_at(at))
    detail::throw_failed(std::errc::address_in_use, "listen at ", at);
  endpoint const here(at.address, at.port != 0 ? at.port : in_->free_port(at.address));
  return {*this,
          in_->sockets.add(std::make_unique<detail::memory_listener>(here, in_->options.backlog))};
}
std::optional<owned_socket> memory_network::accept(socket_id s) {
  auto& l = in_->find_listener(s);
  l.touch(false);
  if (l.is_empty()) return std::nullopt;
  detail::fault_menu menu(detail::io_attempt::accepting);
  in_->budgets.may(menu, detail::fault::delay);
  if (in_->budgets.decide(menu) == detail::fault::delay) {
    l.is_late = true;
    return std::nullopt;
  }
  in_->require_room("accept at ", l.at);
  auto e = std::make_unique<inside::end>();
  e->link = l.front().link;
  e->local = l.front().to;
  e->peer = l.front().from;
  owned_socket accepted(*this, in_->sockets.add(std::move(e)));
  l.pop();
  return accepted;
}
owned_socket memory_network::connect(endpoint const& to) {
  inside::require_address(to);
  in_->require_room("connect to ", to);
  endpoint here(to.address, in_->free_port(to.address));
  auto e = std::make_unique<inside::end>();
  e->link = std::make_shared<detail::memory_link>(in_->options.capacity);
  e->connects = true;
  e->local = std::move(here);
  e->peer = to;
  return {*this, in_->sockets.add(std::move(e))};
}
bool memory_network::finish_connect(socket_id s) {
  using state = detail::memory_link::state;
  auto& e = in_->find_end(s, "connect by");
  e.out().touch(false);
  if (e.link->is == state::under_way && !e.out().is_silent) in_->arrive(e);
  if (e.link->is == state::refused)
    detail::throw_failed(std::errc::connection_refused, "connect to ", e.peer);
  if (e.out().is_broken()) detail::throw_failed(std::errc::connection_reset, "connect to ", e.peer);
  return e.link->is == state::connected;
}
std::optional<std::size_t> memory_network::read(socket_id s, std::span<std::byte> into) {
  return detail::read_from(in_->find_end(s, "read from"), in_->budgets, into);
}
std::optional<std::size_t> memory_network::write(socket_id s, std::span<std::byte const> from) {
  return detail::write_to(in_->find_end(s, "write to"), in_->budgets, from);
}
void memory_network::finish(socket_id s) {
  detail::finish_writing_to(in_->find_end(s, "finish writing to"));
}
void memory_network::watch(socket_id s, direction d, external_event& g) {
  auto const& at = in_->find(s, "wait for");
  auto& here = inside::place(at, d);
  here.enter(g, d);
  auto const* const l = std::get_if<inside::listener>(&at);
  bool const may =
      l ? (*l)->check_retry() : detail::check_retry(*std::get<std::unique_ptr<inside::end>>(at), d);
  if (may) here.open();
}

}  // namespace weft
