"""How tests are compiled: under a sanitizer with a precompiled header, since there it is the same
time again, and what they include has been checked elsewhere."""

_FIRST = ["-include-pch", "$(BINDIR)/tests/first.pch"]

def cc_test(name, copts = [], deps = [], **kwargs):
    """A cc_test.

    Args:
      name: the name of the test.
      copts: what the configuration does not say: then nothing is precompiled for it.
      deps: as for cc_test.
      **kwargs: as for cc_test.
    """
    if not copts:
        copts = select({
            "//tests/weakened:asan": _FIRST,
            "//tests/weakened:tsan": _FIRST,
            "//conditions:default": [],
        })
        deps = deps + select({
            "//tests/weakened:asan": [":first"],
            "//tests/weakened:tsan": [":first"],
            "//conditions:default": [],
        })
    native.cc_test(
        name = name,
        copts = copts,
        deps = deps,
        **kwargs
    )
