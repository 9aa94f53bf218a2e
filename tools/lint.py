#!/usr/bin/env python3
"""Rules of the house that a compiler does not check.

    tools/lint.py FILE...      prints `file:line: rule` for each breach; exits 1 if there is one

A rule of RULES is a function from a file's path and text to the lines at fault.  Labels of
invariants and includes are checked over all files together: run it on the whole tree.
"""

import re
import sys

LIBRARY = ("adapters/", "cluster/", "deque/", "durable/", "effects/", "io/", "sched/", "testing/", "trace/")
CODE = (".hpp", ".cpp")


def code_of(text):
    """The text with comments, strings and characters blanked, line by line as it was."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def parenthesised(code, head):
    """Yields (line, inside) for each `head (...)` of the code."""
    for m in re.finditer(head + r"\s*\(", code):
        depth, at = 1, m.end()
        while at < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        yield line_of(code, m.start()), code[m.end() : at - 1]


def awaits(head):
    return lambda path, text: [
        line
        for line, inside in (parenthesised(code_of(text), head) if path.endswith(CODE) else ())
        if "co_await" in inside
    ]


def lines_matching(pattern, text):
    return [i for i, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


# ---- code


def clock_in_test(path, text):
    """weft's own sleep_for is no sleep: with virtual time it takes none."""
    if not path.startswith("tests/"):
        return []
    return lines_matching(
        r"(?<!timing::)sleep_(for|until)\b|\b(u|nano)?sleep\s*\(|(steady|system|high_resolution)_clock|\bclock\s*\(|gettimeofday",
        code_of(text),
    )


def macro(path, text):
    """No macro in the library but its version; elsewhere none that looks like a function, but a form of TEST_CASE."""
    if not path.endswith(CODE):
        return []
    pattern = r"^\s*#\s*define\b" if path.startswith(LIBRARY) else r"^\s*#\s*define\s+\w+\("
    if path == "effects/version.hpp":
        pattern += r"(?!\s+WEFT_VERSION(_MAJOR|_MINOR|_PATCH)?\s)"
    if path == "durable/codec.hpp":
        pattern += r"(?!\s+MSGPACK_NO_BOOST$)"
    if path == "tests/support/each_backend.hpp":
        pattern += r"(?<!\sBACKENDS_TEST_CASE\()(?<!\sBACKENDS_TEST_CASE_OF\()"
    return lines_matching(pattern, code_of(text))


def long_header(path, text):
    return [401] if path.endswith(".hpp") and text.count("\n") > 400 else []


def first_line(path, text):
    if not path.endswith(CODE):
        return []
    lines = text.splitlines() + ["", ""]
    if lines[0] != "// SPDX-License-Identifier: MIT":
        return [1]
    return [2] if path.endswith(".hpp") and lines[1] != "#pragma once" else []


def short_include(path, text):
    if not path.endswith(CODE + (".md",)):
        return []
    return lines_matching(r'^#include ["<](%s)' % "|".join(LIBRARY), text)


def hidden_static(path, text):
    """A library that hides the function has a variable of its own; a class can make its static member visible."""
    if not path.startswith(LIBRARY) or not path.endswith(".cpp"):
        return []
    return lines_matching(r"^\s+static\s+(?:thread_local|constinit)\b", code_of(text))


def unexplained_order(path, text):
    """An order stronger than relaxed names its partner: [n], an invariant's label, `itself`, or
    `as above`; a relaxed one says why it may be.  The comment stands behind the statement, or in or
    directly above it."""
    if not path.startswith(LIBRARY) or not path.endswith(CODE):
        return []
    lines, code = text.splitlines(), code_of(text).splitlines()
    order = re.compile(r"(?:memory_order_|[(, ])(relaxed|acquire|release|acq_rel|seq_cst)(?=[),;])")
    partner = re.compile(r"\[\d+\]|\b[A-Z][A-Z]+-\d+\b|\bitself\b|\bas (?:above|before|in|of|when)\b")
    faults = []
    for i, line in enumerate(code):
        found = order.findall(line)
        if not found:
            continue
        above = i
        while above > 0 and above > i - 9 and not (code[above - 1].strip().endswith((";", "{", "}")) or not lines[above - 1].strip()):
            above -= 1
        while above > 0 and lines[above - 1].lstrip().startswith("//"):
            above -= 1
        below = i
        while below + 1 < len(code) and not code[below].rstrip().endswith((";", "{", "}", ":")):
            below += 1
        said = " ".join(l[l.find("//") :] for l in lines[above : below + 1] if "//" in l)
        strong = [o for o in found if o != "relaxed"]
        explained = partner.search(said) if strong else re.search(r"[Rr]elaxed|as (?:above|before|in)\b|\b[A-Z][A-Z]+-\d+\b|\[\d+\]", said)
        if not explained:
            faults.append(i + 1)
    return faults


def predicate(path, text):
    """`is_`, `has_`, `was_`, `may_` and `can_` give a bool and change nothing."""
    if not path.startswith(LIBRARY) or not path.endswith(".hpp"):
        return []
    code = code_of(text)
    faults = []
    declared = re.compile(
        r"^[ \t]*((?:(?:\[\[[^\]]*\]\]|virtual|static|inline|constexpr|consteval|friend|explicit)\s+)*)"
        r"((?:typename\s+)?[A-Za-z_][\w:]*(?:<[^;(){}]*>)?(?:\s+const)?[\s*&]+)"
        r"((?:[\w]+(?:<[^;(){}]*>)?::)*)((?:is|has|was|may|can|are|were)_\w+)\s*\(",
        re.M,
    )
    for m in declared.finditer(code):
        before, given, where, name = m.groups()
        given = given.strip()
        if given in ("explicit", "return", "co_return", "co_await", "else", "new", "delete", "throw", "case", "goto", "concept", "and", "or", "not"):
            continue
        depth, at = 1, m.end()
        while at < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        rest = re.match(r"[^;{]*", code[at:]).group()
        if rest.lstrip().startswith((",", ")", ".", "->", "?", "&&", "||", "=", "+")) and "const" not in rest:
            continue
        at_namespace_scope = code.rfind("\n", 0, m.start()) + 1 == m.start() and not code[m.start()].isspace()
        is_free = at_namespace_scope and not where
        changes = not (is_free or "static" in before or "consteval" in before or "friend" in before or re.search(r"\bconst\b", rest))
        if given != "bool" or changes:
            faults.append(line_of(code, m.start(4)))
    return faults


def private_name(path, text):
    if not path.endswith(CODE):
        return []
    found = lines_matching(r"\w_(rarely|somehow|elsewhere|with_care)\b", code_of(text))
    return found + ([1] if path.endswith("_rare.hpp") else [])


def system_header(path, text):
    """What depends on the system is in io/, and in two other files."""
    if not path.startswith(LIBRARY) or path.startswith(("io/", "effects/detail/platform.", "adapters/detail/asio_system.")):
        return []
    systems = r"arpa|asm|dlfcn|fcntl|linux|mach|net|netdb|netinet|poll|pthread|sched|semaphore|signal|sys|syscall|ucontext|unistd|windows|winsock2"
    return lines_matching(r"^\s*#\s*include\s*<(%s)(/[^>]*)?\.h>|__has_include" % systems, text)


def machine_path(path, text):
    return lines_matching(r"(?<![\w.])/(work|home|root)/", text)


# ---- prose: comments, names of tests, messages, Markdown


def prose_of(path, text):
    """Yields (line, sentence), with code blanked."""
    if path.endswith(CODE):
        blocks = list(comments(text))
        blocks += [
            (line_of(text, m.start()), [m.group(1)])
            for m in re.finditer(r'(?:TEST_CASE|METHOD|TEMPLATE_\w*TEST_CASE)\(\s*"((?:[^"\\]|\\.)*)"', text)
        ]
        blocks += [(line_of(text, m.start()), [m.group(1)]) for m in re.finditer(r'"(weft: (?:[^"\\]|\\.)*)"', text)]
    elif path.endswith(".md"):
        blocks = paragraphs(text)
    else:
        blocks = [
            (i, [m.group(1)]) for i, l in enumerate(text.splitlines(), 1) if (m := re.match(r"\s*#\s(.*)", l))
        ]
    for line, block in blocks:
        joined = "\n".join(block)
        joined = re.sub(r"`[^`]*`", lambda m: re.sub(r"[^\n]", "x", m.group()), joined)
        start = 0
        for m in re.finditer(r"[.?!](?=[\s*_)\"]|$)|\n\n", joined):
            yield line + joined.count("\n", 0, start), joined[start : m.end()].strip()
            start = m.end()
        if joined[start:].strip():
            yield line + joined.count("\n", 0, start), joined[start:].strip()


def comments(text):
    """Runs of comment lines; examples of code in them are left out."""
    block, start = [], 0
    blanked = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: '"' + "x" * (len(m.group()) - 2) + '"', text)
    for i, line in enumerate(blanked.splitlines() + [""], 1):
        whole = re.match(r"\s*//[/!]?<?(?: (.*)|$)", line)
        if whole:
            said = whole.group(1) or ""
            if said.startswith("    "):
                said = ""
            start = start if block else i
            block.append(said)
            continue
        if block:
            yield start, block
            block = []
        behind = re.search(r"\s//[/!]?<?\s(.*)", line)
        if behind:
            yield i, [behind.group(1)]


def paragraphs(text):
    block, start, fenced = [], 0, False
    for i, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or not line.strip():
            if block:
                yield start, block
            block = []
            continue
        starts_anew = re.match(r"\s*(?:[*\-|#]|\d+\.) ?", line)
        if starts_anew and block:
            yield start, block
            block = []
        start = start if block else i
        block.append(line)


PEOPLE = r"(?:you|people|users?|readers?|those|anyone|anybody|someone|somebody|everyone|programmers?|students?|teachers?|engineers?|authors?|contributors?|newcomers?|persons?|others)"
VERB = r"(?:is|are|was|were|has|have|had|does|do|did|goes|go|may|can|must|will|would|should|shall|cannot|never|only|[a-z]{3,}(?<!s)s|[a-z]{3,}ed)"
NO_VERB = r"(?:this|its|his|plus|thus|less|always|processes|threads|tasks|others|programs|users|names|scopes|handlers|tests|backends)"


def headless(path, text):
    """A verb has a noun for its subject: `a process that waits`, never `who waits`.  A question may
    ask who; Markdown speaks of people."""
    faults = []
    for line, sentence in prose_of(path, text):
        if sentence.endswith("?") or "?" in sentence:
            continue
        for m in re.finditer(r"\b([Ww]ho|[Ww]hoever|[Ww]hom)\b", sentence):
            if path.endswith(".md") and re.search(PEOPLE + r",?\s+$", sentence[: m.start()], re.I):
                continue
            faults.append(line + sentence.count("\n", 0, m.start()))
        bare = re.match(r"(?:[*\-#>|]+\s*|\**)What\s+(?!" + NO_VERB + r"\b)" + VERB + r"\b", sentence)
        if bare:
            faults.append(line)
    return sorted(set(faults))


def pronoun(path, text):
    """A process, a thread or a scheduler is `it`."""
    if not path.endswith(CODE):
        return []
    return [
        line + sentence.count("\n", 0, m.start())
        for line, sentence in prose_of(path, text)
        for m in re.finditer(r"\b(?:[Hh]e|[Hh]im|[Hh]is|[Hh]imself|[Ss]he|[Hh]er|[Hh]erself)\b", sentence)
    ]


def seed(path, text):
    """The texts that weft began with are cited by chapter, paper or section."""
    return lines_matching(r"\b[Ss]eeds? (?:0|of the|is wrong)|\b[Ss]eed's\b|\b[Ss]eeds' ", text) if path != "CHANGELOG.md" else []


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
    "the library is included by its name: weft/sched/schedule.hpp": short_include,
    "a header of the system outside of io/ and effects/detail/platform.hpp": system_header,
    "a static that changes, in a function: a program may have it twice": hidden_static,
    "a memory order without its reason, or its partner": unexplained_order,
    "is_, has_, was_, may_, can_ give a bool and change nothing": predicate,
    "a slow path is NAME_slow": private_name,
    "the path of a machine": machine_path,
    "a verb without a noun for its subject": headless,
    "a process is `it`": pronoun,
    "cite the chapter, not a seed": seed,
}


def check(path, text):
    """The breaches in one file: (line, rule) each."""
    return sorted((line, rule) for rule, find in RULES.items() for line in find(path, text))


# ---- labels of invariants: WAITER-3

DEFINED = re.compile(r"^\s*///?\s{2,}([A-Z][A-Z]+-\d+)  ")
CITED = re.compile(r"(?<![\w-])([A-Z][A-Z]+)-(\d+)(?![\w-])")
NO_LABELS = {"UTF", "ISO", "CRC", "SHA", "MIT"}


def check_labels(files):
    """The breaches in all files together: (path, line, what) each.  `files`: of each path its text."""
    defined, faults = {}, []
    for path, text in files.items():
        for i, line in enumerate(text.splitlines(), 1):
            if path.endswith(CODE) and (m := DEFINED.match(line)):
                if m.group(1) in defined:
                    faults.append((path, i, f"{m.group(1)} is defined in {defined[m.group(1)]} already"))
                defined[m.group(1)] = path
    for path, text in files.items():
        for i, line in enumerate(text.splitlines(), 1):
            for m in CITED.finditer(line):
                if m.group(1) not in NO_LABELS and m.group() not in defined:
                    faults.append((path, i, f"there is no {m.group()}"))
            if path.endswith(CODE):
                said = line[line.find("//") :] if "//" in line else ""
                if re.match(r"\s*///?\s{2,}[A-Z]\d+  ", line) or re.search(r"\((?:[A-Z]\d(?:, | and | to )?)+\)", said):
                    faults.append((path, i, "a label of one letter is not unique: WORD-1"))
    return faults


# ---- includes

INCLUDED = re.compile(r'^#include "(?:weft/)?([^"]+)"', re.M)


def check_cycles(files):
    """The headers that include themselves, by way of others: (path, line, what) each."""
    includes = {path: INCLUDED.findall(text) for path, text in files.items() if path.endswith(".hpp")}
    faults, done = [], set()

    def visit(path, above):
        if path in above:
            faults.append((path, 1, "an include cycle: " + " -> ".join(above[above.index(path) :] + [path])))
        elif path in includes and path not in done:
            for other in includes[path]:
                visit(other, above + [path])
            done.add(path)

    for path in includes:
        visit(path, [])
    return faults


# ---- what clauses use of a scheduler

SERVICES = "sched/base/detail/scheduling_services.hpp"
USED = re.compile(r"\bs\.(?:template )?(\w+)|\bS::(\w+)")


def check_services(files):
    """The uses of members that the concept scheduling_services has not: (path, line, what) each."""
    used = lambda text: {"".join(m): line_of(text, at.start()) for at in USED.finditer(text) for m in [at.groups("")]}
    offered = used(code_of(files.get(SERVICES, "")))
    return [
        (path, line, f"a clause uses `{member}`, which scheduling_services has not")
        for path, text in files.items()
        if "scheduling_services S" in text
        for member, line in used(code_of(text)).items()
        if member not in offered
    ]


def main(paths):
    files = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            files[path] = file.read()
    broken = [(path, line, rule) for path, text in files.items() for line, rule in check(path, text)]
    broken += check_labels(files) + check_cycles(files) + check_services(files)
    for path, line, rule in broken:
        print(f"{path}:{line}: {rule}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
