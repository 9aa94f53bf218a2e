// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/multi_resumption.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/process.hpp"

/// Processes that can be run again.
///
///   FORK-1  Clones that fork from one process share its log up to the fork, and the frames that
///       are suspended there.  These belong to a `shared_continuation` until one of the clones goes
///       on: the first takes the frames, by one atomic exchange; each later one runs the program
///       again.
///   FORK-2  An answer enters the log when the process goes on with it.  So when a process is run
///       again to go on, the log also answers the operation at which it was suspended: the run
///       passes that operation, and does not stop there.
namespace weft::detail {

/// Suspended frames that several processes share: the first of them that goes on takes the frames.
class shared_continuation final : public suspension, public pooled {
 public:
  shared_continuation() = default;
  shared_continuation(shared_continuation const&) = delete;
  shared_continuation& operator=(shared_continuation const&) = delete;

  void keep() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds a count already
  }
  void release() noexcept {
    // acq_rel, pairs with itself: every drop of a count is a release, and the last one also an
    // acquire.  So the thread that drops the last count sees whether the frames were taken.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (is_ != state::ended) {
      owners_.store(1, std::memory_order_relaxed);  // relaxed: no other owner is left
      if (!unwind_suspended()) return;
    }
    delete this;
  }
  void unwind_on() noexcept override {
    is_ = state::cut;
    release();
  }
  /// Claims the frames: true for exactly one caller, which takes them.
  [[nodiscard]] bool claim() noexcept {
    // acq_rel, pairs with itself: only one exchange finds false.  All that was done with the frames
    // before has reached each caller with the thunk of its process (BACKEND-1).
    return !claimed_.exchange(true, std::memory_order_acq_rel);
  }
  /// take_from() moves the suspended chain of `other` into this object, give_to() moves it on into
  /// `other`.  After each, the caller sets the `parent` of the outermost frame to the new holder.
  void take_from(suspension& other, prompt const& ground) noexcept {
    move_suspension(other, *this, ground);
  }
  void give_to(suspension& other, prompt const& ground) noexcept {
    move_suspension(*this, other, ground);
  }

  // Never called: the frames run only when a process has taken them.
  continuation ended() noexcept override { std::terminate(); }
  continuation dropped() noexcept override { return outside(); }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] continuation outside() const noexcept override {
    return continuation::ordinary_code();
  }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    static constexpr std::string_view name = "weft::scheduler";
    return name;
  }

 private:
  ~shared_continuation() = default;
  void keep_suspension() noexcept override { keep(); }
  void release_suspension() noexcept override { release(); }

  std::atomic<std::uint32_t> owners_ = 1;
  std::atomic<bool> claimed_ = false;
};

class forkable_process final : public process {
 public:
  /// Makes a process that has not started.  The process takes over the caller's count of `p`.
  static forkable_process* make(process_id id, program* p, std::size_t log_limit,
                                header_layout const& extra = no_header) {
    return new (extra) forkable_process(id, p, log_limit, extra);
  }

  [[nodiscard]] replay_log& log() noexcept { return log_; }
  [[nodiscard]] class program const& program() const noexcept { return *program_; }

  /// Notes the operation at which the process is suspended.
  void waits_at(site const& at) noexcept { at_site_ = at; }
  [[nodiscard]] site const& waits_at() const noexcept { return at_site_; }
  [[nodiscard]] location resumes_at() const noexcept override {
    if (!has_started()) return {};
    if (sealed_) return process::resumes_at();  // operations on tasks have noted no site
    return {at_site_.operation->name, at_site_.where};
  }
  /// Whether the process can no longer be run again, and the scheduler has counted it as such.
  [[nodiscard]] bool& sealed() noexcept { return sealed_; }
  [[nodiscard]] bool is_sealed() const noexcept { return sealed_; }

  /// Returns another process that waits at the same operation.  A clone with the same id goes on in
  /// place of this process, which a checkpoint keeps as it is.  Throws bad_alloc.
  [[nodiscard]] forkable_process* clone(process_id id, prompt const& ground) {
    auto* const other = new (place_) forkable_process(*this, id);
    if (is_suspended() && has_started() && !shared_) {
      try {
        shared_ = new shared_continuation();
      } catch (...) {
        other->release();
        throw;
      }
      shared_->take_from(*this, ground);
      frame_of(root_).parent = *shared_;
      shared_->keep();
      other->shared_ = shared_;
    }
    return other;
  }

  /// The object that holds the frames in which the process waits, if clones share them; null if the
  /// frames are its own.
  [[nodiscard]] void const* shared_frames() const noexcept { return shared_; }
  /// Takes the shared frames, if this process has some and no other process has taken them.
  void claim_frames(prompt const& ground) noexcept {
    auto* const shared = std::exchange(shared_, nullptr);
    if (!shared) return;
    note_access(shared, true);
    if (shared->claim()) {
      shared->give_to(*this, ground);
      frame_of(root_).parent = *this;
      frame_of(root_).to = &result_;
    } else {
      root_ = nullptr;
    }
    shared->release();
  }
  /// Destroys the frames of the process.  The process can still be run again.
  void drop_frames(prompt const& ground) noexcept {
    claim_frames(ground);
    for (;;) {
      keep();  // unwind_on() drops a count, perhaps before unwind_suspended() returns
      if (unwind_suspended()) return release();
      if (is_ != state::cut) return;
    }
  }
  /// Starts the process, or starts it again, at the frame `first`.
  void begin(std::coroutine_handle<> first, void* evidence, prompt& ground,
             result_slot_base& sink) noexcept {
    root_ = first;
    begin_with(first, evidence, ground, sink);
    is_ = state::suspended;
  }

  /// Records the answer with which the process goes on now (FORK-2).
  void record(std::uint64_t answer) noexcept {
    // If at_site_ is not the site of the operation at which the process waits, that operation has
    // noted no site: the frames come from another process, or the operation is one on tasks, such
    // as a wait for a task.  Then the answer cannot be recorded, and the log is sealed.
    if (is_suspended() && (!at_site_.is_of(&operation()) ||
                           !site::same_place(at_site_.where, waiting().where))) [[unlikely]]
      log_.seal({&operation(), waiting().where, 0});
    else if (is_suspended() && is_answered())
      at_site_.operation->record(log_, at_site_, waiting());
    else if (at_site_.operation->size == answer_size::nothing)
      log_.record_void(at_site_);
    else
      log_.record_word(at_site_, answer);
  }

 private:
  forkable_process(process_id id, class program* p, std::size_t log_limit,
                   header_layout const& extra) noexcept
      : process(id, true, extra, state::ended, true), place_(extra), log_(log_limit), program_(p) {}
  forkable_process(forkable_process& other, process_id id) noexcept
      : process(id, true, other.place_, state::ended, true),
        place_(other.place_),
        log_(other.log_),
        at_site_(other.at_site_),
        program_(other.program_),
        shared_(other.shared_),
        root_(other.root_) {
    copy_state_from(other);
    program_->keep();
    if (shared_) shared_->keep();
  }
  ~forkable_process() override {
    if (shared_) shared_->release();
    program_->release();
  }
  void destroy() noexcept override;

  header_layout const& place_;
  replay_log log_;
  site at_site_{};
  class program* program_;
  shared_continuation* shared_ = nullptr;  // the frames shared with clones, or null (FORK-1)
  std::coroutine_handle<> root_;           // the first frame, while it exists
  bool sealed_ = false;
};

/// Whether the answers of `p` are still recorded, so that it may fork.
[[nodiscard]] inline bool keeps_log(process const& p) noexcept {
  return p.is_forkable() && !static_cast<forkable_process const&>(p).is_sealed();
}

}  // namespace weft::detail
