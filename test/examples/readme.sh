#!/usr/bin/env bash
# usage: readme.sh SOURCE_FOLDER EXAMPLE PYTHON PROGRAM
# Runs the shell block of an example's README, as its reader would with everything installed. The example
# itself compares with the exact answer.
set -euo pipefail

cd "$1"
# shellcheck disable=SC2016  # the backticks are Markdown's
block=$(sed -n '/^```sh$/,/^```$/p' "examples/$2/README.md" | sed '/^```/d; /^sudo /d')
[[ -n $block ]] || { echo "examples/$2/README.md has no block"; exit 1; }
installed=$(mktemp -d)
trap 'rm -rf "$installed"' EXIT
ln -s "$3" "$installed/python3"
ln -s "$4" "$installed/everseen"
PATH=$installed:$PATH bash -euo pipefail -c "$block"
