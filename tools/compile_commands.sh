#!/bin/sh
# tools/compile_commands.sh [BAZEL FLAG...]: writes compile_commands.json at the root, for clangd.
#
# Asks Bazel how it compiles each source file, without compiling any.  Flags are those of
# `./bazelw build`, such as --config=gcc.  Run it again when a source file or a flag is new.
cd "$(dirname "$0")/.." || exit 1
actions=$(mktemp) || exit 1
trap 'rm -f "$actions"' EXIT

# A pattern does not stand for the targets that are tagged manual, such as those of //bench.
manual=$(./bazelw query 'kind("cc_.* rule", attr(tags, manual, //...))') || exit
./bazelw aquery "$@" "mnemonic(CppCompile, //... + set($manual))" --output=jsonproto > "$actions" || exit
python3 - "$actions" << 'END'
import json
import os
import re
import sys

# Flags that only Bazel's own build needs: outputs, module maps of layering_check, the precompiled
# header of tests, which another version of clang cannot read, and the links to headers that a build
# makes, in place of which include/weft stands.
WITH_VALUE = {"-MF", "-c", "-include-pch", "-o"}
ALONE = re.compile(
    r"-MD|-std=c\+\+0x|-frandom-seed=.*|-fmodule.*|-Wprivate-header|-D__(DATE|TIME|TIMESTAMP)__=.*"
    r"|-I.*/_virtual_includes/.*"
)


def flags_for_clangd(arguments):
    rest = iter(arguments)
    for flag in rest:
        if flag in WITH_VALUE:
            next(rest)
        elif not ALONE.fullmatch(flag):
            yield flag


commands = {}
with open(sys.argv[1], encoding="utf-8") as file:
    actions = json.load(file).get("actions", [])
for action in actions:
    arguments = action["arguments"]
    source = arguments[arguments.index("-c") + 1]
    # Generated files are for Bazel only.  Of several ways to compile one source, the first will do.
    if not source.startswith(("bazel-out/", "external/")) and source not in commands:
        flags = list(flags_for_clangd(arguments))
        commands[source] = {"directory": os.getcwd(), "file": source, "arguments": [*flags, "-Iinclude", "-c", source]}
if not commands:
    sys.exit("weft: Bazel compiles no source file of this tree")
with open("compile_commands.json", "w", encoding="utf-8") as file:
    json.dump([commands[source] for source in sorted(commands)], file, indent=1)
    file.write("\n")
print(f"compile_commands.json: {len(commands)} source files")
END
