#!/bin/bash
# Every web page there is, in a real browser: it loads without a script error and shows what it must.
# usage: run.sh NAMENODE_HTTP DATANODE_HTTP
set -euo pipefail
command -v chromium > /dev/null || { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null; }
profile=$(mktemp -d); trap 'rm -rf "$profile"' EXIT
. "$(dirname "$0")/../lib.sh"
page() { # NAME URL TEXT...: the page as the browser has built it holds each TEXT
  local name=$1 url=$2 dom; shift 2
  dom=$(timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --user-data-dir="$profile" --virtual-time-budget=3000 --dump-dom "$url" 2> "$profile/log") || dom=
  for text; do
    try "$name: no \"$text\" on $url" grep -qF -- "$text" <<< "$dom"
  done
  if grep -q 'CONSOLE.*\(Uncaught\|SyntaxError\)' "$profile/log"; then failed=$((failed + 1)); echo "FAILED $name: script error"; fi
}
page "NameNode status" "http://$1/" "Surus" "Live" "127.0.0.1"
page "DataNode status" "http://$2/" "Surus" "DataNode"
summary
