#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the files of the walks of ARCHITECTURE.md, and holds the page to them.

    tools/walks.py           fails if the page says another number
    tools/walks.py --list    prints the files of each walk
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WALKS = {"yield": "**A yield**", "message": "**A message**", "join": "**A join**"}
FLAGS = ["-std=c++20", "-O0", "-g", "-no-pie", "-finstrument-functions", "-I", str(ROOT / "include")]


def files_of_walks(folder):
    """{walk: the files of which a function executes}"""
    program = folder / "walks"
    sources = sorted(str(p) for room in ("effects", "sched") for p in (ROOT / room).rglob("*.cpp"))
    subprocess.run(["clang++-19", *FLAGS, str(ROOT / "tools/walks.cpp"), *sources, "-lpthread", "-o", str(program)], check=True)
    executed = {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        walk, address = line.split()
        executed.setdefault(walk, set()).add(address)
    found = {}
    for walk, addresses in executed.items():
        places = subprocess.run(["addr2line", "-e", program, *sorted(addresses)], check=True, capture_output=True, text=True).stdout
        paths = {re.sub(r"^.*/include/weft/|:[\d?]+.*$", "", p).removeprefix(f"{ROOT}/") for p in places.splitlines()}
        found[walk] = sorted(p for p in paths if p.startswith(("effects/", "sched/", "deque/")))
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = files_of_walks(Path(folder))
    page = (ROOT / "ARCHITECTURE.md").read_text()
    wrong = 0
    for walk, title in WALKS.items():
        if "--list" in sys.argv:
            print(f"{walk}: {len(found[walk])}\n  " + "\n  ".join(found[walk]))
        said = re.search(re.escape(title) + r".*?(\d+) files", page, re.S).group(1)
        if int(said) != len(found[walk]):
            print(f"ARCHITECTURE.md says {said} files of {title}: {len(found[walk])} execute")
            wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
