// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/protocol_queue.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/sync/gate.hpp"

/// The list of idle threads, and their wake-ups, as a weft program; see protocol_queue.hpp.
namespace weft::tests::protocol {

struct idle_defects {
  bool pushed_twice = false;    ///< DEFECT-7: push does not check whether the thread is on the list
  bool no_lock = false;         ///< DEFECT-7: pop reads, and then swaps
  bool looks_at_own = false;    ///< DEFECT-8: an idle thread looks at its own queue only
  bool announces_late = false;  ///< DEFECT-8: an idle thread looks, and then says that it is idle
  bool publishes_late = false;  ///< DEFECT-8: a publisher looks for idle threads first
};

/// The state of a thread that can be idle.
struct idler {
  idler* next = nullptr;
  bool listed = false;  // pushed, and not popped
  bool notified = false;
  gate woken;
};

/// The idle threads, the last one first.  Under its lock each of these operations is one step.
struct idle_list {
  idler* top = nullptr;
};

inline does<> push(idle_defects d, idle_list& l, idler& t) {
  if (!d.pushed_twice && t.listed) co_return;
  t.listed = true;
  for (;;) {
    idler* const last = l.top;
    t.next = last;
    if (d.no_lock) co_await proc::yield{};
    if (l.top == last) break;
  }
  l.top = &t;
}
inline does<idler*> pop(idle_defects d, idle_list& l) {
  for (;;) {
    idler* const t = l.top;
    if (!t) co_return nullptr;
    idler* const next = t->next;
    if (d.no_lock) co_await proc::yield{};
    if (l.top != t) continue;
    l.top = next;  // even if it is stale
    t->listed = false;
    co_return t;
  }
}
/// Removes t, if it is on the list.
inline void withdraw(idle_list& l, idler& t) {
  if (!t.listed) return;
  t.listed = false;
  idler** i = &l.top;
  while (*i != &t) i = &(*i)->next;
  *i = t.next;
}
inline does<> notify(idler& t) {
  t.notified = true;
  co_await syncing::wake{t.woken};
}

/// How often t is on the list.  Throws if the list is broken.
inline int places_of(idler const& t, idle_list const& l) {
  int n = 0;
  int longest = 8;  // there are fewer threads
  for (idler const* i = l.top; i; i = i->next) {
    if (i->next == i) throw goes_wrong("an idle thread follows itself");
    if (--longest == 0) throw goes_wrong("the idle threads follow each other in a circle");
    n += i == &t;
  }
  return n;
}

}  // namespace weft::tests::protocol
