"""A must-not-compile test: a program, and the words in which the compiler refuses it."""

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
        progress_message = "Hearing what the compiler says of " + ctx.file.src.short_path,
        execution_requirements = {"no-sandbox": "1"} if parsed else {},
    )

    says = ctx.actions.declare_file(ctx.label.name + ".says")
    ctx.actions.write(says, ctx.attr.says + "\n" + "".join([n + "\n" for n in ctx.attr.naming]))
    test = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        test,
        "#!/bin/sh\nexec sh %s %s %s %s\n" % (
            ctx.file._refuses.short_path,
            diagnostic.short_path,
            says.short_path,
            "deleted" if ctx.attr.deleted else "",
        ),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = test,
        runfiles = ctx.runfiles([diagnostic, says, ctx.file._refuses]),
    )]

refuses_to_compile_test = rule(
    implementation = _impl,
    doc = "Fails unless the compiler's one error for `src` is our message `says`, with every " +
          "`naming` somewhere in what it prints (the type at fault).  If `deleted`, the one error " +
          "is the compiler's, that a function is deleted, and `says` is the comment behind the " +
          "declaration, which the compiler shows.",
    attrs = dict(COMPILING["attrs"], **{
        "deleted": attr.bool(),
        "deps": attr.label_list(providers = [CcInfo]),
        "first": attr.label(
            allow_single_file = [".pch"],
            doc = "A precompiled header of what programs include.",
        ),
        "naming": attr.string_list(),
        "says": attr.string(mandatory = True),
        "src": attr.label(allow_single_file = [".cpp"], mandatory = True),
        "_refuses": attr.label(default = "//tools:refuses.sh", allow_single_file = True),
    }),
    fragments = COMPILING["fragments"],
    test = True,
    toolchains = COMPILING["toolchains"],
)
