"""A chapter: prose, programs and the programs' output in one Markdown file."""

load("//tools:golden.bzl", "golden_test")

def chapter(name, deps, src = None, program = ""):
    """Builds the `cpp` blocks of NAME.md as program NAME, and holds its `output` blocks to account.

    Args:
      name: the name of the program; NAME_test compares what it prints.
      deps: what the program includes.
      src: the Markdown file, if it is not NAME.md.
      program: of a file with several programs, the one whose blocks are `cpp PROGRAM` and `output PROGRAM`.
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
