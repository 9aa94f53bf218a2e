#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public names of weft, from its headers.

    names.py            prints them, one a line: what docs/reference/names.txt must be
    names.py --write    writes docs/reference/names.txt

A name is public if a header outside of the folders detail/ declares it in namespace weft, or brings it along.
What an entry of the reference needs (signatures, docstrings, members, the header to include) is in Name.

Members that the library declares for itself are left out: what takes a detail::internal, stands behind
the comment `---- for the library`, or is in PROTOCOL.
"""

import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

sys.dont_write_bytecode = True

from clang_cursors import parse

FOLDERS = ("adapters", "cluster", "deque", "durable", "effects", "io", "sched", "testing", "trace")
# The headers that README tells programs to include, each for the folders behind it.
UMBRELLAS = (
    ("effects/effects.hpp", ("effects/",)),
    ("deque/deque.hpp", ("deque/",)),
    ("sched/schedule.hpp", ("sched/",)),
    ("sched/sharing.hpp", ("sched/",)),
    ("sched/stealing.hpp", ("sched/",)),
    ("testing/testing.hpp", ("sched/", "testing/")),
    ("testing/catch2.hpp", ("testing/assertions.hpp",)),
    ("trace/tracing.hpp", ("trace/", "sched/base/trace_event.hpp")),
)
# The namespaces whose names are public, besides inline ones: the version of the ABI.
NAMESPACES = ("weft", "weft::cluster", "weft::durable")
OWN_NAMESPACES = tuple(n.rsplit("::", 1)[-1] for n in NAMESPACES)
# By these members the library's types declare their properties to the library, or answer its calls.
PROTOCOL = {
    *("operations", "scheduling", "performed_by_processes", "is_turn_only", "must_be_answered", "general", "with_row"),
    *("leaves_nothing_when_moved", "row_aware_operation", "may_be_awaited_again", "operation_in", "resuming"),
    *("hash_value", "trace_text", "promise_type", "owning_promise_type", "command_type", "thread_safe", "handles"),
    *("hands_over", "reports_accesses", "on", "on_at", "on_return", "is_told_where", "stands_for", "forwards_to"),
}
PROTOCOL_OF = {
    "weft::clauses": {"operator()"},
    "weft::command": {"result"},
    "weft::durable::child_scope": {"end"},
    "weft::durable::children": {"ask"},
    "weft::durable::function": {"arguments", "effects", "result"},
    "weft::durable::history": {"ask"},
    "weft::durable::mail": {"ask"},
    "weft::coroutine_stepper": {"commands", "input", "method"},
    "weft::eff": {"effects"},
    "weft::op": {"result"},
    "weft::returns": {"operator()"},
    "weft::task_handle": {"finish"},
    "weft::traced_handler": {"forwards_to", "stands_for"},
    "weft::tracing": {"trace_outside"},
}
# A backend has what its concept asks for; the concept's entry says what that is.
BACKENDS = ("weft::one_thread", "weft::random_order", "weft::sharing", "weft::stealing", "weft::tracing")
BACKEND_PROTOCOL = {"claim", "header", "on_end", "on_wakeup", "put", "recheck_deadlines", "reserve", "stop",
                    "wakes", "worker"}
# The member types of containers and iterators are those of the standard library.
STANDARD = {
    *("value_type", "size_type", "difference_type", "reference", "const_reference", "pointer", "iterator_concept"),
    "iterator_category",
    *("const_iterator", "reverse_iterator", "const_reverse_iterator"),
}
CLASSES = ("class", "struct", "union", "class template", "partial specialization")
FUNCTIONS = ("function", "function template", "method", "constructor", "conversion")
STORIES = re.compile(r"\bnamespace (?:\[\[[^\]]*\]\] )?weft\b[\w:]* \{|#include |#define ")


@dataclass
class Declaration:
    """One declaration of a name: its source text, without its body."""

    kind: str
    signature: str
    doc: str  # the lines of its docstring, without the slashes
    header: str
    line: int
    body: str = ""  # what follows the signature; of a function in a .cpp file, its definition


@dataclass(eq=False)
class Name:
    qualified: str
    kind: str
    declarations: list = field(default_factory=list)
    members: list = field(default_factory=list)  # Names, in the order of the header
    constructors: list = field(default_factory=list)  # Declarations
    parent: object = None
    include: str = ""
    thread_safe: bool = False  # a handler that says so

    @property
    def own(self):
        return self.qualified.rsplit("::", 1)[-1]

    @property
    def header(self):
        return self.main.header

    @property
    def main(self):
        """The declaration that defines it, or the first with a docstring."""
        return next((d for d in self.declarations if d.doc), self.declarations[0])

    @property
    def doc(self):
        return self.main.doc

    @property
    def is_operation(self):
        return self.qualified != "weft::op" and any(re.search(r": (?:public )?op<", d.signature) for d in self.declarations)

    @property
    def is_internal(self):
        """Whether only the library can make one: an operation that functions perform."""
        return any("detail::" in d.signature for d in self.constructors + self.declarations)

    @property
    def has_own_entry(self):
        """Whether it is listed: not an operator of a class, nor a member type of every container."""
        return not self.parent or not (self.own.startswith("operator") or self.own in STANDARD)

    def all(self):
        yield self
        for m in self.members:
            yield from m.all()


@cache
def source(path):
    return Path(path).read_bytes()


def text_of(path, begin, end):
    return source(path)[begin:end].decode()


# Not parsed with the others: their libraries need not be there, or exclude those of other headers.
APART = ("boost_asio.hpp", "boost_asio_network.hpp", "catch2_v3.hpp", "each_range_v3.hpp", "stdexec.hpp")


def public_headers(root):
    return sorted(
        str(path.relative_to(root))
        for folder in FOLDERS
        for path in (root / folder).rglob("*.hpp")
        if "detail" not in path.parts and path.name not in APART
    )


@cache
def included_by(root, header):
    """The headers that it includes, itself included."""
    found, left = set(), [header]
    while left:
        h = left.pop()
        if h not in found:
            found.add(h)
            left += re.findall(r'^#include "weft/([^"]+)"', (root / h).read_text(), re.M)
    return found


def include_for(root, header):
    for umbrella, folders in UMBRELLAS:
        if header.startswith(folders) and header in included_by(root, umbrella):
            return umbrella
    return header


# ---- source text


def without_attributes(text):
    text = re.sub(r"\[\[(?:[^\[\]]|\[[^\]]*\])*\]\]\s*", "", text)
    return re.sub(r"\balignas\([^)]*\) ", "", text)


def head_of(text, at, kind):
    """A declaration without its body, its member initializers and its comments.  `at`: where its name is."""
    depth, i, braces_ahead = 0, at, False
    while i < len(text):
        c = text[i]
        if text.startswith("//", i):
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
            continue
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif depth == 0 and c == ";":
            break
        elif depth == 0 and c == ":" and kind == "constructor" and "::" not in text[i - 1 : i + 2]:
            break
        elif depth == 0 and c == "{":
            before = text[at:i].rstrip()
            if not re.search(r"\brequires(?:\s*\((?:[^()]|\([^()]*\))*\))?$", before):
                break
            end, inner = i, 0
            while True:
                inner += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
                if inner == 0:
                    break
            i = end
            continue
        i += 1
    return text[:i]


def tidied(text, indent):
    """Without attributes, comments and the indentation of the header."""
    strings_and_comments = r'("(?:\\.|[^"\\\n])*")|[ \t]*//[^\n]*'
    text = re.sub(strings_and_comments, lambda m: m.group(1) or "", without_attributes(text))
    text = re.sub(r"\b(?:inline|explicit) ", lambda m: m.group() if m.group()[0] == "e" else "", text)
    lines = [l.rstrip() for l in text.splitlines()]
    lines = [l[indent:] if l[:indent].isspace() or not l[:indent] else l for l in lines if l]
    return "\n".join(lines).strip()


def docstring(path, begin, end, name):
    """The lines `///` above a declaration, or behind it `///<`.

    A docstring holds also for those declarations that follow it without an empty line and are overloads, or are
    named in it.
    """
    lines = source(path).decode().splitlines()
    first = text_of(path, 0, begin).count("\n")
    last = text_of(path, 0, end).count("\n")
    head = next((i for i in range(first, last + 1) if re.search(r"[{;,]", lines[i])), last)
    if m := re.search(r"///< ?(.*)", lines[last]) or re.search(r"///< ?(.*)", lines[head]):
        said = [m.group(1)]
        for line in lines[last + 1 :]:
            if not (m := re.match(r"\s*///< ?(.*)", line)):
                break
            said.append(m.group(1))
        return "\n".join(said)

    def above(i):
        said = []
        while i > 0 and re.match(r"\s*///(?!<)", lines[i - 1]):
            i -= 1
            said.insert(0, re.sub(r"^\s*/// ?", "", lines[i]))
        return "\n".join(said)

    at = first
    while at > 0 and re.match(r"\s*(?:\[\[[^\]]*\]\]|#if\b.*|//(?!/|\s----).*)\s*$", lines[at - 1]):
        at -= 1  # an attribute on a line of its own, a comment of the implementation
    if said := above(at):
        return said
    before = re.compile(r"\s*(?:\w|\[\[|}).*[;}]$|\s*}$|.*[;}]\s*//(?!/).*")
    if first > 0 and before.match(lines[first - 1]):
        indent = re.match(r"\s*", lines[first]).group()
        i = first - 1
        while i > 0 and lines[i].strip() and not re.match(r"\s*//|.*///<|\s*(?:public|protected|private):", lines[i]):
            i -= 1
        if re.match(indent + r"///(?!<)", lines[i]):
            said = above(i + 1)
            is_meant = re.compile(rf"\b{re.escape(name)}\b")
            if is_meant.search(said) or any(is_meant.search(line) for line in lines[i + 1 : first]):
                return said
    return ""


def body_at(text, at):
    """The body in braces that begins at or behind a place; empty if the declaration ends there."""
    begin = re.compile(r"[^;{]*").match(text, at).end()
    depth = 0
    for i in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[begin : i + 1]
    return ""


def body(path, end, name):
    """The body of the function whose declaration ends at that offset; if it is defined elsewhere, in the header or the
    .cpp file beside it, the bodies of all functions of that name there."""
    if found := body_at(text_of(path, 0, len(source(path))), len(text_of(path, 0, end))):
        return found
    for file in (Path(path), Path(path).with_suffix(".cpp")):
        if file.exists():
            text = file.read_text()
            for m in re.finditer(rf"^[\w\[][^\n;]*?\b{re.escape(name)}\([^;{{}}]*(?=\{{)", text, re.M):
                found += body_at(text, m.end())
    return found


def story(path):
    """The docstring of a whole header: it stands above the namespace, or above the includes of an umbrella."""
    found = re.findall(r"((?:^///.*\n)+)(?=" + STORIES.pattern + ")", path.read_text(), re.M)
    return "\n".join(re.sub(r"^/// ?", "", said, flags=re.M).rstrip() for said in found)


# ---- the names


class Collector:
    def __init__(self, root, include):
        self.root = root
        self.include = include  # the folder where weft/ is, by way of which all files were read
        self.names = {}
        self.details = {}  # docstrings of members of classes in detail/, by name: for using-declarations

    def header(self, path):
        relative = os.path.relpath(path, self.include / "weft")
        return relative if relative.startswith(FOLDERS) else None

    def declaration(self, c):
        begin, end = c.extent()
        line_begin = text_of(c.file, 0, begin).rfind("\n") + 1
        indent = len(re.match(r"\s*", text_of(c.file, line_begin, end)).group())
        whole = text_of(c.file, begin, end)
        if c.kind in ("enum", "concept", "alias", "alias template", "using", "field", "enumerator", "typedef"):
            signature = whole
        elif c.kind == "variable":
            signature = whole
        else:
            signature = head_of(whole, c.at - begin, c.kind)
        name = re.sub(r"<.*", "", c.name)
        code = body(c.file, begin + len(signature.encode()), name) if c.kind in FUNCTIONS else ""
        doc = docstring(c.file, begin, end, name)
        return Declaration(c.kind, tidied(signature, indent), doc, self.header(c.file), c.line, code)

    def add(self, c, qualified, name=None):
        kind = re.sub(r" template$|^partial specialization$", "", c.kind) or "class"
        n = self.names.setdefault(qualified, Name(qualified, kind))
        d = self.declaration(c)
        if c.kind in CLASSES and not c.is_definition and n.declarations:
            if d.doc and not n.doc:
                n.declarations[0].doc = d.doc
            return n
        if c.kind in CLASSES and n.declarations and not n.declarations[0].signature.endswith("\0"):
            first = n.declarations[0]
            if not getattr(n, "defined", False):
                d.doc = d.doc or first.doc
                n.declarations = []
        n.declarations.append(d)
        n.defined = c.is_definition or getattr(n, "defined", False)
        return n

    def namespace(self, c):
        for d in c.children():
            header = d.file and self.header(d.file)
            if header and d.kind == "namespace":
                if d.name == "weft" or (c.name == "weft" and d.name != "detail"):
                    self.namespace(d)
                elif d.name == "detail":
                    self.detail(d)
            elif header and d.kind in CLASSES and d.is_definition:
                self.nested(d)
            elif header and c.name in OWN_NAMESPACES:
                self.plain(d)

    def detail(self, c):
        for d in c.children():
            if d.kind in CLASSES and self.header(d.file):
                for m in d.children():
                    if m.kind in FUNCTIONS and m.access == "public":
                        doc = docstring(m.file, *m.extent(), m.name)
                        if doc:
                            self.details.setdefault(m.name, []).append((self.header(m.file), doc))

    def path_of(self, c):
        """The qualified name; None if it is in namespace detail or not of weft."""
        parts, p = [re.sub(r"<.*", "", c.name)], c.parent()
        while p.kind in CLASSES or p.kind == "namespace":
            if p.kind != "namespace" or p.name in (*OWN_NAMESPACES, "detail"):  # else it is inline: the version of the ABI
                parts.insert(0, re.sub(r"<.*", "", p.name))
            p = p.parent()
        return "::".join(parts) if parts[0] == "weft" and "detail" not in parts else None

    def plain(self, d):
        if d.kind in ("other", "unexposed", "using", "friend") or d.name.startswith("<deduction guide"):
            return
        if d.kind in CLASSES and not d.is_definition:
            qualified = self.path_of(d)
            if qualified and d.access == "public":
                self.add(d, qualified)
            return
        if d.kind in ("function", "function template", "variable", "alias", "alias template", "enum", "concept"):
            qualified = self.path_of(d)
            if not qualified or qualified.rsplit("::", 1)[0] not in NAMESPACES:  # the definition of a member
                return
            n = self.add(d, qualified)
            if d.kind == "enum":
                self.members(d, n)

    def nested(self, d):
        """The definition of a class, wherever it stands."""
        qualified = self.path_of(d)
        if not qualified or d.access != "public":
            return
        parts = qualified.split("::")
        if any(self.is_protocol("::".join(parts[:i]), parts[i]) for i in range(1, len(parts))):
            return
        self.members(d, self.add(d, qualified))

    @staticmethod
    def is_protocol(of, name):
        return (
            name in PROTOCOL
            or name in PROTOCOL_OF.get(of, ())
            or (of in BACKENDS and name in BACKEND_PROTOCOL)
            or of.endswith("_orders")
        )

    def members(self, c, n):
        begin, end = c.extent()
        whole = text_of(c.file, begin, end)
        for_library = re.search(r"// ---- for the library", whole)
        last = begin + len(whole[: for_library.start()].encode()) if for_library else end
        hidden = {d.name for d in c.children() if d.kind == "class template" and d.access != "public"}
        for d in c.children():
            if (d.access != "public" and d.kind != "enumerator") or d.extent()[0] > last:
                continue
            name = re.sub(r"<.*|.*::", "", d.name)
            if d.kind == "partial specialization" and name in hidden:  # libclang calls it public
                continue
            n.thread_safe |= name == "thread_safe" and "= true" in text_of(d.file, *d.extent())
            if d.kind == "conversion":
                name = "operator bool"
            if d.kind in CLASSES:
                if self.is_protocol(n.qualified, name):
                    continue
                if d.is_definition:
                    self.nested(d)
                elif d.kind != "partial specialization":
                    self.add(d, f"{n.qualified}::{name}")
            elif d.kind == "friend":
                for f in d.children():
                    if f.kind in ("function", "function template") and f.name not in PROTOCOL | {"swap"}:
                        above = n.qualified if f.name.startswith("operator") else "weft"
                        self.add(f, f"{above}::{f.name}")
            elif d.kind in FUNCTIONS:
                signature = self.declaration(d).signature
                if "detail::internal" in signature or re.search(r"\boverride\b", signature):
                    continue
                if d.kind == "constructor" or name == n.own:
                    moves_or_copies = rf"[^(]*\b{n.own}\({n.own}(?:<[^()]*>)?(?: const)?\s*&&?\s*\w*\)"
                    if "= delete" not in signature and not re.match(moves_or_copies, signature):
                        n.constructors.append(self.declaration(d))
                elif name != "operator=" and not self.is_protocol(n.qualified, name):
                    self.add(d, f"{n.qualified}::{name}")
            elif d.kind in ("field", "variable", "alias", "alias template", "enumerator", "enum"):
                earlier = self.names.get(f"{n.qualified}::{name}")
                if earlier and earlier.is_operation:
                    continue  # tasking<...> names the operations of tasking<>
                if name and not self.is_protocol(n.qualified, name):
                    e = self.add(d, f"{n.qualified}::{name}")
                    if d.kind == "enum":
                        self.members(d, e)
            elif d.kind == "using" and not self.is_protocol(n.qualified, name):
                if re.search(r"\b(\w+)(?:<[^;]*>)?::\1$", self.declaration(d).signature):
                    continue  # the constructors of a base
                base = re.match(r"using (\w+)::\w+$", self.declaration(d).signature)
                if base and f"{n.qualified.rsplit('::', 1)[0]}::{base.group(1)}::{name}" in self.names:
                    continue  # the overloads of a base that has an entry
                e = self.add(d, f"{n.qualified}::{name}")
                near = included_by(self.root, e.header)
                if not e.doc:
                    e.declarations[0].doc = next((x for h, x in self.details.get(name, []) if h in near), "")


def macros(root):
    path = root / "effects/version.hpp"
    said, doc = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("///"):
            doc.append(re.sub(r"^/// ?", "", line))
        elif m := re.match(r"#define (WEFT_\w+) (.*)", line):
            said.append(Name(m.group(1), "macro", [Declaration("macro", line, "\n".join(doc), "effects/version.hpp", number)]))
        else:
            doc = []
    for n in said:
        n.include = "effects/effects.hpp"
    return said


@cache
def public_names(root):
    """{qualified name: Name}, sorted; the members of a class are in its Name as well."""
    root = Path(root)
    with tempfile.TemporaryDirectory() as scratch:
        include = Path(scratch)
        (include / "weft").symlink_to(root.absolute())
        (include / "all.cpp").write_text("".join(f"#include <weft/{h}>\n" for h in public_headers(root)))
        collector = Collector(root, include)
        collector.namespace(parse(include / "all.cpp", ["-std=c++20", f"-I{include}"]))
    names = collector.names
    # A forward declaration of a class that is never public is no name.
    for q, n in sorted(names.items()):
        n.include = include_for(root, n.header)
        above = q.rsplit("::", 1)[0]
        if above not in NAMESPACES:
            n.parent = names[above]
            n.parent.members.append(n)
    for n in names.values():
        n.members.sort(key=lambda m: (m.main.header != n.header, m.main.line))
        # The fields of an operation are what its constructor is given.
        if n.is_operation:
            n.members = []
    usual = names["weft::schedule_options"].members
    for q, n in names.items():
        # "The other fields are those of schedule_options."
        same = n.parent and n.parent.own.endswith("_options") and [m for m in usual if m.own == n.own]
        if same:
            n.main.doc = same[0].doc
    reachable = {}
    for n in names.values():
        if n.parent is None:
            reachable.update((m.qualified, m) for m in n.all() if m.has_own_entry)
    for n in macros(root):
        reachable[n.qualified] = n
    return dict(sorted(reachable.items()))


def main(arguments):
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or Path(__file__).resolve().parents[2])
    text = "".join(f"{name}\n" for name in public_names(root))
    if arguments == ["--write"]:
        (root / "docs/reference/names.txt").write_text(text)
    elif arguments:
        sys.exit(__doc__)
    else:
        print(text, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
