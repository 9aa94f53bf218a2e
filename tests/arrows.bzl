"""A test of the arrows between folders."""

def arrows_test(name, below):
    """Fails if a folder depends on one that it may not depend on.

    Args:
      name: the name of the test.
      below: by folder, lowest first, the folders that it may depend on; it may depend on what these
        may depend on, too.
    """
    may = {}
    for folder, direct in below.items():
        may[folder] = {f: None for f in direct}
        for f in direct:
            may[folder].update(may[f])
    native.genquery(
        name = name + "_wrong",
        expression = " + ".join([
            "somepath(%s, %s)" % (folder, other)
            for folder in below
            for other in below
            if folder != other and other not in may[folder]
        ]),
        scope = below.keys(),
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = [name + ".sh"],
        args = ["$(location :%s_wrong)" % name],
        data = [":%s_wrong" % name],
    )
