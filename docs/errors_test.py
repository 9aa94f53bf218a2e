#!/usr/bin/env python3
"""Holds docs/errors.md to the sources: every text of ours has its paragraph, and no other has.

The first part of the page has what the compiler says, word for word.  The second part has what the
library throws or prints when it runs, with `...` in place of what varies.
"""

import pathlib
import re
import sys

FOLDERS = ("adapters", "cluster", "deque", "durable", "effects", "io", "sched", "testing", "trace")
FILES = [p for d in FOLDERS for p in sorted(pathlib.Path(d).rglob("*.[hc]pp"))]
PAGE = pathlib.Path("docs/errors.md")
SECOND_PART = "\n## When it runs\n"

# A comment, a raw string, a string, a character, a word or a number, `::`, or any other character.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"""|\w+(?:'\w+)*|::|\S""",
    re.S,
)
BEGINS = re.compile(r'"(?:\\r)?weft: ')
ALL_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')


# ---- what the compiler says


def of_the_compiler(text):
    """What the static_asserts, the attributes, the #errors, the warnings and the deleted functions say."""
    said_in = r'(?:static_assert\([^;"]*|\[\[nodiscard\(\s*)((?:"[^"]*"\s*)+)\)'
    for said in re.findall(said_in, text):
        yield "".join(ALL_STRINGS.findall(said))
    yield from re.findall(r'^#(?:error|pragma GCC warning) "(.*)"', text, re.M)
    yield from re.findall(r"= delete;\s*// (weft: .*)", text)


def is_of_the_compiler(before):
    """Whether a string is inside a static_assert or an attribute.  `before`: the tokens before it."""
    depth = 0
    for at in range(len(before) - 1, 0, -1):
        token = before[at]
        if depth == 0 and token in (";", "{", "}"):
            return False
        if depth == 0 and token == "(" and before[at - 1] in ("static_assert", "nodiscard"):
            return True
        depth += {")": 1, "(": -1 if depth else 0}.get(token, 0)
    return False


# ---- what it says when it runs


def tokens_of(text):
    code = re.sub(r"^[ \t]*#.*", "", text, flags=re.M)
    return [m.group() for m in TOKEN.finditer(code) if not m.group().startswith(("//", "/*"))]


def when_it_runs(text):
    """Each string that begins with `weft: `, with the rest of its expression.  What is no string is `...`."""
    tokens = tokens_of(text)
    for first, token in enumerate(tokens):
        if BEGINS.match(token) and not is_of_the_compiler(tokens[:first]):
            yield whole(tokens[first:])


def whole(tokens):
    said, depth = "", 0
    for token in tokens:
        if depth == 0 and token in (";", ",", ")", "}", ":"):
            break
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(token, 0)
        if depth == 0 and token[0] in "\"'":
            said += re.sub(r"\\n|\\r", "", token[1:-1]).replace('\\"', '"')
        elif token != "+":
            said += "..."
    return re.sub(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]", "...", said)


def without_end(text):
    """The text as it is compared.  A text may go on after its string: with a path, or a reason of the system."""
    return re.sub(r"(?:\.\.\.)+", "...", text).rstrip(" .:,")


def reasons(text):
    """What the function `reason` returns, which stands behind a text: `...` where it goes on."""
    body = text.partition("std::string reason(")[2].partition("\n}\n")[0]
    for said in re.findall(r'return ((?:"(?:\\.|[^"\\])*"\s*)+)', body):
        yield "".join(ALL_STRINGS.findall(said))


# ---- the page


def paragraphs(part):
    return set(re.findall(r"^\*\*(weft: .*)\*\*$", part, re.M))


def compare(said, explained):
    """`said`: each text, and what to call it.  Prints what only one side has; whether there is such."""
    for text in sorted(said.keys() - explained.keys()):
        print("not in docs/errors.md:", said[text])
    for text in sorted(explained.keys() - said.keys()):
        print("nobody says:", explained[text])
    return said.keys() != explained.keys()


def main():
    compiled, run = {}, {}
    for path in FILES:
        text = path.read_text()
        compiled |= {m: f"{m} ({path})" for m in of_the_compiler(text) if re.match(r"weft: \w", m)}
        run |= {without_end(m): f"{m} ({path})" for m in when_it_runs(text)}
    first, found, second = PAGE.read_text().partition(SECOND_PART)
    wrong = compare(compiled, {m: m for m in paragraphs(first)})
    words = " ".join(second.split())
    of_nats = list(reasons(pathlib.Path("cluster/detail/connection.cpp").read_text()))
    for reason in of_nats:
        if reason not in words:
            print("not in docs/errors.md:", reason)
            wrong = True
    wrong |= compare(run, {without_end(m): m for m in paragraphs(second)})
    print(f"{len(compiled)} messages of the compiler, {len(run)} when it runs")
    return 1 if wrong or not found or len(compiled) < 100 or len(run) < 90 or len(of_nats) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
