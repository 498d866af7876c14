#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rows of bench/peers/cases.py against ONNX Runtime, oneDNN and OpenBLAS: sets up what they need.
set -euo pipefail
. "$(dirname "$0")/../packaging/dev/lib.sh"
. "$NEF_ROOT/packaging/dev/onnx-lib.sh"
only=
for ((i = 1; i < $#; ++i)); do [ "${!i}" != --only ] || { j=$((i + 1)) && only="${!j}"; }; done
python3 -B "$NEF_ROOT/bench/peers/cases.py" "$only" || exit 0
# The newest oneDNN wants a newer C library than Debian 12 has: both lie in a folder of their own, from whose loader
# Python starts.
newest_onednn() {  # newest_onednn FOLDER
  local folder="$1"
  [ ! -f "$folder/.ready" ] || return 0
  say "fetching oneDNN from Debian's newest suite"
  rm -rf "$folder" && mkdir -p "$folder"
  unpack_from_sid "$folder" libdnnl3.6 libc6 libgcc-s1 libgomp1 libstdc++6
  touch "$folder/.ready"
}

python_with_onednn() {  # python_with_onednn FOLDER PYTHON, to standard output
  local libraries="$1/tree/usr/lib/x86_64-linux-gnu"
  printf '#!/bin/sh\nexec "%s" --library-path "%s" --argv0 "%s" "%s" "$@"\n' \
    "$libraries/ld-linux-x86-64.so.2" "$libraries" "$2" "$2"
}

ensure_go
onnx_venv bench numpy==2.4.6 onnxruntime==1.32.0 onnx==1.23.2 pillow==12.0.0 scipy-openblas32==0.3.34.481.3
build_hydra
mkdir -p "$NEF_BUILD/bench"
cc -O3 -march=native -shared -fPIC -o "$NEF_BUILD/bench/native.so" "$NEF_ROOT/bench/peers/native.c"
onednn="$NEF_BUILD/bench/onednn"
newest_onednn "$onednn"
python_with_onednn "$onednn" "$ONNX_VENV/bin/python" >"$NEF_BUILD/bench/python"
chmod +x "$NEF_BUILD/bench/python"
export PYTHONPATH="$NEF_ROOT/packaging/checks" NEF_PEERS_PYTHON="$NEF_BUILD/bench/python"
exec "$NEF_PEERS_PYTHON" -B "$NEF_ROOT/bench/peers/peers.py" --build "$NEF_BUILD" "$@"
