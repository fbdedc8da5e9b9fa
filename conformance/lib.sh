# What the scripts below this directory share. Sourced: . "$(dirname "$0")/../lib.sh"
# Sets here (the script's directory), H (hadoop.sh), passed and failed.
here=$(cd "$(dirname "$0")" && pwd) H=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/hadoop.sh
passed=0 failed=0
# check WHAT STATUS: with a command in WHAT, $? would be that command's, so the status is kept in rc first.
check() { if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1"; fi; }
# try WHAT COMMAND...
try() { local rc=0; "${@:2}" || rc=$?; check "$1" $rc; }
# The last line of a script, and its status.
summary() { echo "$passed passed, $failed failed"; [ "$failed" = 0 ]; }
# as surus|java COMMAND...: hadoop.sh starts the binary $surus, or Hadoop.
as() { if [ "$1" = surus ]; then shift; SURUS=$surus "$@"; else shift; "$@"; fi; }
# prop DIR NAME VALUE: sets a key in DIR/conf/hdfs-site.xml.
prop() { sed -i "s|<property><name>$2</name><value>[^<]*</value></property>||; s|</configuration>|<property><name>$2</name><value>$3</value></property></configuration>|" "$1/conf/hdfs-site.xml"; }
# Surus's shell on the cluster in $d.
ours() { HADOOP_CONF_DIR=$d/conf "$surus" dfs "$@"; }
