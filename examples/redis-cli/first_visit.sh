#!/bin/sh
# Prints for each argument whether it is new, with redis-cli.
#   everseen serve --listen unix:/tmp/s &
#   sudo apt-get install redis-tools
#   examples/redis-cli/first_visit.sh /tmp/s alice bob alice
set -eu

socket=$1
shift
for visitor; do
  if [ "$(redis-cli -s "$socket" BF.ADD visitors "$visitor")" = 1 ]; then
    echo "$visitor is new"
  else
    echo "$visitor was here before"
  fi
done
