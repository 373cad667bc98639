#!/usr/bin/env bash
# Tests a static program in a root file system: lines, a Redis whose host is in /etc/hosts, one whose host DNS knows, and
# TLS with a file of certificates, in a network of their own. It overwrites /etc/hosts, /etc/resolv.conf and
# /etc/nsswitch.conf there.
# ./dev package --try calls it. Needs root, redis-server, openssl, dnsmasq and ip.
#
# usage: try_static.sh ROOT PROGRAM..., a path in ROOT, behind that of an emulator if it needs one
set -euo pipefail

[[ -n ${EVERSEEN_TRY_NETWORK:-} ]] || EVERSEEN_TRY_NETWORK=own exec unshare --net "$0" "$@"
root=$1
shift
program=("$@")
work=$(mktemp -d "${TMPDIR:-/tmp}/everseen-static.XXXXXX")
servers=()
clean_up() {
  ((${#servers[@]} == 0)) || kill "${servers[@]}" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap clean_up EXIT

inside() {
  env -i /usr/sbin/chroot "$root" "${program[@]}" "$@"
}

ip link set lo up
# The services that Debian and Fedora name there for hosts are libraries of the system, which a static program may not load.
mkdir -p "$root/etc"
printf '127.0.0.1 localhost in-a-file.test\n' >"$root/etc/hosts"
printf 'nameserver 127.0.0.1\n' >"$root/etc/resolv.conf"
printf 'passwd: systemd files\nhosts: mymachines myhostname resolve [!UNAVAIL=return] mdns4_minimal [NOTFOUND=return]\n' \
  >"$root/etc/nsswitch.conf"

cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -keyout ca.key -out ca.crt 2>log
openssl req -newkey rsa:2048 -nodes -subj /CN=in-dns.test -keyout server.key -out server.csr 2>log
printf 'subjectAltName=DNS:in-dns.test\n' >names
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt 2>log
cp ca.crt "$root/ca.crt"

dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --user=root --listen-address=127.0.0.1 \
  --bind-interfaces --pid-file --address=/in-dns.test/127.0.0.1 &
servers+=($!)
redis-server --bind 127.0.0.1 --port 6379 --tls-port 6380 --tls-cert-file server.crt --tls-key-file server.key \
  --tls-ca-cert-file ca.crt --tls-auth-clients no --save '' --dir "$work" >redis.log &
servers+=($!)
for _ in {1..600}; do
  ! redis-cli -h 127.0.0.1 ping >/dev/null 2>&1 || break
  sleep 0.05
done

[[ $(printf 'a\nb\na\n' | inside dedup) == $'a\nb' ]]
seen() {
  local url=$1 name=$2 got
  shift 2
  got=$(printf 'a\nb\na\n' | inside dedup --filter "$name" --store "$url" "$@")
  printf '%s: %s\n' "$url" "$(tr '\n' ' ' <<<"$got")"
  [[ $got == $'a\nb' ]]
}
seen redis://in-a-file.test:6379 file
seen redis://in-dns.test:6379 dns
seen 'rediss://in-dns.test:6380?ca=/ca.crt' tls
# A name that its certificate does not have.
if inside list --store 'rediss://in-a-file.test:6380?ca=/ca.crt' 2>error; then exit 1; fi
cat error
grep -q certificate error
if inside list --store redis://nowhere.test:6379 2>error; then exit 1; fi
grep -q nowhere.test error
