#!/usr/bin/env bash
# usage: with_redis.sh COMMAND...
# Runs a command with its own Redis server, which $EVERSEEN_STORE names and which ends with the command.
set -euo pipefail

place=$(mktemp -d)
redis-server --port 0 --unixsocket "$place/redis.sock" --dir "$place" --save '' --appendonly yes --logfile "$place/log" &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$place"' EXIT
until redis-cli -s "$place/redis.sock" ping >/dev/null 2>&1; do
  kill -0 $server || { cat "$place/log" >&2; exit 1; }
  sleep 0.05
done
EVERSEEN_STORE=unix:$place/redis.sock "$@"
