#!/bin/sh
# single_header_test.sh: weft.hpp and weft_testing.hpp are each less than a megabyte; a program of one
# file, compiled by clang and by g++, does as it should; one of two files links, and one that mixes
# weft.hpp with the compiled library does not.
set -u
out=${TEST_TMPDIR:-$(mktemp -d)}
failed=0
wrong() { echo "$1"; failed=1; }

for header in weft.hpp weft_testing.hpp; do
  [ "$(wc -c < "$header")" -lt 1000000 ] || wrong "$header is larger than a megabyte"
done

sed '/^#include <weft/d; s|^/// The smallest.*|#include "weft.hpp"|' tests/consumer/minimal.cpp > "$out/minimal.cpp"
cat > "$out/second.cpp" << 'END'
#include "weft_testing.hpp"
int main();
int second() {
  return weft::explore([] { return 0; }, [](int& n) -> weft::eff<void> { ++n; co_return; },
                       [](int const& n) { return n == 1; }).ok();
}
END
cat > "$out/compiled.cpp" << 'END'
#include "weft/effects/effects.hpp"
int second() { return weft::run([]() -> weft::eff<int> { co_return 7; }()); }
END

clang() { clang++-19 -std=c++20 -Wall -Wextra -Werror -I. -I.. "$@"; }
clang -c "$out/minimal.cpp" -o "$out/minimal.o" && clang -c "$out/second.cpp" -o "$out/second.o" ||
  wrong 'clang does not compile it'
clang "$out/minimal.o" "$out/second.o" -o "$out/both" && "$out/both" | diff tests/consumer/minimal.expected - ||
  wrong 'two files that include it are no program'
g++ -std=c++20 -Wall -Wextra -Werror -DWEFT_SILENCE_GCC12 -I. "$out/minimal.cpp" -o "$out/gnu" &&
  "$out/gnu" | diff tests/consumer/minimal.expected - || wrong 'g++ does not compile it'

find effects -name '*.cpp' | sed 's|.*|#include "weft/&"|' > "$out/library.cpp"
clang -c "$out/library.cpp" -o "$out/library.o" && clang -c "$out/compiled.cpp" -o "$out/compiled.o" ||
  wrong 'the compiled form does not compile'
clang "$out/minimal.o" "$out/compiled.o" "$out/library.o" -o "$out/mixed" > "$out/said" 2>&1 &&
  wrong 'a program links that mixes the header and the compiled library'
grep -q some_files_include_weft_hpp_and_others_use_the_compiled_library "$out/said" ||
  wrong "the linker does not say why: $(cat "$out/said")"
exit $failed
