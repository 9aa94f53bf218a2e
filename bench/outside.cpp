// SPDX-License-Identifier: MIT

/// What does it cost to communicate with the outside?
///
///   echo/1000    Messages of 64 bytes a second that an echo server answers, over loopback, on 1000
///                connections; on each the client sends the next message when it has the answer to
///                the last one.  One process for each connection, on one thread.  The clock runs
///                from when all connections are established to the last answer.
///   echo/1000/2  The same, with two threads.
///   command, command/BACKEND, step
///                A round trip to a dispatcher's thread, and a step of a state machine: see
///                outside_commands.hpp.
///
/// The rival of the first two:
///
///   epoll-loop   A hand-written echo server: one thread, one epoll, edge-triggered; a read that
///                does not fill its buffer is the last one, so a message costs one read and one
///                write.
///
/// The fastest of all repetitions counts: client and server should have a processor each.  The
/// client is the same for both sides: one thread, one epoll.  It compares every byte.

#include <cstddef>
#include <cstdint>

#include "bench/echo.hpp"
#include "bench/harness.hpp"
#include "bench/outside_commands.hpp"
#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/stealing.hpp"

namespace {

using weft::bench::echo_by_hand;
using weft::bench::echo_by_processes;
using weft::bench::echoed_by;
using weft::bench::summary;

void add_echo(weft::bench::suite& bench) {
  std::size_t const connections = 1000;
  weft::bench::allow_open_files(2 * connections + 100);
  std::uint32_t const rounds = bench.is_quick() ? 5 : 200;
  auto const run = [=](auto serve) {
    return [=] { return echoed_by(serve, connections, rounds); };
  };
  auto const by_hand = run([](std::size_t n, auto listens) { echo_by_hand(n, listens); });
  std::size_t const messages = connections * rounds;
  bench.compare_rate_runs("echo/1000", run([](std::size_t n, auto listens) {
                            echo_by_processes<weft::one_thread>(n, listens);
                          }),
                          "epoll-loop", by_hand, messages, summary::least);
  bench.compare_rate_runs("echo/1000/2", run([](std::size_t n, auto listens) {
                            echo_by_processes<weft::stealing>(n, listens);
                          }),
                          "epoll-loop", by_hand, messages, summary::least);
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("outside", argc, argv);
  add_echo(bench);
  weft::bench::compare_commands(bench);
  return bench.run();
}
