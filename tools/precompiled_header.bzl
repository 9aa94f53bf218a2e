"""A header that is parsed once, for all sources that include it first."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//tools:compiling.bzl", "COMPILING", "compiling")

def _run(ctx, how, source, output, doing):
    """Runs the compiler.  A parsed header has the paths of its headers, and its users must find them there."""
    ctx.actions.run(
        executable = how.command[0],
        arguments = how.command[1:],
        inputs = depset([source], transitive = [how.inputs]),
        outputs = [output],
        env = how.env,
        mnemonic = "ParseHeader",
        progress_message = "%s %s" % (doing, source.short_path),
        execution_requirements = {"no-sandbox": "1"},
    )

def _impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    header = ctx.file.src
    is_compiled = ctx.attr.compiled and not ctx.attr.by_gcc
    parsed = ctx.actions.declare_file(header.basename + ".gch" if ctx.attr.by_gcc else ctx.label.name + ".pch")
    how = compiling(
        ctx,
        header.path,
        parsed.path,
        merged.compilation_context,
        # g++ says of the header that it is no main file.
        ["-xc++-header", "-w"] if ctx.attr.by_gcc else [
            "-xc++-header",
            "-fpch-instantiate-templates",
            # Bazel compares contents: a header with only a new timestamp is the same header.
            "-Xclang",
            "-fno-pch-timestamp",
        ] + (["-fpch-codegen"] if is_compiled else []),
    )
    _run(ctx, how, header, parsed, "Parsing")
    info = {"compilation_context": cc_common.create_compilation_context(headers = depset([header, parsed]))}
    if is_compiled:
        info["linking_context"] = _compiled(ctx, parsed, merged.compilation_context)
    return [
        DefaultInfo(files = depset([parsed])),
        cc_common.merge_cc_infos(
            direct_cc_infos = [CcInfo(**info)],
            cc_infos = [merged],
        ),
    ]

def _compiled(ctx, parsed, context):
    """The functions that are inline in the header: its users do not compile them again."""
    compiled = ctx.actions.declare_file(ctx.label.name + ".o")
    how = compiling(ctx, parsed.path, compiled.path, context, ["-Wno-unused-command-line-argument"])
    _run(ctx, how, parsed, compiled, "Compiling")
    toolchain = find_cpp_toolchain(ctx)
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        cc_toolchain = toolchain,
        feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain),
        compilation_outputs = cc_common.create_compilation_outputs(pic_objects = depset([compiled])),
    )
    return linking_context

precompiled_header = rule(
    implementation = _impl,
    doc = "`src`, parsed by clang for `-include-pch` of targets that depend on it, or by g++ for " +
          "`-include`, which takes FILE.gch where FILE would be.  Such a compilation is " +
          "not in a sandbox, and has no layering_check: it must be checked elsewhere.",
    attrs = dict(COMPILING["attrs"], **{
        "by_gcc": attr.bool(),
        # Whether the target also has, as a library, the functions that are inline in the header.
        "compiled": attr.bool(),
        "deps": attr.label_list(providers = [CcInfo]),
        "src": attr.label(allow_single_file = [".hpp"], mandatory = True),
    }),
    fragments = COMPILING["fragments"],
    toolchains = COMPILING["toolchains"],
)
