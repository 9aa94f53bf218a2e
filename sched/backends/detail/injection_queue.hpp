// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/backends/detail/message_stack.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/injection_node.hpp"

namespace weft::detail {

/// The thunks that other threads put for the one worker of a backend; the worker fetches them in
/// its takes.  By this queue, a backend whose own queue belongs to one thread satisfies BACKEND-1,
/// BACKEND-3 and BACKEND-5.
///
///   INJECT-1  A putter pushes, then looks whether the worker sleeps [1]; the worker announces that
///       it sleeps [2], then looks whether anything was pushed.  All four are seq_cst.  So at least
///       one of the two sees what the other has written.
///   INJECT-2  One node has no thunk, and says that the queue is stopped.  It is pushed back
///       whenever it is found.
///   INJECT-3  Another node is the worker's own reminder: if it was pushed, the next fetch calls
///       queue.on_reminder().
///   INJECT-4  If the backend's own queue has no memory for a thunk, the thunk stays in its node
///       until the next fetch.  If the own queue is empty by then, the worker gets the first such
///       thunk directly.
///   INJECT-5  A worker that leaves its thread to another event loop announces its absence in the
///       same way as its sleep, so INJECT-1 holds here, too.  A putter that finds, under the mutex,
///       that the worker has left takes the announcement back and calls the waker: once for each
///       absence, and never after the waker was replaced.
class injection_queue {
 public:
  injection_queue() = default;
  injection_queue(injection_queue const&) = delete;
  injection_queue& operator=(injection_queue const&) = delete;
  ~injection_queue();

  /// Puts a thunk, on any thread.  Throws bad_alloc.
  void put(thunk&& t);
  void put(thunk&& t, spare_node in) noexcept;
  void stop();

  // ---- for the worker; `Queue`: the worker's class, which has put_in(thunk&&) and is_empty()

  /// Makes the next fetch call queue.on_reminder().
  void remind() {
    if (!std::exchange(has_reminder_, true)) pushed_.push(reminder_);
  }
  /// Whether there is something to fetch: a thunk, the reminder, or the news that the queue is
  /// stopped.
  [[nodiscard]] bool has_news() const noexcept { return !pushed_.is_empty(); }
  /// Whether there is something to fetch beside the worker's own reminder.
  [[nodiscard]] bool has_injected() const noexcept {
    return has_news() && !(has_reminder_ && pushed_.has_only(reminder_));
  }
  /// Moves the thunks to the backend's own queue, as far as there is memory (INJECT-4).  False if
  /// the queue is stopped.
  template <class Queue>
  bool fetch(Queue& queue) {
    bool goes_on = true;
    bool is_noted = false;
    unfetched_ = pushed_.take_all();
    try {
      while (injection_node* const l = next_unfetched()) {
        if (l == &stop_node_)
          goes_on = false;
        else if (l == &reminder_)
          is_noted = true;
        else
          queue.put_in(std::move(l->content));
        discard(l);
      }
    } catch (std::bad_alloc const&) {
      push_back_unfetched();
      if (is_noted) pushed_.push(reminder_);
      if (!goes_on) pushed_.push(stop_node_);
      return goes_on;
    }
    if (!goes_on) pushed_.push(stop_node_);  // for the next fetch (INJECT-2)
    if constexpr (requires { queue.on_reminder(); })
      if (std::exchange(has_reminder_, false)) queue.on_reminder();
    return goes_on;
  }
  /// Sets the waker: the function that try_leave() lets putters call.  Waits until a call of the
  /// old one that has begun is over.
  void set_waker(std::function<void()> f);
  /// Lets the next putter call the waker, if a waker is set (INJECT-5).  False, and no putter calls
  /// it, if there is something to fetch.
  [[nodiscard]] bool try_leave() noexcept;
  void come_back() noexcept;
  struct waited {
    bool has_come;
    thunk instead;  // if not has_come: a thunk (INJECT-4), or empty, with the reason
  };
  /// Waits until something is in the backend's own queue, or returns the reason why nothing is.
  template <class Queue>
  [[gnu::noinline]] waited wait(Queue& queue, instant until, quiescence_test quiescent) {
    for (;;) {
      // The test comes before the fetch: a process that is due is put before the test says that
      // none is due, so the fetch finds it.
      bool const nothing_is_due = quiescent();
      if (!fetch(queue)) return {false, thunk::reason::stopped};
      if (!queue.is_empty()) return {true, thunk::reason::quiescent};
      if (thunk t = take_as_it_is(queue)) return {false, std::move(t)};
      if (nothing_is_due) return {false, thunk::reason::quiescent};
      if (until == instant::min() || !sleep(until)) return {false, thunk::reason::deadline};
    }
  }

 private:
  void send(injection_node& l);
  /// Sleeps until there is something to fetch.  False if the deadline passes first.
  bool sleep(instant until);
  /// Takes the first thunk for which the worker's queue had no memory (INJECT-4), if there is one.
  /// Precondition: that queue is empty.
  template <class Queue>
  [[nodiscard]] thunk take_as_it_is(Queue& queue) noexcept {
    if constexpr (requires { queue.take_kept(); })
      if (thunk t = queue.take_kept()) return t;
    return take_unfetched();
  }
  [[nodiscard]] thunk take_unfetched() noexcept;
  void push_back_unfetched() noexcept;
  [[nodiscard]] injection_node* next_unfetched() noexcept {
    if (!unfetched_) unfetched_ = pushed_.take_all();
    return unfetched_;
  }
  void discard(injection_node* l) noexcept {
    unfetched_ = l->next;
    if (l != &stop_node_ && l != &reminder_) delete l;
  }

  message_stack<injection_node> pushed_;
  injection_node* unfetched_ = nullptr;  // used by the worker only
  injection_node stop_node_;             // says that the queue is stopped (INJECT-2)
  injection_node reminder_;              // the worker's own reminder (INJECT-3)
  bool has_reminder_ = false;            // whether the reminder is pushed; used by the worker only
  std::atomic<bool> was_stopped_ = false;
  std::atomic<bool> sleeps_ = false;
  std::mutex mutex_;
  std::condition_variable woken_;
  // Under the mutex (INJECT-5):
  std::function<void()> waker_;
  bool has_left_ = false;  // the worker has left its thread; if so, sleeps_ is true
};

}  // namespace weft::detail
