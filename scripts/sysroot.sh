#!/usr/bin/env bash
# usage: sysroot.sh SUITE ARCHITECTURE FOLDER PACKAGE...
# Unpacks packages of a suite of Debian, and those that they need, into FOLDER: libraries for a cross compiler, or programs
# of another release. Nothing changes on this machine: no architecture or source is added to it, and no root is needed.
set -euo pipefail

suite=$1
architecture=$2
folder=$3
shift 3

# The mirrors that this machine uses for its own release have the others as well.
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
keys=/usr/share/keyrings/debian-archive-keyring.gpg
sources=$(apt-get --print-uris update |
  sed -En "s,^'(.*)/dists/$release(|-updates|-security)/main/binary-.*,deb [signed-by=$keys] \1 $suite\2 main,p" | sort -u)
[[ -n $sources ]] || { echo "sysroot.sh: apt has no source of Debian's packages" >&2; exit 1; }

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
  "$suite" - - <<<"$sources" | tar --extract --directory "$folder.new" --exclude=./dev

# Absolute links would lead to files of this machine.
find "$folder.new/usr/lib" -lname '/*' -printf '%p %l\n' | while read -r link target; do
  ln --symbolic --force --no-dereference --relative "$folder.new$target" "$link"
done
rm -rf "$folder"
mv "$folder.new" "$folder"
