#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches a model pinned in packaging/models/NAME.lock and prints its folder.
#
# usage: packaging/dev/model.sh [NAME]        default: minilm
#
# The folder is build/models/NAME. A second call finds it and does nothing; an interrupted one
# starts again at the last whole step (download, unpack).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
name="${1:-minilm}"
lock="$NEF_ROOT/packaging/models/$name.lock"
[ -f "$lock" ] || die "there is no model '$name'" "there are: $(cd "$NEF_ROOT/packaging/models" && ls ./*.lock)"
field() { awk -v k="$1" '$1 == k {print $2}' "$lock"; }

sum=$(field sha256) wheel="$NEF_BUILD/downloads/$(field file)" dest="$NEF_BUILD/models/$name"
if [ "$(cat "$dest/.nef-pin" 2>/dev/null)" = "$sum" ]; then
  echo "$dest"
  exit 0
fi

mkdir -p "$NEF_BUILD/downloads" "$NEF_BUILD/models"
if ! { [ -f "$wheel" ] && sha256_is "$wheel" "$sum"; }; then
  install_packages python3-pip ca-certificates
  say "fetching $(field package) $(field version) ($(field file), pinned by sha256)"
  rm -f "$wheel"
  part=$(mktemp -d "$NEF_BUILD/downloads/part.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  # pip checks the hash itself before it keeps the file.
  printf '%s==%s --hash=sha256:%s\n' "$(field package)" "$(field version)" "$sum" >"$part/want.txt"
  /usr/bin/python3 -m pip --disable-pip-version-check download --quiet --no-deps \
    --only-binary :all: --require-hashes -d "$part" -r "$part/want.txt" >&2 ||
    die "cannot fetch $(field package) $(field version)" \
      "fix: check the network, or put $(field file) into build/downloads/"
  mv "$part/$(field file)" "$wheel"
fi
sha256_is "$wheel" "$sum" || die "$wheel does not have the pinned sha256" "fix: delete it and run again"

# Unpacked beside the target and renamed, so that a half unpacked folder is never used.
tmp="$dest.tmp.$$"
rm -rf "$tmp" "$dest"
/usr/bin/python3 - "$wheel" "$(field folder)" "$tmp" <<'PY'
import pathlib, sys, zipfile
wheel, folder, target = sys.argv[1], sys.argv[2] + "/", pathlib.Path(sys.argv[3])
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(folder) and not name.endswith("/"):
            path = target / name[len(folder):]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
PY
sha256_is "$tmp/model.safetensors" "$(field weights)" ||
  die "$name: model.safetensors does not have the pinned sha256"
echo "$sum" >"$tmp/.nef-pin"
mv "$tmp" "$dest"
echo "$dest"
