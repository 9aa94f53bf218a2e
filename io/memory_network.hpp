// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "weft/io/memory_network_options.hpp"
#include "weft/io/network.hpp"
#include "weft/io/socket.hpp"

namespace weft {

/// A network in memory, for tests of programs that use `io`: without system sockets, and
/// deterministic.
///
///     auto const found = explore([] { return memory_network({.splits = 1, .resets = 1}); },
///                                [](memory_network& net) { return client_and_server(); },
///                                check,
///                                [](memory_network& net) -> auto& { return net; });
///
/// explore, random_walk and the like decide where the faults that the options allow happen
/// (decision.hpp); explore tries each possible place in some schedule.  Without an explorer no
/// fault happens, unless there is a random-number seed.
///
/// Bytes of one stream stay in order.  The order between two streams depends on which process runs;
/// with delays, also on which processes run before a delayed attempt is repeated.  Nothing takes
/// time: a deadline passes only if a fault has made the connection silent, or if the other side
/// does not do what this side waits for.
///
/// As with TCP, a write to a closed peer succeeds, and the next one fails with broken_pipe; closing
/// an end with unread bytes resets the connection.  Unlike TCP, a reset always discards the
/// unread bytes, and a port is free again at once.
///
/// For schedulers on one thread.  An explorer that leaves out equivalent schedules is told which
/// stream a process uses: so two pairs of processes, each with its own streams, are independent.
/// (If the network is passed as a `network&`, all of it is one location.)
///
/// Must outlive its sockets: if some are open, the destructor prints a message and terminates the
/// program.  Finding a listener is O(n) for n sockets; all other operations are O(1), plus
/// O(b) for the b bytes that they move.  Allocates the sockets, and the bytes in transit.
class memory_network final : public network {
 public:
  /// The streams and listeners report their accesses to an explorer (detail/memory_stream.hpp,
  /// MEMNET-2); the budgets of faults need not (detail/memory_faults.hpp, MEMNET-1).
  static constexpr bool reports_accesses = true;

  /// Throws std::invalid_argument if the capacity or the backlog is 0.
  explicit memory_network(memory_network_options const& o = {});
  ~memory_network() override;

  /// How many sockets are open.
  [[nodiscard]] std::size_t sockets() const noexcept;

  // ---- socket_home

  void close(socket_id s) noexcept override;
  void unwatch(socket_id s, direction d, external_event& g) noexcept override;
  [[nodiscard]] endpoint peer(socket_id s) const override;
  [[nodiscard]] endpoint local(socket_id s) const override;

 private:
  class inside;

  [[nodiscard]] owned_socket listen(endpoint const& at) override;
  [[nodiscard]] std::optional<owned_socket> accept(socket_id s) override;
  [[nodiscard]] owned_socket connect(endpoint const& to) override;
  [[nodiscard]] bool finish_connect(socket_id s) override;
  [[nodiscard]] std::optional<std::size_t> read(socket_id s, std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::size_t> write(socket_id s,
                                                 std::span<std::byte const> from) override;
  void finish(socket_id s) override;
  void watch(socket_id s, direction d, external_event& g) override;

  std::unique_ptr<inside> const in_;
};

}  // namespace weft
