#!/usr/bin/env bash
# usage: on_stores.sh COMMAND...
# Runs a test in memory, in files, and on a private Redis server: COMMAND... URL
set -euo pipefail

folder=$(mktemp -d)
server=
end() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  [[ -z $server ]] || wait "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT

redis-server --port 0 --unixsocket "$folder/redis" --save '' --dir "$folder" --logfile "$folder/log" &
server=$!
until redis-cli -s "$folder/redis" ping >/dev/null 2>&1; do
  kill -0 "$server" || { cat "$folder/log"; exit 1; }
  sleep 0.02
done

"$@" mem:
"$@" "file:$folder/filters"
"$@" "unix:$folder/redis"
