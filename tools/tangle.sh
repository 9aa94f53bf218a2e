#!/bin/sh
# tangle.sh LANGUAGE CHAPTER [PROGRAM]: prints the chapter's blocks in LANGUAGE, one after another.
# The blocks of a PROGRAM name it behind the language; without PROGRAM, the blocks that name none are
# printed.  C++ blocks get a #line, so that the compiler reports errors in the chapter itself.  g++ 12
# takes the chapter for a header, and warns about closures that a header's coroutine passes to a
# template.
awk -v language="$1" -v chapter="$2" -v program="$3" '
  BEGIN {
    sub(/^\.\//, "", chapter)
    head = "```" language (program == "" ? "" : " " program)
    if (language == "cpp")
      printf "#ifndef __clang__\n#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n#endif\n"
  }
  $0 == head {
    inside = found = 1
    if (language == "cpp") printf "#line %d \"%s\"\n", NR + 1, chapter
    next
  }
  /^```/ { inside = 0; next }
  inside { print }
  END {
    if (found) exit 0
    print chapter ": no block " head > "/dev/stderr"
    exit 1
  }' "$2"
