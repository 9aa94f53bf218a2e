#!/bin/sh
# The test scripts fail when they should.
cd "$TEST_TMPDIR" || exit
tools=$TEST_SRCDIR/$TEST_WORKSPACE/tools
status=0
passes() { "$@" > said 2>&1 || { echo "should pass: $*"; cat said; status=1; }; }
fails() { "$@" > said 2>&1 && { echo "should fail: $*"; status=1; }; }

# golden.sh: compares the output and the exit status.
printf '#!/bin/sh\necho one\n' > prints_one && chmod +x prints_one
printf '#!/bin/sh\necho one\nexit 3\n' > ends_badly && chmod +x ends_badly
echo one > one && echo two > two
passes sh "$tools/golden.sh" ./prints_one one
fails sh "$tools/golden.sh" ./prints_one two
fails sh "$tools/golden.sh" ./ends_badly one

# interleaved.awk: all lines of each process, in order, and no other lines.
printf 'a1\na2\na1\n\nb1\nb2\n' > processes
prints() { printf "$1" > output; awk -f "$tools/interleaved.awk" processes output; }
passes prints 'a1\nb1\na2\na1\nb2\n'
passes prints 'b1\nb2\na1\na2\na1\n'
fails prints 'b2\nb1\na1\na2\na1\n'
fails prints 'b1\nb2\na1\na2\n'
fails prints 'b1\na1\na2\na1\n'
fails prints 'b1\nb2\na1\na2\na1\nb2\n'
fails prints 'b1\nb2\na1\na2\na1\nc\n'
fails prints ''
printf 'a\nsame\n\nb\nsame\n' > processes
fails prints 'a\nsame\nb\nsame\n'

# backends.sh: the expected text on one thread, an interleaving on several and in random orders, and
# exit status 0.
printf '#!/bin/sh\ncase $2 in\n*=1) echo a; echo b ;;\n*) echo b; echo a ;;\nesac\n' > changes
chmod +x changes
printf 'a\nb\n' > in_order && printf 'a\n\nb\n' > processes
backends() { sh "$tools/backends.sh" "$tools/interleaved.awk" "$@"; }
passes backends ./changes in_order processes
fails backends ./changes in_order in_order
fails backends ./changes processes processes
passes backends ./prints_one one one
fails backends ./prints_one two one
fails backends ./ends_badly one one
printf '#!/bin/sh\ncase "$*" in\n*random*=3) echo two ;;\n*) echo one ;;\nesac\n' > wrong_once
chmod +x wrong_once
fails backends ./wrong_once one one

# refuses.sh: one error, with weft's message, naming the type, from either compiler.
refuses() { sh "$tools/refuses.sh" diagnostic program.cpp; }
printf '// SPDX\n\n/// Refused:\n///   weft: no,\n///   never\n/// Naming: the_type\n\nint x;\n' > program.cpp
clang="x.cpp:1:2: error: static assertion failed due to requirement 'a::b': weft: no, never"
gcc='x.cpp:1:2: error: static assertion failed: weft: no, never'
note='x.cpp:3:4: note: in instantiation of the_type'
printf '%s\n%s\n' "$clang" "$note" > diagnostic && passes refuses
printf '%s\n%s\n' "$gcc" "$note" > diagnostic && passes refuses
printf '%s\n' "$gcc" > diagnostic && fails refuses
printf '%s\n%s\n%s\n' "$gcc" "$note" 'x.cpp:9:9: error: another' > diagnostic && fails refuses
echo COMPILED > diagnostic && fails refuses
printf '// SPDX\n\nint x;\n' > program.cpp
printf 'x.cpp:1:2: error: \n' > diagnostic && fails refuses

# refuses.sh, by a deleted function: one error of the compiler, and weft's message behind the
# declaration.
printf '/// Refused by a deleted function:\n///   weft: no (not once)\n/// Naming: the_type\n\n' > program.cpp
clang="x.cpp:1:2: error: call to deleted constructor of 'the_type'"
gcc="x.cpp:1:2: error: use of deleted function 'the_type::the_type(const the_type&)'"
note='x.hpp:3:4: note: declared here
    3 |   the_type(the_type const&) = delete;  // weft: no (not once)'
printf '%s\n%s\n' "$clang" "$note" > diagnostic && passes refuses
printf '%s\n%s\n' "$gcc" "$note" > diagnostic && passes refuses
printf '%s\n%s, never\n' "$gcc" "$note" > diagnostic && fails refuses
printf '%s\n%s\n%s\n' "$gcc" "$note" "$clang" > diagnostic && fails refuses
printf '%s\n%s\n' 'x.cpp:1:2: error: another' "$note" > diagnostic && fails refuses
printf '%s\n' "$gcc" > diagnostic && fails refuses
echo COMPILED > diagnostic && fails refuses
sed -i 's/ by a deleted function//' program.cpp
printf '%s\n%s\n' "$clang" "$note" > diagnostic && fails refuses

# tangle.sh: the blocks of one language, in order; without any it fails.
printf 'prose\n```cpp\nint a;\n```\n```output\nout\n```\n```cpp\nint b;\n```\n' > chapter.md
sh "$tools/tangle.sh" output chapter.md > got
[ "$(cat got)" = out ] || { echo "tangle.sh output: $(cat got)"; status=1; }
sh "$tools/tangle.sh" cpp chapter.md | grep -v '^#' > got
[ "$(cat got)" = 'int a;
int b;' ] || { echo "tangle.sh cpp: $(cat got)"; status=1; }
fails sh "$tools/tangle.sh" rust chapter.md
printf '```cpp two\nint c;\n```\n' >> chapter.md
sh "$tools/tangle.sh" cpp chapter.md two | grep -v '^#' > got
[ "$(cat got)" = 'int c;' ] || { echo "tangle.sh cpp two: $(cat got)"; status=1; }
sh "$tools/tangle.sh" cpp chapter.md | grep -v '^#' > got
[ "$(cat got)" = 'int a;
int b;' ] || { echo "tangle.sh cpp, with another program: $(cat got)"; status=1; }
fails sh "$tools/tangle.sh" cpp chapter.md three

exit $status
