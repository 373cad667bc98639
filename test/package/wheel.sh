#!/usr/bin/env bash
# usage: wheel.sh BUILD_TREE PYTHON...
# Makes the wheel, checks it against its tag, and installs it with pip and without a network for each PYTHON, which may
# be later than the one it was built for.
set -euo pipefail

build_tree=$1
here=$(cd "$(dirname "$0")" && pwd)
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/everseen wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$here/../../scripts/make_wheel.sh" "$build_tree" "$work"
wheel=$(echo "$work"/everseen-*.whl)
glibc=$(sed -n 's/.*-cp39-abi3-manylinux_2_\([0-9]*\)_x86_64\.whl$/\1/p' <<<"$wheel")
[[ -n $glibc ]] || { echo "the wheel is named $wheel"; exit 1; }
/usr/bin/python3 -m zipfile -e "$wheel" "$work/unpacked"
module=$work/unpacked/everseen/_everseen.abi3.so

"$here/only_glibc.sh" "$module" "$glibc"
[[ $(nm --dynamic --defined-only --format=just-symbols "$module") == PyInit__everseen ]]
test -s "$work"/unpacked/everseen-*.dist-info/licenses/libssl-dev

# Built against the limited API: other functions may be missing in another version.
for python in "$@"; do
  echo "== $("$python" --version), $(basename "$wheel")"
  rm -rf "$work/venv"
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$wheel"
  (
    cd "$work"
    unset PYTHONPATH
    # With Python's own OpenSSL in the same process.
    "$work/venv/bin/python" -c '
import ssl, everseen
assert everseen.__file__.startswith(__import__("sys").prefix), everseen.__file__
ssl.create_default_context()'
    PYTHONDONTWRITEBYTECODE=1 "$here/../capi/on_stores.sh" "$work/venv/bin/python" "$here/../python/everseen_test.py"
  )
done
