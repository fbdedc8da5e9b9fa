#!/bin/bash
# What Surus writes, Hadoop's tools and daemons read: Java's edits viewer there and back, Java's image viewer there and back, and real Hadoop
# on the directories of a stopped Surus and the reverse.
# usage: run.sh SURUS PORT     Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") port=$2
d=$(mktemp -d)
export JOPTS=-Xmx256m
stop() { "$H" stop "$d"; for _ in $(seq 100); do (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break; sleep 0.1; done; sleep 1; }
trap 'stop; rm -rf "$d"' EXIT
check() { if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1"; [ ! -s "$d/err" ] || tail -3 "$d/err"; fi; }
start() { SURUS=$1 "$H" nn "$d"; sleep 1; SURUS=$1 "$H" dn "$d"; "$H" ready "$d"; check "$2" $?; }
fs() { HADOOP_CONF_DIR=$d/conf "$surus" dfs "$@"; }
viewer() { "$H" run "$d" "org.apache.hadoop.hdfs.tools.$1" "${@:2}" > "$d/err" 2>&1; }
load() { # some of every operation, but no truncate inside a block: Java's viewer cannot read its own XML of that back
  fs -mkdir -p "/$1/a/b" "/$1/grinning 😀 face" && fs -put "$d/random" "/$1/a/data" && fs -appendToFile "$d/random" "/$1/a/data" && fs -touchz "/$1/empty" \
    && fs -mv "/$1/a/data" "/$1/moved" && fs -cp "/$1/moved" "/$1/copied" && fs -chmod 640 "/$1/copied" && fs -chown alice:staff "/$1/copied" \
    && fs -setfacl -m user:bob:r-x,group:staff:rwx,default:user:eve:rwx "/$1" && fs -mkdir "/$1/inherits" && fs -touchz "/$1/inherits/file" \
    && fs -setfacl -x user:bob "/$1" && fs -setfattr -n user.x -v 0x00ff "/$1/copied" && fs -setfattr -n trusted.empty "/$1/copied" \
    && fs -setfattr -n user.gone -v 1 "/$1" && fs -setfattr -x user.gone "/$1" && fs -setfattr -n user.é -v 0sYWI= "/$1" \
    && fs -setrep 2 "/$1/copied" && fs -rm -r -skipTrash "/$1/a" && fs -truncate 0 "/$1/moved" && fs -touch "/$1/empty"
}
state() { { fs -ls -R /; fs -getfacl -R /; fs -getfattr -R -d -e hex /; } > "$d/$1.ls" 2>&1; for f in $(fs -ls -R -C / | grep -v '^d' | grep -E '/(moved|copied)$'); do echo "$f $(fs -cat "$f" | md5sum)"; done > "$d/$1.sums"; }
same() { cmp -s "$d/$1.ls" "$d/$2.ls" && cmp -s "$d/$1.sums" "$d/$2.sums" || { diff "$d/$1.ls" "$d/$2.ls" | head -5; return 1; }; }
head -c 3000000 /dev/urandom > "$d/random"
"$H" conf "$d" "$port"
prop "$d" dfs.namenode.safemode.extension 0
SURUS=$surus "$H" format "$d" > "$d/err" 2>&1; check format $?
start "$surus" "Surus starts"; load one; check "first load" $?
"$H" run "$d" org.apache.hadoop.hdfs.tools.DFSAdmin -safemode enter > "$d/err" 2>&1 && "$H" run "$d" org.apache.hadoop.hdfs.tools.DFSAdmin -saveNamespace >> "$d/err" 2>&1 \
  && "$H" run "$d" org.apache.hadoop.hdfs.tools.DFSAdmin -safemode leave >> "$d/err" 2>&1; check "saveNamespace" $?
load two; check "second load" $?; state surus; stop
for f in "$d"/name/current/edits_*; do
  n=$(basename "$f")
  viewer offlineEditsViewer.OfflineEditsViewer -p xml -i "$f" -o "$d/$n.xml"; check "oev reads $n" $?
  viewer offlineEditsViewer.OfflineEditsViewer -p binary -i "$d/$n.xml" -o "$d/$n.bin"; check "oev writes $n" $?
  python3 - "$f" "$d/$n.bin" <<'PY'; check "oev gives the bytes of $n back" $?
import sys
ours, back = (open(f, "rb").read() for f in sys.argv[1:3])
sys.exit(not (ours.startswith(back) and not ours[len(back):].strip(b"\xff")))
PY
done
for f in "$d"/name/current/fsimage_*; do
  case $f in *.md5) continue;; esac; n=$(basename "$f")
  viewer offlineImageViewer.OfflineImageViewerPB -p XML -i "$f" -o "$d/$n.xml"; check "oiv reads $n" $?
  viewer offlineImageViewer.OfflineImageViewerPB -p ReverseXML -i "$d/$n.xml" -o "$d/$n.bin"; check "oiv writes $n" $?
  viewer offlineImageViewer.OfflineImageViewerPB -p XML -i "$d/$n.bin" -o "$d/$n.again.xml"; cmp -s "$d/$n.xml" "$d/$n.again.xml"; check "oiv gives $n back" $?
  viewer offlineImageViewer.OfflineImageViewerPB -p DetectCorruption -i "$f" -o "$d/$n.corrupt"; check "no corruption in $n" $?
done
start "" "Hadoop starts on Surus's directories"; state hadoop; same surus hadoop; check "Hadoop shows what Surus had" $?
load three; check "third load, on Hadoop" $?; state hadoop; stop
start "$surus" "Surus starts on Hadoop's directories"; state again; same hadoop again; check "Surus shows what Hadoop had" $?
load four; check "fourth load" $?
# A truncate that has not ended when an image is saved, of a block that by then nothing but the copy wants: the image keeps it in a field that Hadoop lacks.
admin() { HADOOP_CONF_DIR=$d/conf "$surus" dfsadmin "$@" > "$d/err" 2>&1; }
fs -mkdir /cut && fs -put "$d/random" /cut/f && admin -allowSnapshot /cut && fs -createSnapshot /cut s > "$d/err"; check "a snapshot" $?
kill "$(cat "$d/dn.pid")"; while kill -0 "$(cat "$d/dn.pid")" 2> /dev/null; do sleep 0.1; done
fs -truncate 1000 /cut/f > "$d/err" 2>&1 && fs -deleteSnapshot /cut s; check "a truncate without a DataNode" $?
admin -safemode enter && admin -saveNamespace; check "saveNamespace in the middle of it" $?; stop
image=$(find "$d/name/current" -name 'fsimage_*' ! -name '*.md5' | sort | tail -1)
viewer offlineImageViewer.OfflineImageViewerPB -p XML -i "$image" -o "$d/java.xml" && grep -q '<file-under-construction>' "$d/java.xml"; check "oiv reads the image" $?
"$surus" oiv -p XML -i "$image" -o "$d/ours.xml" && sed -i 's|<oivRevision>[^<]*<|<oivRevision><|' "$d/java.xml" "$d/ours.xml"; cmp -s "$d/java.xml" "$d/ours.xml"; check "surus oiv says the same" $?
cp -r "$d/name" "$d/kept"; "$H" nn "$d"; for _ in $(seq 200); do fs -ls /cut/f > "$d/err" 2>&1 && break; sleep 0.3; done
[ "$(fs -stat %b /cut/f 2> "$d/err")" = 1000 ]; check "Hadoop starts on the image" $?; stop
rm -rf "$d/name"; mv "$d/kept" "$d/name"; start "$surus" "Surus starts on it"
"$H" run "$d" org.apache.hadoop.hdfs.tools.DebugAdmin recoverLease -path /cut/f -retries 20 > "$d/err" 2>&1; check "the truncate ends" $?
fs -cat /cut/f 2> "$d/err" | cmp -s - <(head -c 1000 "$d/random"); check "the file has its first bytes" $?
summary
