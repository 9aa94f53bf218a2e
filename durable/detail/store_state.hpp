// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/durable/store.hpp"

namespace weft::durable::detail {

/// The contents of a store, in memory: obeys STORE-3 to STORE-5, and has no medium.  The same calls
/// in the same order make the same state, on each computer.
///
/// An explorer that leaves out equivalent schedules is told of the accesses to each process, to the
/// set of all processes and to their ids.  So a call that reads one process and a call that changes
/// another one may change places.
///
/// Each call is O(log n) in the processes, plus what it returns or stores.  Not thread safe.
class store_state {
 public:
  store_state();
  store_state(store_state const&) = delete;
  store_state& operator=(store_state const&) = delete;

  /// Tells an explorer that the set of all processes is changed; the calls below do not.
  void note_change();

  commit_result commit(commit_part const& part);
  commit_effect start(process_start const& s);
  commit_effect send(outgoing_message const& m, std::string_view once_key);
  bool release(process_key process);
  std::vector<process_key> wake_due(timestamp now, std::size_t limit);

  [[nodiscard]] bool has(process_key k) const noexcept {
    return k >= 1 && static_cast<std::size_t>(k) <= all_.size();
  }
  /// Requires has(k).
  [[nodiscard]] process_status status(process_key k) const { return read(k).record.status; }
  [[nodiscard]] std::optional<process_record> find(std::string_view id) const;
  /// Requires has(k).
  [[nodiscard]] stored_process load(process_key k) const;
  [[nodiscard]] std::vector<stored_message> inbox(process_key process, std::uint64_t after) const;
  [[nodiscard]] std::vector<process_record> list(process_key after, std::size_t limit) const;
  [[nodiscard]] std::optional<timestamp> next_wake() const;
  [[nodiscard]] std::vector<process_key> ready(process_key after, std::size_t limit) const;
  [[nodiscard]] bool any_unfinished() const;

 private:
  /// A process; to an explorer, a location.
  struct row : stored_process {
    row();
    ~row();
    row(row const&) = delete;
    row& operator=(row const&) = delete;
  };
  [[nodiscard]] row& changed(process_key k);
  [[nodiscard]] row const& read(process_key k) const;
  row& row_of(std::string const& id);
  commit_effect deliver(std::string const& from, outgoing_message const& m);
  void set_status(row& p, status_change const& s);
  void set_status(row& p, process_status s);

  // Locations, to an explorer: all_, which stands for all statuses and the last sequence number;
  // by_id_; and each row.
  std::vector<std::unique_ptr<row>> all_;  // the process with key k is at k - 1
  std::map<std::string, process_key, std::less<>> by_id_;
  std::set<std::pair<timestamp, process_key>> alarms_;
  std::set<process_key> ready_;
  std::size_t waiting_ = 0;  // how many processes wait
  std::set<std::string, std::less<>> once_keys_;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace weft::durable::detail
