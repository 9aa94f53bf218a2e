#!/bin/sh
# golden.sh PROGRAM EXPECTED: does PROGRAM print what EXPECTED holds, and end well?
"$1" > "$TEST_TMPDIR/printed" || { echo "$1 ended with $?"; exit 1; }
diff -u "$2" "$TEST_TMPDIR/printed"
