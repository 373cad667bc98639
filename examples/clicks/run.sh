#!/usr/bin/env bash
# Counts click events by ten minutes, site and country in a private Redis, and compares with the exact answer.
#
#   examples/clicks/run.sh [EVENTS]     (1M)
#
# One event in twenty is repeated, all arrive out of order, one in a hundred up to an hour late. Kill any process while
# it runs: the ids are printed, killed processes are restarted, and the difference stays 0.
# Set $EVERSEEN to the program if it is not in PATH.
#
#   examples/with_kafka.sh examples/clicks/run.sh [EVENTS]
#
# reads the same events from a topic of a Kafka broker, $EVERSEEN_BROKERS, which may be killed as well.
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
    "$everseen" stream --from "$source" --filter clicks --error-rate 1e-9 --key-json /id \
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

# Puts the events into a topic, in four partitions at random. A restarted job is the same member of the group, so that it
# gets its partitions back without waiting until the killed one's session has ended.
send_to_kafka() {
  local topic=clicks-$$
  kafka-topics.sh --bootstrap-server "$EVERSEEN_BROKERS" --create --topic "$topic" --partitions 4 >"$place/kafka.log" 2>&1
  kafka-console-producer.sh --bootstrap-server "$EVERSEEN_BROKERS" --topic "$topic" <"$place/clicks.jsonl" \
    >>"$place/kafka.log" 2>&1
  source="kafka://$EVERSEEN_BROKERS/$topic?until=end&group.instance.id=clicks"
}

"$everseen" gen clicks --count "$events" --repeats 5% --disorder 30s --late 1% --late-by 1h >"$place/clicks.jsonl"
trap clean_up EXIT
serve &
until redis-cli -s "$place/redis.sock" ping >"$place/ping.log" 2>&1; do sleep 0.05; done
source=$place/clicks.jsonl
if [[ -n ${EVERSEEN_BROKERS:-} ]]; then send_to_kafka; fi
count
"$everseen" counts clicks --format csv >"$place/counts.csv"
"$everseen" counts clicks --by time,site,country >"$place/counts.txt"
sed -n 1,12p "$place/counts.txt"
echo "... $(($(wc -l <"$place/counts.txt") - 1)) rows in all"
"$here/exact.py" "$place/clicks.jsonl" "$place/counts.csv"
