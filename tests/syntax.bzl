"""Tests that a compiler reads, and generates no code for."""

load("//tools:compiling.bzl", "COMPILING", "compiling")

def _impl(ctx):
    headers = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    read = ctx.actions.declare_file(ctx.label.name + ".read")
    how = compiling(
        ctx,
        ctx.file.src.path,
        "/dev/null",
        headers.compilation_context,
        ["-fsyntax-only"] + [ctx.expand_make_variables("copts", flag, {}) for flag in ctx.attr.copts],
    )
    ctx.actions.run_shell(
        inputs = depset([ctx.file.src], transitive = [how.inputs]),
        outputs = [read],
        command = 'read=$1; shift; "$@" && touch "$read"',
        arguments = [read.path] + how.command,
        env = how.env,
        mnemonic = "ReadOnly",
        progress_message = "Reading " + ctx.file.src.short_path,
        execution_requirements = {"no-sandbox": "1"},  # as a precompiled header must be where it was made
    )
    return [DefaultInfo(files = depset([read]))]

syntax = rule(
    implementation = _impl,
    doc = "Fails to build if the compiler of the configuration finds an error or a warning in `src`.",
    attrs = dict(COMPILING["attrs"], **{
        "copts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "src": attr.label(allow_single_file = [".cpp"], mandatory = True),
    }),
    fragments = COMPILING["fragments"],
    toolchains = COMPILING["toolchains"],
)
