"""Programs of examples/ and docs/: what most of them include is parsed once (docs/decisions/017)."""

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
        copts = select({
            "//tests/weakened:gcc": ["-include", "$(BINDIR)/examples/first.hpp", "-Winvalid-pch"],
            "//conditions:default": ["-include-pch", "$(BINDIR)/examples/first.pch"],
        }) + copts,
        features = ["-layering_check"],  # not beside a precompiled header: tests/cc_test.bzl
        deps = deps + ["//examples:first"],
        **kwargs
    )
