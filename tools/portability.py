#!/usr/bin/env python3
"""Tries weft with each compiler of MATRIX that this machine has, and prints a table of what it found.

    tools/portability.py [--write] [WORD...]

With --write the table replaces the one in docs/portability.md; with words, only rows that contain one are
tried.  A compiler that cannot compile a program of four lines is not there.  Exits 1 if a compiler
reports what is not an error in weft's own words.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Compiler, its command with options, and what runs its programs: None if nothing does.
MATRIX = [
    *[(f"g++ {v}", f"g++-{v}", []) for v in (12, 13, 14, 15)],
    *[(f"clang {v}", f"clang++-{v}", []) for v in (16, 17, 18, 19, 20)],
    ("clang 19, libc++", "clang++-19 -stdlib=libc++ -fexperimental-library", []),
    ("clang 19, libc++, no `-fexperimental-library`", "clang++-19 -stdlib=libc++", []),
    ("g++ 12, `-fno-rtti`", "g++-12 -fno-rtti", []),
    ("clang 19, `-fno-rtti`", "clang++-19 -fno-rtti", []),
    ("g++ 12, `-fno-exceptions`", "g++-12 -fno-exceptions", []),
    ("clang 19, `-fno-exceptions`", "clang++-19 -fno-exceptions", []),
    ("g++ 14, `-m32`", "g++-14 -m32", []),
    ("clang 18, `-m32`", "clang++-18 -m32", []),
    ("g++ 12, ARM64", "aarch64-linux-gnu-g++-12 -static", ["qemu-aarch64"]),
    ("clang 19, ARM64", "clang++-19 --target=aarch64-linux-gnu -static", ["qemu-aarch64"]),
    ("g++ 12, Windows (mingw-w64)", "x86_64-w64-mingw32-g++-posix -static", ["wine64"]),
    ("clang 19, macOS", "clang++-19 --target=arm64-apple-macos14 -stdlib=libc++", None),
]
STANDARDS = {"C++20": "c++20", "C++23": "c++2b", "C++26": "c++2c"}
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast".split()
# By part of the library: the source files of each are compiled as one.
PARTS = (("deque", "effects", "sched"), ("testing",), ("trace",), ("io",))
# Headers that include a library which need not be there; and the one for Linux, which has its column.
OTHERS = ("effects/ready/each_range_v3.hpp", "testing/catch2.hpp", "testing/catch2_v3.hpp", "testing/googletest.hpp")
REACTOR = "io/reactor.hpp"
SMALL = """#include <thread>
#include <tuple>
std::tuple<int> one{1};
int main() { std::thread([] {}).join(); }
"""
PAGE = Path("docs/portability.md")
BEGIN, END = "<!-- printed by tools/portability.py -->\n", "<!-- until here -->\n"


def includes(ending, parts=PARTS):
    """Lines that include all public headers, or all source files, of the parts."""
    found = sorted(str(p) for part in parts for folder in part for p in Path(folder).rglob("*" + ending))
    if ending == ".hpp":
        found = [p for p in found if not re.search("/detail/|/memory/", p)]
        found = [p for p in found if p != REACTOR and p not in OTHERS]
    return "".join(f"#include <weft/{p}>\n" for p in found)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class Compiler:
    def __init__(self, command, scratch):
        self.command = command.split() + ["-Iinclude", "-DWEFT_SILENCE_GCC12"]
        self.scratch = scratch
        self.said = set()  # in weft's own words
        self.failed = False

    def __call__(self, source, *options):
        """How the compiler takes a source: a cell of the table."""
        path = self.scratch / "source.cpp"
        path.write_text(source)
        made = run([*self.command, *options, str(path)])
        errors = re.findall(r"error: (.*)", made.stderr.replace("error: #error", "error:"))
        warnings = re.findall(r"warning: (.*)", made.stderr)
        if made.returncode == 0:
            self.failed |= bool(warnings)
            return f"{len(warnings)} warnings" if warnings else "yes"
        if errors and "weft: " in errors[0] and len(errors) <= 2:
            self.said |= set(re.findall("weft: [^\"']*", errors[0]))
            return "refused"
        self.failed = True
        sys.stderr.write(made.stderr[:4000])
        return f"{len(errors)} errors"

    def version(self):
        """Empty if the compiler is not there."""
        if not self.accepts("c++20"):
            return ""
        return run([self.command[0], "-dumpfullversion", "-dumpversion"]).stdout.split()[0]

    def accepts(self, standard):
        """Whether the compiler knows the standard, and its library compiles with it."""
        (self.scratch / "small.cpp").write_text(SMALL)
        small = [str(self.scratch / "small.cpp"), "-std=" + standard, "-o", str(self.scratch / "small")]
        try:
            return run([*self.command, *small]).returncode == 0
        except FileNotFoundError:
            return False

    def programs(self, runner):
        """The programs of docs/tour.md and README.md, compiled with the library, and run."""
        flags = ["-std=c++20", "-O1", "-pthread", "-w"]
        library = []
        for part in PARTS:
            library.append(str(self.scratch / f"{part[-1]}.o"))
            cell = self(includes(".cpp", [part]), *flags, "-c", "-o", library[-1])
            if cell != "yes":
                return cell
        runs = runner is not None and all(shutil.which(word) for word in runner)
        right = 0
        names = [("README.md", "")]
        tour = re.findall(r"^```cpp *(\w*)$", Path("docs/tour.md").read_text(), re.M)
        names += [("docs/tour.md", name) for name in dict.fromkeys(tour)]
        for file, name in names:
            of = lambda language: run(["sh", "tools/tangle.sh", language, file, name]).stdout
            program = str(self.scratch / "program.exe")
            if self(of("cpp"), *flags, *library, "-o", program) != "yes":
                continue
            if not runs:
                right += 1
                continue
            printed = run([*runner, program], timeout=60).stdout
            right += printed == of("output")
        self.failed |= right != len(names)
        if right != len(names):
            return f"{right} of {len(names)}"
        return "yes" if runs else "linked, not run"


def row(name, command, runner):
    """A row of the table, what the compiler said in weft's words, and whether all is well."""
    with tempfile.TemporaryDirectory() as scratch:
        compiler = Compiler(command, Path(scratch))
        version = compiler.version()
        if not version:
            return f"| {name} | not tried |" + " |" * (len(STANDARDS) + 2) + "\n", set(), True
        cells = []
        for standard in STANDARDS.values():
            headers = [*WARNINGS, "-std=" + standard, "-fsyntax-only"]
            cells.append(compiler(includes(".hpp"), *headers) if compiler.accepts(standard) else "—")
        cells.append(compiler(f"#include <weft/{REACTOR}>\n", *WARNINGS, "-std=c++20", "-fsyntax-only"))
        cells.append(compiler.programs(runner))
        return f"| {name} | {version} | {' | '.join(cells)} |\n", compiler.said, not compiler.failed


def main(words):
    table = f"| compiler | version | {' | '.join(STANDARDS)} | `{REACTOR}` | programs |\n"
    table += "|---" * (len(STANDARDS) + 4) + "|\n"
    said, good = {}, True
    for name, command, runner in MATRIX:
        if words and not any(word in name for word in words):
            continue
        line, refused, well = row(name, command, runner)
        sys.stderr.write(line)
        table += line
        said.update({message: said.get(message, []) + [name] for message in refused})
        good &= well
    for message, names in said.items():
        table += f"\n`{message}`: {'; '.join(names)}.\n"
    return table, good


if __name__ == "__main__":
    arguments = sys.argv[1:]
    writes = "--write" in arguments
    table, good = main([a for a in arguments if a != "--write"])
    if writes:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1])
    else:
        sys.stdout.write(table)
    sys.exit(0 if good else 1)
