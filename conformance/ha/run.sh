#!/bin/bash
# `surus dfs` and a Surus DataNode in a nameservice of two Java NameNodes (edits in a shared directory): the active changes places, is killed,
# both while nothing happens and while a file is written. FsShell does the same beside it.
# usage: run.sh SURUS PORT       Uses PORT to PORT+34. Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") port=$2 d=$(mktemp -d)
export JOPTS="-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
trap 'for e in "$d"/nn1 "$d"/nn2 "$d"/java "$d"/ours; do "$H" stop "$e"; done; sleep 1; rm -rf "$d"' EXIT
node() { # NAME PORT
  local e=$d/$1; "$H" conf "$e" "$2"; sed -i "s|hdfs://127.0.0.1:[0-9]*|hdfs://ns1|" "$e/conf/core-site.xml"
  prop "$e" dfs.nameservices ns1; prop "$e" dfs.ha.namenodes.ns1 nn1,nn2
  prop "$e" dfs.namenode.rpc-address.ns1.nn1 "localhost:$port"; prop "$e" dfs.namenode.rpc-address.ns1.nn2 "localhost:$((port + 10))"
  prop "$e" dfs.namenode.http-address.ns1.nn1 "127.0.0.1:$((port + 1))"; prop "$e" dfs.namenode.http-address.ns1.nn2 "127.0.0.1:$((port + 11))"
  prop "$e" dfs.namenode.shared.edits.dir "file://$d/shared"; prop "$e" dfs.ha.fencing.methods 'shell(/bin/true)'
  prop "$e" dfs.client.failover.proxy.provider.ns1 org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider
  prop "$e" dfs.ha.log-roll.period 1; prop "$e" dfs.ha.tail-edits.period 1; prop "$e" dfs.namenode.safemode.extension 0
  prop "$e" dfs.heartbeat.interval 1; prop "$e" dfs.namenode.heartbeat.recheck-interval 2000
  sed -i 's|<name>dfs.replication</name><value>1|<name>dfs.replication</name><value>2|' "$e/conf/hdfs-site.xml"; }
node nn1 "$port"; node nn2 $((port + 10)); node java $((port + 20)); node ours $((port + 30))
prop "$d/nn1" dfs.ha.namenode.id nn1; prop "$d/nn2" dfs.ha.namenode.id nn2
http() { case $1 in nn1) echo $((port + 1));; *) echo $((port + 11));; esac; }
bean() { curl -s "http://127.0.0.1:$(http "$1")/jmx?qry=Hadoop:service=NameNode,name=$2" | tr -d ' ' | sed -n "s/.*\"$3\":\"*\([^,\"]*\).*/\1/p"; }
await() { local what=$1 want=$2; shift 2; for _ in $(seq 120); do [ "$("$@")" = "$want" ] && return; sleep 0.5; done; echo "$what: $("$@"), not $want"; return 1; }
run() { "$H" run "$d/nn1" "$@"; }
haadmin() { run org.apache.hadoop.hdfs.tools.DFSHAAdmin "$@" >> "$d/haadmin.log" 2>&1; }
start() { "$H" nn "$d/$1"; await "state of $1" standby bean "$1" NameNodeStatus State; await "DataNodes of $1" "${2:-2}" bean "$1" FSNamesystemState NumLiveDataNodes; }
fs() { java $JOPTS -cp "$d/nn1/conf:${HADOOP_PEER:-/tmp/hadoop-peer}/3.5.0/target/client/*" org.apache.hadoop.fs.FsShell "$@"; }
ours() { HADOOP_CONF_DIR=$d/nn1/conf timeout 300 "$surus" dfs "$@"; }

"$H" format "$d/nn1" > "$d/format.log" 2>&1 || { tail -3 "$d/format.log"; exit 1; }
"$H" nn "$d/nn1"; await "state of nn1" standby bean nn1 NameNodeStatus State || { tail -5 "$d/nn1/nn.log"; exit 1; }
"$H" run "$d/nn2" org.apache.hadoop.hdfs.server.namenode.NameNode -bootstrapStandby -nonInteractive > "$d/bootstrap.log" 2>&1 || { tail -5 "$d/bootstrap.log"; exit 1; }
"$H" dn "$d/java"; SURUS=$surus "$H" dn "$d/ours"
haadmin -transitionToActive --forceactive nn1; check "nn1 becomes active" $?
start nn2; check "both DataNodes, Java's and ours, report to both NameNodes" $?
await "DataNodes of nn1" 2 bean nn1 FSNamesystemState NumLiveDataNodes; await "nn1" Operational bean nn1 FSNamesystemState FSState

# The configuration, as both read it.
ln -s "$surus" "$d/hdfs"
for option in -nnRpcAddresses -namenodes "-confKey dfs.ha.namenodes.ns1" -secondaryNameNodes -journalNodes; do
  [ "$(run org.apache.hadoop.hdfs.tools.GetConf $option 2> /dev/null)" = "$("$d/hdfs" --config "$d/nn1/conf" getconf $option 2> /dev/null)" ]; check "getconf $option" $?
done

head -c 6000000 /dev/urandom > "$d/data"; sum=$(md5sum < "$d/data")
same() { [ "$(cat | md5sum)" = "$sum" ]; }
# Each client writes, reads what it and the other wrote, lists and deletes. All that was written before is still there.
works() { # WHEN
  local when=$1 writer reader
  for writer in ours fs; do
    $writer -mkdir "/$when-$writer" 2> "$d/err"; check "$when: $writer -mkdir: $(tail -1 "$d/err")" $?
    $writer -put "$d/data" "/$when-$writer/f" 2> "$d/err"; check "$when: $writer -put: $(tail -1 "$d/err")" $?
    for reader in ours fs; do $reader -cat "/$when-$writer/f" 2> "$d/err" | same; check "$when: $reader -cat of $writer's file: $(tail -1 "$d/err")" $?; done
  done
  diff <(ours -ls -R / 2> /dev/null) <(fs -ls -R / 2> /dev/null) > "$d/diff"; check "$when: -ls -R of both: $(head -3 "$d/diff")" $?
  for order in true false; do ours -D dfs.client.failover.random.order=$order -test -e "/$when-ours/f"; check "$when: order $order" $?; done
  for path in /*-ours/f; do ours -cat "$path" > "$d/all" 2> "$d/err"; check "$when: everything reads: $(tail -1 "$d/err")" $?; done
  ours -mkdir /gone && ours -put "$d/data" /gone/f && ours -rm -r -skipTrash /gone > "$d/out" 2>&1; check "$when: ours -rm: $(tail -1 "$d/out")" $?
  [ "$(cat "$d/out")" = "Deleted /gone" ]; check "$when: what -rm prints" $?
}
replicas() { find "$d/$1/data" -path '*/finalized/*' -name 'blk_*' ! -name '*.meta' | wc -l; }
works first
haadmin -transitionToStandby nn1 && haadmin -transitionToActive nn2; check "nn2 becomes active" $?
works changed
# What the first active had not yet told the DataNodes to delete, the second learns from a full report: two files of each round are left.
for ipc in 24 34; do HADOOP_CONF_DIR=$d/nn1/conf "$surus" dfsadmin -triggerBlockReport "127.0.0.1:$((port + ipc))" > "$d/out" 2>&1; check "-triggerBlockReport: $(tail -1 "$d/out")" $?; done
for e in ours java; do await "replicas of the DataNode $e" 4 replicas $e; check "the DataNode $e deletes what the new active says" $?; done
kill -9 "$(cat "$d/nn2/nn.pid")"; haadmin -transitionToActive --forceactive nn1; check "nn1 becomes active after nn2 was killed" $?
works killed
start nn2; check "nn2 comes back" $?

# Writes that are on their way while the active changes.
slowly() { (head -c 3000000 "$d/data"; while [ ! -e "$d/go-on" ]; do sleep 0.1; done; tail -c +3000001 "$d/data") | "$1" -put - "$2" 2> "$d/err"; }
begun() { for _ in $(seq 240); do [ -n "$(find "$d/ours/data" -path '*/rbw/*' -name 'blk_*' ! -name '*.meta' -size +2M -newer "$d/mark")" ] && return; sleep 0.25; done; return 1; }
during() { # NAME WRITER CHANGE...
  local name=$1 writer=$2; shift 2; touch "$d/mark"; rm -f "$d/go-on"; slowly "$writer" "/$name" & local w=$!
  begun; check "$name is being written" $?
  "$@"; check "$name: the active changes" $?
  touch "$d/go-on"; wait $w; check "$name: $writer -put: $(tail -1 "$d/err")" $?
  for reader in ours fs; do $reader -cat "/$name" 2> "$d/err2" | same; check "$name: $reader -cat: $(tail -1 "$d/err2")" $?; done
}
to_nn2() { haadmin -transitionToStandby nn1 && haadmin -transitionToActive nn2; }
nn2_dies() { kill -9 "$(cat "$d/nn2/nn.pid")"; haadmin -transitionToActive --forceactive nn1; }
for writer in ours fs; do
  during "put-over-a-change-$writer" $writer to_nn2
  during "put-over-a-kill-$writer" $writer nn2_dies
  start nn2; check "nn2 comes back" $?
done
# One listing waits for a NameNode that becomes active while it tries.
haadmin -transitionToStandby nn1; (sleep 3; haadmin -transitionToActive nn2) & ours -ls / > "$d/out" 2> "$d/err"; check "-ls waits for an active: $(tail -1 "$d/err")" $?; wait
# Only our DataNode is left.
"$H" stop "$d/java"; await "DataNodes of nn2" 1 bean nn2 FSNamesystemState NumLiveDataNodes
for reader in ours fs; do $reader -cat /put-over-a-kill-fs 2> "$d/err" | same; check "$reader -cat from our DataNode alone: $(tail -1 "$d/err")" $?; done
summary
