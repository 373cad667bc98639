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
# pkg-config escapes blanks for a shell, so a shell has to read its output.
flags=()
eval "flags=($(pkg-config --cflags --libs everseen))"
"$compiler" -std=c++20 -o "$work/outside" "$outside/main.cpp" "${flags[@]}"
"$work/outside"

echo "== the installed headers are those that everseen.hpp lists, and need no other"
documented=$(sed -n 's,^/// - \(everseen/[a-z0-9_/]*\.hpp\) .*,\1,p' "$prefix/include/everseen/everseen.hpp")
diff <(printf '%s\n' everseen/everseen.h everseen/everseen.hpp "$documented" | sort) \
  <(cd "$prefix/include" && find . -type f -printf '%P\n' | sort)
# ./dev check compiles each of them alone. Here they meet a user's warnings.
for header in $documented; do echo "#include <$header>"; done | cat - "$outside/main.cpp" >"$work/every_header.cpp"
"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -o "$work/every_header" "$work/every_header.cpp" "${flags[@]}"
"$work/every_header"

echo "== everseen::embedded has mem: and file:, but no Redis"
cmake -S "$outside/embedded" -B "$work/build_embedded" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/build_embedded"
eval "flags=($(pkg-config --cflags --libs everseen-embedded))"
"$compiler" -std=c++20 -o "$work/embedded" "$outside/embedded/main.cpp" "${flags[@]}"
for program in "$work/build_embedded/embedded" "$work/embedded"; do
  "$program" "$work/filters of $(basename "$(dirname "$program")")"
  # The functions of hiredis, OpenSSL, Asio, and of our own layer. The whole library has all of them.
  redis='\bredis[A-Z]|\bSSL_|boost::asio|everseen::redis::'
  if nm --demangle "$program" | grep -E "$redis"; then exit 1; fi
  nm --demangle "$work/outside" | grep -E "$redis" >"$work/redis"
  if ldd "$program" | grep -E 'ssl|crypto|hiredis'; then exit 1; fi
done

echo "== doc/library.md"
"$(dirname "$0")/library_test.py" "$prefix/share/doc/everseen/doc/library.md" "$prefix" "$compiler"

echo "== pkg-config everseen-c"
eval "flags=($(pkg-config --cflags --libs everseen-c))"
cc -std=c11 -Wall -Werror -I "$prefix/include/everseen" -o "$work/c_user" "$outside/../../capi/everseen_test.c" "${flags[@]}" \
  -Wl,-rpath,"$prefix/lib"
"$work/c_user"

module="$prefix/lib/redis/modules/everseen.so"
if [[ -e "$module" ]]; then
  echo "== the installed module shows the server one function"
  [[ $(nm --dynamic --defined-only --format=just-symbols "$module") == RedisModule_OnLoad ]]
fi

if [[ -x "$prefix/bin/everseen" ]]; then
  echo "== the installed program"
  "$prefix/bin/everseen" --version
  test -s "$prefix/share/man/man1/everseen-dedup.1"
  test -s "$prefix/share/doc/everseen/doc/guarantees.md"
  bash -n "$prefix/share/bash-completion/completions/everseen"
fi

echo "== the Debian package"
cpack --config "$build_tree/CPackConfig.cmake" -B "$work/package" >"$work/cpack.log" || { cat "$work/cpack.log"; exit 1; }
unpacked="$work/unpacked"
dpkg-deb --extract "$work"/package/everseen_*.deb "$unpacked"
needed=$(dpkg-deb --field "$work"/package/everseen_*.deb Depends | sed 's/ ([^)]*)//g')
# All of them are in Debian 12 and later, under this name.
[[ $needed =~ ^libc6,\ libgcc-s1,\ librdkafka1,\ libssl3(t64)?,\ libstdc\+\+6$ ]] || { echo "it depends on $needed"; exit 1; }
test -s "$unpacked/usr/lib/redis/modules/everseen.so"
test -s "$unpacked/usr/share/doc/everseen/doc/module.md"
[[ $(printf 'a\nb\na\n' | "$unpacked/usr/bin/everseen" dedup) == $'a\nb' ]]

if [[ -d $unpacked/usr/lib/python3 ]]; then
  echo "== its Python package"
  PYTHONPATH=$unpacked/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import everseen, importlib.metadata
assert importlib.metadata.version("everseen") == everseen.__version__
print("everseen", everseen.__version__, "by", everseen._everseen.__file__)
assert list(everseen.dedup(["a", "b", "a"])) == ["a", "b"]'
fi

echo "== the files for a container image"
examples="$unpacked/usr/share/doc/everseen/examples"
test -s "$examples/$(sed -n 's/^ *dockerfile: //p' "$examples/compose.yaml")"
(cd "$work/package" && compgen -G "$(sed -n 's/^COPY \(.*\) [^ ]*$/\1/p' "$examples/Containerfile")")

if [[ ! -e $(echo "$work"/package/everseen-*.tar.gz) ]]; then
  echo "this build has no static program, and so no .tar.gz: ./dev package makes both"
  exit
fi
echo "== the .tar.gz"
mkdir "$work/moved"
tar --directory "$work/moved" --extract --gzip --file "$work"/package/everseen-*.tar.gz
moved=$(echo "$work"/moved/everseen-*)
[[ $(printf 'a\nb\na\n' | "$moved/bin/everseen" dedup) == $'a\nb' ]]
# The program needs nothing from the system, and the library the C library alone.
needed=$(readelf --dynamic --program-headers "$moved/bin/everseen" | grep -E 'NEEDED|INTERP' || true)
[[ -z $needed ]] || { echo "the program is not static: $needed"; exit 1; }
bytes=$(stat --format=%s "$moved/bin/everseen")
((bytes < 15000000)) || { echo "the program has $bytes bytes"; exit 1; }
glibc=$(getconf GNU_LIBC_VERSION | cut -d. -f2)
"$(dirname "$0")/only_glibc.sh" "$moved/lib/libeverseen.so" "$((glibc == 36 ? 34 : glibc))"
[[ ! -e $moved/lib/everseen ]]
echo "== its program on a kernel as old as Linux 3.2"
printf 'a\nb\na\n' | gzip >"$work/lines.gz"
[[ $("$(dirname "$0")/../../scripts/old_kernel.py" "$moved/bin/everseen" dedup "$work/lines.gz") == $'a\nb' ]]
if [[ -x $build_tree/kafka_mock ]]; then
  echo "== its program has no Kerberos, and says so"
  coproc brokers { "$build_tree/kafka_mock" --topic clicks:1:10; }
  read -r address <&"${brokers[0]}"
  "$moved/bin/everseen" create clicks --capacity 1k --store "file:$work/filters"
  if "$moved/bin/everseen" stream --filter clicks --store "file:$work/filters" --to - \
    --from "kafka://$address/clicks?security.protocol=sasl_plaintext&sasl.mechanism=GSSAPI&sasl.kerberos.kinit.cmd=true" \
    2>"$work/error"; then exit 1; fi
  # shellcheck disable=SC2154  # coproc assigns it
  kill "$brokers_PID"
  grep 'no Kerberos (GSSAPI)' "$work/error"
fi
grep -q '^ExecStart=/opt/everseen/bin/everseen ' "$moved/lib/systemd/system/everseen.service"
for directory in include/everseen lib/cmake/everseen lib/redis/modules share/man/man1 share/bash-completion/completions \
  share/zsh/site-functions share/fish/vendor_completions.d share/doc/everseen/licences; do
  [[ -n $(ls -A "$moved/$directory") ]]
done
