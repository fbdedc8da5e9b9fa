#!/bin/bash
# `surus dfs -text` beside FsShell's, on files that Java writes: every codec, SequenceFiles, Avro data files, damaged ones.
# usage: run.sh SURUS       Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
export JOPTS="-Xmx256m -XX:TieredStopAtLevel=1"
"$H" conf "$d" 1; mkdir "$d/files" "$d/theirs"
"$H" run "$d" "$here/Samples.java" "$d/files" 2> "$d/log" || { tail -5 "$d/log"; exit 1; }
grep -v 'WARN\|INFO' "$d/log" | sed 's/^/Java cannot write /'
text() { "$H" run "$d" org.apache.hadoop.fs.FsShell -text "$@"; }
ours() { HADOOP_CONF_DIR=$d/conf "$surus" dfs -text "$@"; }
# All sound files by one JVM, each with a mark behind it.
printf '\n@@mark@@\n' > "$d/mark"
names=() arguments=()
for f in "$d"/files/*; do case ${f##*/} in *cut*|wrong*) ;; *) names+=("${f##*/}"); arguments+=("file://$f" "file://$d/mark");; esac; done
text "${arguments[@]}" > "$d/all" 2> "$d/err"; grep -v 'WARN\|INFO' "$d/err" | cut -c1-200
perl -e 'local $/; open(F, $ARGV[0]); my $n = 0; for my $part (split /\n\@\@mark\@\@\n/, <F>, -1) { open(G, ">", "$ARGV[1]/" . $n++); print G $part; }' "$d/all" "$d/theirs"
for i in "${!names[@]}"; do
  ours "file://$d/files/${names[$i]}" > "$d/ours" 2> "$d/err"
  try "${names[$i]}: $(head -c 200 "$d/err") $(diff -a "$d/ours" "$d/theirs/$i" | head -4 | cut -c1-300)" cmp -s "$d/ours" "$d/theirs/$i"
done
# Damaged ones: an error, and 1.
for f in "$d"/files/*cut* "$d"/files/wrong*; do
  ours "file://$f" > "$d/ours" 2> "$d/err-ours"; rc=$?
  text "file://$f" > "$d/out" 2> "$d/err"; echo "${f##*/}: $(tail -1 "$d/err-ours" | cut -c1-150) ($rc) | Java: $(grep -v 'WARN\|INFO' "$d/err" | head -1 | cut -c1-150)"
  try "${f##*/}" [ "$rc" = 1 -a -s "$d/err-ours" ]
done
summary
