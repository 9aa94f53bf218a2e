// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/gate.hpp"

/// The acts that wait for one another: at gates, for locks, for values, for completions.
namespace weft::tests {

inline acting does_at_gate(liver& me, statement const& s) {
  auto& w = me.w;
  gate& at = w.gate_of(s);
  switch (s.what) {
    case act::waits_at_gate:
      co_await syncing::wait{at};
      break;
    case act::looks_and_waits: {
      co_await syncing::touch{&at, false};
      auto const seen = at.epoch();
      co_await proc::yield{};
      if (at.epoch() == seen) co_await syncing::wait(at, seen);
      break;
    }
    case act::looks_and_waits_for: {
      co_await syncing::touch{&at, false};
      auto const seen = at.epoch();
      instant const until = co_await deadline(me, s);
      bool const woken = co_await syncing::wait_until(at, seen, until);
      me.saw += woken ? " woken" : " late";
      break;
    }
    case act::waits_outside_for: {
      external_event never;
      instant const until = co_await deadline(me, s);
      bool const opened = co_await completions::wait_until(never, until);
      if (opened) ++w.wrong;
      break;
    }
    case act::wakes_one:
      co_await syncing::wake{at};
      break;
    case act::wakes_two:
      co_await syncing::wake{at, 2};
      break;
    case act::wakes_all:
      co_await syncing::wake{at, 100};
      break;
    case act::releases_gate:
      at.release();
      break;
    case act::releases_all:
      at.release_all();
      break;
    case act::counts_waiting:
      co_await syncing::touch{&at, true};
      me.saw += ' ' + std::to_string(at.waiting()) + " wait";
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

inline acting does_lock(liver& me, statement const& s) {
  auto& w = me.w;
  switch (s.what) {
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
      instant const until = co_await deadline(me, s);
      auto g = co_await w.key.try_lock_until(until);
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
      instant const until = co_await deadline(me, s);
      bool const got = co_await w.seats.try_acquire_until(until);
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
      if (s.what == act::waits_notified) {
        co_await w.changed.wait(*me.held);
      } else {
        instant const until = co_await deadline(me, s);
        bool const notified = co_await w.changed.wait_until(*me.held, until);
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

inline acting does_with_value(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  switch (s.what) {
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
      if (s.what == act::completes) source->complete(nth);
      break;
    }
    case act::waits_completion: {
      int const v = co_await w.result->wait();
      me.saw += " completed " + std::to_string(v);
      break;
    }
    case act::waits_completion_for: {
      instant const until = co_await deadline(me, s);
      auto const v = co_await w.result->wait_until(until);
      me.saw += " completed " + text(v);
      break;
    }
    case act::asks_ready:
      co_await syncing::touch{&w.result, false};
      me.saw += w.result->is_ready() ? " ready" : " not ready";
      break;
    case act::awaits_given:
    case act::awaits_given_for: {
      completer<int> source;
      auto given = source.get_completion();
      co_await syncing::touch{&w.source, true};
      w.put(std::move(source));
      std::optional<int> v;
      if (s.what == act::awaits_given) {
        v = co_await given.wait();
      } else {
        instant const until = co_await deadline(me, s);
        v = co_await given.wait_until(until);
      }
      if (v.value_or(shared_world::given) != shared_world::given) ++w.wrong;
      break;
    }
    case act::gives:
    case act::drops_given: {
      co_await syncing::touch{&w.source, true};
      auto source = w.take();
      if (source && s.what == act::gives) source->complete(shared_world::given);
      break;
    }
    default:
      break;
  }
}

}  // namespace weft::tests
