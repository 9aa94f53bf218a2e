#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto_test.py PROGRAM...: runs each example with --trace=FILE.json, and checks the file.

The rules are those of the "Trace Event Format" of the Catapult project: the members that each phase has; slices
of a track begin and end in pairs, one inside the other; an arrow has one begin and one end, not before it, and
both are inside a slice, since viewers hang an arrow on the slice around its end.
"""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict

MEMBERS = {
    "M": {"name", "args"}, "B": {"name"}, "E": set(), "i": {"name", "s"}, "C": {"name", "args"},
    "s": {"name", "cat", "id"}, "f": {"name", "cat", "id", "bp"},
}  # fmt: skip


def mistakes(trace):
    """The rules that a trace breaks."""
    open_slices = defaultdict(list)
    arrows = {}
    last = 0.0
    for n, e in enumerate(trace["traceEvents"]):
        where = f"entry {n}, {e}"
        phase = e.get("ph")
        if phase not in MEMBERS:
            yield f"{where}: no such phase"
            continue
        missing = (MEMBERS[phase] | {"pid", "tid", "ts"}) - e.keys()
        if missing:
            yield f"{where}: lacks {sorted(missing)}"
            continue
        track = e["pid"], e["tid"]
        if phase == "M":
            if not isinstance(e["args"].get("name"), str):
                yield f"{where}: a name is a text"
            continue
        if phase != "s" and e["ts"] < last:
            yield f"{where}: is before the one above it"
        if phase != "s":
            last = e["ts"]
        if phase == "B":
            open_slices[track].append(e["ts"])
        elif phase == "E":
            if not open_slices[track]:
                yield f"{where}: ends no slice"
            else:
                open_slices[track].pop()
        elif phase == "C":
            if not all(isinstance(v, (int, float)) and v >= 0 for v in e["args"].values()):
                yield f"{where}: a counter is a number"
        elif phase == "s":
            if e["id"] in arrows:
                yield f"{where}: a second begin"
            arrows[e["id"]] = e
        elif phase == "f":
            begin = arrows.pop(e["id"], None)
            if not begin or begin["name"] != e["name"] or begin["ts"] > e["ts"] or e["bp"] != "e":
                yield f"{where}: ends no arrow"
            elif not open_slices[track]:
                yield f"{where}: ends outside of a slice"
    for track, begun in open_slices.items():
        if begun:
            yield f"track {track}: {len(begun)} slices do not end"


def main(programs):
    wrong = arrows = 0
    for program in programs:
        for backend in ("one_thread", "sharing", "stealing", "random"):
            file = os.path.join(os.environ["TEST_TMPDIR"], "trace.json")
            subprocess.run([program, f"--backend={backend}", f"--trace={file}"], check=True, stdout=subprocess.DEVNULL)
            with open(file, encoding="utf-8") as text:
                trace = json.load(text)
            found = list(mistakes(trace))
            phases = Counter(e["ph"] for e in trace["traceEvents"])
            print(f"{program} {backend}: {dict(phases)}")
            for line in found[:10]:
                print("  " + line)
            counters = [e["args"] for e in trace["traceEvents"] if e["ph"] == "C"]
            wrong += bool(found) or phases["B"] == 0 or not counters
            # In the end all have been taken, whichever thread has put them.
            wrong += any(counters[-1].values()) if counters else 0
            arrows += phases["f"]
    # The checks see what is wrong.
    good = {"ph": "B", "pid": 1, "tid": 1, "ts": 1, "name": "a"}
    for bad in ([good], [{**good, "ph": "E"}], [{**good, "ph": "x"}], [{"ph": "B"}],
                [good, {**good, "ph": "f", "cat": "c", "id": 1, "bp": "e"}, {**good, "ph": "E"}]):  # fmt: skip
        if not list(mistakes({"traceEvents": bad})):
            print(f"not seen as wrong: {bad}")
            wrong += 1
    return wrong != 0 or arrows == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
