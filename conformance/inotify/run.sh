#!/bin/bash
# What Java's DFSInotifyEventInputStream reads of a mixed load from real Hadoop and from Surus must be equal but for transaction ids and times.
# usage: run.sh SURUS PORT [SEED [OPERATIONS]]      Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") port=$2 seed=${3:-1} operations=${4:-300}
d=$(mktemp -d)
export JOPTS=-Xmx256m
stop_all() { for e in java surus; do "$H" stop "$d/$e"; done; sleep 1; rm -rf "$d"; }
trap stop_all EXIT
mkdir "$d/classes"; "$H" conf "$d/java" "$port"; "$H" conf "$d/surus" $((port + 10))
javac -nowarn -d "$d/classes" -cp "$("$H" cp "$d/java")" "$here/Inotify.java" || exit 1
for kind in java surus; do
  # Few events in one answer, so that there are many.
  prop "$d/$kind" dfs.namenode.inotify.max.events.per.rpc 9; prop "$d/$kind" dfs.namenode.safemode.extension 0
  [ $kind = surus ] && export SURUS=$surus
  "$H" format "$d/$kind" > "$d/$kind.format" 2>&1; "$H" nn "$d/$kind"; "$H" dn "$d/$kind"; "$H" ready "$d/$kind" || exit 1
  at=$([ $kind = java ] && echo "$port" || echo $((port + 10)))
  timeout 300 java -Xmx256m -cp "$d/classes:$("$H" cp "$d/$kind")" Inotify "hdfs://127.0.0.1:$at" "$seed" "$operations" > "$d/$kind.txt" 2> "$d/$kind.err"; rc=$?
  check "$kind: the load and its events: $(grep -v -E ' (INFO|WARN) ' "$d/$kind.err" | tail -1)" $rc
  tail -1 "$d/$kind.txt" | grep -qx 'a stream opened before tells the same'; check "$kind: $(tail -1 "$d/$kind.txt")" $?
  ! grep -qE '^(not in order|left behind)$' "$d/$kind.txt"; check "$kind: order of events" $?
  "$H" stop "$d/$kind"; sleep 1
done
diff "$d/java.txt" "$d/surus.txt" > "$d/difference"; check "$(grep -c '^[<>]' "$d/difference") lines differ: $(head -6 "$d/difference" | cut -c1-300)" $([ -s "$d/difference" ] && echo 1 || echo 0)
[ "$(wc -l < "$d/java.txt")" -ge 100 ]; check "only $(wc -l < "$d/java.txt") lines" $?
echo "$(wc -l < "$d/java.txt") lines of events"
summary
