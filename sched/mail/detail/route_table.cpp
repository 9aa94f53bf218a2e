// SPDX-License-Identifier: MIT
#include "weft/sched/mail/detail/route_table.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"

namespace weft::detail {

namespace {

/// Spreads the bits of an id: multiplies it by the golden ratio, as a fraction of 64 bits, because
/// ids are paths, whose lower bits are mostly zero.
std::uint64_t mixed(process_id id) noexcept { return id.hash() * 0x9E3779B97F4A7C15u; }
[[noreturn, gnu::cold]] void throw_has_one(process_id id) {
  std::string const is_hash =
      id.text()[0] == '#' ? ", or another process whose id is the same hash" : "";
  throw std::logic_error("weft: open_inbox: process " + id.text() + " has an inbox already" +
                         is_hash + ": a process has at most one inbox");
}

}  // namespace

struct alignas(64) route_table::shard {
  struct route {
    mailbox* box;
    type_identity const* type;
  };
  struct by_hash {
    std::size_t operator()(process_id id) const noexcept {
      std::uint64_t const x = mixed(id);
      return static_cast<std::size_t>(x ^ x >> 32);
    }
  };
  shard() noexcept { note_created(this); }
  shard(shard const&) = delete;
  shard& operator=(shard const&) = delete;
  ~shard() { note_destroyed(this); }
  std::mutex mutex;
  std::unordered_map<process_id, route, by_hash> routes;  // accessed under `mutex` (ROUTE-1)
};

route_table::route_table() : shards_(new shard[shards]) {}
route_table::~route_table() { delete[] shards_; }
route_table::shard& route_table::shard_of(process_id id) noexcept {
  return shards_[static_cast<std::size_t>(mixed(id) >> (64 - shard_bits))];
}

void route_table::add(process_id id, mailbox& b, type_identity const& type) {
  shard& s = shard_of(id);
  note_access(&s, true);
  std::lock_guard const lock(s.mutex);
  if (!s.routes.try_emplace(id, shard::route{&b, &type}).second) throw_has_one(id);
  b.add_address();
}
untyped_address route_table::remove(process_id id) noexcept {
  shard& s = shard_of(id);
  note_access(&s, true);
  std::lock_guard const lock(s.mutex);
  auto const it = s.routes.find(id);
  mailbox* const b = it->second.box;
  s.routes.erase(it);
  return untyped_address(b);
}
untyped_address route_table::find(process_id id, type_identity const& type) noexcept {
  shard& s = shard_of(id);
  note_access(&s, false);
  std::lock_guard const lock(s.mutex);
  auto const it = s.routes.find(id);
  if (it == s.routes.end() || *it->second.type != type) return {};
  it->second.box->add_address();  // under the lock: else the mailbox might be gone (ROUTE-2)
  return untyped_address(it->second.box);
}

}  // namespace weft::detail
