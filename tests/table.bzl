"""The tests of each folder, and what is special about them.

Each tests/FOLDER/NAME_test.cpp is a test, NAME_test, of medium size; suite() makes it, and merges it
with others.
"""

SCHED_INTERNALS = [
    "//sched/{0}:{0}_internals".format(room)
    for room in ["backends", "base", "mail", "runtime", "sync", "tasks"]
]

_COMMON = ["//tests:catch_main", "//tests/support", "@catch2"]
_DEQUE = ["//deque"]
_EFFECTS = ["//effects", "//effects/memory"]
_SCHED = [
    "//sched:schedule",
    "//testing",
    "//testing:testing_internals",
] + SCHED_INTERNALS
_IO = ["//io", "//io:blocking", "//io:reactor", "//io:signals", "//io:testing"]

_EFFECT_SUITE = """
    countdown fibonacci_recursive generator handler_sieve iterator nqueens parsing_dollars
    product_early resume_nontail scheduler tree_explore triples
"""

_ADAPTERS = "clock_time execution expected fmt format future ranges stop_token"

def _words(text):
    return [word for line in text.split("\n") for word in line.split(" ") if word]

def _row(deps, threads = "", optimized = "", gcc = "", nightly = "", alone = "", as_it_is = "", more = {}, variants = {}):
    """What the tests of a folder have.

    Args:
      deps: what every test includes, beside _COMMON.
      threads: tests that have several threads: ThreadSanitizer runs them as well.
      optimized: tests that are compiled with optimization and without AddressSanitizer (tools/optimized.bzl): they
        search many schedules, count allocations, or are about the pools that the sanitizer replaces.
      gcc: tests that g++ runs too, since two compilers could see differently what they are about: coroutine
        frames, results of coroutines, unwinding.
      nightly: tests that run nightly, and when their folder or that of their subject has changed.
      alone: tests that are not merged with others (suite.bzl), as are those of `more` and `variants`.
      as_it_is: tests that are not in an unnamed namespace, as they have names outside of all namespaces.
      more: by test, attributes of cc_test: a list is added to what the test has; `data` is a glob.
      variants: by test, further targets of the same file: by name, attributes, likewise.

    Returns:
      The row.
    """
    return struct(
        deps = _COMMON + deps,
        alone = _words(alone),
        as_it_is = _words(as_it_is),
        tags = {
            "gcc": _words(gcc),
            "nightly": _words(nightly),
            "optimized": _words(optimized),
            "threads": _words(threads),
        },
        more = more,
        variants = variants,
    )

def _in_full(size):
    """A variant that does all of what the test samples, when it is called by name."""
    return {"size": size, "args": ["[full]"], "tags": ["manual"]}

TABLE = {
    "adapters": _row(
        deps = _EFFECTS + _SCHED + _IO + ["//adapters:%s" % name for name in _words(_ADAPTERS)] + ["@fmt", "//tests/adapters:formatted"],
        threads = "asio execution future stop_token",
        more = {
            "asio": {"deps": ["//adapters:use_weft", ":asio_support", "//adapters:asio", "@asio"]},
            "execution": {"deps": ["//examples:senders"]},
        },
        variants = {
            # A program has one form of Asio.
            "asio": {"boost_asio_test": {
                "copts": ["-DWEFT_TEST_OF_BOOST_ASIO"],
                "deps": ["//adapters:boost_asio", "@boost_asio"],
            }},
            # std::expected is there in C++23.
            "expected": {"expected_test_cpp23": {"copts": ["-std=c++23"]}},
        },
    ),
    "cluster": _row(
        deps = _EFFECTS + _SCHED + ["//cluster", "//cluster:cluster_internals", "//durable", "//durable:durable_internals", "//durable:sqlite", "//tests/cluster:support", "//tests/durable:support"],
        # Each starts servers, which takes long.
        nightly = "bad_server store_laws survival tool",
        alone = "routing",
        as_it_is = "store_laws",  # declares the stores before it includes the laws
        threads = "routing",
        more = {
            # Changes streams as another program does.
            "bad_server": {"deps": ["@nats"]},
            "tool": {"data": ["//tools:weft-durable"]},
        },
    ),
    "deque": _row(
        deps = _DEQUE,
        as_it_is = "persistent_deque",  # instantiates all of it
        optimized = "persistent_deque_random",  # the fuzzer does the same under AddressSanitizer
        threads = "chase_lev_threads persistent_deque_threads steal_queue_threads",
        more = {
            # Random commands, and those that once broke something.
            "persistent_deque_random": {"data": ["found/*"]},
            "persistent_deque_ranges": {"deps": ["@range_v3"]},
        },
    ),
    "durable": _row(
        deps = _EFFECTS + _SCHED + ["//durable", "//durable:durable_internals", "//durable:sqlite", "//tests/durable:support"],
        alone = "workers",  # takes long
        as_it_is = "store_laws",  # declares the stores before it includes the laws
        optimized = "crashes weakened_store workers",
        threads = "engine replicated_store store_laws",
        more = {
            # Reads and writes the files of stores as another program does.
            "bad_store": {"deps": ["@sqlite3"]},
            "tool": {"data": ["//tools:weft-durable"], "deps": ["@nlohmann_json"]},
        },
    ),
    "effects": _row(
        deps = _EFFECTS,
        gcc = """
            births exceptions handler_laws kept_resumptions lifetimes linking multi_shot_laws resumption stack
        """,
        alone = "random",  # options for the sanitizers
        as_it_is = "bitwise_memory linking",  # an operator new of its own; names of symbols
        threads = "bitwise_found bitwise_refused lifetimes multi_shot_laws",
        more = {
            "births": {"size": "small"},
            "async_stack": {"deps": ["//sched:schedule"]},
            "bitwise": {"deps": ["//sched:schedule"]},
            "each_range_v3": {"deps": ["//effects:each_range_v3", "@range_v3"]},
            "effect_suite": {"deps": [
                "//examples/effect_suite:%s_program" % program
                for program in _words(_EFFECT_SUITE)
            ]},
            # The library's names beside those of the C library: of all public headers.
            "names": {"size": "small", "deps": _SCHED + _IO + ["//deque", "//trace"]},
        },
        variants = {
            # No frame is elided in any build: beside the configuration's own, with optimization.
            "births": {
                "births_test_O2": {"copts": ["-O2"], "tags": ["optimized"]},
                "births_test_O3": {"copts": ["-O3"], "tags": ["nightly"]},
            },
            # No native stack is used in any build: beside the configuration's own, each of these,
            # which compiles the library's sources in the same way.
            "stack": {
                name: {"srcs": [":library"], "copts": copts, "linkopts": linkopts, "tags": ["nightly"]}
                for name, copts, linkopts in [
                    ("stack_test_plain", ["-O0"], []),
                    ("stack_test_optimized", ["-O2"], []),
                    ("stack_test_asan_optimized", ["-O2", "-fsanitize=address"], ["-fsanitize=address"]),
                ]
            },
        },
    ),
    "effects/memory": _row(
        deps = _EFFECTS,
        gcc = "frame_arena frame_pool",
        optimized = "frame_arena frame_pool",
        threads = "frame_arena frame_pool",
    ),
    "io": _row(
        deps = _EFFECTS + _SCHED + _IO,
        optimized = "memory_network_explored memory_network_protocols",
        threads = "blocking dump_on_signal echo_server files reactor reactor_failures",
        more = {
            "echo_server": {"deps": [":system_network", "//examples:echo"]},
            "numeric_address": {"deps": ["//io:testing_internals"]},
            "reactor": {"deps": [":system_network"]},
            "reactor_failures": {"deps": [":system_network"]},
        },
        # The system's network, by Asio as well.
        variants = {
            name: {name + "_test_asio": {
                "copts": ["-DWEFT_TEST_OF_ASIO_NETWORK"],
                "deps": ["//adapters:asio_network"],
            }}
            for name in ["echo_server", "reactor", "reactor_failures"]
        },
    ),
    "sched/backends": _row(
        deps = _EFFECTS + _SCHED + ["//effects:platform"],
        gcc = "sharing",
        as_it_is = "global_queue stealing_memory",  # have an operator new of their own
        optimized = "random_order",
        threads = """
            backend_laws backend_threads lazy_task membarrier_refused message_stack sharing
            sharing_failures sharing_fairness sharing_forks sharing_handlers sharing_inside sharing_random
            sharing_state sharing_stuck stealing stealing_order stealing_report stealing_state
            thread_queue_threads
        """,
        more = {
            "as_written": {"deps": [":as_written"]},
            "backend_threads": {"size": "large"},
        },
    ),
    "sched/base": _row(
        deps = _EFFECTS + _SCHED,
        gcc = "forkable_process",
        optimized = "decision",
        threads = "forkable_process",
    ),
    "sched/commands": _row(
        deps = _EFFECTS + _SCHED,
        threads = "commands_threads replies run_stepper_threads",
    ),
    "sched/mail": _row(
        deps = _EFFECTS + _SCHED,
        gcc = "mail_threads",
        as_it_is = "routing_memory",  # has an operator new of its own
        optimized = "mail_explored routing_explored",
        threads = """
            mail_threads no_senders port_cycles routing routing_threads send_until
        """,
    ),
    "sched/runtime": _row(
        deps = _EFFECTS + _SCHED,
        gcc = "schedule scheduler_lost",
        as_it_is = "effect_table",  # has effects in a namespace of the library
        threads = """
            admission cancellation_state deadlock_report dump effect_table failure_log max_processes
            heard poll shutdown stop submission_gate submissions submit submit_task
        """,
        more = {
            "hello": {"deps": ["//examples:hello_program"]},
            # These replace the operator new of all that they link, which ThreadSanitizer's runtime
            # does itself, and have children that allocations fail in.
            "memory_fails": {"deps": _IO},
            "memory_fails_threads": {"deps": _IO},
        },
        # ./bazelw test //tests/sched/runtime:memory_fails_in_full_test
        variants = {
            "memory_fails": {"memory_fails_in_full_test": _in_full("large")},
            "memory_fails_threads": {"memory_fails_threads_in_full_test": _in_full("large")},
        },
    ),
    "sched/sync": _row(
        deps = _EFFECTS + _SCHED,
        gcc = "mutex",
        optimized = "mutex_explored wait_laws_explored",
        threads = """
            barrier completion completion_cancelled completion_until condition deadline_threads
            external_event gate_until lock_deadlines mutex
            semaphore shared timers timing timing_forks timing_random timing_threads wait_found
            wait_laws
        """,
        more = {"wait_found": {"deps": ["//io", "//io:testing"]}},
        # In parallel steps of all schedules, which takes hours:
        # ./bazelw test //tests/sched/sync:wait_laws_explored_in_full_test
        variants = {
            "wait_laws_explored": {"wait_laws_explored_in_full_test": _in_full("enormous")},
        },
    ),
    "sched/tasks": _row(
        deps = _EFFECTS + _SCHED,
        gcc = "scope scope_unwinding when_all",
        optimized = "cancel_random cancelled_waiters_explored scope_explored scope_limits",
        threads = """
            parallel parallel_memory parallel_range_v3 scope scope_cancelling
            scope_dropped_threads task_handle task_trees task_words when_all when_all_ranges
        """,
        more = {"parallel_range_v3": {"deps": ["@range_v3"]}},
    ),
    "trace": _row(
        deps = _EFFECTS + _SCHED + ["//trace"],
        threads = "tracing_threads",
    ),
    "testing": _row(
        deps = _EFFECTS + _SCHED,
        alone = "explore_memory",  # has an operator new of its own
        as_it_is = "googletest",  # has a main of its own
        optimized = """
            check_schedules explore_found explore_known explore_limits explore_memory explore_missed explore_parallel explore_reduced
            explored_everywhere laws_explored nondeterminism protocol_explored random_walk shrinking spinning
        """,
        threads = "check_schedules explore_threads explored_everywhere",
        more = {
            "catch2": {"deps": ["//testing:catch2"]},
            "googletest": {"deps": ["//testing:googletest", "@gtest"]},
            "explore": {"deps": ["//examples:hello_program"]},
        },
    ),
}
