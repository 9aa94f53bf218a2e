"""What a workspace of Bazel 4 declares to use weft without a network."""

def _beside(repository_ctx):
    """The folder that has the file `attr.file`, as a repository."""
    folder = repository_ctx.path(repository_ctx.attr.file).dirname
    for entry in folder.readdir():
        repository_ctx.symlink(entry, entry.basename)

_stand_in = repository_rule(
    implementation = _beside,
    attrs = {"file": attr.label()},
    local = True,
)

# Bazel 4 would fetch these from the network.  The build needs only the names of native rules.
_STAND_INS = {
    "remote_coverage_tools": "coverage",
    "rules_cc": "rules_cc",
    "rules_java": "rules_java",
}

# Libraries of the system (tools/packages.txt lists their packages), for @weft//testing:catch2,
# @weft//testing:googletest, @weft//effects:each_range_v3, @weft//durable, @weft//cluster, @weft//adapters, and
# the programs of @weft//tools.
_SYSTEM = [
    "asio",
    "boost_asio",
    "catch2",
    "cli11",
    "fmt",
    "gtest",
    "msgpack",
    "nats",
    "nlohmann_json",
    "openssl",
    "range_v3",
    "sqlite3",
]

def weft_dependencies():
    """Declares the repositories that weft needs, but those that the workspace has declared before."""
    existing = native.existing_rules()
    for name, folder in _STAND_INS.items():
        if name not in existing:
            _stand_in(name = name, file = Label("//tools/offline/%s:WORKSPACE" % folder))
    for name in _SYSTEM:
        if name not in existing:
            native.new_local_repository(
                name = name,
                build_file = str(Label("//tools/system:%s.BUILD" % name)),
                path = "/usr/include",
            )
