#!/bin/sh
# take.sh HOW WEFT: fails unless a project outside of this tree can take weft by HOW.
#
# Builds minimal.cpp, testing.cpp, io.cpp and durable.cpp in a directory of their own, and compares what they
# print with NAME.expected.  WEFT is a prefix that weft is installed in (static, shared, pkg_config),
# a tree (subdirectory, meson, by_hand), or an archive of tools/release.sh (fetched, bazel).  CXX names the compiler.
set -eu
how=$1
weft=$(readlink -f "$2")
here=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch/project"
cd "$scratch/project"
cp "$here"/*.cpp "$here"/*.expected .
: "${CXX:=c++}"
export CXX

# with_cmake FLAG...
with_cmake() {
  cp "$here/cmake/CMakeLists.txt" .
  cmake -S . -B . "$@"
  cmake --build . --parallel "$(nproc)"
}
# compiles PROGRAM FLAG...
compiles() { "$CXX" -std=c++20 -DWEFT_SILENCE_GCC12 "$1.cpp" -o "$@"; }
# shared_libraries: how many shared libraries of weft the program needs.
shared_libraries() { readelf -d minimal | grep -c 'NEEDED.*\[libweft\.so\.' || true; }

# builds HOW WEFT: by Bazel, without a server that stays.
builds() {
  sed "s|WEFT|$2|; s|VERSION|$version|" "$here/bazel/$1.WORKSPACE" > WORKSPACE
  CC=$CXX bazel-4 --batch --output_base="$scratch/bazel" build --repository_cache= \
    --spawn_strategy=local //...
}

case $how in
  static)
    with_cmake -DHOW=find_package -DCMAKE_PREFIX_PATH="$weft"
    [ "$(shared_libraries)" = 0 ]
    ;;
  shared)
    with_cmake -DHOW=find_package -DCMAKE_PREFIX_PATH="$weft" -DBUILD_SHARED_LIBS=ON
    [ "$(shared_libraries)" = 1 ]
    ;;
  pkg_config)
    export PKG_CONFIG_PATH="$weft/lib/pkgconfig" LD_LIBRARY_PATH="$weft/lib"
    for program in minimal:weft testing:weft-testing io:weft-io durable:weft-durable; do
      compiles ${program%:*} $(pkg-config --cflags --libs ${program#*:})
    done
    ;;
  subdirectory | fetched)
    [ $how = fetched ] || how=add_subdirectory
    with_cmake -DHOW=$how -DWEFT="$weft"
    cmake --install . --prefix installed
    [ "$(ls installed)" = bin ]
    ;;
  meson)
    cp "$here/meson/meson.build" .
    mkdir subprojects
    ln -s "$weft" subprojects/weft
    meson setup build
    meson compile -C build
    ln -s build/minimal build/testing build/io build/durable .
    ;;
  bazel)
    cp "$here/bazel/.bazelrc" .
    cp "$here/bazel/consumer.BUILD" BUILD
    mkdir "$scratch/tree"
    tar -xf "$weft" -C "$scratch/tree"
    version=$(ls "$scratch/tree")
    builds local "$scratch/tree/$version"
    builds http "$weft"
    ln -s bazel-bin/minimal bazel-bin/testing bazel-bin/io bazel-bin/durable .
    ;;
  by_hand)
    for part in 'deque effects sched' trace testing io durable; do
      (cd "$weft" && find $part -name '*.cpp') | sed 's/.*/#include "&"/' |
        "$CXX" -std=c++20 -DWEFT_SILENCE_GCC12 -I"$weft/include" -I"$weft" -x c++ -c - -o "${part##* }.o"
    done
    for program in minimal testing io durable; do
      compiles $program -I"$weft/include" sched.o trace.o testing.o io.o durable.o -lsqlite3 -pthread
    done
    ;;
  *)
    echo "$0: not a way to take weft: $how" >&2
    exit 2
    ;;
esac
for program in minimal testing io durable; do
  "./$program" > printed
  diff -u $program.expected printed
done
