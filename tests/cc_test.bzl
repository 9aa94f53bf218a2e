"""How tests are compiled: what all of them include is parsed once (docs/decisions/017)."""

load("//tests:syntax.bzl", "syntax")
load("//tools:optimized.bzl", "optimized_test")
load("//tools:precompiled_header.bzl", "behind")

def cc_test(name, srcs, copts = [], deps = [], is_merged = True, **kwargs):
    """A cc_test behind the precompiled tests/prelude.hpp, made of several files.

    Args:
      name: the name of the test.
      srcs: the files, each of which is compiled in an unnamed namespace of its own (tools/merge.awk); and labels
        of further files, which are compiled as they are.
      copts: what the configuration does not say.  A flag that is no -D changes what the compiler makes
        of a header: then nothing is precompiled.
      deps: as for cc_test.
      is_merged: false for a file that has names outside of all namespaces.
      **kwargs: as for cc_test.
    """
    is_parsed_once = not [flag for flag in copts if not flag.startswith("-D")]
    if is_merged:
        native.genrule(
            name = name + "_source",
            testonly = True,
            srcs = [source for source in srcs if not source.startswith(":")],
            outs = ["merged/%s.cpp" % name],
            cmd = "awk -f $(location //tools:merge.awk) $(SRCS) > $@",
            tools = ["//tools:merge.awk"],
        )
        srcs = ["merged/%s.cpp" % name] + [source for source in srcs if source.startswith(":")]

        # g++ 12 takes a file that a #line names for a header, and warns about closures that a header's
        # coroutine passes to a template, and about a local name that is also that of a function.
        copts = copts + select({
            "//tests/weakened:gcc": ["-Wno-subobject-linkage", "-Wno-shadow"],
            "//conditions:default": [],
        })
    copts = (behind("tests/prelude") if is_parsed_once else []) + copts
    deps = deps + ["//tests:prelude"]
    tags = kwargs.pop("tags", [])
    if "gcc" not in tags and "manual" not in tags:
        # g++ reads those that it does not run: ./bazelw build --config=gcc //tests/...:all_1_test_syntax
        syntax(
            name = name + "_syntax",
            testonly = True,
            src = srcs[0],
            copts = copts,
            deps = deps,
            tags = ["manual"],
        )
    is_optimized = "optimized" in tags
    if is_optimized:
        optimized_test(
            name = name,
            size = kwargs.get("size", "medium"),
            tags = tags,
            program = name + "_program",
            target_compatible_with = kwargs.pop("target_compatible_with", []),
        )
    native.cc_test(
        name = name + "_program" if is_optimized else name,
        tags = tags + (["manual"] if is_optimized else []),
        srcs = srcs,
        copts = copts,
        features = ["-layering_check"],
        deps = deps,
        **kwargs
    )
