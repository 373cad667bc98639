#!/usr/bin/env bash
# usage: with_redis.sh run.sh JAR
# Runs three nights of NightlyJob on a cluster of two workers: kills executors and the program, lets Spark attempt slow
# tasks twice, runs a finished night again, and compares the output with the exact answer. JAR is that of
# everseen; those of Spark are in build/peers/spark, where ./dev peers puts them, or where $SPARK_JARS says. Exits with
# 77 without them.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
everseen=$(realpath "$1")
jars=${SPARK_JARS:-$here/../../build/peers/spark}
compgen -G "$jars/spark-sql_*.jar" >/dev/null || {
  echo "there is no Spark in $jars: run ./dev peers, or set SPARK_JARS"
  [[ -z ${EVERSEEN_PEERS_REQUIRED:-} ]] || exit 1
  exit 77
}
folder=$(mktemp -d)
processes=()
job=
end() {
  local all
  mapfile -t all < <(executors)
  { kill -9 "${all[@]}" "${processes[@]}" ${job:+"$job"} && wait; } 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT

javac --release 11 -cp "$everseen:$jars/*" -d "$folder/classes" "$here"/*.java
mkdir -p "$folder/home" "$folder/work"
ln -s "$(realpath "$jars")" "$folder/home/jars"
export SPARK_HOME=$folder/home SPARK_SCALA_VERSION=2.12 SPARK_LOCAL_DIRS=$folder/local
opens=()
for package in java.io java.lang java.lang.invoke java.net java.nio java.util java.util.concurrent sun.nio.ch; do
  opens+=(--add-opens "java.base/$package=ALL-UNNAMED")
done
java=(java -Xmx1g "${opens[@]}" -cp "$folder/classes:$everseen:$jars/*")

executors() { pgrep -f -- "-Dfolder=$folder .*CoarseGrainedExecutorBackend" || true; }

fail() {
  echo "$1"
  tail -n 40 "$folder"/*.log
  exit 1
}

# daemon NAME CLASS WORD...: a part of the cluster; prints nothing.
daemon() {
  java -Xmx256m -cp "$jars/*" "org.apache.spark.deploy.$2" "${@:3}" --webui-port 0 >"$folder/$1.log" 2>&1 &
  processes+=($!)
}
daemon master master.Master --host 127.0.0.1 --port 0
until master=$(grep -o 'spark://127.0.0.1:[0-9]*' "$folder/master.log" | head -1) && [[ -n $master ]]; do
  kill -0 "${processes[0]}" || fail "the master ended"
  sleep 0.1
done
# Two hosts, since Spark attempts a task twice on different hosts only.
for host in 127.0.0.1 127.0.0.2; do
  daemon "worker-$host" worker.Worker --host $host --cores 1 --memory 1g --work-dir "$folder/work" "$master"
done

# start WORD...: the program, as process $job
start() {
  "${java[@]}" -Dspark.master="$master" -Dspark.driver.host=127.0.0.1 -Dspark.ui.enabled=false \
    -Dspark.executor.memory=512m -Dspark.executor.extraClassPath="$folder/classes:$everseen" \
    -Dspark.executor.extraJavaOptions="-Dfolder=$folder" -Dspark.task.maxFailures=20 -Dspark.speculation=true \
    -Dspark.speculation.quantile=0.1 -Dspark.speculation.minTaskRuntime=1s NightlyJob "$@" >"$folder/job.log" 2>&1 &
  job=$!
}

# Waits until tasks of the night are writing, and for a random moment longer.
wait_for_tasks() {
  until compgen -G "$folder/output/$1/_temporary/0/_temporary/attempt_*" >/dev/null; do
    kill -0 "$job" 2>/dev/null || fail "$1 ended too early"
    sleep 0.02
  done
  sleep "0.$((RANDOM % 10))"
}

finish() {
  wait "$job" || fail "$1 failed"
  job=
  [[ -e $folder/output/$1/_SUCCESS ]] || fail "$1 has no output"
}

any_executor() {
  local executor
  until executor=$(executors | shuf -n 1) && [[ -n $executor ]]; do
    kill -0 "$job" || fail "the program has ended"
    sleep 0.02
  done
  echo "$executor"
}
state() { cat "$folder/output/$1"/part-* | sort | sha256sum; }

"${java[@]}" NightlyJob make "$folder"

echo "night-1: the program is killed, and the night runs again"
start run "$EVERSEEN_STORE" "$folder" night-1
wait_for_tasks night-1
kill -9 "$job"
wait "$job" 2>/dev/null || true
start run "$EVERSEEN_STORE" "$folder" night-1
finish night-1

echo "night-2: executors are killed"
start run "$EVERSEEN_STORE" "$folder" night-2
for _ in 1 2; do
  wait_for_tasks night-2
  kill -9 "$(any_executor)"
done
finish night-2

echo "night-3: an executor is slow, so others attempt its tasks, too"
start run "$EVERSEEN_STORE" "$folder" night-3
wait_for_tasks night-3
slow=$(any_executor)
kill -STOP "$slow"
finish night-3
kill -CONT "$slow" || true
grep -q "as speculatable" "$folder/job.log" || fail "Spark has attempted no task twice"

echo "night-1 runs again"
first=$(state night-1)
start run "$EVERSEEN_STORE" "$folder" night-1
finish night-1
[[ $(state night-1) == "$first" ]] || fail "night-1 has other rows than before"
"${java[@]}" NightlyJob check "$folder"

"${java[@]}" NightlyJob settle "$EVERSEEN_STORE" "$folder" night-1
start run "$EVERSEEN_STORE" "$folder" night-1
! wait "$job" || fail "night-1 ran although it is settled"
grep -q "night-1/part-.*.csv is settled" "$folder/job.log" || fail "night-1 failed otherwise"
[[ $(state night-1) == "$first" ]] || fail "the settled night lost rows"
