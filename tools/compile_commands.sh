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


def sources_in(source):
    """The files that Bazel compiles as `source`: a library's are those of its folder, as one file, and a test's
    is in a namespace there."""
    test = re.fullmatch(r"bazel-out/[^/]+/bin/(.*)/merged/(\w+\.cpp)", source)
    if test:
        file = f"{test.group(1)}/{test.group(2)}"
        return [file] if os.path.exists(file) else []
    merged = re.fullmatch(r"bazel-out/[^/]+/bin/(.*)/\w+_sources\.cpp", source)
    if not merged:
        # Other generated files are for Bazel only.
        return [] if source.startswith(("bazel-out/", "external/")) else [source]
    found = []
    for folder, below, files in os.walk(merged.group(1)):
        below[:] = [b for b in below if not os.path.exists(f"{folder}/{b}/BUILD")]
        found += [f"{folder}/{f}" for f in files if f.endswith(".cpp")]
    return found


commands = {}
with open(sys.argv[1], encoding="utf-8") as file:
    actions = json.load(file).get("actions", [])
for action in actions:
    arguments = action["arguments"]
    # Of several ways to compile one source, the first will do.
    for source in sources_in(arguments[arguments.index("-c") + 1]):
        if source not in commands:
            flags = [*flags_for_clangd(arguments), "-Iinclude", "-c", source]
            commands[source] = {"directory": os.getcwd(), "file": source, "arguments": flags}
if not commands:
    sys.exit("weft: Bazel compiles no source file of this tree")
with open("compile_commands.json", "w", encoding="utf-8") as file:
    json.dump([commands[source] for source in sorted(commands)], file, indent=1)
    file.write("\n")
print(f"compile_commands.json: {len(commands)} source files")
END
