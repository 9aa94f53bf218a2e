// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/servers.hpp"

namespace weft::tests {

/// Stands between clients and a server, and keeps back what they send: a network that is cut, and
/// comes back with what was under way; or breaks the connections.
class proxy {
 public:
  explicit proxy(std::uint16_t server) : server_(server), listens_(listening_on_free(port_)) {
    thread_ = std::thread([this] { run(); });
  }
  proxy(proxy const&) = delete;
  proxy& operator=(proxy const&) = delete;
  ~proxy() {
    ends_ = true;
    thread_.join();
    ::close(listens_);
  }
  [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }
  void keep_back(bool to_server, bool to_client) {
    keeps_[0] = to_server;
    keeps_[1] = to_client;
  }
  /// Ends all connections; what was kept back is lost.
  void break_connections() { breaks_ = true; }

 private:
  struct pair {
    std::array<int, 2> ends{};  // the client's, the server's
  };
  static void close(pair const& p) {
    for (int const e : p.ends) ::close(e);
  }
  void accept_one() {
    pair p;
    p.ends[0] = ::accept4(listens_, nullptr, nullptr, SOCK_CLOEXEC);
    p.ends[1] = try_to_connect(server_);
    if (p.ends[0] >= 0 && p.ends[1] >= 0)
      pairs_.push_back(p);
    else
      close(p);
  }
  /// False at the end of the stream.
  static bool pass_on(int from, int to) {
    std::array<char, 65'536> bytes;
    ssize_t const n = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    for (ssize_t done = 0; done != n;) {
      ssize_t const some =
          ::send(to, bytes.data() + done, static_cast<std::size_t>(n - done), MSG_NOSIGNAL);
      if (some <= 0) return false;
      done += some;
    }
    return true;
  }
  void run() {
    while (!ends_) {
      std::vector<pollfd> all{{listens_, POLLIN, 0}};
      for (auto const& p : pairs_)
        for (std::size_t side = 0; side != 2; ++side)
          all.push_back({keeps_[side] ? -1 : p.ends[side], POLLIN, 0});
      ::poll(all.data(), all.size(), 5);
      bool const breaks = breaks_.exchange(false);
      std::vector<pair> left;
      for (std::size_t i = 0; i != pairs_.size(); ++i) {
        pair const& p = pairs_[i];
        bool is_open = !breaks;
        for (std::size_t side = 0; side != 2; ++side)
          if (is_open && all[1 + 2 * i + side].revents != 0)
            is_open = pass_on(p.ends[side], p.ends[1 - side]);
        if (is_open)
          left.push_back(p);
        else
          close(p);
      }
      pairs_ = std::move(left);
      if (all[0].revents != 0) accept_one();
    }
    for (auto const& p : pairs_) close(p);
  }

  std::uint16_t server_;
  std::uint16_t port_ = 0;
  int listens_;
  std::array<std::atomic<bool>, 2> keeps_{};
  std::atomic<bool> breaks_ = false;
  std::atomic<bool> ends_ = false;
  std::vector<pair> pairs_;
  std::thread thread_;
};

}  // namespace weft::tests
