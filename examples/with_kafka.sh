#!/usr/bin/env bash
# usage: with_kafka.sh COMMAND...
# Runs a command with its own broker of Apache Kafka, which $EVERSEEN_BROKERS names and which ends with the command. If
# the broker is killed, it restarts. Kafka's own commands, such as kafka-topics.sh, are in PATH. Kafka is where
# $KAFKA_JARS says: the folder `libs` of a download, or build/peers/kafka, where ./dev peers puts it.
set -euo pipefail

jars=${KAFKA_JARS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/peers/kafka}
compgen -G "$jars/kafka-clients-*.jar" >/dev/null || {
  echo "with_kafka.sh: there is no Kafka in $jars: run ./dev peers, or set KAFKA_JARS" >&2
  exit 1
}
place=$(mktemp -d)
mkdir "$place/commands"

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)) && is_open "$port"; do :; done
  echo "$port"
}

# kafka_command NAME CLASS: a command of Kafka, under its usual name.
kafka_command() {
  printf '#!/bin/sh\nexec java -Xmx1g -cp "%s/*" %s "$@"\n' "$jars" "$2" >"$place/commands/$1"
  chmod +x "$place/commands/$1"
}
kafka_command kafka-storage.sh kafka.tools.StorageTool
kafka_command kafka-server-start.sh kafka.Kafka
kafka_command kafka-topics.sh org.apache.kafka.tools.TopicCommand
kafka_command kafka-log-dirs.sh org.apache.kafka.tools.LogDirsCommand
kafka_command kafka-console-producer.sh org.apache.kafka.tools.ConsoleProducer
kafka_command kafka-console-consumer.sh org.apache.kafka.tools.consumer.ConsoleConsumer
kafka_command kafka-consumer-perf-test.sh org.apache.kafka.tools.ConsumerPerformance
export PATH=$place/commands:$PATH

port=$(free_port)
controller=$(free_port)
cat >"$place/settings" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
log.dirs=$place/log
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
END
# Any cluster id of 16 bytes in base64.
kafka-storage.sh format --cluster-id MkU3OEVBNTcwNTJENDM2Qg --config "$place/settings" >"$place/said" 2>&1 ||
  { cat "$place/said" >&2; exit 1; }

serve() {
  while [[ ! -e $place/done ]]; do
    kafka-server-start.sh "$place/settings" >>"$place/said" 2>&1 &
    echo $! >"$place/broker"
    echo "the broker of Kafka is process $!" >&2
    { wait $!; } 2>>"$place/said" || true
    sleep 0.2
  done
}

clean_up() {
  touch "$place/done"
  kill -9 "$(<"$place/broker")" || true  # its log is removed anyway
  wait "$serving" || true
  rm -rf "$place"
}

serve &
serving=$!
trap clean_up EXIT
for ((tries = 0; tries < 1200; ++tries)); do
  ! is_open "$port" || break
  sleep 0.1
done
is_open "$port" || { cat "$place/said" >&2; exit 1; }
EVERSEEN_BROKERS=127.0.0.1:$port "$@"
