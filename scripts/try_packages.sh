#!/usr/bin/env bash
# Tests the packages in minimal environments: the .deb in a bare Debian 12, installed by apt, the wheel there in a virtual
# environment, installed by pip, and the program of the .tar.gz in bare roots of Debian 11, 12 and 13 and in a root with
# nothing but its file. None has a network, except while apt downloads dependencies.
# ./dev package --try builds the packages first. Needs root, mmdebstrap, curl and socat, and what try_static.sh needs.
#
# usage: try_packages.sh DEB TAR_GZ WHEEL
set -euo pipefail

deb=$1
tar_gz=$2
wheel=$3
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C

# shellcheck source=scripts/bare_root.sh
. "$here/bare_root.sh"

say "a bare Debian 12"
bare=$work/bare
mmdebstrap --quiet --variant=apt bookworm "$bare"
cp "$deb" "$bare/everseen.deb"
cp /etc/resolv.conf "$bare/etc/resolv.conf"
before=$(chroot "$bare" dpkg-query --show | wc -l)
chroot "$bare" apt-get update -qq
chroot "$bare" apt-get install -qq -y --no-install-recommends --download-only /everseen.deb
inside "$bare" apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 /everseen.deb
echo "the .deb brought $(($(chroot "$bare" dpkg-query --show | wc -l) - before)) packages, itself included"
try_program "$bare" everseen

say "its Python package"
chroot "$bare" apt-get install -qq -y --no-install-recommends --download-only python3
inside "$bare" apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 python3
[[ $(inside "$bare" python3 -c 'import everseen; print(list(everseen.dedup(["a", "b", "a"])))') == "['a', 'b']" ]]

say "its library, from PHP and C"
chroot "$bare" apt-get install -qq -y --no-install-recommends --download-only php-cli gcc libc6-dev pkg-config
inside "$bare" apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 php-cli gcc libc6-dev pkg-config
cp -r "$here/../examples/php" "$bare/"
got=$(inside "$bare" php /php/first_visit.php file:/filters alice bob alice)
[[ $got == $'alice is new\nbob is new\nalice was here before' ]]
# shellcheck disable=SC2016  # the backticks are Markdown's
sed -n '/^```c$/,/^```$/p' "$bare/usr/share/doc/everseen/doc/library.md" | sed '/^```/d' >"$bare/main.c"
# shellcheck disable=SC2016  # the inner shell expands it
got=$(inside "$bare" sh -c 'cc main.c $(pkg-config --cflags --libs everseen-c) -o main && ./main')
[[ $got == *$'\nfresh\nfresh\nseen' ]]

say "the wheel, without the .deb"
inside "$bare" dpkg --remove everseen
chroot "$bare" apt-get install -qq -y --no-install-recommends --download-only python3-venv
inside "$bare" apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 python3-venv
cp "$wheel" "$bare/"
inside "$bare" python3 -m venv /venv
inside "$bare" /venv/bin/pip install --quiet --no-index --disable-pip-version-check "/$(basename "$wheel")"
[[ $(inside "$bare" /venv/bin/python -c 'import everseen; print(list(everseen.dedup(["a", "b", "a"])))') == "['a', 'b']" ]]
inside "$bare" dpkg --install /everseen.deb

for file in bash-completion/completions/everseen zsh/site-functions/_everseen fish/vendor_completions.d/everseen.fish; do
  test -s "$bare/usr/share/$file"
done
chroot "$bare" apt-get install -qq -y --no-install-recommends --download-only man-db
inside "$bare" apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 man-db
inside "$bare" man -w everseen everseen-dedup everseen-serve

say "the library of the .tar.gz"
inside "$bare" dpkg --remove everseen
tar --directory "$bare" --extract --gzip --file "$tar_gz"
unpacked=$(cd "$bare" && echo everseen-*/)
unpacked=${unpacked%/}
# shellcheck disable=SC2016  # the inner shell expands it
got=$(inside "$bare" env PKG_CONFIG_PATH="/$unpacked/lib/pkgconfig" LD_LIBRARY_PATH="/$unpacked/lib" \
  sh -c 'rm -r filters && cc main.c $(pkg-config --cflags --libs everseen-c) -o main && ./main')
[[ $got == *$'\nfresh\nfresh\nseen' ]]
got=$(inside "$bare" env PYTHONPATH="/$unpacked/lib/python3/dist-packages" \
  python3 -c 'import everseen; print(list(everseen.dedup(["a", "b", "a"])))')
[[ $got == "['a', 'b']" ]]

program=$bare/$unpacked/bin/everseen
for suite in bullseye bookworm trixie; do
  say "the program of the .tar.gz in a bare $suite"
  mmdebstrap --quiet --variant=essential "$suite" "$work/$suite"
  cp "$program" "$work/$suite/usr/bin/"
  try_program "$work/$suite" everseen
  "$here/try_static.sh" "$work/$suite" /usr/bin/everseen
  rm -rf --one-file-system "${work:?}/$suite"
done

say "the program of the .tar.gz alone"
mkdir "$work/empty"
cp "$program" "$work/empty/everseen"
[[ $(find "$work/empty" -mindepth 1) == "$work/empty/everseen" ]]
try_program "$work/empty" /everseen
"$here/try_static.sh" "$work/empty" /everseen

say "the program of the .tar.gz on a kernel as old as Linux 3.2"
# OpenSSL takes getrandom() for given where uname() says so, and so cannot be tried. Older kernels have a device instead.
mkdir "$work/empty/dev"
mknod -m 666 "$work/empty/dev/urandom" c 1 9
runner=("$here/old_kernel.py")
try_program "$work/empty" /everseen

say "the packages work"
