#!/bin/bash
# No reply to a change leaves before the fdatasync that covers it: runs a Surus NameNode under strace, makes directories one after
# the other, and reads in the trace that between each request's arrival and its answer a sync has ended.
# usage: run.sh SURUS PORT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
surus=$1 port=$2
d=$(mktemp -d); trap '[ -z "${pid:-}" ] || kill "$pid" 2> /dev/null; wait 2> /dev/null; rm -rf "$d"' EXIT
"$here/../hadoop.sh" conf "$d" "$port"
export HADOOP_CONF_DIR=$d/conf
"$surus" namenode -format -nonInteractive > "$d/format.log" 2>&1
sed -i 's|</configuration>|<property><name>dfs.namenode.safemode.extension</name><value>0</value></property></configuration>|' "$d/conf/hdfs-site.xml"
strace -f -tt -s 4096 -e trace=recvfrom,read,sendto,write,writev,sendmsg,fdatasync,fsync -o "$d/trace" "$surus" namenode > "$d/nn.log" 2>&1 & pid=$!
for _ in $(seq 100); do "$surus" dfs -ls / > /dev/null 2>&1 && break; sleep 0.1; done
for i in $(seq 20); do "$surus" dfs -mkdir "/d$i"; done
kill $(pgrep -P "$pid"); wait "$pid" || true; pid=
python3 "$here/check.py" "$d/trace" 20
