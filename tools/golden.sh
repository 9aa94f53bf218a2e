#!/bin/sh
# golden.sh PROGRAM EXPECTED: fails unless PROGRAM prints the text of EXPECTED and exits with 0.
"$1" > "$TEST_TMPDIR/printed" || { echo "$1 ended with $?"; exit 1; }
diff -u "$2" "$TEST_TMPDIR/printed"
