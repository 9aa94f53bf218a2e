// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include <cerrno>
#include <csignal>
#endif

namespace weft::detail {

/// The calls that asio_network makes to the system itself, since Asio does not make them.  On a
/// system that is not POSIX the functions leave these calls out.
struct asio_system {
#if defined(__unix__) || defined(__APPLE__)
  /// Calls `f()` while all signals of the thread are blocked, so that a thread that `f` starts has
  /// them blocked: signals are for the program's own threads.
  template <class F>
  static void without_signals(F const& f) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      f();
    } catch (...) {
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  template <class Object>
  static void close_on_exec(Object& s) noexcept {
    (void)::fcntl(s.native_handle(), F_SETFD, FD_CLOEXEC);
  }
  /// Whether the error concerns one peer, which has left again, and says nothing of the next one.
  template <class Error>
  static bool is_of_one_peer(Error const& e) noexcept {
    static constexpr std::array of_peers{EINTR,       ECONNABORTED, EPROTO,      ENETDOWN,
                                         ENOPROTOOPT, EHOSTDOWN,    ENETUNREACH, EHOSTUNREACH,
                                         EPERM,       ETIMEDOUT};
    return std::ranges::find(of_peers, e.value()) != of_peers.end();
  }
  template <class Object>
  static bool nobody_is_there(Object& door) noexcept {
    pollfd p{door.native_handle(), POLLIN, 0};
    return ::poll(&p, 1, 0) == 0;
  }
#else
  template <class F>
  static void without_signals(F const& f) {
    f();
  }
  template <class Object>
  static void close_on_exec(Object&) noexcept {}
  template <class Error>
  static bool is_of_one_peer(Error const&) noexcept {
    return false;
  }
  template <class Object>
  static bool nobody_is_there(Object&) noexcept {
    return false;
  }
#endif
};

}  // namespace weft::detail
