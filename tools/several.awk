# Makes one program of several: each is in a namespace of its own, and runs if the first argument is its name.
#
#     awk -f several.awk a.cpp b.cpp > several.cpp

FNR == 1 {
  if (NR > 1) body = body "}\n"
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.cpp$/, "", name)
  body = body "namespace program_" name " {\n#line 1 \"" FILENAME "\"\n"
  calls = calls "  if (name == \"" name "\") return program_" name "::main(), 0;\n"
}

/^#include / {
  if (!seen[$0]++) print
  $0 = ""
}

{
  sub(/^int main\(\)/, "void main()")
  body = body $0 "\n"
}

END {
  print "#include <string_view>"
  printf "%s}\nint main(int, char** arguments) {\n  std::string_view const name = arguments[1];\n%s  return 2;\n}\n", body, calls
}
