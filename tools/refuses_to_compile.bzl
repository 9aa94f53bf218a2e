"""A must-not-compile test: a program, and the message with which the compiler refuses it."""

load("//tools:compiling.bzl", "COMPILING", "compiling")

def _impl(ctx):
    headers = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    flags = ["-fdiagnostics-color=never"]
    parsed = []
    if ctx.file.first:
        parsed = [ctx.file.first]
        flags += ["-include-pch", ctx.file.first.path]
    how = compiling(
        ctx,
        ctx.file.src.path,
        "/dev/null",
        headers.compilation_context,
        flags,
    )
    diagnostic = ctx.actions.declare_file(ctx.label.name + ".diagnostic")
    ctx.actions.run_shell(
        inputs = depset([ctx.file.src] + parsed, transitive = [how.inputs]),
        outputs = [diagnostic],
        command = 'said=$1; shift; if "$@" 2> "$said"; then echo COMPILED > "$said"; fi',
        arguments = [diagnostic.path] + how.command,
        env = how.env,
        mnemonic = "RefuseToCompile",
        progress_message = "Compiling %s, which is refused" % ctx.file.src.short_path,
        execution_requirements = {"no-sandbox": "1"} if parsed else {},
    )

    test = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        test,
        "#!/bin/sh\nexec sh %s %s %s\n" % (
            ctx.file._refuses.short_path,
            diagnostic.short_path,
            ctx.file.src.short_path,
        ),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = test,
        runfiles = ctx.runfiles([diagnostic, ctx.file.src, ctx.file._refuses]),
    )]

refuses_to_compile_test = rule(
    implementation = _impl,
    doc = "Fails unless the compiler's one error for `src` is the message that the head of `src` " +
          "announces, and the diagnostic names what the head says (refuses.sh).",
    attrs = dict(COMPILING["attrs"], **{
        "deps": attr.label_list(providers = [CcInfo]),
        "first": attr.label(
            allow_single_file = [".pch"],
            doc = "A precompiled header of what programs include.",
        ),
        "src": attr.label(allow_single_file = [".cpp"], mandatory = True),
        "_refuses": attr.label(default = "//tools:refuses.sh", allow_single_file = True),
    }),
    fragments = COMPILING["fragments"],
    test = True,
    toolchains = COMPILING["toolchains"],
)
