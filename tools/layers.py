#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do tests and programs include only what their own dependencies offer?

For those that layering_check does not see (tests/cc_test.bzl).  Reads what
`./bazelw query --output=xml 'kind("cc_.* rule|filegroup rule|genrule rule|_precompiled_header rule", //...)'` prints;
says nothing if all is well."""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree


INCLUDED = re.compile(r'^#include (?:<weft/|"(?:weft/)?)([^">]+)', re.MULTILINE)


def labels(rule, attribute):
    for values in rule.findall("list"):
        if values.get("name") == attribute:
            return [label.get("value") for label in values.findall("label")]
    return []


def path(label):
    return label.removeprefix("//").replace(":", "/").removeprefix("/")


def violations(query, read):
    """Those in `query`, where `read(path)` is the text of a file."""
    rules = {rule.get("name"): rule for rule in query.iter("rule")}
    groups = {name: labels(rule, "srcs") for name, rule in rules.items() if rule.get("class") == "filegroup"}

    def files(label):
        return {f for member in groups[label] for f in files(member)} if label in groups else {path(label)}

    # A test is made of other files (tests/cc_test.bzl).
    made = {
        output.get("name"): labels(rule, "srcs")
        for rule in rules.values()
        if rule.get("class") == "genrule"
        for output in rule.findall("rule-output")
        if ":merged/" in output.get("name")
    }

    def headers(rule):
        parsed = [label.get("value") for label in rule.findall("label") if label.get("name") == "src"]
        offered = parsed if rule.get("class") == "_precompiled_header" else []
        offered = offered + [label for which in ("hdrs", "textual_hdrs") for label in labels(rule, which)]
        return {f for label in offered for f in files(label)}

    offered = {name: headers(rule) for name, rule in rules.items()}
    known = set().union(*offered.values())
    for name, rule in sorted(rules.items()):
        if rule.get("class") not in ("cc_test", "cc_binary"):
            continue
        allowed = set().union(*(offered.get(dep, set()) for dep in labels(rule, "deps")))
        # Not the shared libraries that a program is linked with.
        sources = [source for label in labels(rule, "srcs") for source in made.get(label, [label])]
        sources = [path(label) for label in sources if label.endswith((".cpp", ".hpp"))]
        for source in sources:
            for included in INCLUDED.findall(read(source)):
                if included not in allowed and included not in sources:
                    why = "none of its dependencies offers" if included in known else "it is no library's"
                    yield f"{name}: {source} includes {included}: {why}"


def main():
    def read(file):
        if not os.path.exists(file):
            return ""  # made of others, which are checked (tests/suite.bzl)
        with open(file, encoding="utf-8") as text:
            return text.read()

    found = list(violations(ElementTree.parse(sys.stdin).getroot(), read))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
