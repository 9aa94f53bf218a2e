"""A must-not-compile test: a program, and the words in which the compiler refuses it."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_COMPILE = "c++-compile"

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + ["layering_check", "module_maps"],
    )
    headers = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    arguments = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = _COMPILE,
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            source_file = ctx.file.src.path,
            output_file = "/dev/null",
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts +
                                 ["-fdiagnostics-color=never"],
            include_directories = headers.includes,
            quote_include_directories = headers.quote_includes,
            system_include_directories = headers.system_includes,
        ),
    )
    diagnostic = ctx.actions.declare_file(ctx.label.name + ".diagnostic")
    ctx.actions.run_shell(
        inputs = depset([ctx.file.src], transitive = [headers.headers, toolchain.all_files]),
        outputs = [diagnostic],
        command = 'said=$1; shift; if "$@" 2> "$said"; then echo COMPILED > "$said"; fi',
        arguments = [diagnostic.path, cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = _COMPILE,
        )] + arguments,
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = _COMPILE,
            variables = cc_common.empty_variables(),
        ),
        mnemonic = "RefuseToCompile",
        progress_message = "Hearing what the compiler says of " + ctx.file.src.short_path,
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
    attrs = {
        "deleted": attr.bool(),
        "deps": attr.label_list(providers = [CcInfo]),
        "naming": attr.string_list(),
        "says": attr.string(mandatory = True),
        "src": attr.label(allow_single_file = [".cpp"], mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_refuses": attr.label(default = "//tools:refuses.sh", allow_single_file = True),
    },
    fragments = ["cpp"],
    test = True,
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
