#!/usr/bin/env bash
# usage: after_install.sh PREFIX
# Prints the lines that a shell needs to find what was installed there: nothing for a PREFIX where everything looks. As
# root, it also updates the loader's cache.
set -euo pipefail

prefix=$1
export PATH=$PATH:/usr/sbin:/sbin

# line NAME VALUE: prepends the value in the reader's shell.
line() {
  # shellcheck disable=SC2016  # the reader's shell expands them
  printf 'export %s=%q${%s:+:$%s}\n' "$1" "$2" "$1" "$1"
}

[[ :$PATH: == *":$prefix/bin:"* ]] || line PATH "$prefix/bin"

# The folders of the loader, by their real names: /lib is /usr/lib.
folders=$(ldconfig -v -N -X 2>/dev/null | sed -n 's,^\(/[^:]*\):.*,\1,p')
folders=$(xargs -r -d '\n' realpath -m <<<"$folders")
if grep -q -x -F "$(realpath "$prefix/lib")" <<<"$folders"; then
  if ((EUID == 0)); then ldconfig; else echo "sudo ldconfig"; fi
else
  line LD_LIBRARY_PATH "$prefix/lib"
fi

# Without pkg-config, nobody needs its path.
if command -v pkg-config >/dev/null && ! pkg-config --exists everseen-c; then
  line PKG_CONFIG_PATH "$prefix/lib/pkgconfig"
fi

if [[ -d $prefix/lib/python3/dist-packages/everseen ]] && ! (cd / && /usr/bin/python3 -c 'import everseen') 2>/dev/null; then
  line PYTHONPATH "$prefix/lib/python3/dist-packages"
fi
