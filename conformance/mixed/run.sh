#!/bin/bash
# Surus and Java daemons in one cluster: pipelines of three over both kinds of DataNode in every order, one of them killed in the middle of a write,
# and block recovery after the writer is killed, led by each kind, under a NameNode of either kind.
# usage: run.sh SURUS PORT surus|java KIND KIND KIND      kind of the NameNode, then of each DataNode: surus or java
# Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") port=$2 namenode=$3; shift 3
kinds=("$@")
d=$(mktemp -d)
export JOPTS=-Xmx256m
stop_all() { for e in "$d"/dn* "$d"/nn; do [ -d "$e" ] && "$H" stop "$e"; done; sleep 1; rm -rf "$d"; }
trap stop_all EXIT
node() { "$H" conf "$1" "$2"; sed -i "s|hdfs://127.0.0.1:[0-9]*|hdfs://127.0.0.1:$port|" "$1/conf/core-site.xml"
  prop "$1" dfs.namenode.safemode.extension 0; prop "$1" dfs.namenode.heartbeat.recheck-interval 2000; prop "$1" dfs.heartbeat.interval 1
  # Where so little is written, a write or two make a DataNode look twice as busy as the others.
  prop "$1" dfs.namenode.redundancy.considerLoad false
  prop "$1" dfs.client.block.write.replace-datanode-on-failure.best-effort true; }
node "$d/nn" "$port"; as "$namenode" "$H" format "$d/nn" > "$d/format.log" 2>&1; as "$namenode" "$H" nn "$d/nn"
for i in "${!kinds[@]}"; do node "$d/dn$i" $((port + 10 * (i + 1))); as "${kinds[$i]}" "$H" dn "$d/dn$i"; done
live() { curl -s "http://127.0.0.1:$((port + 1))/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState" | tr -d ' ' | sed -n 's/.*"NumLiveDataNodes":\([0-9]*\).*/\1/p'; }
for _ in $(seq 120); do [ "$(live)" = "${#kinds[@]}" ] && break; sleep 0.5; done
[ "$(live)" = "${#kinds[@]}" ] || { echo "only $(live) DataNodes are live"; tail -3 "$d"/*/*.log; exit 1; }
fs() { java -Xmx256m -cp "$d/nn/conf:${HADOOP_PEER:-/tmp/hadoop-peer}/3.5.0/target/client/*" org.apache.hadoop.fs.FsShell -D dfs.replication=3 "$@"; }
ours() { HADOOP_CONF_DIR=$d/nn/conf "$surus" dfs -D dfs.replication=3 "$@"; }
head -c 30000000 /dev/urandom > "$d/data"; sum=$(md5sum < "$d/data")
same() { [ "$(cat | md5sum)" = "$sum" ]; }
# Waits until FILE is being written and part of it lies on every DataNode: a JVM takes its time to start.
begun() { for _ in $(seq 240); do ours -test -e "$1" 2> /dev/null && [ "$(find "$d"/dn*/data -path '*/rbw/*' -name 'blk_*' ! -name '*.meta' -size +4M -newer "$d/mark" | wc -l)" -ge "${#kinds[@]}" ] && return; sleep 0.25; done; return 1; }
orders() { printf '%s\n' "${kinds[@]}" | python3 -c 'import itertools, sys; print(*sorted({" ".join(p) for p in itertools.permutations(sys.stdin.read().split())}), sep="\n")'; }
transfer_ports=(); for i in "${!kinds[@]}"; do transfer_ports+=("$((port + 10 * (i + 1) + 2))=${kinds[$i]}"); done
note_order() { python3 "$here/pipeline.py" "${transfer_ports[@]}" >> "$d/orders"; }
# Starts writing FILE with WRITER, waits until its first half lies on every DataNode, and lets it wait.
half_written() { touch "$d/mark"
  (head -c 15000000 "$d/data"; while [ ! -e "$d/go-on" ]; do sleep 0.1; done; tail -c +15000001 "$d/data") | $1 -put - "$2" 2> "$d/err" & w=$!
  begun "$2._COPYING_"; check "$1 writes to all DataNodes" $?; note_order; }
written() { touch "$d/go-on"; wait $w; rc=$?; rm "$d/go-on"; return $rc; }
for writer in fs ours; do
  $writer -put "$d/data" "/whole-$writer" 2> "$d/err"; check "$writer -put to ${kinds[*]}" $?
  for reader in fs ours; do $reader -cat "/whole-$writer" 2> "$d/err" | same; check "$reader -cat of $writer" $?; done
done
[ "$(fs -checksum /whole-fs 2> /dev/null | cut -f2-)" = "$(ours -checksum /whole-fs | cut -f2-)" ]; check "checksums of both clients" $?
for i in "${!kinds[@]}"; do # each DataNode in turn dies while a file is written
  for writer in fs ours; do
    half_written $writer "/killed-$i-$writer"
    kill -9 "$(cat "$d/dn$i/dn.pid")"; written; check "$writer -put while DataNode $i (${kinds[$i]}) is killed: $(tail -1 "$d/err" | cut -c1-200)" $?
    fs -cat "/killed-$i-$writer" 2> "$d/err" | same; check "what was written by $writer while DataNode $i was killed" $?
    # The NameNode may not have missed it yet, so that counting the live is not enough.
    as "${kinds[$i]}" "$H" dn "$d/dn$i"; for _ in $(seq 120); do curl -sf -o /dev/null "http://127.0.0.1:$((port + 10 * (i + 1) + 3))/jmx" && break; sleep 0.5; done; sleep 3; for _ in $(seq 60); do [ "$(live)" = "${#kinds[@]}" ] && break; sleep 0.5; done
  done
done
n=0 # the NameNode chooses the order: once more until each was there
while [ "$(sort -u "$d/orders")" != "$(orders)" ] && [ $((n += 1)) -le 30 ]; do half_written ours "/order-$n"; written; check "order $n: $(tail -1 "$d/err")" $?; ours -rm -skipTrash "/order-$n" > /dev/null; done
[ "$(sort -u "$d/orders")" = "$(orders)" ]; rc=$?; check "pipelines in every order: $(sort "$d/orders" | uniq -c | tr '\n' ';')" $rc
# Kinds of the DataNodes that led a recovery, by their logs.
leaders() { for i in "${!kinds[@]}"; do grep -q "recovered BP-\|BlockRecoveryWorker: .*calls recoverBlock" "$d/dn$i"/*.log && echo "${kinds[$i]}"; done | sort -u; }
n=0 # the writer dies; whoever the NameNode chooses leads the recovery: once more until each kind did
while [ $((n += 1)) -le 4 ] || { [ "$(leaders)" != "$(printf '%s\n' "${kinds[@]}" | sort -u)" ] && [ "$n" -le 24 ]; }; do
  touch "$d/mark"
  (head -c 15000000 "$d/data"; while [ ! -e "$d/go-on" ]; do sleep 0.1; done) | java -Xmx256m -cp "$d/nn/conf:${HADOOP_PEER:-/tmp/hadoop-peer}/3.5.0/target/client/*" org.apache.hadoop.fs.FsShell -D dfs.replication=3 -put - "/orphan-$n" 2> /dev/null & w=$!
  begun "/orphan-$n._COPYING_"; check "writer $n writes to all DataNodes" $?; pkill -9 -f "put - /orphan-$n"; touch "$d/go-on"; wait $w 2> /dev/null; rm "$d/go-on"
  "$H" run "$d/nn" org.apache.hadoop.hdfs.tools.DebugAdmin recoverLease -path "/orphan-$n._COPYING_" -retries 10 > "$d/err" 2>&1; rc=$?; check "recoverLease $n: $(tail -1 "$d/err")" $rc
  ours -cat "/orphan-$n._COPYING_" > "$d/orphan" 2> "$d/err"; check "reading recovered file $n" $?
  cmp -n "$(stat -c %s "$d/orphan")" "$d/orphan" "$d/data"; check "bytes of recovered file $n" $?
done
[ "$(leaders)" = "$(printf '%s\n' "${kinds[@]}" | sort -u)" ]; rc=$?; check "recoveries led by: $(leaders | tr '\n' ' ')" $rc
summary
