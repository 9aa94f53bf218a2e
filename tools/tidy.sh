#!/bin/sh
# tidy.sh [FOLDER...]: clang-tidy (.clang-tidy) over each folder of the library, or those, as one file, since the
# standard headers take longer than the folder.
# Without the headers of libraries that Debian lacks, or that clash with others (Boost.Asio, with Asio).
# tidy.sh analyzer: only its analyzer, over each source file: in one file it joins paths that no program has.
# Objects with fields that are set later are as they should be.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sources() { git ls-files "$1/*.cpp"; }
only=
if [ "${1-}" = analyzer ]; then
  only=analyzer
  shift
fi
[ $# != 0 ] || set -- adapters cluster deque durable effects io sched testing trace
for folder; do
  if [ "$only" = analyzer ]; then
    sources "$folder" | sed 's/^/-*,clang-analyzer-*,-clang-analyzer-optin.performance.Padding,-clang-analyzer-optin.cplusplus.UninitializedObject /'
  else
    {
      git ls-files "$folder/*.hpp" | grep -Ev "boost_asio|catch2_v3|stdexec" | sed 's|.*|#include "weft/&"|'
      sources "$folder" | sed 's|.*|#include "&"|'
    } > "$scratch/$folder.cpp"
    echo "-clang-analyzer-*,-bugprone-suspicious-include $scratch/$folder.cpp"
  fi
done > "$scratch/work"
xargs -P "$(nproc)" -n 2 sh -c \
  'clang-tidy-19 --quiet --config-file=.clang-tidy --checks="$1" "$2" -- -std=c++20 -Iinclude -I.' \
  tidy < "$scratch/work"
