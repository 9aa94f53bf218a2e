"""A golden test: a program, and exactly what it prints."""

def golden_test(name, binary, expected, **kwargs):
    """Fails unless `binary` ends with 0 and prints exactly what the file `expected` holds."""
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tools:golden.sh"],
        args = ["$(location %s)" % binary, "$(location %s)" % expected],
        data = [binary, expected],
        **kwargs
    )
