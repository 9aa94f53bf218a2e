#!/usr/bin/env python3
"""Holds the table of clashes in docs/pitfalls.md to what clang says.

    names.py [--write]      in the folder in which the headers are found as <weft/...>

For each public name at the top of namespace weft: whether a program with `using namespace weft` may
have a function or a type of that name, and `using namespace std` or headers of POSIX beside it.
"""

import pathlib
import re
import subprocess
import sys

WEFT = pathlib.Path(__file__).parent.parent.parent
PAGE = WEFT / "docs/pitfalls.md"
BEGIN, END = "<!-- names -->\n", "<!-- end of names -->\n"
SYSTEM = """fcntl.h poll.h pthread.h sched.h semaphore.h signal.h stdio.h stdlib.h string.h sys/mman.h sys/select.h
sys/socket.h sys/stat.h sys/time.h sys/types.h sys/wait.h syslog.h time.h unistd.h""".split()
STANDARD = """algorithm array atomic barrier chrono condition_variable csignal deque functional future generator iostream
latch list map memory mutex numeric optional queue ranges semaphore set shared_mutex span string thread tuple utility
variant vector""".split()
OURS = [f"weft/{h}.hpp" for h in """cluster/nats_store cluster/router deque/deque durable/engine effects/effects io/blocking
io/connection io/files io/memory_network io/reactor io/thread_pool sched/commands/coroutine_stepper
sched/commands/dispatchers sched/schedule sched/sharing sched/stealing sched/tasks/parallel sched/tasks/scope
sched/tasks/shielded sched/tasks/when_any testing/testing trace/trace_files trace/traced_handler trace/tracing""".split()]


def include(headers):
    return "".join(f"#if __has_include(<{h}>)\n#include <{h}>\n#endif\n" for h in headers)


def wrong(program, names):
    """The names of which clang has an error, in a line that ends with `// NAME`."""
    command = ["clang++-19", "-std=c++20", "-I.", "-fsyntax-only", "-w", "-ferror-limit=0", "-x", "c++", "-"]
    text = program.splitlines()
    said = subprocess.run(command, input=program, capture_output=True, text=True).stderr
    at = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: (?:fatal )?error:", said, re.M)}
    found = {text[n - 1].rpartition("// ")[2] for n in at}
    if not found <= set(names):
        sys.exit(said)
    return found


def clashes():
    listed = (WEFT / "docs/reference/names.txt").read_text().split()
    names = sorted({n.split("::")[1] for n in listed if re.fullmatch(r"weft::[a-z0-9_]+", n)})
    ours = include(OURS) + "using namespace weft;\nstruct mine {};\ntemplate <class F> void pass(F&&);\n"
    is_there = wrong(ours + "".join(f"using weft::{n};  // {n}\n" for n in names), names)
    names = [n for n in names if n not in is_there]  # of other headers
    # Each in a function of its own, so that each error has its line.
    mine = ours + "".join(f"int {n}(mine);\n" for n in names)
    called = wrong(mine + "".join(f"int call_{n}() {{ return {n}(mine()); }}  // {n}\n" for n in names), names)
    passed = wrong(mine + "".join(f"void pass_{n}() {{ pass({n}); }}  // {n}\n" for n in names), names)
    # A mention that is right for types, templates, functions and values alike, unless it is ambiguous.
    mention = "".join(f"namespace mention_{n} {{ using ::{n}; }}  // {n}\n" for n in names)
    std = wrong(include(STANDARD + OURS) + "using namespace std;\nusing namespace weft;\n" + mention, names)
    system = wrong(include(SYSTEM + OURS) + "using namespace weft;\n" + mention, names)
    return [
        ("a function or a type of yours, wherever you name it", called),
        ("a type of yours; a function of yours, where you pass it by its name", passed - called),
        ("`using namespace std` beside it, wherever you name it", std),
        ("headers of POSIX, wherever you name it", system),
    ]


def main():
    table = BEGIN + "| these names clash with | |\n|---|---|\n"
    for what, names in clashes():
        table += f"| {what} | {', '.join(f'`{n}`' for n in sorted(names)) or 'none'} |\n"
    page = PAGE.read_text()
    before, found, rest = page.partition(BEGIN)
    measured = before + table + END + rest.partition(END)[2]
    if "--write" in sys.argv:
        PAGE.write_text(measured)
        return 0
    if measured == page and found:
        return 0
    print("docs/pitfalls.md is not what was found: tests/mistakes/names.py --write\n" + table)
    return 1


if __name__ == "__main__":
    sys.exit(main())
