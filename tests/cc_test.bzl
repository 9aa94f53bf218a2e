"""How tests are compiled: what most of them include is parsed once (docs/decisions/017)."""

load("//tools:precompiled_header.bzl", "behind")

def cc_test(name, copts = [], deps = [], is_merged = False, **kwargs):
    """A cc_test; with a precompiled header, if it is one of a scheduler.

    Args:
      name: the name of the test.
      copts: what the configuration does not say: then nothing is precompiled for it.
      deps: as for cc_test.
      is_merged: whether the source is made of others.  g++ 12 takes a file that a #line names for a
        header, and warns about closures that a header's coroutine passes to a template.
      **kwargs: as for cc_test.
    """
    quiet = select({
        "//tests/weakened:gcc": ["-Wno-subobject-linkage"],
        "//conditions:default": [],
    }) if is_merged else []
    if not copts and [dep for dep in deps if dep.startswith("//sched")]:
        copts = behind("tests/first")
        deps = deps + ["//tests:first"]
    native.cc_test(
        name = name,
        copts = copts + quiet,
        features = ["-layering_check"],
        deps = deps,
        **kwargs
    )

def merged_tests(name, srcs, **kwargs):
    """A cc_test of several files, which are compiled as one: each in a namespace of its own.

    Args:
      name: the name of the test.
      srcs: the files.
      **kwargs: as for cc_test.
    """
    native.genrule(
        name = name + "_source",
        testonly = True,
        srcs = srcs,
        outs = [name + "_test.cpp"],
        cmd = "awk -f $(location //tests:merge.awk) $(SRCS) > $@",
        tools = ["//tests:merge.awk"],
    )
    cc_test(name = name + "_test", size = "medium", srcs = [name + "_test.cpp"], is_merged = True, **kwargs)
