#!/bin/bash
# Hadoop's own tools and NameNode against what the journal writes. Needs Java and a hadoop.sh (conformance/ has one):
#   HADOOP=path/to/hadoop.sh [SEED=1] [STEPS=300] [PORT=23450] crates/journal/tests/java/check.sh
# 1. oev: binary -> xml -> binary gives our segments back, byte for byte (but for the fill of the last one).
# 2. oiv: our image reads, and DetectCorruption finds nothing.
# 3. A real NameNode starts on our directory and saves the namespace; our loader reads its image as the same namespace.
set -euo pipefail
repo=$(cd "$(dirname "$0")/../../../.." && pwd)
work=$(mktemp -d); trap '"$HADOOP" stop "$work" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
export JOPTS=${JOPTS:--Xmx256m}
example=${CARGO_TARGET_DIR:-$repo/target}/debug/examples/name_directory
tools=org.apache.hadoop.hdfs.tools
cargo build -q --manifest-path "$repo/Cargo.toml" -p surus-journal --example name_directory
"$HADOOP" conf "$work" "${PORT:-23450}"
"$example" "$work/name" "${SEED:-1}" "${STEPS:-300}" | grep -v '^checkpoint' > "$work/ours.dump"
for edits in "$work"/name/current/edits_*; do
  out=$work/$(basename "$edits")
  "$HADOOP" run "$work" $tools.offlineEditsViewer.OfflineEditsViewer -p xml -i "$edits" -o "$out.xml" 2> "$out.log" || cat "$out.log"
  "$HADOOP" run "$work" $tools.offlineEditsViewer.OfflineEditsViewer -p binary -i "$out.xml" -o "$out.bin" 2> "$out.log" || cat "$out.log"
  size=$(stat -c %s "$out.bin")
  cmp -n "$size" "$edits" "$out.bin"
  if tail -c +$((size + 1)) "$edits" | tr -d '\377' | grep -q .; then echo "$edits: operations behind Java's last"; exit 1; fi
  echo "same: $(basename "$edits"), $size bytes"
done
for image in $(ls "$work"/name/current/fsimage_* | grep -v md5); do
  for processor in XML DetectCorruption; do
    "$HADOOP" run "$work" $tools.offlineImageViewer.OfflineImageViewerPB -p $processor -i "$image" -o "$work/image.$processor" 2> "$work/oiv.log" || cat "$work/oiv.log"
  done
  [ "$(wc -l < "$work/image.DetectCorruption")" = 1 ] || { cat "$work/image.DetectCorruption"; exit 1; }
  echo "reads: $(basename "$image"), $(grep -c '<inode>' "$work/image.XML") inodes"
done
"$HADOOP" nn "$work"
admin() { "$HADOOP" run "$work" $tools.DFSAdmin "$@" 2>/dev/null; }
for try in $(seq 30); do sleep 1; admin -safemode enter && break; done
admin -saveNamespace
"$HADOOP" stop "$work" > /dev/null
for try in $(seq 30); do [ -e "$work/name/in_use.lock" ] || break; sleep 0.5; done
# Only Java's image counts: its edits behind are those of its own start and stop.
"$example" "$work/name" > "$work/java.dump"
diff "$work/ours.dump" "$work/java.dump"
echo "a real NameNode loaded and saved the same namespace"
