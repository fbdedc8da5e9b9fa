#!/bin/bash
# DistCp from real Hadoop to Surus and back: what comes back is what went out, byte for byte, with equal checksums on all three, the same names,
# modes, owners, times, replication and block sizes where DistCp is told to keep them; and a second copy with -update finds nothing to do.
# usage: run.sh SURUS PORT       Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") port=$2
d=$(mktemp -d)
export JOPTS=-Xmx256m
stop_all() { "$H" stop "$d/java"; "$H" stop "$d/surus"; sleep 1; rm -rf "$d"; }
trap stop_all EXIT
cluster() { # NAME PORT
  "$H" conf "$d/$1" "$2"; prop "$d/$1" dfs.namenode.safemode.extension 0
  "$H" format "$d/$1" > "$d/$1.format.log" 2>&1; "$H" nn "$d/$1"; "$H" dn "$d/$1"; "$H" ready "$d/$1"; }
cluster java "$port" || exit 1
SURUS=$surus cluster surus $((port + 10)) || exit 1
java=hdfs://127.0.0.1:$port ours=hdfs://127.0.0.1:$((port + 10))
fs() { "$surus" dfs "$@"; }
mkdir -p "$d/local/deep/er" "$d/local/empty"
: > "$d/local/none"; printf x > "$d/local/one"; head -c 4436 /dev/urandom > "$d/local/deep/small"; head -c 1048577 /dev/urandom > "$d/local/deep/er/odd"
head -c 5000000 /dev/urandom > "$d/local/blocks"; for i in $(seq 40); do echo "$i" > "$d/local/deep/name $i ä%+=;"; done
fs -mkdir -p "$java/src" && fs -put "$d"/local/* "$java/src/" && fs -rm -skipTrash "$java/src/blocks" > /dev/null && fs -D dfs.blocksize=1048576 -put "$d/local/blocks" "$java/src/blocks" \
  && fs -chmod 640 "$java/src/deep/small" && fs -chmod 1777 "$java/src/empty" && fs -chown alice:staff "$java/src/one"; check "making the source" $?
copy() { JOPTS=-Xmx512m "$H" run "$d/java" org.apache.hadoop.tools.DistCp -D "mapreduce.jobtracker.staging.root.dir=$d/staging" -D "mapreduce.cluster.local.dir=$d/mr" "$@" > "$d/distcp.log" 2>&1; }
counter() { sed -n "s/.*\b$1=\([0-9]*\)$/\1/p" "$d/distcp.log" | tail -1; }
why() { grep -E 'Exception|ERROR' "$d/distcp.log" | head -1 | cut -c1-300; }
copy -prbugpct "$java/src" "$ours/there"; rc=$?; check "Hadoop -> Surus: $(why)" $rc
[ "$(counter 'Files Copied') $(counter DIR_COPY) $(counter 'Files Failed')" = "45 4 " ]; rc=$?; check "everything is copied: $(counter 'Files Copied') files, $(counter DIR_COPY) directories" $rc
copy -prbugpct "$ours/there" "$java/back"; rc=$?; check "Surus -> Hadoop: $(why)" $rc
copy -update -prbugpct "$java/src" "$ours/there"; rc=$?; check "-update runs again: $(why)" $rc
[ "$(counter 'Bytes Copied') $(counter 'Files Skipped')" = " 45" ]; rc=$?; check "-update finds nothing to copy: $(counter 'Bytes Copied') bytes, $(counter 'Files Skipped') skipped" $rc
echo more | fs -appendToFile - "$java/src/deep/small"; copy -update -prbugpct "$java/src" "$ours/there" && [ "$(counter 'Bytes Copied')" = 4441 ]; rc=$?
check "-update copies what changed: $(counter 'Bytes Copied') bytes" $rc
copy -update -prbugpct "$ours/there" "$java/back"; check "and back" $?
fs -rm -skipTrash "$java/src/one" > /dev/null; copy -update -delete -prbugpct "$java/src" "$ours/there"; check "-update -delete" $?
fs -test -e "$ours/there/one"; [ $? = 1 ]; check "-delete deletes" $?
copy -update -delete -prbugpct "$ours/there" "$java/back"; check "-update -delete back" $?
listing() { fs -ls -R -C "$1" | sort | tr '\n' '\0' | xargs -0 "$surus" dfs -stat '%F %a %u %g %r %o %b %Y %n'; }
contents() { rm -rf "$d/got"; fs -get "$1" "$d/got" && (cd "$d/got" && find . -type f -print0 | sort -z | xargs -0 md5sum); }
checksums() { for f in none blocks deep/small deep/er/odd "deep/name 7 ä%+=;"; do fs -checksum "$1/$f" | cut -f2-; done; }
[ "$(contents "$java/src")" = "$(contents "$ours/there")" ]; check "bytes on Surus" $?
[ "$(contents "$java/src")" = "$(contents "$java/back")" ]; check "bytes that came back" $?
[ "$(checksums "$java/src")" = "$(checksums "$ours/there")" ] && [ "$(checksums "$java/src" | wc -l)" = 5 ]; check "checksums on Surus" $?
[ "$(checksums "$java/src")" = "$(checksums "$java/back")" ]; check "checksums of what came back" $?
[ "$(listing "$java/src")" = "$(listing "$ours/there")" ]; rc=$?; check "modes, owners, times, replication, block sizes on Surus: $(diff <(listing "$java/src") <(listing "$ours/there") | head -3)" $rc
[ "$(listing "$java/src")" = "$(listing "$java/back")" ]; rc=$?; check "and of what came back: $(diff <(listing "$java/src") <(listing "$java/back") | head -3)" $rc
summary
