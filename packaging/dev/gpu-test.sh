#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the GPU backends (there is none yet).
#
# usage: ./dev gpu-test
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "gpu-test takes no argument, got '$1'"

# Nothing is run, so nothing may look like a pass.
cat <<'JSON'
{"code": "unimplemented", "op": "gpu-test", "message": "no GPU backend exists in this version: expected a folder backends/cuda or backends/rocm, found backends/reference and backends/cpu; run ./dev test for those"}
JSON
exit 3
