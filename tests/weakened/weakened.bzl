"""Stress tests of which each has memory orders that it can weaken, and must then fail."""

load("//tests:configurations.bzl", "under_tsan_only")

def weakened(name, orders):
    """NAME.cpp, which has the orders as parameters.

    Args:
      name: the name of the program; NAME_test is the test.
      orders: the labels of the orders that ThreadSanitizer must miss.
    """
    _program_and_test(
        name,
        orders,
        srcs = [name + ".cpp", "weakened.hpp"],
        deps = ["//sched:schedule", "//tests/support"],
    )

def weakened_copy(name, orders):
    """NAME.cpp and a copy of the library, in one source file (weaken.py).

    Args:
      name: the name of the program; NAME_test is the test.
      orders: the labels, as above.
    """
    native.genrule(
        name = name + "_copy",
        testonly = True,
        srcs = [
            name + ".cpp",
            "weakened.hpp",
            "//effects:headers",
            "//effects:sources",
            "//sched:headers",
            "//sched:sources",
            "//tests/support:headers",
        ],
        outs = [name + "_copy.cpp"],
        cmd = "python3 $(location weaken.py) $(location %s.cpp) > $@" % name,
        tools = ["weaken.py"],
    )
    _program_and_test(name, orders, srcs = [name + "_copy.cpp"], linkopts = ["-pthread"])

def _program_and_test(name, orders, **kwargs):
    native.cc_binary(
        name = name,
        testonly = True,
        copts = ["-O1"],  # so that threads meet more often
        target_compatible_with = under_tsan_only,
        **kwargs
    )
    native.sh_test(
        name = name + "_test",
        size = "medium",
        srcs = ["objects.sh"],
        args = ["$(location :%s)" % name] + [str(order) for order in orders],
        data = [":" + name],
        tags = ["threads"],
        target_compatible_with = under_tsan_only,
    )
