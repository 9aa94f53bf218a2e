#!/usr/bin/env python3
"""Makes the sources of the site (Sphinx, MyST) from the Markdown of the tree.

    make_sources.py TREE PAGES OUT

A file of docs/ is a page at the top of the site; README.md is the first page.  A link to a file of the tree that is no
page leads to a page that shows the file.  PAGES is a folder with the pages on which programs are stepped through: a
program that has one gets a link below its output.  OUT/origins.json says of which file each page is made.
"""

import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

MORE_PAGES = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
# As many backticks at its end as at its beginning; fewer may stand inside.
CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "sh", ".bzl": "python", ".js": "js", ".md": "md"}


def page_of(file):
    """The page that is made of a Markdown file, without its ending."""
    if file == "README.md":
        return "index"
    if file == "docs/README.md":
        return "contents"
    return file.removeprefix("docs/").removesuffix(".md")


class Site:
    def __init__(self, tree, pages, out):
        self.tree, self.pages, self.out = tree, pages, out
        git = ["git", "-C", tree, "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(git, capture_output=True, text=True, check=False).stdout
        # An archive of the sources has no git.
        files = listed.split("\n") if listed else [str(p.relative_to(tree)) for p in tree.rglob("*")]
        self.files = {f for f in files if not f.startswith(("bazel-", ".")) and (tree / f).is_file()}
        self.markdown = {f for f in self.files if f.endswith(".md") and (f in MORE_PAGES or "/" in f)}
        self.markdown = {f for f in self.markdown if not f.startswith("include/")}
        self.shown = set()  # files that a link leads to, and that are no pages
        self.origins = {}

    # ---- links

    def target(self, link, file):
        """The target of a link in `file`, as the site has it."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, hash_, anchor = link.partition("#")
        at = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        here = posixpath.dirname(page_of(file))
        if posixpath.normpath(f"{at}/README.md") in self.markdown:
            at = posixpath.normpath(f"{at}/README.md")
        if at in self.markdown:
            return posixpath.relpath(page_of(at) + ".md", here or ".") + hash_ + anchor
        if (self.tree / at).is_file():
            if at.endswith((".png", ".svg")):
                return "/" + at
            self.shown.add(at)
        elif (self.tree / at).is_dir():
            self.shown.add(at)
        else:
            raise SystemExit(f"{file}: there is no {link}")
        return posixpath.relpath(f"source/{at}.md", here or ".")

    def with_links(self, text, file):
        """Text without fences.  What is code, in backticks, has no links; the text of a link may be code."""
        code = [m.span() for m in CODE.finditer(text)]

        def replaced(m):
            if any(first < m.start() < last for first, last in code):
                return m.group()
            return f"{m[1]}[{m[2]}]({self.target(m[3], file)})"

        return LINK.sub(replaced, text)

    # ---- programs

    def program_page(self, file, program):
        name = Path(file).stem if file != "README.md" else "readme"
        name += f"_{program}" if program else ""
        return name if (self.pages / f"{name}.html").is_file() else None

    def with_programs(self, lines, file):
        """Fences as MyST has them; below the last output of a program, a link to its page."""
        last = {}
        for i, line in enumerate(lines):
            if found := re.match(r"```output ?(\w*)$", line):
                last[found[1]] = i
        shows = up = None
        for i, line in enumerate(lines):
            if found := re.match(r"```cpp(?: \w+)?$", line):
                yield "```cpp"
            elif found := re.match(r"```output ?(\w*)$", line):
                yield "```{code-block} text"
                yield ":class: output"
                yield ""
                shows = self.program_page(file, found[1]) if last[found[1]] == i else None
            else:
                yield line
                if line == "```" and shows:
                    up = "../" * page_of(file).count("/")
                    yield f'\n<p class="step"><a href="{up}pages/{shows}.html">Step through this run</a></p>\n'
                    shows = None

    # ---- pages

    def make_page(self, file):
        text = (self.tree / file).read_text()
        # Every second part is fenced.
        parts = re.split(r"^(```.*?^```$)", text, flags=re.M | re.S)
        text = "".join(part if i % 2 else self.with_links(part, file) for i, part in enumerate(parts))
        self.write(page_of(file), "\n".join(self.with_programs(text.split("\n"), file)), file)

    def write(self, page, text, file):
        at = self.out / f"{page}.md"
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
        self.origins[page] = file

    def show(self, at):
        """A page that shows a file, or the files of a folder."""
        title = f"# `{at}`\n\n"
        if (self.tree / at).is_dir():
            names = sorted(f[len(at) + 1 :] for f in self.files if f.startswith(at + "/"))
            self.write(f"source/{at}", title + "\n".join(f"* `{name}`" for name in names), at)
            return
        ticks = "`" * 6
        language = LANGUAGES.get(Path(at).suffix, "text")
        text = (self.tree / at).read_text()
        beside = [f for f in re.findall(r'^#include "(examples/[^"]+)"', text, re.M) if f in self.files]
        links = "".join(f"\n* [`{f}`]({posixpath.relpath(f, posixpath.dirname(at))}.md)" for f in beside)
        self.write(f"source/{at}", f"{title}{ticks}{language}\n{text}\n{ticks}\n{links}\n", at)
        for f in beside:
            if f not in self.shown:
                self.shown.add(f)
                self.show(f)

    def make(self):
        for file in sorted(self.markdown):
            self.make_page(file)
        for at in sorted(self.shown):  # a copy: show() adds what a file includes
            self.show(at)
        contents = (self.out / "contents.md").read_text()
        index = self.out / "index.md"
        index.write_text(index.read_text() + "\n" + "\n".join(self.trees(contents)))
        named = set(re.findall(r"\]\(([^):#]+)\.md", contents)) | {"index", "contents"}
        for folder in ("recipes", "decisions"):
            at = self.out / f"{folder}/README.md"
            pages = re.findall(r"\]\(([^):#/]+)\.md", at.read_text())
            named |= {f"{folder}/{page}" for page in pages}
            at.write_text(at.read_text() + "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n")
        for page in self.origins:
            at = self.out / f"{page}.md"
            # A reader who searches wants to know how, and not when or why.
            facts = ["orphan: true"] if page not in named or page.startswith("source/") else []
            if page.startswith(("source/", "decisions/", "CHANGELOG", "models/")):
                facts.append("nosearch: true")
            if facts:
                at.write_text("---\n" + "\n".join(facts) + "\n---\n\n" + at.read_text())
        for picture in (f for f in self.files if f.endswith((".png", ".svg"))):
            to = self.out / picture
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.tree / picture, to)
        (self.out / "origins.json").write_text(json.dumps(self.origins))

    def trees(self, contents):
        """The order of the pages, and their parts, as the contents have them."""
        yield "```{toctree}\n:hidden:\n\ncontents\n```\n"
        seen = {"contents"}
        for part in re.split(r"^## ", contents, flags=re.M)[1:]:
            caption, _, body = part.partition("\n")
            pages = [p for p in re.findall(r"\]\(([^):#]+)\.md", body) if not p.startswith("source/")]
            pages = [p for p in dict.fromkeys(pages) if p not in seen]
            seen.update(pages)
            if pages:
                yield f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


if __name__ == "__main__":
    Site(*map(Path, sys.argv[1:])).make()
