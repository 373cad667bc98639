#!/usr/bin/env bash
# usage: valgrind.sh PYTHON
# Calls everything in the package under valgrind, in one round and in four. No access may be invalid, and more rounds
# may lose no more memory: memory that an interpreter loses once, when it imports modules, does not count.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

lost() {
  PYTHONMALLOC=malloc PYTHONPATH=$PYTHONPATH:$here valgrind --leak-check=full --show-leak-kinds=definite --log-file="$logs/$2" \
    --suppressions=/usr/lib/valgrind/python3.supp "$1" -c "
import everseen, memory_test
f, full = everseen.memory(capacity=100_000), everseen.memory(capacity=100, growth='refuse')
for _ in range($2):
    memory_test.use_everything(f, full)"
  if grep -E -A 20 'Invalid (read|write|free)|uninitialised|Mismatched free' "$logs/$2" >&2; then return 1; fi
  grep -E '(definitely|indirectly|possibly) lost' "$logs/$2" | grep -v 'loss record' | sed 's/==[0-9]*== *//'
}

once=$(lost "$1" 1)
often=$(lost "$1" 4)
[[ $once == "$often" ]] || { printf 'one round lost:\n%s\nfour rounds lost:\n%s\n' "$once" "$often"; exit 1; }
printf 'one round and four:\n%s\n' "$once"
