#!/usr/bin/env bash
# usage: jar.sh JAR
# The jar needs Java 11 and the C library, and shows no symbol but those that Java looks for.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m zipfile -e "$1" "$work"

minor=$(getconf GNU_LIBC_VERSION | sed 's/^glibc 2\.//; s/^36$/34/')
for library in "$work"/io/everseen/linux-*/libeverseen_jni.so; do
  "$here/only_glibc.sh" "$library" "$minor"
  if nm --dynamic --defined-only --format=just-symbols "$library" | grep -v '^JNI_OnLoad$\|^Java_io_everseen_Native_'; then exit 1; fi
done
[[ $(javap -verbose -cp "$1" io.everseen.Filter) == *"major version: 55"* ]] || { echo "not for Java 11"; exit 1; }
test -s "$work/META-INF/licenses/libssl-dev"
grep -q '<artifactId>everseen</artifactId>' "$work/META-INF/maven/io.everseen/everseen/pom.xml"
