#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Embeddings of MiniLM against float64 NumPy and ONNX Runtime on the same weights.
#
# usage: ./dev check minilm [--no-onnxruntime] [--fast]
#
#   --no-onnxruntime   the NumPy oracle alone (saves fetching ONNX Runtime)
#   --fast             with precision `fast`
#
# 72 texts of 3 to 512 tokens in padded batches of 1 to 8 go through one compiled program.
# Fails when a cosine is below 0.99999, a difference above 1e-4 (with --fast: 0.9999 and 1e-2), or
# more than one program was made.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
with_ort=1 flags=()
while [ $# -gt 0 ]; do
  case "$1" in
    --no-onnxruntime) with_ort=0 ;;
    --fast) flags+=(--fast) ;;
    *) die "minilm does not know '$1'" "./dev check minilm --help" ;;
  esac
  shift
done
oracle_flags=("${flags[@]}")
[ $with_ort -eq 0 ] || oracle_flags+=(--onnxruntime)

bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
model_dir=$(bash "$NEF_ROOT/packaging/dev/model.sh" minilm | tail -n 1)

install_packages python3-venv
venv="$NEF_BUILD/venv/minilm"
if [ ! -f "$venv/.ready" ]; then
  say "installing packages into build/venv/minilm"
  rm -rf "$venv"
  /usr/bin/python3 -m venv "$venv"
fi
wanted=(numpy==2.4.6)
[ $with_ort -eq 0 ] || wanted+=(onnx==1.23.2 onnxruntime==1.32.0)
# Each package set has its own stamp: the smaller one does not stand for the larger.
if ! grep -qxF -- "${wanted[*]}" "$venv/.ready" 2>/dev/null; then
  "$venv/bin/python" -m pip --disable-pip-version-check install -q "${wanted[@]}" >&2
  echo "${wanted[*]}" >>"$venv/.ready"
fi

mkdir -p "$NEF_BUILD/checks"
run_dir=$(mktemp -d "$NEF_BUILD/checks/minilm.XXXXXX")
trap 'rm -rf "$run_dir"' EXIT
say "embedding the sentences with NEF"
(cd "$NEF_ROOT/go/hydra" && go run ./internal/minilmcheck --model "$model_dir" --out "$run_dir" "${flags[@]}")
say "computing the same with the oracles"
"$venv/bin/python" "$NEF_ROOT/packaging/checks/minilm_oracle.py" "$model_dir" "$run_dir" "${oracle_flags[@]}"
echo "programs compiled: $(cat "$run_dir/programs")"
