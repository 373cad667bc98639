#!/usr/bin/env bash
# usage: static_archives.sh FOLDER [CMAKE OPTION...]
# Makes archives of the libraries that Debian has as shared libraries alone, in FOLDER/lib, for the static program: from
# Debian's source packages, in the versions whose headers are installed. The apt of this machine stays as it is: its
# lists of source packages are in FOLDER. What is there already in the right version is kept.
set -euo pipefail

mkdir -p "$1"
folder=$(realpath "$1")
shift
options=("$@")

# archive PACKAGE ARCHIVES CMAKE OPTION...: PACKAGE has the headers. ARCHIVES are paths in the build folder.
archive() {
  local package=$1 archives=$2 version source
  shift 2
  version=$(dpkg-query --show --showformat='${source:Package}=${source:Version}' "$package")
  [[ $(cat "$folder/made/$package" 2>/dev/null) != "$version" ]] || return 0
  printf 'making an archive of %s\n' "$version"
  list_sources
  rm -rf "$folder/source" "$folder/build"
  mkdir -p "$folder/source" "$folder/lib" "$folder/made"
  (cd "$folder/source" && apt-get "${apt[@]}" source -qq --only-source "$version") >"$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
  source=$(echo "$folder"/source/*/)
  {
    cmake -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$folder=." \
      -DCMAKE_C_FLAGS="-ffile-prefix-map=$folder=." "${options[@]}" "$@"
    # shellcheck disable=SC2086  # a list of words
    ninja -C "$folder/build" $archives
    # shellcheck disable=SC2086
    (cd "$folder/build" && cp $archives "$folder/lib/")
  } >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  rm -rf "$folder/source" "$folder/build"
  echo "$version" >"$folder/made/$package"
}

apt=(-o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)

# The same suites as those of this machine's packages, of Debian itself; once a run.
list_sources() {
  [[ -z ${listed:-} ]] || return 0
  listed=yes
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  # shellcheck disable=SC2016  # apt expands them
  apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u >"$folder/sources.list"
  apt-get "${apt[@]}" update -qq
}

archive libfmt-dev libfmt.a -DFMT_TEST=OFF -DFMT_DOC=OFF
archive libspdlog-dev libspdlog.a -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF
archive libsimdjson-dev libsimdjson.a
archive prometheus-cpp-dev lib/libprometheus-cpp-core.a -DENABLE_PUSH=OFF -DENABLE_PULL=OFF -DENABLE_TESTING=OFF
