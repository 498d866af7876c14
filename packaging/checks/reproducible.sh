#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release of HEAD twice, in unlike surroundings, and compares every byte.
#
# usage: ./dev check reproducible [--platform amd64|arm64]...
#
# The builds differ in path, time, umask, time zone, language, number of compilers and home; the
# second one uses no compiler cache. Prints the number of files with equal SHA256 last.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }

ensure_cxx
ensure_go
fetch_sources
area=$(mktemp -d /var/tmp/nef-reproducible.XXXXXX)
trap 'chmod -R u+w "$area" && rm -rf "$area"' EXIT

build() {  # build UMASK FOLDER [OPTION...]: a clone there, and its release in FOLDER/out
  local mask="$1" folder="$2"
  shift 2
  say "building in $folder"
  (
    umask "$mask"
    git clone -q "$NEF_ROOT" "$folder"
    git -C "$folder" reset -q --hard "$commit" # the checkout may go on in the meantime
    mkdir -p "$folder/build"
    cp -r "$NEF_BUILD/downloads" "$folder/build/"
    "$folder/packaging/release" --out "$folder/out" "${options[@]}" "$@" >/dev/null
  ) 2>"$(log_file "reproducible-$mask")" ||
    die "the build in $folder failed" "$(tail -n 20 "$(log_file "reproducible-$mask")")"
}

options=("$@")
commit=$(git -C "$NEF_ROOT" rev-parse HEAD)
one="$area/one" two="$area/another/much/longer/path/two"
mkdir -p "$(dirname "$two")" "$area/home"
build 022 "$one"
modules=$(cd "$NEF_ROOT" && go env GOMODCACHE)
export GOMODCACHE="$modules"
HOME="$area/home" TZ=Pacific/Chatham LANG=C.UTF-8 NEF_JOBS=1 build 077 "$two" --no-ccache

if ! diff "$one/out/SHA256SUMS" "$two/out/SHA256SUMS"; then
  die "the builds differ"
fi
(cd "$two/out" && sha256sum -c SHA256SUMS)
tags() { git -C "$1" bundle list-heads "$1"/out/*-go.bundle; }
[ "$(tags "$one")" = "$(tags "$two")" ] || die "the release commits differ" "$(tags "$one")" "$(tags "$two")"
echo "$(wc -l <"$one/out/SHA256SUMS") files of two builds have the same SHA256, the tags the same commit"
