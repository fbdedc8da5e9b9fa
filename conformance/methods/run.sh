#!/bin/bash
# Every method of the NameNode's protocols, with good and absurd requests, on a cluster started here: each answer or exception is
# compared with golden.tsv, which a real Hadoop 3.5.0 wrote, and docs/methods.md is made of the result.
# Rows that differ on purpose stand in differs.txt (method, tab, regular expression on the request, tab, reason).
# usage: run.sh PORT [OUTDIR]     SURUS=path/to/surus for Surus, unset for real Hadoop (writes golden.tsv anew). Last line: "N passed, N failed, N skipped".
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
p=$1 out=${2:-$(mktemp -d)}; mkdir -p "$out"
d=$(mktemp -d); trap '"$H" stop "$d"; sleep 1; rm -rf "$d"' EXIT
export JOPTS=-Xmx400m HADOOP_LOG_DIR=$d
export HDFS_AUDIT_LOGGER=INFO,log
"$H" conf "$d" "$p"; prop "$d" dfs.heartbeat.interval 1; prop "$d" hadoop.caller.context.enabled true; sed -i 's/FSNamesystem.audit=WARN/FSNamesystem.audit=INFO/' "$d/conf/log4j.properties"
mkdir "$d/cls"; lib=$("$H" cp "$d" | sed 's/^[^:]*://'); javac -nowarn -d "$d/cls" -cp "$lib" "$here/Methods.java" 2> "$out/methods-javac.log"
"$H" format "$d" > "$out/methods-format.log" 2>&1; JOPTS="-Xmx512m -Dhadoop.log.dir=$d" "$H" nn "$d"; sleep 1; "$H" dn "$d"; "$H" ready "$d"; kill -0 "$(cat "$d/nn.pid")"
timeout 900 java $JOPTS -cp "$d/conf:$d/cls:$lib" Methods "127.0.0.1:$p" "$here/cases.txt" "$out/methods-rows.tsv" > "$out/methods.log" 2>&1 || { tail -5 "$out/methods.log"; exit 1; }
# The audit log up to the absurd requests, without times.
grep -ah 'FSNamesystem.audit' "$d"/*.log | sed 's/.*allowed=/allowed=/; /src=\/m\/abs\b/,$d; s/s[0-9]\{8\}-[0-9.]*/s{TIME}/g' > "$out/methods-audit.txt"
if [ -z "${SURUS:-}" ]; then cp "$out/methods-rows.tsv" "$here/golden.tsv"; cp "$out/methods-audit.txt" "$here/golden-audit.txt"; echo "$(($(wc -l < "$here/golden.tsv") - 1)) passed, 0 failed, 0 skipped"; exit; fi
python3 "$here/compare.py" "$here" "$out/methods-rows.tsv" "$out/methods.tsv" "$out/methods-audit.txt"
