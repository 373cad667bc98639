#!/usr/bin/env bash
# usage: installed.sh BUILD_TREE SOURCE_FOLDER CMAKE
# Installs a build tree as ./dev install does, and runs the examples in a new shell: in /usr/local of a root that has the
# packages of this machine and nothing else of everseen, where nothing may need a setting; and in a prefix where nobody
# looks, with the lines that the installer prints.
set -euo pipefail

build_tree=$1 source=$2 cmake=$3
work=$(mktemp -d "${TMPDIR:-/tmp}/everseen-installed.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

# install_at PREFIX [DESTDIR]
install_at() {
  DESTDIR=${2:-} "$cmake" --install "$build_tree" --prefix "$1" >"$work/log" || { cat "$work/log"; exit 1; }
}

# What a user has who has just logged in, and one folder of Go's standard library, compiled, for both runs.
mkdir "$work/home"
new_shell=(env -i HOME="$work/home" PATH=/usr/local/bin:/usr/bin:/bin TMPDIR="${TMPDIR:-/tmp}" LC_ALL=C.UTF-8
  PYTHONDONTWRITEBYTECODE=1 GOCACHE="$work/go")

# in_new_root COMMAND...: /usr/local is what was installed there, and the loader's cache may change.
in_new_root() {
  local enter=(unshare --mount)
  ((EUID == 0)) || enter=(unshare --mount --user --map-root-user)
  # shellcheck disable=SC2016  # the inner shell expands them
  "${enter[@]}" sh -euc 'mount --bind "$1/root/usr/local" /usr/local
    mount -t tmpfs none "$1/etc"
    mkdir "$1/etc/upper" "$1/etc/work"
    mount -t overlay none -o "lowerdir=/etc,upperdir=$1/etc/upper,workdir=$1/etc/work" /etc
    shift; exec "$@"' sh "$work" "$@"
}

echo "== in a prefix where nobody looks"
install_at "$work/prefix"
lines=$("${new_shell[@]}" "$source/scripts/after_install.sh" "$work/prefix")
echo "$lines"
"${new_shell[@]}" bash -euc "$lines"'; exec "$@"' bash "$source/test/examples/languages.sh" "$source"

echo "== in /usr/local"
install_at /usr/local "$work/root"
mkdir "$work/etc"
if ! in_new_root true; then
  echo "this machine lets nobody mount: skipped"
  exit 77
fi
# README's blocks, too: it promises that they work in a new shell.
# shellcheck disable=SC2016  # the shell in the new root expands them
in_new_root "${new_shell[@]}" bash -euo pipefail -c '
  lines=$("$1/scripts/after_install.sh" /usr/local)
  [[ -z $lines ]] || { printf "it needs lines:\n%s\n" "$lines"; exit 1; }
  bash "$1/test/examples/languages.sh" "$1"
  "$1/test/docs/readme_test.py" "$1/README.md" /usr/local/bin/everseen g++ -std=c++20 $(pkg-config --cflags --libs everseen)
' bash "$source"
