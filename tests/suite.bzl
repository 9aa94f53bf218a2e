"""The tests of a folder: each NAME_test.cpp is a test, and the table says what is special."""

load("//tests:cc_test.bzl", "cc_test")

COMMON = [
    "//tests:catch_main",
    "//tests/support",
    "@catch2",
]

DEQUE = COMMON + [
    "//deque",
    "//deque:invariants",
]

EFFECTS = COMMON + [
    "//effects",
    "//effects/memory",
]

SCHED = EFFECTS + [
    "//sched:schedule",
    "//sched:testing",
    "//testing:testing_internals",
] + [
    "//sched/{0}:{0}_internals".format(room)
    for room in [
        "backends",
        "base",
        "mail",
        "runtime",
        "sync",
        "tasks",
    ]
]

IO = SCHED + [
    "//io",
    "//io:blocking",
    "//io:reactor",
    "//io:testing",
]

def suite(deps, threads = [], searches = [], one_compiler = [], large = [], apart = [], more_deps = {}):
    """A test for each NAME_test.cpp of the package.

    Args:
      deps: what every test of the folder includes.
      threads: the names of tests that have several threads: ThreadSanitizer runs them as well.
      searches: the names of tests that search many schedules: only the default configuration runs
        them, as they run again and again what other tests have run.
      one_compiler: the names of tests in which a second compiler sees nothing that it does not see
        in other tests.
      large: the names of tests that may take longer than five minutes.
      apart: the names of tests that the BUILD file declares itself.
      more_deps: by name, what one test includes beside that.
    """
    sources = native.glob(["*_test.cpp"], allow_empty = True)
    names = [source[:-len("_test.cpp")] for source in sources]
    for name in threads + searches + one_compiler + large + apart + more_deps.keys():
        if name not in names:
            fail("there is no %s_test.cpp here" % name)
    for name in names:
        if name in apart:
            continue
        tags = [
            tag
            for tag, tagged in [
                ("one_compiler", one_compiler),
                ("searches", searches),
                ("threads", threads),
            ]
            if name in tagged
        ]
        cc_test(
            name = name + "_test",
            size = "large" if name in large else "medium",
            srcs = [name + "_test.cpp"],
            linkopts = ["-pthread"],
            tags = tags,
            deps = deps + more_deps.get(name, []),
        )
