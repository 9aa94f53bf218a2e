// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/acts.hpp"
#include "tests/support/effects.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/barrier.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/condition.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/sync/semaphore.hpp"
#include "weft/sched/sync/shared.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// State that processes share which follow a list of acts, and the acts themselves
/// (random_processes.hpp).
namespace weft::tests {

using addresses = std::array<std::optional<address<int>>, 2>;

/// The shared state.  Thread safe, if the processes announce their accesses.
struct shared_world {
  explicit shared_world(scenario const& l)
      : what(l), seats(l.permits), ends(std::make_unique<gate>()) {}

  /// Keeps what an ended process saw, and the addresses that it has not dropped.
  void keep(std::string saw, addresses left) {
    std::lock_guard const lock(mutex_);
    all_saw_.push_back(std::move(saw));
    all_left_.push_back(std::move(left));
  }
  /// Sorted.
  [[nodiscard]] std::vector<std::string> all_saw() const {
    auto sorted = all_saw_;
    std::ranges::sort(sorted);
    return sorted;
  }

  scenario const& what;
  mutex key, other_key;
  semaphore seats;
  condition changed;
  barrier meet{2};
  gate at;
  std::unique_ptr<gate> ends;
  std::atomic<int> x = 0;
  shared<int> value{0};
  std::atomic<bool> source_is_taken = false;
  std::optional<completer<int>> source{std::in_place};
  std::optional<completion<int>> result{source->get_completion()};
  std::array<std::optional<inbox<int>>, 2> in;
  std::string out;
  int asked = 0;
  /// Collects the acts in the order in which they are done; null if they are not traced.  Not on
  /// several threads.
  std::vector<unsigned>* trace = nullptr;

 private:
  std::mutex mutex_;
  std::vector<std::string> all_saw_;
  std::vector<addresses> all_left_;
};

using acting_tasks = tasking<proc, syncing, completions, mail, timing, console, ask>;
/// A process, or a task.
using acting = eff<void, acting_tasks, proc, syncing, completions, mail, timing, console, ask>;
using acting_scope = scope<proc, syncing, completions, mail, timing, console, ask>;
/// A process only.
using living =
    eff<void, spawning<acting_tasks, proc, syncing, completions, mail, timing, console, ask>,
        acting_tasks, proc, syncing, completions, mail, timing, console, ask>;

inline std::string text(std::optional<int> n) { return n ? std::to_string(*n) : "-"; }

/// A process, or a task, that follows the n-th list.
struct liver {
  liver(shared_world& world, std::size_t nth, addresses to_whom, acting_scope* out)
      : w(world), n(nth), mine(std::move(to_whom)), in(out), saw(std::to_string(nth) + ":") {
    notes(begun);
  }
  liver(liver const&) = delete;
  liver& operator=(liver const&) = delete;
  ~liver() { w.keep(std::move(saw), std::move(mine)); }

  static constexpr std::size_t begun = 9;
  /// Traces the act i, unless the process was cancelled: the order in which processes are unwound
  /// is no part of a schedule.
  void notes(std::size_t i) const {
    if (w.trace && !was_cancelled) w.trace->push_back(static_cast<unsigned>(n * 10 + i));
  }

  shared_world& w;
  std::size_t n;
  addresses mine;
  acting_scope* in;  // the innermost scope, or that of the task; null if there is none
  std::string saw;
  std::optional<mutex::guard> held = {}, other = {};
  task_handle<int> handle = {};
  bool was_cancelled = false;
};

inline instant soon(instant now) { return now + std::chrono::nanoseconds(2); }

inline acting lives_with_gates(liver& me, act a) {
  auto& w = me.w;
  switch (a) {
    case act::waits_at_gate:
      co_await syncing::wait{w.at};
      break;
    case act::looks_and_waits: {
      co_await syncing::touch{&w.at, false};
      auto const seen = w.at.epoch();
      co_await proc::yield{};
      if (w.at.epoch() == seen) co_await syncing::wait(w.at, seen);
      break;
    }
    case act::looks_and_waits_for: {
      co_await syncing::touch{&w.at, false};
      auto const seen = w.at.epoch();
      instant const now = co_await timing::now{};
      bool const woken = co_await syncing::wait_until(w.at, seen, soon(now));
      me.saw += woken ? " woken" : " late";
      break;
    }
    case act::wakes_one:
      co_await syncing::wake{w.at};
      break;
    case act::wakes_all:
      co_await syncing::wake{w.at, 100};
      break;
    case act::releases_gate:
      w.at.release();
      break;
    case act::counts_waiting:
      co_await syncing::touch{&w.at, true};
      me.saw += ' ' + std::to_string(w.at.waiting()) + " wait";
      break;
    case act::ends_gate: {
      co_await syncing::touch{&w.ends, true};
      if (w.ends && w.ends->waiting() == 0) {
        try {
          co_await syncing::wait{*w.ends};
        } catch (cancelled const&) {
          me.saw += " ended";
        }
      } else {
        w.ends.reset();
      }
      break;
    }
    default:
      break;
  }
}

inline acting lives_with_mail(liver& me, act a, int nth) {
  auto& w = me.w;
  auto& mine = me.mine;
  switch (a) {
    case act::sends:
    case act::sends_to_second:
      if (auto& to = mine[a == act::sends_to_second]) {
        bool const sent = co_await to->send(nth);
        me.saw += sent ? " sent" : " unsent";
      }
      break;
    case act::receives:
      if (w.in[0]) {
        int const m = co_await w.in[0]->receive();
        me.saw += " got " + std::to_string(m);
      }
      break;
    case act::tries_receive:
      if (w.in[0]) {
        auto const m = co_await w.in[0]->try_receive();
        me.saw += " found " + text(m);
      }
      break;
    case act::receives_for:
      if (w.in[0]) {
        instant const now = co_await timing::now{};
        auto const m = co_await w.in[0]->receive_until(soon(now));
        me.saw += " in time " + text(m);
      }
      break;
    case act::selects:
      if (w.in[0] && w.in[1]) {
        auto const m = co_await select(*w.in[0], *w.in[1]);
        me.saw += " selected " + std::to_string(m.index()) + ' ' +
                  std::to_string(m.index() == 0 ? std::get<0>(m) : std::get<1>(m));
      }
      break;
    case act::selects_for:
      if (w.in[0] && w.in[1]) {
        instant const now = co_await timing::now{};
        auto const m = co_await select_until(soon(now), *w.in[0], *w.in[1]);
        me.saw += m ? " selected " + std::to_string(m->index()) : " none selected";
      }
      break;
    case act::drops_addresses:
      mine = {};
      break;
    case act::closes_inbox:
      w.in[0].reset();
      break;
    case act::makes_address:
      if (w.in[0]) mine[0] = w.in[0]->get_address();
      break;
    default:
      break;
  }
}

inline acting lives_with_locks(liver& me, act a) {
  auto& w = me.w;
  switch (a) {
    case act::locks:
      if (!me.held) {
        auto g = co_await w.key.lock();
        me.held = std::move(g);
      } else {
        auto g = co_await w.other_key.lock();
        me.other = std::move(g);
      }
      break;
    case act::unlocks:
      me.held.reset();
      break;
    case act::tries_lock: {
      auto g = co_await w.key.try_lock();
      me.saw += g ? " has it" : " has it not";
      if (g) me.held = std::move(*g);
      break;
    }
    case act::tries_lock_for: {
      instant const now = co_await timing::now{};
      auto g = co_await w.key.try_lock_until(soon(now));
      me.saw += g ? " has it" : " has it not";
      if (g) me.held = std::move(*g);
      break;
    }
    case act::acquires:
      co_await w.seats.acquire();
      break;
    case act::tries_acquire: {
      bool const got = co_await w.seats.try_acquire();
      me.saw += got ? " sits" : " stands";
      break;
    }
    case act::tries_acquire_for: {
      instant const now = co_await timing::now{};
      bool const got = co_await w.seats.try_acquire_until(soon(now));
      me.saw += got ? " sits" : " stands";
      break;
    }
    case act::releases:
      w.seats.release();
      break;
    case act::waits_notified:
    case act::waits_notified_for: {
      if (!me.held) {
        auto g = co_await w.key.lock();
        me.held = std::move(g);
      }
      if (a == act::waits_notified) {
        co_await w.changed.wait(*me.held);
      } else {
        instant const now = co_await timing::now{};
        bool const notified = co_await w.changed.wait_until(*me.held, soon(now));
        me.saw += notified ? " notified" : " not notified";
      }
      break;
    }
    case act::notifies_one:
      w.changed.notify_one();
      break;
    case act::notifies_all:
      w.changed.notify_all();
      break;
    case act::meets:
      co_await w.meet.arrive_and_wait();
      break;
    default:
      break;
  }
}

inline acting lives_with_values(liver& me, act a, int nth) {
  auto& w = me.w;
  switch (a) {
    case act::gets: {
      int const v = co_await w.value.get();
      me.saw += " value " + std::to_string(v);
      break;
    }
    case act::sets:
      co_await w.value.set(nth);
      break;
    case act::updates: {
      int const v = co_await w.value.update([](int& i) { return ++i; });
      me.saw += " value " + std::to_string(v);
      break;
    }
    case act::waits_for_value: {
      int const v = co_await w.value.wait_for([](int i) { return i != 0; });
      me.saw += " value " + std::to_string(v);
      break;
    }
    case act::completes:
    case act::drops_completer: {
      co_await syncing::touch{&w.source, true};
      if (w.source_is_taken.exchange(true)) break;
      auto source = std::exchange(w.source, std::nullopt);
      if (a == act::completes) source->complete(nth);
      break;
    }
    case act::waits_completion: {
      int const v = co_await w.result->wait();
      me.saw += " completed " + std::to_string(v);
      break;
    }
    case act::waits_completion_for: {
      instant const now = co_await timing::now{};
      auto const v = co_await w.result->wait_until(soon(now));
      me.saw += " completed " + text(v);
      break;
    }
    case act::asks_ready:
      co_await syncing::touch{&w.result, false};
      me.saw += w.result->is_ready() ? " ready" : " not ready";
      break;
    default:
      break;
  }
}

}  // namespace weft::tests
