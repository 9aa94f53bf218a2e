// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/acting.hpp"
#include "tests/support/acts.hpp"
#include "tests/support/effects.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"

/// Processes that follow a list of acts: everything that a scheduler handles.  A process keeps what
/// it has seen to itself until it ends; it announces accesses to everything else that is shared.
namespace weft::tests {

inline acting lives_on(liver& me, act a, int nth);
inline acting lives_with_tasks(liver& me, act a);

/// A world, by value.
struct there {
  shared_world* w;
};

inline acting goes_on(liver& me, std::size_t& i);
/// The acts from the i-th on, up to the end of the scope that contains it.
inline acting goes_through(liver& me, std::size_t& i) {
  auto const& acts = me.w.what.all[me.n].acts;
  while (i != acts.size() && acts[i] != act::closes_scope) co_await goes_on(me, i);
  if (i != acts.size()) ++i;
}
inline acting opens_scope(liver& me, std::size_t& i, bool has_timeout) {
  struct inside {
    liver& of;
    acting_scope* const before = of.in;
    ~inside() { of.in = before; }
  } const now{me};
  auto const body = [&](acting_scope& s) -> acting {
    me.in = &s;
    co_await goes_through(me, i);
  };
  if (has_timeout)
    co_await with_scope({.timeout = std::chrono::nanoseconds(2)}, body);
  else
    co_await with_scope(body);
}
/// The i-th act.
inline acting goes_on(liver& me, std::size_t& i) {
  auto const& acts = me.w.what.all[me.n].acts;
  int const nth = static_cast<int>(me.n * 10 + i);
  act const a = acts[i++];
  if (a == act::throws) throw std::runtime_error("thrown by " + std::to_string(me.n));
  bool const is_of_tasks = a == act::opens_scope || a == act::opens_scope_for || a == act::awaits;
  std::string why;
  try {
    if (a == act::opens_scope || a == act::opens_scope_for)
      co_await opens_scope(me, i, a == act::opens_scope_for);
    else if (a == act::shields && i != acts.size() && acts[i] < act::exits)
      co_await shielded([&me, nth, next = acts[i++]] { return lives_on(me, next, nth); });
    else
      co_await lives_on(me, a, nth);
    if (!is_of_tasks) me.notes(static_cast<std::size_t>(nth % 10));
  } catch (cancelled const&) {
    me.was_cancelled = true;
    if (!is_of_tasks) throw;
    why = " cancelled";
  } catch (std::exception const& e) {
    why = " [" + std::string(e.what()) + ']';
  }
  me.saw += why;
}

/// A task.
inline acting acts_as_task(there at, std::size_t n, addresses mine, acting_scope* out) {
  liver me(*at.w, n, std::move(mine), out);
  for (std::size_t i = 0; i != at.w->what.all[n].acts.size();) co_await goes_on(me, i);
}
using acting_and_giving =
    eff<int, acting_tasks, proc, syncing, completions, mail, timing, console, ask>;
inline acting_and_giving acts_and_gives(there at, std::size_t n, addresses mine,
                                        acting_scope* out) {
  co_await acts_as_task(at, n, std::move(mine), out);
  co_return static_cast<int>(n);
}
inline acting_and_giving acts_alone(there at, std::size_t n, addresses mine) {
  return acts_and_gives(at, n, std::move(mine), nullptr);
}
/// A process.
inline living acts_out(there at, std::size_t n, addresses mine) {
  liver me(*at.w, n, std::move(mine), nullptr);
  auto const& acts = me.w.what.all[n].acts;
  for (std::size_t i = 0; i != acts.size();) {
    if (acts[i] == act::forks) {
      ++i;
      std::string why;
      try {
        bool const first = co_await proc::fork{};
        me.saw += first ? " first" : " second";
      } catch (unforkable const&) {
        why = " unforkable";
      }
      me.saw += why;
    } else if (acts[i] == act::spawns_more) {
      ++i;
      co_await spawn(acts_out, at, me.w.what.all.size() - 1, me.mine);
    } else {
      co_await goes_on(me, i);
    }
  }
}

inline acting lives_with_tasks(liver& me, act a) {
  auto& w = me.w;
  there const at{&w};
  std::size_t const next = me.n + 1;
  bool const has_next = next < w.what.all.size();
  switch (a) {
    case act::starts_task:
      if (me.in && has_next) me.in->start(acts_as_task, at, next, me.mine, me.in);
      break;
    case act::starts_with_handle:
      if (me.in && has_next) me.in->start(me.handle, acts_and_gives, at, next, me.mine, me.in);
      break;
    case act::starts_alone:
      if (has_next) co_await start_task(me.handle, acts_alone, at, next, me.mine);
      break;
    case act::awaits: {
      auto const all = co_await me.handle.all();
      for (int const v : all) me.saw += " given " + std::to_string(v);
      break;
    }
    case act::awaits_for: {
      bool const have = co_await me.handle.wait_for(std::chrono::nanoseconds(2));
      me.saw += have ? " ended" : " not ended";
      break;
    }
    case act::drops_handle:
      me.handle.clear();
      break;
    case act::cancels:
      if (me.in) me.in->cancel();
      break;
    default:
      break;
  }
}

inline acting lives_on(liver& me, act a, int nth) {
  auto& w = me.w;
  switch (a) {
    case act::yields:
      co_await proc::yield{};
      break;
    case act::reads:
      co_await syncing::touch{&w.x, false};
      me.saw += " x " + std::to_string(w.x.load());
      break;
    case act::writes:
      co_await syncing::touch{&w.x, true};
      w.x = nth;
      break;
    case act::adds_in_two_steps: {
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
    case act::exits:
      co_await proc::exit{};
      break;
    default:
      if (a >= act::starts_task)
        co_await lives_with_tasks(me, a);
      else if (a >= act::sends && a <= act::makes_address)
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
  addresses to;
  for (std::size_t i = 0; w.what.has_mail() && i != 2; ++i) {
    auto [in, address] = co_await open<int>({.capacity = w.what.capacity});
    w.in[i] = std::move(in);
    to[i] = std::move(address);
  }
  std::size_t const few = all.size() - w.what.has(act::spawns_more);
  for (std::size_t n = 0; n != few; ++n)
    if (all[n].is_forkable)
      co_await spawn(forkable, [at = there{&w}, n, to] { return acts_out(at, n, to); });
    else
      co_await spawn(acts_out, there{&w}, n, to);
  w.keep("starts all", std::move(to));
}

/// The result of a run.
inline std::string text(shared_world const& w) {
  std::string s = w.out + "| x " + std::to_string(w.x) + " |";
  for (auto const& each : w.all_saw()) s += ' ' + each + ';';
  return s;
}

}  // namespace weft::tests
