#!/bin/sh
# catch2_v3.sh DIR: weft/testing/catch2_v3.hpp with Catch2 3, whose source tree is DIR: catch2_reports.cpp
# must print what it prints with Catch2 2.  It is run by hand, since Debian 12 has Catch2 2 only.
set -eu
catch2=$1
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake -S "$catch2" -B "$scratch/catch2" -DCATCH_INSTALL_DOCS=OFF > /dev/null
{
  echo '#line 1 "tests/testing/catch2_reports.cpp"'
  sed 's|catch2/catch.hpp|catch2/catch_all.hpp|; s|testing/catch2.hpp|testing/catch2_v3.hpp|' tests/testing/catch2_reports.cpp
} > "$scratch/reports.cpp"
for part in 'deque effects sched' trace testing; do
  # shellcheck disable=SC2086
  find $part -name '*.cpp' | sed "s|.*|#include \"$PWD/&\"|" > "$scratch/weft_${part%% *}.cpp"
done
cp "$catch2/extras/catch_amalgamated.cpp" "$scratch/main.cpp"
${CXX:-clang++-19} -std=c++20 -DWEFT_SILENCE_GCC12 -Iinclude -isystem "$catch2/src" \
  -isystem "$scratch/catch2/generated-includes" -isystem "$catch2/extras" \
  "$scratch"/*.cpp -o "$scratch/reports" -pthread

# Versions print lines of their own about the run.
comparable() { grep -vE '^Randomness seeded|host application' | sed '/./,$!d'; }
"$scratch/reports" | comparable > "$scratch/printed"
comparable < tests/testing/catch2_reports.expected | diff - "$scratch/printed"
echo "$catch2: as with Catch2 2"
