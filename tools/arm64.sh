#!/bin/sh
# arm64.sh [SUITE...]: compiles the library, the programs of README.md and docs/tour.md, and the suites
# (tests/SUITE_test.cpp) for ARM64, with g++ and with clang, runs them under qemu, and says what ran.  Needs the
# packages g++-aarch64-linux-gnu, qemu-user, clang-19 and catch2.
set -u
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- deque/chase_lev deque/steal_queue_threads effects/bitwise effects/handler_laws \
  sched/base/forkable_process sched/base/spawning sched/backends/stealing
failed=0

# Not all of /usr/include: that is another machine's.
mkdir "$scratch/include" && ln -s /usr/include/catch2 "$scratch/include/catch2"
for folder in deque effects sched testing; do find "$folder" -name '*.cpp'; done |
  sed "s|.*|#include \"$PWD/&\"|" > "$scratch/library.cpp"

# says RESULT WHAT: a line of the report.
says() {
  printf '%-6s %s\n' "$@"
  [ "$1" = passed ] || failed=1
}
compile() { $compiler -std=c++20 -O1 -w -Iinclude -I. -isystem "$scratch/include" "$@"; }

for compiler in aarch64-linux-gnu-g++ 'clang++-19 --target=aarch64-linux-gnu'; do
  echo "-- $compiler"
  for part in "$scratch/library.cpp" tests/catch_main.cpp; do
    compile -c "$part" -o "$scratch/$(basename "$part" .cpp).o" || { says failed "$part"; exit 1; }
  done
  for name in '' $(sed -n 's/^```cpp \(.*\)/\1/p' docs/tour.md); do
    file=docs/tour.md
    [ -n "$name" ] || file=README.md
    sh tools/tangle.sh cpp $file $name > "$scratch/program.cpp"
    sh tools/tangle.sh output $file $name > "$scratch/expected"
    compile "$scratch/program.cpp" "$scratch/library.o" -static -o "$scratch/program" &&
      qemu-aarch64 "$scratch/program" | diff - "$scratch/expected" &&
      says passed "$file $name" || says failed "$file $name"
  done
  for suite; do
    compile "tests/${suite}_test.cpp" "$scratch/library.o" "$scratch/catch_main.o" -static -o "$scratch/suite" &&
      result=$(qemu-aarch64 "$scratch/suite") && says passed "$suite: $(printf '%s\n' "$result" | tail -n 1)" ||
      { printf '%s\n' "${result-}" | tail -n 40; says failed "$suite"; }
  done
done
[ "$failed" = 0 ]
