// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "sched/detail/scheduling.hpp"

/// Running: on this thread, on several; and stopping.
namespace weft::detail {

template <backend Backend>
void scheduling<Backend>::run_one_round() {
  own_.stopped = false;
  if constexpr (on_several_threads)
    run_on_threads();
  else
    run_here();
}
template <backend Backend>
void scheduling<Backend>::run() {
  at_work const now(*this);
  stopping const stop(*this);
  this->one_step(false);
  do run_one_round();
  while (settle());
}
/// Runs one process up to its next operation that lets others run.  False if none is left.
template <backend Backend>
bool scheduling<Backend>::step() {
  at_work const now(*this);
  if (token_.stop_requested()) stop_all();
  do {
    prompt::driver const outside;
    set_innermost(this);
    this->one_step(false);
    auto const first = next();
    if (own_.running) {
      this->one_step(true);
      drive(first);
      return true;
    }
  } while (settle());
  return false;
}

template <backend Backend>
void scheduling<Backend>::run_here() {
  prompt::driver const outside;
  set_innermost(this);
  drive(next());
}

/// This thread is one of them.  Returns when all are done: nobody is ready, and nothing is due.
template <backend Backend>
void scheduling<Backend>::run_on_threads() {
  std::vector<std::thread> others;
  try {
    others.reserve(backend_->threads() - 1);
    for (unsigned i = 1; i < backend_->threads(); ++i)
      others.emplace_back([this, i] { sit_and_run(i); });
  } catch (...) {  // no more threads: those that there are unwind what there is
    this->failed({}, std::current_exception());
  }
  sit_and_run(0);
  for (auto& t : others) t.join();
}

template <backend Backend>
void scheduling<Backend>::sit_and_run(unsigned index) noexcept {
  seat here(*this, index);
  desk* const outside = std::exchange(desk::of_thread, &here);
  run_here();
  desk::of_thread = outside;
  this->add_up(here);
}

/// Somebody wants everyone to end.
template <backend Backend>
void scheduling<Backend>::stop_all() noexcept {
  stop_asked_ = true;
  this->cancel_all();
  this->wake_all();
}

/// While processes run the token is heeded: who asks to stop has a process put that, in its turn,
/// has all others cancelled.  So that happens on a thread of theirs, whatever the backend.
template <backend Backend>
class scheduling<Backend>::stopping {
 public:
  explicit stopping(scheduling& s) : home_(s) {
    if (s.token_.stop_requested()) {  // looked at once: who asks later is heard below
      s.stop_all();
      return;
    }
    if (!s.token_.stop_possible()) return;
    canceller_ = s.new_process({}, first_frame_of(cancels(told(*this))));
    s.stopping_ = this;
    asked_.emplace(s.token_, ask{*this});
  }
  stopping(stopping const&) = delete;
  stopping& operator=(stopping const&) = delete;
  ~stopping() {
    asked_.reset();  // waits until it is done, if it has begun
    is_over_ = true;
    while (came_late() && !home_.own_.broken) home_.run_one_round();
    home_.stopping_ = nullptr;
    if (canceller_) canceller_->release();
  }

  /// Somebody asked when nobody was left: his process is, and has to run.
  [[nodiscard]] bool came_late() noexcept {
    // Acquire: with the release of ask.
    if (!was_asked_.load(std::memory_order_acquire)) return false;
    if (!std::exchange(is_counted_, true)) {
      ++home_.own_.alive;
      ++home_.own_.unforkable;
    }
    return !is_gone_;
  }

 private:
  /// Tells that the process is no more, whether it ran or not.
  struct told {
    explicit told(stopping& s) noexcept : to(&s) {}
    told(told&& other) noexcept : to(std::exchange(other.to, nullptr)) {}
    told& operator=(told&&) = delete;
    ~told() {
      if (to) to->is_gone_ = true;
    }
    stopping* to;
  };
  static eff<void> cancels(told t) {
    if (!t.to->is_over_) t.to->home_.stop_all();
    co_return;
  }
  struct ask {
    stopping& s;
    void operator()() const noexcept {
      thunk t(std::exchange(s.canceller_, nullptr));
      // Release: who sees that we were here sees that it is no longer theirs to release.
      s.was_asked_.store(true, std::memory_order_release);
      try {
        s.home_.put_from_outside(t);
      } catch (...) {  // no memory to stop them gently
        s.home_.backend_->stop();
      }
    }
  };

  scheduling& home_;
  process* canceller_ = nullptr;
  std::atomic<bool> was_asked_ = false;
  bool is_counted_ = false;
  bool is_gone_ = false;
  bool is_over_ = false;
  std::optional<std::stop_callback<ask>> asked_;
};

}  // namespace weft::detail
