// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "weft/durable/detail/instance.hpp"
#include "weft/durable/detail/process_handler.hpp"
#include "weft/durable/store.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/proc.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/timing.hpp"

namespace weft::durable {

/// When engine::run() returns.
enum class run_until : unsigned char {
  stopped,   ///< When stop() was called.
  idle,      ///< When each process has ended, or has waited for keep_waiting.
  all_ended  ///< When all processes have ended.
};

/// How an engine runs.
struct engine_options {
  run_until until = run_until::stopped;     ///< When run() returns.
  clock_source clock = clock_source::wall;  ///< The clock by which processes sleep.
  /// How long a process may wait before its frames are dropped; the log stays, and the process is
  /// run again from its log when a message or its time has come.
  std::chrono::nanoseconds keep_waiting = std::chrono::seconds(10);
  /// How many processes have frames at once.  If more are ready, the frames of the processes that
  /// have waited longest are dropped; those of processes that run steps are kept.
  std::size_t max_running = 10'000;
  std::size_t max_batch = 1'000;  ///< How many processes share a commit at most.
  /// Whether start(), send(), cancel() and stop(), called by other threads, take effect while run()
  /// goes on.  If not, the first three take effect in the next run.
  bool listens = true;
  /// How often the engine looks whether another program (a tool that sends a message, say, or
  /// another engine) has changed the store.  0: never.  An engine does not look if it runs until it
  /// is idle; nor if it runs until all have ended, by the clock of the scheduler, as virtual time
  /// would pass with each look; nor on a store that engines share, which tells them of changes.
  std::chrono::nanoseconds looks_outside = std::chrono::milliseconds(500);
  /// The name by which lists show this engine, on a store that several share.
  std::string worker = "worker";
};

namespace detail {

/// A message of the coordinator to a driver, the task that runs one process.
struct signal {
  enum class kind : unsigned char {
    committed,
    fenced,
    message,
    make_room,  // others want to run: leave, if the process still waits
    may_leave,
    must_stay,
    stop
  };
  kind what = kind::stop;
  stored_message message{};
};
/// A process that has a driver, as the coordinator knows it.
struct seat {
  seat(process_key k, address<signal> a) : key(k), to(std::move(a)) {}
  process_key key;
  address<signal> to;
  std::optional<stored_process> loaded{};  // from the store; empty once the driver has taken it
  commit_part* part = nullptr;             // the part of a driver that waits for its commit
  std::uint64_t sent = 0;                  // how many messages the driver was told of
  std::uint64_t last = 0;  // the sequence number of the last message that was read from the store
  bool waits = false;
  std::list<seat*>::iterator place{};  // the seat's place in waiting_, if `waits`
  bool is_due = false;                 // whether store::wake_due() has made the process ready
};
/// A request to the coordinator: of a driver, or (`outside`) of wait_for_outside().
struct order {
  enum class kind : unsigned char { commit, leave, stopped, outside };
  kind what = kind::outside;
  seat* from = nullptr;
  std::uint64_t seen = 0;  // for leave: how many messages the driver has received
};

/// Whether the part, if it is accepted, ends or quarantines its process, which is then not run.
[[nodiscard]] inline bool is_last_part(commit_part const& p) noexcept {
  return p.status && is_closed(p.status->now);
}

/// The one process of an engine that writes to the store.  Drivers, one for each process that is
/// run, send it their commit parts; it commits those that have come together in one commit.
///
///  COORD-1  Only the coordinator commits while the engine runs, and only it loads processes and
///           begins their drivers.  So a process has one driver at most.
///  COORD-2  A driver is told of each message that was committed after its process was loaded, in
///           the order of the commits.
///  COORD-3  A driver that waits leaves only if it has seen all messages that it was told of.
///  COORD-4  A seat is in waiting_ from the commit that stored `waiting` until its driver is told
///           of a message, or to make room, or commits again, or ends.  If other processes are
///           ready and all seats are taken, the drivers that have waited longest leave.
///  COORD-5  A driver whose part was fenced, or has ended or quarantined the process, gets no more
///           signals: its seat is free, and it sends no more orders.  A process that was fenced is
///           run again from its new log, if it is ready: another engine has run it.
///  COORD-6  On a store that engines share, a process is begun only if this engine has claimed it,
///           and it is disowned when its driver has left.
class coordinator {
 public:
  /// A function that starts the driver of a process.
  using launch = std::function<void(seat&, inbox<signal>)>;

  coordinator(store& s, engine_options const& o) : store_(s), sharing_(s.sharing()), how_(o) {}

  eff<void, weft::mail, timing, yielding> run(inbox<order> in, launch begin);
  /// Waits for calls of other threads, and reports them by `to`; ends when the coordinator does.
  eff<void, weft::mail, completions> wait_for_outside(address<order> to);

  /// Has calls of other threads noted from now on.  Called before run() and wait_for_outside().
  void open_to_others();
  /// Notes that a call of another thread has made a process ready, or sent it a message.  Thread
  /// safe.
  void arrived(commit_effect e);
  void stop();
  void note_change_of_others();

  /// The time by the clock of the engine's processes; `now` is the time of the scheduler.
  [[nodiscard]] timestamp time(instant now) const noexcept;
  [[nodiscard]] instant when(timestamp t, instant now) const noexcept;
  [[nodiscard]] engine_options const& options() const noexcept { return how_; }
  /// Called, with no lock held, when processes have ended.
  std::function<void()> on_end{};

 private:
  eff<void, weft::mail> commit(std::vector<seat*> parts);
  void look_again_at(process_key k);
  // deliver() and tell() move from their arguments.  They take references, since g++ 12 destroys an
  // aggregate twice if it is a temporary of a co_await (docs/portability.md).
  eff<void, weft::mail> deliver(commit_effect& e);
  eff<void, weft::mail> tell(seat& s, signal& what);
  [[nodiscard]] bool looks_outside() const;
  eff<void, weft::mail> look_outside();
  eff<void, weft::mail> make_room(seat& s);
  void want_all_ready();
  [[nodiscard]] std::vector<process_key> next_wanted(std::size_t limit);
  eff<void, weft::mail> begin_some(launch const& begin);
  void want(process_key k);
  void note_waiting(seat& s);
  void note_running(seat& s);
  void remove(seat& s);
  eff<void, weft::mail> carry_out(order const& o, std::vector<seat*>& parts);
  eff<void, weft::mail> look_at_changes();
  eff<void, weft::mail> claim_some();
  eff<void, weft::mail> tell_of_inbox(seat& s);
  [[nodiscard]] std::size_t part_of_free() const;
  [[nodiscard]] std::size_t to_make_room_for() const {
    return wanted_.size() + (sharing_ ? part_of_free() : 0);
  }
  /// How many processes are to be begun, as far as this engine knows.
  [[nodiscard]] std::size_t to_begin() const {
    return wanted_.size() + (sharing_ ? sharing_->free_processes() : 0);
  }
  [[nodiscard]] bool can_begin() const {
    return !is_stopping_ && seats_.size() < how_.max_running && to_begin() != 0;
  }
  [[nodiscard]] bool is_over() const;
  void close();
  friend class closing_at_end;

  store& store_;
  work_sharing* const sharing_;  // null: one engine at a time works on the store
  engine_options how_;
  std::unordered_map<process_key, std::unique_ptr<seat>> seats_;
  // Seats of the last run.  If the store has thrown, their drivers may have gone on after the
  // coordinator had ended.  The next run frees them.
  std::vector<std::unique_ptr<seat>> closed_seats_;
  std::list<seat*> waiting_;        // the one that has waited longest is in front
  std::deque<process_key> wanted_;  // ready processes that are to be begun
  std::unordered_set<process_key> is_wanted_;
  std::vector<process_key> left_;  // processes to be disowned
  std::optional<timestamp> next_wake_;
  bool is_stopping_ = false;

  std::mutex outside_lock_;  // guards the members below
  std::vector<commit_effect> arrivals_;
  bool have_others_changed_ = false;
  std::optional<completer<void>> bell_;
  bool stop_asked_ = false;
  bool is_told_ = false;  // whether the coordinator has an order to look at these members
  bool is_closed_ = true;
};

}  // namespace detail
}  // namespace weft::durable
