#!/usr/bin/env bash
# Prints for each argument whether it is new, over HTTP.
#   everseen serve --http unix:/tmp/h &
#   sudo apt-get install curl jq
#   examples/curl/first_visit.sh /tmp/h alice bob alice
set -euo pipefail
ask() { curl -sS --unix-socket "$socket" -H 'Content-Type: application/json' --data-binary @- "http://localhost/api/v1/filters$1"; }
socket=$1
shift
jq -n '{name: "visitors"}' | ask "" >/dev/null # refused if the filter exists
jq -n '{keys: $ARGS.positional}' --args "$@" | ask /visitors/add |
  jq -r '[$ARGS.positional, .verdicts] | transpose[] | .[0] + (if .[1] == "fresh" then " is new" else " was here before" end)' --args "$@"
