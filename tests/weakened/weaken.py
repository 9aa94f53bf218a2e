#!/usr/bin/env python3
"""Merges a program and the files of the library that it includes, with orders that it can weaken.

    weaken.py PROGRAM.cpp      at the repository's root; prints one source file

The program lists these orders in comments, and selects one of them when it runs (weakened.hpp):

    // weakens 3 in sched/base/process.hpp to release: owners_.fetch_sub(1, std::memory_order_acq_rel
    // skips for 3 in sched/base/process.hpp: owners_.load(std::memory_order_acquire) == 1 ||

The text after the colon must occur in that header exactly once, up to white space.  `weakens` weakens the
last order in the text.  `skips` makes the text, a condition, false: for an order that would otherwise be
reached by chance only.  A comment is continued by the next one if that is indented further.
Each header is inserted where it is first included, so no unweakened copy of it can be included.  A source
file beside a header, X.cpp beside X.hpp, is inserted at the end, likewise with its orders.
"""

import os
import re
import sys

WEAKER = {
    "seq_cst": {"acq_rel", "acquire", "release", "relaxed"},
    "acq_rel": {"acquire", "release", "relaxed"},
    "acquire": {"relaxed"},
    "release": {"relaxed"},
}
FIRST = "tests/weakened/weakened.hpp"


def refuse(why):
    sys.exit("weaken.py: " + why)


def comments(program):
    """Yields (label, header, order, text) for each such comment; order is None for `skips`."""
    one_line = re.sub(r"\n//   +", " ", program)
    for m in re.finditer(r"^// (?:weakens|skips for) (\d+) in (\S+?)(?: to (\w+))?: (.*)$", one_line, re.M):
        yield m.groups()


def place_of(wanted, header, text):
    """The only occurrence of `wanted` in the header: its start, and its text."""
    places = list(re.finditer(r"\s+".join(map(re.escape, wanted.split())), text))
    if len(places) != 1:
        refuse(f"{header} has {len(places)} times, not once: {wanted}")
    return places[0].start(), places[0].group()


def weakened(header, text, wishes):
    """The header's text, in which the orders and conditions of `wishes` depend on the label."""
    chosen = "weft::tests::weakened_order"
    new = {}  # the replacement of each span
    for label, _, order, wanted in wishes:
        start, found = place_of(wanted, header, text)
        if not order:
            end = start + len(found[: found.rindex("||")].rstrip())
            new[start, start] = f"({chosen} != {label} && "
            new[end, end] = ")"
            continue
        orders = list(re.finditer(r"std::memory_order_(\w+)", found))
        if not orders or order not in WEAKER.get(orders[-1].group(1), {}):
            refuse(f"{order} is not weaker than the last order in: {wanted}")
        span = start + orders[-1].start(), start + orders[-1].end()
        choice = new.get(span, orders[-1].group())
        new[span] = f"{chosen} == {label} ? std::memory_order_{order} : {choice}"
    for (start, end), choice in sorted(new.items(), reverse=True):
        text = text[:start] + (choice if start == end else f"({choice})") + text[end:]
    return text


def main(program):
    todo = list(comments(open(program).read()))
    labels = [int(label) for label, _, order, _ in todo if order]
    if labels != list(range(1, len(labels) + 1)):
        refuse(f"labels are to be 1, 2, ...: {labels}")
    done = set()
    sources = []

    def expand(path):
        if path in done:
            return
        done.add(path)
        if path.endswith(".hpp") and os.path.exists(source := path.removesuffix(".hpp") + ".cpp"):
            sources.append(source)
        text = weakened(path, open(path).read(), [wish for wish in todo if wish[1] == path])
        print(f'#line 1 "{path}"')
        for number, line in enumerate(text.splitlines(), 1):
            if m := re.match(r'#include "(?:weft/)?(.*)"', line):
                expand(m.group(1))
                print(f'#line {number + 1} "{path}"')
            else:
                print("" if line == "#pragma once" else line)

    expand(FIRST)  # defines weakened_order
    expand(program)
    for source in sources:  # which may include headers with others
        expand(source)
    for _, header, *_ in todo:
        if header not in done:
            refuse(f"{program} does not include {header}")


main(*sys.argv[1:])
