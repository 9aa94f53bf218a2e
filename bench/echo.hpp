// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/reactor.hpp"
#include "weft/sched/schedule.hpp"

/// An echo server, by weft and by hand, and the client of both: many connections over loopback, on
/// each one message at a time.
namespace weft::bench {

inline constexpr std::size_t echo_bytes = 64;
using echo_message = std::array<unsigned char, echo_bytes>;

[[noreturn]] inline void give_up(char const* what) {
  std::perror(what);
  std::abort();
}
inline int must(int answer, char const* what) {
  if (answer < 0) give_up(what);
  return answer;
}
/// This process has both ends of each connection.
inline void allow_open_files(rlim_t n) {
  rlimit limit{};
  must(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  if (limit.rlim_cur >= n) return;
  limit.rlim_cur = n;
  must(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}
inline void add_to_epoll(int epoll, int fd, std::uint32_t events, std::uint64_t data) {
  epoll_event e{};
  e.events = events;
  e.data.u64 = data;
  must(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
}
inline void send_at_once(int fd) {
  int const yes = 1;
  must(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), "setsockopt");
}

// ---- the client: one thread, one epoll

class echo_client {
 public:
  echo_client(std::uint16_t port, std::size_t connections, std::uint32_t rounds)
      : epoll_(must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        rounds_(rounds),
        peers_(connections) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (std::size_t i = 0; i != peers_.size(); ++i) {
      int const fd = must(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
      must(::connect(fd, reinterpret_cast<sockaddr const*>(&to), sizeof to), "connect");
      send_at_once(fd);
      add_to_epoll(epoll_, fd, EPOLLIN | EPOLLET, i);
      peers_[i].fd = fd;
    }
  }
  echo_client(echo_client const&) = delete;
  echo_client& operator=(echo_client const&) = delete;
  ~echo_client() {
    for (peer const& p : peers_) ::close(p.fd);
    ::close(epoll_);
  }

  /// Every answer must equal its message.  The answer is the number of right ones, so it checks
  /// all.
  timed run() {
    // One answer on each connection before the clock starts: all are accepted then.
    for (peer& p : peers_) send(p);
    receive_until(peers_.size());
    auto const begin = std::chrono::steady_clock::now();
    for (peer& p : peers_) send(p);
    receive_until(peers_.size() * (rounds_ + std::size_t{1}));
    return {ns_between(begin, std::chrono::steady_clock::now()), right_};
  }

 private:
  struct peer {
    int fd = -1;
    std::uint32_t sent = 0;
    std::size_t received = 0;  // bytes of the answer
    echo_message answer{};
  };
  [[nodiscard]] echo_message message(peer const& p) const {
    echo_message m;
    m.fill(static_cast<unsigned char>(p.fd * 7 + 1));
    std::memcpy(m.data(), &p.sent, sizeof p.sent);
    return m;
  }
  void send(peer& p) {
    ++p.sent;
    echo_message const m = message(p);
    if (::send(p.fd, m.data(), m.size(), MSG_NOSIGNAL) != std::ssize(m)) give_up("send");
  }
  /// Answers trigger the next message, except the first and the last one of each connection.
  void receive_until(std::size_t answers) {
    std::array<epoll_event, 1024> events;
    while (answers_ != answers) {
      int const n = must(::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1),
                         "epoll_wait");
      for (int i = 0; i != n; ++i) {
        peer& p = peers_[events[static_cast<std::size_t>(i)].data.u64];
        receive(p);
        if (p.received != echo_bytes) continue;
        p.received = 0;
        ++answers_;
        right_ += p.answer == message(p);
        if (p.sent != 1 && p.sent != rounds_ + 1) send(p);
      }
    }
  }
  void receive(peer& p) {
    auto const n = ::recv(p.fd, p.answer.data() + p.received, echo_bytes - p.received, 0);
    if (n <= 0) give_up("recv");
    p.received += static_cast<std::size_t>(n);
  }

  int epoll_;
  std::uint32_t rounds_;
  std::vector<peer> peers_;
  std::size_t answers_ = 0;
  std::uint64_t right_ = 0;
};

// ---- the servers: each calls listens(port), and returns when `connections` have been closed

template <class Server>
timed echoed_by(Server serve, std::size_t connections, std::uint32_t rounds) {
  timed result;
  std::optional<std::thread> client;
  serve(connections, [&](std::uint16_t port) {
    client.emplace([&result, port, connections, rounds] {
      result = echo_client(port, connections, rounds).run();
    });
  });
  client->join();
  return result;
}

/// By hand: one thread, edge-triggered.  A read that does not fill its buffer is the last one.
template <class Listens>
void echo_by_hand(std::size_t connections, Listens listens) {
  int const epoll = must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  int const door = must(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  send_at_once(door);
  must(::bind(door, reinterpret_cast<sockaddr const*>(&at), size), "bind");
  must(::listen(door, SOMAXCONN), "listen");
  must(::getsockname(door, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  add_to_epoll(epoll, door, EPOLLIN, static_cast<std::uint64_t>(door));
  listens(ntohs(at.sin_port));

  std::size_t gone = 0;
  std::array<epoll_event, 1024> events;
  std::array<unsigned char, 4096> buffer;
  auto const serve = [&](int fd) {
    for (;;) {
      auto const n = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (n == 0) {
        ::close(fd);
        ++gone;
        return;
      }
      if (n < 0) {
        if (errno != EAGAIN) give_up("recv");
        return;
      }
      if (::send(fd, buffer.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) != n)
        give_up("send");  // one message at a time: there is room
      if (n != std::ssize(buffer)) return;
    }
  };
  while (gone != connections) {
    int const n =
        must(::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1), "epoll_wait");
    for (int i = 0; i != n; ++i) {
      int const fd = static_cast<int>(events[static_cast<std::size_t>(i)].data.u64);
      if (fd != door) {
        serve(fd);
        continue;
      }
      int const come =
          must(::accept4(door, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept");
      add_to_epoll(epoll, come, EPOLLIN | EPOLLRDHUP | EPOLLET, static_cast<std::uint64_t>(come));
    }
  }
  ::close(door);
  ::close(epoll);
}

inline eff<void, io, completions> echo(connection c) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return;
    co_await c.write(std::span(buffer).first(n));
  }
}
template <class Listens>
eff<void, spawning<io, completions>, io, completions> echo_server(std::size_t connections,
                                                                  Listens* listens) {
  listener door = co_await listen(endpoint());
  (*listens)(door.local().port);
  for (std::size_t i = 0; i != connections; ++i) {
    connection c = co_await door.accept();
    co_await spawn(echo, std::move(c));
  }
}
template <class Backend, class Listens>
void echo_by_processes(std::size_t connections, Listens listens) {
  reactor net;
  auto const program = [=, at = &listens] { return echo_server(connections, at); };
  if constexpr (configurable_backend<Backend>)
    schedule<Backend>({.threads = 2}, program, net);
  else
    schedule<Backend>(program, net);
}

}  // namespace weft::bench
