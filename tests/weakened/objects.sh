#!/bin/sh
# objects.sh PROGRAM ORDER...: does ThreadSanitizer pass PROGRAM 0 and report a race for each ORDER?
program=$1
shift
"$program" 0 || { echo "reported with no order weakened"; exit 1; }
for order; do
  "$program" "$order" > "$TEST_TMPDIR/report" 2>&1
  if ! grep -q 'ThreadSanitizer: data race' "$TEST_TMPDIR/report"; then
    echo "order [$order] weakened, and nobody noticed"
    exit 1
  fi
  echo "order [$order] weakened: a data race, as it should be"
done
