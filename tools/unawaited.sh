#!/bin/sh
# unawaited.sh FILE... [-- FLAG...]: finds in C++ files what compiles and cannot be meant, by clang-query 19:
#
#   * an operation, a computation or another awaitable of weft that is made and not awaited, even if
#     no attribute has the compiler warn
#   * an operation, derived from weft::op<...>, that is not [[nodiscard]]
#   * a temporary lambda with captures that is a coroutine, whose computation is not awaited in the
#     same expression: the computation refers to the captures, and they are gone
#
# The flags are those that the files are compiled with.  Prints each finding; exits 1 if there is one.
files=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  files="$files $1"
  shift
done
[ "${1-}" = -- ] && shift
if [ -z "$files" ]; then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
query=$(mktemp)
said=$(mktemp)
trap 'rm -f "$query" "$said"' EXIT
cat > "$query" << 'END'
set output diag
set bind-root false
let eff cxxRecordDecl(hasName("::weft::eff"))
let awaitable cxxRecordDecl(anyOf(isDerivedFrom("::weft::op"), eff))
let captures lambdaExpr(hasAnyCapture(lambdaCapture()))
let closure expr(anyOf(captures, hasDescendant(captures)))
let run callExpr(callee(functionDecl(hasName("::weft::run"))))
match expr(unless(isExpansionInSystemHeader()), hasType(hasUnqualifiedDesugaredType(recordType(hasDeclaration(awaitable)))), hasParent(stmt(anyOf(compoundStmt(), ifStmt(), forStmt(), whileStmt(), cxxForRangeStmt())))).bind("not_awaited")
match cxxRecordDecl(unless(isExpansionInSystemHeader()), isDefinition(), isDerivedFrom("::weft::op"), unless(hasAttr("attr::WarnUnusedResult")), unless(hasAncestor(namespaceDecl(hasName("::weft"))))).bind("not_nodiscard")
match cxxOperatorCallExpr(unless(isExpansionInSystemHeader()), hasType(hasUnqualifiedDesugaredType(recordType(hasDeclaration(eff)))), hasArgument(0, closure), unless(hasAncestor(expr(anyOf(coawaitExpr(), run))))).bind("closure_is_gone")
END
# shellcheck disable=SC2086
clang-query-19 -f "$query" $files -- -std=c++20 "$@" > "$said" 2>&1
if grep -E 'error: |Error parsing' "$said"; then exit 2; fi
sed -nE -e 's/: note: "not_awaited" binds here$/: made, and not awaited: co_await it/p' \
  -e 's/: note: "not_nodiscard" binds here$/: an operation without [[nodiscard]]/p' \
  -e 's/: note: "closure_is_gone" binds here$/: the coroutine refers to a closure that ends with this expression/p' \
  "$said" | sort -u > "$query"
cat "$query"
[ ! -s "$query" ]
