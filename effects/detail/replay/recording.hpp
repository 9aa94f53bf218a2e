// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/detail/replay/replay_log.hpp"
#include "weft/effects/detail/result_slot.hpp"

/// A prompt that can be resumed twice: it has a log of the answers that its body was given, and a
/// body that can be run again.
namespace weft::detail {

/// A body and its handler, which outlive each run of the body.
class runs_again {
 public:
  runs_again() = default;
  runs_again(runs_again const&) = delete;
  runs_again& operator=(runs_again const&) = delete;
  virtual ~runs_again() = default;

  /// Starts a run that is answered from the log first.  Throws resumption_expired if the handler
  /// has ended.
  virtual std::coroutine_handle<> run_again(std::shared_ptr<runs_again> const& self, replay_log log,
                                            continuation waiter, result_slot_base& to) = 0;
};

/// A prompt that records the answers that its body is given.
class recording_prompt : public prompt {
 public:
  [[nodiscard]] replay_log& log() noexcept { return log_; }
  /// Notes that a later resume will fill in the answer to the operation `at`.
  void await_answer(site const& at, result_slot_base& waiting) noexcept {
    asked_ = at;
    slot_ = &waiting;
  }
  /// Called after await_answer(): records the answer, which has been filled in already.
  void answer_is_here() noexcept { answered(); }
  /// The operation that waits for an answer (await_answer()); or the last one that did.
  [[nodiscard]] site const& at() const noexcept { return asked_; }
  continuation dropped() noexcept override {
    log_.close();
    return prompt::dropped();
  }

 protected:
  explicit recording_prompt(replay_log log) : log_(std::move(log)) {
    recording_ |= itself_records;
    log_.rewind();
  }
  void answered() noexcept override {
    if (result_slot_base* const a = std::exchange(slot_, nullptr))
      asked_.operation->record(log_, asked_, *a);
  }

 private:
  replay_log log_;
  site asked_{};
  result_slot_base* slot_ = nullptr;
};

}  // namespace weft::detail
