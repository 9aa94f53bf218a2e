"""The exercises of a chapter: stubs, solutions, and tests that fail until an exercise is solved."""

load("//tools:precompiled_header.bzl", "behind")

def exercises(chapter, count, deps):
    """A test CHAPTER_N for each exercise N of a chapter; all of a chapter are one program.

    Args:
      chapter: the folder: exercises.hpp has the stubs, solutions.hpp the same file solved, so that a
        reader can compare the two, test.cpp the
        Catch2 test cases, each tagged with the number of its exercise, as in [2].
      count: how many exercises there are.
      deps: what the program includes beside //effects, //sched:schedule and //testing.
    """
    program = chapter + "_program"
    native.cc_binary(
        name = program,
        testonly = True,
        srcs = [chapter + "/" + source for source in ["exercises.hpp", "solutions.hpp", "test.cpp"]],
        copts = behind("examples/first") + select({
            ":solutions": ["-DSOLVED"],
            "//conditions:default": [],
        }),
        features = ["-layering_check"],
        tags = ["exercise"],
        deps = [
            "//effects",
            "//sched:schedule",
            "//testing",
            "//tests:catch_main",
            "//examples:first",
            "@catch2",
        ] + deps,
    )
    for number in range(1, count + 1):
        native.sh_test(
            name = "%s_%d" % (chapter, number),
            size = "small",
            srcs = ["exercise.sh"],
            args = ["$(location %s)" % program, str(number)],
            data = [program],
            tags = ["exercise"],
        )
