// SPDX-License-Identifier: MIT
/* The backend `stealing`: which worker is told of work, and the flag of a process that is woken
 * while its thread still has it.  Workers, a thread outside, and stores of a worker that others do
 * not see yet.
 *
 * -DSCENARIO=... chooses the operations of the processes.  Each of some more flags builds in one
 * mistake.  README.md lists both.
 *
 * Verified: the assertions; that every end state is one in which all workers have left; with
 * -DLIVE also `live`, under weak fairness.
 *
 * A deque and the queue of yielded processes are one set here: the next process of the set is any
 * choice, and so is whether a worker looks elsewhere first.  A process that is put into the set is
 * in `mine` at once; it is in `shown` when it is published, and before that at any moment or not
 * yet.  With -DASYMMETRIC no worker publishes, and a worker that goes to sleep shows the processes
 * of all workers (STEAL-7 of deque/chase_lev.hpp).
 */
#define SPAWNING 1  /* 0 spawns 1 and 2; each yields once */
#define BUSY     2  /* 0 spawns 1 and keeps its worker until 1 has ended; 2 yields once */
#define WAITING  3  /* 0 waits at a gate that 1 opens; 2 yields once */
#define OUTSIDE  4  /* 0 yields once; 2 comes from outside and keeps its worker until 0 has ended */
#define BATCH    5  /* three in the global queue; 0 keeps its worker until 1 and 2 have ended */
#define RELAY    6  /* 0 waits at a gate that is opened from outside; then it keeps its worker until
                       1 has ended, which yields once */

#define THREADS 2
#define PROCESSES 3
#define NONE 15
#define BIT(x) (1 << (x))

mtype = { ready, running, flagged, blocked, complete };
mtype = { yields, spawns, waits, opens, ends };

byte mine[THREADS];   /* sets of processes */
byte shown[THREADS];
byte global;
mtype life[PROCESSES] = ready;

/* The idle list, under its mutex: each of its sections is one step, except the decision. */
bool list_locked;
bool listed[THREADS];
byte idle_count;
byte decider = NONE;  /* the last to announce, if all are idle; NONE once one is taken off */
bool over;
bool notified[THREADS];

/* A gate: the process that waits there, or that it is open. */
byte waiter = NONE;
bool is_open;

/* The outside. */
bool outside_locked;
byte due;

/* Ghosts. */
byte line[PROCESSES];
bool put_[PROCESSES];        /* put, and not yet taken (BACKEND-2) */
bool executing[PROCESSES];   /* until the last access of the thread that has it */
bool ended[PROCESSES];
byte alive;
byte gone;

inline is_put(x)   { assert(!put_[x] /* put twice */); put_[x] = true }
inline is_taken(x) { assert(put_[x] /* taken twice */); put_[x] = false }
inline pick(set, x) {
  if
  :: set & BIT(0) -> x = 0
  :: set & BIT(1) -> x = 1
  :: set & BIT(2) -> x = 2
  fi
}

/* wake_one: the look [2] comes after the publication */
inline wake_one() {
  if
  :: idle_count > 0 ->
     atomic {
       !list_locked ->
       if
       :: listed[0] -> k = 0; take_off(0)
       :: listed[1] -> k = 1; take_off(1)
       :: else -> k = NONE
       fi
     };
     if :: k != NONE -> notified[k] = true :: else fi;
     k = NONE
  :: else
  fi
}
inline take_off(x) {
  if
  :: listed[x] -> listed[x] = false; idle_count--; decider = NONE
  :: else
  fi
}

#if defined(ASYMMETRIC) && !defined(NO_FENCE)
#define BEFORE_LAST_LOOK d_step { shown[0] = mine[0]; shown[1] = mine[1] };
#else
#define BEFORE_LAST_LOOK  /* nothing */
#endif

/* Of the worker t: publish(), then the look for sleepers (WORKER-2). */
inline share_more() {
#if !defined(NOT_PUBLISHED) && !defined(ASYMMETRIC)
  shown[t] = mine[t];
#endif
  wake_one()
}
inline put(x) {
#ifdef LOOKS_FIRST
  wake_one();
  d_step { is_put(x); mine[t] = mine[t] | BIT(x) };
  shown[t] = mine[t]
#else
  d_step { is_put(x); mine[t] = mine[t] | BIT(x) };
  share_more()
#endif
}

/* stealing_state_word::wake, by the thread that has what x waits for: `ok` if it must put x. */
inline wake(x) {
  atomic {
#ifdef NO_FLAG
    life[x] = ready; ok = true
#else
    if
    :: life[x] == running -> life[x] = flagged; ok = false
    :: else -> assert(life[x] == blocked /* woken once */); life[x] = ready; ok = true
    fi
#endif
#ifdef PUT_BY_BOTH
    ; ok = true
#endif
  }
}
/* stealing_state_word::wait: `ok` if x was woken meanwhile, and must be put here. */
inline wait(x) {
  atomic {
    executing[x] = false;
#ifdef FLAG_UNSEEN
    life[x] = blocked; ok = false
#else
    if
    :: life[x] == running -> life[x] = blocked; ok = false
    :: else -> life[x] = ready; ok = true
    fi
#endif
  }
}

inline script() {
  d_step {
    what = ends; whom = NONE;
#if SCENARIO == SPAWNING
    if
    :: p == 0 && line[p] < 2 -> what = spawns; whom = line[p] + 1
    :: (p == 0 && line[p] == 2) || (p != 0 && line[p] == 0) -> what = yields
    :: else
    fi;
#elif SCENARIO == BUSY
    if
    :: p == 0 && line[p] == 0 -> what = spawns; whom = 1
    :: p == 2 && line[p] == 0 -> what = yields
    :: else
    fi;
#elif SCENARIO == WAITING
    if
    :: p == 0 && line[p] == 0 -> what = waits
    :: p == 1 && line[p] == 0 -> what = opens
    :: p == 2 && line[p] == 0 -> what = yields
    :: else
    fi;
#elif SCENARIO == OUTSIDE
    if :: p == 0 && line[p] == 0 -> what = yields :: else fi;
#elif SCENARIO == RELAY
    if
    :: p == 0 && line[p] == 0 -> what = waits
    :: p == 1 && line[p] == 0 -> what = yields
    :: else
    fi;
#endif
    line[p]++
  };
  if
#if SCENARIO == BUSY
  :: what == ends && p == 0 -> ended[1]
#elif SCENARIO == OUTSIDE
  :: what == ends && p == 2 -> ended[0]
#elif SCENARIO == BATCH
  :: what == ends && p == 0 -> ended[1] && ended[2]
#elif SCENARIO == RELAY
  :: what == ends && p == 0 -> ended[1]
#endif
  :: else
  fi
}

proctype worker(byte t) {
  byte p = NONE, k = NONE, v, whom = NONE;
  bool ok, by_turn;
  mtype what = ends;

find: true;
  if
  :: by_turn = true; goto elsewhere  /* find_oldest */
  :: true
  fi;
own: true;
  atomic {
    by_turn = false;
    if
    :: mine[t] != 0 ->
       pick(mine[t], p);
       is_taken(p);
       mine[t] = mine[t] & ~BIT(p);
#ifdef ASYMMETRIC
       shown[t] = shown[t] & ~BIT(p);
#else
       shown[t] = mine[t];
#endif
       goto execute
    :: else
    fi
  };
elsewhere: true;
  atomic { /* the global queue, under its lock: one and, unless by turn, perhaps another */
    if
    :: global != 0 ->
       pick(global, p);
       is_taken(p);
       global = global & ~BIT(p);
       if
       :: !by_turn && global != 0 -> pick(global, v); global = global & ~BIT(v);
          mine[t] = mine[t] | BIT(v); v = 0
       :: true
       fi
    :: else
    fi
  };
  if :: p != NONE -> goto found :: else fi;
  v = 1 - t;
  atomic {
    if
    :: shown[v] != 0 ->
       pick(shown[v], p);
       is_taken(p);
       mine[v] = mine[v] & ~BIT(p); shown[v] = shown[v] & ~BIT(p)
    :: else
    fi;
    v = 0
  };
  if :: p != NONE -> goto found :: else fi;
  if :: by_turn -> goto own :: else fi;

  /* idle: announce, which is a locked instruction, then look at everything */
#ifdef ANNOUNCES_LATE
  if :: mine[t] != 0 || shown[1 - t] != 0 -> goto find :: else fi;
  if :: global != 0 -> goto find :: else fi;
#endif
  atomic {
    !list_locked ->
    if :: over -> goto leave :: else fi;
    shown[t] = mine[t];
    listed[t] = true; idle_count++;
    ok = (idle_count == THREADS);
    decider = (ok -> t : NONE)
  };
  if
  :: ok -> /* the last one: is an event due? */
     atomic { !outside_locked -> ok = (due == 0) };
     atomic { !list_locked -> list_locked = true };
     ok = ok && decider == t;
     BEFORE_LAST_LOOK
     ok = ok && mine[t] == 0 && shown[1 - t] == 0;
     ok = ok && global == 0;
     atomic {
       if
       :: ok ->
          assert(!over && due == 0);
          over = true;
          take_off(0); take_off(1);
          notified[0] = true; notified[1] = true
       :: else
       fi;
       ok = false; list_locked = false
     }
  :: else
  fi;
  if :: over -> goto leave :: else fi;
#if !defined(ANNOUNCES_LATE) && !defined(NO_SECOND_LOOK)
  /* one after the other */
  BEFORE_LAST_LOOK
  if :: t == 0 -> ok = (mine[0] != 0) :: else -> ok = (shown[0] != 0) fi;
  if :: t == 1 -> ok = ok || mine[1] != 0 :: else -> ok = ok || shown[1] != 0 fi;
  ok = ok || global != 0;
#endif
  if
  :: !ok -> notified[t]
  :: else -> ok = false
  fi;
  atomic { !list_locked -> take_off(t); notified[t] = false };
  if :: over -> goto leave :: else -> goto find fi;

found: true;
  /* for the processes taken along, and for one that was put without telling and is not taken now */
#ifdef QUIET_LEFT
  if :: mine[t] != 0 && !by_turn -> share_more() :: else fi;
#elif defined(QUIET_BATCH)
  if :: mine[t] != 0 && by_turn -> share_more() :: else fi;
#else
  if :: mine[t] != 0 -> share_more() :: else fi;
#endif
  by_turn = false;

execute: true;
  d_step {
    assert(life[p] == ready /* a process that is put is ready */);
    assert(!executing[p] /* no process runs on two workers */);
    assert(!ended[p]);
    executing[p] = true; life[p] = running
  };
step: true;
  script();
  if
  :: what == ends ->
     d_step { executing[p] = false; ended[p] = true; life[p] = complete; alive--; p = NONE };
     goto find

  :: what == spawns ->
     put(whom);
     whom = NONE;
     goto step

  :: what == yields ->
     d_step { executing[p] = false; life[p] = ready };
     if
     :: mine[t] == 0 -> /* alone: tells no worker */
        d_step { is_put(p); mine[t] = mine[t] | BIT(p) }
     :: else -> put(p)
     fi;
     p = NONE;
     goto find

  :: what == waits ->
     atomic { ok = !is_open; if :: ok -> waiter = p :: else fi };
     if :: !ok -> goto step :: else fi;
     wait(p);
     if :: ok -> ok = false; put(p) :: else fi;
     p = NONE;
     goto find

  :: what == opens ->
     atomic { is_open = true; whom = waiter; waiter = NONE };
     if
     :: whom != NONE ->
        wake(whom);
        if :: ok -> ok = false; put(whom) :: else fi;
        whom = NONE
     :: else
     fi;
     goto step
  fi;

leave: true;
  d_step {
    gone++;
    assert(alive == 0 /* no process is left behind */)
  }
}

/* Others see the stores of a worker sooner or later. */
proctype memory() {
end:
  do
  :: atomic { shown[0] != mine[0] -> shown[0] = mine[0] }
  :: atomic { shown[1] != mine[1] -> shown[1] = mine[1] }
  od
}

#if SCENARIO == OUTSIDE || SCENARIO == RELAY
proctype outside() {
  byte k = NONE;
  bool ok;
  atomic { !outside_locked -> outside_locked = true };
#if SCENARIO == OUTSIDE
  d_step { is_put(2); global = global | BIT(2) };
  wake_one();
#else
  byte whom;
  atomic { is_open = true; whom = waiter; waiter = NONE };
  if
  :: whom != NONE ->
     wake(whom);
     if
     :: ok -> d_step { is_put(whom); global = global | BIT(whom) }; wake_one()
     :: else
     fi
  :: else
  fi;
#endif
  d_step { due--; outside_locked = false }
}
#endif

inline starts(set, x) { is_put(x); set = set | BIT(x) }

init {
  d_step {
#if SCENARIO == BATCH
    starts(global, 0); starts(global, 1); starts(global, 2);
    alive = 3;
#elif SCENARIO == OUTSIDE
    starts(mine[0], 0);
    alive = 2; due = 1;
#elif SCENARIO == RELAY
    starts(mine[0], 0); starts(mine[0], 1);
    alive = 2; due = 1;
#else
    starts(mine[0], 0);
    alive = 3;
#if SCENARIO == BUSY
    starts(mine[0], 2);
#elif SCENARIO == WAITING
    starts(mine[0], 1); starts(mine[0], 2);
#endif
#endif
    shown[0] = mine[0]
  };
  atomic {
    run worker(0);
    run worker(1);
    run memory();
#if SCENARIO == OUTSIDE || SCENARIO == RELAY
    run outside()
#endif
  }
}

#ifdef LIVE
ltl live { <> (gone == THREADS) }
#endif
