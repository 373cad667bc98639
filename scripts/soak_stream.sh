#!/usr/bin/env bash
# Counts many events through a private redis-server. Every ten seconds it prints the number of events and the memory of
# the job. Fails if the memory grows by more than a tenth after the first fifth of the events, or if the total is not
# exact.
#
#   scripts/soak_stream.sh [EVENTS] [PROGRAM] [MODULE]     (50000000 build/release/everseen, no module)
set -euo pipefail

events=${1:-50000000}
everseen=${2:-build/release/everseen}
place=$(mktemp -d)
store="unix:$place/redis.sock"

redis-server --port 0 --unixsocket "$place/redis.sock" --dir "$place" --save '' --logfile "$place/redis.log" \
  ${3:+--loadmodule "$(realpath "$3")"} &
server=$!
trap 'kill "$server" 2>"$place/log" || true; wait; rm -rf "$place"' EXIT
until redis-cli -s "$place/redis.sock" ping >"$place/log" 2>&1; do sleep 0.1; done

# Each event has its own id, and one in twenty is repeated: the number of fresh events is known without storing the ids.
mkfifo "$place/events"
"$everseen" gen clicks --count "$events" --repeats 5% --disorder 10s >"$place/events" &
"$everseen" stream --from - --filter soak --store "$store" --error-rate 1e-9 --capacity "$events" --key-json /id \
  --time-json /time --count hour:/time,/site --count '' --stats="$place/stats" <"$place/events" &
job=$!

resident() { awk '/VmRSS/ { print $2 }' "/proc/$job/status"; }
done_so_far() { "$everseen" counts soak --store "$store" --format csv 2>"$place/log" | awk -F, 'NR > 1 { n += $NF } END { print n + 0 }'; }

early=0
while sleep 10 && kill -0 "$job" 2>"$place/log"; do
  counted=$(done_so_far)
  now=$(resident || echo 0)
  printf '%12d counted  %8d KB resident  %s in redis\n' "$counted" "$now" \
    "$(redis-cli -s "$place/redis.sock" info memory | awk -F: '/^used_memory_human/ { print $2 }' | tr -d '\r')"
  ((early > 0 || counted < events / 5)) || early=$now
  if ((early > 0 && now > early + early / 10)); then
    echo "memory has grown from $early KB to $now KB"
    exit 1
  fi
done
wait "$job"
exact=$("$everseen" gen clicks --count "$events" --repeats 5% --disorder 10s | awk -F'"' '{ print $4 }' |
  LC_ALL=C sort -u -S 1G -T "$place" | wc -l)
counted=$(done_so_far)
cat "$place/stats"
echo "counted $counted, exactly $exact, difference $((counted - exact))"
((counted == exact))
