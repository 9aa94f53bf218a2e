// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/reactor.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/detail/event_thread.hpp"
#include "weft/io/detail/readiness.hpp"
#include "weft/io/detail/socket_address.hpp"
#include "weft/io/detail/socket_place.hpp"
#include "weft/io/detail/socket_table.hpp"
#include "weft/io/socket.hpp"

namespace weft {

/// One user of a socket; the descriptor of the socket stays open until this object is destroyed.
class reactor::use {
 public:
  use(reactor const& r, socket_id s, char const* what)
      : at(require(r.table_->find(s.place), s.number, what)), home_(r) {}
  use(use const&) = delete;
  use& operator=(use const&) = delete;
  ~use() { home_.leave(at); }

  /// Makes the system call `call`, which reads or writes `most` bytes at most, and returns its
  /// result; nullopt if the call finds nothing, or was left out since it could not find anything.
  template <class Call>
  [[nodiscard]] std::optional<std::size_t> attempt(direction d, std::size_t most,
                                                   std::string_view what, Call call) const {
    detail::readiness& ready = at.ready(d);
    auto const now = ready.now();
    if (!ready.may_try(now)) return std::nullopt;
    auto const n = detail::uninterrupted([&] { return call(at.fd()); });
    if (n < 0) {
      if (errno != EAGAIN) fail(errno, what);
      ready.found_nothing(now);
      return std::nullopt;
    }
    auto const done = static_cast<std::size_t>(n);
    if (done < most) ready.found_less(now);
    return done;
  }
  [[noreturn, gnu::cold]] void fail(int why, std::string_view what) const {
    detail::throw_io_error(why, std::string(what) + at.peer().to_endpoint().text());
  }

  detail::socket_place& at;

 private:
  static detail::socket_place& require(detail::socket_place* p, std::uint32_t number,
                                       char const* what) {
    if (!p || !p->enter(number))
      detail::throw_io_error(EBADF, std::string(what) + " a socket that is closed");
    return *p;
  }

  reactor const& home_;
};

/// A place reserved for a socket; given back if it does not become one.
class reactor::reserved {
 public:
  explicit reserved(reactor& r) : home_(r) {
    r.events_->require_here();
    at_ = &r.table_->take();
  }
  reserved(reserved const&) = delete;
  reserved& operator=(reserved const&) = delete;
  ~reserved() {
    if (at_) home_.table_->give_back(*at_);
  }
  /// Makes the place a socket.
  owned_socket become(detail::descriptor fd, detail::socket_address const& peer,
                      std::string_view what) {
    int const added = fd.get();
    socket_id const id = at_->begin(std::move(fd), peer);
    at_ = nullptr;
    owned_socket s(home_, id);
    if (!home_.events_->add(added, id))
      detail::throw_io_error(errno, std::string(what) + peer.to_endpoint().text());
    return s;
  }

 private:
  reactor& home_;
  detail::socket_place* at_;
};

namespace {

detail::descriptor new_socket(detail::socket_address const& at, std::string const& what) {
  detail::descriptor fd(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) detail::throw_io_error(errno, what);
  return fd;
}
void set_option(detail::descriptor const& fd, int level, int option) noexcept {
  int const yes = 1;
  (void)::setsockopt(fd.get(), level, option, &yes, sizeof yes);
}

/// Whether the error is that of a peer that has left again: accept(2) passes it on, but it says
/// nothing of the next peer.
bool is_of_one_peer(int why) noexcept {
  static constexpr std::array of_peers{EINTR,       ECONNABORTED, EPROTO,   ENETDOWN,
                                       ENOPROTOOPT, EHOSTDOWN,    ENONET,   EHOSTUNREACH,
                                       ENETUNREACH, EPERM,        ETIMEDOUT};
  return std::ranges::find(of_peers, why) != of_peers.end();
}
bool nobody_is_there(int fd) noexcept {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) == 0;
}

}  // namespace

reactor::reactor()
    : table_(std::make_unique<detail::socket_table>()),
      events_(std::make_unique<detail::event_thread>(*table_)) {}
reactor::~reactor() {
  if (std::size_t const n = table_->taken(); n != 0 && events_->is_here()) {
    std::fprintf(stderr,
                 "weft: a reactor ends while %zu of its sockets are open: it must outlive them\n",
                 n);
    std::terminate();
  }
}

void reactor::close(socket_id s) noexcept {
  detail::socket_place* const p = table_->find(s.place);
  if (p && p->close(s.number)) leave(*p);
}
void reactor::unwatch(socket_id s, direction d, external_event& g) noexcept {
  if (detail::socket_place* const p = table_->find(s.place)) p->unwatch(d, g);
}
endpoint reactor::peer(socket_id s) const {
  return use(*this, s, "ask for the peer of").at.peer().to_endpoint();
}
endpoint reactor::local(socket_id s) const {
  use const on(*this, s, "ask for the address of");
  detail::socket_address here;
  if (::getsockname(on.at.fd(), here.out(), here.size_out()) != 0)
    on.fail(errno, "ask for the address of the connection to ");
  return here.to_endpoint();
}

void reactor::leave(detail::socket_place& p) const noexcept {
  if (!p.leave()) return;
  p.end();
  table_->give_back(p);
}

owned_socket reactor::listen(endpoint const& at) {
  detail::socket_address address(at);
  reserved place(*this);
  std::string const what = "listen at " + at.text();
  detail::descriptor fd = new_socket(address, what);
  set_option(fd, SOL_SOCKET, SO_REUSEADDR);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY);  // accepted sockets inherit it
  if (::bind(fd.get(), address.get(), address.size()) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), address.out(), address.size_out()) != 0)
    detail::throw_io_error(errno, what);
  return place.become(std::move(fd), address, "listen at ");
}
std::optional<owned_socket> reactor::accept(socket_id s) {
  use const on(*this, s, "accept at");
  detail::readiness& ready = on.at.ready(direction::reading);
  auto const now = ready.now();
  if (!ready.may_try(now)) return std::nullopt;
  reserved place(*this);
  for (;;) {
    detail::socket_address peer;
    detail::descriptor fd(
        ::accept4(on.at.fd(), peer.out(), peer.size_out(), SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) return place.become(std::move(fd), peer, "accept ");
    int const why = errno;
    if (is_of_one_peer(why)) continue;
    // accept4 reports a lack of descriptors even if no peer is there.
    if (why != EAGAIN && !nobody_is_there(on.at.fd())) on.fail(why, "accept at ");
    ready.found_nothing(now);
    return std::nullopt;
  }
}

owned_socket reactor::connect(endpoint const& to) {
  detail::socket_address const address(to);
  reserved place(*this);
  std::string const what = "connect to " + to.text();
  detail::descriptor fd = new_socket(address, what);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY);
  // After EINTR the connecting goes on, as after EINPROGRESS.
  if (::connect(fd.get(), address.get(), address.size()) != 0 && errno != EINPROGRESS &&
      errno != EINTR)
    detail::throw_io_error(errno, what);
  return place.become(std::move(fd), address, "connect to ");
}
bool reactor::finish_connect(socket_id s) {
  use const on(*this, s, "connect by");
  detail::readiness& ready = on.at.ready(direction::writing);
  auto const now = ready.now();
  if (!ready.may_try(now)) return false;
  int why = 0;
  socklen_t size = sizeof why;
  if (::getsockopt(on.at.fd(), SOL_SOCKET, SO_ERROR, &why, &size) != 0) why = errno;
  if (why != 0) on.fail(why, "connect to ");
  detail::socket_address peer;
  if (::getpeername(on.at.fd(), peer.out(), peer.size_out()) == 0) return true;
  ready.found_nothing(now);
  return false;
}

std::optional<std::size_t> reactor::read(socket_id s, std::span<std::byte> into) {
  return use(*this, s, "read from")
      .attempt(direction::reading, into.size(), "read from ",
               [&](int fd) { return ::recv(fd, into.data(), into.size(), 0); });
}
std::optional<std::size_t> reactor::write(socket_id s, std::span<std::byte const> from) {
  return use(*this, s, "write to")
      .attempt(direction::writing, from.size(), "write to ",
               [&](int fd) { return ::send(fd, from.data(), from.size(), MSG_NOSIGNAL); });
}

void reactor::finish(socket_id s) {
  use const on(*this, s, "finish writing to");
  if (::shutdown(on.at.fd(), SHUT_WR) != 0) on.fail(errno, "finish writing to ");
}
void reactor::watch(socket_id s, direction d, external_event& g) {
  use(*this, s, "wait for").at.watch(d, g);
}

}  // namespace weft
#endif
