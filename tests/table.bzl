"""The tests of each folder, and what is special about them.

Each tests/FOLDER/NAME_test.cpp is a test, NAME_test, of medium size; suite() makes it, and merges it
with others.
"""

load("//tests:configurations.bzl", "under_no_sanitizer")

SCHED_INTERNALS = [
    "//sched/{0}:{0}_internals".format(room)
    for room in ["backends", "base", "mail", "runtime", "sync", "tasks"]
]

_COMMON = ["//tests:catch_main", "//tests/support", "@catch2"]
_DEQUE = ["//deque", "//deque:invariants"]
_EFFECTS = ["//effects", "//effects/memory"]
_SCHED = [
    "//sched:schedule",
    "//sched:testing",
    "//testing:testing_internals",
] + SCHED_INTERNALS
_IO = ["//io", "//io:blocking", "//io:reactor", "//io:signals", "//io:testing"]

_EFFECT_SUITE = """
    countdown fibonacci_recursive generator handler_sieve iterator nqueens parsing_dollars
    product_early resume_nontail scheduler tree_explore triples
"""

_ADAPTERS = "clock_time execution expected fmt format future ranges stop_token"

_ASAN = ["-fsanitize=address"]

def _words(text):
    return [word for line in text.split("\n") for word in line.split(" ") if word]

def _row(deps, threads = "", searches = "", one_compiler = "", alone = "", more = {}, variants = {}):
    """What the tests of a folder have.

    Args:
      deps: what every test includes, beside _COMMON.
      threads: tests that have several threads: ThreadSanitizer runs them as well.
      searches: tests that search many schedules: only the default configuration runs them, as they
        run again and again what other tests have run.
      one_compiler: tests in which a second compiler sees nothing that it does not see in other tests.
      alone: tests that are not merged with others (suite.bzl), as are those of `more` and `variants`.
      more: by test, attributes of cc_test: a list is added to what the test has; `data` is a glob.
      variants: by test, further targets of the same file: by name, attributes, likewise.

    Returns:
      The row.
    """
    return struct(
        deps = _COMMON + deps,
        alone = _words(alone),
        tags = {
            "one_compiler": _words(one_compiler),
            "searches": _words(searches),
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
            "expected": {"expected_test_cpp23": {"copts": ["-std=c++23"], "tags": ["one_compiler"]}},
        },
    ),
    "cluster": _row(
        deps = _EFFECTS + _SCHED + ["//cluster", "//cluster:cluster_internals", "//durable", "//durable:durable_internals", "//durable:sqlite", "//tests/cluster:support", "//tests/durable:support"],
        # Each starts servers.
        alone = "routing store_laws survival",
        searches = "bad_server store_laws survival tool",
        threads = "routing",
        more = {
            # Changes streams as another program does.
            "bad_server": {"deps": ["@nats"]},
            "tool": {"data": ["//tools:weft-durable"]},
        },
    ),
    "deque": _row(
        deps = _DEQUE,
        alone = "persistent_deque",  # instantiates all of it
        one_compiler = """
            chase_lev persistent_deque persistent_deque_random persistent_deque_ranges steal_queue
        """,
        threads = "chase_lev_threads persistent_deque_threads steal_queue_threads",
        more = {
            # Random commands, and those that once broke something.
            "persistent_deque_random": {"data": ["found/*"]},
            "persistent_deque_ranges": {"deps": ["@range_v3"]},
        },
    ),
    "durable": _row(
        deps = _EFFECTS + _SCHED + ["//durable", "//durable:durable_internals", "//durable:sqlite", "//tests/durable:support"],
        alone = "store_laws workers",  # one declares the stores before it includes the laws; one takes long
        one_compiler = "tool",
        searches = "crashes weakened_store workers",
        threads = "engine replicated_store store_laws",
        more = {
            # Reads and writes the files of stores as another program does.
            "bad_store": {"deps": ["@sqlite3"]},
            "tool": {"data": ["//tools:weft-durable"], "deps": ["@nlohmann_json"]},
        },
    ),
    "effects": _row(
        deps = _EFFECTS,
        # Names of symbols, options for the sanitizers; and an operator new of its own.
        alone = "linking random bitwise_memory",
        one_compiler = "bitwise_memory multi_shot_random random",
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
                "births_test_O2": {"copts": ["-O2"]},
                "births_test_O3": {"copts": ["-O3"]},
            },
            # No native stack is used in any build: beside the configuration's own, each of these,
            # which compiles the library's sources in the same way.
            "stack": {
                name: {
                    "srcs": [":library"],
                    "copts": copts,
                    "linkopts": linkopts,
                    "target_compatible_with": under_no_sanitizer,
                }
                for name, copts, linkopts in [
                    ("stack_test_optimized", ["-O2"], []),
                    ("stack_test_asan", _ASAN, _ASAN),
                    ("stack_test_asan_optimized", _ASAN + ["-O2"], _ASAN),
                ]
            },
        },
    ),
    "effects/memory": _row(
        deps = _EFFECTS,
        threads = "frame_arena frame_pool",
    ),
    "io": _row(
        deps = _EFFECTS + _SCHED + _IO,
        one_compiler = "memory_network numeric_address",
        searches = "memory_network_explored memory_network_protocols",
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
                "tags": ["one_compiler"],
                "deps": ["//adapters:asio_network"],
            }}
            for name in ["echo_server", "reactor", "reactor_failures"]
        },
    ),
    "sched/backends": _row(
        deps = _EFFECTS + _SCHED + ["//effects:platform"],
        alone = "global_queue stealing_memory",  # have an operator new of their own
        one_compiler = "as_written global_queue stealing_fairness stealing_memory thread_queue",
        searches = "random_order",
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
        searches = "decision",
        threads = "forkable_process",
    ),
    "sched/commands": _row(
        deps = _EFFECTS + _SCHED,
        one_compiler = "commands run_stepper unique_any",
        threads = "commands_threads replies run_stepper_threads",
    ),
    "sched/mail": _row(
        deps = _EFFECTS + _SCHED,
        alone = "routing_memory",  # has an operator new of its own
        one_compiler = "mail_inside routing_memory",
        searches = "mail_explored routing_explored",
        threads = """
            mail_threads mailbox_registry no_senders port_cycles routing routing_threads send_until
        """,
    ),
    "sched/runtime": _row(
        deps = _EFFECTS + _SCHED,
        alone = "effect_table",  # has effects in a namespace of the library
        one_compiler = """
            effekt memory_fails memory_fails_threads scheduler_end scheduler_failures
            scheduler_inside scheduler_kept scheduler_lost scheduler_memory scheduler_stuck
        """,
        threads = """
            admission cancellation_state deadlock_report dump effect_table failure_log max_processes
            poll shutdown stop submission_gate submissions submit submit_task wait_registry
        """,
        more = {
            "hello": {"deps": ["//examples:hello_program"]},
            # These replace the operator new of all that they link, which ThreadSanitizer's runtime
            # does itself, and have children that allocations fail in.
            "memory_fails": {"deps": _IO},
            "memory_fails_threads": {"deps": _IO},
        },
        # ./bazelw test --config=asan //tests/sched/runtime:memory_fails_in_full_test
        variants = {
            "memory_fails": {"memory_fails_in_full_test": _in_full("large")},
            "memory_fails_threads": {"memory_fails_threads_in_full_test": _in_full("large")},
        },
    ),
    "sched/sync": _row(
        deps = _EFFECTS + _SCHED,
        searches = "mutex_explored wait_laws_explored",
        threads = """
            barrier completion completion_cancelled completion_until condition deadline_threads
            external_event external_event_table gate_table gate_until lock_deadlines mutex
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
        one_compiler = """
            cancel_costs cancel_random giving_way scope_errors scope_left scope_memory
        """,
        searches = "scope_explored",
        threads = """
            join_table parallel parallel_memory parallel_range_v3 scope scope_cancelling
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
        one_compiler = "explore_found explore_limits explore_memory nondeterminism path reused",
        searches = """
            explore_known explore_missed explore_parallel explore_reduced explored_everywhere
            laws_explored protocol_explored random_walk shrinking
        """,
        threads = "explore_threads explored_everywhere",
        more = {
            "catch2": {"deps": ["//testing:catch2"]},
            # Has a main of its own.
            "googletest": {"deps": ["//testing:googletest", "@gtest"]},
            "explore": {"deps": ["//examples:hello_program"]},
            # With a sanitizer there is no pool: each frame is an allocation.
            "explore_memory": {"target_compatible_with": under_no_sanitizer},
        },
    ),
}
