#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the ONNX importer.
#
# usage: ./dev check onnx-fuzz [MINUTES]
#
# Mutated models go through the parser and the importer for 10 minutes, or those given. Fails when
# one crashes, hangs, or takes more memory than four times its size and 16 MiB.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
minutes="${1:-10}"
case "$minutes" in '' | *[!0-9]*) die "'$minutes' is no number of minutes" ;; esac
install_packages libonnx-testdata
bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
cd "$NEF_ROOT/go/hydra"
log=$(log_file onnx-fuzz)
status=0
go test ./onnx -run '^$' -fuzz '^FuzzImport$' -fuzztime "${minutes}m" -fuzzminimizetime 5s -parallel "$JOBS" >"$log" 2>&1 || status=$?
tail -n 20 "$log"
runs=$(sed -n 's/.*execs: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
crashes=$([ "$status" -eq 0 ] && echo 0 || echo 1)
echo "$minutes minutes, ${runs:-0} inputs, crashes $crashes"
exit "$status"
