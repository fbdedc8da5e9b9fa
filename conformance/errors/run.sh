#!/bin/bash
# Error texts, word for word: plays the cases of Errors.java against a cluster started here and compares each row with golden.tsv,
# which a real Hadoop 3.5.0 wrote. Rows of features that Surus has not yet stand in later.txt (regular expressions on the case's name),
# rows that differ on purpose in differs.txt (case, tab, reason).
# usage: run.sh PORT [OUTDIR]     SURUS=path/to/surus for Surus, unset for real Hadoop. Last line: "N passed, N failed, N skipped".
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
p=$1 out=${2:-$(mktemp -d)}; mkdir -p "$out"
d=$(mktemp -d); trap '"$H" stop "$d"; sleep 1; rm -rf "$d"' EXIT
export JOPTS=-Xmx512m
"$H" conf "$d" "$p"; sed -i '/min-block-size/d' "$d/conf/hdfs-site.xml"
prop "$d" dfs.heartbeat.interval 1; prop "$d" dfs.namenode.fs-limits.max-directory-items 40; prop "$d" dfs.namenode.fs-limits.max-blocks-per-file 3
mkdir "$d/cls"; lib=$("$H" cp "$d" | sed 's/^[^:]*://'); javac -nowarn -d "$d/cls" -cp "$lib" "$here/Errors.java" 2> "$out/errors-javac.log"
opens=(); for k in java.io java.lang java.lang.reflect java.util java.util.concurrent java.net; do opens+=("--add-opens=java.base/$k=ALL-UNNAMED"); done
play() { timeout 600 java $JOPTS "${opens[@]}" -cp "$d/conf:$d/cls:$lib" Errors "hdfs://127.0.0.1:$p" "127.0.0.1:$((p + 1))" "127.0.0.1:$((p + 3))" "$out/errors-rows.tsv" "$1" > "$out/errors-$1.log" 2>&1 || true; }
head -1 "$here/golden.tsv" > "$out/errors-rows.tsv"
"$H" format "$d" > "$out/errors-format.log" 2>&1; "$H" nn "$d"; sleep 1; "$H" dn "$d"; "$H" ready "$d"; play main
"$H" stop "$d"; sleep 3
for k in acls.enabled xattrs.enabled; do prop "$d" "dfs.namenode.$k" false; done; prop "$d" dfs.storage.policy.enabled false; prop "$d" dfs.namenode.safemode.threshold-pct 0; prop "$d" dfs.namenode.safemode.extension 0
"$H" nn "$d"
for _ in $(seq 240); do # no DataNode will come, so `hadoop.sh ready` would wait for ever
  curl -s "http://127.0.0.1:$((p + 1))/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState" | grep -q '"FSState" *: *"Operational"' && break; sleep 0.5; done
sleep 1; play second
python3 "$here/compare.py" "$here" "$out/errors-rows.tsv" "$out/errors.tsv"
