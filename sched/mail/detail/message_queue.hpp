// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

/// The queue of a mailbox's messages, first in, first out.  Senders hold the mailbox's lock; the
/// one receiver holds none.
///
///   MESSAGES-1  The messages are numbered in the order in which they are sent; those from `begin`
///       to `end` are in the queue.  A sender constructs a message, then counts it in `end`; the
///       receiver moves a message out, then counts it in `begin`.
///   MESSAGES-2  Message i is in cell i & mask of its block, a ring.  The last block has a cell for
///       each message in the queue; where there is no cell for one more, the next message enters a
///       new block, of twice as many cells.  The receiver frees a block when it has received all
///       messages of it.
///   MESSAGES-3  Senders may store the messages before `limit` without looking at `begin`: there
///       are cells for them.  The mailbox sets `limit` to `end` if a sender must look (MAILBOX-8).
///   MESSAGES-4  The receiver may receive the messages before `seen` without looking at `end`: they
///       are in the queue, and in the block `first`.  With one thread, `seen` is not beyond `begin`
///       while senders wait for room, so that the receiver looks for those senders.
///
/// Source: Lamport, Proving the Correctness of Multiprocess Programs, 1977; the copies of indices:
/// Lee et al., A Lock-Free, Cache-Efficient Multi-Core Synchronization Mechanism, 2009.
namespace weft::detail {

/// The header of a ring of cells, which lie behind it in memory.
struct message_block {
  /// The value of `until` in the last block, which has a cell for each message.
  static constexpr std::size_t not_full = std::numeric_limits<std::size_t>::max();

  explicit message_block(std::size_t cells) noexcept : mask(cells - 1) {}

  std::size_t const mask;         // the number of cells, a power of two, less one
  message_block* next = nullptr;  // the block after this one; written before `until`
  /// The messages from this number on are in later blocks.
  std::atomic<std::size_t> until = not_full;
};

/// The indices of a queue: those of the senders and those of the receiver, on different cache
/// lines.
struct message_ends {
  // Written by the receiver; with one thread, senders write `seen` too.
  std::atomic<std::size_t> begin = 0;
  std::size_t seen = 0;
  message_block* first = nullptr;

  std::byte apart[64] = {};

  // Written under the mailbox's lock.
  std::atomic<std::size_t> end = 0;
  std::size_t limit = 0;
  message_block* last = nullptr;

  /// The ends of all queues that have never had a message.  This object is not written.
  static message_ends none;
};
inline constinit message_ends message_ends::none;

/// The memory of a queue of messages of type `M`.  The first block lies behind the ends, and is
/// freed with them.
template <class M>
class message_memory {
 public:
  static constexpr std::size_t first_length = 8;

  [[nodiscard]] static M* cell(message_block& b, std::size_t i) noexcept {
    return reinterpret_cast<M*>(reinterpret_cast<std::byte*>(&b) + padded<message_block>) +
           (i & b.mask);
  }
  /// Throws bad_alloc.
  [[nodiscard]] static message_ends* make_ends() {
    auto* const at = allocate(bytes_of_ends);
    auto* const ends = ::new (at) message_ends;
    ends->first = ends->last = ::new (first_block(ends)) message_block(first_length);
    return ends;
  }
  /// Throws bad_alloc.
  [[nodiscard]] static message_block* make_block(std::size_t cells) {
    return ::new (allocate(bytes_of(cells))) message_block(cells);
  }
  static void free(message_block* b, message_ends const& of) noexcept {
    if (b != first_block(&of)) deallocate(b, bytes_of(b->mask + 1));
  }
  static void free(message_ends* e) noexcept { deallocate(e, bytes_of_ends); }

 private:
  static constexpr std::size_t alignment = std::max({alignof(M), alignof(message_ends)});
  struct alignas(alignment) unit {
    std::byte bytes[alignment];
  };
  /// The size of a `T`, rounded up so that the object behind it is aligned.
  template <class T>
  static constexpr std::size_t padded = (sizeof(T) + alignment - 1) / alignment * alignment;
  [[nodiscard]] static constexpr std::size_t bytes_of(std::size_t cells) noexcept {
    return padded<message_block> + cells * sizeof(M);
  }
  static constexpr std::size_t bytes_of_ends = padded<message_ends> + bytes_of(first_length);

  [[nodiscard]] static void* first_block(message_ends const* e) noexcept {
    return reinterpret_cast<std::byte*>(const_cast<message_ends*>(e)) + padded<message_ends>;
  }
  [[nodiscard]] static constexpr std::size_t units(std::size_t bytes) noexcept {
    return (bytes + alignment - 1) / alignment;
  }
  [[nodiscard]] static void* allocate(std::size_t bytes) {
    return std::allocator<unit>().allocate(units(bytes));
  }
  static void deallocate(void* p, std::size_t bytes) noexcept {
    std::allocator<unit>().deallocate(static_cast<unit*>(p), units(bytes));
  }
};

}  // namespace weft::detail
