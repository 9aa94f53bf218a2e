#!/bin/sh
# backends.sh INTERLEAVED PROGRAM EXPECTED PROCESSES: fails unless PROGRAM prints the text of EXPECTED on
# one thread, and an interleaving (INTERLEAVED) of the blocks of PROCESSES on several threads and in
# random orders.
printed=$TEST_TMPDIR/printed
run() { "$program" "$@" > "$printed" || { echo "$program $* ended with $?"; exit 1; }; }
interleaved=$1 program=$2 expected=$3 processes=$4

runs_interleaved() { run "$@"; awk -f "$interleaved" "$processes" "$printed" || { cat "$printed"; exit 1; }; }

run --backend=sharing --threads=1
diff -u "$expected" "$printed" || exit
for n in 1 2 3 ${WEFT_IN_FULL+4 5 6 7 8 9 10}; do
  runs_interleaved --backend=random --seed=$n
  runs_interleaved --backend=sharing --threads=2
  runs_interleaved --backend=sharing --threads=8
  runs_interleaved --backend=stealing --threads=$((n % 4 + 1))
done
