# SPDX-License-Identifier: MIT
"""Which names a program uses, found by identifiers: the examples of the reference, the chapters, examples/."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# A class whose objects a program has without writing a name that mentions the class.
GIVEN_BY = {
    "weft::schedule_options": {"schedule", "scheduler"},
    "weft::cancelled": {"with_scope", "schedule"},
    "weft::step_output": {"output_of"},
    "weft::basic_chase_lev": {"chase_lev"},
    "weft::basic_steal_queue": {"steal_queue"},
}


@dataclass(frozen=True)
class Program:
    path: str  # of the file in the repository
    text: str
    expected: str = ""
    title: str = ""
    name: str = ""  # of a program in a chapter that has several

    @property
    def stem(self):
        return Path(self.path).stem

    @property
    def code(self):
        return code_of(self.text)

    @property
    def body(self):
        """Without the comment lines at the top."""
        return re.sub(r"\A(?://[^\n]*\n)+", "", self.text).strip("\n")


@cache
def code_of(text):
    """Without comments and strings."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    without = token.sub(lambda m: '""' if '"' in m.group()[:2] else "", text)
    return re.sub(r"^#include.*$", "", without, flags=re.M)


def examples(root):
    """The programs of docs/reference/examples, each with the comment that says what it shows."""
    found = []
    for path in sorted((root / "docs/reference/examples").glob("*.cpp")):
        text = path.read_text()
        title = re.match(r"// SPDX-License-Identifier: MIT\n// (.*)\n", text)
        expected = path.with_suffix(".expected")
        found.append(
            Program(
                str(path.relative_to(root)),
                text,
                expected.read_text() if expected.exists() else "",
                title.group(1) if title else "",
            )
        )
    return found


def other_programs(root):
    """The chapters' programs and those of examples/: they are checked elsewhere."""
    found = []
    for path in [*sorted((root / "docs").glob("*.md")), *sorted((root / "docs").glob("recipes/*.md"))]:
        text = path.read_text()
        blocks = re.findall(r"^```cpp.*\n((?:.*\n)*?)```", text, re.M)
        title = re.search(r"^# (.*)", text, re.M)
        if blocks:
            found.append(Program(str(path.relative_to(root)), "\n".join(blocks), title=title.group(1) if title else path.stem))
    for path in sorted((root / "examples").glob("*.cpp")):
        story = re.search(r"^// (?!SPDX)(.*)", path.read_text(), re.M)
        found.append(Program(str(path.relative_to(root)), path.read_text(), title=story.group(1) if story else path.stem))
    return found


def namespace_of(n):
    """`weft`, or a namespace in it."""
    while n.parent is not None:
        n = n.parent
    return n.qualified.rsplit("::", 1)[0]


class Finder:
    def __init__(self, names):
        self.names = names
        # For each namespace: the identifiers in the declarations of each of its names.
        self.words = {}
        for n in names.values():
            if n.parent is None:
                words = re.findall(r"\w+", " ".join(d.signature for m in n.all() for d in m.declarations))
                self.words.setdefault(namespace_of(n), {})[n.own] = set(words)

    @cache
    def related(self, top):
        """The names whose declarations mention the class: they give objects of it, or take them."""
        all_words = self.words[namespace_of(top)]
        direct = {o for o, words in all_words.items() if top.own in words} | GIVEN_BY.get(top.qualified, set())
        return direct | {o for o, words in all_words.items() for d in direct if d in words and d not in ("process_id", "instant")}

    @cache
    def pattern(self, n):
        own = re.escape(n.own)
        if n.kind == "macro":
            return re.compile(rf"\b{own}\b")
        if n.own == "operator|":
            return re.compile(r"\bhandle\([^;]*\w\)* \| \w")
        if n.parent is None:
            call = r"\s*(?:<|\()" if n.kind == "function" else r"\b(?!\s*\()" if n.kind == "variable" else r"\b"
            if namespace_of(n) != "weft":  # named with it
                return re.compile(rf"\b{namespace_of(n).removeprefix('weft::')}::{own}{call}")
            return re.compile(rf"(?:(?<![\w.:>])|\bweft::){own}{call}")
        above = "|".join(map(re.escape, {n.parent.own} | GIVEN_BY.get(n.parent.qualified, set())))
        qualified = rf"\b(?:{above})(?:<[^;{{}}()]*>)?::(?:template )?{own}\b"
        if n.kind in ("class", "struct", "enum", "enumerator"):
            return re.compile(qualified)
        if n.kind in ("alias", "variable"):
            return re.compile(rf"[\w>]::{own}\b|(?:\.|->){own}\b")
        return re.compile(rf"(?:\.|->)(?:template )?{own}\b|{qualified}|\b{own}\([^;{{}}]*\boverride\b")

    def uses(self, program):
        """The qualified names that the program uses."""
        code, words = program.code, set(re.findall(r"\w+", program.code))
        used = set()
        for q, n in self.names.items():
            if n.is_operation and n.parent is not None and n.is_internal:
                if n.parent.own in words:  # functions perform it
                    used.add(q)
                continue
            if n.own not in words and n.own != "operator|":
                continue
            if not self.pattern(n).search(code):
                continue
            top = n
            while top.parent is not None:
                top = top.parent
            if n.parent is None or top.own in words or self.related(top) & words:
                used.add(q)
        return used
