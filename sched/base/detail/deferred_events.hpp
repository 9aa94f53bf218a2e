// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/handle.hpp"

/// What a process does without an operation, and other processes can see: it unlocks, gives a
/// permit back, completes, drops an address, cancels a scope.  On threads others come between two
/// of these.  So where schedules are explored in steps as small as operations, such an event is put
/// off: it takes effect in a step of its own, and the search places other steps before and after
/// it.
///
///   EVENT-1  Events of a process take effect in the order in which it caused them, and before its next
///       operation that others can see, its end included.
///   EVENT-2  An event that is caused by an event takes effect after that one, and before those that
///       were put off earlier.
///   EVENT-3  What an event refers to outlives it: the event owns it, or the destructor of what it
///       refers to has the event take effect first.
///   EVENT-4  Without memory to put an event off it takes effect at once, after those of its process
///       that have been put off.  So a test that runs out of memory sees fewer schedules, and no
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
  virtual ~deferred_event() = default;
  virtual void apply() noexcept = 0;

  std::string_view const name;  // "the unlock of a mutex"
  void const* const at;  // the location (location_listener.hpp); null: none that is looked at
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

/// Puts events off.  Used by its thread.
class event_deferrer {
 public:
  event_deferrer() = default;
  event_deferrer(event_deferrer const&) = delete;
  event_deferrer& operator=(event_deferrer const&) = delete;

  /// Whether a process runs whose events are put off.
  [[nodiscard]] virtual bool defers() noexcept = 0;
  /// Takes it.  Throws bad_alloc, and then nothing is done.
  virtual void defer(std::unique_ptr<deferred_event>& e) = 0;
  /// Those of the process that runs take effect now.
  virtual void apply_own() noexcept = 0;
  /// Those at that location take effect now, and of the same processes those before them.  `own`:
  /// only those of the process that runs.
  virtual void apply_at(void const* at, bool own) noexcept = 0;

  /// Null but while schedules are explored on this thread in steps as small as operations.
  [[gnu::visibility("default")]] static inline constinit thread_local event_deferrer* of_thread =
      nullptr;

 protected:
  ~event_deferrer() = default;
};

template <class F>
[[gnu::cold, gnu::noinline]] void defer_event(std::string_view what, void const* at,
                                              F& f) noexcept {
  event_deferrer& keeper = *event_deferrer::of_thread;
  if (!keeper.defers()) return f();
  std::unique_ptr<deferred_event> e;
  try {
    e = std::make_unique<deferred_event_of<F>>(what, at, std::move(f));
    return keeper.defer(e);
  } catch (...) {  // EVENT-4
    keeper.apply_own();
  }
  e ? e->apply() : f();
}
[[nodiscard]] inline bool events_are_deferred() noexcept {
  return event_deferrer::of_thread != nullptr;
}
/// `f()` takes effect: now, or in a step of its own.  `at`: the location.
template <class F>
[[gnu::always_inline]] inline void cause_event(std::string_view what, void const* at,
                                               F f) noexcept {
  if (events_are_deferred()) [[unlikely]]
    return defer_event(what, at, f);
  f();
}
/// For the destructor of what events may refer to (EVENT-3).
inline void apply_events_at(void const* at) noexcept {
  if (auto* const keeper = event_deferrer::of_thread) [[unlikely]]
    keeper->apply_at(at, false);
}
/// For who looks without an operation: a process sees what it did itself (EVENT-1).
inline void apply_own_events_at(void const* at) noexcept {
  if (auto* const keeper = event_deferrer::of_thread) [[unlikely]]
    keeper->apply_at(at, true);
}

/// The events of the processes of one run, and the ends of processes that wait for them.
class deferred_events {
 public:
  /// What ends, or null, and with what error.
  struct end {
    process* owner = nullptr;
    bool is_a_step = false;  // or part of the step in which its last event takes effect
    std::exception_ptr error = nullptr;
    void* task = nullptr;
    void (*is_over)(void* scheduler, void* task) noexcept = nullptr;
  };

  [[nodiscard]] bool is_empty() const noexcept { return events_.empty() && ends_.empty(); }
  [[nodiscard]] bool has(process const& p) const noexcept {
    return !events_.empty() && is_among_them(p);
  }
  /// EVENT-2.
  void put(process const& by, std::unique_ptr<deferred_event>& e) {
    events_.reserve(events_.size() + 1);
    if (is_applying_)
      events_.insert(events_.begin() + static_cast<std::ptrdiff_t>(next_++), {&by, std::move(e)});
    else
      events_.push_back({&by, std::move(e)});
  }
  /// The name of the one that comes next; empty if there is none.
  [[nodiscard]] std::string_view first_of(process const& p) const noexcept {
    auto const it = std::ranges::find(events_, &p, &entry::by);
    return it == events_.end() ? std::string_view() : it->what->name;
  }
  /// The first of that process: there is one.
  void apply_first_of(process const& p) noexcept {
    apply(static_cast<std::size_t>(std::ranges::find(events_, &p, &entry::by) - events_.begin()));
  }
  void apply_all_of(process const& p) noexcept {
    while (has(p)) apply_first_of(p);
  }
  /// Whose event is at that location; null if there is none.  `only`: not others than that one's.
  [[nodiscard]] process const* owner_of_event_at(void const* at,
                                                 process const* only) const noexcept {
    auto const it = std::ranges::find_if(
        events_, [=](entry const& e) { return e.what->at == at && (!only || e.by == only); });
    return it == events_.end() ? nullptr : it->by;
  }
  [[nodiscard]] process const* owner_of_first() const noexcept {
    return events_.empty() ? nullptr : events_.front().by;
  }

  void put(end e) { ends_.push_back(std::move(e)); }
  /// Null if it has not ended.
  [[nodiscard]] end const* end_of(process const& p) const noexcept {
    auto const it = std::ranges::find(ends_, &p, &end::owner);
    return it == ends_.end() ? nullptr : &*it;
  }
  /// The one of that process, or the first; none if there is none.
  [[nodiscard]] end take_end(process const* p) noexcept {
    auto const it = p ? std::ranges::find(ends_, p, &end::owner) : ends_.begin();
    if (it == ends_.end()) return {};
    end e = std::move(*it);
    ends_.erase(it);
    return e;
  }

 private:
  struct entry {
    process const* by;
    std::unique_ptr<deferred_event> what;
  };
  [[gnu::cold, gnu::noinline]] bool is_among_them(process const& p) const noexcept {
    return std::ranges::find(events_, &p, &entry::by) != events_.end();
  }
  [[gnu::cold, gnu::noinline]] void apply(std::size_t i) noexcept {
    std::unique_ptr<deferred_event> const now = std::move(events_[i].what);
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
    bool const is_inside = std::exchange(is_applying_, true);
    std::size_t outer = std::exchange(next_, i);
    now->apply();
    if (i < outer) outer += next_ - i - 1;  // that event has gone, and what it caused has come
    next_ = outer;
    is_applying_ = is_inside;
  }

  std::vector<entry> events_;
  std::vector<end> ends_;
  bool is_applying_ = false;
  std::size_t next_ = 0;  // where what an event causes goes
};

}  // namespace weft::detail
