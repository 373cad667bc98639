#!/usr/bin/env bash
# Tests the build for arm64 under qemu-user: the unit, property and golden tests, the Redis module in a redis-server for
# arm64, the wheel in a Python for it, the jar in a Java for it, and the static program of the .tar.gz in a root with nothing
# but its file and qemu.
# ./dev package --arch arm64 --try builds all of it first. Needs root, and what bare_root.sh and try_static.sh need.
#
# usage: try_arm64.sh BUILD_TREE SYSROOT TAR_GZ WHEEL JAVA_ROOT JAR
set -euo pipefail

build_tree=$(realpath "$1")
sysroot=$(realpath "$2")
tar_gz=$3
wheel=$4
java_root=$5
jar=$6
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
# shellcheck source=scripts/bare_root.sh
. "$here/bare_root.sh"
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)

say "unit, property and golden tests under qemu"
# The servers that load the module have to be for arm64, too.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %q -L %q %q "$@"\n' "$qemu" "$sysroot" "$sysroot/usr/bin/redis-server" >"$work/bin/redis-server"
chmod +x "$work/bin/redis-server"
# qemu-user starts no program of its own processor in place of itself, as a death test does; does not report that a program
# cannot be started; and has a /proc/self/maps of its own, which has a size.
untestable='*DeathTest.*:BlockReader.NamesTheMissingProgram:BlockReader.DoesNotTrustAFileThatClaimsToBeEmpty'
# test OPTION...
test() {
  PATH=$work/bin:$PATH ctest --test-dir "$build_tree" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
}
GTEST_FILTER=-$untestable test --label-regex '^(unit|property|golden)$'
say "the Redis module, in a redis-server for arm64"
test --tests-regex '^module\.'

say "the wheel"
"$here/../test/package/only_glibc.sh" "$build_tree/static/libeverseen.so" 34
"$here/../test/package/only_glibc.sh" "$build_tree/python/wheel/_everseen.abi3.so" 34
/usr/bin/python3 -m zipfile -e "$wheel" "$work/wheel"
[[ $(PYTHONPATH=$work/wheel "$qemu" -L "$sysroot" "$sysroot/usr/bin/python3" -c \
  'import everseen; print(list(everseen.dedup(["a", "b", "a"])))') == "['a', 'b']" ]]

say "the jar"
cat >"$work/Tried.java" <<'END'
import io.everseen.Filter;
import io.everseen.Options;
import java.util.List;

public class Tried {
  public static void main(String[] unused) {
    try (Filter filter = Filter.memory(new Options())) {
      System.out.println(System.getProperty("os.arch") + " " + filter.addAll(List.of("a", "b", "a")).isFresh(1)
          + " " + filter.addAll(List.of("a")).isFresh(0));
    }
  }
}
END
javac -cp "$jar" -d "$work" "$work/Tried.java"
java=("$java_root"/usr/lib/jvm/java-*-openjdk-arm64/bin/java)
[[ $("$qemu" -L "$java_root" "${java[0]}" -cp "$jar:$work" Tried) == "aarch64 true false" ]]

say "the program of the .tar.gz alone"
mkdir "$work/empty" "$work/unpacked"
tar --directory "$work/unpacked" --extract --gzip --file "$tar_gz"
cp "$work"/unpacked/everseen-*/bin/everseen "$work/empty/everseen"
cp "$qemu" "$work/empty/qemu"
try_program "$work/empty" /qemu /everseen
"$here/try_static.sh" "$work/empty" /qemu /everseen

say "the packages for arm64 work"
