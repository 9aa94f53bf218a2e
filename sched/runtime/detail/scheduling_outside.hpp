// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "sched/base/backend.hpp"
#include "sched/runtime/detail/scheduling_base.hpp"
#include "sched/runtime/shutdown.hpp"

/// What a scheduler, whatever its backend, has to do with those outside: with whoever submits, or
/// shuts it down; and room for processes, which they and its own share.
namespace weft::detail {

class scheduling_outside : public scheduling_base {
 public:
  // ---- submitters

  [[nodiscard]] bool was_started() const noexcept { return was_started_; }
  /// One submitter more: for effects that are known.
  template <class... Es>
  [[nodiscard]] std::shared_ptr<entrance> let_submit(row<Es...>) {
    if (!was_started_)
      throw std::logic_error(
          "weft: a submitter is for a scheduler that was started: start() it first");
    (require_known(name_of<Es>, known_.knows(identity_of<Es>)), ...);
    require_entrance();
    std::lock_guard const lock(entrance_->mutex);
    if (entrance_->is_closed()) throw scheduler_stopped();
    if (!ask_again_.is_there()) ask_again_ = prepared(errand::to_ask_again);
    ++entrance_->submitters;
    return entrance_;
  }
  /// The last of them goes, under the entrance's lock.
  void is_submitted_to_no_more() noexcept {
    for (relax wait;; wait()) try {
        return send(ask_again_);
      } catch (...) {  // a backend without memory: nobody would ever see that it is over
      }
  }

  // ---- shutting down

  shutdown_report shut_down(instant deadline, std::string const& reason);

  // ---- room for processes (admission.hpp)

  [[nodiscard]] bool is_limited() const noexcept { return admission_.is_limited(); }
  /// Room for one more, and then it is taken; or it is to be waited for, and it says false.
  [[nodiscard]] bool takes_room(site const& at) {
    note_access(&admission_, true);
    if (admission_.try_enter()) return true;
    if (admission_.waits()) return false;
    throw_too_many(at.text());
  }

  /// A process runs, or one is started or unwound.
  [[nodiscard]] bool is_at_work() const noexcept { return at_work_; }
  /// How many processes there are: a hint while some come from outside.
  [[nodiscard]] std::size_t alive() const noexcept {
    return static_cast<std::size_t>(std::max<std::int64_t>(own_.alive + born_outside(), 0));
  }

 protected:
  /// `has_entrance`: that processes may come from outside.
  scheduling_outside(bool several_threads, unsigned wakes, bool has_entrance)
      : scheduling_base(several_threads, wakes, has_entrance) {
    if (entrance_) entrance_->home = this;
  }
  [[nodiscard]] std::int64_t born_outside() const noexcept {
    return entrance_ ? entrance_->born() : 0;
  }

  enum class work : std::uint8_t { one_step, all, nothing };
  /// While processes of ours may run on this thread.
  class at_work {
   public:
    at_work(scheduling_outside& s, work w) noexcept;
    at_work(at_work const&) = delete;
    at_work& operator=(at_work const&) = delete;
    ~at_work();

   private:
    scheduling_outside& home_;
    std::shared_ptr<entrance> at_;  // the last that is touched, for who waits for it
    work what_;
  };
  /// Nobody is ready, and nobody waits: whether it is over, and then it takes no more errands.
  [[nodiscard]] bool is_over(bool something_may_come) noexcept {
    if (!entrance_) return true;
    std::lock_guard const lock(entrance_->mutex);
    // Relaxed: who counts them down has ended, or does so on this thread.
    if (entrance_->errands_left.load(std::memory_order_relaxed) != 0) return false;
    if (something_may_come && submitters_hold_it_open()) return false;
    entrance_->takes_errands = false;
    return true;
  }
  /// Nobody comes any more, and none is under way.
  void end_outside() noexcept {
    at_work_ = true;
    close_entrance();
    if (!entrance_) return;
    entrance_->wait_for_those_under_way();
    std::lock_guard const lock(entrance_->mutex);
    ask_again_ = {};
    entrance_->home = nullptr;
  }
  [[nodiscard]] bool somebody_may_come() const noexcept override {
    if (!entrance_) return false;
    std::unique_lock lock(entrance_->mutex);
    if (submitters_hold_it_open()) return true;
    lock.unlock();
    if (entrance_->is_closed()) entrance_->wait_for_those_under_way();
    return false;
  }

  // ---- errands (SUBMIT-4 of submission_gate.hpp)

  enum class errand : std::uint8_t { to_stop, to_shut_down, to_ask_again };
  /// Of a thread of ours, in a process.
  virtual void run(errand e) noexcept = 0;
  [[nodiscard]] virtual process* new_process_outside(process_id id, first_frame first) = 0;
  /// An errand that can be sent without memory.  One that never is does nothing.
  class prepared_errand {
   public:
    prepared_errand() = default;
    prepared_errand(scheduling_outside& s, errand e)
        : home_(&s), spare_(s.reserve_put()), what_(s.new_errand(e)) {}
    prepared_errand(prepared_errand&&) noexcept = default;
    prepared_errand& operator=(prepared_errand other) noexcept {
      std::swap(home_, other.home_);
      std::swap(spare_, other.spare_);
      std::swap(what_, other.what_);
      return *this;
    }
    ~prepared_errand() {
      if (what_) home_->is_one_more_errand();  // which ends here
    }
    [[nodiscard]] bool is_there() const noexcept { return bool(what_); }

   private:
    friend class scheduling_outside;
    scheduling_outside* home_ = nullptr;
    spare_node spare_;
    thunk what_ = thunk::reason::quiescent;
  };
  /// Under the entrance's lock, as is send().  Throws bad_alloc.
  [[nodiscard]] prepared_errand prepared(errand e) { return {*this, e}; }
  /// Throws only what a backend does that reserves nothing, and then nothing was sent.
  void send(prepared_errand& e) {
    if (!entrance_->takes_errands || !e.is_there()) return;
    is_one_more_errand();
    try {
      put_from_outside(e.what_, std::move(e.spare_));
    } catch (...) {
      is_one_errand_less();
      throw;
    }
    ++entrance_->errands_sent;
  }
  /// A desk of ours on this thread: null if it is at no work of ours.
  [[nodiscard]] desk const* desk_here() const noexcept;
  /// Whether it is to be done even if all others are to end.
  [[nodiscard]] static bool is_new_errand(process const& p) noexcept {
    return !p.has_started() && p.id().is_internal();
  }

  // ---- being shut down

  [[nodiscard]] bool is_shut_down() const noexcept {
    return is_shut_down_.load(std::memory_order_relaxed);  // relaxed: the rest is under the lock
  }
  /// What those who are to end find.
  [[nodiscard]] cancelled why_cancelled() const noexcept {
    if (!entrance_) return {};
    std::lock_guard const lock(entrance_->mutex);
    return cancelled(reason_);
  }
  /// How often who does not listen is told.
  [[nodiscard]] unsigned patience() const noexcept {
    return is_late_.load(std::memory_order_relaxed) ? 0 : 100;  // relaxed: sooner or later
  }
  /// It is to be unwound where it is.
  void note_left(process const& p) noexcept;

  // ---- room for processes

  [[noreturn, gnu::cold]] void throw_too_many(std::string const& what) {
    throw too_many_processes(what + " of process " + here().running->id().text(),
                             admission_.most());
  }
  /// A process has ended, or was not begun.
  [[gnu::noinline]] void gives_room() noexcept {
    note_access(&admission_, true);
    (void)let_in(admission_.leave());
  }
  /// If there is room because nobody could tell them.
  bool let_in_who_wait() noexcept { return is_limited() && let_in(admission_.next()); }
  /// Who waited for room, and whom he has made, are ready.
  virtual void come_in(admission::in_line& l) noexcept = 0;

  bool was_started_ = false;

 private:
  /// That an errand is on the way; done or not, it is counted.
  class on_the_way {
   public:
    explicit on_the_way(scheduling_outside& s) noexcept : home(&s) {}
    on_the_way(on_the_way&& other) noexcept : home(std::exchange(other.home, nullptr)) {}
    on_the_way& operator=(on_the_way&&) = delete;
    ~on_the_way() {
      if (home) home->is_one_errand_less();
    }
    scheduling_outside* home;
  };
  [[nodiscard]] thunk new_errand(errand e) {
    is_one_more_errand();  // which ends here if there is no memory
    auto const frame = first_frame_of(runs(on_the_way(*this), e));
    thunk t(new_process_outside(process_id::internal(++errands_made_), frame));
    is_one_errand_less();  // it is not sent yet
    return t;
  }
  void is_one_more_errand() noexcept {
    entrance_->errands_left.fetch_add(1, std::memory_order_relaxed);  // relaxed: as is_over()
  }
  void is_one_errand_less() noexcept {
    entrance_->errands_left.fetch_sub(1, std::memory_order_relaxed);  // as above
  }
  static eff<void> runs(on_the_way of, errand e) {
    of.home->run(e);
    co_return;
  }

  static void require_known(std::string_view effect, bool known) {
    if (!known)
      throw std::logic_error(
          "weft: a submitter for the effect " + std::string(effect) +
          ", which no process of this program may perform: name it in the program's row, or in "
          "its spawning<...>");
  }
  void require_entrance() const {
    if (!entrance_)
      throw std::logic_error("weft: where schedules are explored nothing comes from outside");
  }
  [[nodiscard]] bool submitters_hold_it_open() const noexcept {
    return entrance_->submitters != 0 && !entrance_->is_closed() && !admission_.nobody_can_come();
  }

  /// Him, and as many more as there is room for.
  bool let_in(admission::in_line* l) noexcept {
    bool const is_somebody = l != nullptr;
    for (; l; l = admission_.next()) come_in(*std::unique_ptr<admission::in_line>(l));
    return is_somebody;
  }

  bool at_work_ = false;
  std::atomic<std::thread::id> worker_thread_{};  // of ours, if there is one
  std::atomic<bool> is_shut_down_ = false;
  std::atomic<bool> is_late_ = false;  // the deadline has passed
  // Under the entrance's mutex:
  std::shared_ptr<std::string const> reason_;
  shutdown_report report_;
  std::uint64_t errands_made_ = 0;
  prepared_errand ask_again_;  // while there is a submitter
};

inline scheduling_outside::at_work::at_work(scheduling_outside& s, work w) noexcept
    : home_(s), at_(s.entrance_), what_(w) {
  s.at_work_ = true;
  // Relaxed: who asks is that thread, or another one.
  s.worker_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (w == work::nothing || !at_) return;
  std::lock_guard const lock(at_->mutex);
  at_->is_running = at_->takes_errands = true;
}
inline scheduling_outside::at_work::~at_work() {
  home_.at_work_ = false;
  home_.worker_thread_.store({}, std::memory_order_relaxed);  // relaxed: as above
  if (what_ == work::nothing || !at_) return;
  if (what_ == work::all) home_.close_entrance();
  // Whoever waits for it may end the scheduler then.
  std::lock_guard const lock(at_->mutex);
  at_->is_running = at_->takes_errands = false;
  at_->changed.notify_all();
}

inline desk const* scheduling_outside::desk_here() const noexcept {
  for (desk const* d = desk::of_thread; d; d = d->outside)
    if (d->home == this) return d;
  // Relaxed: if it is this thread it has written it.
  auto const worker = worker_thread_.load(std::memory_order_relaxed);
  return worker == std::this_thread::get_id() ? &own_ : nullptr;
}

inline void entrance::leave() noexcept {
  std::lock_guard const lock(mutex);
  if (--submitters == 0 && home) home->is_submitted_to_no_more();
}

}  // namespace weft::detail

#include "sched/runtime/detail/shutting_down.hpp"
