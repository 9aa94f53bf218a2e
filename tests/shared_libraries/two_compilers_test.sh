#!/bin/sh
# two_compilers_test.sh: links a program and a shared library that were compiled by two compilers,
# or by one compiler with two kinds of transfer between frames; and a library that hides the
# variables of weft that a program must have only once.
set -u
out=${TEST_TMPDIR:-$(mktemp -d)}
failed=0

# Each file has its own computations; with -DHANDS_OVER the library returns one to the program.
cat > "$out/computations.hpp" <<'END'
#include "weft/effects/effects.hpp"
using namespace weft;
namespace {
struct ask {
  struct get : op<int> {};
  using operations = op_list<get>;
};
struct answers : handler<ask> {
  int on(ask::get) const { return 7; }
};
eff<int, ask> asks() { co_return co_await ask::get{}; }
eff<int, ask> adds() {
  int const a = co_await asks();
  int const b = co_await asks();
  co_return a + b;
}
int computes() { return run(handle(answers(), adds())); }
}  // namespace
END
cat > "$out/library.cpp" <<'END'
#include "computations.hpp"
#ifdef HANDS_OVER
eff<int> called() { co_return computes(); }
eff<int> of_library() {
  int const n = co_await called();
  co_return n;
}
#else
[[gnu::visibility("default")]] int of_library() { return computes(); }
#endif
END
cat > "$out/program.cpp" <<'END'
#include "computations.hpp"
#include <cstdio>
#ifdef HANDS_OVER
eff<int> of_library();
int main() { std::printf("%d %d\n", computes(), run(of_library())); }
#else
int of_library();
int main() { std::printf("%d %d\n", computes(), of_library()); }
#endif
END

# The same with HANDS_OVER: takes.cpp is the program, hands_over.cpp the library.
for pair in takes:program hands_over:library; do
  printf '#define HANDS_OVER\n#include "%s.cpp"\n' "${pair#*:}" > "$out/${pair%:*}.cpp"
done

find effects -name '*.cpp' | sort | sed 's|.*|#include "weft/&"|' > "$out/weft.cpp"

# compile WAY FILES COMPILER FLAGS...: FILE_WAY.o of each FILE.cpp, with the sources of weft in it.
compile() {
  way=$1
  files=$2
  shift 2
  "$@" -std=c++20 -fPIC -I.. -c -o "$out/weft.o" "$out/weft.cpp" || exit 1
  for file in $files; do
    "$@" -std=c++20 -fPIC -I.. -r -o "$out/${file}_$way.o" "$out/$file.cpp" "$out/weft.o" || exit 1
  done
}
# says PROGRAM LIBRARY FLAGS...: prints the output of that program, or of the linker.
says() {
  program=$1
  library=$2
  shift 2
  g++ -shared "$@" "$out/$library.o" -o "$out/lib$library.so" &&
    g++ "$out/$program.o" "$out/lib$library.so" -Wl,-rpath,"$out" -o "$out/program" && "$out/program"
}
# expect TEXT PROGRAM LIBRARY FLAGS...: checks that this output contains TEXT.
expect() {
  text=$1
  shift
  said=$(says "$@" 2>&1)
  if printf '%s\n' "$said" | grep -qF -e "$text"; then return; fi
  printf '%s: expected "%s", and found:\n%s\n' "$*" "$text" "$said"
  failed=1
}

gnu='g++ -DWEFT_SILENCE_GCC12'
compile clang 'program library takes' clang++-19
compile gnu 'program library takes hands_over' $gnu
compile jumps 'library hands_over' $gnu -DWEFT_SYMMETRIC
compile hidden_clang 'library' clang++-19 -fvisibility=hidden
compile hidden_gnu 'program library' $gnu -fvisibility=hidden

# Both are compiled alike.
expect '14 14' program_clang library_clang
expect '14 14' program_gnu library_gnu
expect '14 14' takes_gnu hands_over_gnu
# The two share functions, so the program stops before main.
expect 'and they share functions' program_clang library_gnu
expect 'and they share functions' program_gnu library_clang
expect 'and they share functions' program_clang library_jumps
expect 'and they share functions' program_gnu library_jumps
# The two share no function.
expect '14 14' program_clang library_hidden_gnu
expect '14 14' program_hidden_gnu library_hidden_clang
# The library returns a computation, so the linker refuses.
expect 'undefined reference to `of_library[abi:v0_1_symmetric]()' takes_clang hands_over_jumps
# The library has its own copies of variables that a program must have only once.
echo '{ global: extern "C++" { of_library*; }; local: *; };' > "$out/exports"
expect 'stopped without an answer' takes_gnu hands_over_gnu "-Wl,--version-script=$out/exports"
exit $failed
