# SPDX-License-Identifier: MIT
"""What holds of a function, an operation and a class, unless its docstring, or that of its class, says otherwise.

So an entry has the fields cost, allocation, threads and errors in any case, and docstrings say what is unusual only.
contradictions() finds what a docstring must say, as the code next to it shows.
"""

import re

from docstrings import parse

FIELDS = ("cost", "allocation", "threads", "errors")
OBJECT = "one thread at a time for an object"
# kind -> (what is meant, {field: what is usual})
RULES = {
    "operation": (
        "an operation",
        {
            "cost": "O(1), and what its handler's clause costs",
            "allocation": "none, but what the clause allocates",
            "threads": "the clause runs on the thread that performs it",
            "errors": "what the clause throws; `cancelled`, if a scheduler answers it",
        },
    ),
    "coroutine": (
        "a function that returns an `eff`",
        {
            "cost": "O(1)",
            "allocation": "its frame, from a pool",
            "threads": OBJECT,
            "errors": "`std::bad_alloc`; what it awaits throws",
        },
    ),
    "function": (
        "another function",
        {"cost": "O(1)", "allocation": "none", "threads": OBJECT, "errors": "`std::bad_alloc` if it allocates, else none"},
    ),
    "noexcept": (
        "a function that is `noexcept`",
        {"cost": "O(1)", "allocation": "none", "threads": OBJECT, "errors": "none"},
    ),
    "exception": (
        "an exception",
        {
            "cost": "a copy is O(1)",
            "allocation": "its text, when it is made, unless that is constant; a copy none",
            "threads": OBJECT,
            "errors": "none by a copy",
        },
    ),
    "value": (
        "a class with fields, constructors and clauses only",
        {
            "cost": "that of its fields; O(1) for a clause",
            "allocation": "that of its fields; none by a clause",
            "threads": OBJECT,
            "errors": "those of its fields",
        },
    ),
    "class": (
        "another class",
        {
            "cost": "as its member functions say",
            "allocation": "as its member functions say",
            "threads": OBJECT,
            "errors": "as its member functions say",
        },
    ),
}
EXCEPTIONS = r":\s*(?:public )?(?:std::(?:exception|logic_error|runtime_error|system_error)|completion_dropped)\b"
MEMBER_KINDS = ("function", "method", "using")


def of_result(signature, own):
    """The part of a function's signature in front of its name."""
    return re.split(rf"\b{re.escape(own)}\(", " ".join(signature.split()))[0]


def kind_of(n):
    """The rule for a name; None if it is neither function nor class."""
    if n.is_operation:
        return "operation"
    signatures = [d.signature for d in n.declarations]
    if n.kind in MEMBER_KINDS:
        if any(re.search(r"\beff<", of_result(s, n.own)) for s in signatures):
            return "coroutine"
        return "noexcept" if all(re.search(r"\bnoexcept\b(?!\()", s) for s in signatures) else "function"
    if n.kind in ("class", "struct", "union"):
        if any(re.search(EXCEPTIONS, s) for s in signatures):
            return "exception"
        return "class" if any(m.kind in MEMBER_KINDS for m in n.members) else "value"
    return None


def said_by(n):
    """The fields that its docstrings say."""
    docs = {d.doc for d in n.declarations if d.doc}
    fields = set().union(*(parse(doc).fields for doc in docs)) if docs else set()
    if n.thread_safe:
        fields.add("threads")
    return fields


def said_of(n):
    """The fields that its docstring says; of a member function, or that of its class."""
    said, above = said_by(n), n.parent
    while above is not None and n.kind in MEMBER_KINDS:
        said |= said_by(above)
        above = above.parent
    return said


def usual(n):
    """{field: what is usual} of the fields that are not said of it."""
    kind = kind_of(n)
    return {f: RULES[kind][1][f] for f in FIELDS if f not in said_of(n)} if kind else {}


def lacks(n):
    """The fields that an entry of a function, an operation or a class has not."""
    if kind_of(n) is None and n.kind in (*MEMBER_KINDS, "class", "struct", "union"):
        return list(FIELDS)
    return [f for f in FIELDS if kind_of(n) and f not in said_of(n) and f not in usual(n)]


LOOP = r"\b(?:for|while) \("
ALLOCATION = (
    r"\bnew (?!\()|\bmake_(?:unique|shared)\b|\.(?:push_back|emplace_back|emplace|insert|append|reserve)\(|\bto_string\b"
    r"|\bstd::(?:string|vector)[ (]"
)
MAKES = r"\bstd::(?:string(?!_view)|vector|unique_ptr|shared_ptr|future)\b.*(?<![&*])$"


def contradictions(n):
    """What it should say, since its code or its type shows that the usual is not true."""
    left = usual(n)
    if not left or n.is_operation:
        return []
    code = " ".join(re.sub(r"//[^\n]*", "", d.body) for d in n.declarations)
    results = [of_result(d.signature, n.own).rstrip() for d in n.declarations if n.kind in MEMBER_KINDS]
    faults = []
    if n.kind in MEMBER_KINDS:
        if "cost" in left and re.search(LOOP, code):
            faults.append("has a loop, and does not say its cost")
        if "allocation" in left and kind_of(n) != "coroutine":
            if re.search(ALLOCATION, code) or any(re.search(MAKES, r) for r in results):
                faults.append("allocates, and does not say so")
            elif any("awaits_to<" in r for r in results):
                faults.append("is awaited, and does not say whether it allocates a frame")
        if "errors" in left and kind_of(n) != "noexcept" and re.search(r"\bthrow [\w:]|\bthrow_\w+\(", code):
            faults.append("throws, and does not say what")
    return faults
