// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "effects/detail/frame.hpp"
#include "effects/detail/operation_info.hpp"
#include "sched/detail/program.hpp"
#include "sched/errors.hpp"
#include "sched/offer.hpp"
#include "sched/process.hpp"

/// Tasks: what a process has done by itself or by others, as it comes, and waits for.
///
///   W1  A task is offered by the process that waits for it, its owner.  If nobody has taken it
///       when the owner has nothing else to do, it is done there, as a call: by no process of its
///       own, without a count.
///   W2  Who takes it makes a process of it, whose first frame ends at the task.
///   W3  The word of a join is less by one for each task that was taken and has ended.  Its owner,
///       when it has taken back what it could, adds how many are left.  Of them all, who makes it
///       zero has the owner go on.
///   W4  Until then the owner waits, whatever happens to it: nobody unwinds a process while others
///       do its tasks.  Where nobody runs any more, what is left of them is unwound first.
namespace weft::detail {

class join;
class task;

/// A scheduler, for its tasks.
class task_home {
 public:
  virtual thunk begin_task(task& t) noexcept = 0;
  virtual continuation task_ended(task& t) noexcept = 0;
  virtual continuation task_dropped(task& t) noexcept = 0;

 protected:
  ~task_home() = default;
};

class task final : public ending, public offer {
 public:
  enum class fate : std::uint8_t { ends, not_done, no_memory };

  task() = default;
  task(task const&) = delete;
  task& operator=(task const&) = delete;
  ~task() {
    if (frame_) frame_.destroy();
  }

  /// Before it is offered.  The answer is its frame's.
  void prepare(join& j, first_frame f) noexcept {
    of_ = &j;
    frame_ = f.handle;
    row_ = f.row;
    to_ = frame_of(frame_).to;
    frame_of(frame_).parent = continuation(static_cast<ending&>(*this));
  }

  [[nodiscard]] join& of() const noexcept { return *of_; }
  [[nodiscard]] row_info const& row() const noexcept { return *row_; }
  [[nodiscard]] detail::frame& first_frame_here() const noexcept { return frame_of(frame_); }
  [[nodiscard]] std::coroutine_handle<> frame() const noexcept { return frame_; }
  [[nodiscard]] bool has_failed() const noexcept { return to_->has_failed(); }
  /// To be run, or started.
  [[nodiscard]] std::coroutine_handle<> release() noexcept { return std::exchange(frame_, {}); }

  // ---- as an offer, and as the end of its frames

  [[nodiscard]] inline thunk begin() noexcept override;
  inline continuation ended() noexcept override;
  inline continuation dropped() noexcept override;
  [[nodiscard]] inline continuation outside() const noexcept override;
  [[nodiscard]] std::string text() const override { return "a task"; }
  [[nodiscard]] bool lost() const noexcept override { return false; }

 private:
  join* of_ = nullptr;
  std::coroutine_handle<> frame_;  // until it is begun
  row_info const* row_ = nullptr;
  awaited* to_ = nullptr;

 public:
  process* host = nullptr;   // W2
  std::uint32_t number = 0;  // among the owner's children
  fate came_to = fate::ends;
};

/// What a process waits for: several tasks.  In the awaiting frame.
class join {
 public:
  join(task* first, std::uint32_t n) noexcept : tasks(first), count(n) {}
  join(join const&) = delete;
  join& operator=(join const&) = delete;

  task* const tasks;
  std::uint32_t const count;
  task_home* home = nullptr;  // set by who begins it, as the next four
  process* owner = nullptr;
  process_id owner_id;
  std::coroutine_handle<> leaf;
  answer<void>* waiting = nullptr;
  operation_info const* operation = nullptr;
  std::uint32_t not_offered = 0;       // the owner's: there was no memory; from the second on
  std::int32_t left = 0;               // the owner's: offered, and not taken back
  std::atomic<std::int32_t> word = 0;  // W3
  std::atomic<bool> is_cancelled = false;
};

thunk task::begin() noexcept { return of_->home->begin_task(*this); }
continuation task::ended() noexcept { return of_->home->task_ended(*this); }
continuation task::dropped() noexcept { return of_->home->task_dropped(*this); }
continuation task::outside() const noexcept {
  return host ? continuation(*host) : continuation(of_->leaf);
}

}  // namespace weft::detail
