#!/bin/sh
# run.sh [PICTURE]: tests pages of traces, and the site of the book, in headless Chromium.  Writes a picture of a page
# to the file PICTURE, if one is named.
set -eu
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
sh tools/need browser
picture=$(readlink -m "${1:-/dev/null}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
./bazelw build //docs:pages //examples:hello //examples:pipeline \
  //tests/browser:failing //tests/browser:handlers //tests/browser:million //tests/browser:versions
bazel-bin/examples/hello --trace="$scratch/hello.html" > "$scratch/hello.txt"
bazel-bin/examples/pipeline --backend=stealing --threads=2 --trace="$scratch/pipeline.html" > /dev/null
bazel-bin/tests/browser/million "$scratch/million.html"
bazel-bin/tests/browser/failing "$scratch/failing.html"
bazel-bin/tests/browser/handlers "$scratch/handlers.html"
bazel-bin/tests/browser/versions "$scratch/versions.html"
cp bazel-bin/docs/pages/*.html "$scratch"
./bazelw run //docs:book -- "$scratch/book"
cp "$here"/package*.json "$here"/*.js "$scratch"
cd "$scratch"
npm ci --no-audit --no-fund --loglevel=error
node page_test.js "$scratch" "$picture"
node book_test.js "$scratch/book"
