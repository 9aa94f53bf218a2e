// SPDX-License-Identifier: MIT
/* Two queues, their owners and a claimer: every operation of the thread queue, in every
 * order.  After each the queue is well formed (CHECK_QUEUES), and no process is held twice.
 */
#define THREADS 2
#define PROCESSES 4
#define CHECK_QUEUES
#include "thread_queue.pml"

bool held[PROCESSES];  /* ghost: taken, and held by a worker or the claimer */

inline get(x) {
  d_step { assert(state[x] == running); assert(!held[x] /* held twice */); held[x] = true }
}
inline let_go(x) { d_step { held[x] = false; state[x] = queued } }

/* A worker, for ever: takes, puts back, exchanges, shares with the other one. */
proctype worker(byte t) {
  byte x = NONE, h, k, n, chain = NONE, chain_last = NONE, chain_length, room;
  bool ok;
  mtype answer;
end:
  do
  :: x == NONE ->
     try_dequeue(t, x, answer);
     if :: x != NONE -> get(x) :: else fi
  :: x != NONE ->
     let_go(x);
     claim(t);
     if
     :: d_step { is_put(x); link_last(t, x); x = NONE; give_back(t) }
     :: exchange_claimed(t, x); get(x)
     fi
  :: x == NONE ->
     if
     :: try_share(1 - t, 2, x, answer)
     :: try_share(1 - t, 3, x, answer)
     fi;
     if :: x != NONE -> get(x) :: else fi;
     if :: chain != NONE -> claim(t); prepend_claimed(t) :: else fi
  od
}

/* Another thread: claims a given process, and puts it from outside. */
proctype claimer(byte x) {
  byte q, h, k, n;
  bool ok;
  mtype answer;
end:
  do
  :: q = owner[x];
     if
     :: q == NONE
     :: else ->
        try_dequeue_entry(q, x, answer);
        if
        :: answer == taken ->
           get(x);
           let_go(x);
           if :: claim(0); q = 0 :: claim(1); q = 1 fi;
           d_step { is_put(x); link_last(q, x); give_back(q) }
        :: else
        fi
     fi;
     q = 0
  od
}

init {
  byte x, h, k, n;
  d_step {
    do
    :: x < PROCESSES ->
       state[x] = queued; is_put(x);
       h = head[0]; link_last(0, x); head[0] = h;
       x++
    :: else -> break
    od;
    x = 0; h = 0
  }
  atomic { run worker(0); run worker(1); run claimer(1) }
}
