# SPDX-License-Identifier: MIT
"""Processes of weft, in gdb: of a program that runs, and of a core dump.

    (gdb) source tools/gdb/weft.py
    (gdb) weft processes      each process: what it does, or the operation that it waits at
    (gdb) weft bt 1.2         the frames of a process, innermost first, with the handlers in between
    (gdb) weft handlers 1.2   only the handlers
    (gdb) weft queue          the processes that are ready

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


def all_processes():
    """Each process, once, by its id."""
    inferior = gdb.selected_inferior()
    found = []
    for name in PROCESS_TYPES:
        try:
            table = gdb.parse_and_eval(f"(char*)&'vtable for {name}'")
        except gdb.error:
            continue
        points_at = int(table) + 2 * gdb.lookup_type("void").pointer().sizeof
        pattern = struct.pack("<Q", points_at)
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
                    process = pointer_to(name, hit).dereference()
                    if is_alive(process):
                        found.append(process)
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
    suspended = process["at_"]["operation"]
    return int(suspended) == 0 or str(process["wait_place_"]).rpartition("::")[2] in ("none", "cancellable")


def number_in(atomic):
    """The number in a std::atomic: its innermost member that is not static."""
    while atomic.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        atomic = atomic[next(f for f in atomic.type.strip_typedefs().fields() if hasattr(f, "bitpos"))]
    return int(atomic)


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
    """weft processes: each process, and what it does."""

    def __init__(self):
        super().__init__("weft processes", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        found = all_processes()
        for process in found:
            operation, where, leaf = suspension_of(process)
            what = state_of(process)
            if what == "waits":
                what = f"is at {operation}  {where}" if operation else "has not begun"
            print(f"{id_of(process):<12} {what}")
        print(f"{len(found)} processes")


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
    """weft queue: the processes that are ready, by their ids."""

    def __init__(self):
        super().__init__("weft queue", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        for process in filter(is_ready, all_processes()):
            operation, where, _ = suspension_of(process)
            print(f"{id_of(process):<12} {f'goes on from {operation}  {where}' if operation else 'begins'}")


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
