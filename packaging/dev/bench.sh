#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the benchmarks.
#
# usage: ./dev bench [--only REGEX] [--json] [--publish]
#
#   --only REGEX   rows whose name matches
#   --json         one JSON object per row: name, value, unit, peer, peer_value, ratio, note
#                  (ratio = peer time / NEF time, so above 1 NEF is faster)
#   --publish      writes the families measured into docs/figures.jsonl and draws them in docs/plots/
#
# NEF_BENCH_THREADS=N measures rows beside other programs with N threads (names end in /tN). PyTorch is
# one of them where NEF_TORCH_PYTHON names a Python that has it. At the end stands a table of the
# families: geometric mean and worst of their ratios.
#
# Programs are bench/*.cc, bench/*.c (built into build/release/bench) and bench/*.sh; each gets the
# options as given and prints the rows that match.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

flags=(--json) table=()
while [ $# -gt 0 ]; do
  case "$1" in
    --only) flags+=(--only "${2:?--only needs a regular expression}") && shift 2 ;;
    --only=*) flags+=(--only "${1#--only=}") && shift ;;
    --json | --publish) table+=("$1") && shift ;;
    *) die "bench does not know '$1'" "./dev bench --help" ;;
  esac
done

ensure_cxx
for regex in "${flags[@]:1}"; do
  [ "$regex" = --only ] || python3 -c 'import re, sys; re.compile(sys.argv[1])' "$regex" 2>/dev/null ||
    die "'$regex' is not a regular expression" "./dev bench --help"
done
ensure_go
install_packages libbenchmark-dev
fetch_sources
configure release -DNEF_BUILD_BENCH=ON
compile release
stage_go_archive

export NEF_ROOT NEF_BUILD NEF_RELEASE
programs=()
for program in "$NEF_RELEASE"/bench/* "$NEF_ROOT"/bench/*.sh; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  # A program whose source is gone would go on giving old figures.
  ls "$NEF_ROOT/bench/$(basename "$program" .sh)".* >/dev/null 2>&1 || continue
  programs+=("$program")
done
[ ${#programs[@]} -gt 0 ] || die "there is no benchmark program in bench/"

run_all() {
  local program failed=0
  for program in "${programs[@]}"; do
    "$program" "${flags[@]}" || { echo "dev: $(basename "$program") failed" >&2 && failed=1; }
  done
  return $failed
}
run_all | python3 -B "$NEF_ROOT/bench/table.py" "${table[@]}"
