# SPDX-License-Identifier: MIT
"""Docstrings of the headers as Markdown, and the fields of an entry.

A field needs no tag: it is taken from the sentences that begin in its way.

    row         Row: `mail`.                                  what the awaiting coroutine's row must have
    yields      `co_await` yields its guard.   Yields ...     Answered with ...
    cost        O(log n) in the waiters.       Costs ...      Every operation is O(1).
    allocation  Allocates nothing.             Two allocations: ...
    threads     Thread safe.   Used by one thread at a time.  Called by any thread.
    errors      Throws bad_alloc.              If it throws, ...
    source      Source: Chase and Lev, ...

All other sentences say what it does.  A sentence of two halves, `O(1); allocates nothing`, fills two fields.
A paragraph that begins with `Cost`, `Threads:` or `Exceptions:` is that field as a whole.
Labels of invariants (BACKEND-1) are for readers of the header, and are left out, but for those of concepts.
"""

import re
from dataclasses import dataclass, field

FIELDS = ("row", "yields", "cost", "allocation", "threads", "errors", "source")
ALLOCATES = r"\b[Aa]llocat(?:e|es|ed|ion|ions)\b|\bfrom (?:the|a|its) pool\b"
OPENERS = {
    "row": r"Row: ",
    "source": r"Source: ",
    "errors": r"(?:Also t|T)hrows\b|It throws\b|The functions throw\b|Does not throw|Exceptions:|If it throws\b"
    r"|Each of these calls throws|(?:Each|Every) (?:operation|call) throws\b",
    "yields": r"`?co_await(?: [\w.()]+)?`? (?:yields|gives)\b|Yields\b|Answered with\b",
    "threads": r"(?:Not )?[Tt]hread safe\b|Used (?:by|from)\b|Called by\b|Threads:|On several threads, one\b|One (?:thread|process) at a time\b"
    r"|While (?:a process waits|processes wait), only\b|One process may\b|Several processes may\b",
    "allocation": r"(?:No|One|Two|Three|Four) (?:more )?allocations?\b|Allocates\b|It allocates\b",
    "cost": r"O\(|Costs?\b|\d+ bytes\b|(?:Each|Every|All) [\w ]{1,30} (?:is|are) O\(|(?:If|On) [^.]{1,90}: O\(",
}
# Where in a sentence another field begins.
HALVES = r"; (?=allocates\b|(?:one|two|three) (?:more )?allocations?\b|O\(|every operation is O\(|each operation is O\(|thread safe\b|throws\b)"


@dataclass
class Parsed:
    prose: list = field(default_factory=list)  # Markdown blocks
    fields: dict = field(default_factory=dict)  # name -> sentences
    text: str = ""


# Public names, which keep their first letter; make.py fills it.
NAMES = set()


def is_code(word):
    """Whether a word of a sentence is code, with or without backticks."""
    return bool(re.search(r"[`_(:<\[.]", word.rstrip(".,:;?!"))) or word.rstrip(".,:;?!") in NAMES


def capitalized(text):
    """Begins with a capital letter, unless its first word is code; a plain name gets backticks."""
    first = re.match(r"\S*", text).group()
    if is_code(first):
        return re.sub(r"^[a-z]\w*(?![\w(:<\[./-])", r"`\g<0>`", text)
    return text[:1].upper() + text[1:]


def field_of(sentence):
    for name, opener in OPENERS.items():
        if re.match(opener, sentence):
            return name
    if re.search(r"\bis thread safe\b|\bas thread safe as\b", sentence):
        return "threads"
    if re.search(ALLOCATES, sentence) and len(sentence) < 160 and "throw" not in sentence:
        return "allocation"
    if re.search(r"\b(?:is|are|takes?) O\(", sentence) and len(sentence) < 160:
        return "cost"
    return None


def sentences(paragraph):
    """The sentences of lines that were joined: two spaces, or the end of a line, follow a full stop."""
    return [s.strip() for s in re.split(r"(?<=[.?!])  (?=\S)", paragraph) if s.strip()]


def joined(lines):
    text = ""
    for line in lines:
        line = line.strip()
        text += ("" if not text else "  " if re.search(r"[.?!]$", text) else " ") + line
    return text


def coded(text, known=()):
    """Marks code in prose, and escapes what Markdown would take for a tag."""
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        p = parts[i]
        p = re.sub(r"(?<![\w`])(?:std::)?[A-Za-z_][\w:]*<(?:[^<>\s]|, |<[^<>]*>)*>(?:::\w+)*(?:\([^()]*\))?", lambda m: f"\0{m.group()}\0", p)
        inner = p.split("\0")
        for j in range(0, len(inner), 2):
            t = inner[j]
            t = re.sub(
                r"(?<![\w`/.:])(?:(?:std|weft|detail)::[\w:]+|[a-z]\w*(?:::\w+)+|\w*[a-z]_\w+|co_await|\w+(?=\(\)))(?:\(\))?(?![\w`/]|\.hpp|\.md)",
                lambda m: f"`{m.group()}`",
                t,
            )
            inner[j] = t.replace("<", "\\<").replace("*", "\\*")
        parts[i] = "".join(x if j % 2 == 0 else f"`{x}`" for j, x in enumerate(inner))
    return re.sub(r"  +", " ", "".join(parts))


def blocks(doc):
    """(kind, lines): text, code, table, list, or label."""
    found, kind, lines = [], None, []

    def close():
        nonlocal kind, lines
        if lines:
            while lines and not lines[-1].strip():
                lines.pop()
            if lines:
                found.append((kind, lines))
        kind, lines = None, []

    for line in doc.splitlines():
        if not line.strip():
            if kind in ("code", "label", "list"):
                lines.append("")
            else:
                close()
            continue
        if kind in ("label", "list") and line.startswith("      " if kind == "label" else "    "):
            lines.append(line)
        elif re.match(r"  \* ", line):
            if kind != "list":
                close()
            kind = "list"
            lines.append(line)
        elif re.match(r"  [A-Z]+-\d+  ", line):
            if kind != "label":
                close()
            kind = "label"
            lines.append(line)
        elif re.match(r"  +\|", line):
            if kind != "table":
                close()
            kind = "table"
            lines.append(line)
        elif line.startswith("    "):
            if kind != "code":
                close()
            kind = "code"
            lines.append(line)
        else:
            if kind != "text":
                close()
            kind = "text"
            lines.append(line)
    close()
    return found


def parse(doc, with_labels=False):
    result = Parsed(text=doc)

    def add(name, sentence):
        result.fields.setdefault(name, []).append(sentence)

    for kind, lines in blocks(doc):
        if kind == "code":
            cut = min(len(l) - len(l.lstrip()) for l in lines if l)
            code = "\n".join(l[cut:] for l in lines)
            language = "cpp" if re.search(r"[;{()]", code) else "text"
            result.prose.append(f"```{language}\n{code}\n```")
        elif kind == "table":
            rows = [coded(l.strip()) for l in lines]
            result.prose.append("\n".join(rows))
        elif kind == "list":
            items = re.split(r"(?m)^  \* ", "\n".join(lines))[1:]
            result.prose.append("\n".join("* " + coded(joined(item.splitlines())) for item in items))
        elif kind == "label":
            if with_labels:
                items = re.findall(r"(?ms)^  ([A-Z]+-\d+)  (.*?)(?=^  [A-Z]+-\d+  |\Z)", "\n".join(lines))
                result.prose.append("\n".join(f"* **{l}** {coded(joined(t.splitlines()))}" for l, t in items))
        else:
            paragraph = joined(lines)
            whole = re.match(r"(Cost)\b(?:, [^:.]*)?:|(Threads): |(Exceptions): ", paragraph)
            if whole:
                name = {"Cost": "cost", "Threads": "threads", "Exceptions": "errors"}[next(g for g in whole.groups() if g)]
                add(name, paragraph[whole.end() :].strip() if name != "cost" else re.sub(r"^Cost(?:, ([^:.]*))?: ", r"\1: ", paragraph).lstrip(": "))
                continue
            kept = []
            for whole_sentence in sentences(paragraph):
                for i, s in enumerate(re.split(HALVES, whole_sentence)):
                    s = s if re.search(r"[.?!:]\)?$", s) else s + "."
                    s = s[0].upper() + s[1:] if i else capitalized(s)
                    name = field_of(s)
                    split = re.match(r"(.*?)[;,:]? (?:and )?`co_await` (?:yields|gives) (.*)", s, re.S)
                    if name:
                        add(name, re.sub(OPENERS["row"] + "|" + OPENERS["source"], "", s) if name in ("row", "source") else s)
                    elif split and not split.group(1).startswith(("If", "In")):
                        kept.append(split.group(1) + ".")
                        add("yields", capitalized(split.group(2)))
                    else:
                        kept.append(s)
            if kept:
                text = "  ".join(kept)
                result.prose.append(coded(text))
    return result


def said(parsed, name):
    """The text of a field, as Markdown."""
    return coded(" ".join(parsed.fields.get(name, ())))
