#!/bin/sh
# arrows_test.sh PATHS: fails if a dependency goes the wrong way; PATHS is one that does.
[ -s "$1" ] || exit 0
echo 'these depend on one another, the wrong way round:'
cat "$1"
exit 1
