// SPDX-License-Identifier: MIT
/* Waiting for mail, at a gate, and until a point in time: one protocol for all, and a mailbox.
 *
 * A waiting process is recorded in a waiter, in the frame of its operation, which is on one list
 * or several: at mailboxes, on the heap of timers, at a gate; each has a lock
 * (sched/sync/detail/waiter.hpp).
 *
 *   WAITER-1  A waker takes the process out of the waiter by one exchange, under the lock of the
 *       list on which it found the waiter.
 *   WAITER-2  When the process continues, it takes the waiter off the lists that it is still on,
 *       each under its lock, before the frame is destroyed.  No process holds two of these locks
 *       at once.
 *   WAITER-3  The process enters the lists while its state is `yielding`, and is put when it is
 *       `sleeping`: by mail and by the clock after unlocking; at a gate under the lock, which is
 *       the last that a process takes before it sleeps.
 *
 * A receiver takes a message that is there without the lock of the mailbox
 * (sched/mail/detail/mailbox_queue.hpp):
 *
 *   MAILBOX-9  A receiver counts the message that it has received, then looks for waiting senders;
 *       a sender enters their list, then looks for room again.
 *
 * A ready process simply runs; how threads share ready processes is in sharing.pml.  A hand-over
 * is a put.  The clock may advance at any moment.  Every run is finite: the processes perform a
 * bounded number of operations.
 *
 * -DSCENARIO=... chooses the operations of the processes; each other flag builds in one mistake:
 * README.md.
 *
 * Verified: the assertions; that all processes end, in every run.
 */
#define RECEIVING 1  /* 1 and 2 send to 0, which waits with or without a deadline */
#define BOUNDED   2  /* the same, and there is room for one message */
#define SELECTING 3  /* 0 waits for mail at two such mailboxes; 1 sends to one, 2 to the other */
#define GATED     4  /* 0 and 1 wait for a lock that 2 has; each unlocks it again */

#define PROCESSES 3

/* The lists, each with its lock: two mailboxes, the heap of timers, a gate. */
#define HEAP  2
#define GATE  3
#define LISTS 4

#if SCENARIO == SELECTING
#define BOXES 2
#else
#define BOXES 1
#endif
#if SCENARIO == BOUNDED || SCENARIO == SELECTING
#define CAPACITY 1
#else
#define CAPACITY 3  /* never full */
#endif
#ifndef WAITS
#define WAITS 4     /* at most so many waits of the receiver; then it ends */
#endif

#ifndef TIME
#define TIME 1      /* 0: no wait has a deadline */
#endif
#ifndef CANCEL
#define CANCEL 0    /* 1: with a canceller */
#endif

#define NONE 7
#define ASLEEP(x) (state[x] == ended || (state[x] == sleeping && !owed[x]))

mtype = { running, yielding, sleeping, ended };
mtype state[PROCESSES] = running;

/* ---- waiters: one for each process, which performs one wait at a time */

mtype = { nothing, message, accepted, refused, no_senders, expired, woken, cancelled };

bool token[PROCESSES];         /* the process is in its waiter, and can be taken */
mtype got[PROCESSES] = nothing;        /* the answer of the waker that took it */
byte found_on[PROCESSES] = NONE; /* the list on which its waker found it; NONE: it took itself */
byte kept[PROCESSES] = NONE;   /* the message in the operation: to be sent, or received */

/* Ghosts. */
bool frame[PROCESSES];         /* the waiter's frame exists */
byte pointed_at[PROCESSES];    /* number of pointers to the waiter, from locked lists */
bool owed[PROCESSES];          /* taken, and not yet put */
byte gone;                     /* number of processes that have ended */

/* ---- lists */

bool locked[LISTS];

chan ring[2] = [CAPACITY] of { byte };      /* messages that have not been received */
chan senders[2] = [PROCESSES] of { byte };  /* processes that wait for room */
byte receiver[2] = NONE;                    /* the process that waits for mail */
bool is_everywhere;                         /* it has entered all mailboxes; read without a lock */
bool closed[2];                             /* the inbox is destroyed */
byte addresses[2];                          /* counted without the lock */

bool timed[PROCESSES];                      /* the heap: any of these may be due */

chan gate_waiter = [PROCESSES] of { byte };     /* its length is also read without the lock */
byte epoch;                                 /* also read without the lock */
bool is_free;                               /* whether the lock behind the gate is free */

bool cancelling;

/* ---- messages: two of each process.  Each has one fate. */

#define first_of(x) (2 * (x))
mtype = { unsent, received, destroyed };
mtype fate[2 * PROCESSES] = unsent;
byte begun;  /* number of messages that were begun and have no fate yet */

inline is_destroyed(m) { assert(fate[m] == unsent /* twice */); fate[m] = destroyed; begun-- }
inline is_received(m) {
  assert(fate[m] == unsent /* twice */);
  assert(m % 2 == 0 || fate[m - 1] == received /* first in, first out */);
  fate[m] = received; begun--
}

/* ---- locks, and the token of a waiter.
 *
 * A section under a lock in which others can see only one store is one step: it begins with
 * `enter`.  A section that takes a token is two steps, as it has a pointer into a frame meanwhile:
 * the first ends with `hold`, the last, which takes and answers, with `unlock`.  Each proctype has
 * the locals `holding`, whether it has a lock, and `ok`, whether it has taken a process. */

inline enter(l)  { !locked[l]; assert(!holding /* two locks at once */) }
inline hold(l)   { locked[l] = true; holding = true }
inline unlock(l) { locked[l] = false; holding = false }

/* A pointer to the waiter of x, found on a list; dropped by the time the lock is released. */
inline point_at(x)      { assert(frame[x] /* its frame is destroyed */); pointed_at[x]++ }
inline point_no_more(x) { pointed_at[x]-- }

/* waiter::take */
#ifdef PLAIN_TOKEN
#define READ_TOKEN(x) ok = token[x];
#define EXCHANGE(x)   token[x] = false
#else
#define READ_TOKEN(x)
#define EXCHANGE(x)   ok = token[x]; token[x] = false
#endif
inline take(x) {
  assert(frame[x] /* its frame is destroyed */);
  EXCHANGE(x);
  if
  :: ok -> assert(!owed[x] && got[x] == nothing /* a wait is answered twice */); owed[x] = true
  :: else
  fi
}
inline take_and_answer(x, list, what_it_gets) {
  take(x);
  if :: ok -> got[x] = what_it_gets; found_on[x] = list :: else fi;
  point_no_more(x)
}

/* backend::put, of a process that was taken: once it sleeps. */
inline put(x) {
  atomic {
    state[x] != yielding ->
    assert(owed[x] && state[x] == sleeping /* put once, and asleep */);
    owed[x] = false;
    state[x] = running
  }
}
/* The end of a section that may have taken x. */
#ifdef PUT_LOCKED
#define UNLOCK_TO_PUT(l) if :: ok :: else -> unlock(l) fi
#define PUT_TAKEN(l, x)  if :: ok -> put(x); atomic { unlock(l); x = NONE; ok = false } :: else fi
#else
#define UNLOCK_TO_PUT(l) unlock(l)
#define PUT_TAKEN(l, x)  if :: ok -> put(x); atomic { x = NONE; ok = false } :: else fi
#endif

/* ---- waiting, and WAITER-2.  The process is p; it has a deadline if `timely`. */

inline begin_to_wait() {
  assert(state[p] == running && !frame[p]);
  state[p] = yielding;
  frame[p] = true; token[p] = true
}
inline go_on()       { assert(owed[p]); owed[p] = false; state[p] = running }  /* it took itself */
inline fall_asleep() { assert(state[p] == yielding); state[p] = sleeping }
inline be_woken()    { state[p] == running }

/* WAITER-2, list by list.  It need not leave the mailbox, or gate, on whose list it was found, if
 * it knows that already.  It leaves the heap if it is there: a waker that takes it off says so
 * last, so the process may look without a lock. */
inline leave_heap() {
#ifdef STAYS_ON_HEAP
  skip
#else
  if :: timed[p] -> atomic { enter(HEAP); timed[p] = false } :: else fi
#endif
}
inline leave_box(b, found) {
  if
  :: found != b -> enter(b); if :: receiver[b] == p -> receiver[b] = NONE :: else fi
  :: else
  fi
}
inline leave_list(list, l, found) {
  if
  :: found != l -> enter(l); if :: list??[eval(p)] -> list??eval(p) :: else fi
  :: else
  fi
}
inline let_frame_go() {
  assert(!timed[p] /* it is still on the heap */);
  assert(pointed_at[p] == 0 /* another process has a pointer into the frame */);
  assert(receiver[0] != p && receiver[1] != p /* in a mailbox */);
  assert(!(senders[0]??[eval(p)]) && !(senders[1]??[eval(p)]) /* in a mailbox, for room */);
  assert(!(gate_waiter??[eval(p)]) /* at the gate */);
  assert(!token[p] && !owed[p]);
  frame[p] = false; got[p] = nothing; found_on[p] = NONE
}

/* ---- a mailbox */

/* p has received from b, whose lock is held.  If there is still room, puts the message of the
 * longest-waiting sender that can be taken there.  That sender is in x then. */
inline refill(b) {
  do
  :: atomic { !ok && nfull(ring[b]) && len(senders[b]) != 0 -> senders[b]?x; point_at(x) };
     READ_TOKEN(x)
     atomic {
       take_and_answer(x, b, accepted);
       if :: ok -> ring[b]!kept[x]; kept[x] = NONE :: else -> x = NONE fi
     }
  :: atomic { ok || full(ring[b]) || len(senders[b]) == 0 -> UNLOCK_TO_PUT(b); break }
  od;
  PUT_TAKEN(b, x)
}
/* Receives under the lock, which is kept if a sender waits. */
inline pop(b) {
  ring[b]?kept[p];
  if :: len(senders[b]) != 0 -> hold(b) :: else fi
}

/* Without the lock: a message that is there.  Counting it is one step with moving it out, which no
 * other process sees; the look for senders is the next step (MAILBOX-9). */
#ifdef LOOKS_FIRST
#define LOOK_FOR_SENDERS(b) sees_senders = (len(senders[b]) != 0)
#define SEES_SENDERS(b)     sees_senders
#else
#define LOOK_FOR_SENDERS(b) skip
#define SEES_SENDERS(b)     (len(senders[b]) != 0)
#endif
inline receive_at_once(b) {
  if
  :: atomic { nempty(ring[b]) -> what = message; LOOK_FOR_SENDERS(b) };
     ring[b]?kept[p];
     if
     :: SEES_SENDERS(b) -> atomic { enter(b); hold(b) }; refill(b)
     :: else
     fi
  :: empty(ring[b])
  fi
}

#if BOXES == 2 && !defined(HALF_WAY)
#define IS_EVERYWHERE is_everywhere
#else
#define IS_EVERYWHERE true
#endif
#if BOXES == 2
#define NOBODY_COULD_SEND (addresses[0] == 0 && addresses[1] == 0)
#define leave_boxes(found) leave_box(0, found) }; atomic { leave_box(1, found)
#ifdef STAYS_IN_BOX
#undef leave_boxes
#define leave_boxes(found) leave_box(0, found)
#endif
#else
#define NOBODY_COULD_SEND (addresses[0] == 0)
#define leave_boxes(found) leave_box(0, found)
#endif
#define leave_lists(found) leave_heap(); atomic { leave_boxes(found) }

#ifdef LOOK_APART
#define IS_EMPTY(b) is_empty
#else
#define IS_EMPTY(b) (len(ring[b]) == 0)
#endif

/* receive, next, receive_until, select: p is the owner of all mailboxes.  Leaves the result in
 * `what`. */
inline receive() {
  what = nothing;
  do
  :: b < BOXES && what == nothing -> receive_at_once(b); b++
  :: atomic { b == BOXES || what != nothing -> b = 0; break }
  od;
  if :: what == nothing -> wait_for_message() :: else fi
}
inline wait_for_message() {
  atomic {
    begin_to_wait();
    if :: timely -> enter(HEAP); timed[p] = true :: else fi
  };
#ifdef COUNT_FIRST
  nobody_sends = NOBODY_COULD_SEND;
#endif
  do
  :: b < BOXES && what == nothing ->
#ifdef LOOK_APART
     is_empty = (len(ring[b]) == 0);
#endif
     atomic {
       enter(b);
       if
       :: IS_EMPTY(b) -> receiver[b] = p; b++
       :: else ->
          READ_TOKEN(p)
          take(p);
          if :: ok -> go_on(); what = message; ok = false; pop(b) :: else -> what = woken fi
       fi
     };
     if :: holding -> refill(b) :: else fi
  :: atomic { b == BOXES || what != nothing -> b = 0; break }
  od;
#if BOXES == 2
  if :: what == nothing -> is_everywhere = true :: else fi;
#endif
  /* Only now that it can be found: the last address may have been dropped before. */
#ifdef COUNT_FIRST
  if :: what == nothing && nobody_sends -> what = no_senders :: else fi;
#else
  if :: what == nothing && NOBODY_COULD_SEND -> what = no_senders :: else fi;
#endif
  if
  :: what == no_senders ->
     READ_TOKEN(p)
     atomic { take(p); if :: ok -> ok = false; go_on() :: else -> what = woken fi }
  :: else
  fi;
  if
  :: what == message || what == no_senders -> leave_lists(NONE)
  :: else ->
     if
     :: what == woken -> leave_lists(NONE); what = nothing;  /* before it sleeps, or after */
        atomic { fall_asleep() };
        be_woken()
     :: true ->
        atomic { fall_asleep(); what = nothing };
        be_woken();
        leave_lists(found_on[p])
     fi
  fi;
  atomic {
    if :: what == nothing -> what = got[p] :: else fi;
    is_everywhere = false;
    let_frame_go()
  }
}

inline push(b) { ring[b]!kept[p]; kept[p] = NONE; what = accepted; unlock(b) }
#ifdef FULL_APART
#define KEEP_LOCK(b) unlock(b)
#else
#define KEEP_LOCK(b) hold(b)
#endif
/* Into the ring, and unlocks.  If that is full, or others wait, the lock is kept, and `what` is
 * `nothing`. */
inline push_if_room(b) {
  if
  :: len(ring[b]) < CAPACITY && len(senders[b]) == 0 -> push(b)
  :: else -> KEEP_LOCK(b); what = nothing
  fi
}
/* Waits for room; the lock is held.  A receiver that takes a message meanwhile needs no lock: hence
 * the second look (MAILBOX-9). */
inline wait_for_room(b) {
#ifdef FULL_APART
  atomic { enter(b); hold(b) };
#endif
  atomic { begin_to_wait(); senders[b]!p };
#ifdef NO_SECOND_LOOK
  atomic { unlock(b) };
#else
  atomic {
    if
    :: len(ring[b]) < CAPACITY && len(senders[b]) == 1 /* none is before it */ ->
       senders[b]?eval(p);
       READ_TOKEN(p)
       take(p); assert(ok /* no process takes it without the lock */); ok = false; go_on();
       let_frame_go();
       push(b)
    :: else -> unlock(b)
    fi
  };
#endif
  if
  :: what == nothing ->
     atomic { fall_asleep() };
     atomic { be_woken(); leave_list(senders[b], b, found_on[p]); what = got[p]; let_frame_go() }
  :: else
  fi
}
/* address::send.  A message that is not sent is destroyed with the operation. */
inline send(b) {
#ifdef CLOSED_APART
  what = (closed[b] -> refused : nothing);
#endif
  atomic {
    enter(b);
#ifndef CLOSED_APART
    what = (closed[b] -> refused : nothing);
#endif
    if
    :: what == refused
    :: what != refused && receiver[b] != NONE -> x = receiver[b]; hold(b); point_at(x)
    :: what != refused && receiver[b] == NONE -> push_if_room(b)
    fi
  };
  if
  :: x != NONE ->
     READ_TOKEN(x)
     atomic {
       take_and_answer(x, b, message);
       if
       :: ok ->
          receiver[b] = NONE;
          kept[x] = kept[p]; kept[p] = NONE; what = accepted;
          UNLOCK_TO_PUT(b)
       :: else -> x = NONE; push_if_room(b)
       fi
     };
     PUT_TAKEN(b, x)
  :: else
  fi;
  if :: what == nothing -> wait_for_room(b) :: else fi
}

/* ~address */
inline drop(b) {
  atomic { addresses[b]--; ok = (addresses[b] == 0) };
  if
  :: ok ->
     atomic {
       ok = false; enter(b); x = receiver[b];
       if :: x != NONE -> hold(b); point_at(x) :: else fi
     };
     if
     :: holding ->
#ifdef NESTED
        atomic { enter(1 - b); what = (addresses[1 - b] == 0 -> no_senders : nothing) };
#else
        what = (NOBODY_COULD_SEND && IS_EVERYWHERE -> no_senders : nothing);
#endif
        READ_TOKEN(x)
        atomic {
          if
          :: what == no_senders -> take_and_answer(x, b, no_senders)
          :: else -> point_no_more(x); ok = false
          fi;
          if :: ok -> receiver[b] = NONE :: else -> x = NONE fi;
          UNLOCK_TO_PUT(b)
        };
        PUT_TAKEN(b, x)
     :: else
     fi
  :: else
  fi
}

/* Takes all processes that wait in b for room, and notes them in `to_put`. */
inline take_senders(b, what_they_get) {
  do
  :: atomic { len(senders[b]) != 0 -> senders[b]?x; point_at(x) };
     READ_TOKEN(x)
     atomic { take_and_answer(x, b, what_they_get); note_taken() }
  :: atomic { len(senders[b]) == 0 -> unlock(b); break }
  od
}
inline note_taken() {
  if :: ok -> to_put = to_put | (1 << x); ok = false :: else fi;
  x = NONE
}
inline put_all() {
  do
  :: to_put & 1 -> put(0); to_put = to_put - 1
  :: to_put & 2 -> put(1); to_put = to_put - 2
  :: to_put & 4 -> put(2); to_put = to_put - 4
  :: !to_put -> break
  od
}

/* ~inbox */
inline close(b) {
  atomic {
    enter(b);
    closed[b] = true;
    if :: len(senders[b]) != 0 -> hold(b) :: else fi
  };
  if :: holding -> take_senders(b, refused); put_all() :: else fi;
  atomic {  /* without the lock: no message comes any more */
    do
    :: nempty(ring[b]) -> ring[b]?kept[p]; is_destroyed(kept[p])
    :: empty(ring[b]) -> break
    od;
    kept[p] = NONE
  }
}

/* ---- a gate */

/* p waits unless the gate has been released since `seen`. */
inline wait_at_gate() {
  atomic {
    begin_to_wait();
    if :: timely -> enter(HEAP); timed[p] = true :: else fi
  };
#ifdef EPOCH_FIRST
  atomic { enter(GATE); hold(GATE); what = (epoch == seen -> nothing : woken) };
  atomic { if :: what == nothing -> gate_waiter!p :: else fi; unlock(GATE) };
#else
  atomic { enter(GATE); hold(GATE); gate_waiter!p };  /* release() sees that without the lock */
  atomic {
    what = (epoch == seen -> nothing : woken);
    if :: what == woken -> gate_waiter??eval(p) :: else fi;
    unlock(GATE)
  };
#endif
  if
  :: what == woken ->
     READ_TOKEN(p)
     atomic { take(p); if :: ok -> ok = false; go_on() :: else -> what = nothing fi };
     if
     :: what == woken -> leave_heap()
     :: what == nothing -> leave_heap(); atomic { fall_asleep() }; be_woken()
     :: what == nothing -> atomic { fall_asleep() }; be_woken(); leave_heap()
     fi
  :: else ->
#ifdef BACK_TO_GATE
     if :: !token[p] -> atomic { leave_list(gate_waiter, GATE, NONE) } :: else fi;
#endif
     atomic { fall_asleep() };
     be_woken();
     leave_heap();
     atomic { leave_list(gate_waiter, GATE, found_on[p]) }
  fi;
  atomic {
    if :: what == nothing -> what = got[p] :: else fi;
    let_frame_go()
  }
}

/* gate::release */
inline release() {
  epoch++;
  if
  :: len(gate_waiter) == 0
  :: else ->
     atomic { enter(GATE); hold(GATE) };
     do
     :: atomic { !ok && len(gate_waiter) != 0 -> gate_waiter?x; point_at(x) };
        READ_TOKEN(x)
        atomic { take_and_answer(x, GATE, woken) };
        if :: ok -> put(x) :: else fi
     :: atomic { ok || len(gate_waiter) == 0 -> ok = false; x = NONE; unlock(GATE); break }
     od
  fi
}

/* ---- the processes */

inline ends() {
  atomic {
    assert(!holding && kept[p] == NONE);
    state[p] = ended; gone++
  }
}

#if SCENARIO != GATED
/* It has the inbox of every mailbox. */
proctype owner(byte p) {
  byte x = NONE, b, waits, to_put;
  bool ok, holding, timely;
#ifdef LOOKS_FIRST
  bool sees_senders;
#endif
#ifdef LOOK_APART
  bool is_empty;
#elif defined(COUNT_FIRST)
  bool nobody_sends;
#endif
  mtype what = nothing;
  do
  :: atomic { waits < WAITS -> waits++; if :: true :: TIME -> timely = true fi };
     receive();
     atomic {
       timely = false;
       if
       :: cancelling -> /* it finds the cancellation, whatever it got */
          if :: kept[p] != NONE -> is_destroyed(kept[p]); kept[p] = NONE :: else fi;
          break
       :: !cancelling && what == message -> is_received(kept[p]); kept[p] = NONE
       :: !cancelling && what == no_senders ->
          assert(len(ring[0]) == 0 && len(ring[1]) == 0 /* no_senders, and there is mail */);
          assert(NOBODY_COULD_SEND);
          break
       :: !cancelling && what == expired
       fi
     }
  :: true -> break  /* its inboxes are destroyed, at any moment */
  od;
  close(0);
#if BOXES == 2
  close(1);
#endif
  ends()
}

proctype sender(byte p; byte b; byte count) {
  byte x = NONE, sent;
  bool ok, holding;
  mtype what = nothing;
  do
  :: atomic { sent < count -> kept[p] = first_of(p) + sent; sent++; begun++ };
     send(b);
     atomic {
       assert((kept[p] == NONE) == (what == accepted));
       if
       :: what == accepted
       :: else -> is_destroyed(kept[p]); kept[p] = NONE; break
       fi
     }
  :: sent == count -> break
  od;
  drop(b);
  ends()
}

#else
proctype locker(byte p; bool has_it) {
  byte x = NONE, seen;
  bool ok, holding, timely;
  mtype what = nothing;
  if :: true :: TIME -> timely = true fi;
  do
  :: has_it || what == expired || what == cancelled -> break
  :: else ->
     seen = epoch;
     atomic { has_it = is_free; is_free = false };
     if
     :: has_it
     :: else ->
        wait_at_gate();
        if :: cancelling -> what = cancelled :: else fi
     fi
  od;
  if
  :: has_it -> atomic { assert(!is_free); is_free = true }; release()
  :: else
  fi;
  ends()
}

#endif

#ifdef OFF_FIRST
#define OFF_TOO_EARLY(x) timed[x] = false
#else
#define OFF_TOO_EARLY(x) skip
#endif

#if TIME
/* Any timer may be due. */
proctype clock() {
  byte x = NONE;
  bool ok, holding;
end:
  do
  :: atomic {
       if :: timed[0] -> x = 0 :: timed[1] -> x = 1 fi;
       enter(HEAP);
       if
       :: timed[x] -> hold(HEAP); point_at(x); OFF_TOO_EARLY(x)
       :: else -> x = NONE
       fi
     };
     if
     :: holding ->
        READ_TOKEN(x)
        atomic {
          take_and_answer(x, HEAP, expired);
          timed[x] = false;
          UNLOCK_TO_PUT(HEAP);
          if :: ok :: else -> x = NONE fi
        };
        PUT_TAKEN(HEAP, x)
     :: else
     fi
  od
}

#endif

#if CANCEL
/* Cancels all, at any moment or never.  Waits that begin meanwhile are found when no process
 * runs. */
proctype canceller() {
  byte x = NONE, b, to_put;
  bool ok, holding;
  if
  :: true -> goto end
  :: cancelling = true
  fi;
again:
  atomic { enter(HEAP); hold(HEAP) };
  do
  :: atomic {
       if :: timed[0] -> x = 0 :: !timed[0] && timed[1] -> x = 1 fi;
       point_at(x); OFF_TOO_EARLY(x)
     };
     READ_TOKEN(x)
     atomic { take_and_answer(x, HEAP, cancelled); timed[x] = false; note_taken() }
  :: atomic { !timed[0] && !timed[1] -> unlock(HEAP); break }
  od;
  put_all();
#if SCENARIO != GATED
  do
  :: b < BOXES ->
     atomic {
       enter(b); hold(b); x = receiver[b];
       if :: x != NONE -> receiver[b] = NONE; point_at(x) :: else fi
     };
     if
     :: x != NONE ->
        READ_TOKEN(x)
        atomic { take_and_answer(x, b, cancelled); note_taken() }
     :: else
     fi;
     take_senders(b, cancelled);
     put_all();
     b++
  :: b == BOXES -> b = 0; break
  od;
#else
  atomic { enter(GATE); hold(GATE) };
  do
  :: atomic { len(gate_waiter) != 0 -> gate_waiter?x; point_at(x) };
     READ_TOKEN(x)
     atomic { take_and_answer(x, GATE, cancelled) };
     if :: ok -> put(x) :: else fi
  :: atomic { len(gate_waiter) == 0 -> ok = false; x = NONE; unlock(GATE); break }
  od;
#endif
end:
#ifdef WALKS_ONCE
  false;
#endif
  cancelling && gone < PROCESSES && ASLEEP(0) && ASLEEP(1) && ASLEEP(2) -> goto again
}

#endif

init {
  atomic {
#if SCENARIO == GATED
    run locker(0, false);
    run locker(1, false);
    run locker(2, true);
#elif SCENARIO == SELECTING
    addresses[0] = 1; addresses[1] = 1;
    run owner(0);
    run sender(1, 0, 2);
    run sender(2, 1, 1);
#else
    addresses[0] = 2;
    run owner(0);
    run sender(1, 0, 2);
    run sender(2, 0, 1);
#endif
#if TIME
    run clock();
#endif
#if CANCEL
    run canceller()
#endif
  };
  gone == PROCESSES;
  assert(begun == 0 /* a message is lost */)
}

#ifdef LIVE
ltl live { <> (gone == PROCESSES) }
#endif
