#!/usr/bin/env bash
# usage: junit.sh JAR
# Tests the jar as its users have it: by JUnit, on every store, with the virtual machine's own checks of native methods.
# Exits with 77, which ctest reports as skipped, without JUnit; with 1 if EVERSEEN_PEERS_REQUIRED is set as well.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
jar=$1
junit=$(compgen -G "$here/../../build/peers/java/junit-platform-console-standalone-*.jar") || {
  echo "JUnit is missing: ./dev peers brings it"
  [[ -z ${EVERSEEN_PEERS_REQUIRED:-} ]] || exit 1
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

javac --release 11 -encoding UTF-8 -Xlint:all,-options,-try -Werror -cp "$jar:$junit" -d "$work/classes" "$here"/*.java
mkdir "$work/tmp"
cat >"$work/on_store" <<END
#!/usr/bin/env bash
set -euo pipefail
select=(--scan-classpath "$work/classes" --exclude-classname MemoryTest)
[[ \$1 != memory ]] || select=(--select-class MemoryTest)
java -Xcheck:jni -Xms400m -Xmx400m -XX:+AlwaysPreTouch -Djava.io.tmpdir="$work/tmp" -Dstore="\$1" -jar "$junit" \\
  execute --class-path "$jar:$work/classes" --disable-banner --disable-ansi-colors --details=tree --fail-if-no-tests \\
  "\${select[@]}" 2>&1 | tee "$work/said"
! grep -A 5 'WARNING in native method\|FATAL ERROR in native method' "$work/said"
END
chmod +x "$work/on_store"
"$here/../capi/on_stores.sh" "$work/on_store"
"$work/on_store" memory
[[ -z $(find "$work/tmp" -name '*everseen*') ]] || { echo "files are left behind"; exit 1; }

# On a processor without a library in the jar, the error says what to do.
if said=$(java -Dos.arch=other -cp "$jar" "$here/../../examples/java/FirstVisit.java" mem: alice 2>&1); then exit 1; fi
[[ $said == *"this jar has no library for Linux on other; run ./dev jar on such a machine and take that jar, or "* ]] ||
  { echo "$said"; exit 1; }
