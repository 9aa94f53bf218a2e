// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/support/loopback.hpp"
#include "tests/support/own_directory.hpp"

/// Servers of NATS on this computer, with JetStream, for tests.
namespace weft::tests {

/// Waits for other programs, which no virtual time moves.
inline void wait_for(std::chrono::milliseconds time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

/// A socket that is connected to this port; -1 if nobody listens.
inline int try_to_connect(std::uint16_t port) {
  int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in const a = on_this_machine(port);
  if (::connect(s, reinterpret_cast<sockaddr const*>(&a), sizeof a) == 0) return s;
  ::close(s);
  return -1;
}
/// A port that nobody uses now.
inline std::uint16_t free_port() {
  int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a = on_this_machine(0);
  socklen_t n = sizeof a;
  auto* const any = reinterpret_cast<sockaddr*>(&a);
  if (s < 0 || ::bind(s, any, n) != 0 || ::getsockname(s, any, &n) != 0)
    throw std::system_error(errno, std::generic_category(), "a free port");
  ::close(s);
  return ntohs(a.sin_port);
}

/// A socket that listens on a port which nobody has used.
inline int listening_on_free(std::uint16_t& port) {
  port = free_port();
  int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in const a = on_this_machine(port);
  if (s < 0 || ::bind(s, reinterpret_cast<sockaddr const*>(&a), sizeof a) != 0 ||
      ::listen(s, 16) != 0)
    throw std::system_error(errno, std::generic_category(), "a socket that listens");
  return s;
}

/// One server.  Its files and its port stay when it is killed and started again.
class nats_server {
 public:
  explicit nats_server(std::vector<std::string> more = {}) : more_(std::move(more)) { start(); }
  nats_server(nats_server const&) = delete;
  nats_server& operator=(nats_server const&) = delete;
  ~nats_server() { kill_it(); }

  void start() {
    std::vector<std::string> words{
        "nats-server",    "-js", "-a", "127.0.0.1", "-p", std::to_string(port_), "-sd",
        files_.file("js")};
    words.insert(words.end(), more_.begin(), more_.end());
    std::vector<char*> args;
    for (auto& w : words) args.push_back(w.data());
    args.push_back(nullptr);
    std::string const log = files_.file("log");
    pid_ = ::fork();
    if (pid_ == 0) {
      if (!std::freopen(log.c_str(), "a", stderr) || !std::freopen("/dev/null", "w", stdout))
        _exit(126);
      setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 0);
      execvp(args[0], args.data());
      execv("/usr/sbin/nats-server", args.data());
      _exit(127);
    }
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "nats-server");
    wait_until_it_listens();
  }
  /// At once, as by a loss of power of its program.
  void kill_it() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void restart() {
    kill_it();
    start();
  }
  void stop() { ::kill(pid_, SIGSTOP); }
  void go_on() { ::kill(pid_, SIGCONT); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

 private:
  void wait_until_it_listens() {
    for (int i = 0; i != 1'000; ++i) {
      if (int const s = try_to_connect(port_); s >= 0) {
        ::close(s);
        return;
      }
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
      wait_for(std::chrono::milliseconds(10));
    }
    pid_ = 0;
    throw std::runtime_error("nats-server does not run: is the package nats-server installed?");
  }

  own_directory files_;
  std::uint16_t port_ = free_port();
  std::vector<std::string> more_;
  pid_t pid_ = 0;
};

/// Three servers, of which any two go on.
class nats_cluster {
 public:
  nats_cluster() {
    std::vector<std::string> ports;
    std::string routes;
    for (std::size_t i = 0; i != size; ++i) {
      ports.push_back(std::to_string(free_port()));
      routes += (i ? ",nats://127.0.0.1:" : "nats://127.0.0.1:") + ports.back();
    }
    for (std::size_t i = 0; i != size; ++i)
      servers_.push_back(std::make_unique<nats_server>(std::vector<std::string>{
          "-n", "server" + std::to_string(i), "--cluster_name", "weft", "--cluster",
          "nats://127.0.0.1:" + ports[i], "--routes", routes}));
  }
  [[nodiscard]] nats_server& operator[](std::size_t i) { return *servers_[i]; }
  [[nodiscard]] std::string url() const {
    std::string all;
    for (auto const& s : servers_) all += (all.empty() ? "" : ",") + s->url();
    return all;
  }
  static constexpr std::size_t size = 3;

 private:
  std::vector<std::unique_ptr<nats_server>> servers_;
};

}  // namespace weft::tests
