#!/usr/bin/env python3
"""How long does a compiler take for a page of program?

    ./bazelw run --config=bench //bench:compile -- [--json] [--quick]

The rival of each case is a file that includes the standard headers that weft's headers include, and has an
empty main.  Both are compiled by clang 19, in turns; a value is the user time of the compiler, the least of
all rounds.  `compile+link` links with the library, which has been compiled before.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CLANG = ["clang++-19", "-std=c++20"]
ROUNDS = 7


def files_of(source):
    """The files that `source` includes, itself among them."""
    made = subprocess.run(
        [*CLANG, "-I..", "-MM", source], check=True, capture_output=True, text=True
    ).stdout
    return [word for word in made.replace("\\\n", " ").split()[1:]]


def standard_headers(source):
    """A file with the standard headers that weft's headers and `source` include, and an empty main."""
    found = set()
    for path in files_of(source):
        found |= set(re.findall(r"^#include <(?!weft/)[\w/.]+>", Path(path).read_text(), re.M))
    return "\n".join(sorted(found)) + "\nint main() {}\n"


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def compiled_library(scratch):
    """The object files of the library, compiled as for an installation."""
    objects = []
    for source in sorted(str(p) for room in ("effects", "sched") for p in Path(room).rglob("*.cpp")):
        if not Path(source).is_file():  # a link to a file that is gone
            continue
        objects.append(f"{scratch}/{source.replace('/', '_')}.o")
        subprocess.run([*CLANG, "-O2", "-I..", "-c", source, "-o", objects[-1]], check=True)
    return objects


def main(quick, as_json):
    os.chdir(Path(sys.argv[0] + ".runfiles").absolute() / "weft")
    with tempfile.TemporaryDirectory() as scratch:
        program = "tests/consumer/minimal.cpp"
        header = f"{scratch}/header.cpp"
        Path(header).write_text('#include "weft/sched/schedule.hpp"\nint main() {}\n')
        library = [] if quick else compiled_library(scratch)
        cases = [
            ("schedule.hpp", header, ["-O0", "-fsyntax-only"]),
            ("minimal/O0", program, ["-O0", "-c"]),
            ("minimal/O2", program, ["-O2", "-c"]),
        ]
        if not quick:
            cases.append(("minimal/O0/link", program, ["-O0", *library, "-pthread"]))
            cases.append(("minimal/O2/link", program, ["-O2", *library, "-pthread"]))
        for name, source, how in cases:
            rival = f"{scratch}/rival.cpp"
            Path(rival).write_text(standard_headers(source))
            output = [] if "-fsyntax-only" in how else ["-o", f"{scratch}/out"]
            least = [float("inf"), float("inf")]
            for _ in range(1 if quick else ROUNDS):
                for i, file in enumerate((source, rival)):
                    least[i] = min(least[i], seconds([*CLANG, "-I..", file, *how, *output]))
            report(as_json, name, *least)


def report(as_json, name, value, rival_value):
    ratio = value / rival_value
    if as_json:
        line = {
            "bench": "compile",
            "case": name,
            "value": round(value, 3),
            "unit": "s",
            "rival": "standard headers",
            "rival_value": round(rival_value, 3),
            "ratio": round(ratio, 3),
        }
        print(json.dumps(line), flush=True)
    else:
        print(f"{name:16} {value:6.2f} s   standard headers {rival_value:6.2f} s   {ratio:5.2f}", flush=True)


if set(sys.argv[1:]) - {"--quick", "--json"}:
    sys.exit(__doc__)
main("--quick" in sys.argv, "--json" in sys.argv)
