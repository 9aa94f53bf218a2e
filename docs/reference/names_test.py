#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the reference to the headers: every public name is listed, has a docstring, and is used by an example; every
function, operation and class has cost, allocation, threads and errors.

    names_test.py       prints each difference; exits 1 if there is one
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from names import public_names
from programs import Finder, examples
from usual import contradictions, lacks


# What the cheat sheet has in code besides public names: C++, and names of its own.
NOT_OURS = {
    *("auto", "bool", "co_await", "const", "int", "class", "namespace", "template", "true", "using", "on"),
    *("args", "handlers", "held", "h1", "h2", "in1", "in2", "init", "io_row", "Es", "Op", "out", "path", "pred", "program"),
    *("to", "up", "text", "op"),
}


def main(root):
    names = public_names(root)
    listed = (root / "docs/reference/names.txt").read_text().split()
    faults = []
    faults += [f"{n}: declared, and not in docs/reference/names.txt: names.py --write" for n in names if n not in listed]
    faults += [f"{n}: in docs/reference/names.txt, and gone from the headers" for n in listed if n not in names]
    if sorted(set(listed)) != listed:
        faults.append("docs/reference/names.txt is not sorted: names.py --write")
    faults += [f"{q}: has no docstring, at {n.header}:{n.main.line}" for q, n in names.items() if not n.doc]

    for q, n in names.items():
        faults += [f"{q}: lacks {field}, at {n.header}:{n.main.line}" for field in lacks(n)]
        faults += [f"{q}: {fault}, at {n.header}:{n.main.line}" for fault in contradictions(n)]

    finder, used = Finder(names), set()
    programs = examples(root)
    for p in programs:
        used |= finder.uses(p)
        if not p.title:
            faults.append(f"{p.path}: begins with the license line, and a comment that says what it shows")
        if not p.expected:
            faults.append(f"{p.path}: has no .expected")
    faults += [f"{q}: is used by no program of docs/reference/examples" for q in names if q not in used]

    sheet = root / "docs/cheat_sheet.md"
    if sheet.exists():
        known = {n.own for n in names.values()} | {"weft"} | NOT_OURS
        for line, text in enumerate(sheet.read_text().splitlines(), 1):
            code = " ".join(re.findall(r"`([^`]*)`", text))
            code = re.sub(r"\b[\w/]+\.hpp\b|\bstd::\w+|\bweft/\.\.\.|\d+s\b", "", code)
            faults += [
                f"docs/cheat_sheet.md:{line}: there is no name {word}"
                for word in re.findall(r"(?<![\w])[A-Za-z_]\w+\b", code)
                if word not in known
            ]

    for fault in faults:
        print(fault)
    print(f"{len(names)} names, {len(programs)} examples, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
