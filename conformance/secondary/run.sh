#!/bin/bash
# Real Hadoop's SecondaryNameNode beside Surus: it fetches image and edits, merges them, and sends the image back, which Surus then starts on.
# Around it requests of no good senders, by curl: the statuses that Hadoop answers.
# usage: run.sh SURUS PORT      Last line: "N passed, N failed".
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
surus=$(readlink -f "$1") p=$2
d=$(mktemp -d)
export JOPTS=-Xmx256m
trap '"$H" stop "$d"; sleep 1; rm -rf "$d"' EXIT
"$H" conf "$d" "$p"
prop "$d" dfs.namenode.checkpoint.dir "file://$d/secondary"; prop "$d" dfs.namenode.secondary.http-address "127.0.0.1:$((p + 7))"
# An image younger than three quarters of it is reason enough to refuse one; Surus's own checkpoint waits for it, too.
prop "$d" dfs.namenode.checkpoint.period 16; prop "$d" dfs.namenode.safemode.extension 0
http=127.0.0.1:$((p + 1))
start() { as surus "$H" nn "$d"; for _ in $(seq 100); do curl -sf "http://$http/jmx" > /dev/null && return; sleep 0.1; done; }
images() { (cd "$1/current" && ls | grep -E '^fsimage_[0-9]+$' | sort); }
secondary() { "$H" run "$d" org.apache.hadoop.hdfs.server.namenode.SecondaryNameNode -checkpoint force > "$d/secondary.log" 2>&1; }
as surus "$H" format "$d" > "$d/format.log" 2>&1; start
"$H" fs "$d" -mkdir -p /a/b /c 2> "$d/fs.log"; "$H" fs "$d" -setfacl -m user:bob:rwx /a 2>> "$d/fs.log"

sleep 13; "$H" fs "$d" -mkdir /late 2>> "$d/fs.log"
secondary; check "the secondary's checkpoint: $(grep -vE ' (INFO|WARN) ' "$d/secondary.log" | tail -1)" $?
image=$(images "$d/name" | tail -1) txid=$(images "$d/name" | tail -1 | sed 's/fsimage_0*//')
[ "${txid:-0}" -gt 0 ]; check "no image was sent: $(grep -i upload "$d/secondary.log" | tail -2 | cut -c1-300)" $?
cmp -s "$d/name/current/$image" "$d/secondary/current/$image"; check "$image is not the secondary's" $?
(cd "$d/name/current" && md5sum -c --status "$image.md5"); check "the MD5 of $image" $?
curl -s "http://$http/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo" | grep -q "MostRecentCheckpointTxId.*:.*\"$txid"; check "/jmx tells another checkpoint" $?

info=$(sed -n 's/^namespaceID=//p' "$d/name/current/VERSION") time=$(sed -n 's/^cTime=//p' "$d/name/current/VERSION") cluster=$(sed -n 's/^clusterID=//p' "$d/name/current/VERSION")
storage="-67:$info:$time:$cluster" file=$d/name/current/$image; md5=$(cut -c1-32 "$file.md5") length=$(stat -c %s "$file")
put() { curl -s -o "$d/answer" -w '%{http_code}' -X PUT -H "X-MD5-Digest: $3" --data-binary "@$file" "http://$http/imagetransfer?txid=$1&imageFile=IMAGE&File-Length=$length&storageInfo=$2"; }
sent() { local got; got=$(put "$2" "$3" "$4"); [ "$got" = "$5" ]; check "$1: $got $(head -c 200 "$d/answer"), not $5" $?; }
sent "one that comes too early" $((txid - 1)) "$storage" "$md5" 409
sent "what is there already" "$txid" "$storage" "$md5" 409
sent "another file system's" "$txid" "-67:1:2:CID-other" "$md5" 403
sent "no transaction" 0 "$storage" "$md5" 410
sent "a transaction to come" 1000000 "$storage" "$md5" 410
sent "no MD5" "$txid" "$storage" "" 410
sleep 13
sent "a file of another transaction" $((txid - 1)) "$storage" "$md5" 410
sent "a file that was changed under way" $((txid - 1)) "$storage" "00000000000000000000000000000000" 410
[ "$(ls "$d/name/current" | grep -c received)" = 0 ]; check "something is left of what was refused" $?

kill -9 "$(cat "$d/nn.pid")"; sleep 1; start
grep -q "loaded $image" "$d/nn.log"; check "the start is not on $image: $(grep -a loaded "$d/nn.log" | tail -1)" $?
"$H" fs "$d" -ls -R / 2>> "$d/fs.log" | awk '{print $NF}' | tr '\n' ' ' | grep -qx '/a /a/b /c /late '; check "the paths after it" $?
"$H" fs "$d" -getfacl /a 2>> "$d/fs.log" | grep -qx 'user:bob:rwx'; check "the ACL after it" $?
summary
