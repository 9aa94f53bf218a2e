"""A library of headers that is compiled all the same."""

def header_library(name, hdrs, internals = [], **kwargs):
    """A cc_library with one source file, which includes each header, first and alone.

    Without a source file nothing of a header-only library would be compiled, and layering_check
    would not look at what its headers include.

    Args:
      name: the name of the library.
      hdrs: what others may include.
      internals: headers that only this library may include.
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
        srcs = internals + [name + "_includes.cpp"],
        hdrs = hdrs,
        **kwargs
    )
