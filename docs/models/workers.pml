// SPDX-License-Identifier: MIT
/* Engines on several computers that share a store: durable/replicated_store.hpp over a log of
 * commands, durable/detail/replica.hpp, and the part of durable/detail/coordinator.hpp that claims,
 * runs and lets go of processes.
 *
 * The log is one total order.  It determines the state (REPLICA-1), so there is one state after
 * each entry, and a copy is a position in the log.  Each copy is behind the end of the log by any
 * number of entries, at any moment.
 *
 * A worker writes one command after the other, and a write enters the log at any later moment.  A
 * worker may crash at any moment: its drivers are gone, and its write enters the log later, or
 * never.  A worker that is frozen and then continues is one that takes no step for a while.  Time
 * is not modelled: a worker may at any moment judge that another one is dead, though it lives, a
 * bounded number of times.
 *
 * Every run is finite.  -DSCENARIO=... chooses the processes and the workers; each other flag
 * builds in one mistake: README.md.
 *
 * Verified: the assertions; that all processes end, in every run.
 */
#define RUNNING 1  /* a process of three steps; two workers */
#define SEVERAL 2  /* two processes of two steps */
#define MAIL    3  /* a process receives a message from outside, then runs a step */
#define SENDING 4  /* 0 sends to 1, which receives the message; each runs a step then */
#define THREE   5  /* a process of two steps; three workers, of which two may crash */
#define ERRORS  6  /* MAIL; the program of worker 0 sends, and a worker may give up a write */

#if SCENARIO == THREE
#define WORKERS 3
#else
#define WORKERS 2
#endif
#if SCENARIO == SEVERAL || SCENARIO == SENDING
#define PROCESSES 2
#else
#define PROCESSES 1
#endif
#ifndef STEPS
#if SCENARIO == RUNNING
#define STEPS 3
#else
#define STEPS 2
#endif
#endif

#if SCENARIO == MAIL
#define CLIENT 1  /* a program that sends, and is no worker */
#else
#define CLIENT 0
#endif
#if SCENARIO == MAIL || SCENARIO == ERRORS
#define RECEIVES(p, k) ((k) == 0)
#elif SCENARIO == SENDING
#define RECEIVES(p, k) ((p) == 1 && (k) == 0)
#else
#define RECEIVES(p, k) false
#endif
#if SCENARIO == SENDING
#define SENDS(p, k) ((p) == 0 && (k) == 0)
#else
#define SENDS(p, k) false
#endif

/* How often each of these happens at most, in a run. */
#ifndef GONE
#if SCENARIO == ERRORS
#define GONE 0
#else
#define GONE (WORKERS - 1)  /* workers that crash, or leave */
#endif
#endif
#ifndef MISJUDGED
#define MISJUDGED 1         /* a worker that lives is judged dead */
#endif
#ifndef LEAVES
#define LEAVES 1            /* a driver leaves, as its process has waited long */
#endif

#define WRITERS (WORKERS + CLIENT)
#define WINDOW  22          /* a copy is behind by less: asserted */
#define NONE    15
#define BIT(x)  (1 << (x))

mtype = { nothing, commit, send, claim, beat, disown, leave, expire };
mtype = { none, wanted, running, committing, waiting, leaving };
mtype = { ready, waits, ended };

/* ---- the log: log[0] is its last entry, log[1] the one before */

typedef log_entry {
  /* The state after the entry. */
  byte owned[WORKERS];      /* sets of processes */
  bool is_worker[WORKERS];
  byte free;                /* a set */
  byte length[PROCESSES];
  byte inbox[PROCESSES];    /* the number of messages */
  mtype status[PROCESSES];
  /* What its command has done. */
  byte writer;
  bool is_late;             /* its writer does not wait for it any more */
  bool accepted;            /* commit */
  byte keys;                /* claim: a set */
  byte told;                /* the set of processes that have a new message */
  byte loser;               /* expire: the worker that was dead, and the processes that it had */
  byte lost
}
log_entry log[WINDOW];
byte at[WORKERS];           /* the position of the worker's copy */

/* ---- the network: of each writer, the write that is under way, and one that is delayed
 *
 * Numbers of commands are not kept.  A write that enters a second time, or after a later one of
 * its writer, has no effect (REPLICA-2): it is left out, but for -DNO_NUMBERS. */

typedef command {
  mtype what;
  byte process;             /* commit, send; expire: the worker */
  byte first;               /* commit: the number of entries that the driver has seen */
  bool has_entry;
  mtype status;
  byte known;               /* commit: the messages that the driver knows; claim: the limit */
  byte keys;                /* disown: a set */
  bool unseen               /* expire: the worker has written after the entry that is named */
}
command writes[2 * WRITERS];
#define NEWEST(w)  (w)
#define DELAYED(w) (WRITERS + (w))

bool crashed[WORKERS];
bool absent[WORKERS];       /* the worker has no copy any more */
bool has_sent[PROCESSES];   /* that the process has been sent its message */

/* Ghosts, and what has happened so far. */
byte gone, misjudged, leaves, given_up;
bool is_copied;             /* a write enters the log twice */
byte done[PROCESSES];       /* the set of entries whose effect is in the store */
byte told_of[PROCESSES * STEPS] = NONE; /* the worker that was told that its entry is there */

hidden byte i, j, x, v, q;     /* of steps that are not interrupted */

#define clear_outcome(e) \
  log[e].writer = NONE; log[e].is_late = false; log[e].accepted = false; log[e].keys = 0; \
  log[e].told = 0; log[e].loser = NONE; log[e].lost = 0

inline copy_entry(to, from) {
  for (x : 0 .. WORKERS - 1) {
    log[to].owned[x] = log[from].owned[x];
    log[to].is_worker[x] = log[from].is_worker[x]
  }
  for (x : 0 .. PROCESSES - 1) {
    log[to].length[x] = log[from].length[x];
    log[to].inbox[x] = log[from].inbox[x];
    log[to].status[x] = log[from].status[x]
  }
  log[to].free = log[from].free;
  log[to].writer = log[from].writer; log[to].is_late = log[from].is_late;
  log[to].accepted = log[from].accepted; log[to].keys = log[from].keys;
  log[to].told = log[from].told;
  log[to].loser = log[from].loser; log[to].lost = log[from].lost
}

inline find_last() {  /* i: the position of the copy that is behind most */
  i = 0;
  for (v : 0 .. WORKERS - 1) { if :: at[v] > i -> i = at[v] :: else fi }
}

inline append_entry() {
  for (v : 0 .. WORKERS - 1) { if :: !absent[v] -> at[v]++ :: else fi }
  find_last();
  assert(i < WINDOW - 1);
  j = i;
  do :: j > 0 -> copy_entry(j, j - 1); j-- :: else -> break od;
  clear_outcome(0)
}

/* States that differ only in what all copies have passed are made equal. */
inline forget() {
  find_last();
  clear_outcome(i);
  j = i + 1;
  do
  :: log[j].status[0] != 0 -> copy_entry(j, WINDOW - 1); j++  /* the last is never used */
  :: else -> break
  od;
  j = 0
}

/* ---- the replica */

inline look_at(p) {
  x = 0;  /* whether it has a worker */
  for (v : 0 .. WORKERS - 1) {
    if
    :: log[0].status[p] == ended -> log[0].owned[v] = log[0].owned[v] & ~BIT(p)
    :: else -> x = x | (log[0].owned[v] & BIT(p))
    fi
  }
  log[0].free = log[0].free & ~BIT(p);
  if
  :: x == 0 && log[0].status[p] == ready -> log[0].free = log[0].free | BIT(p)
  :: else
  fi
}

inline deliver(p) {
  assert(!has_sent[p] /* a message is in the inbox once (STORE-4) */);
  has_sent[p] = true;
  log[0].inbox[p]++;
  log[0].told = log[0].told | BIT(p);
  if :: log[0].status[p] == waits -> log[0].status[p] = ready :: else fi;
  look_at(p)
}

inline remove_worker(w) {
  log[0].is_worker[w] = false;
#ifndef CLAIM_STAYS
  log[0].lost = log[0].owned[w];
  log[0].owned[w] = 0;
  for (j : 0 .. PROCESSES - 1) { look_at(j) }
#endif
}

#if defined(NO_OWNER) || defined(LEASE_WITHOUT_FENCE)
#define IS_FENCED_BY_OWNER(w, p) false
#else
#define IS_FENCED_BY_OWNER(w, p) (x != NONE && x != w)
#endif
#if defined(NO_FENCE)
#define IS_FENCED_BY_LENGTH(s) false
#elif defined(LEASE_WITHOUT_FENCE)
#define IS_FENCED_BY_LENGTH(s) (writes[s].has_entry && writes[s].first != log[0].length[q])
#else
#define IS_FENCED_BY_LENGTH(s) (writes[s].first != log[0].length[q])
#endif
#ifdef OVER_MAIL
#define KNOWS_ALL(s) true
#else
#define KNOWS_ALL(s) (log[0].inbox[q] <= writes[s].known)
#endif

inline carry_out_commit(w, s) {
  q = writes[s].process;
  x = NONE;
  for (v : 0 .. WORKERS - 1) {
    if :: log[0].owned[v] & BIT(q) -> x = v :: else fi
  }
  log[0].accepted = log[0].status[q] != ended && !IS_FENCED_BY_OWNER(w, q) &&
                    !IS_FENCED_BY_LENGTH(s);
  if
  :: log[0].accepted ->
     if
     :: writes[s].has_entry ->
        assert(!(done[q] & BIT(writes[s].first)) /* its effect is there once */);
        assert(writes[s].first == log[0].length[q] /* computed with all earlier entries seen */);
        j = q * STEPS + writes[s].first;
        assert(told_of[j] == NONE || told_of[j] == w /* nothing acknowledged is lost */);
        done[q] = done[q] | BIT(writes[s].first);
        log[0].length[q]++;
        if
        :: RECEIVES(q, writes[s].first) ->
           assert(log[0].inbox[q] > 0);
           log[0].inbox[q]--
        :: else
        fi;
        if :: SENDS(q, writes[s].first) -> deliver(1) :: else fi
     :: else
     fi;
     if
     :: writes[s].status == waits -> log[0].status[q] = (KNOWS_ALL(s) -> waits : ready)
     :: writes[s].status == ended -> log[0].status[q] = ended
     :: else
     fi;
     look_at(q)
  :: else
  fi
}

inline carry_out_claim(w, s) {
  for (j : 0 .. PROCESSES - 1) {
    if
    :: writes[s].known > 0 && (log[0].free & BIT(j)) ->
       writes[s].known--;
       for (v : 0 .. WORKERS - 1) {
         assert(!(log[0].owned[v] & BIT(j)) /* one worker at most (REPLICA-3) */)
       }
       log[0].owned[w] = log[0].owned[w] | BIT(j);
       log[0].keys = log[0].keys | BIT(j);
       look_at(j)
    :: else
    fi
  }
}

/* The worker that the command names is dead, if it has written nothing since (REPLICA-4). */
inline carry_out_expire(s) {
  q = writes[s].process;
  if
#ifdef EXPIRE_UNSEEN
  :: log[0].is_worker[q] ->
#else
  :: log[0].is_worker[q] && !writes[s].unseen ->
#endif
     assert(!writes[s].unseen /* no worker that has written since is dead */);
     log[0].loser = q;
     remove_worker(q)
  :: else
  fi
}

inline carry_out(w, s) {
  append_entry();
  log[0].writer = w;
  log[0].is_late = (s >= WRITERS);
  if
  :: w < WORKERS ->
     for (v : 0 .. 2 * WRITERS - 1) {
       if
       :: writes[v].what == expire && writes[v].process == w -> writes[v].unseen = true
       :: else
       fi
     }
     if
     :: writes[s].what == claim || writes[s].what == beat -> log[0].is_worker[w] = true
     :: else
     fi
  :: else
  fi;
  if
  :: writes[s].what == commit -> carry_out_commit(w, s)
  :: writes[s].what == send ->
     if :: SCENARIO != ERRORS || !has_sent[0] /* once_key */ -> deliver(0) :: else fi
  :: writes[s].what == claim -> carry_out_claim(w, s)
  :: writes[s].what == disown ->
     log[0].owned[w] = log[0].owned[w] & ~writes[s].keys;
#ifndef QUIET_DISOWN
     for (j : 0 .. PROCESSES - 1) { look_at(j) }
#endif
  :: writes[s].what == leave -> remove_worker(w); log[0].lost = 0
  :: writes[s].what == expire -> carry_out_expire(s)
  :: else
  fi
}

/* ---- the network */

inline clear_write(s) {
  writes[s].what = nothing; writes[s].process = 0; writes[s].first = 0; writes[s].has_entry = false;
  writes[s].status = nothing; writes[s].known = 0; writes[s].keys = 0;
  writes[s].unseen = false
}
inline copy_write(to, from) {
  writes[to].what = writes[from].what; writes[to].process = writes[from].process;
  writes[to].first = writes[from].first; writes[to].has_entry = writes[from].has_entry;
  writes[to].status = writes[from].status;
  writes[to].known = writes[from].known; writes[to].keys = writes[from].keys;
  writes[to].unseen = writes[from].unseen
}

inline enters(w) {
  atomic {
    writes[NEWEST(w)].what != nothing ->
#ifdef NO_NUMBERS
    if
    :: !is_copied && writes[DELAYED(w)].what == nothing ->
       d_step { is_copied = true; copy_write(DELAYED(w), NEWEST(w)) }
    :: true
    fi;
    d_step { carry_out(w, NEWEST(w)); clear_write(NEWEST(w)); forget() }
#else
    d_step { carry_out(w, NEWEST(w)); clear_write(NEWEST(w)); clear_write(DELAYED(w)); forget() }
#endif
  }
}
inline enters_late(w) {
  d_step {
    writes[DELAYED(w)].what != nothing ->
    carry_out(w, DELAYED(w)); clear_write(DELAYED(w)); forget()
  }
}

/* ---- workers */

typedef driver_state {
  mtype state;
  byte base;    /* the number of entries that it has seen */
  byte mail;    /* messages that it knows */
  bool is_lost  /* another worker may have the process: the driver leaves when it waits next */
}

inline forget_driver(p) {
  d[p].state = none; d[p].base = 0; d[p].mail = 0; d[p].is_lost = false
}

inline write(kind) { pending = true; writes[NEWEST(me)].what = kind }
inline forget_command() { pending = false; process = NONE; has_entry = false; disowned = 0 }

inline load(p) {
  if
  :: log[at[me]].status[p] == ready ->
     d[p].state = running;
     d[p].base = log[at[me]].length[p];
     d[p].mail = log[at[me]].inbox[p]
  :: else -> forget_driver(p)
  fi
}

inline write_part(p) {
  write(commit);
  process = p;
  has_entry = !RECEIVES(p, d[p].base) || d[p].mail > 0;
  writes[NEWEST(me)].process = p;
  writes[NEWEST(me)].first = d[p].base;
  writes[NEWEST(me)].has_entry = has_entry;
  writes[NEWEST(me)].known = (has_entry -> 0 : d[p].mail);
  writes[NEWEST(me)].status = (has_entry -> (d[p].base + 1 == STEPS -> ended : nothing) : waits);
  d[p].state = committing;
#ifdef ACK_BEFORE_APPEND
  if :: has_entry -> is_committed(p) :: else fi
#endif
}

inline is_committed(p) {
  told_of[p * STEPS + d[p].base] = me;
  d[p].mail = d[p].mail - (RECEIVES(p, d[p].base) -> 1 : 0);
  d[p].base++;
  if :: d[p].base == STEPS -> forget_driver(p) :: else -> d[p].state = running fi
}

inline leave_seat(p) { forget_driver(p); d[p].state = leaving }

inline take_outcome(p) {
  if
#ifdef LOADS_FIRST
  :: (log[i].keys & BIT(p)) && d[p].state == none -> d[p].state = running
#else
  :: (log[i].keys & BIT(p)) && d[p].state == none -> d[p].state = wanted
#endif
  :: else  /* a process that still has a driver is not begun */
  fi;
  if
  :: p == process && !log[i].accepted && d[p].state != none -> leave_seat(p)  /* fenced */
#ifndef ACK_BEFORE_APPEND
  :: p == process && log[i].accepted && has_entry -> is_committed(p)
#endif
  :: p == process && log[i].accepted && !has_entry ->
     d[p].state = (d[p].mail > 0 -> running : waiting)
  :: else
  fi;
  if :: disowned & BIT(p) -> forget_driver(p) :: else fi
}

#define MINE (log[i].writer == me)
#ifdef UNTOLD
#define IS_TOLD(p) ((log[i].told & BIT(p)) && MINE)
#else
#define IS_TOLD(p) ((log[i].told & BIT(p)) && (MINE || (log[i].owned[me] & BIT(p))))
#endif

inline take_changes(p) {
  if
  :: IS_TOLD(p) &&
     (d[p].state == running || d[p].state == committing || d[p].state == waiting) ->
     d[p].mail++;
     if :: d[p].state == waiting -> d[p].state = running :: else fi
  :: else
  fi;
#ifndef LOST_UNTOLD
  if
  :: log[i].loser == me && (log[i].lost & BIT(p)) && d[p].state != none && d[p].state != leaving ->
     d[p].is_lost = true
  :: else
  fi
#endif
}

/* Carries out one entry more in the copy, and does what follows from it. */
inline advance() {
  i = at[me] - 1;
  if
  :: MINE && pending && !log[i].is_late ->
     for (j : 0 .. PROCESSES - 1) { take_outcome(j) }
#if SCENARIO == ERRORS
     if :: is_sending -> sends = false; is_sending = false :: else fi;
#endif
     forget_command()
#ifdef LATE_UNTOLD
  :: MINE && log[i].is_late -> log[i].told = 0
#endif
  :: else
  fi;
  for (j : 0 .. PROCESSES - 1) { take_changes(j) }
  at[me] = i;
  forget()
}

inline write_disown() {
  for (j : 0 .. PROCESSES - 1) {
    if :: d[j].state == leaving -> disowned = disowned | BIT(j) :: else fi
  }
  write(disown);
  writes[NEWEST(me)].keys = disowned
}

inline write_claim(limit) {
  write(claim);
  writes[NEWEST(me)].known = limit;
#ifdef LOADS_FIRST
  for (j : 0 .. PROCESSES - 1) {
    if
    :: d[j].state == none ->
       d[j].base = log[at[me]].length[j];
       d[j].mail = log[at[me]].inbox[j]
    :: else
    fi
  };
  j = 0
#endif
}

inline write_expire(w) {
  if :: !crashed[w] -> misjudged++ :: else fi;
  write(expire);
  writes[NEWEST(me)].process = w;
  j = 0;
  do
  :: j < at[me] && log[j].writer != w -> j++
  :: else -> break
  od;
  writes[NEWEST(me)].unseen = (j < at[me])
}

inline go(has_crashed) {  /* the worker is gone, with its copy */
  crashed[me] = has_crashed;
  absent[me] = true;
  at[me] = 0;
  for (j : 0 .. PROCESSES - 1) { forget_driver(j) }
  forget_command();
  forget()
}

#if PROCESSES == 2
#define EACH(test) (test(0) && test(1))
#else
#define EACH(test) test(0)
#endif
#define HAS_ENDED(p) (log[at[me]].status[p] == ended)
#define HAS_NOT_LEFT(p) (d[p].state != leaving)
#define IS_IDLE (!pending && begins == 0)  /* one command after the other */

#define DRIVE(p) \
  :: d[p].state == wanted -> d_step { load(p) } \
  :: d[p].state == running && IS_IDLE -> d_step { write_part(p) } \
  :: d[p].state == waiting && d[p].is_lost -> d_step { leave_seat(p) } \
  :: d[p].state == waiting && leaves < LEAVES -> d_step { leaves++; leave_seat(p) }
#define JUDGE(w) \
  :: IS_IDLE && w != me && log[at[me]].is_worker[w] && (crashed[w] || misjudged < MISJUDGED) -> \
     d_step { write_expire(w) }

/* Nothing is known of the write: it enters later, or never. */
inline give_up() {
  atomic {
    given_up++;
    if
    :: true
    :: writes[NEWEST(me)].what != nothing && writes[DELAYED(me)].what == nothing ->
       d_step { copy_write(DELAYED(me), NEWEST(me)) }
    fi;
    d_step {
      clear_write(NEWEST(me));
      forget_command();
      for (j : 0 .. at[me]) { if :: log[j].writer == me -> log[j].is_late = true :: else fi }
      j = 0
    }
  }
}

proctype worker(byte me) {
  driver_state d[PROCESSES];
  bool pending;        /* it waits for the outcome of a command */
  byte process = NONE; /* of the pending command */
  bool has_entry;
  byte disowned;
  byte begins;         /* the number of commands before the engine begins again */
#if SCENARIO == ERRORS
  bool sends = (me == 0);
  bool is_sending;
#endif

  d_step { for (j : 0 .. PROCESSES - 1) { forget_driver(j) }; j = 0 };
  do
  :: at[me] > 0 -> d_step { advance() }
  DRIVE(0)
#if PROCESSES == 2
  DRIVE(1)
#endif
  :: IS_IDLE && EACH(HAS_ENDED) -> d_step { go(false) }; break
  :: IS_IDLE && !EACH(HAS_NOT_LEFT) -> d_step { write_disown() }
  :: IS_IDLE && EACH(HAS_NOT_LEFT) && log[at[me]].free != 0 -> d_step { write_claim(PROCESSES) }
#if PROCESSES == 2
  :: IS_IDLE && EACH(HAS_NOT_LEFT) && log[at[me]].free != 0 -> d_step { write_claim(1) }
#endif
  :: IS_IDLE && !log[at[me]].is_worker[me] -> d_step { write(beat) }  /* others say it is dead */
  JUDGE(0)
  JUDGE(1)
#if WORKERS == 3
  JUDGE(2)
#endif
  :: gone < GONE ->  /* it crashes: its write is lost with it, or not */
     atomic {
       gone++;
       if :: true :: writes[NEWEST(me)].what != nothing -> clear_write(NEWEST(me)) fi;
       d_step { go(true) };
       break
     }
  :: gone < GONE && IS_IDLE -> d_step { gone++; write(leave); go(false) }; break

#if SCENARIO == ERRORS
  /* A thread of the program sends, again and again until it has succeeded. */
  :: sends && !pending -> d_step { write(send); is_sending = true }
  :: is_sending && pending && given_up < 1 -> give_up(); is_sending = false
  /* The engine stops with an exception, cannot leave the store, and begins again. */
  :: !is_sending && pending && given_up < 1 ->
     d_step {
       for (j : 0 .. PROCESSES - 1) { forget_driver(j) }
#ifdef JOINS_AS_BEFORE
       begins = 1
#else
       begins = 2
#endif
     };
     give_up()
  :: begins == 2 && !pending -> d_step { write(leave); begins = 1 }
  :: begins == 1 && !pending -> d_step { write(beat); begins = 0 }
#endif
  od
}

proctype network() {
end:
  do
  :: enters(0)
  :: enters_late(0)
  :: enters(1)
  :: enters_late(1)
#if WRITERS == 3
  :: enters(2)
  :: enters_late(2)
#endif
  od
}

init {
  d_step {
    for (j : 0 .. PROCESSES - 1) { log[0].status[j] = ready }
    log[0].free = BIT(PROCESSES) - 1;
    clear_outcome(0);
    for (j : 0 .. 2 * WRITERS - 1) { clear_write(j) }
    for (j : 0 .. WORKERS - 1) { log[0].is_worker[j] = true }
#if CLIENT
    writes[NEWEST(WORKERS)].what = send
#endif
  };
  atomic {
    run worker(0);
    run worker(1);
#if WORKERS == 3
    run worker(2);
#endif
    run network()
  }
}
