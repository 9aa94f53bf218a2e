#!/usr/bin/env python3
"""Rules of the house that a compiler does not check.

    tools/lint.py FILE...      prints `file:line: rule` for each breach; exits 1 if there is one

Each rule is a function from a file's path and text to the lines at fault.
"""

import re
import sys

LIBRARY = ("deque/", "effects/", "io/", "sched/", "testing/")


def code_of(text):
    """The text with comments, strings and characters blanked, line by line as it was."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def parenthesised(code, head):
    """Yields (line, inside) for each `head (...)` of the code."""
    for m in re.finditer(head + r"\s*\(", code):
        depth, at = 1, m.end()
        while at < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        yield code.count("\n", 0, m.start()) + 1, code[m.end() : at - 1]


def awaits(head):
    return lambda path, text: [
        line for line, inside in parenthesised(code_of(text), head) if "co_await" in inside
    ]


def lines_matching(pattern, text):
    return [i for i, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


def clock_in_test(path, text):
    """weft's own sleep_for is no sleep: with virtual time it takes none."""
    if not path.startswith("tests/"):
        return []
    return lines_matching(
        r"(?<!timing::)sleep_(for|until)\b|\b(u|nano)?sleep\s*\(|(steady|system|high_resolution)_clock|\bclock\s*\(|gettimeofday",
        code_of(text),
    )


def macro(path, text):
    """No macro in the library; elsewhere none that looks like a function."""
    pattern = r"^\s*#\s*define\b" if path.startswith(LIBRARY) else r"^\s*#\s*define\s+\w+\("
    return lines_matching(pattern, code_of(text))


def long_header(path, text):
    return [401] if path.endswith(".hpp") and text.count("\n") > 400 else []


def first_line(path, text):
    lines = text.splitlines() + ["", ""]
    if lines[0] != "// SPDX-License-Identifier: MIT":
        return [1]
    return [2] if path.endswith(".hpp") and lines[1] != "#pragma once" else []


def unexplained_order(path, text):
    """In the library a memory order has a comment on its line or on the few above."""
    if not path.startswith(LIBRARY):
        return []
    lines = text.splitlines()
    order = re.compile(r"memory_order|[(, ](relaxed|acquire|release|acq_rel|seq_cst)\)")
    return [
        i + 1
        for i, line in enumerate(code_of(text).splitlines())
        if order.search(line) and not any("//" in l for l in lines[max(1, i - 6) : i + 1])  # 0: the licence
    ]


def machine_path(path, text):
    return lines_matching(r"(?<![\w.])/(work|home|root)/", text)


RULES = {
    "co_await in a condition: g++ 12 drops the body; bind it first": awaits(
        r"\b(?:if|while|switch)(?:\s+constexpr)?"
    ),
    "co_await in an assertion: g++ 12 awaits three times; bind it first": awaits(
        r"\b(?:REQUIRE|CHECK|STATIC_REQUIRE)\w*"
    ),
    "a sleep or a clock in a test": clock_in_test,
    "a macro": macro,
    "a header over 400 lines": long_header,
    "the licence line comes first, then in a header #pragma once": first_line,
    "a memory order without its reason": unexplained_order,
    "the path of a machine": machine_path,
}


def check(path, text):
    """The breaches in one file: (line, rule) each."""
    return sorted((line, rule) for rule, find in RULES.items() for line in find(path, text))


def main(paths):
    broken = False
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line, rule in check(path, file.read()):
                print(f"{path}:{line}: {rule}")
                broken = True
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
