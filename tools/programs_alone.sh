#!/bin/sh
# programs_alone.sh: compiles each example and each program of the book without what is parsed once
# (tools/parsed_once.bzl), and fails if one has forgotten an include.
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for text in README.md docs/*.md docs/recipes/*.md; do
  sed -n 's/^```cpp\( [a-z0-9_]*\)\{0,1\}$/\1/p' "$text" | sort -u | while read -r program; do
    sh tools/tangle.sh cpp "$text" $program > "$scratch/$(echo "$text" | tr / _)_$program.cpp"
  done
done
{
  ls "$scratch"/*.cpp
  ls examples/*.cpp examples/effect_suite/*.cpp docs/reference/examples/*.cpp
} | xargs -P "$(nproc)" -n 1 clang++-19 -std=c++20 -fsyntax-only -Wall -Wextra -Iinclude -I.
