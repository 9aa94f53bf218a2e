#!/bin/sh
# warns_once_test.sh DIRECTORY: includes the headers of effects/ with g++ before 13, and counts its
# warnings: one, and none if it is told so.
set -u
warnings() {
  printf '#include "weft/effects/effects.hpp"\n#include "weft/effects/handle.hpp"\n' |
    g++ -std=c++20 -Wall -Wextra -Wpedantic -fsyntax-only -I.. "$@" -x c++ - 2>&1 | grep -c 'warning:'
}
version=$(g++ -dumpversion) || exit 1
expected=1
[ "${version%%.*}" -lt 13 ] || expected=0
aloud=$(warnings)
silenced=$(warnings -DWEFT_SILENCE_GCC12)
echo "g++ $version: $aloud warnings, silenced $silenced"
[ "$aloud" = "$expected" ] && [ "$silenced" = 0 ]
