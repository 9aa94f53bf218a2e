#!/usr/bin/env python3
"""Holds docs/errors.md to the headers: every message of ours has its paragraph, and no other has."""

import pathlib
import re
import sys

HEADERS = [p for d in ("deque", "effects", "io", "sched", "testing", "trace") for p in pathlib.Path(d).rglob("*.hpp")]


def messages(text):
    """What the static_asserts, the #errors and the deleted functions of a header say."""
    for said in re.findall(r'static_assert\([^;"]*((?:"[^"]*"\s*)+)\)', text):
        yield "".join(re.findall(r'"([^"]*)"', said))
    yield from re.findall(r'^#error "(.*)"', text, re.M)
    yield from re.findall(r"= delete;\s*// (weft: .*)", text)


def main():
    said = {m for p in HEADERS for m in messages(p.read_text()) if re.match(r"weft: \w", m)}
    explained = set(re.findall(r"^\*\*(weft: .*)\*\*$", pathlib.Path("docs/errors.md").read_text(), re.M))
    for m in sorted(said - explained):
        print("not in docs/errors.md:", m)
    for m in sorted(explained - said):
        print("nobody says:", m)
    print(f"{len(said)} messages")
    return 1 if said != explained or len(said) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
