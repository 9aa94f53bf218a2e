#!/bin/sh
# tools/release.sh DIR: writes the source archive of the commit that is checked out,
# DIR/weft-VERSION.tar.gz, and prints its SHA-256.
#
# The same commit gives the same bytes.  Unpacked, it needs no git: the README's commands run in it.
out=$(cd "${1:?usage: tools/release.sh DIR}" && pwd) || exit
cd "$(dirname "$0")/.." || exit
if [ -n "$(git status --porcelain)" ]; then
  echo 'weft: some files differ from the commit; commit them, or put them aside' >&2
  exit 1
fi
version=$(sed -n 's/^#define WEFT_VERSION_[A-Z]* \([0-9]*\)$/\1/p' effects/version.hpp | paste -sd .)
git archive --prefix="weft-$version/" -o "$out/weft-$version.tar.gz" HEAD &&
  cd "$out" && sha256sum "weft-$version.tar.gz"
