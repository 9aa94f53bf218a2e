// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/effects.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/groups.hpp"
#include "tests/support/random_programs/leaves.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Processes and tasks that do the statements of a program: everything that a scheduler handles.
///
/// A refusal is noted by the act that meets it.  `throws` ends everything up to the next `attempts`
/// outwards, or the process or task.  A cancellation that ends the tasks of an act is noted by that
/// act; if the process itself is cancelled, its next wait finds that again.
namespace weft::tests {

inline acting goes_on(liver& me, statement const& s);
inline acting goes_through(liver& me, block const& acts) {
  for (statement const& s : acts) co_await goes_on(me, s);
}

// ---- tasks

inline acting_giving<int> does_errand(errand e, addresses mine, group* around) {
  liver me(e, std::move(mine), *around);
  co_await goes_through(me, *e.acts);
  co_return me.result;
}
/// A task without a handle, which adds its result to that of the scope.
inline acting acts_as_task(errand e, addresses mine, group* around) {
  int const n = co_await in_group(*e.w, *around, does_errand(e, std::move(mine), around));
  around->given += n;
}
/// A task with a handle.  Its failure cancels the scope only if the body of the scope has ended.
inline acting_giving<int> acts_and_gives(errand e, addresses mine, group* around) {
  return in_group(*e.w, *around, does_errand(e, std::move(mine), around), true);
}
inline acting_giving<int> acts_alone(errand e, addresses mine) {
  return does_errand(e, std::move(mine), &e.w->everything);
}
inline acting_giving<int> joins_in(errand e, addresses mine, group* around) {
  return in_group(*e.w, *around, does_errand(e, std::move(mine), around));
}
/// One of several of which the first ends all.
inline acting_giving<int> races_in(errand e, addresses mine, group* around) {
  co_await joins_in(e, std::move(mine), around);
  if (e.w->is_timed) {
    instant const now = co_await timing::now{};
    around->note_cancelled(now);
  }
  co_return 1;
}

/// Does the parts as tasks of the scope.
inline acting does_parts(liver& me, statement const& s, group& g) {
  std::vector<task_handle<int>> handles(s.parts.size());
  for (std::size_t i = 0; i != s.parts.size(); ++i) {
    errand const e{&me.w, &s.parts[i], me.next()};
    if (s.what == act::does_in_scope)
      g.scope->start(acts_as_task, e, me.mine, &g);
    else
      g.scope->start(handles[s.what == act::awaits_each ? i : 0], acts_and_gives, e, me.mine, &g);
  }
  if (s.what == act::awaits_each) {
    for (auto& h : handles) {
      int const n = co_await h;
      me.result += n;
    }
  } else if (s.what == act::awaits_all) {
    auto const all = co_await handles[0].all();
    for (int const n : all) me.result += n;
  }
}
/// A scope in which the process does `acts`, or starts tasks if these are null.
inline acting opens_scope(liver& me, statement const& s, block const* acts) {
  inside here(me, group::kind::scope);
  group& g = here.g;
  auto const body = [&](acting_scope& of) -> acting {
    struct open_body {
      group& of;
      ~open_body() { of.is_body_open = false; }
    } const until_the_end{g};
    g.scope = &of;
    if (acts)
      co_await in_group(me.w, g, goes_through(me, *acts));
    else
      co_await in_group(me.w, g, does_parts(me, s, g));
  };
  if (s.what == act::opens_scope_for) {
    g.cancelled_at = co_await deadline(me, s);
    co_await with_scope({.timeout = time_of(s)}, body);
  } else {
    co_await with_scope(body);
  }
  me.result += g.given;
}
inline acting joins_parts(liver& me, statement const& s) {
  inside here(me, group::kind::join);
  std::vector<acting_giving<int>> all;
  for (block const& part : s.parts)
    all.push_back(
        (s.what == act::joins ? joins_in : races_in)({&me.w, &part, me.next()}, me.mine, &here.g));
  if (s.what == act::joins) {
    auto const given = co_await when_all(std::move(all));
    for (int const n : given) me.result += n;
  } else {
    auto const [which, n] = co_await when_any(std::move(all));
    me.result += n;
  }
}
inline acting starts(liver& me, statement const& s, int nth) {
  errand const e{&me.w, &s.parts.at(0), nth};
  group* const g = me.in->nearest(group::kind::scope);
  if (s.what == act::starts_alone)
    co_await start_task(me.handle, acts_alone, e, me.mine);
  else if (g && s.what == act::starts_task)
    g->scope->start(acts_as_task, e, me.mine, g);
  else if (g) {
    me.scopes_of_handle.push_back(g);
    g->scope->start(me.handle, acts_and_gives, e, me.mine, g);
  }
}
/// Cancels a scope around the process: the nearest, or a further one.
inline acting cancels(liver& me, statement const& s) {
  std::vector<group*> all;
  for (group* g = me.in; g; g = g->out)
    if (g->is == group::kind::scope) all.push_back(g);
  if (all.empty()) co_return;
  group& g = *all[static_cast<std::size_t>(s.n) % all.size()];
  if (me.w.is_timed) {
    instant const now = co_await timing::now{};
    g.note_cancelled(now);
  }
  g.scope->cancel();
}
inline acting attempts(liver& me, statement const& s) {
  int const before = me.result;
  std::string why;
  try {
    co_await goes_through(me, s.parts.at(0));
  } catch (cancelled const&) {
    throw;
  } catch (std::exception const& e) {
    why = " [" + std::string(e.what()) + ']';
    if (!is_failure(std::current_exception())) ++me.w.wrong;
  }
  if (why.empty()) co_return;
  me.saw += why;
  me.result = before - 1;
}

// ---- any statement

inline acting does_with_parts(liver& me, statement const& s, int nth) {
  switch (s.what) {
    case act::attempts:
      co_await attempts(me, s);
      break;
    case act::shields: {
      inside const here(me, group::kind::shield);
      co_await shielded([&] { return goes_through(me, s.parts.at(0)); });
      break;
    }
    case act::handles: {
      inside const here(me, group::kind::handler);
      co_await handle<state<int>>(state_of(0), goes_through(me, s.parts.at(0)));
      break;
    }
    case act::joins:
    case act::races:
      co_await joins_parts(me, s);
      break;
    case act::starts_task:
    case act::starts_with_handle:
    case act::starts_alone:
      co_await starts(me, s, nth);
      break;
    case act::opens_scope:
    case act::opens_scope_for:
      co_await opens_scope(me, s, &s.parts.at(0));
      break;
    default:
      co_await opens_scope(me, s, nullptr);
  }
}
/// An act without parts, and the time that it takes.  An act that is cancelled ends at that instant.
inline acting does_in_time(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  instant const began = co_await looks(me);
  std::exception_ptr error;
  bool was_cancelled = false;
  try {
    co_await carries_out(me, s, nth);
  } catch (cancelled const&) {
    was_cancelled = true;
  } catch (...) {
    error = std::current_exception();
  }
  instant const ended = co_await looks(me);
  std::string const line = ' ' + std::string(name_of(s.what)) + " from " + text(began) + " to " +
                           text(ended) + (was_cancelled ? ", cancelled" : "");
  me.saw += line;
  w.cancelled_while_waiting += was_cancelled && ended != began;
  instant should_end = me.in->end_of_inside();
  if (s.what == act::awaits) should_end = std::min(should_end, me.end_of_tasks());
  bool const is_late = ended != began && should_end < ended;
  bool const is_for_nothing = was_cancelled && should_end > ended;
  // How processes under a handler are cancelled, and when, is not modelled.
  if (!me.in->nearest(group::kind::handler) && (is_late || is_for_nothing))
    w.too_early_or_late +=
        std::to_string(nth) + line + " and is cancelled at " + text(should_end) + '\n';
  if (was_cancelled) throw cancelled();
  if (error) std::rethrow_exception(error);
}
inline acting goes_on(liver& me, statement const& s) {
  int const nth = me.next();
  bool const has_parts = parts_of(s.what).most != 0;
  bool const has_tasks = s.what == act::awaits || begins_others(s.what) ||
                         s.what == act::opens_scope || s.what == act::opens_scope_for;
  if (s.what == act::throws) throw thrown_by(me.n);
  std::string why;
  try {
    if (s.what == act::cancels)
      co_await cancels(me, s);
    else if (has_parts)
      co_await does_with_parts(me, s, nth);
    else if (me.w.is_timed)
      co_await does_in_time(me, s, nth);
    else
      co_await carries_out(me, s, nth);
    if (!has_tasks) me.notes(nth);
  } catch (cancelled const&) {
    me.was_cancelled = true;
    if (!has_tasks) throw;
    why = " cancelled";
  } catch (std::exception const& e) {
    if (has_parts) throw;
    why = " [" + std::string(e.what()) + ']';
  }
  me.saw += why;
}

// ---- processes

inline living does_as_process(errand e, addresses mine, lives);

/// The completer of a child; notes if the child is cancelled before it has completed it, or has dropped
/// it: perhaps before it has begun.
class duty {
 public:
  duty(completer<int> c, shared_world& w) : c_(std::move(c)), w_(&w) {}
  duty(duty&& other) noexcept : c_(std::move(other.c_)), w_(std::exchange(other.w_, nullptr)) {}
  duty& operator=(duty&&) = delete;
  ~duty() {
    if (w_) w_->dropped_by_cancelled = true;
  }
  void carry_out(int n) {
    w_ = nullptr;
    if (n % 3 != 0) c_.complete(n);
  }

 private:
  completer<int> c_;
  shared_world* w_;
};
/// A child that completes it, drops it, or comes too late.
inline living completes(duty d, instant::duration time, int n, lives) {
  co_await timing::sleep_for(time);
  d.carry_out(n);
}
inline living asks_child(liver& me, statement const& s, int nth) {
  auto& w = me.w;
  completer<int> c;
  auto result = c.get_completion();
  instant const until = co_await deadline(me, s);
  co_await spawn(completes, duty(std::move(c), w), std::chrono::nanoseconds(nth % 20), nth,
                 lives(w.alive));
  try {
    auto got = co_await result.wait_until(until);
    if (!got && nth % 2 == 0) got = co_await result.wait();
    if (got.value_or(nth) != nth) ++w.wrong;
  } catch (completion_dropped const&) {
    // A process that is cancelled with all others goes on after its scope, and finds this first.
    if (nth % 3 != 0 && !w.dropped_by_cancelled) ++w.wrong;
  }
}
/// An act that only a process may do.
inline living does_of_process(liver& me, statement const& s) {
  int const nth = me.next();
  std::string saw;
  try {
    if (s.what == act::spawns) {
      co_await spawn(does_as_process, errand{&me.w, &s.parts.at(0), nth}, me.mine,
                     lives(me.w.alive));
    } else if (s.what == act::asks_child) {
      co_await asks_child(me, s, nth);
    } else {
      bool const first = co_await proc::fork{};
      saw = first ? " first" : " second";
    }
  } catch (unforkable const&) {
    saw = " unforkable";
  }
  me.saw += saw;
}
inline acting does_for_some_time(liver& me, block const& acts) {
  statement const around(act::opens_scope_for, me.w.what.ends_at);
  bool was_cancelled = false;
  try {
    co_await opens_scope(me, around, &acts);
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  if (was_cancelled) me.saw += " cancelled";
}
inline living does_all(liver& me, block const& acts) {
  if (me.w.what.ends_at != 0) {
    co_await does_for_some_time(me, acts);
    co_return;
  }
  for (statement const& s : acts)
    if (is_of_processes(s.what))
      co_await does_of_process(me, s);
    else
      co_await goes_on(me, s);
}
inline living does_as_process(errand e, addresses mine, lives) {
  liver me(e, std::move(mine), e.w->everything);
  ++e.w->begun;
  co_await in_group(*e.w, e.w->everything, does_all(me, *e.acts));
  e.w->result_of_all += me.result;
  ++e.w->ended;
}

/// The first process.
inline living starts_all(shared_world& w) {
  auto const& all = w.what.all;
  addresses to;
  for (unsigned i = 0; i != w.what.forks; ++i) co_await proc::fork{};
  for (std::size_t i = 0; w.what.has_mail() && i != 2; ++i) {
    auto [in, address] = co_await open<int>({.capacity = w.what.capacity});
    w.in[i] = std::move(in);
    to[i] = std::move(address);
  }
  for (std::size_t n = 0; n != all.size(); ++n) {
    errand const e{&w, &all[n].acts, static_cast<int>(n + 1)};
    if (!all[n].is_forkable) {
      co_await spawn(does_as_process, e, to, lives(w.alive));
      continue;
    }
    // g++ 12 destroys a closure without a name twice.
    auto const begins = [e, to, here = lives(w.alive)] { return does_as_process(e, to, here); };
    co_await spawn(forkable, begins);
  }
  w.keep("starts all", std::move(to));
}

}  // namespace weft::tests
