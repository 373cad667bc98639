#!/usr/bin/env bash
# usage: only_glibc.sh LIBRARY MINOR
# Fails unless a shared library needs glibc alone, of version 2.MINOR or an older one.
set -euo pipefail

library=$1 minor=$2
needed=$(readelf --dynamic "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
foreign=$(grep -v -E '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]+|ld-linux-[a-z0-9_-]+\.so\.[0-9]+)$' <<<"$needed" || true)
[[ -z $foreign ]] || { echo "$library needs $foreign"; exit 1; }
versions=$(objdump --dynamic-syms "$library" | grep -oE '\((GLIBC|GLIBCXX|CXXABI|GCC)_[0-9.]+\)' | sort -u -V)
newest=$(grep -oE 'GLIBC_2\.[0-9]+' <<<"$versions" | sort -V | tail -n 1)
((${newest#GLIBC_2.} <= minor)) || { echo "$library needs $newest"; exit 1; }
! grep -vE '^\(GLIBC_' <<<"$versions" || { echo "$library needs versions of other libraries"; exit 1; }
