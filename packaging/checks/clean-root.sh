#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo and ./dev test from a clone inside a bare Debian; prints the minutes of each.
#
# usage: ./dev check clean-root [--suite bookworm|trixie] [--interrupt SECONDS] [--keep] [COMMAND...]
#
#   --suite       which Debian (default: bookworm)
#   --interrupt   kill the first command after that many seconds, then run it again
#   --keep        leave the root folder for a look
#   COMMAND       ./dev commands to run (default: demo test)
#
# The root has git and a shell, nothing else. It gets the committed HEAD, and this machine's way to
# the network: apt sources, proxies, certificates, pip and Go settings. Needs root.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

suite=bookworm interrupt="" keep="" commands=()
while [ $# -gt 0 ]; do
  case "$1" in
    --suite) suite="$2" && shift 2 ;;
    --interrupt) interrupt="$2" && shift 2 ;;
    --keep) keep=1 && shift ;;
    -*) die "clean-root does not know '$1'" ;;
    *) commands+=("$1") && shift ;;
  esac
done
[ ${#commands[@]} -gt 0 ] || commands=(demo test)
[ "$(id -u)" -eq 0 ] || die "clean-root needs root (debootstrap and chroot)"
install_packages debootstrap git

# Outside the repository, so that nothing of it can be found by accident.
area=/var/tmp/nef-clean-root
mkdir -p "$area"
base="$area/base-$suite.tar"
root="$area/root-$suite-$$"
mirror=$(apt_mirrors | grep -v -- '-security' | head -n 1)

if [ ! -f "$base" ]; then
  say "debootstrap $suite"
  rm -rf "$area/new" && mkdir "$area/new"
  debootstrap --variant=minbase --include=git "$suite" "$area/new" "$mirror" >"$(log_file debootstrap)" 2>&1 ||
    die "debootstrap failed" "$(tail -n 5 "$(log_file debootstrap)")"
  tar -C "$area/new" -cf "$base.part" . && mv "$base.part" "$base"
  rm -rf "$area/new"
fi

mounts=()
leave() {
  local m
  for m in "${mounts[@]}"; do umount -l "$m" || true; done
  mounts=()
  [ -n "$keep" ] || rm -rf --one-file-system "$root"
}
trap leave EXIT
mkdir "$root" && tar -C "$root" -xf "$base"
for m in proc sys dev; do
  mount --rbind "/$m" "$root/$m" && mounts=("$root/$m" "${mounts[@]}")
done

# This machine's settings, whatever they are; the repository knows none of them.
copy() { [ ! -e "$1" ] || { mkdir -p "$root$(dirname "$1")" && cp -rLT "$1" "$root$1"; }; }
copy /etc/resolv.conf
copy /etc/hosts
copy /etc/pip.conf
copy /root/.config/pip
copy /root/.config/go/env
copy /usr/local/share/ca-certificates
for file in /etc/apt/apt.conf.d/*; do
  ! grep -qsE '^[^/#]*Acquire::(http|https|Check|Retries)' "$file" || copy "$file"
done
if [ "$suite" = "$(os_field VERSION_CODENAME)" ]; then
  rm -f "$root/etc/apt/sources.list"
  copy /etc/apt/sources.list
  copy /etc/apt/sources.list.d
else
  echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
fi
settings=()
for name in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE PIP_INDEX_URL \
  PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT http_proxy https_proxy no_proxy NEF_JOBS; do
  [ -z "${!name:-}" ] || settings+=("$name=${!name}")
done

git clone -q --no-local "$NEF_ROOT" "$root/root/nef"
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    "${settings[@]}" bash -c "cd /root/nef && $1"
}
say "clone of $(git -C "$NEF_ROOT" rev-parse --short HEAD) in a bare $suite:" \
  "$(inside 'dpkg-query -f . -W | wc -c') packages"

report=() failed=0
for command in "${commands[@]}"; do
  if [ -n "$interrupt" ]; then
    say "./dev $command, killed after $interrupt s"
    inside "timeout -s KILL $interrupt ./dev $command" >"$(log_file clean-root-interrupted)" 2>&1 || true
    interrupt=""
  fi
  say "./dev $command"
  began=$(date +%s)
  status=ok
  inside "./dev $command" 2>&1 | tee "$(log_file "clean-root-$command")" || { status=FAILED && failed=1; }
  took=$(($(date +%s) - began))
  report+=("./dev $command: $status, $((took / 60)) min $((took % 60)) s")
done
say "packages now: $(inside 'dpkg-query -f . -W | wc -c'), half configured: $(inside 'dpkg --audit | wc -l')"
printf '%s\n' "clean $suite root:" "${report[@]}"
exit $failed
