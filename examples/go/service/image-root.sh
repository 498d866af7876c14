#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# image-root.sh PROGRAM ROOT: puts a program and the shared libraries that it names into a folder,
# which then is a whole root file system for it. A Go program with NEF needs the C library only.
set -eu
program="$1" root="$2"
mkdir -p "$root/tmp"
chmod 1777 "$root/tmp"
cp "$program" "$root/"
ldd "$program" | sed -n 's/^.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
