#!/usr/bin/env bash
# Shows everseen in a minute: de-duplicates a large file with it and with `sort -u`, checks that both outputs hold the
# same set, and compares time and memory. ./dev demo builds the program first.
#
# usage: demo.sh [--awk]       --awk: also compare with mawk's exact '!seen[$0]++'
# COUNT=10000000               how many lines
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  "") with_awk=false ;;
  --awk) with_awk=true ;;
  *) echo "usage: demo.sh [--awk]" >&2; exit 2 ;;
esac

count=${COUNT:-10000000}
error_rate=1e-9
everseen=$PWD/build/release/everseen
work=build/demo
sample=$work/words-$count
export LC_ALL=C

if [[ ! -x $everseen ]]; then
  echo "demo.sh: build/release/everseen is missing; run ./dev demo" >&2
  exit 1
fi
mkdir -p "$work"

# measure NAME OUTPUT COMMAND...: runs it, and writes its seconds and peak KiB to $work/NAME.time
measure() {
  local name=$1 output=$2
  shift 2
  command time --format '%e %M' --output "$work/$name.time" "$@" >"$output"
}

# row TITLE NAME
row() {
  local seconds peak_kib base
  read -r seconds peak_kib <"$work/$2.time"
  read -r base _ <"$work/sort.time"
  awk -v title="$1" -v seconds="$seconds" -v kib="$peak_kib" -v count="$count" -v base="$base" 'BEGIN {
    # 0.01 is the resolution of time.
    if (seconds == 0) seconds = 0.01
    if (base == 0) base = 0.01
    printf "  %-34s %8.2f s %8.1f M lines/s %8.0f MiB %7.1f x\n",
      title, seconds, count / seconds / 1e6, kib / 1024, base / seconds
  }'
}

if [[ ! -s $sample ]]; then
  echo "Making $count lines ($sample) ..."
  "$everseen" gen words --count "$count" >"$sample.part"
  mv "$sample.part" "$sample"
fi
# Warms the page cache, so that no run is timed on a cold disk.
cat "$sample" >/dev/null

echo "De-duplicating with everseen ..."
measure everseen "$work/ours" "$everseen" dedup --error-rate "$error_rate" --stats="$work/stats.json" "$sample"
echo "De-duplicating with sort -u ..."
measure sort "$work/exact" sort -u "$sample"
if $with_awk; then
  echo "De-duplicating with mawk ..."
  # shellcheck disable=SC2016  # $0 is mawk's, not the shell's
  measure mawk "$work/mawk" mawk '!seen[$0]++' "$sample"
fi

echo "Comparing the two sets ..."
sort "$work/ours" >"$work/ours.sorted"
extra=$(comm -23 "$work/ours.sorted" "$work/exact" | wc -l)
dropped=$(comm -13 "$work/ours.sorted" "$work/exact" | wc -l)
kept=$(wc -l <"$work/ours")
distinct=$(wc -l <"$work/exact")
# Each distinct line is dropped at most at the error rate, so drops are Poisson. Bound: six standard deviations plus 1.
allowed=$(awk -v n="$distinct" -v p="$error_rate" 'BEGIN { mean = n * p; printf "%d", mean + 6 * sqrt(mean) + 1 }')

printf '\n%s lines, %s MiB, %s of them distinct; error rate %s\n\n' \
  "$count" "$(($(stat --format %s "$sample") >> 20))" "$distinct" "$error_rate"
printf '  %-34s %10s %16s %12s %9s\n' "" time speed memory "speed-up"
row "everseen dedup" everseen
row "sort -u" sort
! $with_awk || row "mawk '!seen[\$0]++'" mawk

printf '\n  everseen kept %s lines, in the order of the input; sort -u %s, sorted.\n' "$kept" "$distinct"
printf '  Lines kept twice or invented: %s (must be 0). New lines dropped: %s (at most %s by chance).\n' \
  "$extra" "$dropped" "$allowed"
printf '  Its own counts: %s\n\n' "$work/stats.json"

if ((extra > 0 || dropped > allowed)); then
  echo "demo.sh: the outputs differ by more than chance explains" >&2
  exit 1
fi
if ((dropped == 0)); then
  echo "The two outputs hold the same set."
else
  echo "The two outputs hold the same set, except for what chance explains."
fi
