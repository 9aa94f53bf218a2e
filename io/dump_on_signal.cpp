// SPDX-License-Identifier: MIT
#include "weft/io/dump_on_signal.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <unistd.h>

namespace weft {
namespace {

sigset_t set_of(int signal) noexcept {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  return only;
}

void write_all(std::string const& text) noexcept {
  for (std::size_t done = 0; done != text.size();) {
    ssize_t const n = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

}  // namespace

dump_on_signal::dump_on_signal(std::string (*dump)(void*), void* scheduler, int signal)
    : signal_(signal) {
  sigset_t const only = set_of(signal);
  sigset_t before;
  if (int const error = pthread_sigmask(SIG_BLOCK, &only, &before); error != 0)
    throw std::system_error(error, std::generic_category(), "weft: dump_on_signal");
  was_blocked_ = sigismember(&before, signal) == 1;
  waits_ = std::jthread([=](std::stop_token const& end) {
    for (int found = 0; sigwait(&only, &found) == 0 && !end.stop_requested();) {
      try {
        write_all(dump(scheduler));
      } catch (...) {
        write_all("weft: there is no memory for a dump\n");
      }
    }
  });
}

dump_on_signal::~dump_on_signal() {
  waits_.request_stop();
  pthread_kill(waits_.native_handle(), signal_);
  waits_.join();
  sigset_t const only = set_of(signal_);
  if (!was_blocked_) pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace weft

#else

namespace weft {

dump_on_signal::dump_on_signal(std::string (*)(void*), void*, int signal)
    : signal_(signal), was_blocked_(true) {
  throw std::system_error(std::make_error_code(std::errc::function_not_supported),
                          "weft: dump_on_signal");
}
dump_on_signal::~dump_on_signal() = default;

}  // namespace weft

#endif
