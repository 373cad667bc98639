#!/usr/bin/env bash
# usage: languages.sh SOURCE_FOLDER
# Runs the examples that use the library from other languages, with everseen as the environment has it installed, over
# one filter on a Redis server: each sees the keys that the earlier ones added.
set -euo pipefail

source=$1
folder=$(mktemp -d)
server=
end() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  [[ -z $server ]] || wait "$server" 2>/dev/null || true
  chmod -R u+w "$folder"  # Go's cache
  rm -rf "$folder"
}
trap end EXIT

redis-server --port 0 --unixsocket "$folder/redis" --save '' --dir "$folder" --logfile "$folder/log" &
server=$!
until redis-cli -s "$folder/redis" ping >/dev/null 2>&1; do
  kill -0 "$server" || { cat "$folder/log"; exit 1; }
  sleep 0.02
done
url=unix:$folder/redis
export PYTHONDONTWRITEBYTECODE=1

# expect NAME OUTPUT EXPECTED
expect() {
  [[ $2 == "$3" ]] || { printf '%s printed:\n%s\nexpected:\n%s\n' "$1" "$2" "$3"; exit 1; }
  echo "$1: as expected"
}

expect PHP "$(php "$source/examples/php/first_visit.php" "$url" alice bob alice)" \
  $'alice is new\nbob is new\nalice was here before'

everseen attach members --store "$url" --as bkdr-php --bits 10000000 --probes 6 --key members:bits --create 2>/dev/null
expect "PHP beside phpredis" "$(php "$source/examples/php/beside_phpredis.php" "$url" alice bob)" \
  $'alice, added by phpredis: seen by everseen\neverseen adds both: alice was there, bob is new\nbob, added by everseen: seen by phpredis'

export GOCACHE=${GOCACHE:-$folder/go} GOPATH=$folder/gopath GOFLAGS=-mod=mod GOTOOLCHAIN=local
expect Go "$(cd "$source/examples/go" && go run . "$url" bob carol)" $'bob was here before\ncarol is new'
(cd "$source/examples/go" && go vet ./... && go test ./...)

printf 'user,n\nerin,1\nfrank,2\nerin,3\n' > "$folder/1.csv"
printf 'user,n\ngrace,4\nfrank,5\n' > "$folder/2.csv"
expect pandas "$(/usr/bin/python3 "$source/examples/pandas/new_rows.py" "$url" user "$folder/1.csv" "$folder/2.csv")" \
  $'user,n\nerin,1\nfrank,2\ngrace,4'
expect asyncio "$(/usr/bin/python3 "$source/examples/python/asyncio_visits.py" "$url" carol heidi)" \
  $'carol was here before\nheidi is new'

# shellcheck disable=SC2016  # the backticks are Markdown's
sed -n '/^```c$/,/^```$/p' "$source/doc/library.md" | sed '/^```/d' > "$folder/main.c"
# shellcheck disable=SC2046  # options
(cd "$folder" && cc -std=c11 main.c $(pkg-config --cflags --libs everseen-c) -o main)
expect C "$(cd "$folder" && ./main | tail -n 3)" $'fresh\nfresh\nseen'
echo "all examples print the expected output"
