#!/usr/bin/env bash
# usage: hardened.sh ARCHIVE PROGRAM_OR_LIBRARY...
# Fails unless all was built with what makes errors in memory harder to exploit (cmake/EverseenToolchain.cmake). The archive
# has our own objects alone; programs and libraries have objects of Debian's archives as well.
set -euo pipefail

archive=$1
shift
refused=0
# must FILE WHAT REGEX: standard input has such a line.
must() {
  grep -qE "$3" || { echo "$1: $2"; refused=1; }
}

symbols=$(nm --undefined-only --format=just-symbols "$archive")
must "$archive" "its stacks are not guarded" '^__stack_chk_fail' <<<"$symbols"
must "$archive" "buffers are not checked by the C library" '^__[a-z]+_chk$' <<<"$symbols"
case $(uname -m) in
  x86_64) landing=endbr64 ;;
  aarch64) landing='bti|paciasp' ;;
  *) landing= ;;
esac
code=$(objdump --disassemble --no-show-raw-insn "$archive" | grep -E -m 1 "\b($landing)\b" || true)
must "$archive" "jumps may lead anywhere" "$landing" <<<"$code"

for file in "$@"; do
  headers=$(readelf --wide --file-header --program-headers --dynamic "$file")
  must "$file" "its addresses are not random" '^ *Type: +DYN ' <<<"$headers"
  must "$file" "its stack may be executed" '^ *GNU_STACK .* RW +(0x)?[0-9]' <<<"$headers"
  must "$file" "it has no memory that is read-only after relocation" '^ *GNU_RELRO ' <<<"$headers"
  must "$file" "its table of functions stays writable" 'BIND_NOW|Flags:.* NOW' <<<"$headers"
done
exit "$refused"
