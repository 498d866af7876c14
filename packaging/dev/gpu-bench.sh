#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU benchmarks and their PyTorch baseline on this machine's card, then prints a table.
#
# usage: ./dev gpu-bench [--carry FOLDER] [--only REGEX] [--no-peer] [--out FILE]
#
#   --carry FOLDER   make FOLDER, which a GPU machine runs without anything of ours installed:
#                    FOLDER/gpu-bench. Nothing is run here.
#   --only REGEX     rows whose name matches, of both sides (extended regular expression)
#   --no-peer        leave PyTorch out
#   --out FILE       where the rows go as JSON lines (default: gpu-bench.jsonl)
#
# Both sides run one after the other on the same card; a row of PyTorch stands beside the row of NEF
# of the same name. What memory bounds is held against a copy on the device in the same process.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
carry="" only="." peer=1 out="gpu-bench.jsonl"
fail() { printf 'gpu-bench: %s\n' "$1" >&2 && exit 1; }
while [ $# -gt 0 ]; do
  case "$1" in
    --carry) carry="${2:?--carry needs a folder}" && shift 2 ;;
    --only) only="${2:?--only needs a regular expression}" && shift 2 ;;
    --no-peer) peer="" && shift ;;
    --out) out="${2:?--out needs a file}" && shift 2 ;;
    *) fail "does not know '$1'; see ./dev gpu-bench --help" ;;
  esac
done

programs=("$here"/bench_gpu*)
baseline="$here/pytorch_baseline.py"
if [ ! -x "${programs[0]}" ]; then
  . "$here/lib.sh"
  ensure_cxx
  install_packages libbenchmark-dev
  fetch_sources
  configure release -DNEF_BUILD_BENCH=ON
  names=()
  for source in "$NEF_ROOT"/bench/gpu*.cc; do names+=("bench_$(basename "$source" .cc)"); done
  compile release "${names[@]}"
  programs=("$NEF_RELEASE"/bench/gpu*)
  baseline="$NEF_ROOT/bench/pytorch_baseline.py"
fi
if [ -n "$carry" ]; then
  mkdir -p "$carry"
  for program in "${programs[@]}"; do strip -o "$carry/bench_$(basename "$program")" "$program"; done
  cp "$baseline" "$carry/"
  cp "$0" "$carry/gpu-bench"
  chmod +x "$carry/gpu-bench"
  echo "made $carry: $(du -sh "$carry" | cut -f1)"
  exit 0
fi

: >"$out"
for program in "${programs[@]}"; do
  "$program" --json --only "$only" >>"$out" || fail "$(basename "$program") failed: $(tail -n 1 "$out")"
done
[ -s "$out" ] || fail "no rows: no GPU that the cuda backend can use, or none of that name"
if [ -n "$peer" ] && python3 -c 'import torch' 2>/dev/null; then
  python3 "$baseline" --only "$only" >>"$out" || fail "the baseline failed"
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
python3 - "$out" <<'PYTHON'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
peers = {}
for row in rows:
    if row["name"].startswith("torch/"):
        name, _, how = row["name"][6:].rpartition("/")
        peers.setdefault(name, []).append((how, row["value"]))
for row in rows:
    if row["name"].startswith("torch/"):
        continue
    less_is_more = row["unit"] in ("ms", "us", "s")
    text = f'{row["name"]:<40} {row["value"]:10.4g} {row["unit"]:<8} {row["note"]}'
    for how, value in peers.pop(row["name"], []):
        ratio = value / row["value"] if less_is_more else row["value"] / value
        text += f'\n{"":<42}{value:9.4g} {row["unit"]:<8} PyTorch {how}: {ratio:.2f}x'
    print(text)
for name, values in peers.items():
    print(f"PyTorch {name}: " + ", ".join(f"{how} {value:.4g}" for how, value in values))
PYTHON
