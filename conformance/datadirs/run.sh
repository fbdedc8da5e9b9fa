#!/bin/bash
# A Surus DataNode on the data directories of a Java 3.5.0 DataNode that was killed, restarted, or stopped (crates/datanode/tests/data), under a Surus
# NameNode on the name directory of the same cluster; then Java's DataNode on what ours left, then ours again. Every time every file has the bytes that
# lie in the block files as Java wrote them; open files keep what was flushed, and their leases are recovered.
# usage: run.sh SURUS PORT       Last line: "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd); H=$here/../hadoop.sh samples=$here/../../crates/datanode/tests/data
surus=$(readlink -f "$1") port=$2
top=$(mktemp -d) passed=0 failed=0 d=
export JOPTS=-Xmx256m
stop_all() { [ -z "$d" ] || "$H" stop "$d"; sleep 1; rm -rf "$top"; }
trap stop_all EXIT
check() { if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1"; fi; }
ours() { HADOOP_CONF_DIR=$d/conf "$surus" dfs "$@"; }
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
  sed -i 's|</configuration>|<property><name>dfs.namenode.safemode.extension</name><value>0</value></property><property><name>dfs.heartbeat.interval</name><value>1</value></property></configuration>|' "$d/conf/hdfs-site.xml"
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
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
