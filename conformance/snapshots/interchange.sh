#!/bin/bash
# What Surus wrote with snapshots under real Hadoop, and back: after random operations on Surus and saveNamespace, Hadoop
# starts on the name directory and shows the same; it saves, and Surus starts again and shows the same.
# usage: interchange.sh SURUS DIR [SEED [SEQUENCES [OPERATIONS]]]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
surus=$1 dir=$2 seed=${3:-1} sequences=${4:-20} operations=${5:-60} port=${PORT:-28840}
hadoop=${HADOOP_SH:-$here/../hadoop.sh}
export JOPTS=-Xmx256m
# ORDERED=true: snapshots are deleted in order, and marked before it is their turn.
ordered() { sed -i "s|</configuration>|<property><name>dfs.namenode.snapshot.deletion.ordered</name><value>${ORDERED:-false}</value></property></configuration>|" "$1/conf/hdfs-site.xml"; }
mkdir -p "$dir/classes"
"$hadoop" conf "$dir/c" "$port"; ordered "$dir/c"
javac -nowarn -d "$dir/classes" -cp "$("$hadoop" cp "$dir/c")" "$here/Snapshots.java"
wait_for() { for _ in $(seq 100); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.3; done; sleep 1; }
snapshots() { java -Xmx256m -cp "$dir/classes:$("$hadoop" cp "$dir/c")" Snapshots "hdfs://127.0.0.1:$port" "$seed" "$sequences" "$1" 2>> "$dir/err"; }
stop() { "$hadoop" stop "$dir/c"; for _ in $(seq 100); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null || break; sleep 0.2; done; sleep 1; }
save() {
  for word in "-safemode enter" -saveNamespace "-safemode leave"; do
    "$hadoop" run "$dir/c" org.apache.hadoop.hdfs.tools.DFSAdmin $word >> "$dir/err" 2>&1
  done
}
trap '"$hadoop" stop "$dir/c" > /dev/null 2>&1 || true' EXIT
SURUS=$surus "$hadoop" format "$dir/c" > "$dir/format" 2>&1
SURUS=$surus "$hadoop" nn "$dir/c"; wait_for
snapshots "$operations" > /dev/null; snapshots 0 > "$dir/1-surus.txt"; save; stop
"$hadoop" nn "$dir/c"; wait_for
snapshots 0 > "$dir/2-java.txt"; save; stop
SURUS=$surus "$hadoop" nn "$dir/c"; wait_for
snapshots 0 > "$dir/3-surus.txt"
cmp "$dir/1-surus.txt" "$dir/2-java.txt"
cmp "$dir/2-java.txt" "$dir/3-surus.txt"
echo "equal: $(wc -l < "$dir/1-surus.txt") lines from Surus, from Hadoop on Surus's image, and from Surus on Hadoop's"
