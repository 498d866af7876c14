# SPDX-License-Identifier: Apache-2.0
# Shared by every ./dev command. Sourced, never run.
# shellcheck shell=bash

NEF_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
NEF_BUILD="${NEF_BUILD_DIR:-$NEF_ROOT/build}"
STAMPS="$NEF_BUILD/stamps"
JOBS="${NEF_JOBS:-$(nproc)}"

say() { printf '==> %s\n' "$*" >&2; }
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

apt_update_once() {
  # One refresh per run at most: an interrupted run simply refreshes again.
  [ -z "${NEF_APT_UPDATED:-}" ] || return 0
  as_root apt-get -o DPkg::Lock::Timeout=500 -qq update
  NEF_APT_UPDATED=1
}

# install_packages NAME...: only what is missing is installed; the package database is the stamp.
install_packages() {
  local missing=() p
  for p in "$@"; do have_package "$p" || missing+=("$p"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || die "this is not a Debian system" "install by hand: ${missing[*]}"
  say "installing: ${missing[*]}"
  # A run that was killed inside dpkg leaves packages unpacked but not configured.
  as_root dpkg --configure -a
  apt_update_once
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=500 -qq -y \
    --no-install-recommends "${APT_TARGET[@]}" install "${missing[@]}" >&2
}
APT_TARGET=()

sha256_is() { [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

# Mirrors are the ones this system's apt already uses; the repository names none itself.
apt_mirrors() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sort -u
}

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
