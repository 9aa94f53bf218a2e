#!/bin/sh
# objects.sh PROGRAM ORDER...: checks that ThreadSanitizer passes PROGRAM 0 and reports a race for
# each ORDER.  One report in a hundred runs is enough: the operating system decides which thread is
# first where, and on a busy machine it is the same one again and again.
program=$1
shift

is_reported() {
  for _ in $(seq 100); do
    "$program" "$1" > "$TEST_TMPDIR/report" 2>&1
    grep -q 'ThreadSanitizer: data race' "$TEST_TMPDIR/report" && return
  done
  return 1
}

"$program" 0 || { echo "reported with no order weakened"; exit 1; }
for order; do
  is_reported "$order" || { echo "order [$order] weakened, and nobody noticed"; exit 1; }
  echo "order [$order] weakened: a data race, as it should be"
done
