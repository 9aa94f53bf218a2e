"""Programs of examples/ and docs/: what most of them include is parsed once (docs/decisions/017)."""

load("//tools:golden.bzl", "golden_test")
load("//tools:precompiled_header.bzl", "behind")

def parsed_once_binary(name, deps, copts = [], **kwargs):
    """A cc_binary behind the precompiled header examples/first.hpp.

    Args:
      name: the name of the program.
      deps: as for cc_binary.
      copts: as for cc_binary.
      **kwargs: as for cc_binary.
    """
    native.cc_binary(
        name = name,
        copts = behind("examples/first") + copts,
        features = ["-layering_check"],
        deps = deps + ["//examples:first"],
        **kwargs
    )

def example_programs(programs, deps = [], tags = [], visibility = None):
    """Programs of examples/, each behind the precompiled header, and a test that compares its output.

    Args:
      programs: for each NAME, which stands for NAME.cpp and NAME.expected, the libraries that it uses
        beside `deps`, //effects and //sched:schedule.
      deps: the libraries that all use.
      tags: of the tests.
      visibility: of the programs.
    """
    for name, more in programs.items():
        parsed_once_binary(
            name = name,
            srcs = [name + ".cpp"],
            visibility = visibility,
            deps = ["//effects", "//sched:schedule"] + deps + more,
        )
        golden_test(
            name = name + "_test",
            binary = ":" + name,
            expected = name + ".expected",
            tags = tags,
        )
