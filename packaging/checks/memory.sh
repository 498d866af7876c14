#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the memory of runs against what the plan tells: arena and packed weights.
#
# usage: ./dev check memory [MODEL.nef [DIM=N,...]]
#
# MiniLM by 1 x 128, 8 x 128 and 1 x 512 tokens, a detector, a convolutional and a quantised recurrent
# network (or the model named, with these sizes of its dims), three runs each in a fresh process. Prints
# the growth of memory that no file backs (weights are mapped), of runs and of compiling, beside the
# arena, the packed weights, the constants computed while compiling, and the inputs and outputs. Fails
# where runs take more than those and 8 MiB, or compiling more than what it leaves and 24 MiB.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
[ $# -le 2 ] || die "memory takes a model and its sizes, or nothing" "./dev check memory --help"
[ $# -eq 0 ] || [ -f "$1" ] || die "there is no model $1" "hydra import MODEL.onnx -o MODEL.nef makes one"

bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
stage_go_archive
cd "$NEF_ROOT"
log=$(log_file memory)

measure() {  # measure MODEL SIZES
  NEF_MEMORY_MODEL="$1" NEF_MEMORY_SIZES="$2" go test -count=1 -v -run '^TestMemory$' . >"$log" 2>&1 || {
    cat "$log" >&2
    die "more memory is taken than the plan tells" "full log: $log"
  }
  sed -n 's/^ *memory_test.go:[0-9]*: //p' "$log"
}

if [ $# -gt 0 ]; then
  measure "$(realpath "$1")" "${2:-}"
  exit 0
fi
. "$NEF_ROOT/packaging/dev/onnx-lib.sh"
ONNX_MODELS="$NEF_BUILD/onnx-models"
onnx_venv onnx-models numpy==2.4.6 onnxruntime==1.32.0 pillow==12.0.0
onnx_package ddddocr==1.6.1
mkdir -p "$NEF_BUILD/checks"
folder=$(mktemp -d "$NEF_BUILD/checks/memory.XXXXXX")
trap 'rm -r "$folder"' EXIT

model_dir=$(bash "$NEF_ROOT/packaging/dev/model.sh" minilm | tail -n 1)
"$NEF_BUILD/bin/hydra" build "$model_dir" -o "$folder/minilm.nef" >/dev/null
for sizes in batch=1,sequence=128 batch=8,sequence=128 batch=1,sequence=512; do
  measure "$folder/minilm.nef" "$sizes"
done
while read -r name sizes; do
  "$NEF_BUILD/bin/hydra" import "$ONNX_MODELS/ddddocr-1.6.1/ddddocr/$name.onnx" -o "$folder/$name.nef" >/dev/null
  measure "$folder/$name.nef" "$sizes"
done <<'MODELS'
common_det
common image_width=160
common_old image_width=160
MODELS
