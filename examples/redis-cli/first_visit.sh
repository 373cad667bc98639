#!/bin/sh
# Tells of each argument whether it comes for the first time. Needs `everseen serve`, and redis-cli.
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
