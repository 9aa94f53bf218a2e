// SPDX-License-Identifier: MIT
/* The word of states, and the queue of one thread: sched/backends/detail/sharing_state.hpp and
 * sched/backends/detail/thread_queue.hpp, as inlines that queues.pml and sharing.pml include.
 *
 * Each step accesses one word that others read: a compare-and-swap is one step, a plain load
 * another.  Data that only the holder of a claim may touch (QUEUE-2) is written in one step with
 * the store that gives the queue back: no other thread can look in between.  A spin that reads one
 * word until it changes is written as waiting for the change; a spin that never ends is then an
 * invalid end state, which SPIN reports.
 *
 * A model that includes this defines THREADS and PROCESSES and, in each proctype that uses it, the
 * locals
 *   byte h       the head that the claim has replaced
 *   byte k, n    scratch; always 0 between two operations, so that states do not differ by them
 * and a worker, for the chain that it moves: byte chain, chain_last, chain_length, room
 */
#define NONE    15  /* no process, no thread, no queue */
#define CLAIMED 14  /* the sentinel (QUEUE-1) */

mtype = { sleeping, queued, running, yielding };
mtype = { locked, was_empty, taken, not_here };

byte head[THREADS] = NONE;
byte tail[THREADS] = NONE;
byte length[THREADS];
byte next_of[PROCESSES] = NONE;
byte previous_of[PROCESSES] = NONE;
byte owner[PROCESSES] = NONE;
mtype state[PROCESSES] = running;

/* Ghost: put, and not yet answered by a take or a claim (BACKEND-2). */
bool ready[PROCESSES];

/* sharing_state_word::move from running or yielding: by the process's own thread. */
inline change_own(x, from, to) {
  d_step { assert(state[x] == from); state[x] = to }
}

/* sharing_state_word::wake from sleeping; or move from queued, under the claim. */
inline change(x, from, to, ok) {
#ifdef D1
  /* The exit test the wrong way round, and no spin. */
  d_step { if :: state[x] == from -> ok = false :: else -> state[x] = to; ok = true fi }
#else
  atomic {
#ifndef NO_SPIN
    state[x] != yielding ->
#endif
    if :: state[x] == from -> state[x] = to; ok = true :: else -> ok = false fi
  }
#endif
}

/* A thread that is about to put x says so; each put has one answer. */
inline is_put(x)      { assert(!ready[x] /* put twice */); ready[x] = true }
inline is_answered(x) { assert(ready[x] /* a put is answered twice */); ready[x] = false }

#ifdef CHECK_QUEUES
/* QUEUE-1 to QUEUE-3, of a queue that is about to be given back. */
inline check_queue(q) {
  k = h; n = 0;
  do
  :: k != NONE ->
     assert(owner[k] == q /* QUEUE-3 */);
     assert(state[k] == queued /* QUEUE-4 */);
     assert(previous_of[k] == NONE || next_of[previous_of[k]] == k);
     assert(next_of[k] != NONE || tail[q] == k);
     n++; k = next_of[k]
  :: else -> break
  od;
  assert(n == length[q]);
  assert((h == NONE) == (tail[q] == NONE));
  k = 0; n = 0
}
#else
inline check_queue(q) { skip }
#endif

/* The one compare-and-swap of QUEUE-1. */
inline try_claim(q, answer) {
  d_step {
    if
    :: head[q] == CLAIMED -> answer = locked
    :: head[q] == NONE    -> answer = was_empty
    :: else -> h = head[q]; head[q] = CLAIMED; answer = taken
    fi
  }
}
inline try_claim_even_empty(q, answer) {
  d_step {
    if
    :: head[q] == CLAIMED -> answer = locked
    :: else -> h = head[q]; head[q] = CLAIMED; answer = taken
    fi
  }
}
inline claim(q) { /* again while it is locked */
  atomic { head[q] != CLAIMED -> h = head[q]; head[q] = CLAIMED }
}
inline give_back(q) { check_queue(q); head[q] = h; h = 0 }

/* Under the claim of q. */
inline link_last(q, x) {
  owner[x] = q;
  next_of[x] = NONE; previous_of[x] = tail[q];
  if :: h == NONE -> h = x :: else -> next_of[tail[q]] = x fi;
  tail[q] = x; length[q]++
}
inline unlink(q, x) {
  k = previous_of[x]; n = next_of[x];
  if :: h == x -> h = n :: else -> next_of[k] = n fi;
  if :: n == NONE -> tail[q] = k :: else -> previous_of[n] = k fi;
  owner[x] = NONE; next_of[x] = NONE; previous_of[x] = NONE; length[q]--;
  k = 0; n = 0
}

/* try_enqueue, once the queue is claimed. */
inline enqueue_claimed(q, x) {
  d_step {
    assert(state[x] == queued /* an enqueued process is ready */);
    assert(owner[x] == NONE /* QUEUE-3 */);
    link_last(q, x);
    give_back(q)
  }
}

/* try_dequeue: the process that it takes is running before the queue is given back (QUEUE-4). */
inline try_dequeue(q, x, answer) {
  try_claim(q, answer);
  if
  :: answer == taken ->
     change(h, queued, running, ok);
#ifndef D1
     assert(ok /* a process in a queue is ready */);
#endif
     d_step { x = h; is_answered(x); unlink(q, x); ok = false; give_back(q) }
  :: else
  fi
}

/* try_dequeue_entry: a given process, at any position. */
inline try_dequeue_entry(q, x, answer) {
  try_claim(q, answer);
  if
  :: answer == taken ->
     if
     :: owner[x] != q -> ok = false
#ifdef D3
     :: else -> change(h, queued, running, ok)   /* the head's state, and not x's */
#else
     :: else -> change(x, queued, running, ok)
#endif
     fi;
     if
     :: !ok -> d_step { answer = not_here; give_back(q) }
#ifdef D2
     :: ok && h == x ->
        head[q] = NONE;                          /* the sentinel's next: open too early */
        d_step {
          is_answered(x);
          if :: tail[q] == h -> tail[q] = NONE :: else fi;
          owner[x] = NONE; next_of[x] = NONE; length[q]--; ok = false;
          give_back(q)                           /* and x, the old head, is back in it */
        }
#endif
     :: else -> d_step { is_answered(x); unlink(q, x); ok = false; give_back(q) }
     fi
  :: answer == was_empty -> answer = not_here
  :: else
  fi
}

/* try_exchange: append x, which has just been made ready, and take the first. */
inline exchange_claimed(q, x) {
  d_step { assert(state[x] == queued); is_put(x); link_last(q, x) };
  change(h, queued, running, ok);
#ifndef D1
  assert(ok /* a process in a queue is ready */);
#endif
  d_step { x = h; is_answered(x); unlink(q, x); ok = false; give_back(q) }
}

/* try_share: takes the first process to be run, as try_dequeue does, and up to `most` - 1 that
 * follow it, still ready, in no queue.  A thief that moves all of them and then looks into its own
 * queue may be robbed in its turn, and so on for ever (-DROBBED). */
inline try_share(q, most, x, answer) {
  try_claim(q, answer);
  if
  :: answer == taken ->
     change(h, queued, running, ok);
#ifndef D1
     assert(ok /* a process in a queue is ready */);
#endif
     d_step {
       ok = false;
       room = most - 1;
       x = h; is_answered(x); unlink(q, x);
       chain = h; chain_last = NONE; chain_length = 0;
       do
       :: chain_length < room && h != NONE ->
          chain_last = h; owner[h] = NONE; h = next_of[h]; chain_length++
       :: else -> break
       od;
       if
       :: chain_length == 0 -> chain = NONE
       :: else ->
          next_of[chain_last] = NONE;
          if :: h == NONE -> tail[q] = NONE :: else -> previous_of[h] = NONE fi;
          length[q] = length[q] - chain_length
       fi;
       room = 0;
       give_back(q)
     }
  :: else
  fi
}

/* try_prepend: in front, so that no process loses its place by moving. */
inline prepend_claimed(q) {
  d_step {
    k = chain;
    do
    :: k != NONE -> assert(owner[k] == NONE /* QUEUE-3 */); owner[k] = q; k = next_of[k]
    :: else -> break
    od;
    k = 0;
    next_of[chain_last] = h;
    if :: h == NONE -> tail[q] = chain_last :: else -> previous_of[h] = chain_last fi;
    length[q] = length[q] + chain_length;
    h = chain; chain = NONE; chain_last = NONE; chain_length = 0;
    give_back(q)
  }
}
