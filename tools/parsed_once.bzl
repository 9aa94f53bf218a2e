"""For programs of examples/ and docs/: what most of them include is parsed once (docs/decisions/017)."""

PARSED_ONCE = {
    "copts": select({
        "//tests/weakened:gcc": ["-include", "$(BINDIR)/examples/first.hpp", "-Winvalid-pch"],
        "//conditions:default": ["-include-pch", "$(BINDIR)/examples/first.pch"],
    }),
    # Not beside a precompiled header: tests/cc_test.bzl.
    "features": ["-layering_check"],
}

PARSED_ONCE_DEPS = ["//examples:first"]
