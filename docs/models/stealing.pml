// SPDX-License-Identifier: MIT
/* An owner and two thieves: a deque whose owner pops at the bottom and from which thieves steal
 * one by one (deque/chase_lev.hpp); or with -DFIFO a queue from which all take at the top, several
 * by one compare-and-swap (deque/steal_queue.hpp).  STEAL-1 to STEAL-7 are in these headers.
 *
 * The owner pushes ITEMS items, and pops at any moment; at the end it pops all that are left.  A
 * thief steals any number of times, up to STEALS, and takes any number of items for half.  Arrays
 * have 2, 4 and 8 cells, so indices wrap round, and arrays grow.
 *
 * With -DASYMMETRIC the stores of a pop stay in the owner's store buffer for any time, but the
 * owner waits for the buffer to empty before its next store; a thief's heavy fence empties it
 * (STEAL-7).
 *
 * Each other flag builds in one mistake: README.md.
 *
 * Verified: every item is taken once; from a queue each thread takes in order; all threads end.
 */
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef STEALS
#define STEALS 2
#endif

#define NONE 255
#define CAPACITY(a) (2 << (a))
#define CELL(a, i) cell[(a) * 8 + ((i) % CAPACITY(a))]

byte top = 0;
byte bottom = 0;
byte array = 0;
byte cell[24] = NONE;
byte taken[ITEMS];  /* how often each item was taken */
byte ended = 0;
#ifdef ASYMMETRIC
byte buffered = NONE;  /* a bottom that only the owner sees */
#define is_stored (buffered == NONE)
#define BOTTOM (is_stored -> bottom : buffered)
#else
#define is_stored true
#define BOTTOM bottom
#endif

/* A thread takes x. */
inline take(x) {
  assert(x != NONE);
  taken[x]++;
  assert(taken[x] == 1);
#ifdef FIFO
  assert(last == NONE || x > last);
  last = x
#endif
}
/* Items t to t + n - 1 are read, one by one, and taken by one compare-and-swap. */
inline read_cells() {
  do
  :: atomic { i < n -> got[i] = CELL(a, t + i); i++ }
  :: i == n -> break
  od;
  i = 0
}
inline take_at_once() {
  read_cells();
#ifdef READS_LATE
  atomic { won = (top == t); if :: won -> top = t + n :: else fi }
  read_cells();
#endif
  d_step {
#ifndef READS_LATE
    won = (top == t);
    if :: won -> top = t + n :: else fi;
#endif
    do
    :: i < n -> if :: won -> take(got[i]) :: else fi; got[i] = 0; i++
    :: else -> break
    od;
    i = 0; n = 0; a = 0; t = 0; won = false;
#ifndef LOOKS_ONCE
    b = 0
#endif
  }
}

/* Chooses any number of the items; at most four. */
inline choose_some() {
  n = 1;
  do
  :: n < b - t && n < 4 -> n++
  :: break
  od
}

/* ---- the owner */

#define MINE CAPACITY(array)

inline push(item) {
  atomic {
    is_stored ->
    if
    :: bottom - seen == MINE -> seen = top
    :: else
    fi
  }
  d_step {  /* no thief sees the new array yet, and no thread writes to the old one (STEAL-4) */
    if
    :: bottom - seen == MINE ->
       i = seen;
       do
       :: i < bottom -> CELL(array + 1, i) = CELL(array, i); i++
       :: else -> break
       od;
       i = 0;
#ifdef FREES_ARRAY
       do :: i < MINE -> CELL(array, i) = NONE; i++ :: else -> break od;
       i = 0;
#endif
       array++
    :: else
    fi
  }
#ifdef PUBLISHES_FIRST
  bottom++;
  CELL(array, bottom - 1) = item
#else
  CELL(array, bottom) = item;
  bottom++
#endif
}

/* The last one that was pushed. */
inline pop() {
  atomic { is_stored -> b = bottom - 1; x = CELL(array, b) }
#ifdef LOOKS_FIRST
  t = top;
  bottom = b;
#elif defined(ASYMMETRIC)
  buffered = b;
  t = top;
#else
  bottom = b;
  t = top;
#endif
  if
  :: d_step { t < b -> take(x); t = 0; b = 0; x = 0 }
  :: atomic {
       t >= b && is_stored ->  /* the last one, if it is still there: a locked instruction */
       if :: top == b -> top = b + 1; take(x) :: else -> none = true fi;
       seen = b + 1; t = 0; b = 0; x = 0
     }
     bottom = seen
  fi
}

proctype owner() {
  byte seen, k, b, t, x, i, n, a, last = NONE;
  byte got[4];
  bool won, none;
  do
  :: k < ITEMS -> push(k); d_step { none = false; k++ }
#ifdef FIFO
  :: top < bottom ->
     d_step { t = top; b = bottom; a = array }
     if
     :: b == t -> d_step { t = 0; b = 0; a = 0 }
     :: else -> choose_some(); take_at_once()
     fi
  :: k == ITEMS && top == bottom -> break
#else
  :: !none && BOTTOM > seen -> pop()
  :: atomic { !none && BOTTOM == seen -> none = true }
  :: k == ITEMS && none -> break
#endif
  od;
  ended++
}

/* ---- a thief */

#ifdef ASYMMETRIC
inline heavy_fence() { d_step { if :: !is_stored -> bottom = buffered; buffered = NONE :: else fi } }

/* Others see the stores of the owner sooner or later. */
proctype memory() {
end:
  do
  :: d_step { !is_stored -> bottom = buffered; buffered = NONE }
  od
}
#endif

proctype thief() {
  byte s, b, t, i, n, a, last = NONE;
  byte got[4];
  bool won;
  do
  :: atomic {
       s < STEALS -> s++;
#if defined(ASYMMETRIC) && defined(FENCE_FIRST)
       heavy_fence()
     }
     atomic {
#endif
#ifdef BOTTOM_FIRST
       b = bottom
     }
     t = top;
#else
       t = top
     }
#ifdef ARRAY_FIRST
     a = array;
#endif
#if defined(ASYMMETRIC) && !defined(FENCE_FIRST) && !defined(NO_FENCE)
     heavy_fence();
#endif
#ifdef LOOKS_ONCE
     if :: b == 0 -> b = bottom :: else fi;
#else
     b = bottom;
#endif
#endif
     if
     :: atomic { b <= t -> t = 0; b = 0; a = 0 }
     :: atomic {
          else ->
#ifndef ARRAY_FIRST
          a = array;
#endif
#ifdef FIFO
          choose_some()
#else
          n = 1;
#ifdef HALF_AT_ONCE
          if :: (b - t) / 2 > 1 -> n = (b - t) / 2 :: else fi;
#endif
          skip
#endif
        }
        take_at_once()
     fi
  :: break
  od;
  atomic { s = 0; last = NONE; ended++ }
}

init {
  byte k;
  atomic {
    run owner();
#ifdef ASYMMETRIC
    run memory();
#endif
    do :: k < THIEVES -> run thief(); k++ :: else -> break od;
    k = 0
  }
  (ended == THIEVES + 1);
  d_step {
    do
    :: k < ITEMS -> assert(taken[k] == 1); k++
    :: else -> break
    od
  }
}
