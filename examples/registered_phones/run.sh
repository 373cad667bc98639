#!/usr/bin/env bash
# Asks whether phone numbers are registered: most are not, and the database is asked only for those that may be.
#
#   examples/registered_phones/run.sh [NUMBERS]     (200k)
#
# Set $EVERSEEN to the program if it is not in PATH.
set -euo pipefail

numbers=${1:-200k}
everseen=${EVERSEEN:-everseen}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export EVERSEEN_STORE=file:$place/filters LC_ALL=C

# The database: the numbers that are registered. Then a day of questions, one in ten of them about such a number.
"$everseen" gen ids --count "$numbers" --range 13000000000..13999999999 --seed 1 | sort -u >registered
"$everseen" gen ids --count "$numbers" --range 13000000000..13999999999 --seed 2 >questions
shuf --random-source=registered -n "$(($(wc -l <registered) / 10))" registered >>questions

# Built once, then shared by all processes that ask; a new registration is `everseen add phones NUMBER`.
"$everseen" create phones --capacity "$numbers" --error-rate 1e-4 --quiet
"$everseen" add phones <registered

# `fresh` is certain: the number is not registered. The others are looked up.
"$everseen" check phones <questions >answers || true
sed -n 's/^seen\t//p' answers | sort >ask
comm -12 <(sort -u ask) registered >found

comm -12 <(sort -u questions) registered >exact
difference=$(comm -3 found exact | wc -l)
printf '%d questions, %d about registered numbers\n' "$(wc -l <questions)" "$(wc -l <exact)"
printf 'asked the database %d times, %d of them in vain\n' "$(wc -l <ask)" "$(comm -23 <(sort -u ask) registered | wc -l)"
printf 'the numbers take %d bytes, the filter %d\n' "$(wc -c <registered)" "$("$everseen" info phones --json | jq .bytes)"
printf 'difference %d\n' "$difference"
((difference == 0))
