#!/usr/bin/env bash
# usage: exports.sh LIBRARY HEADER
# Checks that the library exports exactly the functions that its header declares: the interface of its SONAME.
set -euo pipefail

exported=$(nm --dynamic --defined-only --format=posix "$1" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | sort -u)
declared=$(grep -zoE 'EVERSEEN_API [^;]*;' "$2" | tr -d '\0' | grep -oE '\beverseen_[a-z0-9_]+\(' | tr -d '(' | sort -u)
diff <(printf '%s\n' "$declared") <(printf '%s\n' "$exported")
