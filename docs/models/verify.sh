#!/bin/sh
# verify.sh [models]: SPIN searches every state of every scenario; none may break what the models
# assert, and no search may be cut short.
# verify.sh defects: with one mistake built in, SPIN must find it, and in the form expected here.
# What the scenarios and the mistakes are: README.md.
models=$(cd "$(dirname "$0")" && pwd) || exit 1
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/models.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
bad=0
optimise=-O0  # gcc takes longer than most searches; -O2 pays from a million states on

# search MODEL HOW FLAGS...: leaves what SPIN says in ./said; fails unless it could begin.
# HOW is `safe` (assertions, end states) or `live` (progress too, each thread being run for ever).
search() {
  model=$1 how=$2
  shift 2
  rm -f pan* said
  if [ "$how" = live ]; then
    set -- -DLIVE "$@"
    compile= run='-a -f'
  else
    compile=-DSAFETY run=
  fi
  spin -a "$@" "$models/$model.pml" > said 2>&1 &&
    gcc -w $optimise $compile -DMEMLIM=2900 -o pan pan.c > said 2>&1 || return 1
  ./pan -m2000000 $run > said 2>&1
}

cut_short='not completed|depth too small|truncated|out of memory|-DMEMLIM|VECTORSZ'

# report VERDICT NAME...: one line.
report() {
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' said)
  seconds=$(sed -n 's/.*elapsed time \([0-9.]*\) seconds.*/\1/p' said)
  verdict=$1
  shift
  printf '%-6s  %9s states  %6s s  %s\n' "$verdict" "${states:-?}" "${seconds:-?}" "$*"
}

# holds MODEL HOW FLAGS...
holds() {
  if search "$@" && grep -q 'errors: 0$' said && ! grep -Eq "$cut_short" said; then
    report holds "$@"
  else
    report FAILS "$@"
    cat said
    bad=1
  fi
}

# found TEXT MODEL HOW FLAGS...: with the mistake that FLAGS build in, SPIN finds TEXT.
found() {
  text=$1
  shift
  search "$@"
  if grep -q 'errors: 1$' said && tr -s ' ' < said | grep -Fq "pan:1: $text"; then
    report found "$@: $text"
  else
    report MISSED "$@: $text"
    cat said
    bad=1
  fi
}

scenario() { how=$1 name=$2; shift 2; holds sharing "$how" "-DSCENARIO=$name" "$@"; }
defect() { text=$1 how=$2 name=$3; shift 3; found "$text" sharing "$how" "-DSCENARIO=$name" "$@"; }

case ${1:-models} in
  models)
    for name in SPAWNING BUSY MAIL BATCH; do scenario safe "$name"; done
    for name in SPAWNING BUSY MAIL BATCH VISITS PING_PONG; do scenario live "$name"; done
    optimise=-O2
    holds queues safe
    for name in OUTSIDE STUCK CANCELLED RELAY; do scenario safe "$name"; done
    scenario live STUCK
    ;;
  defects)
    found 'assertion violated (state[x]==2)' queues safe -DD1
    found 'assertion violated (owner[k]==q)' queues safe -DD2
    found 'assertion violated (state[k]==3)' queues safe -DD3
    defect 'assertion violated (state[p]==2)' safe MAIL -DD1
    defect 'assertion violated ok' safe MAIL -DD2
    defect 'assertion violated (state[p]==2)' safe MAIL -DD3
    defect 'acceptance cycle' live SPAWNING -DD4
    defect 'acceptance cycle' live BUSY -DD5
    defect 'invalid end state' safe OUTSIDE -DD6
    defect 'invalid end state' safe OUTSIDE -DD7
    defect 'invalid end state' safe BUSY -DD8
    defect 'invalid end state' safe BUSY -DD8B
    defect 'acceptance cycle' live PING_PONG -DD9
    defect 'assertion violated ((state[k]==4)&&(mail[k]==0))' safe MAIL -DNO_SPIN
    defect 'assertion violated !(executing[p])' safe MAIL -DPUBLISHED_EARLY
    defect 'assertion violated ( !(ready[k])&& !(executing[k]))' safe OUTSIDE -DDUE_FIRST
    defect 'invalid end state' safe OUTSIDE -DDUE_APART
    defect 'assertion violated (left<2)' safe OUTSIDE -DWAKE_LATE
    defect 'invalid end state' safe OUTSIDE -DNESTED
    defect 'assertion violated (due==0)' safe OUTSIDE -DSTALE_DRY
    defect 'invalid end state' safe BATCH -DQUIET_SHARE
    defect 'acceptance cycle' live BUSY -DROBBED
    defect 'acceptance cycle' live VISITS -DNO_VISITS
    ;;
  *)
    echo "verify.sh: models or defects, not $1" >&2
    exit 2
    ;;
esac
exit $bad
