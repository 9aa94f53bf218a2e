"""A chapter: prose, programs and the programs' output in one Markdown file."""

load("//tools:golden.bzl", "golden_test")
load("//tools:parsed_once.bzl", "parsed_once_binary")

def chapter(name, deps = [], src = None, program = "", has_page = False, is_parsed_once = True):
    """Builds the `cpp` blocks of NAME.md as program NAME, and tests that it prints the `output` blocks.

    Args:
      name: the name of the program; NAME_test compares its output.
      deps: the libraries that the program includes, beside //effects, //sched:schedule and
        //testing.
      src: the Markdown file, by default NAME.md.
      program: in a file with several programs, use the blocks `cpp PROGRAM` and `output PROGRAM`.
      has_page: pages/NAME.html is a page on which the runs of the program are stepped through:
        those of schedulers, the first failure of an explorer, or those of handlers
        (examples/first.hpp).
      is_parsed_once: false for a program that has names of the library for itself.
    """
    src = src or name + ".md"
    for language, out in [("cpp", name + ".cpp"), ("output", name + ".expected")]:
        native.genrule(
            name = "%s_%s" % (name, language),
            srcs = [src],
            outs = [out],
            cmd = "sh $(location //tools:tangle.sh) %s $(location %s) %s > $@" % (language, src, program),
            tools = ["//tools:tangle.sh"],
        )
    deps = ["//effects", "//sched:schedule", "//testing"] + deps
    if is_parsed_once:
        parsed_once_binary(name = name, srcs = [name + ".cpp"], deps = deps)
    else:
        native.cc_binary(name = name, srcs = [name + ".cpp"])
    golden_test(name = name + "_test", binary = ":" + name, expected = name + ".expected")
    if has_page:
        # The program is no tool: a tool would be compiled without the flags of .bazelrc.
        parsed_once_binary(
            name = name + "_traced",
            srcs = [name + ".cpp"],
            copts = ["-include", "docs/pages/traced.hpp"],
            tags = ["manual"],
            deps = deps + ["//docs:traced"],
        )
        native.genrule(
            name = name + "_page",
            srcs = [src, name + "_traced"],
            outs = ["pages/%s.html" % name],
            cmd = "WEFT_PAGE=$@ $(location %s_traced) > /dev/null" % name,
            tags = ["manual"],
        )
