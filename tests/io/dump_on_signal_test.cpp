// SPDX-License-Identifier: MIT
#include "weft/io/dump_on_signal.hpp"

#include <unistd.h>

#include <csignal>

#include "tests/prelude.hpp"

/// Takes what is written to the standard error, while it exists.
class taken_stderr {
 public:
  taken_stderr() {
    REQUIRE(::pipe(ends_.data()) == 0);
    before_ = ::dup(STDERR_FILENO);
    REQUIRE(::dup2(ends_[1], STDERR_FILENO) == STDERR_FILENO);
  }
  taken_stderr(taken_stderr const&) = delete;
  taken_stderr& operator=(taken_stderr const&) = delete;
  ~taken_stderr() {
    (void)::dup2(before_, STDERR_FILENO);
    for (int const each : {ends_[0], ends_[1], before_}) (void)::close(each);
  }
  /// Waits until something is written.
  [[nodiscard]] std::string read() const {
    std::array<char, 4096> text{};
    auto const n = ::read(ends_[0], text.data(), text.size());
    return {text.data(), n < 0 ? 0 : static_cast<std::size_t>(n)};
  }

 private:
  std::array<int, 2> ends_{};
  int before_ = -1;
};

eff<void, mail> reads(inbox<int> in) { (void)co_await in.receive(); }

bool is_blocked(int signal) {
  sigset_t now;
  sigemptyset(&now);
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST_CASE("a signal makes a program write which processes wait") {
  scheduler<> s;
  std::string text;
  {
    taken_stderr const err;
    dump_on_signal const asked(s, SIGQUIT);
    CHECK(is_blocked(SIGQUIT));
    auto const program = [&]() -> eff<void, spawning<mail>, mail, proc> {
      auto [in, to] = co_await open<int>();
      co_await spawn(reads, std::move(in));
      co_await proc::yield{};
      // The dump is written between two steps of this process.
      std::atomic<bool> is_read = false;
      std::thread reader([&] {
        (void)::kill(::getpid(), SIGQUIT);
        text = err.read();
        is_read = true;
      });
      while (!is_read) co_await proc::yield{};
      reader.join();
      co_await to.send(1);
    };
    s.start({.forkable = false}, program).run();
  }
  CHECK(text.starts_with("1 process waits\n  process 1.1 (reads) in weft::mail::receive at "));
  CHECK_FALSE(is_blocked(SIGQUIT));
}
