#!/bin/sh
# unawaited_test.sh: tools/unawaited.sh finds what the comments of unawaited.txt announce, and no more.
cd .. || exit 1  # <weft/...> is below this folder
program=$TEST_TMPDIR/program.cpp
cp weft/tests/mistakes/unawaited.txt "$program"
grep -n '//! ' "$program" | sed -E 's|^([0-9]+):.*//! |\1: |' | sort > "$TEST_TMPDIR/wanted"
sh weft/tools/unawaited.sh "$program" -- -I. | sed -E 's|^.*program.cpp:([0-9]+):[0-9]+: |\1: |' | sort > "$TEST_TMPDIR/found"
diff "$TEST_TMPDIR/wanted" "$TEST_TMPDIR/found"
