// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/io/io.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft {

/// The row of a function that uses connections.
using networking = row<io, completions>;

namespace detail {
/// Counts consecutive operations that need not wait, in one direction of a connection or at a
/// listener; every 64th of them lets other processes run first.
class fair_share {
 public:
  /// Counts an operation.  True if its process is to let others run first.
  [[nodiscard]] bool spend() noexcept;
  void reset() noexcept;

 private:
  std::uint8_t in_a_row_ = 0;
};
}  // namespace detail

/// A stream of bytes in both directions.  One process may read and one may write at a time.  The
/// destructor closes the connection.
///
/// An operation that cannot proceed waits, until `until` at the latest: then it throws io_error
/// with std::errc::timed_out, and may be tried again.  Other failures are an io_error too.  A
/// waiting operation can be cancelled, as everywhere.  Every 64th consecutive operation that need
/// not wait lets other processes run first.  Reports name `where`, the place of the call.
///
/// This object and the buffer must outlive the operation.
///
/// Costs at least one attempt of the network (an operation of `io`), and one more after each wait.
///
/// Each operation takes a frame from a pool, and one more for each wait; read_all() and write()
/// take one for each part.
///
/// Throws io_error; std::logic_error if the connection was moved from, or if another process
/// already waits in the same direction.
class [[nodiscard]] connection {
 public:
  /// Takes over a connected socket.
  explicit connection(owned_socket s) noexcept : socket_(std::move(s)) {}

  /// Reads the bytes that have arrived and fit, and yields how many, at least one; 0 if the other
  /// side has finished writing, or if `into` is empty.
  eff<std::size_t, io, completions> read(
      std::span<std::byte> into, instant until = instant::max(),
      std::source_location where = std::source_location::current());
  /// Reads until `into` is full.  Throws io_error with std::errc::connection_aborted if the stream
  /// ends before that.
  eff<void, io, completions> read_all(std::span<std::byte> into, instant until = instant::max(),
                                      std::source_location where = std::source_location::current());
  /// Writes as many bytes as there is room for, and yields how many, at least one; 0 if `from` is
  /// empty.
  eff<std::size_t, io, completions> write_some(
      std::span<std::byte const> from, instant until = instant::max(),
      std::source_location where = std::source_location::current());
  /// Writes all bytes.  If it throws, some may have been written; to continue after an error, use
  /// write_some.
  eff<void, io, completions> write(std::span<std::byte const> from, instant until = instant::max(),
                                   std::source_location where = std::source_location::current());
  eff<void, io, completions> write(std::string_view text, instant until = instant::max(),
                                   std::source_location where = std::source_location::current());
  /// Ends the outgoing stream: the other side reads the end, and may still write.
  eff<void, io> finish(std::source_location where = std::source_location::current());
  /// Closes the connection now, even if another process waits on it.  Waiting and later operations
  /// throw io_error with std::errc::bad_file_descriptor.
  eff<void, io> close(std::source_location where = std::source_location::current());

  /// The address of the other side.  O(1); allocates its text.
  [[nodiscard]] endpoint peer() const;

 private:
  owned_socket socket_;
  detail::fair_share reading_;
  detail::fair_share writing_;
};

/// Accepts connections.  One process may wait in accept() at a time.  The destructor closes the
/// listener.  Its operations cost, allocate and throw what those of a connection do.
class [[nodiscard]] listener {
 public:
  explicit listener(owned_socket s) noexcept : socket_(std::move(s)) {}

  /// Yields the next connection.  Waits and throws as the operations of a connection do; if too
  /// many files are open, the error is std::errc::too_many_files_open, and the peer stays first in
  /// the queue.  Takes a frame from a pool, and one more for each wait.
  eff<connection, io, completions> accept(
      instant until = instant::max(), std::source_location where = std::source_location::current());
  /// Closes the listener now, even if a process waits in accept().  Waiting and later calls of
  /// accept() throw io_error with std::errc::bad_file_descriptor.
  eff<void, io> close(std::source_location where = std::source_location::current());
  /// The address of the listener, with the port that was chosen if it was given as 0.  O(1);
  /// allocates the address's text.
  [[nodiscard]] endpoint local() const;

 private:
  owned_socket socket_;
  detail::fair_share accepting_;
};

/// Yields a listener at an address.  Throws io_error, or std::invalid_argument if the address is
/// not valid.
eff<listener, io> listen(endpoint at, std::source_location where = std::source_location::current());

/// Yields a connection to the listener at `to`.  Waits as the operations of a connection do.  Costs
/// two attempts of the network, and one more after each wait.  Takes a frame from a pool, and one
/// more for each wait.  Throws io_error, with connection_refused if there is no listener;
/// std::invalid_argument if the address is not valid.
eff<connection, io, completions> connect(
    endpoint to, instant until = instant::max(),
    std::source_location where = std::source_location::current());

}  // namespace weft
