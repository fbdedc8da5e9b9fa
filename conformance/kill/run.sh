#!/bin/bash
# Every acknowledged mkdirs is an OP_MKDIR that Java reads: Hadoop's NNThroughputBenchmark makes distinct directories, the NameNode is killed with
# SIGKILL, and Java's OfflineEditsViewer counts them in the segments that are left; then it is killed again and again in the middle of the load.
# usage: run.sh SURUS PORT [ROUNDS]       Last line: "N passed, N failed".
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$1 port=$2 rounds=${3:-5} count=20000
d=$(mktemp -d); nn=
trap '[ -z "$nn" ] || kill -9 "$nn" 2> /dev/null; wait 2> /dev/null; rm -rf "$d"' EXIT
tools=org.apache.hadoop.hdfs.tools
"$H" conf "$d" "$port"
export HADOOP_CONF_DIR=$d/conf JOPTS=-Xmx256m
prop "$d" dfs.namenode.safemode.extension 0
"$surus" namenode -format -nonInteractive > "$d/format.log" 2>&1
start() {
  "$surus" namenode >> "$d/nn.log" 2>&1 & nn=$!
  for _ in $(seq 100); do "$surus" dfs -ls / > /dev/null 2>&1 && return; sleep 0.1; done
  tail -5 "$d/nn.log"; exit 1
}
# A killed process is waited for here, so that the shell does not print what became of it.
kill_nn() { kill -9 "$nn"; wait "$nn" 2> /dev/null || true; nn=; }
mkdirs() { "$H" run "$d" org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark -op mkdirs -threads 32 -dirs "$1" -keepResults -nonSuperUser 2>&1; }
edits() { find "$d" -name 'edits_*' -type f | sort; }
# All segments through Java; the paths of OP_MKDIR, one a line.
read_by_java() {
  : > "$d/paths"
  for segment in $(edits); do
    "$H" run "$d" $tools.offlineEditsViewer.OfflineEditsViewer -p xml -i "$segment" -o "$d/edits.xml" > "$d/oev.log" 2>&1 || { tail -3 "$d/oev.log"; return 1; }
    sed -n '/<OPCODE>OP_MKDIR</,/<\/RECORD>/s:.*<PATH>\(.*\)</PATH>.*:\1:p' "$d/edits.xml" >> "$d/paths"
  done
}
# Directories below the benchmark's own that no other one lies in: what mkdirs was called for.
leaves() { awk '/^\/nnThroughputBenchmark\// { all[$0] = 1; p = $0; sub(/\/[^\/]*$/, "", p); above[p] = 1 } END { for (p in all) if (!(p in above)) n++; print n + 0 }' "$d/paths"; }
all_are_there() { [ "$(leaves)" = "$count" ] && [ "$(sort "$d/paths" | uniq -d | wc -l)" = 0 ]; }

start
"$surus" dfs -chmod 777 /
acknowledged=$(mkdirs "$count" | sed -n 's/.*# operations: //p' | tail -1)
try "acknowledged: $acknowledged of $count" test "$acknowledged" = "$count"
kill_nn
try "Java reads the log" read_by_java
try "OP_MKDIR of $(leaves) directories, $count were acknowledged" all_are_there
echo "$acknowledged acknowledged, $(leaves) OP_MKDIR of distinct directories"
for round in $(seq "$rounds"); do
  start
  "$surus" dfs -rm -r -skipTrash /nnThroughputBenchmark > /dev/null 2>&1 || true
  mkdirs 1000000 > "$d/load.log" & load=$!
  sleep $((3 + round % 3))
  kill_nn
  pkill -9 -P "$load" 2> /dev/null || true; kill -9 "$load" 2> /dev/null || true; wait "$load" 2> /dev/null || true
  try "round $round: Java reads the log" read_by_java
done
start; try "the last start" "$surus" dfs -ls / > /dev/null; kill_nn
summary
