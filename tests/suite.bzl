"""The tests of a folder: each NAME_test.cpp is a test, and the table says what is special."""

load("//tests:cc_test.bzl", "cc_test")
load("//tests:table.bzl", "TABLE")
load("//tools:golden.bzl", "golden_test")

def suite():
    """A test for each NAME_test.cpp of the folder, and its variants: table.bzl."""
    row = TABLE[native.package_name()[len("tests/"):]]
    names = [source[:-len("_test.cpp")] for source in native.glob(["*_test.cpp"])]
    tagged_ones = [name for tagged in row.tags.values() for name in tagged]
    for name in tagged_ones + row.more.keys() + row.variants.keys():
        if name not in names:
            fail("there is no %s_test.cpp here" % name)
    for name in names:
        usual = _both({
            "size": "medium",
            "srcs": [name + "_test.cpp"],
            "tags": [tag for tag, tagged in row.tags.items() if name in tagged],
            "deps": row.deps,
        }, row.more.get(name, {}))
        cc_test(name = name + "_test", **usual)
        for target, special in row.variants.get(name, {}).items():
            cc_test(name = target, **_both(usual, special))

def _both(usual, special):
    """The attributes of a test: a special list is added, and any other value counts."""
    both = dict(usual)
    for attribute, value in special.items():
        if attribute == "data":
            value = native.glob(value)
        is_added = type(value) == "list" and attribute in usual
        both[attribute] = usual[attribute] + value if is_added else value
    return both

def golden_program(name, deps):
    """A program, NAME.cpp, that must print NAME.expected."""
    native.cc_binary(name = name, testonly = True, srcs = [name + ".cpp"], deps = deps)
    golden_test(name = name + "_test", binary = ":" + name, expected = name + ".expected")
