#!/bin/sh
# backends.sh INTERLEAVED PROGRAM EXPECTED PROCESSES: does PROGRAM print the same on every backend?  On
# one thread, what EXPECTED holds; on several, an interleaving (INTERLEAVED) of what PROCESSES holds.
printed=$TEST_TMPDIR/printed
run() { "$program" "$@" > "$printed" || { echo "$program $* ended with $?"; exit 1; }; }
interleaved=$1 program=$2 expected=$3 processes=$4

run --backend=sharing --threads=1
diff -u "$expected" "$printed" || exit
for threads in 2 8; do
  for time in 1 2 3 4 5 6 7 8 9 10; do
    run --backend=sharing --threads=$threads
    awk -f "$interleaved" "$processes" "$printed" || { cat "$printed"; exit 1; }
  done
done
