# Makes one source file of several: what they include first, then each in a namespace of its own.
#
#     awk -f merge.awk a_test.cpp b_test.cpp > merged.cpp          tests, in an unnamed namespace each
#     awk -v programs=1 -f merge.awk a.cpp b.cpp > merged.cpp      programs: the one runs that the argument names

FNR == 1 {
  if (NR > 1) body = body ends
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.cpp$/, "", name)
  begins = programs ? "namespace program_" name " {" : "namespace " name " { namespace {"
  ends = programs ? "}\n" : "}}\n"
  body = body begins "\n#line 1 \"" FILENAME "\"\n"
  calls = calls "  if (name == \"" name "\") return program_" name "::main(), 0;\n"
}

/^#include / {
  if (!seen[$0]++) print
  $0 = ""
}

{
  if (programs) sub(/^int main\(\)/, "void main()")
  body = body $0 "\n"
}

END {
  if (programs) print "#include <string_view>"
  printf "%s%s", body, ends
  if (programs)
    printf "int main(int, char** arguments) {\n  std::string_view const name = arguments[1];\n%s  return 2;\n}\n", calls
}
