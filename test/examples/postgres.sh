#!/bin/bash
# Kills examples/postgres/count_visits with -9 at random moments until it gets through, and compares its counts with
# the exact ones. PostgreSQL runs in a folder of its own, on a Unix socket, and does not run as root.
#
#   postgres.sh COUNT_VISITS
#
# Promise: a program with an effect in a database counts each event once through kill -9 (streams, Jobs in a
# program).
set -euo pipefail
count_visits=$1
here=$(mktemp -d)
bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -n 1)
as=()
if [[ $EUID == 0 ]]; then
  as=(setpriv --reuid postgres --regid postgres --clear-groups)
  chown postgres "$here"
fi
cd "$here"
trap '"${as[@]}" "$bin/pg_ctl" -D "$here/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$here"' EXIT
"${as[@]}" "$bin/initdb" -D data -A trust -U everseen --no-sync >initdb.log
"${as[@]}" "$bin/pg_ctl" -D data -w -l "$here/data/log" -o "-k $here -c listen_addresses=''" start >start.log
conninfo="host=$here user=everseen dbname=postgres"

# Visits whose ids are repeated, near or far.
awk 'BEGIN { srand(1); for (i = 0; i < 100000; ++i) {
  id = rand() < 0.4 && i > 0 ? int(rand() * i) : i; print "visit-" id " site-" id % 7 } }' >visits.txt
sort -u visits.txt | awk '{ ++n[$2] } END { for (site in n) print site "|" n[site] }' | sort >expected.txt

kills=0
while true; do
  "$count_visits" "file:$here/filters" "$conninfo" visits.txt &
  job=$!
  # The first runs end shortly after their start, however fast the machine is. Later runs get further, so that
  # together they finish.
  sleep "0.0$((RANDOM % 3))"
  ((kills < 6)) || sleep "$(awk -v kills=$kills 'BEGIN { print kills / 200 }')"
  if kill -9 $job 2>/dev/null; then kills=$((kills + 1)); fi
  if wait $job 2>/dev/null; then break; else code=$?; fi
  [[ $code == 137 ]] || { echo "count_visits failed with $code after $kills kills" >&2; exit 1; }
done
"$bin/psql" -XAt "$conninfo" -c 'SELECT site, visits FROM visits' | sort >counted.txt
diff expected.txt counted.txt
echo "exact after $kills kills"
((kills >= 5))
