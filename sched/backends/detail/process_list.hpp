// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "weft/sched/backends/detail/stealing_state.hpp"
#include "weft/sched/base/detail/intrusive_list.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"

namespace weft {

/// A report of one process.
struct process_report {
  process_id id;          ///< The id of the process.
  stealing_state state;   ///< The state of the process.
  std::uint32_t steps;    ///< How many steps the process has made.
  std::string waits_for;  ///< Such as "weft::syncing::wait at main.cpp:12"; or empty.
};

namespace detail {

/// The entry of a process in a process_list.
class listed_process : public list_entry<listed_process> {
 public:
  listed_process(process& p, stealing_state_word const& life,
                 std::atomic<std::uint32_t> const& steps);
  listed_process(listed_process const&) = delete;
  listed_process& operator=(listed_process const&) = delete;

  /// Notes the operation at which the process was suspended.  Called before the process enters the
  /// lists where wakers can find it.
  void waits(process const& p) noexcept;

 private:
  friend class process_list;

  [[nodiscard]] process_report report() const;

  process_id const id_;
  stealing_state_word const& life_;
  std::atomic<std::uint32_t> const& steps_;
  std::mutex mutable mutex_;
  process::location at_{};  // where the process waits; under mutex_
};

/// The processes of a backend, for reports.
///
///   LIST-1  The list is read and changed under the lock.  A process is removed from the list
///       before it is destroyed, so every process on the list exists.
class process_list {
 public:
  process_list() = default;
  process_list(process_list const&) = delete;
  process_list& operator=(process_list const&) = delete;
  ~process_list();

  /// Adds a process.  Null if there is no memory: then the process is missing from the list.
  [[nodiscard]] listed_process* add(process& p, stealing_state_word const& life,
                                    std::atomic<std::uint32_t> const& steps) noexcept;
  void remove(listed_process* e) noexcept;
  /// The reports of all processes, in the order of ids.
  [[nodiscard]] std::vector<process_report> report() const;

 private:
  std::mutex mutable mutex_;
  intrusive_list<listed_process> all_;  // under mutex_ (LIST-1)
};

}  // namespace detail
}  // namespace weft
