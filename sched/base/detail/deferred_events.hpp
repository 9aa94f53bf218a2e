// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"

/// Events: actions of a process that are no operations, and that other processes can see: an
/// unlock, the release of a permit, a completion, the end of an address, the cancellation of a
/// scope.  On several threads, other processes run between two events.  So where schedules are
/// explored in steps as small as operations, an event is deferred: it takes effect in a step of its
/// own, and the search places steps of other processes before and after it.
///
///   EVENT-1  The events of a process take effect in the order in which it caused them, and before
///       its next operation that other processes can see.  The end of a process counts as such an
///       operation.
///   EVENT-2  If an event causes others while it takes effect, these take its place, in their
///       order: they come before the events of the process that were deferred earlier.
///   EVENT-3  An object that an event refers to outlives the event: the event owns the object, or
///       the destructor of the object makes the event take effect first.
///   EVENT-4  If there is no memory to defer an event, it takes effect at once, after the deferred
///       events of its process.  So a test that runs out of memory sees fewer schedules, and no
///       impossible one.
namespace weft {
class process;
}  // namespace weft

namespace weft::detail {

class deferred_event : public pooled {
 public:
  deferred_event(std::string_view what, void const* where) noexcept : name(what), at(where) {}
  deferred_event(deferred_event const&) = delete;
  deferred_event& operator=(deferred_event const&) = delete;
  virtual ~deferred_event();
  virtual void apply() noexcept = 0;

  std::string_view const name;  // such as "the unlock of a mutex"
  void const* const at;         // the location (location_listener.hpp); null if none is watched
};
template <class F>
class deferred_event_of final : public deferred_event {
 public:
  deferred_event_of(std::string_view what, void const* where, F&& f) noexcept
      : deferred_event(what, where), f_(std::move(f)) {}
  void apply() noexcept override { f_(); }

 private:
  F f_;
};

/// The object that defers the events of one thread.
class event_deferrer {
 public:
  event_deferrer() = default;
  event_deferrer(event_deferrer const&) = delete;
  event_deferrer& operator=(event_deferrer const&) = delete;

  /// Whether a process is running, and its events are to be deferred.
  [[nodiscard]] virtual bool defers() noexcept = 0;
  /// Takes `e` over.  If it throws bad_alloc, `e` is unchanged.
  virtual void defer(std::unique_ptr<deferred_event>& e) = 0;
  /// Makes the events of the running process take effect now.
  virtual void apply_own() noexcept = 0;
  /// Makes the events at that location take effect now, and before each of them the earlier events
  /// of the same process.  `own`: considers only the events of the running process.
  virtual void apply_at(void const* at, bool own) noexcept = 0;

  /// The deferrer of the calling thread; null unless schedules are explored on it in steps as small
  /// as operations.
  [[gnu::visibility("default")]] static inline constinit thread_local event_deferrer* of_thread =
      nullptr;

 protected:
  ~event_deferrer() = default;
};

/// Takes the event over, and hands it to the deferrer of the thread; if there is no memory for it,
/// the event takes effect now (EVENT-4).
[[gnu::cold]] void defer_event(deferred_event* e) noexcept;
/// Called when there is no memory for an event: makes the earlier events of its process take effect
/// now (EVENT-4).
[[gnu::cold]] void apply_events_without_memory() noexcept;
template <class F>
[[gnu::cold, gnu::noinline]] void defer_event(std::string_view what, void const* at,
                                              F& f) noexcept {
  if (!event_deferrer::of_thread->defers()) return f();
  deferred_event* e = nullptr;
  try {
    e = new deferred_event_of<F>(what, at, std::move(f));
  } catch (...) {
    apply_events_without_memory();
    return f();
  }
  defer_event(e);
}
[[nodiscard]] inline bool events_are_deferred() noexcept {
  return event_deferrer::of_thread != nullptr;
}
/// Calls `f()`, whose effect other processes can see: now; or, where events are deferred, in a step
/// of its own.  `what`, `at`: the name and the location of the event.
template <class F>
[[gnu::always_inline]] inline void cause_event(std::string_view what, void const* at,
                                               F f) noexcept {
  if (events_are_deferred()) [[unlikely]]
    return defer_event(what, at, f);
  f();
}
/// Makes the events at that location take effect now.  Called by the destructor of an object that
/// events may refer to (EVENT-3).
inline void apply_events_at(void const* at) noexcept {
  if (auto* const keeper = event_deferrer::of_thread) [[unlikely]]
    keeper->apply_at(at, false);
}
/// Makes the events of the running process at that location take effect now.  Called by a read that
/// is no operation: a process sees the effects of its own events.
inline void apply_own_events_at(void const* at) noexcept {
  if (auto* const keeper = event_deferrer::of_thread) [[unlikely]]
    keeper->apply_at(at, true);
}

/// The deferred events of the processes of one run; and the deferred ends of processes, each of
/// which comes after the events of its process.
class deferred_events {
 public:
  /// The deferred end of a process, and its error.  A null `owner` says that there is no end.  If
  /// the process runs a task, is_over(scheduler, task) ends the task first.
  struct end {
    process* owner = nullptr;
    bool is_a_step = false;  // false if the end is in the same step as the last event
    std::exception_ptr error = nullptr;
    void* task = nullptr;
    void (*is_over)(void* scheduler, void* task) noexcept = nullptr;
  };

  deferred_events() = default;
  deferred_events(deferred_events const&) = delete;
  deferred_events& operator=(deferred_events const&) = delete;
  ~deferred_events();

  [[nodiscard]] bool is_empty() const noexcept { return events_.empty() && ends_.empty(); }
  [[nodiscard]] bool has(process const& p) const noexcept {
    return !events_.empty() && is_among_them(p);
  }
  /// Defers an event (EVENT-2).  If it throws bad_alloc, `e` is unchanged.
  void put(process const& by, std::unique_ptr<deferred_event>& e);
  /// The name of the next event of the process; empty if the process has none.
  [[nodiscard]] std::string_view first_of(process const& p) const noexcept;
  /// Applies the next event of the process.  Requires has(p).
  void apply_first_of(process const& p) noexcept;
  void apply_all_of(process const& p) noexcept {
    while (has(p)) apply_first_of(p);
  }
  /// The process that has the first event at that location, or null.  If `only` is not null, only
  /// the events of that process are considered.
  [[nodiscard]] process const* owner_of_event_at(void const* at,
                                                 process const* only) const noexcept;
  [[nodiscard]] process const* owner_of_first() const noexcept {
    return events_.empty() ? nullptr : events_.front().by;
  }

  void put(end e);
  /// The deferred end of the process, or null.
  [[nodiscard]] end const* end_of(process const& p) const noexcept;
  /// Removes and returns the end of that process, or the first of all ends if `p` is null.  If
  /// there is none, `owner` of the result is null.
  [[nodiscard]] end take_end(process const* p) noexcept;

 private:
  struct entry {
    process const* by;
    deferred_event* what;  // owned by the deferred_events
  };
  [[gnu::cold]] bool is_among_them(process const& p) const noexcept;
  [[gnu::cold]] void apply(std::size_t i) noexcept;

  std::vector<entry> events_;
  std::vector<end> ends_;
  bool is_applying_ = false;
  std::size_t next_ = 0;  // where an event is inserted that another event causes
};

}  // namespace weft::detail
