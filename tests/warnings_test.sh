#!/bin/sh
# warnings_test.sh: fails if a program that uses weft gets a warning because of it.
cd .. || exit 1  # <weft/...> is below this folder
failed=0

program() {
  for header in deque/deque io/memory_network io/reactor sched/sharing sched/stealing \
    sched/tasks/parallel sched/tasks/scope sched/tasks/when_any testing/testing; do
    echo "#include <weft/$header.hpp>"
  done
  cat weft/tests/consumer/minimal.cpp
}
# quiet WHERE COMPILER FLAGS...: no warning in lines that match WHERE.
quiet() {
  where=$1
  shift
  said=$(program | "$@" -std=c++20 -DWEFT_SILENCE_GCC12 -fsyntax-only -x c++ - 2>&1) ||
    { printf '%s: does not compile\n%s\n' "$*" "$said"; failed=1; }
  warnings=$(printf '%s\n' "$said" | grep "$where.*warning:")
  [ -z "$warnings" ] || { printf '%s:\n%s\n' "$*" "$warnings"; failed=1; }
}

usual='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast'
for compiler in clang++-19 g++; do quiet '' $compiler -I. $usual; done
quiet weft/ clang++-19 -isystem . -Weverything
quiet weft/ g++ -isystem . $usual -Weffc++
[ "$failed" = 0 ]
