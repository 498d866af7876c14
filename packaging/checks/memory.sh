#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the memory of a run against what the plan tells: arena and packed weights.
#
# usage: ./dev check memory
#
# MiniLM by 1 x 128, 8 x 128 and 1 x 512 tokens, three runs each in a fresh process. Prints the growth of
# memory that no file backs (weights are mapped) beside the arena, the packed weights and the inputs and
# outputs; fails where it is more than those and 8 MiB.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
[ $# -eq 0 ] || die "memory takes no arguments" "./dev check memory --help"

bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
stage_go_archive
model_dir=$(bash "$NEF_ROOT/packaging/dev/model.sh" minilm | tail -n 1)
mkdir -p "$NEF_BUILD/checks"
folder=$(mktemp -d "$NEF_BUILD/checks/memory.XXXXXX")
trap 'rm -r "$folder"' EXIT
"$NEF_BUILD/bin/hydra" build "$model_dir" -o "$folder/minilm.nef" >/dev/null

cd "$NEF_ROOT"
log=$(log_file memory)
for sizes in batch=1,sequence=128 batch=8,sequence=128 batch=1,sequence=512; do
  NEF_MEMORY_MODEL="$folder/minilm.nef" NEF_MEMORY_SIZES="$sizes" \
    go test -count=1 -v -run '^TestMemory$' . >"$log" 2>&1 || {
    cat "$log" >&2
    die "a run takes more than its plan tells" "full log: $log"
  }
  sed -n 's/^ *memory_test.go:[0-9]*: //p' "$log"
done
