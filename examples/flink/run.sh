#!/usr/bin/env bash
# usage: with_redis.sh run.sh JAR
# Runs DropSeenEvents, kills the process five times at random, continues from the newest checkpoint, and compares the
# output with the exact answer. JAR is that of everseen; those of Flink are in build/peers/java, where ./dev peers puts
# them, or where $FLINK_JARS says. Exits with 77 without them.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
everseen=$(realpath "$1")
jars=${FLINK_JARS:-$here/../../build/peers/java}
compgen -G "$jars/flink-streaming-java-*.jar" >/dev/null || {
  echo "there is no Flink in $jars: run ./dev peers, or set FLINK_JARS"
  [[ -z ${EVERSEEN_PEERS_REQUIRED:-} ]] || exit 1
  exit 77
}
folder=$(mktemp -d)
worker=
end() {
  [[ -z $worker ]] || kill -9 "$worker" 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT

javac --release 11 -cp "$everseen:$jars/*" -d "$folder/classes" "$here"/*.java
java=(java -Xmx512m -cp "$folder/classes:$everseen:$jars/*" DropSeenEvents)

newest_checkpoint() {
  find "$folder/checkpoints" -name _metadata -printf '%T@ %h\n' 2>/dev/null | sort -n | tail -1 | cut -d' ' -f2 || true
}

kills=0
while :; do
  from=$(newest_checkpoint)
  "${java[@]}" run "$EVERSEEN_STORE" "$folder" ${from:+"file://$from"} >"$folder/log" 2>&1 &
  worker=$!
  if ((kills < 5)); then
    # Not before the job has come further, or it would never end.
    while [[ $(newest_checkpoint) == "$from" ]] && kill -0 "$worker" 2>/dev/null; do sleep 0.05; done
    sleep "0.$((RANDOM % 10))"
    if kill -9 "$worker" 2>/dev/null; then
      wait "$worker" 2>/dev/null || true
      kills=$((kills + 1))
      echo "killed; the newest checkpoint is $(basename "$(newest_checkpoint)")"
      continue
    fi
  fi
  wait "$worker" || { cat "$folder/log"; exit 1; }
  break
done
((kills == 5)) || { echo "the job ended after $kills kills"; exit 1; }
"${java[@]}" check "$folder"
