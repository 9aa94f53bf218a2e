"""The tests of a folder: each NAME_test.cpp is a test, and the table says what is special."""

load("//tests:cc_test.bzl", "cc_test")
load("//tests:table.bzl", "TABLE")
load("//tools:golden.bzl", "golden_test")

# The memory that a compiler needs grows with each, and the time that an edit takes.
_MOST_IN_ONE = 6

def suite():
    """A test for each NAME_test.cpp of the folder, its variants (table.bzl), and merged tests.

    Most have in common what takes longest to compile.  So those that are alike are merged, a few in
    a program, and are themselves run only by name.
    """
    row = TABLE[native.package_name()[len("tests/"):]]
    names = [source[:-len("_test.cpp")] for source in native.glob(["*_test.cpp"])]
    special_ones = row.alone + row.as_it_is + row.more.keys() + row.variants.keys()
    for name in special_ones + [name for tagged in row.tags.values() for name in tagged]:
        if name not in names:
            fail("there is no %s_test.cpp here" % name)
    alike = {}
    for name in names:
        tags = [tag for tag, tagged in row.tags.items() if name in tagged]
        if name not in special_ones:
            alike.setdefault(tuple(tags), []).append(name)
        usual = _both({
            "size": "medium",
            "srcs": [name + "_test.cpp"],
            "tags": tags if name in special_ones else tags + ["manual"],
            "deps": row.deps,
            "is_merged": name not in row.as_it_is,
        }, row.more.get(name, {}))
        cc_test(name = name + "_test", **usual)
        for target, special in row.variants.get(name, {}).items():
            cc_test(name = target, **_both(usual, special))
    for tags, merged in alike.items():
        programs = (len(merged) + _MOST_IN_ONE - 1) // _MOST_IN_ONE
        for program in range(programs):
            cc_test(
                name = "_".join(["all"] + list(tags) + [str(program + 1)]) + "_test",
                size = "medium",
                srcs = [name + "_test.cpp" for name in merged[program::programs]],
                tags = list(tags),
                deps = row.deps,
            )

def _both(usual, special):
    """The attributes of a test: a special list is added, and any other value counts."""
    both = dict(usual)
    for attribute, value in special.items():
        if attribute == "data":
            value = [v for v in value if v.startswith("//")] + native.glob([v for v in value if not v.startswith("//")])
        is_added = type(value) == "list" and attribute in usual
        both[attribute] = usual[attribute] + value if is_added else value
    return both

def golden_program(name, deps):
    """A program, NAME.cpp, that must print NAME.expected."""
    native.cc_binary(name = name, testonly = True, srcs = [name + ".cpp"], deps = deps)
    golden_test(name = name + "_test", binary = ":" + name, expected = name + ".expected")
