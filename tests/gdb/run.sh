#!/bin/sh
# run.sh: tests tools/gdb/weft.py on a program that has stopped, and on its core dump, on every backend, as
# clang and g++ compile it; and that the listed queue is the order in which processes then run.
set -eu
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
sh tools/need debug
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# trace/ first: a declaration that a template is instantiated elsewhere comes before its instantiation.
find trace deque effects sched -name '*.cpp' | sed 's/.*/#include "&"/' > "$scratch/library.cpp"
line() { sed -n "/\/\/ $1\$/=" "$here/stuck.cpp"; }

# looks NAME GDB_ARGUMENT...: what the commands print.
looks() {
  name=$1
  shift
  gdb -q -batch -nx -ex 'set pagination off' -ex 'source tools/gdb/weft.py' "$@" \
    -ex 'weft processes' -ex 'echo -- queue\n' -ex 'weft queue' -ex 'echo -- bt\n' -ex 'weft bt 1.1' \
    -ex 'weft bt 1.2' -ex 'weft bt 1.3' -ex 'weft handlers 1.3' -ex 'weft bt 9' > "$scratch/said" 2>&1 || true
  # Each line must be said, in this order.
  awk 'NR == FNR { wanted[++n] = $0; next } n > at && index($0, wanted[at + 1]) { ++at }
       END { if (at < n) { print "not said: " wanted[at + 1]; exit 1 } }' - "$scratch/said" <<EXPECTED || {
1.1          waits            is at weft::mail::receive  $here/stuck.cpp:$(line READS)
1.2          sleeps           is at weft::timing::sleep_for  $here/stuck.cpp:$(line SLEEPS)
1.3          handles          is at weft::proc::yield  $here/stuck.cpp:$(line YIELDS)
1.4                           runs
5 processes
-- queue
1.3          goes on from weft::proc::yield
-- bt
at weft::mail::receive  $here/stuck.cpp:$(line READS)
#0   reads
       local = 42
stuck.cpp:$(line CALLS)
     under the scheduler
#0   sleeps
#0   counts
     under weft::state_of<int>, the handler of weft::state<int>
stuck.cpp:$(line HANDLES)
weft::state_of<int>, the handler of weft::state<int>
the scheduler
there is no process 9
EXPECTED
    echo "FAILED: $name"
    cat "$scratch/said"
    status=1
    return 0
  }
  echo "passed: $name"
}

# says_since NAME WANTED: what looks() has printed has times exactly if WANTED is 1.
says_since() {
  found=$(grep -c '^1\.[12] .* since [0-9.]* [mun]*s, [0-9.]* [mun]*s before the last event$' "$scratch/said" || true)
  [ "$found" = $(($2 * 2)) ] && return 0
  echo "FAILED: $1: the times of $found processes, wanted: $2"
  cat "$scratch/said"
  status=1
}

# orders NAME BACKEND SORT: SORT is cat, or sort if the order is random.
orders() {
  gdb -q -batch -nx -ex 'set pagination off' -ex 'source tools/gdb/weft.py' -ex 'break stops' \
    -ex "run $2 turns > $scratch/ran" -ex 'weft queue' -ex 'continue' "$scratch/stuck" > "$scratch/said" 2>&1 || true
  sed -n 's/^\(1\.[0-9.]*\) .*/\1/p' "$scratch/said" | $3 > "$scratch/listed"
  if [ "$(wc -l < "$scratch/listed")" = 202 ] && $3 "$scratch/ran" | cmp - "$scratch/listed"; then
    echo "passed: $1"
  else
    echo "FAILED: $1"
    cat "$scratch/said"
    status=1
  fi
}

# tries COMPILER: in a directory of its own.
tries() {
  scratch=$scratch/$1
  mkdir "$scratch"
  for file in "$scratch/../library.cpp" "$here/stuck.cpp"; do
    $1 -std=c++20 -g -DWEFT_SILENCE_GCC12 -Iinclude -I. -c "$file" -o "$scratch/$(basename "$file" .cpp).o"
  done
  $1 "$scratch/library.o" "$scratch/stuck.o" -pthread -o "$scratch/stuck"
  for backend in one_thread forkable sharing stealing random traced; do
    is_traced=$([ $backend = traced ] && echo 1 || echo 0)
    looks "$1, $backend" -ex "run $backend" -ex "generate-core-file $scratch/core" "$scratch/stuck"
    says_since "$1, $backend" "$is_traced"
    looks "$1, $backend, a core dump" -ex "core-file $scratch/core" "$scratch/stuck"
    says_since "$1, $backend, a core dump" "$is_traced"
    rm -f "$scratch/core"
    orders "$1, the queue of $backend" $backend "$([ $backend = random ] && echo sort || echo cat)"
  done
  exit $status
}
tries clang++-19 > "$scratch/by_clang" 2>&1 &
clang=$!
(tries g++) || status=1
wait $clang || status=1
cat "$scratch/by_clang"
exit $status
