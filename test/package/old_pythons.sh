#!/usr/bin/env bash
# usage: old_pythons.sh BUILD_TREE
# Installs and tests the wheel in the Pythons that ./dev peers brought: the oldest that its tag names, and the next.
# Exits with 77, which ctest reports as skipped, without them; with 1 if EVERSEEN_PEERS_REQUIRED is set as well.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
pythons=("$here"/../../build/peers/pythons/*/org/bytedeco/cpython/*/bin/python3)
if [[ ! -x ${pythons[0]} ]]; then
  echo "skipped: no Python 3.9; ./dev peers brings it"
  [[ -z ${EVERSEEN_PEERS_REQUIRED:-} ]] || exit 1
  exit 77
fi
for python in "${pythons[@]}"; do
  # Their programs find the library of Python by this alone, in a virtual environment, too.
  LD_LIBRARY_PATH=${python%/bin/*} "$here/wheel.sh" "$1" "$python"
done
