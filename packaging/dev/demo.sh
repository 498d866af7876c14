#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds NEF, fetches a sentence-embedding model, and compares a few sentences with it from Go.
#
# usage: ./dev demo [SENTENCE...]
#
# Steps: install what is missing, build the libraries and hydra, fetch all-MiniLM-L6-v2 (pinned in
# packaging/models/minilm.lock, kept in build/models), build minilm.nef with `hydra build`, and run
# examples/go/embed, which prints the similarity of every pair.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

if [ $# -eq 0 ]; then
  set -- "A dog runs across the field." "A puppy is running in the grass." \
    "The bank raised its interest rates." "Central banks make borrowing more expensive."
fi

bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
say "fetching the model"
model_dir=$(bash "$NEF_ROOT/packaging/dev/model.sh" minilm | tail -n 1)

model="$NEF_BUILD/models/minilm.nef"
# Rebuilt when the source model or the builder is newer.
if [ ! -f "$model" ] || [ "$NEF_BUILD/bin/hydra" -nt "$model" ] || [ "$model_dir" -nt "$model" ]; then
  say "building build/models/minilm.nef from $model_dir"
  "$NEF_BUILD/bin/hydra" build "$model_dir" -o "$model.part.nef"
  mv "$model.part.nef" "$model"
fi

say "embedding $# sentences with examples/go/embed"
cd "$NEF_ROOT/examples/go"
go run ./embed --model "$model" --similarity "$@"
