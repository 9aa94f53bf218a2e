#!/bin/sh
# headers_alone_test.sh FOLDER-or-HEADER...: fails unless each header compiles as a main file.  A header
# that is the first that a source file beside it includes does: the build compiles that file.  There is no
# Catch2 3 here, and no stdexec.
#
# The standard headers are modules, so that they are parsed once; a header sees those that it includes.  The
# modules are those of the whole library, whatever was given: a standard header that is named by none is part of
# whichever module includes it first, and hidden from the others.  <execution> has parallel algorithms, which
# need TBB.
set -u
[ $# != 0 ] || exit 0
scratch=${TEST_TMPDIR:-$(mktemp -d)}
for header in $(find -L "$@" -name '*.hpp' ! -name 'catch2_v3*' ! -name stdexec.hpp | sort); do
  source=${header%.hpp}.cpp
  [ -f "$source" ] && grep -m1 '^#include' "$source" | grep -qxF "#include \"weft/$header\"" || echo "$header"
done > "$scratch/headers"

standard=$(find -L adapters cluster deque durable effects io sched testing trace -name '*.hpp' -exec grep -hoE '^#include <[a-z_]+>' {} + | grep -v '<execution>' | sort -u)
{
  echo 'module standard [system] {'
  echo "$standard" | sed 's/#include \(.*\)/#if __has_include(\1)\n&\n#endif/' | clang++-19 -std=c++20 -M -x c++ - | tr -d '\\' | tr ' ' '\n' | sort -u |
    grep -E "/($(echo "$standard" | sed 's/.*<//; s/>//' | paste -sd '|'))\$" |
    sed 's|.*/\(.*\)|  module \1 { header "&" export * }|'
  echo '}'
} > "$scratch/map"

cat > "$scratch/compile.sh" << END
# Not each_range_v3.hpp: range-v3 is no module.
grep -q '^#include <range/' "\$1" ||
  modules='-fmodules -fmodules-cache-path=$scratch/cache -fmodule-map-file=$scratch/map'
clang++-19 -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-pragma-once-outside-header \
  -Wno-undefined-inline \${modules-} -I.. -Iinclude -x c++ "\$1" || { echo "\$1 does not compile alone"; exit 1; }
END
echo "$(wc -l < "$scratch/headers") headers"
[ -s "$scratch/headers" ] && xargs -P "$(nproc)" -n 1 sh "$scratch/compile.sh" < "$scratch/headers"
