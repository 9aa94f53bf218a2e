// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/backend_header.hpp"
#include "weft/sched/base/process_id.hpp"

namespace weft {

class process;

namespace detail {

/// The prompt of a scheduler: the outermost one in the chains of its processes, and so called their
/// ground.
class scheduler_prompt : public prompt {
 public:
  /// Ends the process: called when its outermost frame has ended and its result is written.
  /// Returns the continuation to go on with.
  virtual continuation finished(process& p) noexcept = 0;
};

}  // namespace detail

/// A process: holds its continuation while it waits, and its result when it ends.  Users see its
/// id, in reports; backends see its address.
///
///   PROCESS-1  A process has an atomic count of owners: its thunks; while the process runs, the
///       scheduler; while it waits, the waiter that holds it.
///   PROCESS-2  A process that is not forkable has one chain of frames from start to end.  Dropping
///       the last count unwinds the frames that are left.
///   PROCESS-3  The result of a process and the state that it has while it is suspended share their
///       memory: the result exists only while the process runs (suspension.hpp).
///
/// 64 bytes, plus the header of the backend.  Allocated from the pool of frames.
class process : public detail::suspension, public detail::pooled {
 public:
  process(process const&) = delete;
  process& operator=(process const&) = delete;

  /// The id of the process.
  [[nodiscard]] process_id id() const noexcept { return id_; }
  /// Whether the process was started with a log.
  [[nodiscard]] bool is_forkable() const noexcept { return kind_ & 1; }

  // ---- for the library

  /// Makes a process that has not started; `first` is its first frame.  Such a process waits for no
  /// answer, so `unread` stands in for the slot of an answer: with one thread, resume() writes an
  /// answer to `unread`, and nothing reads it.  `block`: the memory for the process, or null.
  ///
  /// Inline, so that the compiler knows the layout, and hence the size class of the block.
  [[gnu::always_inline]] static process* start(
      process_id id, std::coroutine_handle<> first, void* evidence,
      detail::scheduler_prompt& ground, detail::result_slot_base& unread, bool one_thread,
      detail::header_layout const& extra = detail::no_header, void* block = nullptr) {
    auto* const p = new (extra, block) process(id, false, extra, state::suspended, !one_thread);
    p->begin_with(first, evidence, ground, unread);
    return p;
  }

  void keep() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds a count already
  }
  void release() noexcept {
    // [1] acquire and acq_rel, pairs with itself: every drop of a count is a release, and the drop
    // of the last one an acquire.  So the thread that drops the last count sees all that was done
    // with the process.
    if (owners_.load(std::memory_order_acquire) == 1 ||
        owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      drop();
  }
  [[nodiscard]] bool is_shared() const noexcept {
    // acquire: pairs with the releases of [1], so that a sole owner sees what the others did.
    return owners_.load(std::memory_order_acquire) != 1;
  }

  /// For a waiting process: the operation at which it is suspended, and its source location.
  [[nodiscard]] std::string waits_at_text() const;
  /// For traces: the operation at which the process is suspended, and its source location.  Empty
  /// if they are not known, as for a process that has not started.
  struct location {
    std::string_view operation;
    std::source_location where;
  };
  [[nodiscard]] virtual location resumes_at() const noexcept {
    if (is_ != state::suspended || !at_.operation) return {};
    return {at_.operation->name, where()};
  }
  /// For a process that is suspended at an operation: the function of its outermost frame, as
  /// std::source_location::function_name() spells it; or the name that named() gives it.  Empty if
  /// that is not known: the process has not started, or waits for tasks that it runs itself.  O(n)
  /// in the frames.
  [[nodiscard]] std::string_view function() const noexcept;
  [[nodiscard]] process_id next_child() noexcept { return id_.child(next_child_number()); }
  [[nodiscard]] std::uint32_t next_child_number() noexcept { return ++children_; }
  /// Takes the numbers of the next `n` children; returns the number before the first of them.
  [[nodiscard]] std::uint32_t take_child_numbers(std::uint32_t n) noexcept {
    return std::exchange(children_, children_ + n);
  }
  /// Whether the process is at an operation: it waits, or is ready to go on.
  [[nodiscard]] bool is_suspended() const noexcept { return is_ == state::suspended; }
  /// For a process that is not running: whether it has run before.
  [[nodiscard]] bool has_started() const noexcept { return started_ || at_.operation; }
  /// For a waiting process: whether it must get its answer before it learns that it is cancelled.
  [[nodiscard]] bool requires_answer() const noexcept { return at_.operation->must_be_answered; }
  /// Counts a cancellation that is reported to the process; returns the count, modulo 128.
  [[nodiscard]] unsigned note_cancellation() noexcept {
    return cancellations_ = static_cast<std::uint8_t>((cancellations_ + 1) & 127);
  }
  void reset_cancellations() noexcept { cancellations_ = 0; }
  /// Whether the process has sent a message, and has neither received one nor waited since.
  [[nodiscard]] bool has_just_sent() const noexcept { return has_just_sent_; }
  void note_sent(bool b) noexcept { has_just_sent_ = b; }
  /// Suspends the process at an operation.  Returns false, and suspends nothing, if ordinary code
  /// stands between the operation and the process: such code (it calls run() or resume()) cannot be
  /// suspended.
  [[nodiscard, gnu::always_inline]] bool suspend_at(detail::operation_info const& operation,
                                                    std::coroutine_handle<> leaf,
                                                    detail::result_slot_base& waiting,
                                                    detail::prompt& ground) noexcept {
    auto* const inner = detail::prompt::innermost();
    if (inner != &ground) [[unlikely]]
      if (!suspend_inside(*inner, ground)) return false;
    suspend(leaf, waiting, operation);
    return true;
  }
  /// Does the same if no handler and no ordinary code stands between the operation and the process:
  /// then `inner_` is `ground` already.
  [[gnu::always_inline]] void suspend_here(detail::operation_info const& operation,
                                           std::coroutine_handle<> leaf,
                                           detail::result_slot_base& waiting) noexcept {
    suspend(leaf, waiting, operation);
  }
  /// For a waiting process: whether it waits inside a handler.
  [[nodiscard]] bool is_inside_handler(detail::prompt const& ground) const noexcept {
    return inner_ != &ground;
  }
  /// Whether resume() is enough to let the process go on.  Else the scheduler prepares it first.
  [[nodiscard]] bool resumes_plainly() const noexcept { return !needs_slow_resume_; }
  /// Gives the process that answer; returns the frame to resume.  Requires resumes_plainly().
  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> resume(std::uint64_t answer) noexcept {
    at_.waiting->set_word(answer);  // first: resume_answered() ends `at_` (PROCESS-3)
    return resume_answered();
  }
  /// Resumes any waiting process, also one that is answered already, waits for no answer, or waits
  /// inside handlers.
  [[nodiscard]] std::coroutine_handle<> resume_slow(std::uint64_t answer,
                                                    detail::prompt& ground) noexcept {
    if (at_.operation && at_.waiting->is_empty()) at_.waiting->set_word(answer);
    if (recording_ & inner_records) tell_recorders(ground);
    detail::prompt::set_innermost(std::exchange(inner_, &ground));
    started_ = true;
    is_cancellable_ = false;
    needs_slow_resume_ = is_forkable();
    return resume_answered();
  }
  /// Undoes suspend_at(): the process goes on without an answer.
  void resume_unanswered(detail::prompt& ground) noexcept {
    detail::prompt::set_innermost(std::exchange(inner_, &ground));
    (void)resume_answered();
  }
  /// For a waiting process: answers the operation with an exception.
  void fail(std::exception_ptr error) noexcept {
    at_.operation->fail(*at_.waiting, std::move(error));
    needs_slow_resume_ = true;
  }
  /// Makes the scheduler prepare a waiting process before the process goes on, since resume() is
  /// not enough.
  void require_preparation() noexcept { needs_slow_resume_ = true; }
  /// Called when a waiting process is woken without an answer, or with one that may be lost: if the
  /// process is cancelled when its turn comes, it finds `cancelled` instead of the answer
  /// (waiter.hpp, WAITER-5).
  void mark_cancellable() noexcept {
    is_cancellable_ = true;
    needs_slow_resume_ = true;
  }
  /// For a process whose turn has come, and whose operation has been performed: whether the process
  /// has an answer that must not be lost (WAITER-5).
  [[nodiscard]] bool has_answer() const noexcept {
    return is_suspended() && at_.operation && !at_.operation->is_turn_only && !is_cancellable_;
  }
  /// For a waiting process: whether the slot of its operation holds the answer.
  [[nodiscard]] bool is_answered() const noexcept {
    return at_.operation && !at_.waiting->is_empty();
  }
  /// Whether a handler inside which the process was suspended has ended (SUSPENSION-2).
  [[nodiscard]] bool was_cut() const noexcept { return is_ == state::cut; }
  [[nodiscard]] resumption_expired cut_error() const;
  /// For a process that has ended: whether it has no error, no log, and no other owner.
  [[nodiscard]] bool ended_plainly() noexcept {
    return result_.value() && !is_forkable() && !is_shared();
  }
  /// Destroys a process for which ended_plainly() is true, or one without frames and without a log.
  void destroy_plain() noexcept { destroy_plain(bytes_before()); }
  /// Does what destroy_plain() does.  `extra`: the layout of the backend's header; `to`: this
  /// thread's pool.
  [[gnu::always_inline]] void destroy_plain(detail::header_layout const& extra,
                                            detail::frame_pool& to) noexcept {
    destroy_plain(extra.bytes, to);
  }
  /// For a process that ends: returns the error with which it ends, or null, and destroys its
  /// result.
  [[nodiscard]] std::exception_ptr take_result() noexcept {
    std::exception_ptr error = result_.error();
    std::destroy_at(&result_);
    is_ = state::ended;
    return error;
  }
  /// For the process of a task that has ended: ends the process without an error.  The task has its
  /// own result.
  [[nodiscard]] detail::continuation end_from_task() noexcept { return result_.set(), ended(); }
  /// For the process of a task whose end is deferred (deferred_events.hpp): drops its result now.
  void drop_result() noexcept {
    std::destroy_at(&result_);
    is_ = state::ended;
  }
  /// Destroys all frames of a process that runs, from `leaf` outwards.
  void unwind_from(std::coroutine_handle<> leaf) noexcept {
    is_ = state::ended;
    detail::unwind(detail::continuation(leaf), *this);
  }

  /// For a waiting process whose turn has come: destroys its frames inside `part`.  The process
  /// goes on, without an answer, at `leaf`, the frame outside `part`, whose innermost prompt is
  /// `around`.
  [[nodiscard]] std::coroutine_handle<> unwind_inside(detail::frame_end const& part,
                                                      std::coroutine_handle<> leaf,
                                                      detail::prompt& around,
                                                      detail::prompt& ground) noexcept;
  void unwind_on() noexcept override {
    is_ = state::cut;
    release();
  }

  // ---- as the frame end of its chain

  detail::continuation ended() noexcept override {
    // Reads the scheduler's address from the thread, not from the process: else, if one process
    // ends after the other, each load would depend on the one before (process, scheduler, queue,
    // process).
    return static_cast<detail::scheduler_prompt&>(*detail::prompt::innermost()).finished(*this);
  }
  detail::continuation dropped() noexcept override { return outside(); }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] detail::continuation outside() const noexcept override {
    return detail::continuation::ordinary_code();
  }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    static constexpr std::string_view name = "weft::scheduler";
    return name;
  }

 protected:
  /// `s`: suspended, if begin_with() follows; ended, if there are no frames yet.
  [[gnu::always_inline]] process(process_id id, bool keeps_log, detail::header_layout const& extra,
                                 state s, bool resumes_slowly) noexcept
      : suspension(s),
        id_(id),
        kind_(static_cast<std::uint8_t>(extra.bytes / 16 * 2 + keeps_log)),
        needs_slow_resume_(resumes_slowly) {}
  virtual ~process() = default;
  /// Called to destroy a forkable process; forkable_process overrides it.
  virtual void destroy() noexcept { destroy_plain(); }

  [[gnu::always_inline]] static void* operator new(std::size_t bytes,
                                                   detail::header_layout const& extra,
                                                   void* block = nullptr) {
    if (!block) block = detail::pooled::operator new(extra.bytes + bytes);
    if (extra.make) extra.make(block);
    return static_cast<std::byte*>(block) + extra.bytes;
  }
  // Never called: no constructor throws.
  static void operator delete(void*, detail::header_layout const&, void*) noexcept {}
  // Never called: destroy() and destroy_plain() call free() instead.
  static void operator delete(void*) noexcept { std::terminate(); }
  [[gnu::always_inline]] static void free(void* p, std::size_t bytes, std::size_t before,
                                          detail::frame_pool& to = detail::frames) noexcept {
    to.give(static_cast<std::byte*>(p) - before, before + bytes);
  }
  [[nodiscard]] std::size_t bytes_before() const noexcept {
    return static_cast<std::size_t>(kind_ >> 1) * 16;
  }

  void begin_with(std::coroutine_handle<> first, void* evidence, detail::prompt& ground,
                  detail::result_slot_base& unread) noexcept {
    auto& frame = detail::frame_of(first);
    frame.parent = *this;
    frame.evidence = evidence;
    frame.to = &result_;
    at_.leaf = first;
    at_.waiting = &unread;
    at_.operation = nullptr;
    inner_ = &ground;
  }
  /// For a clone of `other`: copies whether `other` has started, and, if both have the same id, the
  /// number of its children.  A clone with another id has no children yet.
  void copy_state_from(process const& other) noexcept {
    if (id_ == other.id_) children_ = other.children_;
    started_ = other.started_;
  }

 private:
  [[gnu::always_inline]] void destroy_plain(std::size_t before,
                                            detail::frame_pool& to = detail::frames) noexcept {
    this->process::~process();  // not a virtual call: the object is of this very class
    free(this, sizeof(process), before, to);
  }
  [[nodiscard]] std::coroutine_handle<> resume_answered() noexcept {
    std::coroutine_handle<> const leaf = at_.leaf.frame();
    is_ = state::active;
    // The result exists from now on (PROCESS-3).
    ::new (static_cast<void*>(&result_)) detail::result_slot<void>();
    return leaf;
  }
  /// The part of suspend_at() for an operation inside handlers.  Notes the innermost prompt in
  /// `inner_`; for a process outside all handlers that is `ground`, the scheduler's.  Returns false
  /// if ordinary code stands between the operation and the process.
  [[nodiscard, gnu::noinline]] bool suspend_inside(detail::prompt& inner,
                                                   detail::prompt& ground) noexcept {
    if (!hold(&inner, ground)) return false;
    inner_ = &inner;
    needs_slow_resume_ = true;
    detail::prompt::set_innermost(&ground);
    return true;
  }
  void drop() noexcept {
    if (is_ != state::ended) {
      owners_.store(1, std::memory_order_relaxed);  // relaxed: no other owner is left
      if (!unwind_suspended()) return;
    }
    if (is_forkable()) {
      destroy();
    } else {
      destroy_plain();
    }
  }
  void keep_suspension() noexcept override {
    keep();
    needs_slow_resume_ = true;  // the caller is about to cut the chain (SUSPENSION-2)
  }
  void release_suspension() noexcept override { release(); }

  std::atomic<std::uint32_t> owners_ = 1;  // the count of owners (PROCESS-1)
  process_id id_;
  std::uint32_t children_ = 0;  // how many children the process has started
  std::uint8_t kind_;           // lowest bit: forkable; the others: the size of the header / 16
  bool started_ : 1 = false;
  std::uint8_t cancellations_ : 7 = 0;
  // The flags below have a byte of their own.  They are read soon after they are written, and that
  // is slow unless the store and the load are of the same byte.
  std::uint8_t : 0;
  bool is_cancellable_ : 1 = false;  // whether mark_cancellable() was called for this wait
  bool has_just_sent_ : 1 = false;
  // Set if resume() is not enough: the process is forkable, answered, in a handler,
  // or cut; with several threads, also if it is new.
  bool needs_slow_resume_;
};
static_assert(sizeof(process) <= 64);

/// The process that has the backend's header `at`.
template <class Header>
process& process_behind(Header& at) noexcept {
  return *std::launder(
      reinterpret_cast<process*>(reinterpret_cast<std::byte*>(&at) + sizeof(Header)));
}

}  // namespace weft
