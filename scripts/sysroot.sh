#!/usr/bin/env bash
# usage: sysroot.sh ARCHITECTURE FOLDER PACKAGE...
# Makes a sysroot for a cross compiler in FOLDER: these packages of Debian for another architecture, and those that they
# need, unpacked. Nothing changes on this machine: no architecture is added to its dpkg, and no root is needed.
set -euo pipefail

architecture=$1
folder=$2
shift 2
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

# It is made anew each time, in seconds, so that it has Debian's fixes. Files keep their times, so a build does not notice.
# For dpkg-query the packages are recorded, which unpacking alone does not.
# Unpacking executes nothing of a package, so root is as safe as another user, which later versions of mmdebstrap check.
rm -rf "$folder.new"
mkdir -p "$folder.new"
# Debian 13's packages have no /lib.
# shellcheck disable=SC2016  # the hooks' shells expand them
mmdebstrap --quiet --mode=chrootless --skip=check/chrootless --variant=extract --architectures="$architecture" \
  --include="$(IFS=,; echo "$*")" \
  --setup-hook='mkdir -p "$1/usr/lib" && ln -s usr/lib "$1/lib"' \
  --extract-hook='for deb in "$1"/var/cache/apt/archives/*.deb; do
      dpkg-deb --field "$deb"
      printf "Status: install ok unpacked\n\n"
    done >"$1/var/lib/dpkg/status"' \
  "$suite" - | tar --extract --directory "$folder.new" --exclude=./dev

# Absolute links would lead to files of this machine.
find "$folder.new/usr/lib" -lname '/*' -printf '%p %l\n' | while read -r link target; do
  ln --symbolic --force --no-dereference --relative "$folder.new$target" "$link"
done
rm -rf "$folder"
mv "$folder.new" "$folder"
