#!/usr/bin/env bash
# Counts click events by ten minutes, site and country in a private Redis, and compares with the exact answer.
#
#   examples/clicks/run.sh [EVENTS]     (1M)
#
# One event in twenty is repeated, all arrive out of order, one in a hundred up to an hour late. Kill any process while
# it runs: the ids are printed, killed processes are restarted, and the difference stays 0.
# Set $EVERSEEN to the program if it is not in PATH.
set -euo pipefail

events=${1:-1M}
everseen=${EVERSEEN:-everseen}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
export EVERSEEN_STORE="unix:$place/redis.sock?timeout=2s"

# A killed server restarts with everything that it had acknowledged, because of appendfsync always.
serve() {
  while [[ ! -e $place/done ]]; do
    redis-server --port 0 --unixsocket "$place/redis.sock" --dir "$place" --save '' \
      --appendonly yes --appendfsync always --logfile "$place/redis.log" &
    echo "redis-server is process $!" >&2
    wait $! || true
    sleep 0.2
  done
}

clean_up() {
  touch "$place/done"
  redis-cli -s "$place/redis.sock" shutdown nosave >"$place/shutdown.log" 2>&1 || true
  wait
  rm -rf "$place"
}

# Restarts the job until it completes; a usage error (2) or damaged data (4) ends the script.
count() {
  local code
  while true; do
    "$everseen" stream --from "$place/clicks.jsonl" --filter clicks --error-rate 1e-9 --key-json /id \
      --time-json /time --window 3h --count 10m:/time,/site,/country --on-outage hold &
    echo "everseen stream is process $!" >&2
    code=0
    wait $! || code=$?
    case $code in
      0) return ;;
      2 | 4) exit "$code" ;;
    esac
    echo "everseen stream ended with $code; restarting it" >&2
    sleep 0.2
  done
}

"$everseen" gen clicks --count "$events" --repeats 5% --disorder 30s --late 1% --late-by 1h >"$place/clicks.jsonl"
trap clean_up EXIT
serve &
until redis-cli -s "$place/redis.sock" ping >"$place/ping.log" 2>&1; do sleep 0.05; done
count
"$everseen" counts clicks --format csv >"$place/counts.csv"
"$everseen" counts clicks --by time,site,country >"$place/counts.txt"
sed -n 1,12p "$place/counts.txt"
echo "... $(($(wc -l <"$place/counts.txt") - 1)) rows in all"
"$here/exact.py" "$place/clicks.jsonl" "$place/counts.csv"
