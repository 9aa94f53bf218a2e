// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"

/// Finds the mailbox of a process by the id of the process.
namespace weft::detail {

/// An address of a mailbox whose type is not known; it is counted as an address<M> is.
class untyped_address {
 public:
  untyped_address() = default;
  /// Takes over one count of an address.
  explicit untyped_address(mailbox* b) noexcept : box_(b) {}
  untyped_address(untyped_address&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  untyped_address& operator=(untyped_address other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~untyped_address() {
    if (box_) box_->drop_address();
  }
  [[nodiscard]] mailbox* get() const noexcept { return box_; }

 private:
  mailbox* box_ = nullptr;
};

/// Maps process ids to mailboxes.  Thread safe.  O(1).  The registry makes the table at the first
/// use, and keeps it until the registry ends.
///
///   ROUTE-1  A process has at most one route; it lies in the shard that the hash of the process's
///       id selects, and is accessed under that shard's lock only.
///   ROUTE-2  A route counts as an address of its mailbox.  A thread that finds the route makes
///       another address under the lock: so the mailbox lives as long as that address, even if the
///       route is removed.
///   ROUTE-3  A route is removed before its inbox is closed.  The inbox may be closed after a
///       sender has found the route, and before it sends: the sender finds that out under the
///       mailbox's lock, and is answered with `false`.
///   ROUTE-4  Under a shard's lock no other lock is taken; and no address is dropped, as that may
///       wake a process, which takes locks.  So the locks of shards come last in the order of
///       locks, and form no cycle with those of mailboxes, the registry and backends.
///   ROUTE-5  Where schedules are explored, each shard is a location, and the table is made before
///       processes run: so a shard has the same name in all schedules (location_names.hpp).
class route_table {
 public:
  route_table();
  route_table(route_table const&) = delete;
  route_table& operator=(route_table const&) = delete;
  ~route_table();

  /// Makes the route of a process.  Throws std::logic_error if the process has one; bad_alloc.
  void add(process_id id, mailbox& b, type_identity const& type);
  /// Removes a route.  Returns the address that the route counted; the caller drops it.
  [[nodiscard]] untyped_address remove(process_id id) noexcept;
  /// Makes an address of the process's mailbox.  Empty if the process has no route, or has one for
  /// messages of another type.
  [[nodiscard]] untyped_address find(process_id id, type_identity const& type) noexcept;

 private:
  struct shard;  // complete in the source file, which alone includes <unordered_map>
  static constexpr int shard_bits = 6;
  static constexpr std::size_t shards = std::size_t{1} << shard_bits;

  [[nodiscard]] shard& shard_of(process_id id) noexcept;

  shard* const shards_;  // an array of `shards` elements
};

/// Stands for a process that sends to another process by its id.  A routed_send_waiter lies in the
/// frame of the sender.
struct routed_send_waiter {
  routed_send_waiter(process_id id, type_identity const& m, void* what, bool timed = false) noexcept
      : to(id), type(m), by(what, timed) {}

  process_id const to;
  type_identity const& type;
  untyped_address at;  // an address of the mailbox; empty until the route is found
  send_waiter by;      // declared last: its destructor leaves the mailbox, which `at` keeps
};
inline waiter& waiter_of(routed_send_waiter& s) noexcept { return s.by.parked; }

}  // namespace weft::detail
