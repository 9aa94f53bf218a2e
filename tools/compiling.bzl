"""The C++ compiler's command line, for rules that call it themselves."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

COMPILING = {
    "attrs": {
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    "fragments": ["cpp"],
    "toolchains": ["@bazel_tools//tools/cpp:toolchain_type"],
}

# With -fpch-deps, g++ 12 lists of a parsed header what it listed when that was parsed, and without a list it
# crashes.  Bazel knows the inputs of these actions without one.
DEPENDENCIES = ["-MD", "-MF", "/dev/null"]

def compiling(ctx, source, output, context, flags = []):
    """The action that compiles `source` as cc_test does, but without layering_check.

    Args:
      ctx: the context of a rule that has the attributes, fragments and toolchains of COMPILING.
      source: the path of the source file.
      output: the path of the output file.
      context: the CcCompilationContext of the included libraries.
      flags: added at the end of the command line.

    Returns:
      A struct: command, a list; env; inputs, a depset.
    """
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + ["layering_check", "module_maps"],
    )
    action = "c++-compile"
    tool = cc_common.get_tool_for_action(feature_configuration = features, action_name = action)
    arguments = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = action,
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            source_file = source,
            output_file = output,
            use_pic = True,
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + DEPENDENCIES + flags,
            include_directories = context.includes,
            quote_include_directories = context.quote_includes,
            system_include_directories = context.system_includes,
        ),
    )
    return struct(
        command = [tool] + arguments,
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = cc_common.empty_variables(),
        ),
        inputs = depset(transitive = [context.headers, toolchain.all_files]),
    )
