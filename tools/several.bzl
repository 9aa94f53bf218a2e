"""Small programs that are compiled together: most of what a compiler does for one, it does for all."""

load("//tools:golden.bzl", "golden_test")
load("//tools:parsed_once.bzl", "parsed_once_binary")

_MOST_IN_ONE = 8

def several_golden_tests(programs, deps):
    """A golden test for each program, NAME.cpp with NAME.expected; several are compiled as one.

    Args:
      programs: their names.  Each has `int main()`, and no name outside of the namespace that it gets.
      deps: what they include beside the precompiled header.
    """
    groups = (len(programs) + _MOST_IN_ONE - 1) // _MOST_IN_ONE
    for group in range(groups):
        name = "several_%d" % (group + 1)
        members = programs[group::groups]
        native.genrule(
            name = name + "_source",
            srcs = [program + ".cpp" for program in members],
            outs = [name + ".cpp"],
            cmd = "awk -v programs=1 -f $(location //tools:merge.awk) $(SRCS) > $@",
            tools = ["//tools:merge.awk"],
        )
        parsed_once_binary(name = name, srcs = [name + ".cpp"], deps = deps)
        for program in members:
            golden_test(
                name = program + "_test",
                binary = ":" + name,
                expected = program + ".expected",
                program = program.split("/")[-1],
            )
