// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <exception>
#include <string>

/// For tests of programs that terminate.
namespace weft::tests {

/// The output of `f`, which must end by std::terminate: runs in a process of its own.
template <class F>
std::string last_words(F f) {
  constexpr int terminated = 42;
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ::pid_t const child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::set_terminate([] { ::_exit(terminated); });
    f();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 200> some;
  for (::ssize_t n = 0; (n = ::read(ends[0], some.data(), some.size())) > 0;)
    said.append(some.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == terminated));
  return said;
}

}  // namespace weft::tests
