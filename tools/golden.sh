#!/bin/sh
# golden.sh PROGRAM EXPECTED [ARGUMENT]: fails unless PROGRAM prints the text of EXPECTED and exits with 0.
"$1" ${3+"$3"} > "$TEST_TMPDIR/printed" || { echo "$1 ${3-} ended with $?"; exit 1; }
diff -u "$2" "$TEST_TMPDIR/printed"
