// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/sync/gate.hpp"

/// The states of a process and the queue of a thread as a weft program, for `explore`.
///
///   PROTOCOL-1  A thread is a process.  Between two operations no other process runs, so the code
///       between them is one atomic step; a yield stands between two accesses to shared data.  A
///       function begins with an access: its caller yields before.
///   PROTOCOL-2  Reading a word and changing it by compare-and-swap, again if that failed, is one
///       step: an attempt that fails does nothing.
///   PROTOCOL-3  A spinning loop is a wait for the data that it spins on: an iteration in which
///       nothing has changed leads back to the same state.  So there are finitely many schedules.
///   PROTOCOL-4  An access to data that no other thread may access, in a claimed queue or in the
///       running process, is part of the step of the next shared access.
///
/// The defects of the pseudo-code can be put in, numbered as in
/// tests/sched/backends/as_written/pencil.hpp.
namespace weft::tests::protocol {

/// A computation in steps.
template <class T = void>
using does = eff<T, proc, syncing>;

struct defects {
  bool test_inverted = false;    ///< DEFECT-1: change() changes every state except the expected one
  bool passes_yielding = false;  ///< DEFECT-1: change() does not wait while the state is yielding
  bool head_put_back = false;    ///< DEFECT-2: a head that is taken by name stays
  bool head_is_changed = false;  ///< DEFECT-3: changes the state of the head for any entry
  bool owner_kept = false;       ///< not in the pseudo-code: a moved entry keeps its old owner
};

enum class status { sleeping, queued, running, yielding };

struct queue;

struct entry {
  explicit entry(status s) : is(s) {}

  status is;
  gate settled;  // the state is yielding no longer
  queue* owner = nullptr;
  entry* next = nullptr;
  entry* previous = nullptr;
  int messages = 0;
  int runs = 0;
};

/// The head is null, the first entry, or `claimed`.
struct queue {
  entry claimed{status::sleeping};
  entry* head = nullptr;
  entry* tail = nullptr;
  gate freed;  // the queue is claimed no longer
};

/// A failure in this schedule.
struct goes_wrong : std::logic_error {
  using std::logic_error::logic_error;
};
inline entry& at(entry* e) {
  if (!e) throw goes_wrong("null is followed");
  return *e;
}

// ---- states

/// From running or yielding: no other process changes these.
inline does<> settle(entry& e, status from, status to) {
  if (e.is != from) throw goes_wrong("the state of a process that runs was changed by another");
  e.is = to;
  co_await syncing::wake{e.settled, e.settled.waiting()};
}
/// From sleeping or queued.  False if the state is another one.
inline does<bool> change(defects d, entry& e, status from, status to) {
  while (!d.passes_yielding && e.is == status::yielding) co_await syncing::wait{e.settled};
  if ((e.is == from) == d.test_inverted) co_return false;
  e.is = to;
  co_return true;
}

// ---- the queue

/// Claims the queue if it is not empty, or in any case if `if_empty`; returns the head.
inline does<entry*> claim(queue& q, bool if_empty) {
  while (q.head == &q.claimed) co_await syncing::wait{q.freed};
  entry* const h = q.head;
  if (h || if_empty) q.head = &q.claimed;
  co_return h;
}
inline does<> store(queue& q, entry* head) {
  q.head = head;
  co_await syncing::wake{q.freed, q.freed.waiting()};
}

inline does<> enqueue(queue& q, entry& e) {
  entry* const h = co_await claim(q, true);
  co_await proc::yield{};
  e.owner = &q;
  co_await proc::yield{};
  if (h) {
    at(q.tail).next = &e;
    e.previous = q.tail;
  }
  q.tail = &e;
  co_await store(q, h ? h : &e);
}

/// Takes the first entry; null if there is none.
inline does<entry*> dequeue(defects d, queue& q) {
  entry* const h = co_await claim(q, false);
  if (!h) co_return nullptr;
  co_await proc::yield{};
  co_await change(d, *h, status::queued, status::running);
  co_await proc::yield{};
  h->owner = nullptr;
  co_await proc::yield{};
  if (q.tail == h) q.tail = nullptr;
  entry* const next = h->next;
  if (next) next->previous = nullptr;
  h->next = nullptr;
  co_await store(q, next);
  co_return h;
}

inline does<> unlink(queue& q, entry& e) {
  at(e.previous).next = e.next;
  (e.next ? e.next->previous : q.tail) = e.previous;
  co_return;
}

/// Takes that entry, if it is there.
inline does<bool> dequeue_entry(defects d, queue& q, entry& e) {
  entry* h = co_await claim(q, false);
  if (!h) co_return false;
  co_await proc::yield{};
  bool mine = e.owner == &q;
  if (mine) {
    co_await proc::yield{};
    mine = co_await change(d, d.head_is_changed ? *h : e, status::queued, status::running);
  }
  co_await proc::yield{};
  if (!mine) {
    co_await store(q, h);
    co_return false;
  }
  if (h != &e) {
    co_await unlink(q, e);
  } else if (d.head_put_back) {
    if (q.tail == h) q.tail = nullptr;
    co_await store(q, q.claimed.next);  // it is null, and opens the queue
    co_await proc::yield{};
  } else {
    h = e.next;
    (h ? h->previous : q.tail) = nullptr;
  }
  e.owner = nullptr;
  e.next = nullptr;
  e.previous = nullptr;
  co_await proc::yield{};
  co_await store(q, h);
  co_return true;
}

/// Moves the first entry of a queue to the front of another; it stays queued.
inline does<> move_first(defects d, queue& from, queue& to) {
  entry* const e = co_await claim(from, false);
  if (!e) co_return;
  co_await proc::yield{};
  if (!d.owner_kept) e->owner = nullptr;
  co_await proc::yield{};
  (e->next ? e->next->previous : from.tail) = nullptr;
  co_await store(from, std::exchange(e->next, nullptr));
  co_await proc::yield{};
  entry* const h = co_await claim(to, true);
  co_await proc::yield{};
  e->owner = &to;
  co_await proc::yield{};
  e->next = h;
  (h ? h->previous : to.tail) = e;
  co_await store(to, e);
}

/// How often e is in the queue.  Throws if the queue is broken.
inline int places_of(entry const& e, queue const& q) {
  int n = 0;
  entry const* last = nullptr;
  for (entry const* i = q.head; i; last = i, i = i->next) {
    if (i == &q.claimed) throw goes_wrong("a queue stays claimed");
    if (i->previous != last) throw goes_wrong("a queue is another one backwards");
    if (i->is != status::queued || i->owner != &q)
      throw goes_wrong("a queue has what is not queued");
    n += i == &e;
  }
  if (q.tail != last) throw goes_wrong("a queue's tail is not its last");
  return n;
}

/// Runs e, which must happen once.
inline void run(entry& e) {
  if (++e.runs > 1) throw goes_wrong("a process runs twice");
  if (e.is != status::running) throw goes_wrong("a process runs and is not Running");
}

}  // namespace weft::tests::protocol
