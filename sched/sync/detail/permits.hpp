// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string_view>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/gate.hpp"

/// Permits that processes take and give back: the implementation of a mutex, which has one permit,
/// and of a semaphore.
namespace weft::detail {

///   PERMIT-1  A process that gives back first adds to `left_`, then releases the gate.  A process
///       that finds no permit has read the gate's epoch before.  So either it finds the permit, or
///       its wait at the gate returns, because the epoch has changed or the release wakes it.
///   PERMIT-2  The mutex or semaphore shares the ownership of its permits with guards, waiters, and
///       processes that are giving back.  So the mutex or semaphore may be destroyed before any of
///       these is done: even by a process that has just taken a permit, while the process that gave
///       this permit back is still in give_back().
///   PERMIT-3  A process that comes just as a permit is given back may take it before the process
///       that was woken for it.  A process that was beaten like this is owed a permit: until it has
///       one, no newcomer takes any; newcomers wait in line.  When a process in line has its
///       permit, or leaves, and permits are left, that process wakes the next one.
class permits final : public gate_owner {
 public:
  enum class kind : bool { mutex, semaphore };
  permits(std::size_t n, kind k) noexcept;
  /// Throws bad_alloc.
  [[nodiscard]] static std::shared_ptr<permits> make(std::size_t n, kind k);
  virtual ~permits();

  /// Takes a permit if there is one, and none is owed (PERMIT-3).  Throws `cancelled` if the mutex
  /// or semaphore was destroyed.
  [[nodiscard]] bool try_take() { return try_take(true); }
  /// For a mutex: records its holder, for reports, which are made while no process runs.
  void set_holder(process_id id, std::source_location since) noexcept {
    holding_.emplace(id, since);
  }
  /// Gives back n permits, and wakes waiters.  The caller owns a reference (PERMIT-2).
  void give_back(std::size_t n) noexcept;
  /// Called when the mutex or semaphore is destroyed.  Processes that wait, or come later, find
  /// `cancelled`.
  void close() noexcept;

  [[nodiscard]] std::string_view call() const noexcept override {
    return kind_ == kind::mutex ? "weft::mutex::lock" : "weft::semaphore::acquire";
  }
  void describe(deadlock::waiter& w, std::size_t waiting) const override;

  /// The location that explorers watch: read by an attempt to take, written when a permit is taken
  /// or given back.
  [[nodiscard]] gate const* location() const noexcept { return &freed_; }

  /// Waits for a permit and takes it.
  static eff<void, syncing> take(std::shared_ptr<permits> from, std::source_location where);
  /// Waits for a permit until `until` at the latest, and takes it; `co_await` yields false if there
  /// was none.
  static eff<bool, syncing> take_until(std::shared_ptr<permits> from, instant until,
                                       std::source_location where);

 private:
  class place_in_line;
  [[nodiscard]] bool try_take(bool is_new);
  /// If permits are left, wakes the next process in line, which then tries to take one.
  void pass_on() noexcept;

  std::atomic<std::size_t> left_;
  std::atomic<std::size_t> owed_ = 0;  // how many processes are owed a permit (PERMIT-3)
  std::atomic<bool> closed_ = false;
  std::size_t const first_;
  kind const kind_;
  std::optional<holding> holding_;  // for a mutex: its holder
  gate freed_;
};

}  // namespace weft::detail
