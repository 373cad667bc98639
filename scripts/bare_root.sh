# shellcheck shell=bash
# Functions for scripts that try what was built in a root file system of its own, which are sourced: a working folder
# $work, and programs in roots, without a network. Needs root, curl and socat.

((EUID == 0)) || { echo "$(basename "$0"): only root can create a root file system" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/everseen-try.XXXXXX")
server=
clean_up() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
say() { printf '\n== %s\n' "$*"; }

# enter ROOT COMMAND...: executes that command in ROOT. All symbols are resolved at the start, so that a library that is
# too old is detected. The program of the .deb finds its own libraries through /proc.
runner=()
enter() {
  local root=$1
  shift
  # shellcheck disable=SC2016  # the inner shell expands them
  exec unshare --net --mount env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LD_BIND_NOW=1 DEBIAN_FRONTEND=noninteractive \
    "${runner[@]}" sh -c '[ ! -d "$0/proc" ] || mount --bind /proc "$0/proc"; exec chroot "$0" "$@"' "$root" "$@"
}

inside() {
  (enter "$@")
}

# try_program ROOT PROGRAM...: PROGRAM is a path in ROOT, behind that of an emulator if it needs one.
try_program() {
  local once exact
  inside "$@" --version
  inside "$@" gen words --count 100k >"$work/words"
  once=$(inside "$@" dedup <"$work/words" | wc -l)
  exact=$(sort -u "$work/words" | wc -l)
  echo "dedup: $once lines of $(wc -l <"$work/words"); sort -u: $exact"
  # At the default rate of one in a million, a hundred thousand lines lose a line in less than one run in ten.
  ((once <= exact && once >= exact - 3))
  try_server "$@"
}

# ask ROOT: sends standard input to the server over the Redis protocol, and prints the answers on one line.
ask() {
  socat -t 10 - "UNIX-CONNECT:$1/run/redis.sock" | tr -d '\r' | tr '\n' ' '
}

# try_server ROOT PROGRAM...
try_server() {
  local root=$1 got
  mkdir -p "$root/run"
  rm -f "$root/run/redis.sock" "$root/run/http.sock"
  enter "$@" serve --store mem: --listen unix:/run/redis.sock --http unix:/run/http.sock &
  server=$!
  for _ in {1..600}; do
    [[ ! -S $root/run/http.sock ]] || break
    kill -0 "$server"
    sleep 0.05
  done
  got=$(printf 'BF.ADD clicks alice\r\n' | ask "$root")
  [[ $got == ':1 ' ]]
  got=$(curl --silent --show-error --max-time 30 --unix-socket "$root/run/http.sock" \
    http://localhost/api/v1/filters/clicks/check -H 'Content-Type: application/json' -d '{"keys":["alice","bob"]}')
  echo "HTTP: $got"
  [[ $got == '{"verdicts":["seen","fresh"]'* ]]
  got=$(printf 'BF.EXISTS clicks alice\r\nBF.EXISTS clicks bob\r\nSHUTDOWN\r\n' | ask "$root")
  echo "RESP: $got"
  [[ $got == ':1 :0 '* ]]
  wait "$server"
  server=
}
