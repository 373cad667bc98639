#!/usr/bin/env bash
# usage: peer_servers.sh FOLDER
# Redis 8.0 and Valkey 8.1 as Debian 13 packs them, for tests on any Debian: FOLDER/redis8 and FOLDER/valkey each have
# redis-server, redis-cli and the other programs under Redis's names. In front of PATH, such a folder replaces the
# system's Redis for everything that a test starts.
set -euo pipefail

folder=$1
"$(dirname "$0")/sysroot.sh" trixie "$(dpkg --print-architecture)" "$folder/debian" \
  redis-server redis-tools valkey-server valkey-tools

# The C library is newer than that of Debian 12, so a program is run by the loader that belongs to its libraries.
loader=$(cd "$folder/debian" && echo usr/lib/*/ld-linux-*.so.*)
for program in "$folder"/debian/usr/bin/{redis,valkey}-*; do
  name=$(basename "$program")
  case $name in
    redis-*) command=$folder/redis8/$name ;;
    *) command=$folder/valkey/redis-${name#valkey-} ;;
  esac
  mkdir -p "$(dirname "$command")"
  cat >"$command" <<END
#!/bin/sh
root=\${0%/*}/../debian
exec "\$root/$loader" --argv0 "\$0" --library-path "\$root/${loader%/*}" "\$root/usr/bin/$name" "\$@"
END
  chmod +x "$command"
done
for server in redis8 valkey; do "$folder/$server/redis-server" --version; done
