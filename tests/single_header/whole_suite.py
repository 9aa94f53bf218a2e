#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of the library with weft.hpp and weft_testing.hpp in place of the compiled library.

    tests/single_header/whole_suite.py [TEST...]      at the root of the tree; exits 1 if a test fails

Each header <weft/...> that a test includes stands for the single header that has it; io/, which the
single headers leave out, is compiled as it is.  TEST is a source file, as tests/effects/each_test.cpp; without one,
all of the library's tests are run.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

SINGLE = ("deque", "effects", "sched", "testing", "trace")  # what the single headers have
COMPILED = ("io",)  # what is compiled as it is
# But not these: they need another library, or are for tests.
ALONE = ("effects/ready/each_range_v3.hpp", *glob("testing/**/*catch2*.hpp", recursive=True),
         *glob("testing/**/*googletest*.hpp", recursive=True))
FLAGS = ["-std=c++20", "-O0", "-I."]
# Tests with names outside of all namespaces; each other test is compiled in a namespace (tools/merge.awk).
AS_IT_IS = {
    f"{name}_test.cpp"
    for names in re.findall(r'as_it_is = "(.*?)"', Path("tests/table.bzl").read_text(encoding="utf-8"))
    for name in names.split()
}


def stand_ins(folder):
    """Makes the include folder of the tests."""
    for header in (header for top in SINGLE for header in glob(f"{top}/**/*.hpp", recursive=True)):
        there = Path(folder, "weft", header)
        there.parent.mkdir(parents=True, exist_ok=True)
        if header in ALONE:
            there.symlink_to(Path(header).resolve())
        else:
            name = "weft_testing.hpp" if header.startswith(("testing/", "trace/", "testing/testing.hpp")) else "weft.hpp"
            there.write_text(f"#pragma once\n#include <{name}>\n")
    for top in COMPILED:
        Path(folder, "weft", top).symlink_to(Path(top).resolve())
    for name in ("weft.hpp", "weft_testing.hpp"):
        Path(folder, name).symlink_to(Path("bazel-bin", name).resolve())


def main(tests):
    subprocess.run(["./bazelw", "build", "//:weft.hpp", "//:weft_testing.hpp"], check=True)
    tests = tests or sorted(
        test for top in (*SINGLE, *COMPILED)
        for test in glob(f"tests/{top}/**/*_test.cpp", recursive=True)
        if not test.endswith("googletest_test.cpp")  # has a main of its own
    )
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(os.cpu_count()) as several:
        stand_ins(scratch)
        flags = [*FLAGS, f"-I{scratch}"]

        def run(*command):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            return "" if done.returncode == 0 else done.stdout[-4000:] or f"exit {done.returncode}"

        def compiled(source):
            output = f"{scratch}/{source.replace('/', '_')}.o"
            if error := run("clang++-19", *flags, "-c", source, "-o", output):
                sys.exit(f"{source}\n{error}")
            return output

        parsed = f"{scratch}/prelude.pch"
        if error := run("clang++-19", *flags, "-x", "c++-header", "tests/prelude.hpp", "-o", parsed):
            sys.exit(error)
        shared = ["tests/catch_main.cpp", *glob("tests/support/**/*.cpp", recursive=True)]
        shared += [source for top in COMPILED for source in glob(f"{top}/**/*.cpp", recursive=True)]
        objects = list(several.map(compiled, shared))

        def result(test):
            program = f"{scratch}/{test.replace('/', '_')}.program"
            source = test
            if Path(test).name not in AS_IT_IS:
                source = f"{program}.cpp"
                merged = subprocess.run(["awk", "-f", "tools/merge.awk", test], stdout=subprocess.PIPE, check=True)
                Path(source).write_bytes(merged.stdout)
            error = run("clang++-19", *flags, "-include-pch", parsed, source, *objects, "-o", program)
            return error or run(program)

        failed = 0
        for test, error in zip(tests, several.map(result, tests)):
            print("FAILED" if error else "passed", test, error, flush=True)
            failed += bool(error)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
