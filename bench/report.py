#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All benches on one page.

    ./bazelw run --config=bench //bench:report -- [--quick] [--rounds=N] [--only=yield,fork] [DIR]

Runs each bench N times (3), with a line of progress, and writes DIR/report.html: bars beside the rivals', with the
spread of the rounds; curves of growth; the machine, the compiler and the versions; and DIR/report.json, the raw
figures, an object a line.  DIR is the working directory, unless it is named.  Exits with 1 if a bench fails.

    bench/report.py --table REPORT.json       writes the table of docs/performance.md, of these figures
    bench/report.py --check-table            exits with 1 if the table is another than that of bench/figures.json
"""

import argparse
import html
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path

# The table of docs/performance.md: what a row says, and the figures in it: (bench, case, rival).
TABLE = [
    ("a yield, a thousand processes in turn", ("yield", "one_thread/1000", "ring+virtual"), "a ring of coroutines by hand"),
    ("the same, of processes that can fork and therefore keep a log", ("yield", "forkable/1000", "ring+virtual"), "the same ring"),
    ("a yield on two threads, work shared", ("sharing", "yield/2", "mutex+condvar"), "by hand, a queue under a mutex"),
    ("the same, work stolen", ("stealing", "yield/2", "mutex+condvar"), "the same queue"),
    ("a spawn on two threads, work stolen", ("stealing", "spawn/2/inside", "tbb"), "a task of TBB"),
    ("a sleeping thread woken by an event from outside", ("sharing", "wakeup", "condvar"), "a condition variable"),
    ("a task for each call of `fib`, on one thread", ("tasks", "fib/1", "tbb"), "a task of TBB"),
    ("the same on two threads", ("tasks", "fib/2", "tbb"), "a task of TBB"),
    ("a message to another process and one back", ("messages", "ping-pong/one_thread", "box+ring"), "by hand, two boxes and a queue"),
    ("the same on `sharing`", ("messages", "ping-pong/sharing/1", "boost.fiber"), "two fibers' channels"),
    ("a waiting process, all in all", ("memory", "suspended/1M", None), ""),
    ("the same, with a log", ("memory", "suspended/1M/forkable", None), ""),
    ("a schedule of two processes that lose an update, explored", ("explore", "lost_update", None), ""),
    ("an event of a trace", ("trace", "on", "off"), "the same without a trace"),
    ("an operation that is answered at once", ("operation", "get+put", "virtual-call"), "a virtual call"),
    ("a call of an `eff`", ("call", "eff", "plain"), "a plain call"),
    ("twelve queens, by a handler that resumes twelve times, bitwise", ("effect_suite", "nqueens/bitwise", "plain"), "plain recursion"),
    ("the same, by replay", ("effect_suite", "nqueens/replay", "plain"), "plain recursion"),
    ("a step of the persistent deque, in and out", ("deque", "unique/10k", "ring"), "a ring buffer"),
    ("the same with a snapshot at each", ("deque", "snapshot/10k", "ring"), "a ring buffer"),
]  # fmt: skip
RIVALS = [
    ("Boost", "/usr/include/boost/version.hpp", r'BOOST_LIB_VERSION "(\d+)_(\d+)'),
    ("TBB", "/usr/include/oneapi/tbb/version.h", r"TBB_VERSION_MAJOR (\d+)\s+.*\n?.*TBB_VERSION_MINOR (\d+)"),
]
BEGIN, END = "<!-- the table is written by bench/report.py -->\n", "<!-- until here -->\n"
BEGIN_LIMITS = "<!-- these rows are written by bench/report.py, of bench/limits.json -->\n"
SIZE = re.compile(r"^(.*)/(\d+)([kM]?)$")
CURVES = {
    ("yield", "one_thread"): "a yield, by the number of processes",
    ("fork", "replay"): "a replayed operation, by the length of the log",
    ("explore", "steps"): "a step of an explored schedule, by the steps of each process",
    ("messages", "ports"): "a message, by the number of ports",
    ("deque", "unique"): "a step of the persistent deque, by its length",
    ("depth", "control"): "a control operation, by the handlers in between",
}
STYLE = """
:root { color-scheme: light dark; --ours: #0a6b8f; --theirs: #b5b1a5; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.2rem; font-size: 1.15rem; } table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .15rem .5rem .15rem 0; font-variant-numeric: tabular-nums; vertical-align: top; }
td.n { text-align: right; white-space: nowrap; } svg { display: block; width: 100%; height: auto; }
.bar { height: .75rem; border-radius: 2px; position: relative; } .ours { background: var(--ours); }
.theirs { background: var(--theirs); } .spread { position: absolute; top: 25%; height: 50%; background: #0008; }
small { color: #888; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
"""


def number(value):
    """Three digits of a figure."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def with_unit(value, unit):
    if unit == "ns" and value >= 1_000:
        return f"{number(value / 1000)} µs"
    if unit == "1/s" and value >= 1e6:
        return f"{number(value / 1e6)} million a second"
    return f"{number(value)} {'a second' if unit == '1/s' else unit}"


def key(row):
    return row["bench"], row["case"], row["rival"]


# ---- measuring


def measured(programs, rounds, quick):
    """The rows of all benches: each as the bench prints it, of all rounds; and those that failed."""
    rows, failed = {}, []
    total = rounds * len(programs)
    begin = time.monotonic()
    for done in range(total):
        name, program = programs[done % len(programs)]
        since = time.monotonic() - begin
        left = f", {since / done * (total - done):.0f} s left" if done else ""
        print(f"\r\033[K{done + 1}/{total}  {name}{left}", end="", file=sys.stderr, flush=True)
        ran = subprocess.run(
            [program, "--json", *(["--quick"] if quick else [])], capture_output=True, text=True, check=False
        )
        if ran.returncode != 0 and name not in failed:
            failed.append(name)
            print(f"\n{name} failed: {ran.stderr}", file=sys.stderr)
        for line in ran.stdout.splitlines():
            row = json.loads(line)
            rows.setdefault(key(row), []).append(row)
    print("\r\033[K", end="", file=sys.stderr)
    return rows, failed


def summary(rows):
    """One row of several: medians, and the spread."""
    values = [row["value"] for row in rows]
    result = dict(rows[0], value=statistics.median(values), least=min(values), most=max(values))
    theirs = [row["rival_value"] for row in rows if row["rival_value"] is not None]
    if theirs:
        result["rival_value"] = statistics.median(theirs)
        result["ratio"] = result["value"] / result["rival_value"] if result["rival_value"] else None
    return result


def machine():
    """Facts that figures depend on: (name, value)."""
    cpu = next((l.split(":")[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")), "")
    def first_line(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
        except (OSError, subprocess.CalledProcessError, IndexError):
            return "?"
    version = re.findall(r"#define WEFT_VERSION_[A-Z]+ (\d+)", (root() / "effects/version.hpp").read_text())
    return [
        ("processor", f"{cpu}, {os.cpu_count()} cores"),
        ("system", f"{platform.system()} {platform.release()}"),
        ("compiler", first_line("clang-19", "--version") + ", -O3 -march=native"),
        ("weft", ".".join(version)),
        ("rivals", ", ".join(f"{name} {version_in(*where)}" for name, *where in RIVALS)),
        ("date", time.strftime("%Y-%m-%d")),
    ]


def version_in(header, pattern):
    """The version that a rival's header has."""
    try:
        return ".".join(re.search(pattern, Path(header).read_text()).groups())
    except (OSError, AttributeError):
        return "?"


def root():
    return Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", Path(__file__).resolve().parent.parent))


# ---- the page


def bars(rows):
    """Ours beside each rival's, by bench; the longest bar of a row is the whole width."""
    for bench in sorted({row["bench"] for row in rows}):
        yield f"<h2>{html.escape(bench)}</h2><table>"
        for row in (r for r in rows if r["bench"] == bench):
            theirs = row["rival_value"]
            longest = max(row["most"], theirs or 0) or 1
            def width(value):
                return f"{100 * value / longest:.1f}%"
            spread = f'<span class="spread" style="left:{width(row["least"])};width:{width(row["most"] - row["least"])}"></span>'
            yield (
                f'<tr><td>{html.escape(row["case"])}<br><small>{html.escape(row["rival"] or "")}</small></td>'
                f'<td style="width:55%"><div class="bar ours" style="width:{width(row["value"])}"></div>'
                f'<div style="position:relative;height:.3rem">{spread}</div>'
                + (f'<div class="bar theirs" style="width:{width(theirs)}"></div>' if theirs else "")
                + f'</td><td class="n">{with_unit(row["value"], row["unit"])}<br><small>{with_unit(theirs, row["unit"]) if theirs else ""}</small></td>'
                f'<td class="n">{number(row["ratio"]) + " ×" if row["ratio"] else ""}</td></tr>'
            )
        yield "</table>"


def curves(rows):
    """Growth, log-log: (title, points of ours, points of a rival's)."""
    for (bench, prefix), title in CURVES.items():
        ours, theirs = {}, {}
        for row in rows:
            m = SIZE.match(row["case"])
            if row["bench"] == bench and m and m.group(1) == prefix:
                n = int(m.group(2)) * {"": 1, "k": 1000, "M": 1_000_000}[m.group(3)]
                ours.setdefault(n, row["value"])
                if row["rival_value"]:
                    theirs.setdefault(n, row["rival_value"])
        if len(ours) > 1:
            yield title, sorted(ours.items()), sorted(theirs.items())


def drawn(title, ours, theirs):
    xs = [math.log10(n) for n, _ in ours + theirs]
    ys = [math.log10(v) for _, v in ours + theirs if v > 0]
    left, right = min(xs), max(xs) + 1e-9
    low, high = math.floor(min(ys)), math.ceil(max(ys) + 1e-9)
    def at(n, v):
        return 60 + (math.log10(n) - left) / (right - left) * 520, 170 - (math.log10(v) - low) / (high - low) * 150
    lines = []
    for power in range(low, high + 1):
        y = at(10**left, 10.0**power)[1]
        lines.append(f'<line x1="60" x2="580" y1="{y:.0f}" y2="{y:.0f}" stroke="#8884"/><text x="4" y="{y + 4:.0f}">{number(10.0**power)} ns</text>')
    for points, color in ((theirs, "var(--theirs)"), (ours, "var(--ours)")):
        path = " ".join("{:.1f},{:.1f}".format(*at(n, v)) for n, v in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        lines += ['<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>'.format(*at(n, v), color) for n, v in points]
    lines += [f'<text x="{at(n, v)[0]:.0f}" y="190" text-anchor="middle">{n:,}</text>' for n, v in ours]
    return f'<h3>{html.escape(title)}</h3><svg viewBox="0 0 630 200" role="img" aria-label="{html.escape(title)}">{"".join(lines)}</svg>'


def page(rows, facts):
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>weft: benches</title><style>{STYLE}</style>'
    yield "<h1>weft: all benches</h1><p>Blue is weft, grey its rival; shorter is faster, except of rates (a second). "
    yield "The dark line is the spread of the rounds. The heads of the benches say what a rival is.</p><table>"
    yield from (f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in facts)
    yield "</table><h2>Growth</h2><p>Both axes are logarithmic: a line that is level costs the same at any size.</p>"
    yield from (drawn(*curve) for curve in curves(rows))
    yield from bars(rows)


# ---- docs/performance.md


def table(rows):
    by_key = {key(row): row for row in rows}
    yield "| what | weft | rival | printed by |\n|---|---|---|---|\n"
    for what, wanted, rival in TABLE:
        row = by_key[wanted]
        theirs = f"{rival}: {with_unit(row['rival_value'], row['unit'])}" if row["rival_value"] else ""
        yield f"| {what} | {with_unit(row['value'], row['unit'])} | {theirs} | `//bench:{row['bench']}` |\n"


def limits(rows):
    """The rows of bench/limits.json: what limits each, what peers do, what weft does and why; with its figures."""
    by_key = {key(row): row for row in rows}
    for about in json.loads((root() / "bench/limits.json").read_text()):
        yield f"\n### {about['what']}\n\n"
        yield "| case | weft | beside | ratio |\n|---|---|---|---|\n"
        for bench, case, rival in map(tuple, about["cases"]):
            row = by_key[bench, case, rival]
            theirs = f"{rival}: {with_unit(row['rival_value'], row['unit'])}" if row["rival_value"] else ""
            ratio = number(row["ratio"]) if row["ratio"] else ""
            yield f"| `{bench}` {case} | {with_unit(row['value'], row['unit'])} | {theirs} | {ratio} |\n"
        for title, name in (("Limit", "limit"), ("Peers", "peers"), ("weft", "weft")):
            text = f"*{title}.* {about[name]}"
            yield "\n" + textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"
    yield "\n"


def read(file):
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


def performance():
    return root() / "docs/performance.md"


def page_with(rows):
    text = performance().read_text()
    for begin, lines in ((BEGIN, table(rows)), (BEGIN_LIMITS, limits(rows))):
        head, rest = text.split(begin)
        text = head + begin + "".join(lines) + END + rest.split(END, 1)[1]
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--table")
    parser.add_argument("--check-table", action="store_true")
    parser.add_argument("--json", action="store_true")  # as the other benches: the rows go to standard output
    parser.add_argument("words", nargs="*")  # the programs, which Bazel names, and DIR
    args = parser.parse_intermixed_args()
    figures = root() / "bench/figures.json"
    if args.check_table:
        if page_with(read(figures)) != performance().read_text():
            sys.exit("docs/performance.md: the table is not that of bench/figures.json: bench/report.py --table bench/figures.json")
        return
    if args.table:
        if Path(args.table).resolve() != figures.resolve():
            figures.write_text(Path(args.table).read_text())
        performance().write_text(page_with(read(figures)))
        return
    only = set(filter(None, args.only.split(",")))
    programs = [(Path(w).name, w) for w in args.words if os.access(w, os.X_OK) and Path(w).is_file()]
    programs = [p for p in programs if not only or p[0] in only]
    folder = next((w for w in args.words if not (os.access(w, os.X_OK) and Path(w).is_file())), ".")
    folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), folder)
    found, failed = measured(programs, 1 if args.quick else args.rounds, args.quick)
    rows = [summary(all_rounds) for all_rounds in found.values()]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if args.json:
        print(lines, end="")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(lines)
        (folder / "report.html").write_text("\n".join(page(rows, machine())))
        print(f"{folder / 'report.html'}: {len(rows)} figures of {len(programs)} benches")
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
