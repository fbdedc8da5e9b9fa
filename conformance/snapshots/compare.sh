#!/bin/bash
# Random operations with snapshots on real Hadoop and on Surus; the texts of Snapshots.java must be equal.
# usage: compare.sh SURUS DIR [SEED [SEQUENCES [OPERATIONS]]]: DIR takes both clusters and the texts
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
surus=$1 dir=$2 seed=${3:-1} sequences=${4:-20} operations=${5:-60} port=${PORT:-28800}
hadoop=${HADOOP_SH:-$here/../hadoop.sh}
export JOPTS=-Xmx256m
# ORDERED=true: snapshots are deleted in order, and marked before it is their turn.
ordered() { sed -i "s|</configuration>|<property><name>dfs.namenode.snapshot.deletion.ordered</name><value>${ORDERED:-false}</value></property></configuration>|" "$1/conf/hdfs-site.xml"; }
mkdir -p "$dir/classes"
"$hadoop" conf "$dir/java" "$port"; ordered "$dir/java"
javac -nowarn -d "$dir/classes" -cp "$("$hadoop" cp "$dir/java")" "$here/Snapshots.java"
run() { # name, port
  "$hadoop" format "$dir/$1" > "$dir/$1.format" 2>&1
  "$hadoop" nn "$dir/$1"
  for _ in $(seq 100); do (echo > "/dev/tcp/127.0.0.1/$2") 2>/dev/null && break; sleep 0.3; done
  sleep 1
  java -Xmx256m -cp "$dir/classes:$("$hadoop" cp "$dir/$1")" Snapshots "hdfs://127.0.0.1:$2" "$seed" "$sequences" "$operations" \
    > "$dir/$1.txt" 2> "$dir/$1.err" || { "$hadoop" stop "$dir/$1"; tail -5 "$dir/$1.err"; exit 1; }
  "$hadoop" stop "$dir/$1"
}
run java "$port"
"$hadoop" conf "$dir/surus" $((port + 10)); ordered "$dir/surus"
SURUS=$surus run surus $((port + 10))
if diff "$dir/java.txt" "$dir/surus.txt" > "$dir/difference.txt"; then
  echo "equal: seed $seed, $sequences sequences of $operations operations, $(wc -l < "$dir/java.txt") lines"
else
  echo "different: $(grep -c '^[<>]' "$dir/difference.txt") lines, see $dir/difference.txt"; exit 1
fi
