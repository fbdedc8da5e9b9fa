#!/bin/bash
# Encryption zones with Hadoop's own client: its key store, FsShell, CryptoAdmin and KeyShell against Surus's NameNode and DataNode; then Hadoop's
# NameNode on the same name directory.
# usage: run.sh SURUS PORT       Uses PORT to PORT+4. Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
binary=$(realpath "$1") p=$2 d=$(mktemp -d)
trap '"$H" stop "$d"; rm -rf "$d"' EXIT
"$H" conf "$d" "$p"
sed -i "s|</configuration>|<property><name>hadoop.security.key.provider.path</name><value>jceks://file$d/keys.jceks</value></property></configuration>|" "$d/conf/core-site.xml"
java_() { JOPTS="-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC" "$H" run "$d" "$@" 2>> "$d/java.log"; }
fs() { java_ org.apache.hadoop.fs.FsShell "$@"; }
crypto() { java_ org.apache.hadoop.hdfs.tools.CryptoAdmin "$@"; }
ours() { HADOOP_CONF_DIR="$d/conf" "$binary" crypto "$@"; }
is() { [ "$(cat)" = "$1" ]; }
reads() { fs -cat "$1" | cmp -s - "$d/$2"; }
restart() { kill "$(cat "$d/nn.pid")"; while kill -0 "$(cat "$d/nn.pid")" 2> /dev/null; do sleep 0.2; done; "$H" nn "$d"; "$H" ready "$d"; }
java_ org.apache.hadoop.crypto.key.KeyShell create mykey > /dev/null
export SURUS=$binary
"$H" format "$d" > /dev/null 2>&1; "$H" nn "$d"; "$H" dn "$d"; "$H" ready "$d"
seq 1 20000 > "$d/in"; cat "$d/in" "$d/in" > "$d/twice"
fs -mkdir /z /plain /ours
try "a zone is made" is "Added encryption zone /z" < <(crypto -createZone -keyName mykey -path /z)
try "a zone is made by surus crypto" is "Added encryption zone /ours" < <(ours -createZone -keyName mykey -path /ours)
try "zones are listed alike" cmp -s <(crypto -listZones) <(ours -listZones)
fs -put "$d/in" /z/f
try "a file reads back" reads /z/f in
try "its blocks are cipher text" [ -z "$(grep -rl '^12345$' "$d/data")" ]
try "/.reserved/raw shows cipher text" [ "$(reads /.reserved/raw/z/f in; echo $?)" = 1 ]
try "its key is told alike" cmp -s <(crypto -getFileEncryptionInfo -path /z/f) <(ours -getFileEncryptionInfo -path /z/f)
dfs() { HADOOP_CONF_DIR="$d/conf" "$binary" dfs "$@"; }
try "surus dfs reads it" cmp -s <(dfs -cat /z/f) "$d/in"
try "and its tail" cmp -s <(dfs -tail /z/f) <(tail -c 1024 "$d/in")
dfs -put "$d/in" /z/ours
try "what surus dfs writes reads back" reads /z/ours in
dfs -appendToFile "$d/in" /z/ours
try "what it appends too" reads /z/ours twice
HADOOP_CONF_DIR=$d/conf "$binary" dfs -rm -skipTrash /z/ours > /dev/null
fs -cp -px /.reserved/raw/z/f /.reserved/raw/z/copy
try "a raw copy reads back" reads /z/copy in
fs -appendToFile "$d/in" /z/f
try "an append reads back" reads /z/f twice
try "nothing leaves the zone" [ "$(fs -mv /z/f /plain > /dev/null; echo $?)" = 1 ]
java_ org.apache.hadoop.crypto.key.KeyShell roll mykey > /dev/null
try "re-encryption is asked for" is "re-encrypt command successfully submitted for zone: /z action: START" < <(crypto -reencryptZone -start -path /z)
sleep 1
try "and ends" grep -Eq '^/z +Completed +mykey@1 .* false .* 2 +0 ' < <(crypto -listReencryptionStatus)
try "its state is listed alike" cmp -s <(crypto -listReencryptionStatus) <(ours -listReencryptionStatus)
try "the file has a new key" grep -q 'ezKeyVersionName: mykey@1}' < <(ours -getFileEncryptionInfo -path /z/f)
try "and reads back" reads /z/f twice
restart
try "it reads back from the edits" reads /z/f twice
java_ org.apache.hadoop.hdfs.tools.DFSAdmin -safemode enter > /dev/null
java_ org.apache.hadoop.hdfs.tools.DFSAdmin -saveNamespace > /dev/null
restart
try "it reads back from an image" reads /z/f twice
unset SURUS
restart
try "it reads back through Hadoop's NameNode" reads /z/f twice
try "which lists the same state" grep -Eq '^/z +Completed +mykey@1 ' < <(crypto -listReencryptionStatus)
summary
