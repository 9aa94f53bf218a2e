// SPDX-License-Identifier: MIT
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "tests/prelude.hpp"
#include "weft/effects/detail/platform.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// A system without membarrier: a filter refuses the call to this process, as containers do.

bool refuse_membarrier() {
  std::array<sock_filter, 4> filter{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_membarrier},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  sock_fprog const program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

eff<int, tasking<>> fib(int n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}

TEST_CASE("where the system refuses membarrier, thieves steal tasks without it") {
  REQUIRE(refuse_membarrier());
  CHECK_FALSE(detail::can_interrupt_threads());
  CHECK_FALSE(detail::interrupt_threads());
  for (unsigned threads = 1; threads != 4; ++threads)
    for (int round = 0; round != 20; ++round) {
      int found = 0;
      schedule<stealing>({.threads = threads},
                         [&]() -> eff<void, tasking<>> { found = co_await fib(15); });
      CHECK(found == 610);
    }
}
