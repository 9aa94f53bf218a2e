// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tests/support/effects.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/sync/timing.hpp"

/// The acts of processes and tasks that have no parts.  A process keeps what it has seen to itself
/// until it ends; it announces accesses to everything else that is shared.
namespace weft::tests {

inline acting does_at_gate(liver& me, statement const& s) {
  act const a = s.what;
  gate& at = me.w.gate_of(s);
  if (a == act::waits_at_gate) co_await syncing::wait{at};
  if (a == act::wakes_one) co_await syncing::wake{at};
  if (a == act::wakes_two) co_await syncing::wake{at, 2};
  if (a == act::wakes_all) co_await syncing::wake{at, 100};
  if (a == act::releases_gate) at.release();
  if (a == act::releases_all) at.release_all();
  if (a == act::looks_and_waits || a == act::looks_and_waits_for) {
    co_await syncing::touch{&at, false};
    auto const seen = at.epoch();
    if (a == act::looks_and_waits) {
      co_await proc::yield{};
      if (at.epoch() == seen) co_await syncing::wait(at, seen);
    } else {
      instant const until = co_await deadline(me, s);
      bool const woken = co_await syncing::wait_until(at, seen, until);
      me.sees(woken ? "woken" : "late");
    }
  }
  if (a == act::counts_waiting) {
    co_await syncing::touch{&at, true};
    me.sees("waiting", static_cast<int>(at.waiting()));
  }
}
/// A process waits at a gate that another one destroys.
inline acting ends_gate(liver& me) {
  auto& w = me.w;
  co_await syncing::touch{&w.ends, true};
  if (!w.ends || w.ends->waiting() != 0) {
    w.ends.reset();
    co_return;
  }
  try {
    co_await syncing::wait{*w.ends};
  } catch (cancelled const&) {
    me.sees("ended");
  }
}

inline acting does_mail(liver& me, statement const& s, int nth) {
  act const a = s.what;
  auto& in = me.w.in[0];
  auto& second = me.w.in[1];
  if (a == act::drops_addresses) me.mine = {};
  if (a == act::closes_inbox) in.reset();
  if (a == act::makes_address && in) me.mine[0] = in->get_address();
  if (a == act::sends || a == act::sends_to_second) {
    if (auto& to = me.mine[a == act::sends_to_second]) {
      bool const sent = co_await to->send(nth);
      me.sees(sent ? "sent" : "unsent");
    }
  }
  if (a == act::receives && in) {
    int const m = co_await in->receive();
    me.sees("got", m);
  }
  if (a == act::tries_receive && in) {
    auto const m = co_await in->try_receive();
    me.sees("found", m);
  }
  if (a == act::receives_for && in) {
    instant const until = co_await deadline(me, s);
    auto const m = co_await in->receive_until(until);
    me.sees("in time", m);
  }
  if (a == act::selects && in && second) {
    auto const m = co_await select(*in, *second);
    me.sees(m.index() == 0 ? "selected" : "selected second",
            m.index() == 0 ? std::get<0>(m) : std::get<1>(m));
  }
  if (a == act::selects_for && in && second) {
    instant const until = co_await deadline(me, s);
    auto const m = co_await select_until(until, *in, *second);
    me.sees(!m ? "none selected" : m->index() == 0 ? "selected" : "selected second");
  }
}
/// Mail of a port that no other process knows.
inline acting does_mail_alone(liver& me, statement const& s) {
  auto [inbox, to] = co_await open<int>({.capacity = 1});
  if (s.what == act::sends_to_full) {
    (void)co_await to.send(1);
    (void)co_await to.send(2);
  } else if (s.what == act::receives_alone) {
    (void)co_await inbox.receive();
    ++me.w.wrong;
  } else {
    instant const until = co_await deadline(me, s);
    auto const m = co_await inbox.receive_until(until);
    if (m) ++me.w.wrong;
  }
}

inline acting does_lock(liver& me, statement const& s) {
  auto& w = me.w;
  act const a = s.what;
  if (a == act::unlocks) me.held.reset();
  if (a == act::locks) {
    auto g = co_await (me.held ? w.other_key : w.key).lock();
    (me.held ? me.other : me.held) = std::move(g);
  }
  if (a == act::tries_lock || a == act::tries_lock_for) {
    std::optional<mutex::guard> g;
    if (a == act::tries_lock) {
      g = co_await w.key.try_lock();
    } else {
      instant const until = co_await deadline(me, s);
      g = co_await w.key.try_lock_until(until);
    }
    me.sees(g ? "has it" : "has it not");
    if (g) me.held = std::move(*g);
  }
  if (a == act::waits_notified || a == act::waits_notified_for) {
    if (!me.held) {
      auto g = co_await w.key.lock();
      me.held = std::move(g);
    }
    if (a == act::waits_notified) {
      co_await w.changed.wait(*me.held);
    } else {
      instant const until = co_await deadline(me, s);
      bool const notified = co_await w.changed.wait_until(*me.held, until);
      me.sees(notified ? "notified" : "not notified");
    }
  }
  if (a == act::notifies_one) w.changed.notify_one();
  if (a == act::notifies_all) w.changed.notify_all();
  if (a == act::meets) co_await w.meet.arrive_and_wait();
  if (a == act::acquires) co_await w.seats.acquire();
  if (a == act::releases) w.seats.release();
  if (a == act::tries_acquire) {
    bool const got = co_await w.seats.try_acquire();
    me.sees(got ? "sits" : "stands");
  }
  if (a == act::tries_acquire_for) {
    instant const until = co_await deadline(me, s);
    bool const got = co_await w.seats.try_acquire_until(until);
    me.sees(got ? "sits" : "stands");
  }
}

inline acting does_with_value(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  if (s.what == act::sets) {
    co_await w.value.set(nth);
    co_return;
  }
  int v = 0;
  if (s.what == act::gets) v = co_await w.value.get();
  if (s.what == act::updates) v = co_await w.value.update([](int& i) { return ++i; });
  if (s.what == act::waits_for_value) v = co_await w.value.wait_for([](int i) { return i != 0; });
  me.sees("value", v);
}

/// Waits for a completer in the world's hands.
inline acting awaits_given(liver& me, statement const& s) {
  completer<int> source;
  auto given = source.get_completion();
  co_await syncing::touch{&me.w.source, true};
  me.w.put(std::move(source));
  std::optional<int> v;
  if (s.what == act::awaits_given) {
    v = co_await given.wait();
  } else {
    instant const until = co_await deadline(me, s);
    v = co_await given.wait_until(until);
  }
  if (v.value_or(shared_world::given) != shared_world::given) ++me.w.wrong;
}
inline acting does_with_completion(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  act const a = s.what;
  if (a == act::awaits_given || a == act::awaits_given_for) co_await awaits_given(me, s);
  if (a == act::completes || a == act::drops_completer) {
    co_await syncing::touch{&w.source, true};
    if (w.source_is_taken.exchange(true)) co_return;
    auto source = std::exchange(w.source, std::nullopt);
    if (a == act::completes) source->complete(nth);
  }
  if (a == act::gives || a == act::drops_given) {
    co_await syncing::touch{&w.source, true};
    auto source = w.take();
    if (source && a == act::gives) source->complete(shared_world::given);
  }
  if (a == act::asks_ready) {
    co_await syncing::touch{&w.result, false};
    me.sees(w.result->is_ready() ? "ready" : "not ready");
  }
  if (a == act::waits_completion) {
    int const v = co_await w.result->wait();
    me.sees("completed", v);
  }
  if (a == act::waits_completion_for) {
    instant const until = co_await deadline(me, s);
    auto const v = co_await w.result->wait_until(until);
    me.sees("completed", v);
  }
}

inline eff<void, proc> counts_inside(shared_world& w) {
  auto const body = []() -> eff<int, state<int>, proc> {
    for (int i = 0; i != 3; ++i) {
      int const n = co_await state<int>::get{};
      co_await proc::yield{};
      co_await state<int>::put{n + 1};
    }
    co_return co_await state<int>::get{};
  };
  int const n = co_await handle<state<int>>(state_of(0), body);
  if (n != 3) ++w.wrong;
}
inline acting does_with_variable(liver& me, act a, int nth) {
  auto& x = me.w.x;
  co_await syncing::touch{&x, a == act::writes};
  if (a == act::reads) me.sees("x", x.load());
  if (a == act::writes) x = nth;
  if (a == act::adds_in_two_steps) {
    int const seen = x;
    co_await proc::yield{};
    co_await syncing::touch{&x, true};
    x = seen + 1;
  }
}
inline acting does_with_handle(liver& me, statement const& s) {
  if (s.what == act::drops_handle) me.handle.clear();
  if (s.what == act::awaits) {
    auto const all = co_await me.handle.all();
    for (int const v : all) me.sees("given", v);
    for (int const v : all) me.result += v;
  }
  if (s.what == act::awaits_for) {
    bool const have = co_await me.handle.wait_for(time_of(s));
    me.sees(have ? "ended" : "not ended");
  }
}

/// An act without parts.
inline acting carries_out(liver& me, statement const& s, int nth) {
  using enum act;
  auto& w = me.w;
  act const a = s.what;
  if (a == yields) co_await proc::yield{};
  if (a == prints) co_await console::print{std::to_string(nth) + ' '};
  if (a == counts_inside) co_await tests::counts_inside(w);
  if (a == sleeps) co_await timing::sleep_for{time_of(s)};
  if (a == exits) co_await proc::exit{};
  if (a == ends_gate) co_await tests::ends_gate(me);
  if (a == stops) w.stop.request_stop();
  if (a == adds) me.result += s.n;
  if (a == asks) {
    int const v = co_await ask::get{};
    me.sees("asked", v);
  }
  if (a == looks_at_clock) {
    instant const now = co_await looks(me);
    me.sees("at " + text(now));
  }
  if (a == waits_outside_for) {
    external_event never;
    instant const until = co_await deadline(me, s);
    bool const opened = co_await completions::wait_until(never, until);
    if (opened) ++w.wrong;
  }
  if (a >= reads && a <= adds_in_two_steps) co_await does_with_variable(me, a, nth);
  if (a >= locks && a <= meets) co_await does_lock(me, s);
  if (a >= waits_at_gate && a <= counts_waiting) co_await does_at_gate(me, s);
  if (a >= gets && a <= waits_for_value) co_await does_with_value(me, s, nth);
  if (a >= completes && a <= drops_given) co_await does_with_completion(me, s, nth);
  if (a >= sends && a <= makes_address) co_await does_mail(me, s, nth);
  if (a == sends_to_full || a == receives_alone || a == receives_alone_for)
    co_await does_mail_alone(me, s);
  if (a >= awaits && a <= drops_handle) co_await does_with_handle(me, s);
}

}  // namespace weft::tests
