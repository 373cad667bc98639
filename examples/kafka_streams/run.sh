#!/usr/bin/env bash
# usage: with_redis.sh run.sh JAR
# Runs three instances of DropSeenEvents while events arrive, kills or pauses one at random again and again, and compares
# the output with the exact answer. JAR is that of everseen; those of Kafka are in build/peers/kafka, where ./dev peers
# puts them, or where $KAFKA_JARS says. Exits with 77 without them.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
everseen=$(realpath "$1")
jars=${KAFKA_JARS:-$here/../../build/peers/kafka}
compgen -G "$jars/kafka-streams-*.jar" >/dev/null || {
  echo "there is no Kafka Streams in $jars: run ./dev peers, or set KAFKA_JARS"
  [[ -z ${EVERSEEN_PEERS_REQUIRED:-} ]] || exit 1
  exit 77
}
[[ -n ${EVERSEEN_BROKERS:-} ]] || exec "$here/../with_kafka.sh" "$0" "$@"
folder=$(mktemp -d)
instances=()
sender=
end() {
  kill -9 "${instances[@]}" ${sender:+"$sender"} 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT

javac --release 11 -cp "$everseen:$jars/*" -d "$folder/classes" "$here"/*.java
java=(java -Xmx256m -cp "$folder/classes:$everseen:$jars/*" DropSeenEvents)

start() {
  mkdir -p "$folder/$1"
  rm -f "$folder/$1/working"
  "${java[@]}" run "$EVERSEEN_BROKERS" "$EVERSEEN_STORE" "$folder/$1" >>"$folder/$1/log" 2>&1 &
  instances[$1]=$!
}

fail() {
  echo "$1"
  tail -n 50 "$folder"/*/log
  exit 1
}

for topic in clicks first-clicks; do
  kafka-topics.sh --bootstrap-server "$EVERSEEN_BROKERS" --create --topic $topic --partitions 6 >/dev/null
done
"${java[@]}" send "$EVERSEEN_BROKERS" "$folder/enough" &
sender=$!
for instance in 0 1 2; do start $instance; done

for ((kills = 0; kills < 6; ++kills)); do
  victim=$((RANDOM % 3))
  until [[ -e $folder/$victim/working ]]; do
    kill -0 "${instances[$victim]}" || fail "instance $victim ended"
    sleep 0.05
  done
  sleep "0.$((RANDOM % 10))"
  if ((kills == 3)); then
    # Longer than its session: others take its partitions over, and it does not know when it continues.
    echo "pausing instance $victim"
    kill -STOP "${instances[$victim]}"
    sleep 10
    kill -CONT "${instances[$victim]}"
  else
    echo "killing instance $victim"
    kill -9 "${instances[$victim]}"
    wait "${instances[$victim]}" 2>/dev/null || true
    start $victim
  fi
done
touch "$folder/enough"
wait $sender
sender=
"${java[@]}" check "$EVERSEEN_BROKERS" || fail "the output differs"
