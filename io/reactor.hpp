// SPDX-License-Identifier: MIT
#pragma once

// clang-format off
#if !defined(__linux__)
#error "weft: io/reactor.hpp is for Linux: on another system, derive a network of your own"
#include <the error above>
#endif
// clang-format on

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/detail/event_thread.hpp"
#include "weft/io/detail/socket_address.hpp"
#include "weft/io/detail/socket_table.hpp"
#include "weft/io/network.hpp"

namespace weft {

/// The system's network: TCP, on Linux.
///
///     reactor net;
///     schedule(server, net);
///
/// Processes attempt operations on their own thread; one thread of the reactor waits, by epoll, for
/// the sockets of all processes that have to wait.  Thread safe: for any backend, and several
/// schedulers at once.
///
/// Real time only: with .virtual_time no process waits for the outside, so each deadline passes at
/// once.
///
/// Must outlive its sockets: if some are open, the destructor prints a message and terminates the
/// program.  A connection that a process owns is destroyed with that process, when schedule()
/// returns at the latest.
///
/// A socket sends at once (TCP_NODELAY), and may take a port that was in use a moment ago
/// (SO_REUSEADDR).  Child programs do not inherit descriptors; there is no SIGPIPE.
///
/// Cost of a message that a peer waits for: a read, a write, and a wake-up by the reactor's
/// thread.  After a read that got fewer bytes than fit, the reactor knows that there are no more,
/// so the next attempt is not a system call.  A connection takes 192 bytes, kept for the next one,
/// and two system calls each to begin and to end.
class reactor final : public network {
 public:
  static constexpr bool thread_safe = true;

  /// Throws std::system_error: too many open files, or no thread.
  reactor() = default;
  ~reactor() override {
    if (std::size_t const n = table_.taken(); n != 0) {
      std::fprintf(stderr,
                   "weft: a reactor ends while %zu of its sockets are open: it must outlive them\n",
                   n);
      std::terminate();
    }
  }

  // ---- socket_home

  void close(socket_id s) noexcept override {
    detail::socket_place* const p = table_.find(s.place);
    if (p && p->close(s.number)) leave(*p);
  }
  void unwatch(socket_id s, direction d, external_event& g) noexcept override {
    if (detail::socket_place* const p = table_.find(s.place)) p->unwatch(d, g);
  }
  [[nodiscard]] endpoint peer(socket_id s) const override {
    return use(*this, s, "ask for the peer of").at.peer().to_endpoint();
  }
  [[nodiscard]] endpoint local(socket_id s) const override {
    use const on(*this, s, "ask for the address of");
    detail::socket_address here;
    if (::getsockname(on.at.fd(), here.out(), here.size_out()) != 0)
      on.fail(errno, "ask for the address of the connection to ");
    return here.to_endpoint();
  }

 private:
  /// One user of a socket; the descriptor of the socket stays open until this object is destroyed.
  class use {
   public:
    use(reactor const& r, socket_id s, char const* what)
        : at(require(r.table_.find(s.place), s.number, what)), home_(r) {}
    use(use const&) = delete;
    use& operator=(use const&) = delete;
    ~use() { home_.leave(at); }
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
  class reserved {
   public:
    explicit reserved(reactor& r) : home_(r), at_(&r.table_.take()) {}
    reserved(reserved const&) = delete;
    reserved& operator=(reserved const&) = delete;
    ~reserved() {
      if (at_) home_.table_.give_back(*at_);
    }
    /// Makes the place a socket.
    owned_socket become(detail::descriptor fd, detail::socket_address const& peer,
                        std::string_view what) {
      int const added = fd.get();
      socket_id const id = at_->begin(std::move(fd), peer);
      at_ = nullptr;
      owned_socket s(home_, id);
      if (!home_.events_.add(added, id))
        detail::throw_io_error(errno, std::string(what) + peer.to_endpoint().text());
      return s;
    }

   private:
    reactor& home_;
    detail::socket_place* at_;
  };

  void leave(detail::socket_place& p) const noexcept {
    if (!p.leave()) return;
    p.end();
    table_.give_back(p);
  }

  // ---- the operations (io.hpp)

  static detail::descriptor new_socket(detail::socket_address const& at, std::string const& what) {
    detail::descriptor fd(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) detail::throw_io_error(errno, what);
    return fd;
  }
  static void set(detail::descriptor const& fd, int level, int option) noexcept {
    int const yes = 1;
    (void)::setsockopt(fd.get(), level, option, &yes, sizeof yes);
  }

  [[nodiscard]] owned_socket listen(endpoint const& at) override {
    detail::socket_address address(at);
    reserved place(*this);
    std::string const what = "listen at " + at.text();
    detail::descriptor fd = new_socket(address, what);
    set(fd, SOL_SOCKET, SO_REUSEADDR);
    set(fd, IPPROTO_TCP, TCP_NODELAY);  // accepted sockets inherit it
    if (::bind(fd.get(), address.get(), address.size()) != 0 ||
        ::listen(fd.get(), SOMAXCONN) != 0 ||
        ::getsockname(fd.get(), address.out(), address.size_out()) != 0)
      detail::throw_io_error(errno, what);
    return place.become(std::move(fd), address, "listen at ");
  }
  [[nodiscard]] std::optional<owned_socket> accept(socket_id s) override {
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
  /// Whether the error is that of a peer that has left again: accept(2) passes it on, but it says
  /// nothing of the next peer.
  static bool is_of_one_peer(int why) noexcept {
    static constexpr std::array of_peers{EINTR,       ECONNABORTED, EPROTO,   ENETDOWN,
                                         ENOPROTOOPT, EHOSTDOWN,    ENONET,   EHOSTUNREACH,
                                         ENETUNREACH, EPERM,        ETIMEDOUT};
    return std::ranges::find(of_peers, why) != of_peers.end();
  }
  static bool nobody_is_there(int fd) noexcept {
    pollfd p{fd, POLLIN, 0};
    return ::poll(&p, 1, 0) == 0;
  }

  [[nodiscard]] owned_socket connect(endpoint const& to) override {
    detail::socket_address const address(to);
    reserved place(*this);
    std::string const what = "connect to " + to.text();
    detail::descriptor fd = new_socket(address, what);
    set(fd, IPPROTO_TCP, TCP_NODELAY);
    // After EINTR the connecting goes on, as after EINPROGRESS.
    if (::connect(fd.get(), address.get(), address.size()) != 0 && errno != EINPROGRESS &&
        errno != EINTR)
      detail::throw_io_error(errno, what);
    return place.become(std::move(fd), address, "connect to ");
  }
  [[nodiscard]] bool finish_connect(socket_id s) override {
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

  [[nodiscard]] std::optional<std::size_t> read(socket_id s, std::span<std::byte> into) override {
    return attempt(use(*this, s, "read from"), direction::reading, into.size(), "read from ",
                   [&](int fd) { return ::recv(fd, into.data(), into.size(), 0); });
  }
  [[nodiscard]] std::optional<std::size_t> write(socket_id s,
                                                 std::span<std::byte const> from) override {
    return attempt(use(*this, s, "write to"), direction::writing, from.size(), "write to ",
                   [&](int fd) { return ::send(fd, from.data(), from.size(), MSG_NOSIGNAL); });
  }
  template <class Call>
  static std::optional<std::size_t> attempt(use const& on, direction d, std::size_t most,
                                            std::string_view what, Call call) {
    detail::readiness& ready = on.at.ready(d);
    auto const now = ready.now();
    if (!ready.may_try(now)) return std::nullopt;
    auto const n = detail::uninterrupted([&] { return call(on.at.fd()); });
    if (n < 0) {
      if (errno != EAGAIN) on.fail(errno, what);
      ready.found_nothing(now);
      return std::nullopt;
    }
    auto const done = static_cast<std::size_t>(n);
    if (done < most) ready.found_less(now);
    return done;
  }

  void finish(socket_id s) override {
    use const on(*this, s, "finish writing to");
    if (::shutdown(on.at.fd(), SHUT_WR) != 0) on.fail(errno, "finish writing to ");
  }
  void watch(socket_id s, direction d, external_event& g) override {
    use(*this, s, "wait for").at.watch(d, g);
  }

  mutable detail::socket_table table_;
  detail::event_thread events_{table_};  // last: its thread uses the table until it has ended
};

}  // namespace weft
