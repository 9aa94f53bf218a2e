#!/bin/sh
# refuses.sh DIAGNOSTIC PROGRAM: fails unless the compiler's only error for PROGRAM is the one that the
# head of PROGRAM announces, and the diagnostic has every text that the head names.  The head:
#
#   /// Refused:
#   ///   weft: the message, which
#   ///   may have several lines
#   /// Naming: a text somewhere in the diagnostic
#
# A head with "Refused by a deleted function:" expects an error in the compiler's own words; the
# message is then the comment behind the declaration, which the compiler shows in a note.
#
# Each compiler's wrapping of the message is stripped first:
#   clang  x.cpp:1:2: error: static assertion failed due to requirement 'is_in_row': weft: ...
#   g++    x.cpp:1:2: error: static assertion failed: weft: ...
head=$(sed -n '/^\/\/\/ Refused/,/^$/p' "$2")
wanted=$(printf '%s\n' "$head" | sed -n 's|^///   ||p' | tr '\n' ' ' | sed 's/ $//')
printf '%s\n' "$head" | sed -n 's|^/// Naming: ||p' > "$TEST_TMPDIR/names"
said=$(sed -nE 's/^.*error: //p' "$1" |
  sed -E 's/^static assertion failed.*: (weft: )/\1/')

failed=0
if [ -z "$wanted" ]; then
  echo "$2 does not announce a message"
  failed=1
fi
case $head in
  '/// Refused by a deleted function:'*)
    case $said in
      *"
"*) ;; # two errors
      *deleted*) sed -nE 's|^.*= delete; *// ||p' "$1" | grep -qxF -- "$wanted" && said=$wanted ;;
    esac
    ;;
esac
if [ "$said" != "$wanted" ]; then
  printf 'expected this error, and no other:\n  %s\n' "$wanted"
  failed=1
fi
while read -r name; do
  grep -qF -- "$name" "$1" && continue
  printf 'expected the diagnostic to name: %s\n' "$name"
  failed=1
done < "$TEST_TMPDIR/names"
[ "$failed" = 0 ] && exit 0
echo 'the compiler said:'
cat "$1"
exit 1
