#!/bin/sh
# Tests weaken.py: it weakens the order that a label selects, and no other; it refuses a text that
# the file does not have, or has twice.
weaken=$PWD/tests/weakened/weaken.py
cd "$TEST_TMPDIR" && mkdir -p tests/weakened || exit
status=0
wrong() { echo "$1"; status=1; }

cat > tests/weakened/weakened.hpp << END
namespace weft::tests { inline int weakened_order = 0; }
END
cat > counts.hpp << END
#pragma once
#include <atomic>
inline std::atomic<int> n = 0;
inline bool is_last() { return n.load(std::memory_order_acquire) == 1; }
inline void add() { n.fetch_add(1, std::memory_order_seq_cst); }
inline bool drop() {
  return is_last() ||
         n.fetch_sub(1, std::memory_order_acq_rel) == 1;
}
END
cat > counts.cpp << END
#include "counts.hpp"
void reset() { n.store(0, std::memory_order_release); }
END
program() { printf '%s\n' "$@" '#include "counts.hpp"' '#include "counts.hpp"' > program.cpp; }
weakens() { program "$@" && python3 -B "$weaken" program.cpp > made.cpp 2> said; }

weakens '// weakens 1 in counts.hpp to release: fetch_sub(1, std::memory_order_acq_rel' \
  '// weakens 2 in counts.hpp to relaxed:' '//    n.load(std::memory_order_acquire)' \
  '// weakens 3 in counts.hpp to acquire:' '//    is_last() || n.fetch_sub(1, std::memory_order_acq_rel)' \
  '// skips for 3 in counts.hpp: is_last() ||' \
  '// weakens 4 in counts.hpp to acquire: fetch_add(1, std::memory_order_seq_cst' \
  '// weakens 5 in counts.cpp to relaxed: n.store(0, std::memory_order_release' || wrong "should pass: $(cat said)"
[ "$(grep -c 'bool drop()' made.cpp)" = 1 ] || wrong 'a header is not there once'
grep -q 'load((weft::tests::weakened_order == 2 ? std::memory_order_relaxed : std::memory_order_acquire))' \
  made.cpp || wrong 'label 2 is not there'
grep -q 'weakened_order == 3 ? std::memory_order_acquire : weft::tests::weakened_order == 1 ? std::memory_order_release : std::memory_order_acq_rel' \
  made.cpp || wrong 'labels 1 and 3 are not both there'
grep -qF 'add(1, (weft::tests::weakened_order == 4 ? std::memory_order_acquire : std::memory_order_seq_cst))' \
  made.cpp || wrong 'label 4 is not there'
grep -qF 'return (weft::tests::weakened_order != 3 && is_last()) ||' made.cpp ||
  wrong 'the condition is not skipped'
grep -qF 'n.store(0, (weft::tests::weakened_order == 5 ? std::memory_order_relaxed : std::memory_order_release))' \
  made.cpp || wrong 'label 5, in a source file, is not there'

refused() { weakens "$@" && wrong "should be refused: $*"; }
refused '// weakens 1 in counts.hpp to relaxed: n.store(0, std::memory_order_release'
refused '// weakens 1 in counts.hpp to relaxed: is_last()'
refused '// weakens 1 in counts.hpp to relaxed: std::memory_order_'
refused '// weakens 1 in counts.hpp to release: n.load(std::memory_order_acquire'
refused '// weakens 2 in counts.hpp to relaxed: n.load(std::memory_order_acquire'
refused '// weakens 1 in others.hpp to relaxed: n.load(std::memory_order_acquire'
exit $status
