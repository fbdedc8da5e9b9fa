#!/bin/bash
# Rolling upgrade under a NameNode and a DataNode of either kind: what is deleted meanwhile lies in the DataNode's trash, is back after a rollback, and
# gone after the finalization; a writer waits for its only DataNode, which is shut down for an upgrade and started again. Then Surus's name directories:
# -importCheckpoint, -upgrade and Java's dfsadmin -finalizeUpgrade, and one that fails and comes back (dfs.namenode.name.dir.restore): Java starts on each.
# usage: run.sh SURUS PORT       Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") port=$2
top=$(mktemp -d) d=
export JOPTS=-Xmx256m
stop_all() { [ -z "$d" ] || "$H" stop "$d"; sleep 1; rm -rf "$top"; }
trap stop_all EXIT
admin() { HADOOP_CONF_DIR=$d/conf "$surus" dfsadmin "$@" > "$top/out" 2>&1; }
java_admin() { "$H" run "$d" org.apache.hadoop.hdfs.tools.DFSAdmin "$@" > "$top/out" 2>&1; }
conf() { d=$1; "$H" conf "$d" "$port"; prop "$d" dfs.namenode.safemode.extension 0; prop "$d" dfs.heartbeat.interval 1; prop "$d" dfs.namenode.heartbeat.recheck-interval 2000; }
within() { local n=$1; shift; for _ in $(seq "$((n * 5))"); do "$@" && return; sleep 0.2; done; return 1; }
# A daemon is stopped when its process has ended, not before.
end() { local pid; pid=$(cat "$d/$1.pid" 2> /dev/null) || return 0; kill "$pid" 2> /dev/null; within 30 gone "$pid"; rm -f "$d/$1.pid"; }
gone() { ! kill -0 "$1" 2> /dev/null; }
begin() { as "$1" "$H" nn "$d" "${@:3}"; as "$2" "$H" dn "$d" $dn_options; "$H" ready "$d"; }
same() { ours -cat "$1" 2> "$top/err" | cmp -s - "$2"; }
trashed() { [ "$(find "$d"/data/current/BP-*/trash -name 'blk_*' 2> /dev/null | wc -l)" -ge "$1" ]; }
no_trash() { ! compgen -G "$d/data/current/BP-*/trash" > /dev/null && ! compgen -G "$d/data/current/BP-*/RollingUpgradeInProgress" > /dev/null; }
prepare() { admin -safemode enter && admin -rollingUpgrade prepare && grep -q 'Proceed with rolling upgrade' "$top/out" && within 20 compgen -G "$d/data/current/BP-*/RollingUpgradeInProgress" > /dev/null; }
head -c 3000000 /dev/urandom > "$top/a"; head -c 70000 /dev/urandom > "$top/b"; dn_options=
for pair in "java surus" "surus java" "surus surus"; do
  read -r namenode datanode <<< "$pair"; at="$namenode NameNode, $datanode DataNode"
  conf "$top/$namenode-$datanode"; as "$namenode" "$H" format "$d" > "$top/out" 2>&1
  begin "$namenode" "$datanode"; check "$at: start" $?
  ours -put "$top/a" /a && ours -put "$top/b" /b; check "$at: files" $?
  prepare; check "$at: prepare: $(tail -1 "$top/out")" $?
  ours -rm -skipTrash /a > /dev/null && ours -put "$top/a" /new; within 30 trashed 2; check "$at: a deleted replica goes to the trash" $?
  (cd "$d"/data/current/BP-*/trash && find . -name 'blk_*') | grep -qx './finalized/subdir0/subdir0/blk_1073741825'; check "$at: the trash has the layout of current" $?
  end dn; end nn; begin "$namenode" "$datanode" -rollingUpgrade started; check "$at: restart with -rollingUpgrade started" $?
  admin -rollingUpgrade query && grep -q 'Proceed with rolling upgrade' "$top/out"; check "$at: the upgrade goes on: $(tail -1 "$top/out")" $?
  trashed 2; check "$at: the trash outlives a restart" $?
  end dn; end nn; dn_options=-rollback; begin "$namenode" "$datanode" -rollingUpgrade rollback; check "$at: rollback" $?; dn_options=
  within 30 same /a "$top/a"; check "$at: what was deleted is back: $(tail -1 "$top/err")" $?
  same /b "$top/b"; check "$at: the other file" $?
  ! ours -test -e /new; check "$at: what came after the mark is gone" $?
  ! compgen -G "$d/data/current/BP-*/trash" > /dev/null; check "$at: no trash after the rollback" $?
  # The NameNode gives its block's id to the next file: the replica must have gone by then, and Hadoop looks at full reports other than the first only.
  left() { ! find "$d/data" -path '*/finalized/*' -name 'blk_1073741827*' | grep -q .; }
  admin -triggerBlockReport "127.0.0.1:$((port + 4))"; within 60 left; check "$at: so is its replica: $(tail -1 "$top/out")" $?
  prepare; check "$at: prepare again: $(tail -1 "$top/out")" $?
  ours -rm -skipTrash /b > /dev/null; within 30 trashed 2; check "$at: trash again" $?
  admin -rollingUpgrade finalize && grep -q 'Rolling upgrade is finalized' "$top/out"; check "$at: finalize: $(tail -1 "$top/out")" $?
  within 30 no_trash; check "$at: finalized: trash and mark are gone" $?
  for writer in java surus; do
    [ "$namenode $writer" = "java surus" ] && continue
    put() { if [ $writer = java ]; then "$H" fs "$d" -put - "$1"; else ours -put - "$1"; fi; }
    (head -c 2000000 "$top/a"; while [ ! -e "$top/go-on" ]; do sleep 0.1; done; tail -c +2000001 "$top/a") | put "/written-$writer" 2> "$top/err" & w=$!
    written() { [ -n "$(find "$d"/data -path '*/rbw/*' -name 'blk_*' ! -name '*.meta' -size +500k)" ]; }
    within 60 written; check "$at: $writer writes" $?
    pid=$(cat "$d/dn.pid"); admin -shutdownDatanode "127.0.0.1:$((port + 4))" upgrade; check "$at: -shutdownDatanode upgrade: $(tail -1 "$top/out")" $?
    within 30 gone "$pid"; check "$at: the DataNode has ended" $?
    compgen -G "$d/data/current/BP-*/current/rbw:.blk_*.restart" > /dev/null; check "$at: the note for the restart" $?
    as "$datanode" "$H" dn "$d"; touch "$top/go-on"; wait $w; rc=$?; rm "$top/go-on"; check "$at: $writer waits for the DataNode: $(tail -1 "$top/err" | cut -c1-200)" $rc
    within 20 same "/written-$writer" "$top/a"; check "$at: what $writer wrote: $(tail -1 "$top/err")" $?
  done
  end dn; end nn; grep -E ' (FATAL) ' "$d/dn.log"; check "$at: no fatal error" $((! $?))
done
# --- Name directories. d: that of the last pair, Surus's.
listing() { within 60 ours -ls / > /dev/null 2>&1; ours -ls -R / 2> "$top/err" | awk '{print $1, $3, $4, $5, $8}' > "$top/$1"; [ -s "$top/$1" ]; }
java_shows() { "$H" nn "$d"; listing java && cmp -s "$top/java" "$top/before"; local rc=$?; end nn; return $rc; }
SURUS=$surus "$H" nn "$d"; listing before; admin -safemode leave; ours -mkdir /more; listing before; check "name directory: listing" $?; end nn
mkdir -p "$d/checkpoint"; mv "$d/name/current" "$d/checkpoint/"; rm -rf "$d/name"; prop "$d" dfs.namenode.checkpoint.dir "file://$d/checkpoint"
SURUS=$surus "$H" nn "$d" -importCheckpoint; listing imported && cmp -s "$top/imported" "$top/before"; check "-importCheckpoint: $(tail -1 "$d/nn.log" | cut -c1-200)" $?; end nn
java_shows; check "Java on what -importCheckpoint made" $?
SURUS=$surus "$H" nn "$d" -upgrade; listing upgraded && [ -d "$d/name/previous" ]; check "-upgrade keeps previous" $?
java_admin -finalizeUpgrade; grep -q 'Finalize upgrade successful' "$top/out" && [ ! -d "$d/name/previous" ]; check "Java's dfsadmin -finalizeUpgrade: $(tail -1 "$top/out")" $?; end nn
java_shows; check "Java on what was upgraded and finalized" $?
sed -i "s|<value>file://$d/name</value>|<value>file://$d/name,file://$d/second</value>|" "$d/conf/hdfs-site.xml"; prop "$d" dfs.namenode.name.dir.restore true; cp -r "$d/name" "$d/second"
SURUS=$surus "$H" nn "$d"; listing two; check "two name directories" $?
mv "$d/second" "$d/away"; touch "$d/second"; admin -safemode leave; admin -rollEdits; ours -mkdir /without
grep -q "$d/second is no longer written" "$d/nn.log"; check "a name directory that fails is reported" $?
rm "$d/second"; mkdir "$d/second"; admin -safemode enter; java_admin -saveNamespace; grep -q 'Save namespace successful' "$top/out"; check "saveNamespace: $(tail -1 "$top/out")" $?
compgen -G "$d/second/current/fsimage_*[0-9]" > /dev/null; check "the directory is back, with an image" $?
admin -safemode leave; ours -mkdir /with; listing before; end nn
mv "$d/name" "$d/gone"; sed -i "s|file://$d/name,file://$d/second|file://$d/second|" "$d/conf/hdfs-site.xml"; java_shows; check "Java on the directory that came back" $?
d=; summary
