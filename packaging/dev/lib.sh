# SPDX-License-Identifier: Apache-2.0
# Shared by every ./dev command. Sourced, never run.
# shellcheck shell=bash

NEF_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
NEF_BUILD="$NEF_ROOT/build"
JOBS="${NEF_JOBS:-$(nproc)}"

say() { printf '==> [%d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2; }
die() {
  printf 'dev: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '     %s\n' "$@" >&2
  exit 1
}

# Prints the leading comment block of a command file: the help text is the file's own header.
print_help() {
  awk 'NR==1 || /^# SPDX/ {next} /^#/ {sub(/^# ?/, ""); print; next} {exit}' "$1"
}

wants_help() {
  local a
  for a in "$@"; do case "$a" in -h | --help) return 0 ;; --) return 1 ;; esac; done
  return 1
}

# Root runs commands directly; anybody else goes through sudo, which asks once.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root" "log in as root or install sudo, then run the same command again"
  fi
}

have_package() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

# A run that was killed leaves packages unpacked but not configured, or even its dpkg still at work.
finish_interrupted_dpkg() {
  local try log
  log="$(log_file dpkg)"
  for try in $(seq 100); do
    as_root dpkg --configure -a >"$log" 2>&1 && return 0
    grep -q 'locked by' "$log" || break
    [ "$try" -gt 1 ] || say "waiting for another dpkg to finish"
    sleep 5
  done
  die "dpkg cannot finish what an earlier run began" "$(tail -n 5 "$log")"
}

apt_update_once() {
  # One refresh per run at most: an interrupted run simply refreshes again.
  [ -z "${NEF_APT_UPDATED:-}" ] || return 0
  as_root apt-get -o DPkg::Lock::Timeout=500 -qq update
  NEF_APT_UPDATED=1
}

# install_packages NAME...: installs what is missing; the package database is the stamp.
# apt options for a private root (see suite_root) may stand in the array APT_OPTIONS.
APT_OPTIONS=()
install_packages() {
  local missing=() p
  for p in "$@"; do have_package "$p" || missing+=("$p"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || die "this is not a Debian system" "install by hand: ${missing[*]}"
  say "installing ${missing[*]}"
  finish_interrupted_dpkg
  apt_update_once
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=500 -qq -y \
    "${APT_OPTIONS[@]}" --no-install-recommends install "${missing[@]}" >"$(log_file apt)" 2>&1 || {
    tail -n 20 "$(log_file apt)" >&2
    die "apt could not install: ${missing[*]}" "full log: $(log_file apt)"
  }
}

log_file() { mkdir -p "$NEF_BUILD/logs" && echo "$NEF_BUILD/logs/$1.log"; }

sha256_is() { [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

# Mirrors are the ones this system's apt already uses; the repository names none itself.
apt_mirrors() {
  # shellcheck disable=SC2016 # these are apt's own placeholders
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sort -u
}

os_field() { sed -n "s/^$1=//p" /etc/os-release | tr -d '"'; }

# lock_field NAME COLUMN: reads packaging/deps.lock (2 version, 3 path, 4 sha256).
lock_field() { awk -v n="$1" -v c="$2" '$1 == n {print $c}' "$NEF_ROOT/packaging/deps.lock"; }

# fetch_source NAME: leaves the pinned source tree in build/deps/NAME.
fetch_source() {
  local name="$1" version path sum dest tarball tmp mirror
  version=$(lock_field "$name" 2) path=$(lock_field "$name" 3) sum=$(lock_field "$name" 4)
  dest="$NEF_BUILD/deps/$name"
  [ "$(cat "$dest/.nef-pin" 2>/dev/null)" = "$sum" ] && return 0

  tarball="$NEF_BUILD/downloads/${path##*/}"
  mkdir -p "$NEF_BUILD/downloads" "$NEF_BUILD/deps"
  if ! { [ -f "$tarball" ] && sha256_is "$tarball" "$sum"; }; then
    say "fetching $name $version (Debian source, pinned by sha256)"
    # apt's own helper: same mirrors, proxies and certificates as apt, checks the hash itself.
    for mirror in $(apt_mirrors); do
      /usr/lib/apt/apt-helper download-file "${mirror%/}/pool/main/$path" "$tarball.part" \
        "SHA256:$sum" >/dev/null 2>&1 && mv "$tarball.part" "$tarball" && break
    done
  fi
  { [ -f "$tarball" ] && sha256_is "$tarball" "$sum"; } ||
    die "cannot fetch $name $version" \
      "expected pool/main/$path with sha256 $sum on one of this system's Debian mirrors" \
      "fix: check the network, put that file into build/downloads/, or update packaging/deps.lock"

  # Unpack beside the target and rename, so that a half unpacked tree is never used.
  tmp="$dest.tmp.$$"
  rm -rf "$tmp" "$dest" && mkdir -p "$tmp"
  tar -xzf "$tarball" -C "$tmp" --strip-components=1
  echo "$sum" >"$tmp/.nef-pin"
  mv "$tmp" "$dest"
}

fetch_sources() { fetch_source highway && fetch_source cjson; }

# ---- toolchains

ensure_cxx() {
  install_packages g++ cmake ninja-build ccache libgtest-dev python3 pkgconf git ca-certificates
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Another clone or build folder on this machine is served from the same cache.
  export CCACHE_BASEDIR="$NEF_ROOT" CCACHE_NOHASHDIR=1
}

GO_NEEDED=1.24            # what go.mod asks for
GO_TOOLCHAIN=go1.24.13    # fetched from the module proxy when the installed Go is older

go_at_least() {  # go_at_least GO_BINARY VERSION
  local have
  have=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  [ "$(printf '%s\n' "$2" "${have#go}" | sort -V | head -n 1)" = "$2" ]
}

# Another suite of Debian, read through a private apt root, so that the system's list of suites stays
# as it is. Sets APT_OPTIONS.
suite_root() {  # suite_root SUITE
  local suite="$1" root="$NEF_BUILD/apt/$1" mirror
  mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/sources"
  cp /etc/apt/sources.list "$root/sources/" 2>/dev/null || true
  cp /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources "$root/sources/" 2>/dev/null || true
  mirror=$(apt_mirrors | grep -v -- '-security' | head -n 1)
  [ -n "$mirror" ] || die "apt knows no Debian mirror" "fix: /etc/apt/sources.list"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror%/} $suite main" \
    >"$root/sources/$suite.list"
  APT_OPTIONS=(-o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$root/sources"
    -o "Dir::State::Lists=$root/lists" -o "Dir::Cache=$root/cache"
    -o APT::Sandbox::User=root -t "$suite")
  as_root apt-get "${APT_OPTIONS[@]}" -qq update
}

# Packages of Debian's newest suite, unpacked into FOLDER/tree and installed nowhere, with their names and versions in
# FOLDER/versions.
unpack_from_sid() {  # unpack_from_sid FOLDER PACKAGE...
  local folder="$1" package
  shift
  local APT_OPTIONS=()
  suite_root sid
  mkdir -p "$folder/packages"
  (cd "$folder/packages" && apt-get "${APT_OPTIONS[@]}" -qq download "$@" >&2) || die "cannot fetch $*"
  for package in "$folder/packages"/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
    dpkg-deb -f "$package" Package Version | awk '{printf "%s ", $2} END {print ""}' >>"$folder/versions"
  done
  rm -r "$folder/packages"
}

# Puts a Go on PATH that is, or can fetch, the version go.mod asks for.
ensure_go() {
  local dir
  for dir in "$(dirname "$(command -v go || echo /nowhere/go)")" /usr/local/go/bin \
    /usr/lib/go-1.2[1-9]/bin /usr/lib/go/bin; do
    [ -x "$dir/go" ] && go_at_least "$dir/go" 1.21 && break
    dir=""
  done
  if [ -z "$dir" ]; then
    if [ "$(os_field VERSION_CODENAME)" = bookworm ]; then
      # Its own Go is too old to fetch a newer one, its backports' is not.
      suite_root bookworm-backports
      install_packages golang-1.23-go
      APT_OPTIONS=()
      dir=/usr/lib/go-1.23/bin
    else
      install_packages golang-go
      dir=$(dirname "$(command -v go)")
    fi
  fi
  export PATH="$dir:$PATH"
  # A checkout owned by somebody else would make Go refuse to ask git for a version stamp.
  export GOFLAGS="-buildvcs=false ${GOFLAGS:-}"
  # Debian sets GOTOOLCHAIN=local; a newer toolchain is named here, in full, so that it is pinned.
  go_at_least "$dir/go" "$GO_NEEDED" || export GOTOOLCHAIN="$GO_TOOLCHAIN+auto"
  (cd / && go version >/dev/null 2>&1) ||
    die "Go $GO_NEEDED is needed, $dir/go cannot fetch $GO_TOOLCHAIN" "check GOPROXY and the network"
}

# ---- build

NEF_RELEASE="$NEF_BUILD/release"

# configure PRESET [cmake options]: CMake re-runs itself when its inputs change.
configure() {
  local preset="$1"
  shift
  cd "$NEF_ROOT" || return 1
  if [ $# -eq 0 ] && [ -f "$NEF_BUILD/$preset/build.ninja" ]; then return 0; fi
  say "configuring build/$preset"
  cmake --preset "$preset" "$@" >"$(log_file "configure-$preset")" 2>&1 || {
    tail -n 30 "$(log_file "configure-$preset")" >&2
    die "CMake failed for build/$preset" "full log: $(log_file "configure-$preset")"
  }
}

compile() {  # compile PRESET [TARGET...]
  local preset="$1" targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  say "compiling build/$preset ${*:-}"
  cmake --build "$NEF_BUILD/$preset" -j "$JOBS" "${targets[@]}" >&2
}

platform() { echo "$(go env GOOS)_$(go env GOARCH)"; }

# Copies only what differs, by rename, so that a reader never sees half a file.
install_file() {  # install_file FROM TO
  cmp -s "$1" "$2" || { cp "$1" "$2.part" && mv "$2.part" "$2"; }
}

# Hands archive and headers to the Go package. The stamp header carries their hash: Go watches
# the headers of a package, not its archives, so this is what makes it relink after a change.
stage_go_archive() {  # stage_go_archive [PLATFORM ARCHIVE]
  local dir archive header stamp
  archive="${2:-$NEF_RELEASE/lib/libnef.a}"
  [ -f "$archive" ] || die "no $archive" "the C API is not built; see the output above"
  dir="$NEF_ROOT/go/native/lib/${1:-$(platform)}"
  mkdir -p "$dir/include/nef"
  install_file "$archive" "$dir/libnef.a"
  for header in "$NEF_ROOT"/capi/include/nef/*.h; do
    install_file "$header" "$dir/include/nef/${header##*/}"
  done
  for header in "$dir"/include/nef/*.h; do
    [ -f "$NEF_ROOT/capi/include/nef/${header##*/}" ] || rm "$header"
  done
  stamp=$(cat "$archive" "$dir"/include/nef/*.h | sha256sum | cut -d' ' -f1)
  printf '/* Made by ./dev build from the archive and headers beside this file. */\n%s "%s"\n' \
    "#define NEF_ARCHIVE_SHA256" "$stamp" >"$NEF_BUILD/nef_stamp.h"
  install_file "$NEF_BUILD/nef_stamp.h" "$dir/nef_stamp.h"
}

build_hydra() {
  [ -f "$NEF_ROOT/go/hydra/cmd/hydra/main.go" ] || return 0
  say "building build/bin/hydra"
  (cd "$NEF_ROOT/go/hydra" && go build -o "$NEF_BUILD/bin/hydra" ./cmd/hydra)
}

# Go modules of the repository that exist, root first.
go_modules() {
  local m
  for m in . go/hydra examples/go; do [ -f "$NEF_ROOT/$m/go.mod" ] && echo "$m"; done
}

# sanitizer_check PRESET [REGEX]: builds that preset, runs its tests, prints the count last.
sanitizer_check() {
  local preset="$1" args status=0
  ensure_cxx
  fetch_sources
  configure "$preset"
  compile "$preset"
  say "running tests in build/$preset"
  args=(--test-dir "$NEF_BUILD/$preset" -j "$JOBS" --output-on-failure
    --output-junit "$NEF_BUILD/$preset/ctest.xml")
  [ -z "${2:-}" ] || args+=(-R "$2")
  ctest "${args[@]}" >"$(log_file "ctest-$preset")" 2>&1 || status=$?
  "$NEF_ROOT/packaging/dev/tally.py" ctest "$NEF_BUILD/$preset/ctest.xml" "$status" \
    "$(log_file "ctest-$preset")" >"$NEF_BUILD/$preset/counts"
  "$NEF_ROOT/packaging/dev/tally.py" total "$NEF_BUILD/$preset/counts"
}
