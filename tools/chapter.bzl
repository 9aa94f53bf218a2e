"""A chapter: prose, programs and the programs' output in one Markdown file."""

load("//tools:golden.bzl", "golden_test")

def chapter(name, deps, src = None, program = ""):
    """Builds the `cpp` blocks of NAME.md as program NAME, and tests that it prints the `output` blocks.

    Args:
      name: the name of the program; NAME_test compares its output.
      deps: the libraries that the program includes.
      src: the Markdown file, by default NAME.md.
      program: in a file with several programs, use the blocks `cpp PROGRAM` and `output PROGRAM`.
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
    native.cc_binary(name = name, srcs = [name + ".cpp"], deps = deps)
    golden_test(name = name + "_test", binary = ":" + name, expected = name + ".expected")
