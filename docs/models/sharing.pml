// SPDX-License-Identifier: MIT
/* The backend `sharing` with the parts of the scheduler around it: workers, idle threads, external
 * events, mail and hand-over, the end and the report of a deadlock.
 *
 * -DSCENARIO=... chooses the operations of the processes.  Each of -DD1 to -DD9, and of some more
 * flags, builds in one mistake.  README.md lists both.
 *
 * Verified: the assertions; that every end state is one in which all workers have left, and the
 * thread outside has finished; with -DLIVE also `live`, under weak fairness.
 */
#define SPAWNING   1  /* 0 spawns 1 and 2; each yields once */
#define BUSY       2  /* 0 spawns 1 and keeps its worker until 1 has run; 2 yields once */
#define MAIL       3  /* 1 and 2 send to 0, which receives twice */
#define OUTSIDE    4  /* 0 waits for two external events; 1 yields once */
#define STUCK      5  /* 0 and 1 wait for an event each, then 1 for absent mail, as 2 does */
#define CANCELLED  6  /* 0 and 1 wait for an external event each; 2 cancels these waits */
#define RELAY      7  /* 0 waits for mail, which 1 sends when an external event is opened */
#define BATCH      8  /* four in one queue; the first keeps its worker until the second has run */
#define VISITS     9  /* 0 yields, 1 keeps its worker, until 2, which is behind 1, has run */
#define PING_PONG 10  /* one worker; 0 and 1 send to each other for ever, 2 yields for ever */

#if SCENARIO == PING_PONG
#define THREADS 1
#else
#define THREADS 2
#endif
#if SCENARIO == BATCH
#define PROCESSES 4
#else
#define PROCESSES 3
#endif
#define GATES 2
#define HOPS 2         /* hand-overs in a row; in the code 64 */
#define VISIT_EVERY 2  /* takes from one visit to the next; in the code 256 */

#include "thread_queue.pml"

/* The idle list. */
bool list_locked;      /* the mutex that guards the next three */
bool listed[THREADS];
byte idle_count;       /* how many are listed; also read without the mutex */
byte decider = NONE;   /* the last to announce, if all are idle; NONE once one is taken off */
bool over;             /* decided once */
bool notified[THREADS]; /* a worker's monitor: mutex, condition and flag, as one */

/* The outside. */
#define UNOPENED NONE
#define OPENED   14
byte word[GATES] = UNOPENED;  /* external_event: unopened, the waiting process, or opened */
bool outside_locked;   /* the mutex of the list of awaited events */
byte due;              /* processes at an event, or on their way from one to a queue */
bool cancelling;

/* The number of messages in each process's mailbox. */
byte mail[PROCESSES];

/* Ghosts: state that is not in the code, for the assertions. */
byte line[PROCESSES];  /* of its script */
bool born[PROCESSES];
bool ran[PROCESSES];
bool ended[PROCESSES];
bool executing[PROCESSES];  /* until the last access of the thread that suspends it */
byte reports;          /* of deadlocks */
byte left;             /* workers that have left; when all have, the scheduler is destroyed */

/* If others can see only one store of a section under a mutex, that store is the step. */
inline lock(m)   { atomic { !m -> m = true } }
inline unlock(m) { m = false }

/* ---- the idle list ---- */

inline announce() {
  atomic {
    !list_locked ->
    if
#ifdef D7
    :: true -> listed[t] = true; idle_count++  /* once more, though it may be listed */
#else
    :: !listed[t] -> listed[t] = true; idle_count++
#endif
    :: else
    fi;
    ok = (idle_count == THREADS);
    decider = (ok -> t : NONE);
    answer = locked; again = false
  }
}
inline take_off(x) {
  if
  :: listed[x] -> listed[x] = false; idle_count--; decider = NONE
  :: else
  fi
}
inline take_myself_off() { atomic { !list_locked -> take_off(t) } }

/* sharing::wake_one, after something was published */
inline wake_one(published_in) {
  if
  :: idle_count > 0 ->
     atomic {
       !list_locked ->
       k = 0;
       do
       :: k < THREADS && !listed[k] -> k++  /* the choice matters only for speed */
       :: else -> break
       od;
       if
       :: k < THREADS -> take_off(k)
       :: else -> k = NONE
       fi
     };
     if
     :: k == NONE
#ifdef D6
     :: k != NONE && head[published_in] == CLAIMED  /* the queue is locked: not woken */
#endif
     :: else -> notified[k] = true
     fi;
     k = 0
  :: else
  fi
}

/* ---- put: publish, then look for an idle thread ---- */

/* By a worker: into its own queue, again while that is locked. */
inline put(x) {
#ifdef D8B
  wake_one(t);
#endif
  claim(t);
  d_step { is_put(x); enqueue_claimed(t, x) };
#ifndef D8B
  wake_one(t)
#endif
}

/* From outside: into the first queue that is not locked, beginning anywhere; then wake_one. */
inline publish_from_outside(x) {
  if :: q = 0 :: q = THREADS - 1 fi;
  do
  :: try_claim_even_empty(q, answer);
     if
     :: answer == taken -> break
     :: else -> q = (q + 1) % THREADS
     fi
  od;
  atomic { is_put(x); enqueue_claimed(q, x) }
}

/* ---- the outside ---- */

/* The scheduler exists while an event is due, and until every worker has left. */
inline still_there() { assert(left < THREADS /* the scheduler is destroyed, and is touched */) }

/* external_event::open.  For a worker that asks dry(), the put and the end of being due are one
 * step, hence one section of the mutex; and nothing is touched after it. */
inline open(g) {
  d_step { x = word[g]; word[g] = OPENED };
  if
  :: x == UNOPENED || x == OPENED -> x = NONE
  :: else ->
     lock(outside_locked);
#ifdef DUE_APART
     unlock(outside_locked);
#endif
     change(x, sleeping, queued, ok);
     d_step { still_there(); assert(ok /* a process at an event sleeps there */); ok = false };
#ifdef DUE_FIRST
     due--;
     unlock(outside_locked);
#endif
     publish_from_outside(x);
#ifdef WAKE_LATE
     due--;
     unlock(outside_locked);
     still_there();
     wake_one(q);
#else
     wake_one(q);
#ifdef DUE_APART
     lock(outside_locked);
#endif
#ifndef DUE_FIRST
     d_step { still_there(); due-- };
     unlock(outside_locked);
#endif
#endif
     d_step { x = NONE; q = 0 }
  fi
}

proctype outside() {
  byte x = NONE, q, h, k, n;
  bool ok;
  mtype answer;
  open(0);
  open(1)
}

/* close (wait_room.hpp): the thread that wins the word has the process. */
inline cancel_all() {
  lock(outside_locked);
  cancelling = true;
  q = 0;
  do
  :: q < GATES ->
     d_step {
       other = word[q];
       if
       :: other == OPENED || other == UNOPENED -> other = NONE
       :: else -> word[q] = UNOPENED
       fi
     };
     if
     :: other != NONE ->
        change(other, sleeping, queued, ok);
        d_step { assert(ok); ok = false };
        put(other);
        due--
     :: else
     fi;
     q++
  :: else -> break
  od;
  atomic { q = 0; other = NONE; unlock(outside_locked) }
}

/* ---- the end ---- */

/* sharing decides that the run is over; a process that has not ended then is in a deadlock. */
inline decide_over() {
  assert(!over);
  over = true;
  assert(due == 0 /* over, and an event is due */);
  k = 0;
  do
  :: k < PROCESSES ->
     assert(!ready[k] && !executing[k] /* over, and a process is ready or runs */);
     if
     :: born[k] && !ended[k] ->
        assert(state[k] == sleeping && mail[k] == 0 /* over, and a process need not sleep */);
        n = 1
     :: else
     fi;
     k++
  :: else -> break
  od;
  reports = reports + n;
  k = 0; n = 0;
  do
  :: k < THREADS -> notified[k] = true; k++
  :: else -> break
  od;
  k = 0
}

/* schedule() has joined every worker. */
inline check_end() {
#if SCENARIO == STUCK
  assert(reports == 1 /* a deadlock is reported once */);
  assert(ended[0] && !ended[1] && !ended[2])
#else
  assert(reports == 0 /* a deadlock is reported where there is none */);
  k = 0;
  do
  :: k < PROCESSES -> assert(ended[k] /* a process is lost */); k++
  :: else -> break
  od;
  k = 0
#endif
}

/* The scheduler's quiescence test: no external event is due. */
inline dry(yes) { atomic { !outside_locked -> yes = (due == 0) } }

/* ---- the operations of the processes ---- */

mtype = { ends, yields, spawns, sends, receives, waits, cancels };

/* The next operation of p, and its target: a process or an event. */
inline script() {
  d_step {
    what = ends;
    if
#if SCENARIO == SPAWNING
    :: p == 0 && line[p] == 0 -> what = spawns; whom = 1
    :: p == 0 && line[p] == 1 -> what = spawns; whom = 2
    :: p == 0 && line[p] == 2 -> what = yields
    :: p != 0 && line[p] == 0 -> what = yields
#elif SCENARIO == BUSY
    :: p == 0 && line[p] == 0 -> what = spawns; whom = 1
    :: p == 2 && line[p] == 0 -> what = yields
#elif SCENARIO == MAIL
    :: p == 0 && line[p] < 2  -> what = receives
    :: p != 0 && line[p] == 0 -> what = sends; whom = 0
#elif SCENARIO == OUTSIDE
    :: p == 0 && line[p] < 2  -> what = waits; whom = line[p]
    :: p == 1 && line[p] == 0 -> what = yields
#elif SCENARIO == STUCK
    :: p == 2 && line[p] == 0 -> what = receives
    :: p != 2 && line[p] == 0 -> what = waits; whom = p
    :: p == 1 && line[p] == 1 -> what = receives
#elif SCENARIO == CANCELLED
    :: p == 2 && line[p] == 0 -> what = cancels
    :: p != 2 && line[p] == 0 -> what = waits; whom = p
#elif SCENARIO == RELAY
    :: p == 0 && line[p] == 0 -> what = receives
    :: p == 1 && line[p] == 0 -> what = waits; whom = 0
    :: p == 1 && line[p] == 1 -> what = sends; whom = 0
#elif SCENARIO == VISITS
    :: p == 0 && !ran[2]      -> what = yields
#elif SCENARIO == PING_PONG
    :: p == 2                 -> what = yields
    :: p != 2 && line[p] % 2 == p -> what = sends; whom = 1 - p
    :: p != 2 && line[p] % 2 != p -> what = receives
#endif
    :: else
    fi;
#if SCENARIO == PING_PONG
    line[p] = 1 - line[p]
#elif SCENARIO != VISITS
    line[p]++
#endif
  };
  /* Keeps its worker: */
#if SCENARIO == BUSY
  if :: p == 0 && what == ends -> ran[1] :: else fi
#elif SCENARIO == BATCH
  if :: p == 0 -> ran[1] :: else fi
#elif SCENARIO == VISITS
  if :: p == 1 -> ran[2] :: else fi
#endif
}

/* ---- a worker ---- */

/* Every so often it looks at another queue first; except where that matters, at any take. */
inline count_takes() {
#ifdef NO_VISITS
  visits = false
#elif SCENARIO == VISITS
  d_step { takes = (takes + 1) % VISIT_EVERY; visits = (takes == 0) }
#elif THREADS > 1
  if :: visits = false :: visits = true fi
#else
  skip
#endif
}

/* half the difference, at least 1; here at most 2 */
#define HALF(other) (length[other] > length[t] + 3 -> 2 : 1)

/* The first of another queue, to run it, and more in front of the own queue. */
inline share(from) {
  try_share(from, HALF(from), p, answer);
  if
  :: chain != NONE ->
     claim(t);
     prepend_claimed(t);
#ifndef QUIET_SHARE
     wake_one(t)
#endif
  :: else
  fi
#ifdef ROBBED
  ;
  if
  :: p != NONE ->
     state[p] = queued;
     claim(t);
     d_step { is_put(p); enqueue_claimed(t, p); p = NONE }
  :: else
  fi
#endif
}

inline is_suspended(x) { executing[x] = false }
#if SCENARIO == BUSY || SCENARIO == BATCH || SCENARIO == VISITS
inline see_run(x) { ran[x] = true }
#else
inline see_run(x) { skip }
#endif

proctype worker(byte t) {
  byte p = NONE, other = NONE, whom, q, h, k, n, hops;
  byte chain = NONE, chain_last = NONE, chain_length, room;
  bool ok, again, visits;
#if SCENARIO == VISITS
  byte takes;
#endif
  mtype answer = locked, what = ends;

find: true; /* sharing::take */
  d_step { hops = 0; what = ends };
  count_takes();
visit: true;
  if
  :: visits ->
     visits = false;
     share((t + 1) % THREADS);
     if :: p != NONE -> goto execute :: else fi
  :: else
  fi;
look: true;
  try_dequeue(t, p, answer);
  if
  :: p != NONE -> goto execute
  :: else -> again = (answer == locked)
  fi;
#ifdef D5
  if :: !again -> goto idle :: else fi;
#endif
  other = (t + 1) % THREADS;
  do
  :: other != t ->
     share(other);
     if
     :: p != NONE -> other = NONE; goto execute
     :: else -> d_step { again = again || answer != was_empty; other = (other + 1) % THREADS }
     fi
  :: else -> other = NONE; break
  od;
#ifdef D4
  goto look;
#endif
  if :: again -> goto look :: else fi;

idle: /* announce, then look again */
  announce();
  if
  :: ok -> /* all are idle: is an event due? */
#ifdef NESTED
     lock(list_locked);
     dry(ok);
#else
     dry(ok);  /* not under the list's mutex, which a put from outside takes under outside_locked */
     lock(list_locked);
#endif
#ifdef STALE_DRY
     ok = ok && idle_count == THREADS && !over;
#else
     ok = ok && decider == t;  /* all have been idle since */
#endif
     other = 0;
     do
     :: ok && other < THREADS -> ok = (head[other] == NONE); other++
     :: else -> break
     od;
     atomic { if :: ok -> decide_over() :: else fi; other = NONE; ok = false; unlock(list_locked) }
  :: else
  fi;
  if :: over -> goto leave :: else fi;
#ifdef D8
  if :: head[t] == NONE -> notified[t] -> notified[t] = false :: else fi;
#else
  ok = false;
  other = 0;
  do
  :: other < THREADS -> ok = ok || head[other] != NONE; other++
  :: else -> other = NONE; break
  od;
  if
  :: !ok -> notified[t] -> notified[t] = false
  :: else -> ok = false
  fi;
#endif
#ifndef D7
  take_myself_off();
#endif
  if :: over -> goto leave :: else -> goto find fi;

execute: true;
  d_step {
    assert(state[p] == running /* a process that runs is marked as running */);
    assert(!executing[p] /* no process runs on two workers */);
    assert(!ended[p]);
    executing[p] = true; see_run(p);
    answer = locked; again = false; what = ends
  };
step: true;
  script();
  if
  :: what == ends ->
     d_step { is_suspended(p); ended[p] = true; p = NONE };
     goto find

  :: what == yields ->
     d_step { change_own(p, running, queued); is_suspended(p); what = ends };
     hops = 0;
     count_takes();
     if
     :: visits -> put(p); p = NONE; goto visit
     :: else ->
        claim(t);
        q = h;
        exchange_claimed(t, p);
        if :: q != NONE -> wake_one(t) :: else fi;  /* it has left a process there */
        q = 0;
        goto execute
     fi

  :: what == spawns ->
     d_step { born[whom] = true; state[whom] = queued };
     put(whom);
     whom = 0;
     goto step

  :: what == receives ->
     if
     :: mail[p] == 0 ->
#ifdef PUBLISHED_EARLY
        change_own(p, running, sleeping);
#else
        change_own(p, running, yielding);
#endif
        if
        :: mail[p] == 0 ->
#ifdef PUBLISHED_EARLY
           d_step { line[p]--; is_suspended(p) };
#else
           d_step { line[p]--; is_suspended(p); change_own(p, yielding, sleeping) };
#endif
           p = NONE;
           goto find
#ifdef PUBLISHED_EARLY
        :: else ->
           change(p, sleeping, running, ok);
           if
           :: ok -> ok = false
           :: else -> d_step { line[p]--; is_suspended(p) }; p = NONE; goto find
           fi
#else
        :: else -> change_own(p, yielding, running)
#endif
        fi
     :: else
     fi;
     mail[p]--;
     goto step

  :: what == waits -> /* external_event, its wait */
     change_own(p, running, yielding);
     atomic {
       !outside_locked ->
       if
       :: !cancelling && word[whom] == UNOPENED -> word[whom] = p; due++; ok = true
       :: else
       fi;
       what = ends; whom = 0
     };
     if
     :: ok ->
        d_step { ok = false; is_suspended(p); change_own(p, yielding, sleeping) };
        p = NONE;
        goto find
     :: else -> change_own(p, yielding, running); goto step
     fi

  :: what == cancels -> cancel_all(); goto step

  :: what == sends ->
     mail[whom]++;
     if
#if THREADS > 1
     :: goto send_only
#endif
#ifndef D9
     :: hops == HOPS -> goto send_only
     :: hops < HOPS -> hops++
#else
     :: true
#endif
     fi;
     /* A hand-over: a receiver that waits for mail, or is in a queue, continues here, at once. */
     change(whom, sleeping, running, ok);
     if
     :: !ok ->
        q = owner[whom];
        if
        :: q != NONE -> try_dequeue_entry(q, whom, answer); ok = (answer == taken)
        :: else
        fi;
        q = 0
     :: else
     fi;
     if
     :: ok ->
        ok = false;
        d_step { change_own(p, running, queued); is_suspended(p) };
        put(p);
        d_step { p = whom; whom = 0 };
        goto execute
     :: else -> whom = 0; goto step
     fi;
send_only:
     change(whom, sleeping, queued, ok);
     if
     :: ok -> ok = false; put(whom)
     :: else
     fi;
     whom = 0;
     goto step
  fi;

leave: true;
  d_step { left++; if :: left == THREADS -> check_end() :: else fi }
}

/* ---- the beginning ---- */

inline starts(q, x) {
  born[x] = true; state[x] = queued;
  is_put(x);
  h = head[q]; link_last(q, x); head[q] = h
}

init {
  byte h;
  d_step {
#if SCENARIO == MAIL
    starts(0, 1); starts(0, 2); starts(0, 0);
#else
    starts(0, 0);
#endif
#if SCENARIO == BUSY
    starts(0, 2);
#elif SCENARIO == VISITS
    starts(1, 1); starts(1, 2);
#elif SCENARIO == PING_PONG
    starts(0, 2); starts(0, 1);
#elif SCENARIO != SPAWNING && SCENARIO != MAIL
    starts(0, 1); starts(0, 2);
#endif
#if SCENARIO == BATCH
    starts(0, 3);
#endif
    h = 0
  };
  atomic {
    run worker(0);
#if THREADS > 1
    run worker(1);
#endif
#if SCENARIO == OUTSIDE || SCENARIO == STUCK || SCENARIO == CANCELLED || SCENARIO == RELAY
    run outside()
#endif
  }
}

#ifdef LIVE
#if SCENARIO == PING_PONG
ltl live { [] <> executing[2] }
#else
ltl live { <> (left == THREADS) }
#endif
#endif
