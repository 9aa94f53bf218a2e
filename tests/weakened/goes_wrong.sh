#!/bin/sh
# goes_wrong.sh PROGRAM ORDER...: checks that PROGRAM 0 is right, and PROGRAM ORDER wrong, exit 1,
# for each.
program=$1
shift
[ "$(nproc)" -gt 1 ] || { echo "one processor: no store is late for anybody"; exit 0; }
"$program" 0 || { echo "wrong with no order weakened"; exit 1; }
for order; do
  "$program" "$order"
  [ $? = 1 ] || { echo "order $order weakened, and nothing went wrong"; exit 1; }
  echo "order $order weakened: it went wrong, as it should"
done
