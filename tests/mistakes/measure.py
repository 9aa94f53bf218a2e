#!/usr/bin/env python3
"""Compiles each program of this folder as a user would, with clang 19 and g++ 12, and holds what the
compilers say to docs/mistakes.md.

    measure.py [--write] [NAME...]      in the folder in which the headers are found as <weft/...>

The head of a program says what is wrong in it, and what is known to be less than is wanted:

    /// Mistake: an operation without `co_await`
    /// Lines: 20                       not more than so many lines; 15 unless it says more
    /// Errors: 2                       not more than so many errors; 1 unless it says more
    /// Own words: clang g++            these compilers have no words of weft's
    /// Silent: g++                     these compilers say nothing

Of each other diagnostic is wanted: the first error has words of weft's, there is no second, and a
line names the program's file.  Warnings count as errors do.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).parent
WEFT = PROGRAMS.parent.parent
PAGE = WEFT / "docs/mistakes.md"
BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"
PRINTED, END_OF_PRINTED = "<!-- printed -->\n", "<!-- end of printed -->\n"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-DWEFT_SILENCE_GCC12", "-I."]
COMPILERS = {"clang": ["clang++-19", "-fno-color-diagnostics"], "g++": ["g++", "-fdiagnostics-color=never"]}


def first_header(name):
    text = (PROGRAMS / f"{name}.cpp").read_text()
    return "schedule" if re.search("<weft/(sched|testing)/", text) else "effects"


def parse_headers(scratch):
    """Parses each umbrella once: what a program includes first is then there already."""
    jobs = []
    for umbrella in ("effects/effects", "sched/schedule"):
        header = scratch / (umbrella.split("/")[1] + ".hpp")
        header.write_text(f"#include <weft/{umbrella}.hpp>\n")
        parse = FLAGS + ["-w", "-x", "c++-header", str(header), "-o"]
        jobs.append(COMPILERS["clang"] + ["-fpch-instantiate-templates"] + parse + [f"{header}.pch"])
        jobs.append(COMPILERS["g++"] + parse + [f"{header}.gch"])
    for job in [subprocess.Popen(j) for j in jobs]:
        if job.wait():
            sys.exit("an umbrella does not compile")


def diagnostic(scratch, name, compiler):
    header = scratch / (first_header(name) + ".hpp")
    parsed = ["-include-pch", f"{header}.pch"] if compiler == "clang" else ["-include", str(header)]
    source = PROGRAMS / f"{name}.cpp"
    command = COMPILERS[compiler] + FLAGS + parsed + ["-fsyntax-only", str(source)]
    said = subprocess.run(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}).stderr
    # clang names the header that stands for the umbrella; a program has it in its own line.
    return [line for line in said.splitlines() if not line.startswith(f"In file included from {header}")]


def is_error(line):
    return re.search(r"(error|warning): ", line)


def words_of(line):
    """What the first line with words of weft's says: from `weft: ` on, to the flag of a warning."""
    return re.sub(r"('|’)? \[-W.*\]$", "", line[line.index("weft: ") :])


def heads(name):
    head = dict(re.findall(r"^/// ([A-Z][a-z ]+): (.*)$", (PROGRAMS / f"{name}.cpp").read_text(), re.M))
    unknown = head.keys() - {"Mistake", "Lines", "Errors", "Own words", "Silent"}
    return head, [f"{name}: no such head: {h}" for h in unknown] + (["%s: no mistake" % name] if "Mistake" not in head else [])


def wrong_in(name, compiler, said, head):
    where = f"{name}, {compiler}"
    if compiler in head.get("Silent", "").split():
        return [f"{where}: is not silent any more"] if said else []
    if not said:
        return [f"{where}: says nothing"]
    errors = [line for line in said if is_error(line)]
    ours = [line for line in said if "weft: " in line]
    wrong = []
    if compiler in head.get("Own words", "").split():
        if ours:
            wrong.append(f"{where}: has words of weft's now")
    elif not ours:
        wrong.append(f"{where}: has no words of weft's")
    elif len(errors) > int(head.get("Errors", 1)):
        wrong.append(f"{where}: {len(errors)} errors")
    if len(said) > int(head.get("Lines", 15)):
        wrong.append(f"{where}: {len(said)} lines")
    if not any(f"{name}.cpp:" in line for line in said):
        wrong.append(f"{where}: does not name the program")
    return wrong


def cell(said):
    ours = [i for i, line in enumerate(said, 1) if "weft: " in line]
    return f"{len(said)} ({ours[0]})" if ours else f"{len(said)}" if said else "silent"


def words_in(said_by):
    for said in said_by.values():
        for line in said:
            if "weft: " in line:
                return words_of(line)
    for said in said_by.values():
        for line in filter(is_error, said):
            return re.sub(r"^.*?(error|warning): ", "", line)
    return ""


def row(name, head, said_by):
    words = words_in(said_by).replace("|", "\\|")
    words = f"`` {words} ``" if "`" in words else f"`{words}`"
    link = f"[{head['Mistake']}](../tests/mistakes/{name}.cpp)"
    return f"| {link} | {cell(said_by['clang'])} | {cell(said_by['g++'])} | {words} |\n"


def main():
    arguments = sys.argv[1:]
    write = "--write" in arguments
    names = [a for a in arguments if a != "--write"] or sorted(p.stem for p in PROGRAMS.glob("*.cpp"))
    wrong, rows = [], []
    with tempfile.TemporaryDirectory() as where, concurrent.futures.ThreadPoolExecutor(2) as pool:
        scratch = pathlib.Path(where)
        parse_headers(scratch)
        jobs = {(n, c): pool.submit(diagnostic, scratch, n, c) for n in names for c in COMPILERS}
        for name in names:
            said_by = {c: jobs[name, c].result() for c in COMPILERS}
            head, faults = heads(name)
            wrong += faults
            for compiler, said in said_by.items():
                faults = wrong_in(name, compiler, said, head)
                wrong += faults
                if faults:
                    print("\n".join(said))
            if "Mistake" in head:
                rows.append(row(name, head, said_by))
    table = BEGIN + "| mistake | clang 19 | g++ 12 | words |\n|---|---|---|---|\n"
    table += "".join(rows) + END
    if not arguments or write:
        page = PAGE.read_text()
        before, _, rest = page.partition(BEGIN)
        measured = before + table + rest.partition(END)[2]
        before, _, rest = measured.partition(PRINTED)
        printed = (PROGRAMS / "running/when_it_runs.expected").read_text().rstrip()
        measured = f"{before}{PRINTED}```\n{printed}\n```\n{END_OF_PRINTED}{rest.partition(END_OF_PRINTED)[2]}"
        if write:
            PAGE.write_text(measured)
        elif measured != page:
            wrong.append("docs/mistakes.md is not what was measured: tests/mistakes/measure.py --write")
            page_lines = set(page.splitlines())
            wrong += [line for line in table.splitlines() if line not in page_lines]
    print("\n".join(wrong))
    print(f"{len(names)} programs, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
