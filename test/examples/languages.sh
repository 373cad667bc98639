#!/usr/bin/env bash
# usage: languages.sh SOURCE-FOLDER BUILD-FOLDER PYTHON
# Runs the examples that use libeverseen.so from other languages, over one filter on a Redis server: each sees
# the keys that the earlier ones added.
set -euo pipefail

source=$1 build=$2 python=$3
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

export LD_LIBRARY_PATH=$build PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1

# expect NAME OUTPUT EXPECTED
expect() {
  [[ $2 == "$3" ]] || { printf '%s printed:\n%s\nexpected:\n%s\n' "$1" "$2" "$3"; exit 1; }
}

expect PHP "$(EVERSEEN_HEADER=$source/everseen/capi/everseen.h php "$source/examples/php/first_visit.php" "$url" alice bob alice)" \
  $'alice is new\nbob is new\nalice was here before'

"$build/everseen" attach members --store "$url" --as bkdr-php --bits 10000000 --probes 6 --key members:bits --create 2>/dev/null
expect "PHP beside phpredis" "$(EVERSEEN_HEADER=$source/everseen/capi/everseen.h php "$source/examples/php/beside_phpredis.php" "$url" alice bob)" \
  $'alice, added by phpredis: seen by everseen\neverseen adds both: alice was there, bob is new\nbob, added by everseen: seen by phpredis'

export GOCACHE=$folder/go GOPATH=$folder/gopath GOFLAGS=-mod=mod CGO_CFLAGS="-I$source/everseen/capi" CGO_LDFLAGS="-L$build" GOTOOLCHAIN=local
expect Go "$(cd "$source/examples/go" && go run . "$url" bob carol)" $'bob was here before\ncarol is new'
(cd "$source/examples/go" && go vet ./... && go test ./...)

expect Java "$(java -cp /usr/share/java/jna.jar "$source/examples/java/FirstVisit.java" "$url" carol dave)" \
  $'carol was here before\ndave is new'

printf 'user,n\nerin,1\nfrank,2\nerin,3\n' > "$folder/1.csv"
printf 'user,n\ngrace,4\nfrank,5\n' > "$folder/2.csv"
expect pandas "$("$python" "$source/examples/pandas/new_rows.py" "$url" user "$folder/1.csv" "$folder/2.csv")" \
  $'user,n\nerin,1\nfrank,2\ngrace,4'
echo "all examples print the expected output"
