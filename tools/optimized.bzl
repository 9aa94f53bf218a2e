"""Programs for which a sanitizer is of no use, in the same command as the others."""

_SETTINGS = ["//command_line_option:copt", "//command_line_option:linkopt", "//tests:sanitizer"]

def _optimized(settings, _):
    """What --config=asan adds is left out, and -O1 added.  ThreadSanitizer stays."""
    if settings["//tests:sanitizer"] == "thread":
        return settings
    plain = {"//tests:sanitizer": "none"}
    for option in _SETTINGS[:2]:
        plain[option] = [flag for flag in settings[option] if "-fsanitize" not in flag and "-fno-sanitize" not in flag]
    plain[_SETTINGS[0]] = plain[_SETTINGS[0]] + ["-O1"]
    return plain

_without_sanitizer = transition(implementation = _optimized, inputs = _SETTINGS, outputs = _SETTINGS)

def _impl(ctx):
    program = ctx.attr.program[0][DefaultInfo]
    link = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = program.files_to_run.executable, is_executable = True)
    return [DefaultInfo(executable = link, runfiles = program.default_runfiles)]

def _rule(**kwargs):
    return rule(
        implementation = _impl,
        attrs = {
            "program": attr.label(cfg = _without_sanitizer, executable = True, mandatory = True),
            "_allowlist_function_transition": attr.label(
                default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
            ),
        },
        **kwargs
    )

optimized_binary = _rule(
    doc = "`program`, compiled with optimization and without a sanitizer, if that of the command is AddressSanitizer.",
    executable = True,
)

optimized_test = _rule(
    doc = "The test `program`, compiled likewise: for tests that count allocations, that are about the pools " +
          "that a sanitizer replaces, or that search for long.",
    test = True,
)

def _sanitizer_impl(_):
    return []

sanitizer = rule(
    implementation = _sanitizer_impl,
    doc = "The sanitizer of the configuration (.bazelrc): none, address or thread.",
    build_setting = config.string(flag = True),
)
