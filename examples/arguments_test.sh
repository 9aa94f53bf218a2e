#!/bin/sh
# arguments_test.sh PROGRAM: an argument that an example does not know, or that belongs to another
# backend, makes it print its usage and exit with 2; a known one makes it exit with 0.
status=0
for wrong in what --backend= --backend=thieves --threads=2 --seed=1 \
  '--backend=one_thread --threads=2' '--backend=random --threads=2' '--backend=sharing --seed=1' '--backend=stealing --seed=1' \
  '--backend=one_thread --backend=sharing' '--backend=sharing --backend=random' \
  '--backend=random --seed=' '--backend=random --seed=-1' '--backend=random --seed=1x' \
  '--backend=sharing --threads=99999999999'; do
  "$1" $wrong > "$TEST_TMPDIR/out" 2> "$TEST_TMPDIR/err"
  ended=$?
  if [ $ended != 2 ] || [ -s "$TEST_TMPDIR/out" ] || ! grep -q '^Usage: ' "$TEST_TMPDIR/err"; then
    echo "$wrong: ended with $ended"
    cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/err"
    status=1
  fi
done
for right in '' --backend=one_thread --backend=sharing '--backend=stealing --threads=3' '--threads=2 --backend=sharing' \
  --backend=random '--backend=random --seed=0' '--seed=2147483647 --backend=random'; do
  "$1" $right > "$TEST_TMPDIR/out" 2> "$TEST_TMPDIR/err" || { echo "$right: $?"; status=1; }
done
exit $status
