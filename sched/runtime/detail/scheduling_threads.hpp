// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "sched/runtime/detail/scheduling.hpp"

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
  typename scheduling::at_work const now(*this, scheduling::work::all);
  stopping const stop(*this);
  this->one_step(false);
  if (this->is_shut_down()) run(scheduling::errand::to_shut_down);
  do run_one_round();
  while (settle());
}
/// Runs one process up to its next operation that lets others run.  False if none is left.
template <backend Backend>
bool scheduling<Backend>::step() {
  typename scheduling::at_work const now(*this, scheduling::work::one_step);
  if (token_.stop_requested()) stop_all();
  if (this->is_shut_down()) run(scheduling::errand::to_shut_down);
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
  here.outside = std::exchange(desk::of_thread, &here);
  run_here();
  desk::of_thread = here.outside;
  this->add_up(here);
}

/// Somebody wants everyone to end.
template <backend Backend>
void scheduling<Backend>::stop_all() noexcept {
  stop_asked_ = true;
  this->cancel_all();
  this->wake_all();
}

/// On a thread of ours, or when none of them runs.
template <backend Backend>
void scheduling<Backend>::run(errand e) noexcept {
  switch (e) {
    case scheduling::errand::to_stop:
      return stop_all();
    case scheduling::errand::to_shut_down:
      this->cancel_all();
      return this->wake_all();
    case scheduling::errand::to_ask_again:
      return;
  }
}

/// While processes run the token is heeded: who asks to stop sends an errand that, in its turn, has
/// all others cancelled.  So that happens on a thread of theirs, whatever the backend.  The errand
/// is made before, so that to ask needs no memory.
template <backend Backend>
class scheduling<Backend>::stopping {
 public:
  explicit stopping(scheduling& s) : asked_(heeded(s), ask{*this, s}) {}
  stopping(stopping const&) = delete;
  stopping& operator=(stopping const&) = delete;

 private:
  struct ask {
    stopping& by;
    scheduling& home;
    void operator()() const noexcept {
      std::lock_guard const lock(home.entrance_->mutex);
      try {
        home.send(by.to_stop_);
      } catch (...) {  // a backend without memory to stop them gently
        home.backend_->stop();
      }
    }
  };
  /// Looked at once: who asks later is heard.
  std::stop_token heeded(scheduling& s) {
    if (!s.token_.stop_possible()) return {};
    if (!s.token_.stop_requested()) {
      if (!s.entrance_) return s.token_;
      std::lock_guard const lock(s.entrance_->mutex);
      to_stop_ = s.prepared(scheduling::errand::to_stop);
      return s.token_;
    }
    s.stop_all();
    return {};
  }
  typename scheduling::prepared_errand to_stop_;
  std::stop_callback<ask> asked_;  // its end waits until it is done, if it has begun
};

}  // namespace weft::detail
