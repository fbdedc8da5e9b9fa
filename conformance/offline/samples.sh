#!/bin/bash
# Name directories that Hadoop 2.7.3, 3.3.6, 3.4.2 and 3.5.0 wrote: Surus starts on each (with -upgrade where the layout is too old), shows it,
# changes something and saves an image; its viewers say what Java's say of every image and segment; then Hadoop 3.5.0 starts on the result and
# shows the same.
# usage: samples.sh SURUS PORT     Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"; data=$here/../../crates/journal/tests/data
surus=$(readlink -f "$1") port=$2
top=$(mktemp -d)
export JOPTS=-Xmx256m TZ=UTC
d=$top
stop() { "$H" stop "$d"; for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break; sleep 0.1; done; sleep 1; }
trap 'stop; rm -rf "$top"' EXIT
check() { if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1"; [ ! -s "$d/err" ] || tail -3 "$d/err"; fi; }
fs() { HADOOP_CONF_DIR=$d/conf "$surus" dfs "$@"; }
admin() { HADOOP_CONF_DIR=$d/conf "$surus" dfsadmin "$@"; }
viewer() { "$H" run "$d" "org.apache.hadoop.hdfs.tools.$1" "${@:2}" > "$d/err" 2>&1; }
wait_for() { # the port, then an answer; a NameNode that ended will not give one
  for _ in $(seq 200); do
    (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && admin -safemode get > "$d/err" 2>&1 && return
    kill -0 "$(cat "$d/nn.pid")" 2> /dev/null || { tail -3 "$d/nn.log" > "$d/err"; return 1; }
    sleep 0.3
  done
  return 1
}
state() { { fs -ls -R /; fs -getfacl -R /; fs -getfattr -R -d -e hex /; fs -count -q -v /; } > "$d/$1.state" 2> "$d/$1.err"; }
for archive in "$data"/name-*.tar.gz; do
  release=$(basename "$archive" .tar.gz); release=${release#name-}; d=$top/$release
  "$H" conf "$d" "$port"
  prop "$d" dfs.namenode.safemode.extension 0; prop "$d" dfs.namenode.safemode.threshold-pct 0
  tar xzf "$archive" -C "$d"
  option=; [ "$release" != 2.7.3 ] || option=-upgrade
  SURUS=$surus "$H" nn "$d" $option; wait_for; started=$?; check "Surus starts on $release" $started
  [ $started = 0 ] || { stop; continue; }
  fs -mkdir -p /surus/was/here; check "$release: mkdir" $?
  admin -safemode enter > "$d/err" 2>&1 && admin -saveNamespace >> "$d/err" 2>&1 && admin -safemode leave >> "$d/err" 2>&1; check "$release: saveNamespace" $?
  fs -touchz /surus/was/here/too; check "$release: touchz" $?
  state surus; stop
  for f in "$d"/name/current/fsimage_* "$d"/name/current/edits_*; do
    n=$(basename "$f")
    case $n in
      *.md5) continue;;
      fsimage_*) viewer offlineImageViewer.OfflineImageViewerPB -p XML -i "$f" -o "$d/java" && "$surus" oiv -p XML -i "$f" -o "$d/ours"
        sed -i 's|<oivRevision>[^<]*<|<oivRevision><|' "$d/java" "$d/ours";;
      *) viewer offlineEditsViewer.OfflineEditsViewer -i "$f" -o "$d/java" && "$surus" oev -i "$f" -o "$d/ours";;
    esac
    cmp -s "$d/java" "$d/ours"; check "$release: the viewers say the same of $n" $?
  done
  option=; grep -q layoutVersion=-67 "$d/name/current/VERSION" || option=-upgrade
  "$H" nn "$d" $option; wait_for; check "Hadoop starts on $release as Surus left it" $?
  state hadoop; stop
  cmp -s "$d/surus.state" "$d/hadoop.state" || diff "$d/surus.state" "$d/hadoop.state" | head -5
  cmp -s "$d/surus.state" "$d/hadoop.state"; check "$release: Hadoop shows what Surus had" $?
done
summary
