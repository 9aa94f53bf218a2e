#!/bin/sh
# ./bazelw run //docs:book [-- [--edit=URL] [DIR]]: makes the site of the book in DIR, by default .cache/book of the tree.
# ./bazelw run //docs:prose [-- ...]: the same text, without the pages on which programs are stepped through, for which
# each program would be compiled.
#
# It needs no network, and no server: a browser opens DIR/index.html.  "Edit" leads to a page's file: in this tree, or
# below URL.
set -eu
tree=${BUILD_WORKSPACE_DIRECTORY:-$PWD}
edit=$tree
out=$tree/.cache/book
for word; do
  case "$word" in
    --edit=*) edit=${word#--edit=} ;;
    /*) out=$word ;;
    *) out=${BUILD_WORKING_DIRECTORY:-$PWD}/$word ;;
  esac
done
sh "$tree/tools/need" book
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/extra/pages"
# In the folder of runfiles of Bazel; the text alone has none.
if [ -d docs/pages ]; then cp docs/pages/*.html docs/recipes/pages/*.html "$scratch/extra/pages"; fi
python3 "$tree/docs/book/make_sources.py" "$tree" "$scratch/extra/pages" "$scratch/sources"
python3 -B "$tree/docs/reference/make.py" "$scratch/sources/reference"
WEFT_BOOK_SOURCES=$scratch/sources WEFT_BOOK_TREE=$edit WEFT_BOOK_EXTRA=$scratch/extra \
  sphinx-build -q -W --keep-going -j auto -c "$tree/docs/book" -d "$scratch/doctrees" "$scratch/sources" "$out"
# Debian's furo is not bundled: it has a style from a web server's folder, and imports a script.
static=$out/_static
cp /usr/share/javascript/normalize.css/normalize.css "$static/styles"
sed -i 's|/javascript/normalize.css/normalize.css|normalize.css|' "$static/styles/furo.css"
sed '/^import /d' "$static/scripts/furo.js" | cat "$static/scripts/gumshoe-patched.js" - > "$scratch/furo.js"
mv "$scratch/furo.js" "$static/scripts/furo.js"
python3 "$tree/docs/book/check_links.py" "$out"
echo "$out/index.html"
