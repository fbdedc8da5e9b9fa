#!/bin/bash
# HBase's write-ahead log on any HDFS of three DataNodes: WALPerformanceEvaluation writes from several threads, rolls, and reads every entry back
# (-verify). Provider filesystem writes through Hadoop's client with hflush or hsync; asyncfs has a write pipeline of its own, one connection to
# each DataNode, and reaches into Hadoop's client by reflection.
# usage: run.sh URI OUTDIR       Last line: "N passed, N failed".
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
uri=${1%/} out=$2; mkdir -p "$out"
peer=${SURUS_PEERS:-/tmp/surus-peers}/hbase; hadoop=${HADOOP_PEER:-/tmp/hadoop-peer}/3.5.0/target/lib
[ -d "$hadoop" ] || "$H" get
if ! cmp -s "$here/pom.xml" "$peer/fetched.xml"; then
  echo "fetching HBase" >&2; rm -rf "$peer"; mkdir -p "$peer"; cp "$here/pom.xml" "$peer/"
  mvn -q -B -f "$peer/pom.xml" process-resources > "$out/fetch-hbase.log" 2>&1 || { tail -5 "$out/fetch-hbase.log" >&2; exit 1; }
  mv "$peer/pom.xml" "$peer/fetched.xml"
fi
lib=$peer/target/lib
mkdir -p "$out/wal-conf"
printf '%s\n' log4j.rootLogger=WARN,c log4j.logger.org.apache.hadoop.hbase.wal.WALPerformanceEvaluation=INFO log4j.appender.c=org.apache.log4j.ConsoleAppender \
  log4j.appender.c.target=System.err log4j.appender.c.layout=org.apache.log4j.SimpleLayout > "$out/wal-conf/log4j.properties"
opens=(-XX:+IgnoreUnrecognizedVMOptions)
for k in java.io java.lang java.lang.reflect java.math java.net java.nio java.text java.util java.util.concurrent java.util.zip sun.nio.ch; do opens+=("--add-opens=java.base/$k=ALL-UNNAMED"); done
# HBase's own libraries, then Hadoop's: both bring some alike, and Hadoop's have to be Hadoop's.
cp=$out/wal-conf$(printf ':%s' "$lib"/{hbase-,opentelemetry,disruptor,caffeine,metrics-core,commons-crypto}*.jar):$hadoop/*:$lib/*
evaluate() { # NAME ARGS
  local name=$1 log=$out/wal-$1.log; shift
  if timeout 600 java -Xmx512m "${opens[@]}" -cp "$cp" org.apache.hadoop.hbase.wal.WALPerformanceEvaluation -D fs.defaultFS="$uri" \
      -D hbase.rootdir="$uri/hbase" -D hbase.wal.dir="$uri/hbase" "$@" -path "$uri/hbase" -verify > "$log" 2>&1 \
      && grep -q 'verifying written log entries' "$log" && ! grep -Eq 'low replication|pipeline error|Exception' "$log"; then
    passed=$((passed + 1)); echo "$name: $(sed -n 's/.*Summary: //p' "$log")"
  else failed=$((failed + 1)); echo "FAILED $name: $(grep -E 'Exception|low replication|pipeline error|ERROR' "$log" | head -1 | cut -c1-300), see $log"; fi
}
for provider in filesystem asyncfs; do
  evaluate "$provider" -D hbase.wal.provider=$provider -threads 4 -iterations 5000 -roll 4000
  evaluate "$provider-hsync" -D hbase.wal.provider=$provider -D hbase.wal.hsync=true -threads 4 -iterations 1000 -roll 1500
  evaluate "$provider-one-by-one" -D hbase.wal.provider=$provider -threads 1 -iterations 2000 -roll 700 -valueSize 20000
done
summary
