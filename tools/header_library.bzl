"""A header-only library that is compiled nevertheless, so that its includes are checked."""

def header_library(name, hdrs, srcs = [], internals = [], internals_visibility = None, reexported = [], **kwargs):
    """A cc_library with one source file, which includes each of its headers.

    Without a source file Bazel would compile no header of a header-only library, and layering_check
    would not check its includes.

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
    package = native.package_name()
    includes = ["#include \"%s/%s\"" % (package, header) for header in hdrs + internals]
    native.genrule(
        name = name + "_includes",
        outs = [name + "_includes.cpp"],
        cmd = "printf '%s\\n' " + " ".join(["'%s'" % line for line in includes]) + " > $@",
        testonly = kwargs.get("testonly", False),
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = srcs + internals + [name + "_includes.cpp"],
        hdrs = hdrs + reexported,
        **kwargs
    )
    if internals_visibility:
        others = dict(kwargs)
        others.pop("visibility", None)
        native.cc_library(
            name = name + "_internals",
            hdrs = internals,
            visibility = internals_visibility,
            **dict(others, deps = kwargs.get("deps", []) + [":" + name])
        )
