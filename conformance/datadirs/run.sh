#!/bin/bash
# A Surus DataNode on the data directories of a Java 3.5.0 DataNode that was killed, restarted, or stopped (crates/datanode/tests/data), under a Surus
# NameNode on the name directory of the same cluster; then Java's DataNode on what ours left, then ours again. Every time every file has the bytes that
# lie in the block files as Java wrote them; open files keep what was flushed, and their leases are recovered.
# Then the directories of a 2.7.3 cluster (layout -56): upgraded, changed, rolled back, upgraded again, finalized, and handed to Java 3.5.0.
# usage: run.sh SURUS PORT       Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"; samples=$here/../../crates/datanode/tests/data
surus=$(readlink -f "$1") port=$2
top=$(mktemp -d) d=
export JOPTS=-Xmx256m
stop_all() { [ -z "$d" ] || "$H" stop "$d"; sleep 1; rm -rf "$top"; }
trap stop_all EXIT
live() { curl -s "http://127.0.0.1:$((port + 1))/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState" | tr -d ' ' | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
start_datanode() { # surus|java BLOCKS, which the NameNode is to count: those of closed files
  if [ "$1" = surus ]; then SURUS=$surus "$H" dn "$d"; else "$H" dn "$d"; fi
  for _ in $(seq 240); do [ "$(curl -s "http://127.0.0.1:$((port + 1))/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo" | tr -d ' \\' | grep -o '"numBlocks":[0-9]*' | cut -d: -f2)" = "$2" ] && return; sleep 0.25; done
  echo "no $2 blocks from the $1 DataNode: $(tail -2 "$d/dn.log")"; return 1; }
stop_datanode() { local pid; pid=$(cat "$d/dn.pid"); kill "$pid"; while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done; }
bytes_of() { local b; for b in "$@"; do find "$top/original/$state" -name "$b" -exec cat {} +; done; }
check_files() { # KIND PATTERN
  while IFS=$'\t' read -r path length _ blocks; do
    local names=(); for b in $(tr '\t' '\n' <<< "$blocks" | cut -d' ' -f1); do names+=("${b%_*}"); done
    [ "${path#/rbw/}" = "$path" ] || $2 || continue
    ours -cat "$path" > "$top/got" 2> "$top/err" && [ "$(stat -c %s "$top/got")" = "$length" ] && cmp -s "$top/got" <(bytes_of "${names[@]}"); rc=$?
    check "$state, $1 DataNode: $path: $(tail -1 "$top/err")" $rc
  done < "$here/data/files.tsv"; }
for state in data-killed data-restarted data-stopped; do
  d=$top/$state; "$H" conf "$d" "$port"; mkdir "$top/original" 2> /dev/null; tar xzf "$samples/$state.tar.gz" -C "$top/original"; cp -r "$top/original/$state" "$d/data"
  tar xzf "$here/data/name-killed.tar.gz" -C "$d"; mv "$d/name-killed" "$d/name"
  prop "$d" dfs.namenode.safemode.extension 0; prop "$d" dfs.heartbeat.interval 1
  # After a recovery, which data-stopped has behind it, the NameNode of name-killed knows three blocks by older stamps: not theirs to read.
  open=true first=23; [ "$state" = data-stopped ] && open=false first=26
  SURUS=$surus "$H" nn "$d"; start_datanode surus $first; check "$state: all replicas are reported" $?
  check_files surus false
  if $open; then
    for path in /rbw/appending /rbw/hflushed-100000 /rbw/hsynced-crc32-1000; do
      "$H" run "$d" org.apache.hadoop.hdfs.tools.DebugAdmin recoverLease -path "$path" -retries 20 > "$top/err" 2>&1; rc=$?; check "$state: recoverLease $path: $(tail -1 "$top/err")" $rc
    done
    check_files surus true
  fi
  for kind in java surus; do
    stop_datanode; start_datanode $kind 26; check "$state: the $kind DataNode starts on what the other left" $?
    check_files $kind $open; grep -E ' (ERROR|FATAL) ' "$d/dn.log"; check "$state: the $kind DataNode logs no error" $((! $?))
  done
  "$H" stop "$d"; sleep 2; d=
done
# --- 2.7.3
d=$top/data-2.7.3; "$H" conf "$d" "$port"; tar xzf "$samples/data-2.7.3.tar.gz" -C "$d"
tar xzf "$here/../../crates/journal/tests/data/name-2.7.3.tar.gz" -C "$d"; [ -d "$d/name" ] || mv "$d/name-2.7.3" "$d/name"
prop "$d" dfs.namenode.safemode.extension 0; prop "$d" dfs.heartbeat.interval 1
file=/user/root/p pool=$(echo "$d"/data/current/BP-*); find "$d/data" -name 'blk_1073741825' -exec cp {} "$top/block" \;
same() { ours -cat $file > "$top/got" 2> "$top/err" && cmp -s "$top/got" "$1"; }
SURUS=$surus "$H" nn "$d" -upgrade; start_datanode surus 1; check "2.7.3: its block is reported" $?
same "$top/block"; check "2.7.3: $file under Surus: $(tail -1 "$top/err")" $?
[ -d "$pool/previous" ]; check "2.7.3: the state before the upgrade is kept" $?
echo more | ours -appendToFile - $file 2> "$top/err"; cat "$top/block" <(echo more) > "$top/longer"; same "$top/longer"; check "2.7.3: appended: $(tail -1 "$top/err")" $?
cmp -s "$top/block" "$(find "$pool/previous" -name blk_1073741825)"; check "2.7.3: the append is not in what is kept" $?
"$H" stop "$d"; sleep 1
echo Y | HADOOP_CONF_DIR=$d/conf "$surus" namenode -rollback > "$top/err" 2>&1; check "2.7.3: namenode -rollback: $(tail -1 "$top/err")" $?
SURUS=$surus "$H" nn "$d" -upgrade
HADOOP_CONF_DIR=$d/conf nohup "$surus" datanode -rollback > "$d/dn.out" 2> "$d/dn.log" < /dev/null & echo $! > "$d/dn.pid"
for _ in $(seq 100); do same "$top/block" && break; sleep 0.3; done; same "$top/block"; check "2.7.3: $file as before the append: $(tail -1 "$top/err")" $?
HADOOP_CONF_DIR=$d/conf "$surus" dfsadmin -finalizeUpgrade > "$top/err" 2>&1; HADOOP_CONF_DIR=$d/conf "$surus" dfsadmin -triggerBlockReport "127.0.0.1:$((port + 4))" >> "$top/err" 2>&1
for _ in $(seq 100); do [ -d "$pool/previous" ] || break; sleep 0.2; done; [ ! -d "$pool/previous" ]; check "2.7.3: finalized: $(tail -1 "$top/err")" $?
"$H" stop "$d"; sleep 2
"$H" nn "$d"; start_datanode java 1; check "2.7.3: Java 3.5.0 starts on what Surus upgraded" $?
same "$top/block"; check "2.7.3: $file under Java: $(tail -1 "$top/err")" $?
grep -E ' (ERROR|FATAL) ' "$d/dn.log"; check "2.7.3: Java's DataNode logs no error" $((! $?))
"$H" stop "$d"; sleep 1; d=
summary
