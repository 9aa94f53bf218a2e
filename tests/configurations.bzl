"""Tests that only some configurations can run; elsewhere they are skipped."""

_IMPOSSIBLE = ["//tests/weakened:impossible"]

under_no_sanitizer = select({
    "//tests/weakened:asan": _IMPOSSIBLE,
    "//tests/weakened:tsan": _IMPOSSIBLE,
    "//conditions:default": [],
})

under_default_only = select({
    "//tests/weakened:asan": _IMPOSSIBLE,
    "//tests/weakened:tsan": _IMPOSSIBLE,
    "//tests/weakened:gcc": _IMPOSSIBLE,
    "//conditions:default": [],
})

under_gcc_only = select({
    "//tests/weakened:gcc": [],
    "//conditions:default": _IMPOSSIBLE,
})

under_tsan_only = select({
    "//tests/weakened:tsan": [],
    "//conditions:default": _IMPOSSIBLE,
})
