"""A header that is parsed once, for all sources that include it first."""

load("//tools:compiling.bzl", "COMPILING", "compiling")

def _impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    header = ctx.file.src
    parsed = ctx.actions.declare_file(header.basename + ".gch" if ctx.attr.by_gcc else ctx.label.name + ".pch")
    how = compiling(
        ctx,
        header.path,
        parsed.path,
        merged.compilation_context,
        # -w: g++ says of the header that it is no main file.
        ["-xc++-header", "-w"] if ctx.attr.by_gcc else [
            "-xc++-header",
            "-fpch-instantiate-templates",
            # Bazel compares contents: a header with only a new timestamp is the same header.
            "-Xclang",
            "-fno-pch-timestamp",
        ],
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
    context = cc_common.create_compilation_context(headers = depset([header, parsed]))
    return [
        DefaultInfo(files = depset([parsed])),
        cc_common.merge_cc_infos(
            direct_cc_infos = [CcInfo(compilation_context = context)],
            cc_infos = [merged],
        ),
    ]

_precompiled_header = rule(
    implementation = _impl,
    doc = "`src`, parsed by clang for `-include-pch` of targets that depend on it, or by g++ for " +
          "`-include`, which takes FILE.gch where FILE would be.  Such a compilation is " +
          "not in a sandbox, and has no layering_check: it must be checked elsewhere.",
    attrs = dict(COMPILING["attrs"], **{
        "by_gcc": attr.bool(),
        "deps": attr.label_list(providers = [CcInfo]),
        "src": attr.label(allow_single_file = [".hpp"], mandatory = True),
    }),
    fragments = COMPILING["fragments"],
    toolchains = COMPILING["toolchains"],
)

def precompiled_header(name, **kwargs):
    """`src`, parsed by the compiler of the configuration.

    Args:
      name: that of `src`, without its ending.
      **kwargs: as for the rule.
    """
    _precompiled_header(
        name = name,
        by_gcc = select({
            "//tests/weakened:gcc": True,
            "//conditions:default": False,
        }),
        **kwargs
    )

def behind(header):
    """The copts of a target that includes a precompiled header first.

    Such a target also depends on the header, and has no layering_check, since clang cannot have it beside
    a precompiled header, nor Bazel where it compiles without a sandbox: tools/layers.py checks it.

    Args:
      header: as in "tests/first".
    """
    return select({
        "//tests/weakened:gcc": ["-include", "$(BINDIR)/%s.hpp" % header, "-Winvalid-pch"],
        "//conditions:default": ["-include-pch", "$(BINDIR)/%s.pch" % header],
    })
