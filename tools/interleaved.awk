# interleaved.awk PROCESSES PRINTED: is what was printed an interleaving of what the processes print?
# PROCESSES has the lines of one after those of the other, with an empty line in between.  A line that
# two of them print would leave open whose it is.
BEGIN { processes = 1 }
FNR == NR && $0 == "" { ++processes; next }
FNR == NR {
  if ($0 in owner && owner[$0] != processes) refuse("two processes print: " $0)
  owner[$0] = processes
  line[processes, ++length_of[processes]] = $0
  next
}
!($0 in owner) { refuse("nobody prints: " $0) }
{
  p = owner[$0]
  if (line[p, ++at[p]] != $0) refuse("process " p " prints this out of its order: " $0)
}
END {
  if (refused) exit 1
  for (p = 1; p <= processes; ++p)
    if (at[p] != length_of[p]) {
      print "process " p " should go on with: " line[p, at[p] + 1]
      exit 1
    }
}
function refuse(why) {
  print why
  refused = 1
  exit 1
}
