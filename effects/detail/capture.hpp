// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "weft/effects/detail/captured_frames.hpp"
#include "weft/effects/detail/replay/recording.hpp"
#include "weft/effects/detail/replay/replay_log.hpp"

/// The base class of the captures to which multi_resumptions refer; and the capture that resumes by
/// replay.
namespace weft::detail {

/// A point in the run of a body, to which a multi_resumption can go back; its copies share the
/// capture.  (prompt::capture() is another thing: it suspends the chain.)  Counts its owners; the
/// count is thread safe.
class capture {
 public:
  capture(capture const&) = delete;
  capture& operator=(capture const&) = delete;

  void keep() noexcept {
    // Relaxed: the caller is an owner, so the object remains.
    owners_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    // [1] acq_rel, pairs with itself and with [2]: each drop of a count is a release, and the last
    // owner acquires.  So it sees all that the other owners did.
    if (is_last() || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) spent();
  }
  /// Whether the caller is the only owner.
  [[nodiscard]] bool is_last() const noexcept {
    return owners_.load(std::memory_order_acquire) == 1;  // [2] acquire: pairs with [1] above
  }

  /// Returns the frames that wait at this point; empty if they are gone, and the body is to be run
  /// again.  `last`: this is the last call.  Throws as captured_frames::require_open() does; and
  /// frames_in_use, if the frames would have to be copied back, and cannot be now.
  [[nodiscard]] virtual captured_frames frames_here(bool last) = 0;
  /// For traces: the prompt of the frames that wait here; null if they are gone.
  [[nodiscard]] virtual prompt const* prompt_here() const noexcept = 0;
  /// Called by the only owner: releases the frames to it, to be unwound.  Null if the capture has
  /// more to release than the frames.
  [[nodiscard]] virtual prompt* hand_over() noexcept { return nullptr; }

 protected:
  capture() = default;
  virtual ~capture() = default;
  /// Called when the last owner has released the capture.
  virtual void spent() noexcept { delete this; }
  void renew() noexcept { owners_.store(1, std::memory_order_relaxed); }  // relaxed: no other owner

 private:
  std::atomic<std::uint32_t> owners_ = 1;
};

class [[clang::trivial_abi]] shared_capture {
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

/// A capture that resumes by replay: the first resume gets the waiting frames, a later one runs the
/// body again.
class replay_capture final : public capture {
 public:
  replay_capture(captured_frames live, std::shared_ptr<runs_again> body)
      : live_(std::move(live)),
        body_(std::move(body)),
        past_(static_cast<recording_prompt&>(*live_).log()),
        at_(static_cast<recording_prompt&>(*live_).at()) {}

  [[nodiscard]] captured_frames frames_here(bool) override {
    // acq_rel, pairs with itself: exactly one exchange finds false, and that resume gets the
    // frames.  It sees all that was done with the frames before.
    if (taken_.exchange(true, std::memory_order_acq_rel)) return captured_frames();
    try {
      live_.require_open();
    } catch (...) {
      taken_.store(false, std::memory_order_release);  // pairs with the exchange itself, above
      throw;
    }
    return std::move(live_);
  }

  [[nodiscard]] prompt const* prompt_here() const noexcept override {
    return live_ ? &*live_ : nullptr;
  }
  [[nodiscard]] prompt* hand_over() noexcept override { return live_.release(); }

  [[nodiscard]] std::shared_ptr<runs_again> const& body() const noexcept { return body_; }
  [[nodiscard]] replay_log& past() noexcept { return past_; }
  [[nodiscard]] site const& at() const noexcept { return at_; }

 private:
  captured_frames live_;
  std::atomic<bool> taken_ = false;
  std::shared_ptr<runs_again> body_;
  replay_log past_;  // the log of the body up to the operation; never changes
  site at_;
};

}  // namespace weft::detail
