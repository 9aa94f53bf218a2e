"""Golden tests: a program, and what it prints: exactly, and whatever the backend."""

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

def backends_test(name, binary, expected, processes = None, **kwargs):
    """Fails unless `binary` prints the same under `--backend=sharing`, on 1, 2 and 8 threads, and `--backend=random`.

    Args:
      name: the name of the test.
      binary: the program.
      expected: what it prints on one thread.
      processes: if it has several processes that print, what each of them prints, with an empty line in
        between; on several threads, and in a random order, any interleaving of that will do.
      **kwargs: passed on.
    """
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tools:backends.sh"],
        args = ["$(location %s)" % f for f in ["//tools:interleaved.awk", binary, expected, processes or expected]],
        data = ["//tools:interleaved.awk", binary, expected] + ([processes] if processes else []),
        **kwargs
    )
