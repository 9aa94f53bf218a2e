# SPDX-License-Identifier: MIT
"""Processes of weft, in gdb: of a program that runs, and of a core dump.

    (gdb) source tools/gdb/weft.py
    (gdb) weft processes      each process: its function, and what it does, or the operation that it waits at; if
                              the scheduler is traced, since when
    (gdb) weft bt 1.2         the frames of a process, innermost first, with the handlers in between
    (gdb) weft handlers 1.2   only the handlers
    (gdb) weft queue          the processes that are ready, in the order in which they will run

The program and weft are compiled with -g.  Processes are found by the address of their virtual table, in all
writable memory: so no backend need keep a list of them, and a program that is not debugged pays nothing.
"""

import re
import struct

import gdb

PROCESS_TYPES = ("weft::process", "weft::detail::forkable_process")
STATES = {"active": "runs", "suspended": "waits", "cutting": "is cut", "cut": "is cut", "leaving": "unwinds"}
MOST_FRAMES = 64


def word(address):
    size = gdb.lookup_type("void").pointer().sizeof
    return int.from_bytes(gdb.selected_inferior().read_memory(address, size).tobytes(), "little")


def pointer_to(type_name, address):
    return gdb.Value(address).cast(gdb.lookup_type(type_name).pointer())


def string(view):
    """A std::string_view."""
    return view["_M_str"].string(length=int(view["_M_len"])) if int(view["_M_len"]) else ""


def place(where):
    """A std::source_location: "file:line", or nothing."""
    at = where["_M_impl"]
    if not int(at):
        return ""
    file, line = at["_M_file_name"], int(at["_M_line"])
    return f"{file.string()}:{line}" if line else ""


# ---- processes


def mappings():
    """The writable parts of the memory: (first, length)."""
    inferior = gdb.selected_inferior()
    try:
        with open(f"/proc/{inferior.pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                bounds, rights, *_ = line.split()
                if rights.startswith("rw") and "[v" not in line:
                    first, last = (int(bound, 16) for bound in bounds.split("-"))
                    yield first, last - first
            return
    except OSError:
        pass
    # A core dump: its sections are the memory.
    for line in gdb.execute("maintenance info sections", to_string=True).splitlines():
        found = re.search(r"0x([0-9a-f]+)->0x([0-9a-f]+).*: load\d+\w* .*\bALLOC\b", line)
        if found and "READONLY" not in line:
            first, last = (int(bound, 16) for bound in found.groups())
            yield first, last - first


def objects_of(name):
    """Each object in memory that begins with a pointer to the virtual table of the class."""
    inferior = gdb.selected_inferior()
    try:
        table = gdb.parse_and_eval(f"(char*)&'vtable for {name}'")
    except gdb.error:
        return
    pattern = struct.pack("<Q", int(table) + 2 * gdb.lookup_type("void").pointer().sizeof)
    for first, length in mappings():
        at, last = first, first + length
        while at < last:
            try:
                hit = inferior.search_memory(at, last - at, pattern)
            except gdb.MemoryError:
                break
            if hit is None:
                break
            at = hit + 8
            if hit % 8 == 0:
                yield pointer_to(name, hit).dereference()


def all_processes():
    """Each process, once, by its id."""
    found = [process for name in PROCESS_TYPES for process in objects_of(name) if is_alive(process)]
    return sorted(found, key=lambda p: [int(n) for n in re.findall(r"\d+", id_of(p))])


def is_alive(process):
    state = str(process["is_"]).rpartition("::")[2]
    return state in STATES and 0 < number_in(process["owners_"]) < 1 << 20


def id_of(process):
    """As process_id::text()."""
    path = int(process["id_"]["path_"])
    if path >> 63:
        return f"#{path & ~(1 << 63)}"
    rest = path << 1 & (1 << 64) - 1

    def step():
        nonlocal rest
        groups = 1
        while rest >> (64 - groups) & 1:
            groups += 1
        number = rest >> (64 - 4 * groups) & (1 << 3 * groups) - 1
        rest = rest << 4 * groups & (1 << 64) - 1
        return number

    names = ["1"]
    if rest and rest >> 60 == 0:
        step()
        names = ["0"]
    while rest:
        names.append(str(step()))
    return ".".join(names)


def state_of(process):
    return STATES[str(process["is_"]).rpartition("::")[2]]


def suspension_of(process):
    """(name of the operation, where, leaf); empty if the process runs or has not begun."""
    if state_of(process) != "waits":
        return "", "", 0
    at = process["at_"]
    leaf = int(at["leaf"]["bits_"])
    if not int(at["operation"]):
        return "", "", leaf
    operation = at["operation"].dereference()
    return string(operation["name"]), place(at["waiting"].dereference()["where"]), leaf


def is_ready(process):
    """Whether a process is in a queue, as far as its header, or with one thread its place, tells."""
    if state_of(process) != "waits":
        return False
    size = (int(process["kind_"]) >> 1) * 16
    address = int(process.address)
    for header, part, field, ready in (
        ("weft::sharing::header", "state", "state_", 1),
        ("weft::detail::stealing_header", "life", "word_", 0),
    ):
        try:
            found = gdb.lookup_type(header)
        except gdb.error:
            continue
        if size and found.sizeof == size:
            state = pointer_to(header, address - size).dereference()[part][field]
            return number_in(state) & 7 == ready
    # With one thread nothing in the process says that it has been woken: it is shown as waiting until its turn.
    suspended = process["at_"]["operation"]
    return int(suspended) == 0 or bool(suspended.dereference()["is_turn_only"]) or bool(process["is_cancellable_"])


def number_in(atomic):
    """The number in a std::atomic: its innermost member that is not static."""
    while atomic.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        atomic = atomic[next(f for f in atomic.type.strip_typedefs().fields() if hasattr(f, "bitpos"))]
    return int(atomic)


def in_header(process, size):
    """The process behind its header."""
    return pointer_to("weft::process", int(process) + size).dereference()


def members(value):
    """The members of a value that are not static, bases first as they lie in memory."""
    return (value[field] for field in value.type.strip_typedefs().fields() if hasattr(field, "bitpos"))


def pointer_in(value):
    """The pointer in a smart pointer, a tuple or a std::atomic."""
    kind = value.type.strip_typedefs().code
    if kind == gdb.TYPE_CODE_PTR:
        return value
    if kind == gdb.TYPE_CODE_STRUCT:
        for member in members(value):
            found = pointer_in(member)
            if found is not None:
                return found
    return None


def value_in(optional):
    """The value in a std::optional; None if there is none."""
    payload = optional["_M_payload"]
    return payload["_M_payload"]["_M_value"] if bool(payload["_M_engaged"]) else None


# ---- queues, each as its processes in the order in which they will run


def all_schedulers():
    """The schedulers that run, of each backend that the program has."""
    listed = gdb.execute("info variables ^vtable for weft::detail::backend_scheduler<", to_string=True)
    for name in sorted(set(re.findall(r"vtable for (weft::detail::backend_scheduler<.*>)", listed))):
        for scheduler in objects_of(name):
            if value_in(scheduler["backend_"]) is not None:
                yield scheduler


def queues_of(scheduler):
    """(heading, processes) of each queue of a scheduler; nothing if its backend is not one of weft's."""
    backend, worker = value_in(scheduler["backend_"]), value_in(scheduler["worker_"])
    names = {field.name for field in all_fields(backend.type.strip_typedefs())}
    if "queues_" in names:
        queues = pointer_in(backend["queues_"])
        for i in range(int(backend["count_"])):
            yield f"worker {i}", in_thread_queue(queues[i])
    elif "shared_" in names:
        shared = backend["shared_"]
        homes = pointer_in(shared["homes"])
        size = gdb.lookup_type("weft::detail::stealing_header").sizeof
        for i in range(int(shared["count"])):
            # The last one in runs first; then those that have yielded, the first one in first.
            own = [*reversed(between_ends(homes[i]["deque"])), *between_ends(homes[i]["yielded"])]
            yield f"worker {i}", [in_header(p, size) for p in own]
        yield "global queue", [in_header(p, size) for p in in_global_queue(shared["global"])]
    elif worker is not None and "ready_" in {field.name for field in all_fields(worker.type.strip_typedefs())}:
        ready = worker["ready_"]
        is_random = "vector" in ready.type.strip_typedefs().name
        processes = in_vector(ready) if is_random else in_persistent_deque(ready)[::-1]
        put = [node["content"] for node in in_injection_queue(worker["injected_"])]
        heading = "in no order: the next one is drawn at random" if is_random else "the first one is next"
        yield heading, [pointer_in(t).dereference() for t in [*processes, *put] if int(pointer_in(t))]


def linked(first, link="next"):
    at = first
    while int(at):
        yield at.dereference()
        at = at[link]


def in_vector(vector):
    first, last = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    return [first[i] for i in range(int(last - first))]


def in_persistent_deque(deque):
    """deque/detail/ends.hpp: the front, the leaves between, the back."""
    element = deque.type.strip_typedefs().template_argument(0)
    policy = deque.type.strip_typedefs().template_argument(1)
    of = f"<{element.strip_typedefs().name}, {policy.strip_typedefs().name} >"
    leaf, node = (gdb.lookup_type(f"weft::detail::{kind}{of}") for kind in ("leaf", "node"))

    def in_leaf(owner, first=0, last=None):
        header = pointer_in(owner).cast(leaf.pointer()).dereference()
        offset = -(-leaf.sizeof // element.alignof) * element.alignof
        elements = gdb.Value(int(header.address) + offset).cast(element.pointer())
        return [elements[i] for i in range(first, int(header["capacity"]) if last is None else last)]

    def in_block(owner):
        block = pointer_in(owner)
        if not int(block):
            return []
        if int(block["height"]) == 0:
            return in_leaf(owner)
        below = block.cast(node.pointer())["below"]
        first, last = below.type.range()
        return [each for i in range(first, last + 1) for each in in_block(below[i])]

    def in_window(window):
        first, last = int(window["begin"]), int(window["end"])
        return in_leaf(window["held"], first, last) if first != last else []

    version = deque["version_"]
    return [*in_window(version["front_"]), *in_block(version["spine_"]["root_"]), *in_window(version["back_"])]


def in_injection_queue(queue):
    """What other threads have put, and the worker has not taken over yet: the oldest first."""
    nodes = [*linked(queue["unfetched_"]), *reversed([*linked(pointer_in(queue["pushed_"]["top_"]))])]
    return nodes


def in_thread_queue(queue):
    """sched/backends/detail/thread_queue.hpp: while a thread has claimed the queue, from its tail."""
    head = pointer_in(queue["head_"])
    is_claimed = int(head) == int(gdb.parse_and_eval("&'weft::detail::locked_queue'"))
    entries = [*linked(queue["tail_"], "previous")][::-1] if is_claimed else linked(head)
    size = gdb.lookup_type("weft::sharing::header").sizeof
    return [in_header(entry.address, size) for entry in entries]


def between_ends(ends):
    """A chase_lev or a steal_queue, from its top to its bottom."""
    array = pointer_in(ends["array_"]).dereference()
    cells, mask = pointer_in(array["cells_"]), int(array["last_"])
    return [pointer_in(cells[i & mask]) for i in range(number_in(ends["top_"]), number_in(ends["bottom_"]))]


def in_global_queue(queue):
    return [*between_ends(queue["queue_"]), *(entry.address for entry in linked(queue["first_"]))]


# ---- traces


class Traces:
    """When each process had its last event, in the traces of all traced schedulers."""

    NO_PROCESS = ("steal", "park", "wake", "unpark", "cancel", "checkpoint", "restore")

    def __init__(self):
        self.last, self.newest, self.dropped = {}, 0, 0
        for trace in {int(trace): trace for trace in map(self.trace_of, all_schedulers()) if trace}.values():
            for buffer in in_vector(pointer_in(trace["state_"])["buffers"]):
                self.read(pointer_in(buffer).dereference())

    @staticmethod
    def trace_of(scheduler):
        backend = value_in(scheduler["backend_"])
        return backend["trace_"] if "trace_" in {f.name for f in all_fields(backend.type.strip_typedefs())} else None

    def read(self, buffer):
        self.dropped += int(buffer["dropped_"])
        event = gdb.lookup_type("weft::trace_event")
        offset = {field.name: field.bitpos // 8 for field in event.fields() if hasattr(field, "bitpos")}
        kinds = gdb.lookup_type("weft::trace_kind").fields()
        of_none = {kind.enumval for kind in kinds if kind.name.rpartition("::")[2] in self.NO_PROCESS}
        for block in map(pointer_in, in_vector(buffer["blocks_"])):
            first, size = int(block), block.dereference().type.sizeof
            if first <= int(buffer["next_"]) < first + size:
                size = int(buffer["next_"]) - first
            if not size:
                continue
            bytes_read = gdb.selected_inferior().read_memory(first, size).tobytes()
            for at in range(0, size, event.sizeof):
                time = struct.unpack_from("<q", bytes_read, at + offset["time"])[0]
                self.newest = max(self.newest, time)
                if bytes_read[at + offset["kind"]] not in of_none:
                    path = struct.unpack_from("<Q", bytes_read, at + offset["process"])[0]
                    self.last[path] = max(self.last.get(path, 0), time)

    def since(self, process):
        """Nothing if there is no trace."""
        time = self.last.get(int(process["id_"]["path_"]))
        if time is None:
            return ""
        return f"  since {duration(time)}, {duration(self.newest - time)} before the last event"


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"


def process_named(name):
    for process in all_processes():
        if id_of(process) == name:
            return process
    raise gdb.GdbError(f"there is no process {name}")


# ---- frames


def block_of(frame):
    """The block of the code that resumes a frame."""
    return gdb.block_for_pc(word(frame))


def function_of(frame):
    """The coroutine function of a frame."""
    block = block_of(frame)
    if not block or not block.function:
        return f"{word(frame):#x}"
    name = re.sub(r"\[abi:\w+\]", "", block.function.print_name)
    return re.sub(r"\(\S*\.Frame ?\*\)$", "", name).removesuffix(".resume").removesuffix(".actor")


def locals_of(frame):
    """The parameters and locals that the frame keeps: (name, value).

    clang describes its frame by the variable __coro_frame, g++ by the parameter of the function that resumes it.
    """
    block = block_of(frame)
    if not block or not block.function:
        return
    described = next((symbol.type for symbol in block if symbol.name == "__coro_frame"), None)
    is_clang = described is not None
    if not is_clang:
        parameters = block.function.type.fields()
        if not parameters or parameters[0].type.code != gdb.TYPE_CODE_PTR:
            return
        described = parameters[0].type.target()
    fields = gdb.Value(frame).cast(described.pointer()).dereference()
    made_up = r"__|(class|struct|union|enum|PointerType|atomic)_" if is_clang else r"_Coro_|(Is|Fs|Aw\d+|Yd\w*)_|D\.|__"
    for field in described.fields():
        if field.name and not re.match(made_up, field.name):
            yield (field.name if is_clang else re.sub(r"_\d+_\d+$", "", field.name)), fields[field.name]


def chain(leaf):
    """The frames and handlers from the innermost outwards: ("frame", address) or ("end", value)."""
    at = leaf
    for _ in range(10_000):
        if not at:
            return
        if at & 1:
            end = pointer_to("weft::detail::frame_end", at & ~1)
            end = end.cast(end.dynamic_type)
            yield "end", end
            fields = {field.name for field in all_fields(end.dereference().type)}
            up = next((name for name in ("waiter_", "outside_") if name in fields), None)
            if not up:
                return
            at = int(end.dereference()[up]["bits_"])
        else:
            yield "frame", at
            at = word(at + 16)


def all_fields(of):
    for field in of.fields():
        yield field
        if field.is_base_class:
            yield from all_fields(field.type)


def called_at(frame):
    """Where the frame was awaited: its result goes to the slot of the awaiter, if that is a frame."""
    if word(frame + 16) & 1:
        return ""
    to = pointer_to("weft::detail::frame", frame + 16).dereference()["to"]
    return place(to.dereference()["where"]) if int(to) else ""


def function_at_end(leaf):
    """The name of the function of the outermost frame."""
    frames = [at for what, at in chain(leaf) if what == "frame"]
    return function_of(frames[-1]).partition("(")[0].rpartition("::")[2] if frames else ""


def shown(value):
    """A value on one line."""
    try:
        text = value.format_string(max_elements=16, max_depth=2, unions=False)
    except gdb.error as error:
        text = f"<{error}>"
    text = " ".join(text.split())
    return text if len(text) <= 100 else text[:97] + "..."


class Weft(gdb.Command):
    """Processes of weft: weft processes, weft bt ID, weft handlers ID, weft queue."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class Processes(gdb.Command):
    """weft processes: each process, its function, and what it does.

    If the scheduler is traced, also since when: the time of the last event of the process, from the begin of the
    trace, and how long before the last event of all.
    """

    def __init__(self):
        super().__init__("weft processes", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        found, traces = all_processes(), Traces()
        for process in found:
            operation, where, leaf = suspension_of(process)
            what = state_of(process)
            if what == "waits":
                what = f"is at {operation}  {where}" if operation else "has not begun"
            print(f"{id_of(process):<12} {function_at_end(leaf):<16} {what}{traces.since(process)}")
        print(f"{len(found)} processes")
        if traces.dropped:
            print(f"the trace has dropped {traces.dropped} events, so that times may be those of earlier events")


class Backtrace(gdb.Command):
    """weft bt ID: the frames of a process, innermost first, with the handlers in between."""

    def __init__(self):
        super().__init__("weft bt", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        process = process_named(argument.strip())
        operation, where, leaf = suspension_of(process)
        if not leaf:
            raise gdb.GdbError(f"process {argument} {state_of(process)}: see bt of its thread")
        if operation:
            print(f"at {operation}  {where}")
        number, line = 0, where
        for kind, what in chain(leaf):
            if number == MOST_FRAMES:
                print("and more")
                return
            if kind == "frame":
                print(f"#{number:<3} {function_of(what)}  {line}".rstrip())
                for name, value in locals_of(what):
                    print(f"       {name} = {shown(value)}")
                line = called_at(what)
                number += 1
            else:
                print(f"     under {name_of_end(what)}")
                to = what.dereference()["to_"] if "to_" in {f.name for f in all_fields(what.dereference().type)} else 0
                line = place(to.dereference()["where"]) if int(to) else ""


class Handlers(gdb.Command):
    """weft handlers ID: the handlers around the operation of a process, innermost first."""

    def __init__(self):
        super().__init__("weft handlers", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        _, _, leaf = suspension_of(process_named(argument.strip()))
        for kind, what in chain(leaf):
            if kind == "end":
                print(name_of_end(what))


class Queue(gdb.Command):
    """weft queue: the processes that are ready, in the order in which they will run.

    With several threads, those of each thread; one that has nothing left takes from the others.  With a backend that
    is not one of weft's, the processes are listed by their ids.
    """

    def __init__(self):
        super().__init__("weft queue", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        queues = [queue for scheduler in all_schedulers() for queue in queues_of(scheduler)]
        if not queues:
            queues = [("by their ids: the order is not known", [*filter(is_ready, all_processes())])]
        for heading, processes in queues:
            print(f"{heading}:" if processes else f"{heading}: empty")
            for process in processes:
                print(f"{id_of(process):<12} {next_of(process)}")


def next_of(process):
    if str(process["is_"]).rpartition("::")[2] not in STATES:
        return "runs again from its log"
    operation, where, _ = suspension_of(process)
    return f"goes on from {operation}  {where}" if operation else "begins"


def name_of_end(end):
    name = re.sub(r"^(class|struct) ", "", str(end.type.target()))
    handled = re.search(r"handling<(.*?), weft::row<(.*?) ?>,", name)
    if handled:
        return f"{handled.group(1)}, the handler of {handled.group(2)}"
    return "the scheduler" if name in PROCESS_TYPES else name


Weft()
Processes()
Backtrace()
Handlers()
Queue()
