"""Golden tests: a program and its exact output, on one backend or on all."""

def golden_test(name, binary, expected, program = None, **kwargs):
    """Fails unless `binary`, with the argument `program`, exits with 0 and prints exactly the text of `expected`."""
    native.sh_test(
        name = name,
        size = "small",
        timeout = "moderate",  # a busy machine: some programs explore for 20 s of processor time
        srcs = ["//tools:golden.sh"],
        args = ["$(location %s)" % binary, "$(location %s)" % expected] + ([program] if program else []),
        data = [binary, expected],
        **kwargs
    )

def backends_test(name, binary, expected, processes = None, **kwargs):
    """Fails unless `binary` prints the same under `--backend=sharing`, `=stealing` and `=random`.

    Args:
      name: the name of the test.
      binary: the program.
      expected: its output on one thread.
      processes: if several of its processes print, a file with the output of each, separated by empty
        lines; on several threads, and in a random order, any interleaving of them passes.
      **kwargs: as for sh_test.
    """
    native.sh_test(
        name = name,
        size = "small",
        timeout = "moderate",  # a busy machine: some programs explore for 20 s of processor time
        srcs = ["//tools:backends.sh"],
        args = ["$(location %s)" % f for f in ["//tools:interleaved.awk", binary, expected, processes or expected]],
        data = ["//tools:interleaved.awk", binary, expected] + ([processes] if processes else []),
        **kwargs
    )
