#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Merges headers, and source files, into one header.

    single_header.py NAME [MERGED FILE...] -- FILE...      at the repository's root; prints the header NAME

NAME includes the header MERGED, if one is given, which has the files that follow.
A header is inserted where it is first included.  A function that a source file defines becomes inline, and
a template that it instantiates is instantiated where it is used.  Comments are left out.
"""

import re
import sys

INCLUDE = re.compile(r'#include "weft/(.*)"')
# A line at the margin that begins no definition of a function.
NO_FUNCTION = re.compile(r"namespace|using |struct |class |enum |#|//|\}|extern |inline |static |static_assert|constexpr |template")
FIRST = ("effects/effects.hpp", "sched/schedule.hpp")
# Internals, and headers that need another library.
NOT_INCLUDED = re.compile(r"/detail/.*\.hpp$|testing/testing|range_v3|catch2|googletest")
BANNER = """\
// SPDX-License-Identifier: MIT
// %s: weft, algebraic effects for C++20 coroutines, in one header.  Made by tools/single_header.py.
#pragma once
"""


def with_raw_text(lines):
    """(line, whether it is inside a raw string, and so must stay as it is)."""
    end = None
    for line in lines:
        if end:
            yield line, True
            if end in line:
                end = None
        elif m := re.search(r'R"(\w*)\(', line):
            end = f'){m.group(1)}"'
            yield line, False
            if end in line[m.end() :]:
                end = None
        else:
            yield line, False


def with_inline_functions(name, lines):
    """The lines of a source file; what it has for itself is in a namespace of its own."""
    before = ""
    for line, is_raw in with_raw_text(lines):
        if is_raw:
            yield line
            continue
        if line == "namespace {":
            yield f"inline namespace of_{name} {{"
        elif line and not line[0].isspace() and not NO_FUNCTION.match(line) and (not before or before[-1] in ";}{"):
            attributes = re.match(r"(?:\[\[.*?\]\] )*", line).group()
            yield attributes + "inline " + line[len(attributes) :]
        else:
            yield line
        if not line.startswith(("//", "#")):
            before = line.rstrip()


def without_comments(lines):
    for line, is_raw in with_raw_text(lines):
        if is_raw:
            yield line
        elif not line.lstrip().startswith("//"):
            yield re.sub(r"  // .*", "", line)


def merged(files, done):
    """The lines of all files and of what they include, but for the headers in `done`, which it extends."""

    # Once is enough, outside of conditions.
    included = set()

    def expand(path):
        if path in done:
            return
        done.add(path)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if path.endswith(".cpp"):
            lines = with_inline_functions(re.sub(r"\W", "_", path.removesuffix(".cpp")), lines)
        conditions = 0
        for line in without_comments(lines):
            conditions += line.startswith("#if") - line.startswith("#endif")
            if line.startswith("#include <") and conditions == 0:
                if line in included:
                    continue
                included.add(line)
            if m := INCLUDE.match(line):
                yield from expand(m.group(1))
            elif not re.match(r"#pragma once|// SPDX|(?:extern )?template class backend_scheduler<", line):
                yield line

    for path in files:
        yield from expand(path)


def in_order(files):
    """The headers that users include, and all source files."""
    chosen = {f for f in files if not NOT_INCLUDED.search(f)}
    return sorted(chosen, key=lambda f: (f.endswith(".cpp"), f not in FIRST, f))


def main(name, *arguments):
    base, files = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    done = set()
    print(BANNER % name, end="")
    if base:
        print(f'#include "{base[0]}"')
        list(merged(in_order(base[1:]), done))
    else:
        print("#ifndef WEFT_HEADER_ONLY\n#define WEFT_HEADER_ONLY\n#endif")
    print(re.sub(r"\n{3,}", "\n\n", "\n".join(merged(in_order(files), done))))


main(*sys.argv[1:])
