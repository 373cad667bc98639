#!/usr/bin/env bash
# usage: make_wheel.sh BUILD_TREE FOLDER
# Makes a wheel of the Python package of a build tree in FOLDER.
set -euo pipefail

content=$(mktemp -d)
trap 'rm -rf "$content" "$content.log"' EXIT
cmake --install "$1" --component wheel --strip --prefix "$content" >"$content.log" || { cat "$content.log"; exit 1; }
/usr/bin/python3 -m wheel pack --dest-dir "$2" "$content"
