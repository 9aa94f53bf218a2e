"""A library, compiled as one file, with a check of what its headers include."""

def header_library(name, hdrs, srcs = [], internals = [], internals_visibility = [], reexported = [], **kwargs):
    """A cc_library of one source file: it includes each header, and has all source files.

    One file takes a compiler a fifth of the time.  A header FILE of package FOLDER is included as
    <weft/FOLDER/FILE>.  Without a source file Bazel would compile no header of a library that has only
    headers, and layering_check would not check its includes.  In another workspace, which uses weft,
    nothing is checked.

    Args:
      name: the name of the library.
      hdrs: the headers that every user of the library may include.
      srcs: its source files.
      internals: the headers that only this library may include.
      internals_visibility: the packages that may include the internals as well, by way of the
        library NAME_internals.
      reexported: headers of other libraries that a user of this library may include as well.
      **kwargs: as for cc_library.
    """
    # Users may have these on; that a whole program is quiet, //tests:warnings_test sees.
    kwargs["copts"] = ["-Wsign-conversion", "-Wold-style-cast"] + kwargs.get("copts", [])
    prefix = "weft/" + native.package_name()
    testonly = kwargs.get("testonly", False)
    includes = ["#include \"%s/%s\"" % (prefix, header) for header in hdrs + internals]
    if native.repository_name() != "@":
        includes = []
    merged = name + "_sources.cpp"
    if includes or srcs:
        native.genrule(
            name = name + "_sources",
            srcs = srcs,
            outs = [merged],
            cmd = "(printf '%s\\n' " + " ".join(["'%s'" % line for line in includes]) + ";" +
                  "for f in $(SRCS); do echo \"#line 1 \\\"$$f\\\"\"; cat $$f; done) > $@",
            testonly = testonly,
            visibility = ["//visibility:private"],
        )
    if internals or internals_visibility:
        # Without the dependencies of their includes, which would be a cycle: NAME compiles them.
        native.cc_library(
            name = name + "_internals",
            hdrs = internals,
            include_prefix = prefix,
            testonly = testonly,
            visibility = internals_visibility or ["//visibility:private"],
        )
        kwargs["deps"] = kwargs.get("deps", []) + [":%s_internals" % name]
    native.cc_library(
        name = name,
        srcs = internals + ([merged] if includes or srcs else []),
        hdrs = hdrs,
        include_prefix = prefix,
        textual_hdrs = reexported,
        **kwargs
    )
