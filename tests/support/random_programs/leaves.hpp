// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <variant>

#include "tests/support/effects.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/waits.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"

/// The acts of processes and tasks that have no parts.  A process keeps what it has seen to itself
/// until it ends; it announces accesses to everything else that is shared.
namespace weft::tests {

inline acting does_mail(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  auto& mine = me.mine;
  switch (s.what) {
    case act::sends:
    case act::sends_to_second:
      if (auto& to = mine[s.what == act::sends_to_second]) {
        bool const sent = co_await to->send(nth);
        me.saw += sent ? " sent" : " unsent";
      }
      break;
    case act::sends_to_full: {
      auto [inbox, to] = co_await open<int>({.capacity = 1});
      (void)co_await to.send(1);
      (void)co_await to.send(2);
      break;
    }
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
        instant const until = co_await deadline(me, s);
        auto const m = co_await w.in[0]->receive_until(until);
        me.saw += " in time " + text(m);
      }
      break;
    case act::receives_alone: {
      auto [inbox, to] = co_await open<int>();
      (void)co_await inbox.receive();
      ++w.wrong;
      break;
    }
    case act::receives_alone_for: {
      auto [inbox, to] = co_await open<int>();
      instant const until = co_await deadline(me, s);
      auto const m = co_await inbox.receive_until(until);
      if (m) ++w.wrong;
      break;
    }
    case act::selects:
      if (w.in[0] && w.in[1]) {
        auto const m = co_await select(*w.in[0], *w.in[1]);
        me.saw += " selected " + std::to_string(m.index()) + ' ' +
                  std::to_string(m.index() == 0 ? std::get<0>(m) : std::get<1>(m));
      }
      break;
    case act::selects_for:
      if (w.in[0] && w.in[1]) {
        instant const until = co_await deadline(me, s);
        auto const m = co_await select_until(until, *w.in[0], *w.in[1]);
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

/// An act without parts.
inline acting does(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  act const a = s.what;
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
    case act::counts_inside:
      co_await counts_inside(w);
      break;
    case act::sleeps:
      co_await timing::sleep_for{time_of(s)};
      break;
    case act::looks_at_clock: {
      instant const now = co_await looks(me);
      me.saw += " at " + text(now);
      break;
    }
    case act::exits:
      co_await proc::exit{};
      break;
    case act::stops:
      w.stop.request_stop();
      break;
    case act::awaits: {
      auto const all = co_await me.handle.all();
      for (int const v : all) {
        me.saw += " given " + std::to_string(v);
        me.result += v;
      }
      break;
    }
    case act::awaits_for: {
      bool const have = co_await me.handle.wait_for(time_of(s));
      me.saw += have ? " ended" : " not ended";
      break;
    }
    case act::drops_handle:
      me.handle.clear();
      break;
    case act::adds:
      me.result += s.n;
      break;
    default:
      if (a >= act::sends && a <= act::makes_address)
        co_await does_mail(me, s, nth);
      else if (a >= act::gets && a <= act::drops_given)
        co_await does_with_value(me, s, nth);
      else if (a >= act::waits_at_gate && a <= act::ends_gate)
        co_await does_at_gate(me, s);
      else
        co_await does_lock(me, s);
  }
}

}  // namespace weft::tests
