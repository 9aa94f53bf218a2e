#!/bin/sh
# headers_alone_test.sh FOLDER: fails unless each header of FOLDER compiles as a main file.
count=0
failed=0
for header in $(find -L "$1" -name '*.hpp' | sort); do
  count=$((count + 1))
  clang++-19 -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-pragma-once-outside-header \
    -Wno-undefined-inline -I.. -x c++ "$header" || { echo "$header does not compile alone"; failed=1; }
done
echo "$count headers of $1"
[ "$count" -gt 0 ] && [ "$failed" = 0 ]
