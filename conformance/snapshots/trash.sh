#!/bin/bash
# Trash roots of snapshottable directories and ordered deletion on real Hadoop and on Surus, before and after a restart: the texts of TrashRoots.java
# must be equal. Then Hadoop starts on Surus's directory and Surus on Hadoop's, and both dfsadmins say the same.
# usage: trash.sh SURUS DIR
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") dir=$2 port=${PORT:-28900}
hadoop=${HADOOP_SH:-$H}
export JOPTS=-Xmx256m
mkdir -p "$dir/classes"
at() { [ "$1" = java ] && echo "$port" || echo $((port + 10)); }
stop() { "$hadoop" stop "$dir/$1"; for _ in $(seq 100); do (echo > "/dev/tcp/127.0.0.1/$(at "$1")") 2>/dev/null || break; sleep 0.2; done; sleep 1; }
start() { # kind of NameNode, whose directory
  as "$1" "$hadoop" nn "$dir/$2"; for _ in $(seq 100); do (echo > "/dev/tcp/127.0.0.1/$(at "$2")") 2>/dev/null && break; sleep 0.3; done; sleep 2; }
program() { java -Xmx256m -cp "$dir/classes:$("$hadoop" cp "$dir/$1")" TrashRoots "hdfs://127.0.0.1:$(at "$1")" "webhdfs://127.0.0.1:$(($(at "$1") + 1))" "$2" 2>> "$dir/$1.err"; }
trap 'for e in java surus; do "$hadoop" stop "$dir/$e" > /dev/null 2>&1 || true; done' EXIT
for kind in java surus; do
  "$hadoop" conf "$dir/$kind" "$(at $kind)"
  for p in dfs.namenode.snapshot.trashroot.enabled=true dfs.namenode.snapshot.deletion.ordered=true dfs.namenode.snapshot.deletion.ordered.gc.period.ms=4000 fs.trash.interval=60; do
    for file in hdfs core; do sed -i "s|</configuration>|<property><name>${p%=*}</name><value>${p#*=}</value></property></configuration>|" "$dir/$kind/conf/$file-site.xml"; done; done
done
javac -nowarn -d "$dir/classes" -cp "$("$hadoop" cp "$dir/java")" "$here/TrashRoots.java"
for kind in java surus; do
  as $kind "$hadoop" format "$dir/$kind" > "$dir/$kind.format" 2>&1
  start $kind $kind; program $kind first > "$dir/$kind.txt"; stop $kind
  # Each goes on with what the other wrote.
  cp -r "$dir/$kind/name" "$dir/$kind/name.first"
  start $kind $kind; program $kind second >> "$dir/$kind.txt"; stop $kind
done
fail() { echo "$1"; exit 1; }
diff "$dir/java.txt" "$dir/surus.txt" > "$dir/difference.txt" || fail "different: $(grep -c '^[<>]' "$dir/difference.txt") lines, see $dir/difference.txt"
for pair in "java surus" "surus java"; do
  read -r kind whose <<< "$pair"
  rm -rf "$dir/$whose/name"; mv "$dir/$whose/name.first" "$dir/$whose/name"
  start "$kind" "$whose"; program "$whose" second > "$dir/$kind-on-$whose.txt"; stop "$whose"
  diff <(tail -n "$(wc -l < "$dir/$kind-on-$whose.txt")" "$dir/java.txt") "$dir/$kind-on-$whose.txt" > "$dir/difference.txt" || fail "different: $kind on what $whose wrote, see $dir/difference.txt"
done
start surus surus
for tool in java surus; do
  run() { if [ $tool = java ]; then "$hadoop" run "$dir/surus" "$@"; else local class=$1; shift; case $class in *DFSAdmin) set -- dfsadmin "$@";; *) set -- dfs "$@";; esac; HADOOP_CONF_DIR=$dir/surus/conf "$surus" "$@"; fi 2>&1 | grep -v -E ' (INFO|WARN) ' || true; }
  A=org.apache.hadoop.hdfs.tools.DFSAdmin F=org.apache.hadoop.fs.FsShell
  { run $F -mkdir -p /t/d; run $F -touchz /t/d/f; run $A -provisionSnapshotTrash /t; run $A -allowSnapshot /t; run $F -ls -d /t/.Trash; run $A -provisionSnapshotTrash /t
    run $A -provisionSnapshotTrash -all; run $F -rm /t/d/f; run $F -ls -R /t/.Trash; run $A -disallowSnapshot /t; run $F -expunge -immediate; run $F -rm -r -skipTrash /t/.Trash
    run $A -disallowSnapshot /t; run $F -rm -r -skipTrash /t; } | sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/TIME/; s/[0-9]{12}/TIME/; s/^[0-9-]+ [0-9:,]+ //' > "$dir/tool-$tool.txt"
done
stop surus
diff "$dir/tool-java.txt" "$dir/tool-surus.txt" > "$dir/difference.txt" || fail "different: the tools, see $dir/difference.txt"
echo "equal: $(wc -l < "$dir/java.txt") lines of TrashRoots.java, twice more after the name directories changed hands, $(wc -l < "$dir/tool-java.txt") lines of the tools"
