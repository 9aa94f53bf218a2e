#!/bin/sh
# unawaited.sh FILE... [-- FLAG...]: finds in C++ files what compiles and cannot be meant, by clang 19:
#
#   * an operation or a computation of weft that is made and not awaited, even if no attribute has the
#     compiler warn
#   * an operation, derived from weft::op<...>, that is not [[nodiscard]]
#   * a computation that is awaited later, and refers to what is gone by then: the closure of a lambda
#     with captures, a temporary argument, or a parameter of the function that returns it
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
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/query" << 'END'
set output diag
set bind-root false
let eff cxxRecordDecl(hasName("::weft::eff"))
let awaitable cxxRecordDecl(anyOf(isDerivedFrom("::weft::op"), eff))
match expr(unless(isExpansionInSystemHeader()), hasType(hasUnqualifiedDesugaredType(recordType(hasDeclaration(awaitable)))), hasParent(stmt(anyOf(compoundStmt(), ifStmt(), forStmt(), whileStmt(), cxxForRangeStmt())))).bind("not_awaited")
match cxxRecordDecl(unless(isExpansionInSystemHeader()), isDefinition(), isDerivedFrom("::weft::op"), unless(hasAttr("attr::WarnUnusedResult")), unless(hasAncestor(namespaceDecl(hasName("::weft"))))).bind("not_nodiscard")
END
# shellcheck disable=SC2086
clang-query-19 -f "$scratch/query" $files -- -std=c++20 "$@" > "$scratch/said" 2>&1
if grep -E 'error: |Error parsing' "$scratch/said"; then exit 2; fi

# With these attributes clang takes each reference that a coroutine is given as one that its result
# keeps.  They also ask for an attribute at each function that returns an eff and is no coroutine: those
# errors are meant for libraries of coroutines, and left out here.
cat > "$scratch/marked.hpp" << 'END'
namespace weft {
inline namespace [[gnu::abi_tag("v0_1_symmetric")]] v0_1_symmetric {
template <class T, class... Effects>
class [[clang::coro_return_type, clang::coro_lifetimebound]] eff;
}
}  // namespace weft
END
for file in $files; do
  clang++-19 -std=c++20 "$@" -include "$scratch/marked.hpp" -ferror-limit=0 -fsyntax-only "$file" 2>&1
done > "$scratch/marked"
if grep -E 'error: ' "$scratch/marked" | grep -v 'coro_return_type'; then exit 2; fi

{
  sed -nE -e 's/: note: "not_awaited" binds here$/: made, and not awaited: co_await it/p' \
    -e 's/: note: "not_nodiscard" binds here$/: an operation without [[nodiscard]]/p' "$scratch/said"
  sed -nE 's/: warning: .*\[-W(dangling|return-stack-address)\]$/: the computation refers to what is gone when it is awaited/p' \
    "$scratch/marked"
} | sort -u > "$scratch/found"
cat "$scratch/found"
[ ! -s "$scratch/found" ]
