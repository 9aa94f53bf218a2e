// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "effects/effects.hpp"
#include "sched/barrier.hpp"
#include "sched/completion.hpp"
#include "sched/condition.hpp"
#include "sched/errors.hpp"
#include "sched/gate.hpp"
#include "sched/mail.hpp"
#include "sched/mutex.hpp"
#include "sched/semaphore.hpp"
#include "sched/shared.hpp"
#include "sched/spawning.hpp"
#include "sched/timing.hpp"
#include "tests/support/effects.hpp"

/// Processes that do what a list of acts says: everything that a scheduler handles.  What one has
/// seen it keeps to itself until it ends; what they share in any other way they announce.
namespace weft::tests {

/// What a process may do next.
enum class act : unsigned char {
  yields,
  // plain variables
  reads,
  writes,
  adds_slowly,
  // what is outside
  prints,
  asks,
  // time
  sleeps,
  looks_at_clock,
  // locks
  locks,
  unlocks,
  tries_lock,
  tries_lock_for,
  acquires,
  tries_acquire,
  tries_acquire_for,
  releases,
  // conditions and barriers
  waits_notified,
  waits_notified_for,
  notifies_one,
  notifies_all,
  meets,
  // gates
  waits_at_gate,
  looks_and_waits,
  looks_and_waits_for,
  wakes_one,
  wakes_all,
  releases_gate,
  counts_waiting,
  ends_gate,
  // shared
  gets,
  sets,
  updates,
  waits_for_value,
  // completions
  completes,
  drops_completer,
  waits_completion,
  waits_completion_for,
  asks_ready,
  // mail
  sends,
  sends_elsewhere,
  receives,
  tries_receive,
  receives_for,
  selects,
  selects_for,
  drops_addresses,
  closes_inbox,
  makes_address,
  // processes
  spawns_more,
  forks,
  exits,
  throws,
};
inline constexpr std::size_t acts_there_are = static_cast<std::size_t>(act::throws) + 1;
inline constexpr std::array<char const*, acts_there_are> names_of_acts{"yields",
                                                                       "reads",
                                                                       "writes",
                                                                       "adds_slowly",
                                                                       "prints",
                                                                       "asks",
                                                                       "sleeps",
                                                                       "looks_at_clock",
                                                                       "locks",
                                                                       "unlocks",
                                                                       "tries_lock",
                                                                       "tries_lock_for",
                                                                       "acquires",
                                                                       "tries_acquire",
                                                                       "tries_acquire_for",
                                                                       "releases",
                                                                       "waits_notified",
                                                                       "waits_notified_for",
                                                                       "notifies_one",
                                                                       "notifies_all",
                                                                       "meets",
                                                                       "waits_at_gate",
                                                                       "looks_and_waits",
                                                                       "looks_and_waits_for",
                                                                       "wakes_one",
                                                                       "wakes_all",
                                                                       "releases_gate",
                                                                       "counts_waiting",
                                                                       "ends_gate",
                                                                       "gets",
                                                                       "sets",
                                                                       "updates",
                                                                       "waits_for_value",
                                                                       "completes",
                                                                       "drops_completer",
                                                                       "waits_completion",
                                                                       "waits_completion_for",
                                                                       "asks_ready",
                                                                       "sends",
                                                                       "sends_elsewhere",
                                                                       "receives",
                                                                       "tries_receive",
                                                                       "receives_for",
                                                                       "selects",
                                                                       "selects_for",
                                                                       "drops_addresses",
                                                                       "closes_inbox",
                                                                       "makes_address",
                                                                       "spawns_more",
                                                                       "forks",
                                                                       "exits",
                                                                       "throws"};

struct life {
  std::vector<act> acts;
  bool is_forkable = false;
  [[nodiscard]] bool operator==(life const&) const = default;
};
/// The first few are started by the first process, the last one by who spawns.
struct lives {
  std::vector<life> all;
  std::size_t capacity = 2;  // of ports
  std::size_t permits = 1;   // of the semaphore

  [[nodiscard]] bool has(act a) const {
    return std::ranges::any_of(
        all, [a](life const& l) { return std::ranges::find(l.acts, a) != l.acts.end(); });
  }
  [[nodiscard]] std::string text() const {
    std::string s =
        "capacity " + std::to_string(capacity) + ", permits " + std::to_string(permits) + '\n';
    for (auto const& l : all) {
      s += l.is_forkable ? "  forkable:" : "  process:";
      for (act const a : l.acts) s += ' ' + std::string(names_of_acts[static_cast<std::size_t>(a)]);
      s += '\n';
    }
    return s;
  }
};

/// What they share.
struct shared_world {
  explicit shared_world(lives const& l)
      : what(l), seats(l.permits), ends(std::make_unique<gate>()) {}

  lives const& what;
  mutex key, other_key;
  semaphore seats;
  condition changed;
  barrier meet{2};
  gate at;
  std::unique_ptr<gate> ends;
  int x = 0;
  shared<int> value{0};
  std::optional<completer<int>> source{std::in_place};
  std::optional<completion<int>> result{source->get_completion()};
  std::array<std::optional<inbox<int>>, 2> in;
  std::vector<std::array<std::optional<address<int>>, 2>> to;  // of each process, its own
  std::vector<std::string> saw;                                // by who has ended
  std::string out;
  int asked = 0;
};

using living = eff<void, spawning<proc, syncing, completing, mail, timing, console, ask>, proc,
                   syncing, completing, mail, timing, console, ask>;

inline std::string text(std::optional<int> n) { return n ? std::to_string(*n) : "-"; }

/// A process: the n-th of them.
struct liver {
  shared_world& w;
  std::size_t n;

  std::string saw = {};
  std::optional<mutex::guard> held = {}, other = {};

  [[nodiscard]] auto& my_addresses() const { return w.to[n]; }
};

inline living lives_on(liver& me, act a, int nth);

inline living acts_out(std::reference_wrapper<shared_world> there, std::size_t n) {
  liver me{there.get(), n};
  me.saw = std::to_string(n) + ":";
  auto const& acts = me.w.what.all[n].acts;
  for (std::size_t i = 0; i != acts.size(); ++i) {
    if (acts[i] == act::throws) throw std::runtime_error("thrown by " + std::to_string(n));
    if (acts[i] == act::forks) {
      std::string why;
      try {
        bool const first = co_await proc::fork{};
        me.saw += first ? " first" : " second";
      } catch (unforkable const&) {
        why = " unforkable";
      }
      me.saw += why;
      continue;
    }
    try {
      co_await lives_on(me, acts[i], static_cast<int>(n * 10 + i));
    } catch (cancelled const&) {
      throw;
    } catch (std::exception const& e) {
      me.saw += " [" + std::string(e.what()) + ']';
    }
  }
  me.w.saw.push_back(me.saw);
}

inline instant soon(instant now) { return now + std::chrono::nanoseconds(2); }

inline living lives_with_gates(liver& me, act a) {
  auto& w = me.w;
  switch (a) {
    case act::waits_at_gate:
      co_await syncing::wait{w.at};
      break;
    case act::looks_and_waits: {
      auto const seen = w.at.epoch();
      co_await proc::yield{};
      if (w.at.epoch() == seen) co_await syncing::wait(w.at, seen);
      break;
    }
    case act::looks_and_waits_for: {
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
      co_await syncing::wake{w.at, w.at.waiting()};
      break;
    case act::releases_gate:
      w.at.release();
      break;
    case act::counts_waiting:
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

inline living lives_with_mail(liver& me, act a, int nth) {
  auto& w = me.w;
  auto& mine = me.my_addresses();
  switch (a) {
    case act::sends:
    case act::sends_elsewhere:
      if (auto& to = mine[a == act::sends_elsewhere]) {
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

inline living lives_with_locks(liver& me, act a) {
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

inline living lives_with_values(liver& me, act a, int nth) {
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
      auto source = std::exchange(w.source, std::nullopt);
      if (a == act::completes && source) source->complete(nth);
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
      me.saw += w.result->is_ready() ? " ready" : " not ready";
      break;
    default:
      break;
  }
}

inline living lives_on(liver& me, act a, int nth) {
  auto& w = me.w;
  switch (a) {
    case act::yields:
      co_await proc::yield{};
      break;
    case act::reads:
      co_await syncing::touch{&w.x, false};
      me.saw += " x " + std::to_string(w.x);
      break;
    case act::writes:
      co_await syncing::touch{&w.x, true};
      w.x = nth;
      break;
    case act::adds_slowly: {
      co_await syncing::touch{&w.x, false};
      int const seen = w.x;
      co_await proc::yield{};
      co_await syncing::touch{&w.x, true};
      w.x = seen + 1;
      break;
    }
    case act::prints:
      co_await console::print{std::to_string(nth) + ' '};
      break;
    case act::asks: {
      int const v = co_await ask::get{};
      me.saw += " asked " + std::to_string(v);
      break;
    }
    case act::sleeps:
      co_await timing::sleep_for{std::chrono::nanoseconds(1 + nth % 3)};
      break;
    case act::looks_at_clock: {
      instant const now = co_await timing::now{};
      me.saw += " at " + std::to_string(now.time_since_epoch().count());
      break;
    }
    case act::spawns_more:
      co_await spawn(acts_out, std::ref(w), w.what.all.size() - 1);
      break;
    case act::exits:
      w.saw.push_back(me.saw);
      co_await proc::exit{};
      break;
    default:
      if (a >= act::sends && a <= act::makes_address)
        co_await lives_with_mail(me, a, nth);
      else if (a >= act::gets && a <= act::asks_ready)
        co_await lives_with_values(me, a, nth);
      else if (a >= act::waits_at_gate && a <= act::ends_gate)
        co_await lives_with_gates(me, a);
      else
        co_await lives_with_locks(me, a);
  }
}

/// The first process.
inline living starts_all(shared_world& w) {
  auto const& all = w.what.all;
  w.to.resize(all.size());
  for (std::size_t i = 0; i != 2; ++i) {
    auto [in, to] = co_await open<int>({.capacity = w.what.capacity});
    w.in[i] = std::move(in);
    for (std::size_t n = 0; n != all.size(); ++n) w.to[n][i] = to;
  }
  std::size_t const few = all.size() - w.what.has(act::spawns_more);
  for (std::size_t n = 0; n != few; ++n)
    if (all[n].is_forkable)
      co_await spawn(forkable, [there = &w, n] { return acts_out(std::ref(*there), n); });
    else
      co_await spawn(acts_out, std::ref(w), n);
}

/// What has come of it.
inline std::string text(shared_world const& w) {
  auto saw = w.saw;
  std::ranges::sort(saw);
  std::string s = w.out + "| x " + std::to_string(w.x) + " |";
  for (auto const& each : saw) s += ' ' + each + ';';
  return s;
}

}  // namespace weft::tests
