# Makes one source file of tests: what they include first, then each in an unnamed namespace of its own.
#
#     awk -f merge.awk a_test.cpp b_test.cpp > merged.cpp

FNR == 1 {
  if (NR > 1) body = body "}}\n"
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.cpp$/, "", name)
  body = body "namespace " name " { namespace {\n#line 1 \"" FILENAME "\"\n"
}

/^#include / {
  if (!seen[$0]++) print
  $0 = ""
}

{ body = body $0 "\n" }

END { printf "%s}}\n", body }
