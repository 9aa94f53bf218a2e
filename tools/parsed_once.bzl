"""Programs of examples/ and docs/: what most of them include is parsed once (docs/decisions/017)."""

load("//tools:precompiled_header.bzl", "behind")

def parsed_once_binary(name, deps, copts = [], **kwargs):
    """A cc_binary behind the precompiled header examples/first.hpp.

    Args:
      name: the name of the program.
      deps: as for cc_binary.
      copts: as for cc_binary.
      **kwargs: as for cc_binary.
    """
    native.cc_binary(
        name = name,
        copts = behind("examples/first") + copts,
        features = ["-layering_check"],
        deps = deps + ["//examples:first"],
        **kwargs
    )
