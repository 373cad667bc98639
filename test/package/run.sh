#!/usr/bin/env bash
# Installs a build tree into a temporary prefix and uses it from outside, once with CMake and once with pkg-config.
# usage: run.sh BUILD_TREE CXX_COMPILER
set -euo pipefail

build_tree=$1
compiler=$2
outside=$(cd "$(dirname "$0")/outside" && pwd)

# With a blank, because users have such paths too.
work=$(mktemp -d "${TMPDIR:-/tmp}/everseen package.XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"

echo "== install"
cmake --install "$build_tree" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

echo "== find_package(everseen)"
cmake -S "$outside" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/build"
"$work/build/outside"

echo "== pkg-config everseen"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name everseen.pc)")
export PKG_CONFIG_PATH
# pkg-config escapes blanks for a shell to read, so a shell has to read them.
flags=()
eval "flags=($(pkg-config --cflags --libs everseen))"
"$compiler" -std=c++20 -o "$work/outside" "$outside/main.cpp" "${flags[@]}"
"$work/outside"

module="$prefix/lib/redis/modules/everseen.so"
if [[ -e "$module" ]]; then
  echo "== the installed module shows the server one function"
  [[ $(nm --dynamic --defined-only --format=just-symbols "$module") == RedisModule_OnLoad ]]
fi

if [[ -x "$prefix/bin/everseen" ]]; then
  echo "== the installed program"
  "$prefix/bin/everseen" --version
  test -s "$prefix/share/man/man1/everseen-dedup.1"
  test -s "$prefix/share/doc/everseen/doc/semantics.md"
  bash -n "$prefix/share/bash-completion/completions/everseen"
fi

echo "== the Debian package"
cpack --config "$build_tree/CPackConfig.cmake" -B "$work/package" >"$work/cpack.log" || { cat "$work/cpack.log"; exit 1; }
unpacked="$work/unpacked"
dpkg-deb --extract "$work"/package/everseen_*.deb "$unpacked"
dpkg-deb --field "$work"/package/everseen_*.deb Depends | grep -q libhiredis
test -s "$unpacked/usr/lib/redis/modules/everseen.so"
test -s "$unpacked/usr/share/doc/everseen/doc/module.md"
[[ $(printf 'a\nb\na\n' | "$unpacked/usr/bin/everseen" dedup) == $'a\nb' ]]
