"""How Sphinx makes the site.  docs/decisions/027-book.md says why it is Sphinx."""

import json
import os
from pathlib import Path

SOURCES = Path(os.environ["WEFT_BOOK_SOURCES"])
TREE = os.environ["WEFT_BOOK_TREE"]  # a folder, or an address under which the tree's files are found

project = "weft"
extensions = ["myst_parser"]
templates_path = [str(Path(__file__).parent / "templates")]
html_static_path = [str(Path(__file__).parent / "static")]
html_extra_path = [os.environ["WEFT_BOOK_EXTRA"]]
html_css_files, html_js_files = ["book.css", "sheet.css"], ["book.js"]
html_theme = "furo"
html_title = "weft"
html_theme_options = {"top_of_page_button": "edit"}
html_show_sphinx = html_copy_source = html_show_sourcelink = False
html_use_index = False
html_show_search_summary = False  # the browser would have to read other pages, which it may not from a disk
highlight_language = "text"
pygments_style, pygments_dark_style = "tango", "monokai"
myst_heading_anchors = 4


def edit_link(app, page, template, context, doctree):
    """Each page has a link to the file that it is made of."""
    file = json.loads((SOURCES / "origins.json").read_text()).get(page)
    if file and "://" in TREE:
        context["edit_link"] = f"{TREE}/{file}"
    elif file:
        at = Path(app.outdir, page).parent
        context["edit_link"] = os.path.relpath(Path(TREE, file), at)


def setup(app):
    app.connect("html-page-context", edit_link)
