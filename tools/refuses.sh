#!/bin/sh
# refuses.sh DIAGNOSTIC SAYS [deleted]: is the compiler's only error the first line of SAYS, and
# does the diagnostic name what the other lines hold?  Both compilers' wrapping is taken off first:
#   clang  x.cpp:1:2: error: static assertion failed due to requirement 'is_in_row': weft: ...
#   g++    x.cpp:1:2: error: static assertion failed: weft: ...
# deleted: the only error is the compiler's own, of a deleted function; the first line of SAYS is
# the comment behind the declaration, which the compiler shows in a note.
wanted=$(head -n 1 "$2")
said=$(sed -nE 's/^.*error: //p' "$1" |
  sed -E 's/^static assertion failed.*: (weft: )/\1/')

failed=0
if [ "$3" = deleted ]; then
  case $said in
    *"
"*) ;; # two errors
    *deleted*) sed -nE 's|^.*= delete; *// ||p' "$1" | grep -qxF -- "$wanted" && said=$wanted ;;
  esac
fi
if [ "$said" != "$wanted" ]; then
  printf 'expected this error, and no other:\n  %s\n' "$wanted"
  failed=1
fi
tail -n +2 "$2" > "$TEST_TMPDIR/names"
while read -r name; do
  grep -qF -- "$name" "$1" && continue
  printf 'expected the diagnostic to name: %s\n' "$name"
  failed=1
done < "$TEST_TMPDIR/names"
[ "$failed" = 0 ] && exit 0
echo 'the compiler said:'
cat "$1"
exit 1
