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
compress=     # -DCOLLAPSE: a third of the memory, for states of 500 bytes

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
    compile="-DSAFETY $compress" run=
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
mail_defect() { text=$1 name=$2; shift 2; found "$text" mail safe "-DSCENARIO=$name" "$@"; }
defect() { text=$1 how=$2 name=$3; shift 3; found "$text" sharing "$how" "-DSCENARIO=$name" "$@"; }
workers() { name=$1; shift; holds workers safe "-DSCENARIO=$name" "$@"; }
workers_defect() { text=$1 name=$2; shift 2; found "$text" workers safe "-DSCENARIO=$name" "$@"; }
parking_defect() { text=$1 name=$2; shift 2; found "$text" parking safe "-DSCENARIO=$name" "$@"; }

case ${1:-models} in
  models)
    for name in SPAWNING BUSY MAIL BATCH; do scenario safe "$name"; done
    for name in SPAWNING BUSY MAIL BATCH VISITS PING_PONG; do scenario live "$name"; done
    for name in RECEIVING BOUNDED SELECTING GATED; do holds mail safe "-DSCENARIO=$name"; done
    holds mail live -DSCENARIO=SELECTING -DWAITS=2
    holds mail live -DSCENARIO=GATED -DTIME=0
    holds stealing safe -DTHIEVES=1 -DITEMS=5 -DSTEALS=3
    holds stealing safe -DFIFO -DTHIEVES=1 -DITEMS=5 -DSTEALS=3
    holds stealing safe -DHALF_AT_ONCE -DITEMS=3  # half of them is one
    for name in SPAWNING BUSY WAITING OUTSIDE BATCH RELAY; do
      holds parking safe "-DSCENARIO=$name"
      holds parking live "-DSCENARIO=$name"
    done
    for name in SPAWNING BUSY BATCH; do
      holds parking safe "-DSCENARIO=$name" -DASYMMETRIC
    done
    holds mail safe -DSCENARIO=BOUNDED -DCANCEL=1 -DWAITS=2
    optimise=-O2
    holds stealing safe
    holds stealing safe -DFIFO -DSTEALS=1
    holds stealing safe -DASYMMETRIC
    holds queues safe
    for name in OUTSIDE STUCK CANCELLED RELAY; do scenario safe "$name"; done
    scenario live STUCK
    for name in SELECTING GATED; do
      holds mail safe "-DSCENARIO=$name" -DCANCEL=1 -DWAITS=2
    done
    compress=-DCOLLAPSE
    workers RUNNING
    workers SEVERAL -DMISJUDGED=0
    workers SEVERAL -DGONE=0 -DSTEPS=1
    workers MAIL -DLEAVES=0
    workers MAIL -DMISJUDGED=0
    workers SENDING -DMISJUDGED=0
    workers THREE -DMISJUDGED=0
    workers ERRORS -DMISJUDGED=0 -DLEAVES=0
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
    mail_defect 'assertion violated ( !(owed[p])&&(got[p]==' GATED -DPLAIN_TOKEN
    mail_defect 'assertion violated !(timed[p])' RECEIVING -DSTAYS_ON_HEAP
    mail_defect 'assertion violated ((receiver[0]!=p)&&(receiver[1]!=p))' SELECTING -DSTAYS_IN_BOX
    mail_defect 'assertion violated (pointed_at[p]==0)' RECEIVING -DOFF_FIRST
    mail_defect 'invalid end state' SELECTING -DPUT_LOCKED
    mail_defect 'invalid end state' GATED -DBACK_TO_GATE
    mail_defect 'assertion violated !(holding)' SELECTING -DNESTED
    mail_defect 'invalid end state' RECEIVING -DCOUNT_FIRST
    mail_defect 'invalid end state' SELECTING -DCOUNT_FIRST
    mail_defect 'assertion violated ((q_len(ring[0])==0)&&(q_len(ring[1])==0))' SELECTING -DHALF_WAY
    mail_defect 'invalid end state' SELECTING -DWAITS=2 -DLOOK_APART
    mail_defect 'assertion violated ((q_len(ring[0])==0)&&(q_len(ring[1])==0))' BOUNDED -DFULL_APART
    mail_defect 'invalid end state' BOUNDED -DLOOKS_FIRST
    mail_defect 'invalid end state' BOUNDED -DNO_SECOND_LOOK
    mail_defect 'assertion violated (begun==0)' RECEIVING -DCLOSED_APART
    mail_defect 'invalid end state' GATED -DEPOCH_FIRST
    mail_defect 'invalid end state' GATED -DCANCEL=1 -DWALKS_ONCE
    found 'assertion violated (taken[x]==1)' stealing safe -DTHIEVES=1 -DSTEALS=1 -DHALF_AT_ONCE
    found 'assertion violated (taken[x]==1)' stealing safe -DTHIEVES=1 -DLOOKS_ONCE
    found 'assertion violated (taken[x]==1)' stealing safe -DLOOKS_FIRST
    found 'assertion violated (taken[got[i]]==1)' stealing safe -DBOTTOM_FIRST
    found 'assertion violated (taken[got[i]]==1)' stealing safe -DARRAY_FIRST
    found 'assertion violated (taken[x]==1)' stealing safe -DREADS_LATE
    for name in NO_FENCE FENCE_FIRST; do
      found 'assertion violated (taken[x]==1)' stealing safe -DASYMMETRIC "-D$name"
    done
    for name in FREES_ARRAY PUBLISHES_FIRST; do
      found 'assertion violated (got[i]!=255)' stealing safe "-D$name"
      found 'assertion violated (got[i]!=255)' stealing safe -DFIFO -DSTEALS=1 "-D$name"
    done
    for name in ARRAY_FIRST READS_LATE; do
      found 'assertion violated (taken[got[i]]==1)' stealing safe -DFIFO -DSTEALS=1 "-D$name"
    done
    parking_defect 'invalid end state' BUSY -DNOT_PUBLISHED
    parking_defect 'invalid end state' BUSY -DASYMMETRIC -DNO_FENCE
    parking_defect 'invalid end state' BUSY -DLOOKS_FIRST
    parking_defect 'invalid end state' BUSY -DANNOUNCES_LATE
    parking_defect 'invalid end state' BUSY -DNO_SECOND_LOOK
    parking_defect 'invalid end state' OUTSIDE -DQUIET_LEFT
    parking_defect 'invalid end state' BATCH -DQUIET_BATCH
    parking_defect 'assertion violated (life[p]==5)' WAITING -DNO_FLAG
    parking_defect 'assertion violated (alive==0)' WAITING -DFLAG_UNSEEN
    parking_defect 'assertion violated !(put_[p])' RELAY -DPUT_BY_BOTH
    compress=-DCOLLAPSE
    workers_defect 'assertion violated !((done[q]&(1<<writes[1].first)))' RUNNING -DNO_FENCE
    workers_defect 'invalid end state' MAIL -DLEAVES=0 -DNO_OWNER
    workers_defect 'invalid end state' MAIL -DLEASE_WITHOUT_FENCE
    workers_defect 'assertion violated ((told_of[j]==15)||(told_of[j]==0))' RUNNING \
      -DACK_BEFORE_APPEND
    workers_defect 'assertion violated !(has_sent[0])' MAIL -DNO_NUMBERS
    workers_defect 'invalid end state' RUNNING -DNO_NUMBERS
    workers_defect 'assertion violated !(writes[0].unseen)' RUNNING -DEXPIRE_UNSEEN
    workers_defect 'invalid end state' RUNNING -DCLAIM_STAYS
    workers_defect 'invalid end state' RUNNING -DQUIET_DISOWN
    workers_defect 'invalid end state' MAIL -DOVER_MAIL
    for name in UNTOLD LOST_UNTOLD LOADS_FIRST; do
      workers_defect 'invalid end state' MAIL -DLEAVES=0 "-D$name"
    done
    for name in LATE_UNTOLD JOINS_AS_BEFORE; do
      workers_defect 'invalid end state' ERRORS -DMISJUDGED=0 -DLEAVES=0 "-D$name"
    done
    ;;
  *)
    echo "verify.sh: models or defects, not $1" >&2
    exit 2
    ;;
esac
exit $bad
