#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the memory of a run against what the plan tells: arena and packed weights.
#
# usage: ./dev check memory [MODEL.nef DIM=N,...]
#
# MiniLM by 1 x 128, 8 x 128 and 1 x 512 tokens (or the model named, with these sizes of its dims), three
# runs each in a fresh process. Prints the growth of memory that no file backs (weights are mapped) beside
# the arena, the packed weights, the constants computed while compiling, and the inputs and outputs; fails
# where it is more than those and 8 MiB.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
[ $# -eq 0 ] || [ $# -eq 2 ] || die "memory takes a model and its sizes, or nothing" "./dev check memory --help"
[ $# -eq 0 ] || [ -f "$1" ] || die "there is no model $1" "hydra import MODEL.onnx -o MODEL.nef makes one"

bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
stage_go_archive
if [ $# -eq 2 ]; then
  model=$(realpath "$1")
  all_sizes=("$2")
else
  model_dir=$(bash "$NEF_ROOT/packaging/dev/model.sh" minilm | tail -n 1)
  mkdir -p "$NEF_BUILD/checks"
  folder=$(mktemp -d "$NEF_BUILD/checks/memory.XXXXXX")
  trap 'rm -r "$folder"' EXIT
  model="$folder/minilm.nef"
  "$NEF_BUILD/bin/hydra" build "$model_dir" -o "$model" >/dev/null
  all_sizes=("batch=1,sequence=128" "batch=8,sequence=128" "batch=1,sequence=512")
fi

cd "$NEF_ROOT"
log=$(log_file memory)
for sizes in "${all_sizes[@]}"; do
  NEF_MEMORY_MODEL="$model" NEF_MEMORY_SIZES="$sizes" \
    go test -count=1 -v -run '^TestMemory$' . >"$log" 2>&1 || {
    cat "$log" >&2
    die "a run takes more than its plan tells" "full log: $log"
  }
  sed -n 's/^ *memory_test.go:[0-9]*: //p' "$log"
done
