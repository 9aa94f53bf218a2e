"""A header that is parsed once, for all sources that include it first."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//tools:compiling.bzl", "COMPILING", "compiling")

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
    ctx.actions.run(
        executable = how.command[0],
        arguments = how.command[1:],
        inputs = depset([header], transitive = [how.inputs]),
        outputs = [parsed],
        env = how.env,
        mnemonic = "ParseHeader",
        progress_message = "Parsing " + header.short_path,
        # The result has the paths of its headers, and its users must find them there.
        execution_requirements = {"no-sandbox": "1"},
    )
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
    compiled = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    how = compiling(ctx, parsed.path, "$OBJECT", context, ["-Wno-unused-command-line-argument"])
    ctx.actions.run_shell(
        command = "OBJECT=$(mktemp --suffix=.o) && %s && ar rcsD %s $OBJECT && rm $OBJECT" % (
            " ".join([word if "$" in word else "'%s'" % word for word in how.command]),
            compiled.path,
        ),
        inputs = depset([parsed], transitive = [how.inputs]),
        outputs = [compiled],
        env = how.env,
        mnemonic = "CompileHeader",
        progress_message = "Compiling " + parsed.short_path,
        execution_requirements = {"no-sandbox": "1"},
    )
    toolchain = find_cpp_toolchain(ctx)
    library = cc_common.create_library_to_link(
        actions = ctx.actions,
        cc_toolchain = toolchain,
        feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain),
        pic_static_library = compiled,
    )
    return cc_common.create_linking_context(linker_inputs = depset([
        cc_common.create_linker_input(owner = ctx.label, libraries = depset([library])),
    ]))

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
