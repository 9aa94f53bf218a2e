#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What does each public header cost a compiler?

    ./bazelw run //tools:include_cost                 a table of all public headers
    ./bazelw run //tools:include_cost -- --check      the headers that have a budget; exits 1 if one is over it

By clang's -ftime-trace of a file that includes the header alone, without optimization: `all` is the time of
the front end, `standard` the part of it in the standard headers, which the header needs anyway, `own` the part
in weft's headers, and `ratio` is all / standard.  Times are in milliseconds, the best of three.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

FOLDERS = ("adapters", "cluster", "deque", "durable", "effects", "io", "sched", "testing", "trace")
# The ratio that a header may have, a tenth more than it has.  The umbrella headers are what programs
# include.
BUDGET = {
    "deque/deque.hpp": 1.2,
    "effects/effects.hpp": 1.5,
    "sched/schedule.hpp": 1.9,
    "sched/sharing.hpp": 1.9,
    "sched/stealing.hpp": 2.0,
    "testing/testing.hpp": 2.0,
    "io/io.hpp": 1.2,
}


def times(header, scratch):
    """(all, standard, own): the times for one header, in milliseconds."""
    source, trace = f"{scratch}/header.cpp", f"{scratch}/trace.json"
    Path(source).write_text(f"#include <weft/{header}>\n")
    flags = ["-std=c++20", "-Iinclude", "-O0", "-c", "-o", f"{scratch}/o", f"-ftime-trace={trace}"]
    subprocess.run(["clang++-19", *flags, "-ftime-trace-granularity=100", source], check=True)
    events = json.loads(Path(trace).read_text())["traceEvents"]
    whole = next(e["dur"] for e in events if e["name"] == "Total Frontend")
    # Files are nested: a file's own time is that between the begin and end events around it.
    nested = sorted((e for e in events if e["name"] == "Source"), key=lambda e: (e["ts"], e["ph"] == "b"))
    inside, spent, last = [], Counter(), 0
    for e in nested:
        if inside:
            spent["/weft/" in inside[-1]] += e["ts"] - last
        last = e["ts"]
        if e["ph"] == "b":
            inside.append(e["args"]["detail"])
        else:
            inside.pop()
    return whole / 1000, spent[False] / 1000, spent[True] / 1000


def main(check):
    os.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or Path(__file__).parent.parent)
    headers = sorted(
        str(path)
        for folder in FOLDERS
        for path in Path(folder).rglob("*.hpp")
        if "detail" not in path.parts and path.name not in ("catch2.hpp", "catch2_v3.hpp", "each_range_v3.hpp", "googletest.hpp", "stdexec.hpp")
    )
    over = 0
    print(f"{'header':36} {'all':>6} {'standard':>9} {'own':>6} {'ratio':>6} {'budget':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        for header in headers:
            budget = BUDGET.get(header)
            if check and not budget:
                continue
            # The least of three; of up to nine, as long as it is over: on a busy machine it is never too small.
            all_times = []
            for i in range(9):
                if i < 3 or (budget and min(all_times)[0] > budget):
                    t = times(header, scratch)
                    all_times.append((t[0] / t[1], t))
            whole, standard, own = min(all_times)[1]
            ratio = whole / standard
            is_over = bool(budget) and ratio > budget
            over += is_over
            print(
                f"{header:36} {whole:6.0f} {standard:9.0f} {own:6.0f} {ratio:6.2f} "
                f"{budget or '':>7}{'  OVER' if is_over else ''}",
                flush=True,
            )
    return 1 if over else 0


if set(sys.argv[1:]) - {"--check"}:
    sys.exit(__doc__)
sys.exit(main("--check" in sys.argv))
