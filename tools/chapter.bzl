"""A chapter: prose, a program and the program's output in one Markdown file."""

load("//tools:golden.bzl", "golden_test")

def chapter(name, deps, src = None):
    """Builds the `cpp` blocks of NAME.md as program NAME, and holds its `output` block to account.

    Args:
      name: the name of the program; NAME_test compares what it prints.
      deps: what the program includes.
      src: the Markdown file, if it is not NAME.md.
    """
    src = src or name + ".md"
    for language, out in [("cpp", name + ".cpp"), ("output", name + ".expected")]:
        native.genrule(
            name = "%s_%s" % (name, language),
            srcs = [src],
            outs = [out],
            cmd = "sh $(location //tools:tangle.sh) %s $(location %s) > $@" % (language, src),
            tools = ["//tools:tangle.sh"],
        )
    native.cc_binary(name = name, srcs = [name + ".cpp"], deps = deps)
    golden_test(name = name + "_test", binary = ":" + name, expected = name + ".expected")
