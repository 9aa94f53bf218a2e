// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "effects/effects.hpp"
#include "sched/errors.hpp"
#include "sched/mail.hpp"
#include "sched/spawning.hpp"
#include "sched/timing.hpp"
#include "tests/support/acting.hpp"
#include "tests/support/acts.hpp"
#include "tests/support/effects.hpp"

/// Processes that do what a list of acts says: everything that a scheduler handles.  What one has
/// seen it keeps to itself until it ends; what they share in any other way they announce.
namespace weft::tests {

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
