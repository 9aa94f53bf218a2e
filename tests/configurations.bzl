"""Tests that only one configuration can run; elsewhere they are skipped."""

_IMPOSSIBLE = ["//tests/weakened:impossible"]

under_gcc_only = select({
    "//tests/weakened:gcc": [],
    "//conditions:default": _IMPOSSIBLE,
})

under_tsan_only = select({
    "//tests/weakened:tsan": [],
    "//conditions:default": _IMPOSSIBLE,
})
