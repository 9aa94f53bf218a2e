// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include "effects/detail/answer.hpp"
#include "effects/detail/frame.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/detail/replay_log.hpp"

/// What makes a prompt one that can be resumed twice: a log of its answers, and a body that can be
/// run again.
namespace weft::detail {

/// A body and its handler, which outlive each of its runs.
class runs_again {
 public:
  runs_again() = default;
  runs_again(runs_again const&) = delete;
  runs_again& operator=(runs_again const&) = delete;
  virtual ~runs_again() = default;

  /// Starts a run that is answered from the log first.  Throws resumption_expired.
  virtual std::coroutine_handle<> run_again(std::shared_ptr<runs_again> const& self, replay_log log,
                                            continuation who, awaited& to) = 0;
};

/// The log of one run.
class recording {
 public:
  explicit recording(replay_log log) : log_(std::move(log)) { log_.rewind(); }

  [[nodiscard]] replay_log& log() noexcept { return log_; }
  [[nodiscard]] site const& at() const noexcept { return at_; }
  /// What was answered so far: shared, and it no longer changes.
  [[nodiscard]] replay_log past() {
    log_.freeze();
    return log_;
  }

  /// The answer to an operation will be filled in when somebody resumes.
  template <class R>
  void await_answer(site const& at, answer<R>& waiting) noexcept {
    at_ = at;
    slot_ = &waiting;
    record_ = [](replay_log& log, site const& s, awaited& a) {
      log.record(s, static_cast<answer<R>&>(a));
    };
  }
  /// It has been.
  void record_answer() {
    if (slot_) record_(log_, at_, *std::exchange(slot_, nullptr));
  }

 private:
  replay_log log_;
  site at_{};
  awaited* slot_ = nullptr;
  void (*record_)(replay_log&, site const&, awaited&) = nullptr;
};

/// A prompt that records.
class recording_prompt : public prompt, public recording {
 protected:
  explicit recording_prompt(replay_log log) : recording(std::move(log)) { records_ = true; }
  void answered() noexcept override { record_answer(); }
};
inline recording& recording_of(prompt& p) noexcept { return static_cast<recording_prompt&>(p); }

}  // namespace weft::detail
