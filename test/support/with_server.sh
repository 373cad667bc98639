#!/bin/sh
# usage: with_server.sh redis8|valkey COMMAND...
# Runs COMMAND, and the servers that it starts, with a server of ./dev peers in place of the system's Redis. Exits with
# 77, which ctest reports as skipped, if that server is missing; with 1 if EVERSEEN_PEERS_REQUIRED is set as well.
server=$1
shift
folder=$(cd "$(dirname "$0")/../.." && pwd)/build/peers/servers/$server
if [ ! -x "$folder/redis-server" ]; then
  echo "$server is missing: ./dev peers brings it"
  [ -z "$EVERSEEN_PEERS_REQUIRED" ] || exit 1
  exit 77
fi
exec env PATH="$folder:$PATH" "$@"
