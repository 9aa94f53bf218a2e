#!/usr/bin/env python3
"""Checks the links of a site that lie within it.

    check_links.py DIR      prints `page: link` for each that leads nowhere, or to an anchor that is not there
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.update(attrs[a] for a in ("id", "name") if attrs.get(a))
        self.links += [attrs[a] for a in ("href", "src") if attrs.get(a)]


def broken_links(site):
    # Pages on which a run is stepped through have links of their own making.
    pages = {f: Page(f) for f in site.rglob("*.html") if f.parent.name != "pages" or f.parent.parent != site}
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not to.exists():
                yield file, link
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].anchors:
                yield file, link


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    broken = [f"{file.relative_to(folder)}: {link}" for file, link in broken_links(folder)]
    sys.exit("\n".join(broken) or 0)
