// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "effects/detail/captured_frames.hpp"
#include "effects/detail/recording.hpp"
#include "effects/detail/replay_log.hpp"

/// What a multi_resumption refers to, however it resumes.
namespace weft::detail {

/// A place in the run of a body, to which one can come back.  Counted; the count is thread safe.
class capture {
 public:
  capture(capture const&) = delete;
  capture& operator=(capture const&) = delete;

  void keep() noexcept {
    // Relaxed: the caller is an owner, so it does not go.
    owners_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    // acq_rel: with itself; who comes last sees what the others did.
    if (is_last() || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) spent();
  }
  /// Whether the caller is the only owner.
  [[nodiscard]] bool is_last() const noexcept {
    return owners_.load(std::memory_order_acquire) == 1;  // with the acq_rel of release()
  }

  /// The frames that wait here.  Empty: they are gone, and the body is to be run again.  `last`:
  /// the caller is the last to come.  Not `by_place`: they are to run under other handlers.  Throws
  /// resumption_expired and the like.
  [[nodiscard]] virtual captured_frames frames_here(bool last, bool by_place) = 0;
  /// The same, to be dropped, where the caller is the only owner; null if that is not all.
  [[nodiscard]] virtual prompt* hand_over() noexcept { return nullptr; }

 protected:
  capture() = default;
  virtual ~capture() = default;
  /// Nobody refers to us any more.
  virtual void spent() noexcept { delete this; }
  void renew() noexcept { owners_.store(1, std::memory_order_relaxed); }  // nobody else knows us

 private:
  std::atomic<std::uint32_t> owners_ = 1;
};

class shared_capture {
 public:
  shared_capture() = default;
  explicit shared_capture(capture* c) noexcept : capture_(c) {}
  shared_capture(shared_capture const& other) noexcept : capture_(other.capture_) {
    if (capture_) capture_->keep();
  }
  shared_capture(shared_capture&& other) noexcept
      : capture_(std::exchange(other.capture_, nullptr)) {}
  shared_capture& operator=(shared_capture other) noexcept {
    std::swap(capture_, other.capture_);
    return *this;
  }
  ~shared_capture() {
    if (capture_) capture_->release();
  }
  explicit operator bool() const noexcept { return capture_ != nullptr; }
  capture& operator*() const noexcept { return *capture_; }

 private:
  capture* capture_ = nullptr;
};

/// Resumes by replay: who comes first has the frames that wait, who comes later new ones.
class replay_capture final : public capture {
 public:
  replay_capture(captured_frames live, std::shared_ptr<runs_again> body, shared_binding bound)
      : live_(std::move(live)),
        body_(std::move(body)),
        bound_(std::move(bound)),
        past_(static_cast<recording_prompt&>(*live_).log()),
        at_(static_cast<recording_prompt&>(*live_).at()) {}

  [[nodiscard]] captured_frames frames_here(bool, bool by_place) override {
    // acq_rel: with itself; who gets the frames sees what was done with them.
    if (taken_.exchange(true, std::memory_order_acq_rel)) return captured_frames();
    live_.require_open(by_place);
    return std::move(live_);
  }

  [[nodiscard]] prompt* hand_over() noexcept override { return live_.release(); }

  [[nodiscard]] std::shared_ptr<runs_again> const& body() const noexcept { return body_; }
  [[nodiscard]] shared_binding const& bound() const noexcept { return bound_; }
  [[nodiscard]] replay_log& past() noexcept { return past_; }
  [[nodiscard]] site const& at() const noexcept { return at_; }

 private:
  captured_frames live_;
  std::atomic<bool> taken_ = false;
  std::shared_ptr<runs_again> body_;
  shared_binding bound_;
  replay_log past_;  // up to the operation; no longer changes
  site at_;
};

}  // namespace weft::detail
