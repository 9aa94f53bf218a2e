#!/bin/sh
# ./bazelw run //:install -- --prefix=DIR [FLAG...]: installs weft.
#
# Headers, static and shared libraries, the CMake package, files for pkg-config, and the licence, by
# CMakeLists.txt.  CXX names the compiler, which must be that of the programs (docs/packages.md).
# Flags, such as -DCMAKE_BUILD_TYPE=Debug, go to cmake.
prefix=
case "$1" in
  --prefix=?*) prefix=${1#--prefix=} ;;
  *)
    echo 'usage: ./bazelw run //:install -- --prefix=DIR [FLAG...]' >&2
    exit 2
    ;;
esac
shift
tree=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "${BUILD_WORKING_DIRECTORY:-.}" && mkdir -p "$prefix" && prefix=$(cd "$prefix" && pwd) || exit
(cd "$tree" && sh tools/need install) || exit

build=$(mktemp -d) || exit
trap 'rm -rf "$build"' EXIT
for shared in OFF ON; do
  # A static library may become part of a shared one.
  cmake -S "$tree" -B "$build/$shared" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_MESSAGE=NEVER "$@" -DBUILD_SHARED_LIBS=$shared &&
    cmake --build "$build/$shared" --parallel "$(nproc)" &&
    cmake --install "$build/$shared" || exit
done
echo "weft is installed in $prefix"
