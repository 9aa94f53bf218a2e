// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/incoming/submissions.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/runtime/detail/incoming/admission.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"

namespace weft::detail {

submissions::submissions(submission_host& host, admission const& room, bool is_open)
    : host_(host), room_(room), gate_(is_open ? std::make_shared<submission_gate>() : nullptr) {
  if (gate_) gate_->home = this;
}

void submissions::require_gate() const {
  if (!gate_)
    throw std::logic_error("weft: where schedules are explored nothing comes from outside");
}
std::shared_ptr<submission_gate> submissions::add_submitter() {
  require_gate();
  std::lock_guard const lock(gate_->mutex);
  if (gate_->is_closed()) throw scheduler_stopped();
  if (!ask_again_.is_there()) ask_again_ = prepare(internal_task::ask_again);
  ++gate_->submitters;
  return gate_;
}
void submissions::on_last_submitter_gone() noexcept {
  for (relax wait;; wait()) try {
      return send(ask_again_);
    } catch (...) {  // no memory: tries again, else no worker would see that the run is over
    }
}

bool submissions::may_come() const noexcept {
  if (!gate_) return false;
  std::unique_lock lock(gate_->mutex);
  if (keeps_run_open()) return true;
  lock.unlock();
  if (gate_->is_closed()) gate_->wait_for_pending_tickets();
  return false;
}
bool submissions::end_run(bool something_may_come) noexcept {
  if (!gate_) return true;
  std::lock_guard const lock(gate_->mutex);
  // Relaxed: the count goes down as internal processes end, on threads that have ended by now or on
  // this thread.
  if (gate_->internal_left.load(std::memory_order_relaxed) != 0) return false;
  if (something_may_come && keeps_run_open()) return false;
  gate_->accepts_internal = false;
  return true;
}
void submissions::end() noexcept {
  close();
  if (!gate_) return;
  gate_->wait_for_pending_tickets();
  std::lock_guard const lock(gate_->mutex);
  ask_again_ = {};
  gate_->home = nullptr;
}

// ---- internal processes (SUBMIT-4)

/// Lies in the frame of an internal process: counts the process down when the frame is destroyed.
class submissions::counted {
 public:
  explicit counted(submissions& s) noexcept : home(&s) {}
  counted(counted&& other) noexcept : home(std::exchange(other.home, nullptr)) {}
  counted& operator=(counted&&) = delete;
  ~counted() {
    if (home) home->count_internal(false);
  }
  submissions* home;
};
eff<void> submissions::runs(counted of, internal_task what) {
  of.home->host_.run_internal(what);
  co_return;
}
thunk submissions::make_internal(internal_task what) {
  count_internal(true);  // if there is no memory, `counted` counts it down
  auto const frame = first_frame_of(runs(counted(*this), what));
  thunk t(host_.new_uncounted_process(process_id::internal(++internal_made_), frame));
  count_internal(false);  // it is not sent yet
  return t;
}
submissions::prepared::prepared(submissions& s, internal_task what)
    : home_(&s), spare_(s.host_.reserve_put()), process_(s.make_internal(what)) {}
void submissions::send(prepared& p) {
  if (!gate_->accepts_internal || !p.is_there()) return;
  count_internal(true);
  try {
    host_.put_from_outside(p.process_, std::move(p.spare_));
  } catch (...) {
    count_internal(false);
    throw;
  }
  ++gate_->internal_sent;
}
void submissions::count_internal(bool more) noexcept {
  // Relaxed: end_run() reads the count when the other threads have ended.
  gate_->internal_left.fetch_add(more ? 1 : ~std::size_t{0}, std::memory_order_relaxed);
}

submissions::prepared& submissions::prepared::operator=(prepared other) noexcept {
  std::swap(home_, other.home_);
  std::swap(spare_, other.spare_);
  std::swap(process_, other.process_);
  return *this;
}

}  // namespace weft::detail
