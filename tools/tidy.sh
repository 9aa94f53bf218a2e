#!/bin/sh
# tidy.sh: clang-tidy (.clang-tidy) over each folder of the library: all its headers in one source
# file, and its source files.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for folder in deque effects io sched testing; do
  git ls-files "$folder/*.hpp" | sed 's|.*|#include "weft/&"|' > "$scratch/$folder.cpp"
done
{ ls "$scratch"/*.cpp && git ls-files '*.cpp' | grep -E '^(deque|effects|io|sched|testing)/'; } |
  xargs -P "$(nproc)" -n 1 sh -c 'clang-tidy-19 --quiet --config-file=.clang-tidy "$1" -- -std=c++20 -Iinclude -I.' tidy
