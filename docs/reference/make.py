#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the reference: Markdown (MyST) pages, one for each group of headers, and an index.

    docs/reference/make.py OUT_DIR

OUT_DIR is the folder reference/ among the sources of a site, whose chapters are in the folder above; its page
README.md takes the place of docs/reference/README.md.  Elsewhere the links to chapters lead into the tree.

An entry has, in this order: signature, row, header, what it does, what the co_await yields, cost, allocation,
threads, errors, source, since, fields, an example, see also, and the members, each with a heading of its own.  All
is read from the headers (names.py, docstrings.py) and from programs (programs.py); what holds of cost, allocation,
threads and errors unless an entry says otherwise is in usual.py.  The anchor of an entry is the qualified name.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from docstrings import NAMES, capitalized, coded, is_code, parse, said
from names import public_names, story
from programs import Finder, examples, namespace_of, other_programs
from usual import RULES, kind_of, usual

# The version in which a name appeared, if that is not the first.
SINCE = {}
FIRST_VERSION = "0.1.0"

# (file, title, what the page is about, headers in the order of the page)
GROUPS = [
    (
        "effects",
        "Effects and computations",
        "What a program may ask for, and the computations that ask.",
        ["effects/operation.hpp", "effects/row.hpp", "effects/eff.hpp", "effects/awaits_to.hpp", "effects/run.hpp",
         "effects/ready/for_each.hpp", "effects/describe.hpp", "effects/async_stack.hpp", "effects/errors.hpp",
         "effects/version.hpp"],
    ),
    (
        "handlers",
        "Handlers and resumptions",
        "How operations are answered: clauses, and the continuations that they are given.",
        ["effects/handle.hpp", "effects/clauses.hpp", "effects/resumption.hpp", "effects/detail/captured_frames.hpp",
         "effects/region.hpp", "effects/outer.hpp", "effects/tagged.hpp", "effects/synchronized.hpp",
         "effects/multi_shot.hpp", "effects/bitwise/bitwise.hpp",
         "effects/multi_resumption.hpp"],
    ),
    (
        "ready_effects",
        "Effects with handlers",
        "Effects for everyday use, each with its handlers.",
        ["effects/ready/console.hpp", "effects/ready/state.hpp", "effects/ready/reader.hpp",
         "effects/ready/failure.hpp", "effects/ready/emit.hpp", "effects/ready/each.hpp", "effects/ready/choose.hpp"],
    ),
    (
        "processes",
        "Processes and schedulers",
        "Programs of many processes, and the schedulers that run them.",
        ["effects/proc.hpp", "sched/base/spawning.hpp", "sched/base/named.hpp", "sched/schedule.hpp", "sched/runtime/scheduler.hpp",
         "sched/runtime/shutdown.hpp", "sched/runtime/polling.hpp", "sched/runtime/detail/incoming/submitting.hpp", "sched/base/process_id.hpp",
         "sched/base/errors.hpp"],
    ),
    (
        "tasks",
        "Tasks",
        "Work that a caller waits for: in parallel if there are threads.",
        ["sched/tasks/tasking.hpp", "sched/tasks/when_all.hpp", "sched/tasks/when_any.hpp", "sched/tasks/scope.hpp",
         "sched/tasks/detail/scope_limit.hpp",
         "sched/tasks/shielded.hpp", "sched/tasks/task_handle.hpp", "sched/tasks/parallel.hpp"],
    ),
    ("mail", "Messages", "Ports, and messages by the id of a process.", ["sched/mail/mail.hpp", "sched/mail/routing.hpp"]),
    (
        "sync",
        "Locks and conditions",
        "How processes wait for one another without messages.",
        ["sched/sync/mutex.hpp", "sched/sync/condition.hpp", "sched/sync/semaphore.hpp", "sched/sync/barrier.hpp",
         "sched/sync/shared.hpp", "sched/sync/gate.hpp"],
    ),
    ("time", "Time", "The clock, and sleeping.", ["sched/sync/timing.hpp", "sched/base/time_span.hpp"]),
    (
        "outside",
        "The world outside",
        "Values and events that come from outside the scheduler, and commands that go there.",
        ["sched/sync/completion.hpp", "sched/sync/external_event.hpp", "sched/commands/commands.hpp",
         "sched/commands/reply.hpp", "sched/commands/dispatchers.hpp", "sched/commands/replies.hpp",
         "sched/commands/stepper.hpp", "sched/commands/coroutine_stepper.hpp", "sched/commands/run_stepper.hpp",
         "sched/commands/unique_any.hpp"],
    ),
    (
        "io",
        "Sockets, files and blocking work",
        "Networks, of the system and in memory; work that blocks a thread.",
        ["io/io.hpp", "io/connection.hpp", "io/socket.hpp", "io/network.hpp", "io/reactor.hpp",
         "io/memory_network.hpp", "io/memory_network_options.hpp", "io/blocking.hpp", "io/thread_pool.hpp",
         "io/files.hpp", "io/dump_on_signal.hpp", "io/wakeup_descriptor.hpp"],
    ),
    (
        "durable",
        "Durable processes",
        "Processes whose answers are stored before they go on: killed anywhere, they go on.",
        ["durable/engine.hpp", "durable/detail/coordinator.hpp", "durable/detail/process_handler.hpp",
         "durable/function.hpp", "durable/step.hpp", "durable/process.hpp", "durable/child_scope.hpp",
         "durable/codec.hpp", "durable/errors.hpp", "durable/store.hpp", "durable/memory_store.hpp",
         "durable/sqlite_store.hpp", "durable/replicated_store.hpp", "durable/command_log.hpp",
         "cluster/nats_store.hpp"],
    ),
    (
        "cluster",
        "Messages between computers",
        "Messages that may be lost, to processes on other computers; and how a server is reached.",
        ["cluster/router.hpp", "cluster/connection_options.hpp"],
    ),
    (
        "adapters",
        "Beside other libraries",
        "Adapters for other libraries, and for the newest parts of the standard library.",
        ["adapters/expected.hpp", "adapters/future.hpp", "adapters/stop_token.hpp", "adapters/ranges.hpp",
         "adapters/use_weft.hpp", "adapters/asio.hpp", "adapters/asio_network.hpp", "adapters/as_sender.hpp", "adapters/await_sender.hpp", "adapters/execution.hpp", "adapters/clock_time.hpp", "adapters/fmt.hpp", "adapters/format.hpp"],
    ),
    (
        "testing",
        "Testing",
        "A verdict in five seconds; every schedule, many schedules, one schedule.",
        ["testing/check_schedules.hpp", "testing/explore.hpp", "testing/random_walk.hpp", "testing/exploration.hpp", "testing/path.hpp",
         "sched/base/decision.hpp", "sched/backends/random_order.hpp", "testing/assertions.hpp"],
    ),
    (
        "trace",
        "Traces",
        "What a scheduler does, as events, files and pages.",
        ["trace/tracing_backend.hpp", "trace/trace.hpp", "sched/base/trace_event.hpp", "trace/traced_handler.hpp",
         "trace/trace_files.hpp"],
    ),
    (
        "backends",
        "Backends",
        "Which ready process runs next, and on which thread; and what a backend of your own is made of.",
        ["sched/backends/one_thread.hpp", "sched/backends/sharing.hpp", "sched/backends/stealing.hpp",
         "sched/backends/detail/stealing_shared.hpp", "sched/backends/detail/process_list.hpp",
         "sched/base/backend.hpp", "sched/base/put_reason.hpp", "sched/base/thunk.hpp", "sched/base/process.hpp",
         "sched/base/detail/backend_header.hpp", "sched/base/lazy_task.hpp", "sched/backends/detail/stealing_state.hpp"],
    ),
    (
        "deque",
        "Deques",
        "A double-ended queue whose copies are snapshots, and two queues from which threads steal.",
        ["deque/persistent_deque.hpp", "deque/policy.hpp", "deque/chase_lev.hpp", "deque/steal_queue.hpp",
         "deque/taken.hpp", "deque/detail/steal_ends.hpp"],
    ),
]
# The names that a program needs every day, by what one wants: at most 80.
EVERY_DAY = {
    "compute": "eff run handle clauses handler op op_list resumption multi_resumption",
    "have at hand": "console console_to_stream console_to_string state state_of state_in reader reader_of failure "
    "failure_to_optional emit each choose all_solutions",
    "run processes": "schedule schedule_options one_thread sharing stealing proc spawn spawning process_id deadlock "
    "cancelled",
    "start tasks": "tasking when_all when_any with_scope scope_options task_handle shielded timed_out parallel_for",
    "send and receive": "mail open address inbox select port_options no_senders",
    "share and wait": "syncing mutex with_lock condition semaphore barrier shared timing instant completion completions",
    "reach the outside": "io reactor listen connect connection io_error blocking off_thread thread_pool submitter",
    "test": "check_schedules explore explore_options random_walk follow exploration granularity memory_network "
    "decide",
}
# The pages for those who write a backend, or use the queues by themselves.
FOR_AUTHORS = ("backends", "deque")
# Names whose page is not that of their header.
ELSEWHERE = {"weft::instant": "time", "weft::overflow_policy": "processes"}
# Operations of which functions are the usual form, besides those that only the library can make.
EFFECTS_OF_FUNCTIONS = ("blocking", "completions", "io", "issuing", "syncing")
USED_BY_FUNCTIONS = ("weft::choose::among",)
PERFORMED_BY_PROGRAMS = ("weft::syncing::touch",)
LABELS_OF = ("concept",)
OPERATORS = {
    "|": "or",
    "()": "call",
    "[]": "subscript",
    "*": "dereference",
    "->": "arrow",
    "++": "increment",
    "==": "equal",
    "<=>": "compare",
}
USUAL = "as-usual"
DEFAULT_PLACE = re.compile(r",?\s*std::source_location where\s*= std::source_location::current\(\)")


def anchor(qualified):
    return re.sub(r"operator(\W+)$", lambda m: "operator_" + OPERATORS[m.group(1)], qualified.replace(" ", "_"))


def shown(name):
    return name.qualified.removeprefix("weft::")


def link(name, text=None):
    return f"{{ref}}`{text or shown(name)} <{anchor(name.qualified)}>`"


def signature_of(d):
    """Without the parameter that reports use."""
    text = re.sub(r"\(\s*std::source_location where = std::source_location::current\(\)\)", "()", d.signature)
    text = DEFAULT_PLACE.sub("", text)
    if text != d.signature:
        text = re.sub(r"\(\n\s+(.*)$", r"(\1", text, flags=re.M)
    return text


def returned(signature):
    """(what co_await yields, the row it needs) of an awaited function; (None, None) of another one."""
    text = re.sub(r"\s+", " ", signature)
    text = re.sub(r"^template <.*?> (?=(?:requires|static|awaits_to|eff|auto|\w))", "", text)
    text = re.sub(r"^requires ?\((?:[^()]|\([^()]*\))*\) ", "", text)
    m = re.search(r"\b(eff|awaits_to)<", text)
    if not m or "(" in text[: m.start()]:
        return None, None
    arguments, depth, i, begin = [], 1, m.end(), m.end()
    while depth:
        c = text[i]
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
        if (c == "," and depth == 1) or depth == 0:
            arguments.append(text[begin:i].strip())
            begin = i + 1
        i += 1
    if m.group(1) == "awaits_to":
        return arguments[0], None
    return arguments[0], ", ".join(arguments[1:]) or None


def performed_by_functions(n):
    """Whether it is an operation whose usual form is a function of the library."""
    if not n.is_operation or n.qualified in PERFORMED_BY_PROGRAMS:
        return False
    return n.is_internal or n.qualified in USED_BY_FUNCTIONS or n.parent.own in EFFECTS_OF_FUNCTIONS


def parameters(signature, own):
    """The names of the parameters of a function: `h, f, args...`."""
    text = re.sub(r"\s+", " ", DEFAULT_PLACE.sub("", signature))
    at = re.search(rf"\b{re.escape(own)}\((?!.*\b{re.escape(own)}\()", text)
    names, part, depth = [], "", 1
    for c in text[at.end() :]:
        depth += {"(": 1, "<": 1, "{": 1, ")": -1, ">": -1, "}": -1}.get(c, 0)
        if depth == 0 or (depth == 1 and c == ","):
            part = re.sub(r" = .*", "", part)
            if m := re.search(r"(\w+)$", part):
                names.append(m.group(1) + ("..." if "..." in part else ""))
            part = ""
        else:
            part += c
        if depth == 0:
            break
    return ", ".join(n for n in names if n != "where")


class Reference:
    def __init__(self, root, out):
        self.root = root
        self.site = out.parent if (out.parent / "origins.json").is_file() else None
        self.names = public_names(root)
        NAMES.update(n.own for n in self.names.values())
        self.finder = Finder(self.names)
        self.examples = examples(root)
        self.used = {p.path: self.finder.uses(p) for p in self.examples}
        self.others = [(p, self.finder.uses(p)) for p in other_programs(root)]
        self.group_of = {}
        homes = {h: g[0] for g in GROUPS for h in g[3]}
        for q, n in self.names.items():
            top = n
            while top.parent is not None:
                top = top.parent
            home = ELSEWHERE.get(top.qualified) or homes.get(top.header)
            if not home:
                raise SystemExit(f"weft: {top.header} is on no page of docs/reference/make.py: GROUPS")
            self.group_of[q] = home
        self.tops = [n for n in self.names.values() if n.parent is None]

    # ---- the fields

    def row_and_yields(self, n, parsed, declarations=None):
        """What a coroutine needs in its row to await it, and what the co_await yields; computed, or as the docstring says."""
        rows, yields = [], []
        if n.is_operation:
            effect = n.parent
            if effect is not None and n.qualified != "weft::op":
                rows.append(f"`{shown(effect)}`" if "template" not in effect.main.signature else f"`{shown(effect)}<...>`")
            m = re.search(r": (?:public )?op<(.*?)(?:, (?:seals|detail::.*))?>(?= \{|$)", n.main.signature)
            if m and m.group(1) not in ("void", "never"):
                yields.append(f"`{m.group(1)}`")
            elif m:
                yields.append("nothing" if m.group(1) == "void" else "nothing: it never returns")
        else:
            for d in declarations or n.declarations:
                gives, row = returned(d.signature)
                if gives and "detail::" not in gives:
                    text = "nothing" if gives == "void" else f"`{gives}`"
                    if text not in yields:
                        yields.append(text)
                if row and f"`{row}`" not in rows:
                    rows.append(f"`{row}`")
        documented = said(parsed, "row")
        # Where no type says so, the class does: "Row: `mail`."
        awaited = yields or "yields" in parsed.fields or any(returned(d.signature)[0] for d in n.declarations)
        if not documented and not rows and awaited and n.parent is not None:
            documented = said(parse(n.parent.doc), "row")
        row = documented or " or ".join(rows)
        words = " ".join(
            re.sub(r"^(?:`?co_await(?: [\w.()]+)?`? (?:yields|gives)|Yields|Answered with) ", "", s)
            for s in parsed.fields.get("yields", ())
        )
        words = re.sub(r":$", ".", coded(words))
        if not awaited and not n.is_operation:
            row = documented
        types = " or ".join(yields)
        if words and types not in ("", "nothing"):
            first = words.split()[0]
            text = f"{types}: {words if is_code(first) or first[1:].isupper() else words[0].lower() + words[1:]}"
        else:
            text = capitalized(words) or (types and types + ".")
        return row.rstrip("."), text

    def fields(self, n, with_header=True):
        """(row and header, what it does, the other fields): of the overloads with docstrings of their own, in turn."""
        docs = list(dict.fromkeys(d.doc for d in n.declarations if d.doc))
        parsed = [parse(doc, n.kind in LABELS_OF) for doc in docs] or [parse("")]
        several = len(docs) > 1
        rows, others, prose = {}, {}, []
        for i, one in enumerate(parsed, 1):
            mine = [d for d in n.declarations if not several or d.doc == docs[i - 1]]
            row, yields = self.row_and_yields(n, one, mine)
            mark = f"({i}) " if several else ""
            if row:
                rows.setdefault(row, []).append(str(i))
            for title, text in (
                ("`co_await` yields", yields),
                ("Cost", said(one, "cost")),
                ("Allocation", said(one, "allocation")),
                ("Threads", said(one, "threads") or ("Thread safe." if n.thread_safe else "")),
                ("Errors", said(one, "errors")),
                ("Source", said(one, "source")),
            ):
                if text:
                    others.setdefault(title, []).append(mark + text)
            blocks = list(one.prose)
            if blocks and mark:
                if blocks[0].startswith(("```", "|", "*")):
                    blocks.insert(0, mark.strip())
                else:
                    blocks[0] = mark + blocks[0]
            prose += blocks
        before = []
        if rows:
            said_of = [f"{row} (for {', '.join(which)})" if len(rows) > 1 else row for row, which in rows.items()]
            before.append(f"* **Row:** {'; '.join(said_of)}")
        if with_header:
            before.append(f"* **Header:** `#include <weft/{n.include}>`; declared in `{n.header}`")
        after = [
            f"* **{title}:** {' '.join(others[title])}"
            for title in ("`co_await` yields", "Cost", "Allocation", "Threads", "Errors", "Source")
            if title in others
        ]
        if left := usual(n):
            after.append(f"* [**As usual**](README.md#{USUAL}): " + "; ".join(f"{f}: {text}" for f, text in left.items()) + ".")
        if with_header:
            after.append(f"* **Since:** {SINCE.get(n.qualified, FIRST_VERSION)}")
        return "\n".join(before), prose, "\n".join(after)

    # ---- an entry

    def synopsis(self, n):
        docs = list(dict.fromkeys(d.doc for d in n.declarations if d.doc))
        heads = [signature_of(d) for d in n.declarations]
        if len(docs) > 1:
            number = 1
            for i, d in enumerate(n.declarations):
                number = docs.index(d.doc) + 1 if d.doc else number
                heads[i] = re.sub(r"\A", f"// ({number})\n", heads[i]) if i == 0 or d.doc and d.doc != n.declarations[i - 1].doc else heads[i]
        if n.kind in ("class", "struct", "union") and not n.is_operation:
            inside = [signature_of(d) for d in n.constructors if "detail::internal" not in d.signature]
            inside += [signature_of(d) for m in n.members if m.kind not in ("class", "struct", "enum") for d in m.declarations]
            if inside and len(inside) <= 60:
                body = "\n".join(re.sub(r"^", "  ", s, flags=re.M) + ("" if s.endswith(";") else ";") for s in inside)
                heads[-1] += " {\n" + body + "\n}"
        elif n.is_operation:
            made = [signature_of(d) for d in n.constructors]
            if made and not any("detail::" in s for s in made):
                heads[-1] += " {\n" + "\n".join(re.sub(r"^", "  ", s, flags=re.M) + ";" for s in made) + "\n}"
        return "```cpp\n" + "\n".join(h if h.endswith(";") or n.kind == "macro" else h + ";" for h in heads) + "\n```"

    def member(self, n):
        before, prose, after = self.fields(n, with_header=False)
        text = [f"({anchor(n.qualified)})=", f"#### `{shown(n)}`", "", self.synopsis(n)]
        for block in (before, *prose, after):
            if block:
                text += ["", block]
        return text

    def members(self, n):
        text = []
        plain = [m for m in n.members if m.kind in ("field", "enumerator", "variable", "alias") and not m.members]
        if plain:
            title = "Enumerator" if n.kind == "enum" else "Member"
            text += ["", f"| {title} | |", "|---|---|"]
            for m in plain:
                parsed = parse(m.doc)
                words = " ".join([p for p in parsed.prose if not p.startswith(("```", "|", "*"))])
                words += "".join(" " + said(parsed, f) for f in parsed.fields)
                words = re.sub(r"\s+", " ", words.strip()).replace("|", "\\|")
                head = m.own if n.kind == "enum" else re.sub(r"\s+", " ", signature_of(m.main))
                head = head.replace("|", "\\|")
                text.append(f'| <span id="{m.qualified}"></span>`{head}` | {words} |')
        for m in n.members:
            if m in plain:
                continue
            text += ["", *self.member(m), *self.members(m)]
        made = [d for d in n.constructors if d.doc]
        if made:
            first = ["", f"**Constructors of `{shown(n)}`**"]
            for d in made:
                parsed = parse(d.doc)
                words = [*parsed.prose, *("* **%s:** %s" % (f.capitalize(), said(parsed, f)) for f in parsed.fields)]
                first += ["", "```cpp\n" + signature_of(d) + ";\n```", "", *[w for b in words for w in (b, "")]]
            text = first + text
        return text

    def example_for(self, n):
        """The example that shows the name best."""
        best, best_rank = None, None
        word = re.compile(rf"(?<!\w){re.escape(n.own)}(?!\w)")
        for p in self.examples:
            if n.qualified not in self.used[p.path]:
                continue
            rank = (p.stem != n.own, not word.search(p.title), -min(len(word.findall(p.code)), 3), len(p.text))
            if best is None or rank < best_rank:
                best, best_rank = p, rank
        return best

    def is_seen_from(self, namespace, top):
        """Whether a name without its namespace means `top` there: what is inside hides what is outside."""
        own = namespace_of(top)
        return own == namespace or (own == "weft" and f"{namespace}::{top.own}" not in self.names)

    def see_also(self, n, parsed_text):
        def code_in(doc):
            code = re.findall(r"`([^`]*)`", doc) + re.findall(r"^ {4}.*$", re.sub(r"//.*", "", doc), re.M)
            return "\n".join(code + re.findall(r"\b\w*[a-z]_\w+\b(?:\(\))?", doc))

        def mentions(doc, other):
            code = code_in(doc)
            is_seen = "_" in other.own and self.is_seen_from(namespace_of(n), other)
            return (is_seen and re.search(rf"\b{other.own}\b", code)) or self.finder.pattern(other).search(code)

        others = [o for o in self.tops if o is not n and o.own not in ("eff", "WEFT_VERSION")]
        words = re.findall(r"\b\w+\b", code_in(parsed_text))
        mentioned = [o for o in others if o.own in words and mentions(parsed_text, o)]
        mentioned.sort(key=lambda o: words.index(o.own))
        here = self.group_of[n.qualified]
        mentioned += [o for o in others if o not in mentioned and self.group_of[o.qualified] == here and mentions(o.doc, n)]
        names = ", ".join(link(o) for o in mentioned[:8])
        programs = [p for p, used in self.others if n.qualified in used]
        chapters = [p for p in programs if p.path.startswith("docs/")]
        rest = [p for p in programs if not p.path.startswith("docs/")]
        shown_programs = chapters[:6] + rest[: max(0, 6 - len(chapters[:6]))]
        titles = [(coded(p.title) if p.path.startswith("docs/") else p.stem, self.href(p.path)) for p in shown_programs]
        used_in = ", ".join(f"[{title}]({to})" if to else title for title, to in titles)
        parts = [names] if names else []
        if used_in:
            parts.append("used in " + used_in)
        return "* **See also:** " + "; ".join(parts) if parts else ""

    def href(self, path):
        """Where a page of docs/reference finds a file of the tree; None if the site has no page of it."""
        if self.site is None:
            return "../" + path.removeprefix("docs/") if path.startswith("docs/") else "../../" + path
        page = path.removeprefix("docs/") if path.endswith(".md") else f"source/{path}.md"
        return "../" + page if (self.site / page).is_file() else None

    def entry(self, n, shown_here):
        before, prose, after = self.fields(n)
        text = [f"({anchor(n.qualified)})=", f"### `{shown(n)}`", "", self.synopsis(n), "", before]
        for block in prose:
            text += ["", block]
        members = self.members(n)
        first = next((i for i, line in enumerate(members) if re.fullmatch(r"\(.*\)=", line)), len(members))
        text += ["", after, *members[:first]]
        example = self.example_for(n)
        if example:
            at = f"example-{example.stem}"
            text += ["", f"**Example** ({coded(example.title)}):" if example.path not in shown_here else ""]
            if example.path in shown_here:
                text += [f"**Example:** {{ref}}`{example.stem}.cpp <{shown_here[example.path]}>`, above."]
            else:
                label = f"{at}-on-{self.group_of[n.qualified]}"
                shown_here[example.path] = label
                text[-1] = f"({label})=\n**Example** `{example.stem}.cpp`: {coded(example.title)}"
                text += ["", f"```cpp\n{example.body}\n```", "", f"```{{code-block}} text\n:class: output\n\n{example.expected.rstrip()}\n```"]
        also = self.see_also(n, n.doc)
        if also:
            text += ["", also]
        text += ["", *members[first:]]  # with headings of their own
        return "\n".join(text)

    def page(self, group):
        file, title, about, headers = group
        text = [f"# {title}", "", about, ""]
        shown_here = {}
        moved = [n for n in self.tops if self.group_of[n.qualified] == file and n.header not in headers]
        for header in headers:
            here = [n for n in self.tops if n.header == header and self.group_of[n.qualified] == file]
            if not here:
                continue
            here.sort(key=lambda n: n.main.line)
            if "/detail/" not in header:  # else it is part of the one before
                text += [f"## `{header}`", ""]
            path = self.root / header
            if "/detail/" not in header and (intro := story(path)):
                parsed = parse(intro)
                for block in parsed.prose:
                    text += [block, ""]
                for f in parsed.fields:
                    text += [f"* **{f.capitalize()}:** {said(parsed, f)}", ""]
            for n in here:
                text += [self.entry(n, shown_here), ""]
        if moved:
            text += ["## Declared elsewhere", ""]
            for n in sorted(moved, key=lambda n: n.qualified):
                text += [self.entry(n, shown_here), ""]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(text)).rstrip() + "\n"

    # ---- the tables

    def overloads(self, n):
        """(docstring, declarations) of each docstring of a call: an overload without one has that of the one before."""
        found, doc = {}, n.doc
        for d in n.declarations:
            doc = d.doc or doc
            found.setdefault(doc, []).append(d)
        return found.items()

    def lines_of(self, n):
        """(call, row, what the co_await yields) of an awaited name: once for each row or yield of its overloads."""
        lines = []
        for doc, declarations in self.overloads(n):
            parsed = parse(doc)
            row, yields = self.row_and_yields(n, parsed, declarations)
            row = row or (lines[0][1] if lines else "")
            if "detail::" in yields:
                continue
            is_call = n.kind in ("function", "method")
            awaited = n.is_operation or (is_call and any(returned(d.signature)[0] for d in declarations))
            if not awaited and not (n.kind == "function" and "yields" in parsed.fields and row):
                continue
            first = re.match(r"(.*?)(?:: |\. |\.$)", yields)
            gives = (first.group(1) if first else yields).replace("|", "\\|")
            if all((row, gives) != line[1:] for line in lines):
                lines.append((declarations[0], row, gives))

        def call(d):
            if n.is_operation:
                return shown(n)
            return f"{shown(n)}({parameters(d.signature, n.own) if len(lines) > 1 else ''})"

        return [(call(d), row, gives) for d, row, gives in lines]

    def calls(self):
        """A table of all that is awaited: which row and which header it needs, and what it yields."""
        tables = {False: [], True: []}
        for n in self.names.values():
            if n.kind not in ("function", "method", "class", "struct") or n.qualified in ("weft::op", "weft::tagged_operation"):
                continue
            for call, row, gives in self.lines_of(n):
                line = f"| {link(n, call)} | {row} | `weft/{n.include}` | {gives} |"
                tables[performed_by_functions(n)].append((call.lower(), call, line))
        head = ["| call | row | header | `co_await` yields |", "|---|---|---|---|"]
        text = ["# What a call needs", ""]
        text += ["Each call that is awaited, and each operation: what the row of the awaiting coroutine must name, the header",
                 "to include, and what the `co_await` yields. Overloads with another row or another result have lines of their",
                 "own. An operation that a scheduler answers throws `cancelled` as well, if its process is cancelled.", ""]
        text += [*head, *(line for *_, line in sorted(tables[False])), ""]
        text += ["## Operations that the functions above perform", ""]
        text += ["A program calls the functions; a handler, a trace or a message of the compiler names these operations.", ""]
        text += [*head, *(line for *_, line in sorted(tables[True]))]
        return "\n".join(text) + "\n"

    def every_day(self):
        """A list of the names of EVERY_DAY, each a link."""
        lines, count = [], 0
        for want, names in EVERY_DAY.items():
            found = [self.names[f"weft::{own}"] for own in names.split()]
            count += len(found)
            lines.append(f"* *{want.capitalize()}:* " + ", ".join(link(n) for n in found) + ".")
        if count > 80:
            raise SystemExit(f"weft: EVERY_DAY of docs/reference/make.py has {count} names: at most 80")
        return lines

    def index(self):
        authors = " and ".join(f"[{g[1].lower()}]({g[0]}.md)" for g in GROUPS if g[0] in FOR_AUTHORS)
        text = ["---", "orphan: true", "---", "", "# Reference", ""]
        text += [f"Every public name of weft: {len(self.tops)} names, and {len(self.names) - len(self.tops)} members. [What a call needs](calls.md) lists, for each call",
                 "that is awaited, the row and the header that it needs.", "",
                 "An entry has the fields signature, row, header, what it does, what the `co_await` yields, cost, allocation,",
                 "threads, errors, source and since. Cost, allocation, threads and errors that are [as usual](#as-usual) stand in one",
                 "line. A member has those of the four that its class does not have. Most calls that are awaited have a last",
                 "parameter `std::source_location where`, which reports name: it is not shown.", "",
                 "```{toctree}", ":maxdepth: 1", "", "calls"]
        text += [g[0] for g in GROUPS] + ["```", "", "## Every day", ""]
        text += ["Most programs need no other names than these.", "", *self.every_day(), ""]
        text += [f"The pages {authors} are for those who write a backend of their own, or use the queues by themselves. All",
                 "other names are for programs that want more than the usual.", "", f"({USUAL})=", "## As usual", ""]
        text += ["What holds unless an entry, or that of its class, says otherwise. The caller's code comes on top: functions that",
                 "are passed, computations that are awaited, and copies, moves and comparisons of the caller's types cost, allocate",
                 "and throw what they do. A process that is cancelled finds `cancelled` where it waits. n is the number of elements,",
                 "waiters or characters that the entry speaks of.", ""]
        text += ["| of | cost | allocation | threads | errors |", "|---|---|---|---|---|"]
        text += [f"| {what} | " + " | ".join(rule.values()) + " |" for what, rule in RULES.values()]
        text += ["", "## All names", ""]
        letters = {}
        for n in self.names.values():
            key = n.own.lstrip("~")
            letters.setdefault(key[0].upper() if key[0].isalpha() else "#", []).append(n)
        for letter in sorted(letters):
            text += [f"### {letter}", ""]
            for n in sorted(letters[letter], key=lambda n: (n.own.lower(), n.qualified)):
                top = n if n.kind not in ("field", "enumerator", "variable", "alias") or n.parent is None else n.parent
                of = f" of `{shown(n.parent)}`" if n.parent is not None else ""
                kind = "operation" if n.is_operation else n.kind
                text.append(f"* {link(top, n.own)}, {kind}{of}")
            text.append("")
        return "\n".join(text).rstrip() + "\n"


def main(out):
    out = out.resolve()
    reference = Reference(Path(__file__).resolve().parents[2], out)
    out.mkdir(parents=True, exist_ok=True)
    for group in GROUPS:
        (out / f"{group[0]}.md").write_text(reference.page(group))
    (out / "calls.md").write_text(reference.calls())
    (out / "README.md").write_text(reference.index())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
