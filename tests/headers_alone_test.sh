#!/bin/sh
# headers_alone_test.sh FOLDER: fails unless each header of FOLDER compiles as a main file.  A header
# that is the first that a source file beside it includes does: the build compiles that file.
count=0
failed=0
for header in $(find -L "$1" -name '*.hpp' | sort); do
  count=$((count + 1))
  source=${header%.hpp}.cpp
  [ -f "$source" ] && grep -m1 '^#include' "$source" | grep -qxF "#include \"weft/$header\"" && continue
  clang++-19 -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-pragma-once-outside-header \
    -Wno-undefined-inline -I.. -x c++ "$header" || { echo "$header does not compile alone"; failed=1; }
done
echo "$count headers of $1"
[ "$count" -gt 0 ] && [ "$failed" = 0 ]
