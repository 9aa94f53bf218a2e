#!/bin/sh
# tidy.sh: clang-tidy (.clang-tidy) over each folder of the library: all its headers, and all its source
# files, as one source file in which nothing is included twice.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for folder in deque effects io sched testing; do
  {
    git ls-files "$folder/*.hpp" | sed 's|.*|#include "weft/&"|'
    git ls-files "$folder/*.cpp" | while read -r source; do
      printf '#line 1 "%s"\n' "$source"
      cat "$source"
    done
  } | awk '/^#include/ && seen[$0]++ { print ""; next } { print }' > "$scratch/$folder.cpp"
done
# The largest first.
ls -S "$scratch"/*.cpp |
  xargs -P "$(nproc)" -n 1 sh -c 'clang-tidy-19 --quiet --config-file=.clang-tidy "$1" -- -std=c++20 -Iinclude -I.' tidy
